# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names agree: passes, their files and tests, messages, rule labels."""

import re

from rule import Plant, main

PASSES = "include/tp/Passes.td"
ERRORS = "docs/errors.md"
PASS = re.compile(r'^def\s+(\w+)\s*:\s*Pass<\s*"([^"]+)"', re.M)
VAGUE = re.compile(r"util|helper|common|misc", re.I)
EMIT = re.compile(r"\bemit(?:Op)?Error\s*\(")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
LABEL = re.compile(r"\bR(\d+)\b")
TEST_LABEL = re.compile(r"@\w*_r(\d+)\b")
# Where a test says what it expects.
EXPECTATION = re.compile(r"expected-(?:error|note|warning)|//\s*[A-Z][\w-]*:")


def kebab(name):
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1-\2", parts).lower()


def pass_violations(tree):
    """tp-check-plan = CheckPlan = lib/M/CheckPlan.cpp = test/M/check-plan."""
    for name, flag in PASS.findall(tree.read(PASSES)):
        if flag != "tp-" + kebab(name):
            yield f"{PASSES}: pass {name} is called {flag}"
            continue
        homes = [path for path in tree.select(["lib"], [f"/{name}.cpp"])]
        if len(homes) != 1:
            yield f"{PASSES}: pass {flag} has {len(homes)} files {name}.cpp"
            continue
        module = homes[0].split("/")[1]
        stem = f"test/{module}/{flag.removeprefix('tp-')}"
        for test in (stem + ".mlir", stem + "-errors.mlir"):
            if not tree.has(test):
                yield f"{homes[0]}: there is no {test}"


def vague_names(tree):
    for path in tree.paths:
        match = VAGUE.search(path)
        if match:
            yield f"{path}: '{match.group(0)}' in a name says nothing"


def statement(text, start):
    """The code from start to the end of its statement, strings kept whole."""
    end = start
    while end < len(text) and text[end] != ";":
        literal = LITERAL.match(text, end)
        end = literal.end() if literal else end + 1
    return text[start:end]


def unescape(text):
    return text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def literals(code):
    """The string literals of some code, adjacent ones as one."""
    found, end = [], None
    for match in LITERAL.finditer(code):
        text = unescape(match.group(1))
        if end is not None and not code[end:match.start()].strip():
            found[-1] += text
        else:
            found.append(text)
        end = match.end()
    return found


def messages(text):
    """The longest literal of every error a source reports, with its line."""
    for match in EMIT.finditer(text):
        found = literals(statement(text, match.end()))
        fragments = [piece for text_ in found
                     for piece in re.split(r"\{\d[^}]*\}", text_)]
        longest = max(fragments, key=len, default="").strip()
        if longest:
            yield text.count("\n", 0, match.start()) + 1, longest


def plain(text):
    """Text as it reads, without the marks of FileCheck's expressions."""
    return " ".join(re.sub(r"\{\{|\}\}|\\", "", text).split())


def expectations(tree):
    parts = []
    for path in tree.select(["test"], [".mlir", ".test"]):
        parts += [line for line in tree.read(path).splitlines()
                  if EXPECTATION.search(line)]
    for path in tree.select(["test"], [".cpp"]):
        parts += literals(tree.read(path))
    return plain("\n".join(parts))


def untested_messages(tree):
    expected = expectations(tree)
    for path in tree.select(["lib"], [".cpp", ".h"]):
        for line, fragment in messages(tree.read(path)):
            if plain(fragment) not in expected:
                yield f"{path}:{line}: no test expects '{fragment}'"


def labels(tree, paths, pattern):
    found = set()
    for path in paths:
        found |= {int(n) for n in pattern.findall(tree.read(path))}
    return found


def label_violations(tree):
    """R7 of docs/errors.md is R7 in lib/Check and @..._r7 in a test."""
    places = {
        ERRORS: labels(tree, [ERRORS], LABEL),
        "lib/Check": labels(tree, tree.select(["lib/Check"], [".cpp"]), LABEL),
        "a test's function name": labels(
            tree, tree.select(["test"], [".mlir"]), TEST_LABEL),
    }
    for label in sorted(set().union(*places.values())):
        for place, known in places.items():
            if label not in known:
                yield f"rule R{label} is missing in {place}"


def violations(tree):
    return [*pass_violations(tree), *vague_names(tree),
            *untested_messages(tree), *label_violations(tree)]


PASS_TEXT = 'def CheckPlan : Pass<"tp-check-plan"> {}\n'
ERROR_TEXT = ('return op->emitError("found \\"") << n\n'
              '    << "\\" of "\n       "the many";\n')
RULE = {"docs/errors.md": "## R7\n", "lib/Check/Legality.cpp": "// R7\n"}
PLANTS = [
    Plant({PASSES: PASS_TEXT.replace("check", "test")}, "is called"),
    Plant({PASSES: PASS_TEXT}, "has 0 files CheckPlan.cpp"),
    Plant({PASSES: PASS_TEXT, "lib/Plan/CheckPlan.cpp": "",
           "test/Plan/check-plan.mlir": ""}, "no test/Plan/check-plan-errors"),
    Plant({"lib/IR/Utils.cpp": ""}, "'Util' in a name"),
    Plant({"lib/IR/A.cpp": ERROR_TEXT, "test/IR/a.mlir": "of the many"},
          "no test expects '\" of the many'"),
    Plant({**RULE}, "R7 is missing in a test"),
    Plant({"test/IR/a.mlir": "func @gelu_r7()", **RULE,
           "docs/errors.md": ""}, "R7 is missing in docs/errors.md"),
    Plant({"test/IR/a.mlir": "func @gelu_r7()", "docs/errors.md": "R7"},
          "R7 is missing in lib/Check"),
    Plant({PASSES: PASS_TEXT, "lib/Plan/CheckPlan.cpp": ERROR_TEXT, **RULE,
           "test/Plan/check-plan.mlir": "func.func @sum_r7()",
           "test/Plan/check-plan-errors.mlir":
               '// expected-error @below {{found "2" of the many}}\n'}, None),
    Plant({"include/tp/Passes.td": 'def LowerToCPU : Pass<"tp-lower-to-cpu">',
           "lib/CPU/LowerToCPU.cpp": "", "test/CPU/lower-to-cpu.mlir": "",
           "test/CPU/lower-to-cpu-errors.mlir": ""}, None),
]

main(violations, PLANTS)
