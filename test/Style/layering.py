# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrows between modules point down: ARROWS says which there are."""

import re

from rule import Plant, main

# What a module may include, besides itself and what those may include.
ARROWS = {
    "IR": [],
    "Check": ["IR"],
    "Cost": ["Check"],
    "Reshard": ["Cost"],
    "Solver": ["Reshard", "Cost"],
    "Weights": ["Check"],
    "Plan": ["Weights", "Solver", "Reshard", "Cost"],
    "Explain": ["Plan", "Weights"],
    "Backward": ["IR"],
    "Partition": ["Reshard"],
    "Reference": ["IR"],
    "Verify": ["IR", "Reference"],
    "CPU": ["IR"],
    "CUDA": ["IR"],
    "Runtime": [],
    "Run": ["Check", "CPU", "Reference", "Runtime", "Import"],
    "Report": ["Explain", "Plan", "Cost"],
    "Import": ["IR"],
    "Export": ["IR"],
    "Shardy": ["Check"],
}
# Generated code meets the run-time library at its C boundary only.
EXTRA = {("CPU", "tp/Runtime/Abi.h"), ("CUDA", "tp/Runtime/Abi.h")}

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
FOLDER = re.compile(r"^(?:include/tp|lib)/([A-Za-z]+)/")
TARGET = re.compile(r"^(?:tp/)?([A-Za-z]+)/")
LLVM = re.compile(r"^(?:mlir|llvm)(?:-c)?/")


def reach(module):
    """The module and all that its arrows lead to."""
    found, todo = set(), [module]
    while todo:
        current = todo.pop()
        if current not in found:
            found.add(current)
            todo += ARROWS[current]
    return found


def module_of(path):
    match = FOLDER.match(path)
    return match.group(1) if match else None


def wrong_include(module, include):
    if module == "Runtime" and LLVM.match(include):
        return "the run-time library knows no LLVM"
    match = TARGET.match(include)
    target = match.group(1) if match else None
    if target not in ARROWS or target in reach(module):
        return None
    if (module, include) in EXTRA:
        return None
    return f"{module} may not use {target}"


def closure(tree, path):
    """Project headers that a source includes, directly or not."""
    found, todo = set(), [path]
    while todo:
        current = todo.pop()
        here = current.rsplit("/", 1)[0]
        for include in INCLUDE.findall(tree.read(current)):
            for name in (f"include/{include}", f"lib/{include}",
                         f"{here}/{include}"):
                if tree.has(name) and name not in found:
                    found.add(name)
                    todo.append(name)
    return found


def certificate(tree):
    """The checker of a bound must not lean on what computed the bound."""
    path = "lib/Solver/Certificate.cpp"
    if not tree.has(path):
        return []
    found = closure(tree, path)
    messages = []
    if "include/tp/Solver/Problem.h" not in found:
        messages.append(f"{path}: does not include tp/Solver/Problem.h")
    if "include/tp/Solver/Solver.h" in found:
        messages.append(f"{path}: includes tp/Solver/Solver.h")
    return messages


def violations(tree):
    messages = certificate(tree)
    for path in tree.select(["include/tp", "lib"], [".h", ".cpp", ".inc"]):
        module = module_of(path)
        if module is None:
            continue
        if module not in ARROWS:
            messages.append(f"{path}: module {module} is not in ARROWS")
            continue
        for include in INCLUDE.findall(tree.read(path)):
            reason = wrong_include(module, include)
            if reason:
                messages.append(f"{path}: includes {include}: {reason}")
    return messages


def include(name):
    return f'#include "{name}"\n'


PLANTS = [
    Plant({"lib/IR/A.cpp": include("tp/Solver/Problem.h")},
          "IR may not use Solver"),
    Plant({"lib/IR/A.cpp": include("tp/Check/Legality.h")},
          "IR may not use Check"),
    Plant({"lib/Reference/A.cpp": include("tp/Partition/Partition.h")},
          "Reference may not use Partition"),
    Plant({"lib/Verify/A.cpp": include("Partition/Private.h")},
          "Verify may not use Partition"),
    Plant({"lib/Runtime/A.cpp": include("llvm/ADT/StringRef.h")},
          "knows no LLVM"),
    Plant({"include/tp/Runtime/A.h": include("tp/IR/TP.h")},
          "Runtime may not use IR"),
    Plant({"lib/Odd/A.cpp": ""}, "not in ARROWS"),
    Plant({"lib/Solver/Certificate.cpp": include("tp/Solver/Problem.h")
           + include("Expansion.h"),
           "lib/Solver/Expansion.h": include("tp/Solver/Solver.h"),
           "include/tp/Solver/Problem.h": "", "include/tp/Solver/Solver.h": ""},
          "includes tp/Solver/Solver.h"),
    Plant({"lib/Solver/Certificate.cpp": ""}, "does not include"),
    Plant({"lib/Plan/A.cpp": include("tp/IR/TP.h") + include("mlir/IR/Op.h"),
           "lib/CPU/A.cpp": include("tp/Runtime/Abi.h"),
           "lib/InitAll.cpp": include("tp/Plan/Plan.h")}, None),
]

main(violations, PLANTS)
