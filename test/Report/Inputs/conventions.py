# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares two reports of one program, by either convention, and one of 48
tokens on more ranks.

Usage: conventions.py CAUSAL.json FULL.json MORE_RANKS.json
"""

import json
import sys
from pathlib import Path

# Of an H100 in bf16, dense.
PEAK = 989.4e12
SHARES = ("model_flops", "mfu", "hfu")


def close(one, other):
    return abs(one - other) < 1e-9 * abs(other)


def check(report, ranks):
    figures = report["utilisation"]
    convention = figures["flops_convention"]
    for name in SHARES:
        assert figures[name] == figures[f"{name}_{convention}"]
    step = report["critical_path"]["time"]["seconds"]
    for each in ("causal", "full"):
        assert close(figures[f"mfu_{each}"],
                     figures[f"model_flops_{each}"] / (ranks * PEAK * step))
    return figures


def main():
    reports = [json.loads(Path(name).read_text("utf-8"))
               for name in sys.argv[1:]]
    causal, full = (check(report, 2) for report in reports[:2])
    for figures, convention in ((causal, "causal"), (full, "full")):
        assert figures["flops_convention"] == convention
        assert close(figures["hfu"], figures["mfu"])
        print(f"{convention}: {figures['model_flops']} FLOPs of the model")
    assert causal["mfu"] < full["mfu"] < 1
    for report in reports[:2]:
        del report["utilisation"]
    assert reports[0] == reports[1]
    more = check(reports[2], 16)
    for each in ("causal", "full"):
        extra = ((more[f"hfu_{each}"] / more[f"mfu_{each}"] - 1)
                 * more[f"model_flops_{each}"])
        assert close(extra, 2 * 2 * 32 * 4096 * 1024 * 48)
    print(f"{round(extra)} more on 16 ranks")


main()
