# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the house rules share: reading the tree, and proving they can fail.

A rule is a function `violations(tree)` that returns messages. Before it is
applied to the project, it must find each planted violation, and nothing in
the same tree without the plant where one is given as `clean`.
"""

import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

SKIPPED = {".git", "__pycache__"}


@dataclass
class Plant:
    """A small tree and a part of the message a rule must give for it.

    A message of None says that the tree is in order.
    """

    files: dict
    message: str | None
    programs: dict = field(default_factory=dict)


class Tree:
    """The files of a project and the folder of its programs."""

    def __init__(self, root, programs):
        self.root = Path(root)
        self.programs = Path(programs)
        self.paths = sorted(self._list())

    def _list(self):
        if (self.root / ".git").exists():
            command = ["git", "-C", str(self.root), "ls-files", "--cached",
                       "--others", "--exclude-standard"]
            answer = subprocess.run(command, capture_output=True, text=True)
            if answer.returncode == 0:
                return [name for name in answer.stdout.splitlines()
                        if (self.root / name).is_file()]
        return [str(path.relative_to(self.root))
                for path in self.root.rglob("*")
                if path.is_file() and self._wanted(path)]

    def _wanted(self, path):
        parts = path.relative_to(self.root).parts
        return (not SKIPPED.intersection(parts)
                and not parts[0].startswith("build"))

    def select(self, folders, suffixes):
        """Paths below one of the folders that end in one of the suffixes."""
        return [path for path in self.paths
                if path.startswith(tuple(f + "/" for f in folders))
                and path.endswith(tuple(suffixes))]

    def has(self, path):
        return (self.root / path).is_file()

    def read(self, path):
        """Text of a file; empty where it is not text or not there."""
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            return ""


def _misses_plant(violations, plant):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        programs = Path(folder) / "bin"
        root.mkdir()
        programs.mkdir()
        for name, text in plant.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for name, text in plant.programs.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        found = violations(Tree(root, programs))
    if plant.message is None:
        return f"false alarm: {found}" if found else None
    if any(plant.message in message for message in found):
        return None
    return f"planted violation not found: '{plant.message}', got {found}"


def main(violations, plants):
    """Runs the rule on the plants and then on the tree named by argv."""
    for plant in plants:
        failure = _misses_plant(violations, plant)
        if failure:
            sys.exit(f"self-check: {failure}")
    found = violations(Tree(sys.argv[1], sys.argv[2]))
    for message in found:
        print(message)
    print(f"{len(plants)} plants judged, {len(found)} violations")
    sys.exit(1 if found else 0)
