# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands that the documentation shows run as they are written.

Every line of a fenced `sh` block that calls a program of build/bin runs, in
order, in a folder that looks like a fresh checkout with a build. A call of
another program of this repository, such as ./setup, must name one.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from rule import Plant, main

PAGES = ["README.md", "docs/tutorial.md"]
BLOCK = re.compile(r"^[ \t]*```sh\n(.*?)^[ \t]*```", re.M | re.S)
LOCAL = re.compile(r"^\./(\S+)")
LIMIT = 600


def commands(text):
    """Lines of the sh blocks, continued ones joined, prompts removed."""
    for block in BLOCK.findall(text):
        joined = re.sub(r"\\\n\s*", " ", block)
        for line in joined.splitlines():
            line = line.strip().removeprefix("$ ")
            if line and not line.startswith("#"):
                yield line


def checkout(tree, folder):
    """Fills a folder with links to the tree, and a build folder of its own."""
    for name in {path.split("/", 1)[0] for path in tree.paths}:
        os.symlink(tree.root / name, folder / name)
    (folder / "build").mkdir()
    os.symlink(tree.programs, folder / "build" / "bin")


def run(command, folder):
    try:
        answer = subprocess.run(["bash", "-o", "pipefail", "-c", command],
                                cwd=folder, capture_output=True, text=True,
                                timeout=LIMIT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"runs for more than {LIMIT} s"
    if answer.returncode == 0:
        return None
    return f"exits with {answer.returncode}:\n{answer.stderr[-2000:]}"


def command_violation(tree, command, folder):
    local = LOCAL.match(command)
    if local and not os.access(tree.root / local.group(1), os.X_OK):
        return "names no program"
    return run(command, folder) if "build/bin/" in command else None


def violations(tree):
    messages = []
    for page in PAGES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            checkout(tree, folder)
            for command in commands(tree.read(page)):
                reason = command_violation(tree, command, folder)
                if reason:
                    messages.append(f"{page}: '{command}' {reason}")
    return messages


def page(*lines):
    return {"README.md": "\n".join(["```sh", *lines, "```", ""]), "in": "x\n"}


TOOL = {"tool": '#!/bin/sh\ncat "$1"\n'}
PLANTS = [
    Plant(page("build/bin/none in"), "exits with 127", TOOL),
    Plant(page("build/bin/tool \\", "  missing"), "exits with 1", TOOL),
    Plant(page("build/bin/tool missing | cat"), "exits with 1", TOOL),
    Plant(page("./nothing"), "names no program", TOOL),
    Plant(page("# a comment", "$ build/bin/tool in >build/out",
               "build/bin/tool build/out"), None, TOOL),
]

main(violations, PLANTS)
