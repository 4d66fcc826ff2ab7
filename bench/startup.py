#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How fast tp-opt starts on a small file, beside the installed mlir-opt.

Runs both in turn and prints the median of each and their ratio.

usage: startup.py [BUILD/bin] [RUNS]
"""
import pathlib
import statistics
import subprocess
import sys
import time

PROGRAM = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
"""


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, input=PROGRAM, text=True, check=True,
                   stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    programs = sys.argv[1] if len(sys.argv) > 1 else root / "build" / "bin"
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 31
    commands = {"tp-opt": [f"{programs}/tp-opt", "-"],
                "mlir-opt": ["/usr/lib/llvm-22/bin/mlir-opt", "-"]}
    times = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            times[name].append(seconds(command))
    medians = {name: statistics.median(t) for name, t in times.items()}
    for name, median in medians.items():
        print(f"{name:8} {median * 1e3:7.1f} ms")
    print(f"ratio    {medians['tp-opt'] / medians['mlir-opt']:7.2f}")


if __name__ == "__main__":
    main()
