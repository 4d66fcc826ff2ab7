# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tp-legal-degrees against config.json, a table, and tp-plan."""

import json
import pathlib
import subprocess
import sys

MAX = 128
# Degrees above 1 that the query heads allow, and those at which the KV heads
# and every weight are divided evenly as well (derived by hand from the shapes).
TABLE = {
    "qwen2.5-0.5b": ([2, 7, 14], [2]),
    "llama-2-13b": ([2, 4, 5, 8, 10, 20, 40], [2, 4, 8]),
    "qwen2.5-7b": ([2, 4, 7, 14, 28], [2, 4]),
    "gpt2": ([2, 3, 4, 6, 12], []),
    "gpt2-xl": ([5, 25], []),
    "phi-3-mini-4k": ([2, 4, 8, 16, 32], [2, 4, 8, 16, 32]),
}


def degrees(path, uneven="refuse"):
    program = subprocess.run(
        ["tp-translate", f"--import-hf-config={path}", "--layers=1",
         "--sequence=16"], capture_output=True, text=True, check=True).stdout
    report = subprocess.run(
        ["tp-opt", "-", "-o", "/dev/null", "--tp-split-fused-weights",
         f"--tp-legal-degrees=max={MAX} uneven={uneven} format=json output=-"],
        input=program, capture_output=True, text=True, check=True).stdout
    return program, json.loads(report)["degrees"]


def allowed_by_heads(heads, groups, ranks):
    return heads % ranks == 0 and (groups % ranks == 0 or ranks % groups == 0)


def check_heads(name, config, found):
    heads = config.get("num_attention_heads") or config["n_head"]
    groups = config.get("num_key_value_heads", heads)
    for degree in found:
        ranks = degree["ranks"]
        kinds = {reason["kind"] for reason in degree["excluded_by"]}
        assert (heads % ranks != 0) == ("heads" in kinds), (name, degree)
        wanted = allowed_by_heads(heads, groups, ranks)
        assert wanted == (not kinds & {"heads", "kv_heads"}), (name, degree)
        if wanted:
            assert degree["kv_replicas"] == max(1, ranks // groups), (name, degree)


def check_table(name, found):
    heads, even = TABLE[name]
    above = [degree for degree in found if degree["ranks"] > 1]
    by_heads = [degree["ranks"] for degree in above
                if all(reason["kind"] != "heads"
                       for reason in degree["excluded_by"])]
    assert by_heads == heads, (name, by_heads)
    clean = [degree["ranks"] for degree in above
             if degree["legal"] and degree["kv_replicas"] == 1
             and not degree["undivided"]]
    assert clean == even, (name, clean)


def is_planned(program, ranks, uneven="refuse"):
    return subprocess.run(
        ["tp-opt", "-", "-o", "/dev/null",
         f"--tp-plan=mesh=tp={ranks} uneven={uneven}"],
        input=program, capture_output=True, text=True).returncode == 0


def array_split(number, ranks):
    """Sizes of numpy's array_split."""
    return [number // ranks + (rank < number % ranks) for rank in range(ranks)]


def check_uneven(config, path):
    """Everything is legal, and whole heads or groups are dealt out."""
    program, found = degrees(path, "allow")
    heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
    for degree in found[:16]:
        ranks = degree["ranks"]
        if ranks % groups == 0:
            sizes = array_split(heads // groups, ranks // groups)
        else:
            sizes = [size * heads // groups for size in array_split(groups, ranks)]
        share = {"fewest": min(sizes), "most": max(sizes)}
        assert degree["query_heads_per_rank"] == [share], (path, degree)
        assert degree["legal"], (path, degree)
        assert is_planned(program, ranks, "allow"), (path, ranks)
    return 16


def main(folder):
    judged = {}
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        program, found = degrees(path)
        check_heads(path.stem, json.loads(path.read_text()), found)
        judged[path.stem] = program, found
    print(len(judged), "configs agree with their heads")
    for name in TABLE:
        check_table(name, judged[name][1])
    print(len(TABLE), "rows of the table agree")
    planned = 0
    for name in ("qwen2.5-0.5b", "llama-2-13b", "llama-3.2-3b"):
        program, found = judged[name]
        for degree in found[:16]:
            ranks = degree["ranks"]
            assert degree["legal"] == is_planned(program, ranks), (name, degree)
            planned += 1
    print("tp-plan agrees on", planned, "degrees")
    uneven = 0
    for name in ("qwen2.5-0.5b", "llama-3.2-3b"):
        path = pathlib.Path(folder) / f"{name}.json"
        uneven += check_uneven(json.loads(path.read_text()), path)
    print("tp-plan agrees on", uneven, "uneven degrees")


main(sys.argv[1])
