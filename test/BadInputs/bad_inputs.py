# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every row of the tables: malformed and extreme inputs of the tools.

A row must end with an exit code from 1 to 125, by itself, in bounded time and
memory, with an error that names the place (file:line:col, or the file, or the
option) and what the row says must be in it: the number, where there is one.

Usage: bad_inputs.py FOLDER-OF-TOOLS SOURCE-FOLDER [substring of a row's name]
"""

import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import files
import programs

SECONDS = 20
ADDRESS_SPACE = 6 << 30


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes)
                     else content.encode())


def run(row, tools, folder):
    for name, content in row.files.items():
        write(folder, name, content)
    arguments = [argument.replace("{dir}", str(folder))
                 for argument in row.arguments]
    return subprocess.run([str(tools / row.tool), *arguments], cwd=folder,
                          input=row.standard_input, capture_output=True,
                          timeout=SECONDS, preexec_fn=limit)


def judge(row, tools, folder):
    """What is wrong with the answer to a row; nothing if it is right."""
    try:
        answer = run(row, tools, folder)
    except subprocess.TimeoutExpired:
        return f"still runs after {SECONDS} s"
    errors = answer.stderr.decode(errors="replace")
    if answer.returncode < 0 or answer.returncode > 125:
        return f"ended by a signal or abnormally: {answer.returncode}\n{errors}"
    if answer.returncode == 0:
        return "accepted"
    if not re.search(r"\berror\b|for the --?[\w-]+ option|Unknown command", errors):
        return f"no error:\n{errors}"
    for wanted in row.expected:
        if not re.search(wanted, errors):
            return f"does not say '{wanted}':\n{errors[:2000]}"
    return None


def main(tools, source, pattern=""):
    rows = [row for row in programs.rows() + files.rows(source)
            if pattern in row.name]
    names = [row.name for row in rows]
    assert len(set(names)) == len(names), sorted(
        name for name in names if names.count(name) > 1)
    failures = 0
    for row in rows:
        with tempfile.TemporaryDirectory() as folder:
            wrong = judge(row, tools, pathlib.Path(folder))
        if wrong:
            failures += 1
            print(f"{row.name}: {wrong}\n")
    print(f"{len(rows)} bad inputs, {failures} answered wrongly")
    return 1 if failures or (not pattern and len(rows) < 200) else 0


sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]),
              *sys.argv[3:]))
