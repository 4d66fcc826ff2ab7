# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks which functions the kernel objects of each instruction set share.

Arguments: nm, then variant names, each followed by its objects. A function that
the linker may merge must carry the name of its variant.
"""

import subprocess
import sys

# A call of std::terminate, the same in every object.
SAME_EVERYWHERE = {"__clang_call_terminate"}


def merged(lines, variant):
    """Names of functions the linker may merge that lack the variant's name."""
    own = (f"Eigen_{variant}", f"tp::runtime::{variant}::")
    for line in lines:
        kind, name = line.split(maxsplit=2)[1:]
        function = kind in "WuT"
        if function and not any(part in name for part in own):
            if name not in SAME_EVERYWHERE:
                yield name


def symbols(nm, path):
    listing = subprocess.run(
        [nm, "-C", "--defined-only", path], check=True, capture_output=True, text=True
    )
    return [line for line in listing.stdout.splitlines() if line]


def main(nm, arguments):
    planted = ["0000 W double std::max<double>(double, double)"]
    assert list(merged(planted, "avx2")), "the check itself is broken"
    variant, count, wrong = "", 0, 0
    for argument in arguments:
        if not argument.endswith((".o", ".obj")):
            variant = argument
            continue
        lines = symbols(nm, argument)
        count += len(lines)
        for name in merged(lines, variant):
            print(f"{argument}: `{name}` could replace another variant's code")
            wrong += 1
    if count == 0:
        sys.exit("no symbols: the objects were not found")
    if wrong:
        sys.exit(f"{wrong} functions could be merged across instruction sets")
    print(f"{count} symbols, none shared")


main(sys.argv[1], sys.argv[2:])
