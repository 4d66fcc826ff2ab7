# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The best plans of every shipped config: equal to the unsharded model.

    plan-runs.py CONFIGS TABLE [--write [CONFIG...]]

The table has a row for each config, phase, mesh and options of tp-plan: how
many of the best plans of one shrunk layer were run, five or one, and that each
was equal, exactly, or why there is none. With --write all of them are run, or
those of the configs that are named, and the table is written; that takes half
an hour of one core. Otherwise a sample of the rows is run and compared with the
table, two of five plans.
"""

import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PHASES = ["prefill", "decode"]
# And how many plans of each.
MESHES = {"tp=4": 5, "dp=2,tp=2": 5, "a=2,b=2": 5, "tp=3": 1, "tp=8": 1,
          "tp=16": 1, "a=2,b=3": 1, "a=2,b=2,c=2": 1}
OPTIONS = [("a=2,b=2", "weights=stored"), ("a=2,b=2", "weights=free"),
           ("tp=2", "sequence-parallel=on")]

# Each family, both phases, one axis and more, more ranks than KV heads, and
# heads that the ranks do not divide.
SAMPLE = {
    ("gemma-2b", "prefill", "a=2,b=2", ""),
    ("gpt2", "decode", "a=2,b=3", ""),
    ("gpt2-xl", "decode", "tp=8", "uneven=allow"),
    ("llama-3-8b", "decode", "tp=16", ""),
    ("llama-3-8b", "prefill", "a=2,b=2", "weights=free"),
    ("llama-3.2-3b", "prefill", "a=2,b=2,c=2", ""),
    ("mistral-7b-v0.1", "decode", "dp=2,tp=2", ""),
    ("phi-3-mini-4k", "prefill", "tp=4", ""),
    ("qwen2.5-7b", "decode", "tp=3", "uneven=allow"),
    ("qwen3-0.6b", "prefill", "dp=2,tp=2", ""),
}

REFUSED = re.compile(r"error: (?:'tp\.\w+' op )?(.*)")
FEWER = re.compile(r"but there are only (\d+) plans")


def call(command, text):
    return subprocess.run(command, input=text, capture_output=True, text=True)


def reason(answer):
    if answer.returncode < 0:
        return f"signal {-answer.returncode}"
    match = REFUSED.search(answer.stderr)
    return match.group(1) if match else answer.stdout + answer.stderr


def run_plan(model, mesh, options, nth):
    """The typed module of the plan, and what came of it; no module if there is
    no such plan."""
    plan = f"mesh={mesh} nth={nth} {options}".strip()
    planned = call(["tp-opt", "--tp-split-fused-weights", f"--tp-plan={plan}"],
                   model)
    if planned.returncode != 0:
        return None, reason(planned)
    answer = call(["tp-run", "-", "--check"], planned.stdout)
    if answer.returncode == 0 and "exact: equal" in answer.stdout:
        return planned.stdout, "equal"
    return planned.stdout, f"plan {nth}: {reason(answer)}"


def count(row):
    """How many plans are run."""
    return 1 if row[3] else MESHES[row[2]]


def outcome(folder, row, numbers):
    """What the table says of a row if these plans are equal."""
    config, phase, mesh, options = row
    model = subprocess.run(
        ["tp-translate", "--import-hf-config", f"{folder}/{config}.json",
         "--shrink=64", "--layers=1", "--sequence=6", "--batch=2",
         f"--phase={phase}"],
        capture_output=True, text=True, check=True).stdout
    plans = set()
    for nth in numbers:
        plan, result = run_plan(model, mesh, options, nth)
        fewer = FEWER.search(result)
        if plan is None and fewer:
            return f"{fewer.group(1)} equal, there are no more"
        if result != "equal":
            return result
        plans.add(plan)
    if len(plans) != len(numbers):
        return "some of the plans are the same"
    return f"{count(row)} equal"


def outcomes(folder, config):
    """All rows of a config. What even shards do not allow is dealt out."""
    for phase in PHASES:
        rows = [(mesh, "") for mesh in MESHES]
        for mesh, options in rows + OPTIONS:
            row = (config, phase, mesh, options)
            result = outcome(folder, row, range(1, count(row) + 1))
            yield row, result
            if "equal" not in result:
                row = (config, phase, mesh, f"{options} uneven=allow".strip())
                yield row, outcome(folder, row, [1])


def read(table):
    lines = pathlib.Path(table).read_text().splitlines()
    cells = [line.split("\t") for line in lines]
    return {tuple(line[:4]): line[4] for line in cells}


def write(folder, table, names):
    """Rows of configs that are not run again stay."""
    kept = read(table) if names and pathlib.Path(table).exists() else {}
    names = names or [path.stem for path in pathlib.Path(folder).glob("*.json")]
    with ThreadPoolExecutor(2) as pool:
        for rows in pool.map(lambda name: list(outcomes(folder, name)),
                             sorted(names)):
            kept.update(rows)
            pathlib.Path(table).write_text("".join(
                "\t".join((*row, result)) + "\n"
                for row, result in sorted(kept.items())))
            print(f"{rows[0][0][0]}: {len(rows)} rows", flush=True)
    return 0


def check_sample(folder, table):
    expected = read(table)
    wrong = 0
    for row in sorted(SAMPLE):
        result = outcome(folder, row, (2, 5) if count(row) > 1 else (1,))
        if result != expected.get(row):
            print(f"{row}: {result}, but the table has {expected.get(row)}")
            wrong += 1
    print(f"{len(SAMPLE)} rows, {wrong} wrong")
    return wrong


def main(folder, table, *flags):
    if flags[:1] == ("--write",):
        return write(folder, table, flags[1:])
    return check_sample(folder, table) != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
