# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds the tools inputs that were changed at random.

Kinds: text (programs, some planned), bytecode, config (config.json), weights (a
model folder with changed safetensors), machine (machine files), certificate
(plans with their proof) and local (programs of one rank, run).

Whatever the input, a tool must end by itself within 20 seconds and without a
signal; a sanitizer's report counts as one. A signal in MLIR's own parsers, before
anything of ours has run, is counted apart. Inputs that fail are kept.

Usage: fuzz.py FOLDER-OF-TOOLS SOURCE-FOLDER [--count=N] [--seed=S]
               [--kinds=text,local] [--keep=FOLDER] [--jobs=J]

The seed and the kind decide every input. The number in the environment's TP_SEED,
if there is one, is added to the seed.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

from mutate import change_bytes, change_text

SECONDS = 20
TEXTS_IN_A_FILE = 50
# Shares of the kinds: what starts a process for every input is rarer.
SHARES = {"text": 0.80, "certificate": 0.08, "bytecode": 0.04, "config": 0.03,
          "machine": 0.02, "weights": 0.01, "local": 0.02}
BATCHED = {"text", "certificate"}
PIPELINES = [
    [], ["--tp-plan=mesh=tp=2"], ["--tp-plan=mesh=a=2,b=3 uneven=allow"],
    ["--tp-plan=mesh=tp=4 weights=free", "--tp-explain"],
    ["--tp-insert-collectives", "--tp-partition"],
    ["--tp-plan=mesh=tp=3 uneven=allow", "--tp-insert-collectives",
     "--tp-partition", "--tp-lower-to-cpu"],
    ["--tp-legalize"], ["--tp-split-fused-weights", "--tp-legal-degrees"],
    ["--tp-print-sharding-rules"],
    ["--tp-plan=mesh=tp=2", "--tp-insert-collectives", "--tp-cost-report"],
    ["--tp-import-shardy"], ["--tp-export-shardy"],
    ["--tp-decompose-cross-entropy", "--tp-plan=mesh=tp=2"]]
OWN_FRAME = re.compile(r"\btp::")
PARSER_FRAME = re.compile(
    r"parseAsmSourceFile|parseSourceFile|readBytecodeFile|BytecodeReader")


class Tools:
    def __init__(self, folder, source):
        self.folder, self.source = folder, source

    def limit(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))

    def run(self, arguments, folder, seconds=SECONDS):
        """(how it ended, what it printed as errors); None: it ended well."""
        command = [str(self.folder / arguments[0]), *arguments[1:]]
        try:
            answer = subprocess.run(
                command, cwd=folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                timeout=seconds, preexec_fn=self.limit)
        except subprocess.TimeoutExpired:
            return "hang", ""
        errors = answer.stderr.decode(errors="replace")
        if "Sanitizer" in errors or "runtime error:" in errors:
            return "sanitizer", errors
        if 0 <= answer.returncode < 128:
            return None, errors
        return self.whose(errors), errors

    @staticmethod
    def whose(errors):
        """Innermost frame first: ours, or a parser of MLIR."""
        for line in errors.splitlines():
            if OWN_FRAME.search(line):
                return "signal"
            if PARSER_FRAME.search(line):
                return "signal in MLIR"
        return "signal"


class Corpus:
    """What is changed."""

    def __init__(self, tools):
        self.tools = tools
        files = sorted([*tools.source.glob("test/*/*.mlir"),
                        *tools.source.glob("examples/*.mlir")])
        self.texts = []
        for path in files:
            # Without the comments, which tell the tests what to expect.
            text = "\n".join(line for line in path.read_text().split("\n")
                             if not line.lstrip().startswith("//")
                             or line.startswith("// -----"))
            self.texts += [part for part in text.split("// -----\n")
                           if part.strip() and len(part) < 20000]
        self.configs = [path.read_text() for path in
                        sorted(tools.source.glob("examples/configs/*.json"))]
        self.machines = [path.read_text() for path in
                         sorted(tools.source.glob("share/machines/*.yaml"))]
        self.models = sorted(path.parent for path in tools.source.glob(
            "test/Run/models/*/config.json"))
        self.plans = self.outputs(["--tp-plan=mesh=tp=2 certificate"], 40)
        self.locals = self.outputs(["--tp-plan=mesh=tp=2",
                                    "--tp-insert-collectives",
                                    "--tp-partition"], 60)
        self.locals += [text for text in self.texts if "tp.local" in text]
        self.bytecodes = self.outputs(["--emit-bytecode"], 60, binary=True)

    def outputs(self, options, count, binary=False):
        """What tp-opt makes of the texts that it accepts."""
        made = []
        for text in random.Random(1).sample(self.texts, len(self.texts)):
            if len(made) == count:
                break
            answer = subprocess.run(
                [str(self.tools.folder / "tp-opt"), *options], timeout=60,
                input=text.encode(), capture_output=True)
            if answer.returncode == 0 and answer.stdout:
                made.append(answer.stdout if binary
                            else answer.stdout.decode())
        if not made:
            sys.exit(f"tp-opt accepts no text with {options}")
        return made


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes)
                     else content.encode(errors="surrogatepass"))


