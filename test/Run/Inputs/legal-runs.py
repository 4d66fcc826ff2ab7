# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every shipped config on every mesh: equal to the unsharded model, or refused.

    legal-runs.py CONFIGS TABLE [--write]

runs one shrunk layer of each config on each mesh and compares what happened
with the table. A cell is `equal`, or the reason of the refusal and what comes
of dealing whole heads unevenly instead. What is refused on one axis follows
from the heads: the script computes it from the config.
"""

import json
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

MESHES = ["tp=1", "tp=2", "tp=3", "tp=4", "tp=8", "a=2,b=2", "a=2,b=3"]
REFUSED = re.compile(r"error: (?:'tp\.\w+' op )?(.*)")


def run(model, *options):
    answer = subprocess.run(["tp-run", "-", "--check", *options], input=model,
                            capture_output=True, text=True)
    text = answer.stdout + answer.stderr
    if answer.returncode == 0 and "exact: equal" in text:
        return "equal"
    if answer.returncode < 0:
        return f"signal {-answer.returncode}"
    match = REFUSED.search(text)
    return match.group(1) if match else text


def outcome(config, mesh):
    model = subprocess.run(
        ["tp-translate", "--import-hf-config", config, "--shrink=64",
         "--layers=1", "--sequence=6", "--batch=2"],
        capture_output=True, text=True, check=True).stdout
    result = run(model, f"--mesh={mesh}")
    if result == "equal":
        return result
    uneven = run(model, f"--mesh={mesh}", "--uneven=allow")
    return f"{result}; uneven=allow: {uneven}"


def may_be_equal(config, mesh):
    """Whether whole heads and KV groups can be dealt to the ranks of one axis;
    None for meshes of two, which may split other things as well."""
    if "," in mesh:
        return None
    ranks = int(mesh.split("=")[1])
    fields = json.loads(pathlib.Path(config).read_text())
    heads = fields.get("num_attention_heads", fields.get("n_head"))
    groups = fields.get("num_key_value_heads", heads)
    return heads % ranks == 0 and (groups % ranks == 0 or ranks % groups == 0)


def main(configs, table, *flags):
    names = sorted(path.stem for path in pathlib.Path(configs).glob("*.json"))
    cells = [(f"{configs}/{name}.json", mesh) for name in names
             for mesh in MESHES]
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda cell: outcome(*cell), cells))
    lines = [f"{pathlib.Path(config).stem}\t{mesh}\t{result}"
             for (config, mesh), result in zip(cells, outcomes)]
    if "--write" in flags:
        pathlib.Path(table).write_text("\n".join(lines) + "\n")
    wrong = 0
    for (config, mesh), result in zip(cells, outcomes):
        legal = may_be_equal(config, mesh)
        if legal is not None and legal != (result == "equal"):
            print(f"{config} on {mesh}: {result}; by its heads it is "
                  f"{'legal' if legal else 'not'}")
            wrong += 1
    for ours, expected in zip(lines, pathlib.Path(table).read_text().split("\n")):
        if ours != expected:
            print(f"got      {ours}\nexpected {expected}")
            wrong += 1
    print(f"{len(cells)} runs, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
