# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples in the pass descriptions are what the passes do.

A description in Passes.td holds, once or more,

    Before:
    ```mlir
    ...
    ```
    Run: --tp-some-pass="option=value"
    After:
    ```mlir
    ...
    ```

Both programs are complete. What tp-opt makes of the first is compared with
what it prints for the second, so neither names nor spaces matter. A block
marked `text` in place of `mlir` after `After:` names lines of the report or of
the diagnostics, in their order.
"""

import re
import shlex
import subprocess

from rule import Plant, main

PASSES = "include/tp/Passes.td"
PASS = re.compile(r'^def\s+\w+\s*:\s*Pass<\s*"([^"]+)".*?(?=^def\s|\Z)',
                  re.M | re.S)
BLOCK = r"[^\n]*```{0}\n(.*?)^[ \t]*```[^\n]*\n"
EXAMPLE = re.compile(
    r"^[ \t]*Before:\s*\n" + BLOCK.format("mlir")
    + r"\s*Run:[ \t]*(\S[^\n]*)\n"
    + r"\s*After:\s*\n" + BLOCK.format("(mlir|text)"), re.M | re.S)


def tp_opt(tree, options, program):
    return subprocess.run(
        [str(tree.programs / "tp-opt"), *options, "-"], input=program,
        capture_output=True, text=True, timeout=120, cwd=tree.root)


def words(text):
    return " ".join(text.split())


def report_difference(answer, expected):
    rest = words(answer.stdout + answer.stderr)
    for line in filter(None, map(words, expected.splitlines())):
        if line not in rest:
            return f"does not report '{line}':\n{answer.stderr}{answer.stdout}"
        rest = rest.split(line, 1)[1]
    return None


def program_difference(tree, answer, expected):
    if answer.returncode != 0:
        return f"fails:\n{answer.stderr}"
    wanted = tp_opt(tree, [], expected)
    if wanted.returncode != 0:
        return f"has an 'After:' that is not read:\n{wanted.stderr}"
    if words(wanted.stdout) != words(answer.stdout):
        return f"gives not the 'After:' but\n{answer.stdout}"
    return None


def example_violation(tree, flag, example):
    before, options, kind, after = example
    if f"--{flag}" not in options:
        return f"'Run: {options}' does not name the pass"
    answer = tp_opt(tree, shlex.split(options), before)
    difference = (report_difference(answer, after) if kind == "text"
                  else program_difference(tree, answer, after))
    return difference and f"'Run: {options}' {difference}"


def violations(tree):
    text = tree.read(PASSES)
    if not (tree.programs / "tp-opt").exists():
        there = tree.has("tools/tp-opt.cpp")
        return ["tp-opt is not built"] if there else []
    messages = []
    for definition in PASS.finditer(text):
        flag = definition.group(1)
        examples = EXAMPLE.findall(definition.group(0))
        if len(examples) != definition.group(0).count("After:"):
            messages.append(f"{flag}: an example that is not well formed")
        if not examples:
            messages.append(f"{flag}: no pair of 'Before:' and 'After:'")
        for example in examples:
            found = example_violation(tree, flag, example)
            if found:
                messages.append(f"{flag}: {found}")
    return messages


def entry(before, after, kind="mlir", run="--tp-x"):
    return {PASSES: f'def X : Pass<"tp-x"> {{\n  Before:\n  ```mlir\n'
            f"  {before}\n  ```\n\n  Run: {run}\n\n  After:\n  ```{kind}\n"
            f"  {after}\n  ```\n}}\n"}


# Prints what it reads; with --tp-x it turns every a into b and says so.
OPT = {"tp-opt": '#!/bin/sh\ncase "$*" in --tp-x*) echo note: one a >&2;'
                 ' tr a b;; *) cat;; esac\n'}
PLANTS = [
    Plant({PASSES: 'def X : Pass<"tp-x"> {}\n'}, "no pair", OPT),
    Plant({PASSES: 'def X : Pass<"tp-x"> { After:\n }\n'}, "well formed", OPT),
    Plant(entry("a c", "a c"), "gives not the 'After:'", OPT),
    Plant(entry("a", "b", run="--tp-y"), "does not name the pass", OPT),
    Plant(entry("a", "two a", "text"), "does not report 'two a'", OPT),
    Plant(entry("a", "b"), "fails", {"tp-opt": "#!/bin/sh\nexit 1\n"}),
    Plant({"tools/tp-opt.cpp": ""}, "not built"),
    Plant(entry("a  c", "b c"), None, OPT),
    Plant(entry("a", "note: one a", "text"), None, OPT),
]

main(violations, PLANTS)