class Input:
    """One changed input, and the command that reads it."""

    def __init__(self, kind, seed, number, corpus):
        self.kind, self.name = kind, f"{kind}-{seed}-{number}"
        self.chance = random.Random(f"{kind} {seed} {number}")
        self.corpus = corpus
        self.options = []
        getattr(self, kind)()

    def text(self):
        self.content = change_text(self.chance.choice(self.corpus.texts),
                                   self.chance, self.corpus.texts)

    def certificate(self):
        self.content = change_text(self.chance.choice(self.corpus.plans),
                                   self.chance)

    def bytecode(self):
        self.content = change_bytes(self.chance.choice(self.corpus.bytecodes),
                                    self.chance)
        self.options = self.chance.choice(PIPELINES)

    def config(self):
        self.content = change_text(self.chance.choice(self.corpus.configs),
                                   self.chance)

    def machine(self):
        self.content = change_text(self.chance.choice(self.corpus.machines),
                                   self.chance)

    def local(self):
        self.content = change_text(self.chance.choice(self.corpus.locals),
                                   self.chance, self.corpus.locals)

    def weights(self):
        self.model = self.chance.choice(self.corpus.models)
        data = (self.model / "model.safetensors").read_bytes()
        # The header is what has structure: a length and JSON.
        end = 8 + int.from_bytes(data[:8], "little")
        if self.chance.random() < 0.5:
            head = change_text(data[8:end].decode(), self.chance).encode(
                errors="surrogatepass")
            self.content = len(head).to_bytes(8, "little") + head + data[end:]
        else:
            self.content = change_bytes(data[:end], self.chance) + data[end:]

    def command(self, folder):
        """Writes the input; the command that reads it."""
        path = folder / {"config": "config.json", "machine": "machine.yaml",
                         "weights": "model.safetensors",
                         "bytecode": "a.mlirbc"}.get(self.kind, "a.mlir")
        write(path, self.content)
        if self.kind == "config":
            return ["tp-translate", "--import-hf-config", str(path),
                    "--layers=1", "-o", "/dev/null"]
        if self.kind == "machine":
            program = folder / "program.mlir"
            shutil.copy(self.corpus.tools.source / "examples/mlp.mlir", program)
            return ["tp-opt", str(program), "-o", "/dev/null",
                    f"--tp-plan=mesh=tp=2 machine={path}",
                    "--tp-insert-collectives", "--tp-cost-report"]
        if self.kind == "weights":
            shutil.copy(self.model / "config.json", folder)
            return ["tp-run", str(folder), "--mesh=tp=2", "--layers=1"]
        if self.kind == "local":
            return ["tp-run", str(path), "--deadline=5"]
        if self.kind == "certificate":
            return ["tp-opt", str(path), "--tp-check-plan", "-o", "/dev/null"]
        return ["tp-opt", str(path), *self.options, "-o", "/dev/null"]


def try_one(given):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = given.command(folder)
        how, errors = given.corpus.tools.run(command, folder)
    return (given, command, how, errors) if how else None


def try_block(block):
    """Failures among the inputs of a block: together first, where one process
    may read many texts."""
    kind, seed, numbers, corpus = block
    inputs = [Input(kind, seed, number, corpus) for number in numbers]
    if kind in BATCHED:
        options = random.Random(f"{kind} {seed} {numbers[0]}").choice(PIPELINES)
        if kind == "text":
            for given in inputs:
                given.options = options
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "a.mlir"
            command = inputs[0].command(path.parent)
            write(path, "\n// -----\n".join(
                given.content.replace("\0", " ") for given in inputs))
            how, _ = corpus.tools.run([*command, "--split-input-file"],
                                      path.parent, 4 * SECONDS)
        if not how:
            return len(inputs), []
    failures = [failure for failure in map(try_one, inputs) if failure]
    return len(inputs), failures


def blocks(options, corpus):
    for kind in options.kinds.split(","):
        share = SHARES[kind] / sum(SHARES[k] for k in options.kinds.split(","))
        count = max(1, round(options.count * share))
        for first in range(0, count, TEXTS_IN_A_FILE):
            yield (kind, options.seed,
                   range(first, min(count, first + TEXTS_IN_A_FILE)), corpus)


def report(failure, options):
    given, command, how, errors = failure
    print(f"{given.name}: {how}: {' '.join(command)}\n{errors[-2500:]}")
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        write(options.keep / given.name, given.content)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(SHARES))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.seed += int(os.environ.get("TP_SEED", "0"))
    os.environ["LLVM_SYMBOLIZER_PATH"] = "/usr/lib/llvm-22/bin/llvm-symbolizer"
    corpus = Corpus(Tools(options.tools.resolve(), options.source.resolve()))
    tally, total = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for count, failures in pool.map(try_block, blocks(options, corpus)):
            total += count
            for failure in failures:
                tally[failure[2]] += 1
                report(failure, options)
    print(f"seed {options.seed}: {total} inputs: "
          + ", ".join(f"{tally[how]} {how}" for how in
                      ("signal", "hang", "sanitizer", "signal in MLIR")))
    return 1 if any(tally[how] for how in ("signal", "hang", "sanitizer")) else 0


sys.exit(main())
