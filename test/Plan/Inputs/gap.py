# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans every shipped config, all layers, on 1, 2, 4 and 8 ranks and on 2 x 4.

Each is planned with a bound equal to its price, or refused because the heads do
not fit, and then the numbers must agree with the config's.
"""

import json
import pathlib
import re
import subprocess
import sys

MESHES = {"tp=1": [1], "tp=2": [2], "tp=4": [4], "tp=8": [8],
          "dp=2,tp=4": [4], "a=2,b=4": [2, 4]}


def fits(config, ranks):
    heads = config.get("num_attention_heads") or config["n_head"]
    groups = config.get("num_key_value_heads", heads)
    return all(heads % r == 0 and (groups % r == 0 or r % groups == 0)
               for r in ranks)


def plan(file, mesh):
    # The sequence is 2048, or as long as the model allows.
    graph = subprocess.run(
        ["tp-translate", "--import-hf-config", file, "--batch=2"],
        capture_output=True, text=True, check=True)
    return subprocess.run(
        ["tp-opt", "-", "--tp-split-fused-weights", f"--tp-plan=mesh={mesh}"],
        input=graph.stdout, capture_output=True, text=True)


def judge(file, mesh, ranks):
    answer = plan(file, mesh)
    if not fits(json.loads(file.read_text()), ranks):
        return answer.returncode != 0 and "legal degrees" in answer.stderr
    price = re.search(r"picoseconds = (\d+)", answer.stdout)
    bound = re.search(r"lower_bound = (\d+)", answer.stdout)
    return bool(price and bound) and price[1] == bound[1]


def main():
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
    wrong = [f"{file.stem} on {mesh}" for file in files
             for mesh, ranks in MESHES.items() if not judge(file, mesh, ranks)]
    print(f"{len(files)} configs, {len(MESHES)} meshes, wrong: {wrong}")
    return 1 if wrong or not files else 0


sys.exit(main())
