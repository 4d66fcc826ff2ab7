# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/plans.tsv: plans-table.py CONFIGS TABLE FILTER...

The table must have each config on each mesh, refused only where heads or batch
do not divide, and otherwise, if need be with uneven shards, with gap 0; and what
bench-plan-table says now of the rows that have one of the filters must be as far
from its bound. Prices and numbers of choices are those of the day when the table
was written.
"""

import pathlib
import re
import subprocess
import sys

LOADS = [("prefill", "1"), ("prefill", "8"), ("decode", "16")]
TENSOR = [f"tp={1 << power}" for power in range(7)]
GRIDS = ["dp=2,tp=4", "dp=4,tp=8", "dp=8,tp=8", "dp=16,tp=8"]
MESHES = [(mesh, "tp") for mesh in TENSOR + GRIDS]
MESHES += [(mesh, "dp,tp") for mesh in GRIDS]
REFUSAL = re.compile(r".* heads do not fit axis .*|.* the batch")


def read(lines):
    """By the columns that say what is planned: the gap, or why there is none."""
    rows = {}
    for line in lines:
        cells = line.split("\t")
        rows[tuple(cells[:7])] = cells[9] if len(cells) > 8 else cells[7]
    return rows


def faults(configs, rows):
    for config in configs:
        found = {(key[1], key[2], key[4], key[5], key[6]): outcome
                 for key, outcome in rows.items() if key[0] == config}
        for load in LOADS:
            for mesh in MESHES:
                outcome = found.get((*load, *mesh, "refuse"))
                if outcome and REFUSAL.fullmatch(outcome):
                    # Two axes of uneven shards may be beyond the planner.
                    if mesh[1] == "dp,tp":
                        continue
                    outcome = found.get((*load, *mesh, "allow"))
                if outcome != "0":
                    yield f"{config} {load} {mesh}: {outcome}"


def main(folder, table, *filters):
    configs = sorted(path.stem for path in pathlib.Path(folder).glob("*.json"))
    rows = read(pathlib.Path(table).read_text().splitlines())
    wrong = list(faults(configs, rows))
    for text in filters:
        answer = subprocess.run(["bench-plan-table", f"--filter={text}"],
                                check=True, capture_output=True, text=True)
        now = read(answer.stdout.splitlines())
        before = {key: outcome for key, outcome in rows.items()
                  if text in "\t".join(key)}
        if not now or now != before:
            wrong.append(f"'{text}': now {now}, in the table {before}")
    print("\n".join(wrong))
    print(f"{len(configs)} configs, {len(wrong)} wrong")
    return wrong != []


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
