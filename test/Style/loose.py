# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No loose ends: open notes, leaking names, machine paths, missing licence."""

import re

from rule import Plant, main

# Written in halves so that this file passes its own rule.
OPEN_NOTE = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.>}*])/(?:home|root|work|tmp|Users)/")
REGISTRY = re.compile(
    r"\b(?:py" r"pi\.org|pythonhosted\.org|registry\.npmjs\.org|crates\.io|"
    r"docker\.io|ghcr\.io|quay\.io|anaconda\.org|deb\.debian\.org|"
    r"apt\.llvm\.org|proxy\.golang\.org)\b")
USING = re.compile(r"^\s*using\s+namespace\b", re.M)
LICENSED = (".cpp", ".h", ".td", ".py", ".in", "CMakeLists.txt", ".cmake",
            ".cu")
SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
PUBLIC = "include/"


def line_violations(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, what in ((OPEN_NOTE, "open note"),
                              (MACHINE_PATH, "path of one machine"),
                              (REGISTRY, "registry host")):
            match = pattern.search(line)
            if match:
                yield f"{path}:{number}: {what} '{match.group(0)}'"


def guard(path):
    """The guard of a header: its path below include/, lib/ or test/."""
    inner = path.removeprefix(PUBLIC + "tp/").removeprefix("lib/")
    return "TP_" + re.sub(r"\W", "_", inner).upper()


def header_violations(path, text):
    if USING.search(text):
        yield f"{path}: 'using namespace' in a header"
    if path.startswith(("include/tp/", "lib/")):
        want = guard(path)
        if f"#ifndef {want}\n#define {want}\n" not in text:
            yield f"{path}: include guard is not {want}"


def violations(tree):
    messages = []
    for path in tree.paths:
        text = tree.read(path)
        messages += line_violations(path, text)
        if path.endswith(".h"):
            messages += header_violations(path, text)
        head = "\n".join(text.splitlines()[:2])
        scripted = path.endswith(LICENSED) or text.startswith("#!")
        if scripted and SPDX not in head:
            messages.append(f"{path}: no SPDX line at the top")
    return messages


LICENCE = f"// {SPDX}\n"
PLANTS = [
    Plant({"lib/IR/A.cpp": LICENCE + "// TO" "DO\n"}, "open note"),
    Plant({"docs/a.md": "see /ro" "ot/x\n"}, "path of one machine"),
    Plant({"setup": "#!/bin/bash\n# " + SPDX + "\ncurl https://py" "pi.org\n"},
          "registry host"),
    Plant({"lib/IR/A.h": LICENCE + "#ifndef TP_IR_A_H\n#define TP_IR_A_H\n"
           "using namespace mlir;\n#endif\n"}, "'using namespace'"),
    Plant({"include/tp/IR/A.h": LICENCE + "#ifndef A_H\n#define A_H\n"},
          "include guard is not TP_IR_A_H"),
    Plant({"lib/IR/A.cpp": "int x;\n"}, "no SPDX line"),
    Plant({"check": "#!/bin/bash\ntrue\n"}, "no SPDX line"),
    Plant({"include/tp/IR/A.h": LICENCE
           + "#ifndef TP_IR_A_H\n#define TP_IR_A_H\n#endif\n",
           "docs/a.md": "build/tmp/x and https://a.example/home/x\n"}, None),
]

main(violations, PLANTS)
