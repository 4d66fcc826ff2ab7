# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No file is longer than a reader can hold."""

from rule import Plant, main

SOURCES = (".cpp", ".h", ".cu", ".py")
TEXTS = (".mlir", ".test", ".td")
FOLDERS = ["include", "lib", "tools", "test", "bench", "share"]
# The table of contents of tp-opt: one entry a pass, each with its example.
EXEMPT = {"include/tp/Passes.td": 700}


def limit(path):
    if path in EXEMPT:
        return EXEMPT[path]
    return 300 if path.endswith(TEXTS) else 500


def violations(tree):
    messages = []
    for path in tree.select(FOLDERS, SOURCES + TEXTS):
        lines = len(tree.read(path).splitlines())
        if lines > limit(path):
            messages.append(f"{path}: {lines} lines, {limit(path)} allowed")
    return messages


PLANTS = [
    Plant({"lib/IR/A.cpp": "\n" * 501}, "501 lines, 500 allowed"),
    Plant({"test/IR/a.mlir": "\n" * 301}, "301 lines, 300 allowed"),
    Plant({"include/tp/IR/A.td": "\n" * 301}, "301 lines, 300 allowed"),
    Plant({"include/tp/Passes.td": "\n" * 701}, "701 lines, 700 allowed"),
    Plant({"lib/IR/A.cpp": "\n" * 500, "include/tp/Passes.td": "\n" * 700,
           "test/IR/a.mlir": "\n" * 300}, None),
]

main(violations, PLANTS)
