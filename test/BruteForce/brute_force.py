# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether tp-check accepts what is right and refuses what is wrong, by trying.

For every operation and collective: each operand and result in every layout that
a mesh allows (all cuts, orders, units and kinds of unfinished values). A
combination is right if the pieces that the ranks compute from their pieces of
random values, put together again, are the value of the whole operation. Nothing
of the tree is used for that: layouts.py, values.py, operations.py and
collectives.py are written from the documentation.

By definition, although the numbers would be right, are refused: a dimension of
one element that is split; an unfinished maximum in an operation other than data
movement, casts, maximum and reduction to a maximum; a result that is declared an
unfinished maximum over axes along which it is finished; a reshard to an
unfinished maximum of what is none; a result that is unfinished over axes that no
operand uses (the coordinates c // 2 and c mod 3 of six ranks tell the same ranks
of three apart). A collective takes and makes the layouts
that its description says.

Usage: brute_force.py TP-OPT [--budget=N] [--seed=S] [--only=TEXT] [--meshes=M]

M is the number of meshes, of which the last two have axes that can be cut.

The number in the environment's TP_SEED, if there is one, is added to the seed.

Where a dimension has fewer units than ranks, two orders of the axes may put the
few units on the same ranks. tp-check compares layouts as they are written there;
such refusals are counted apart.

Up to N combinations of each operation and mesh are tried: all of them where
there are no more, else a sample, half of it right ones.
"""

import argparse
import collections
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy

from collectives import collectives
from layouts import box, layout_text, layouts, mesh_text, num_ranks, runs
from operations import Operation, Tensor, operations, random_value
from values import deal, holds, replica

MESHES = [(("x", 3),), (("x", 2), ("y", 3)), (("x", 4),), (("x", 6),)]
DRAWS = 5
FUNCTIONS_IN_A_FILE = 1000


def type_text(mesh, tensor, layout):
    sizes = "".join(f"{size}x" for size in tensor.shape)
    return f"tensor<{sizes}{tensor.type}, {layout_text(mesh, layout)}>"


def splits_one_element(tensor, layout):
    return any(size == 1 and dim.parts
               for size, dim in zip(tensor.shape, layout.dims))


def leaves_ranks_empty(mesh, tensor, layout):
    return any(0 in (size for _, size in box(mesh, tensor.shape, layout, rank))
               for rank in range(num_ranks(mesh)))


def place_of(mesh, shape, layout, rank):
    """What the rank holds; wherever nothing lies is the same."""
    return tuple(where if where[1] else (0, 0)
                 for where in box(mesh, shape, layout, rank))


def are_covered(parts, used):
    """Whether each coordinate of `parts` is between borders of used ones."""
    for axis, pre, size in parts:
        reached = pre
        for _, begin, count in sorted(part for part in used if part[0] == axis):
            if begin <= reached:
                reached = max(reached, begin * count)
        if reached < pre * size:
            return False
    return True


def with_fewer_maxima(layout):
    """The layouts that are finished along some digits of the axes."""
    parts = tuple((axis, begin, end // begin) for axis, begin, end
                  in runs(sorted(layout.unreduced)))
    for index, (axis, pre, size) in enumerate(parts):
        others = parts[:index] + parts[index + 1:]
        yield layout._replace(unreduced=others)
        for major in range(2, size):
            if size % major == 0:
                minor = axis, pre * major, size // major
                yield layout._replace(unreduced=(*others, minor))
                yield layout._replace(unreduced=(*others, (axis, pre, major)))


class Case:
    """An operation with a layout for each of its tensors."""

    def __init__(self, mesh, text, tensors, chosen):
        self.mesh, self.text = mesh, text
        self.tensors, self.chosen = tensors, chosen

    def function(self, number):
        if not self.tensors:
            return f"func.func @f{number}() {{ %r = {self.text} return }}"
        types = [type_text(self.mesh, tensor, layout)
                 for tensor, layout in zip(self.tensors, self.chosen)]
        arguments = ", ".join(f"%{'abc'[i]}: {kind}"
                              for i, kind in enumerate(types[:-1]))
        operands = ", ".join(types[:-1])
        return (f"func.func @f{number}({arguments}) {{ %r = {self.text} : "
                f"({operands}) -> {types[-1]} return }}")


class Subject:
    """One operation on one mesh: random values, and what is right."""

    def __init__(self, mesh, operation, chance):
        self.mesh, self.operation = mesh, operation
        tensors = (*operation.operands, operation.result)
        self.tensors = tensors
        self.choices = [
            layouts(mesh, tensor.shape,
                    ("max",) if tensor.type == "i1" else ("sum", "max"),
                    tensor.unit_choices()) for tensor in tensors]
        self.chance = chance
        self.values = [[random_value(tensor, chance)
                        for tensor in operation.operands]
                       for _ in range(DRAWS)]
        self.wholes = [value.shape for value in self.values[0]]
        self.expected = [operation.compute(
            values, [(0,) * v.ndim for v in values], self.wholes,
            operation.result.shape) for values in self.values]
        self.dealt = {}

    def pieces(self, draw, operand, layout):
        key = draw, operand, layout
        if key not in self.dealt:
            self.dealt[key] = deal(self.mesh, self.values[draw][operand],
                                   layout, draw, self.chance)
        return self.dealt[key]

    def refused_by_definition(self, chosen):
        if any(splits_one_element(tensor, layout)
               for tensor, layout in zip(self.tensors, chosen)):
            return True
        *inputs, output = chosen
        if not are_covered(output.unreduced, [
                part for layout in inputs for part in
                [*layout.unreduced, *(p for dim in layout.dims
                                      for p in dim.parts)]]):
            return True
        return not self.operation.passes_maximum and any(
            layout.unreduced and layout.kind == "max" for layout in inputs)

    def compute(self, draw, inputs, rank, shape):
        pieces = [self.pieces(draw, operand, layout)[rank]
                  for operand, layout in enumerate(inputs)]
        origins = [tuple(offset for offset, _ in
                         box(self.mesh, whole, layout, rank))
                   for whole, layout in zip(self.wholes, inputs)]
        return self.operation.compute(pieces, origins, self.wholes, shape)

    def is_right(self, chosen):
        if self.refused_by_definition(chosen) or not self.is_equal(chosen):
            return False
        output = chosen[-1]
        return not output.unreduced or output.kind == "sum" or not any(
            self.is_equal((*chosen[:-1], fewer))
            for fewer in with_fewer_maxima(output))

    def is_equal(self, chosen):
        *inputs, output = chosen
        shape = self.operation.result.shape
        for draw in range(DRAWS):
            results = []
            for rank in range(num_ranks(self.mesh)):
                local = tuple(size for _, size in
                              box(self.mesh, shape, output, rank))
                result = self.compute(draw, inputs, rank, local)
                if result is None or result.shape != local:
                    return False
                results.append(result)
            if not holds(self.mesh, results, self.expected[draw], output):
                return False
        return True

    def case(self, chosen):
        return Case(self.mesh, self.operation.text, self.tensors, chosen)

    def all(self):
        return itertools.product(*self.choices)

    def count(self):
        total = 1
        for choices in self.choices:
            total *= len(choices)
        return total

    def sample(self, size, rng):
        """Half of it right, as far as they are found."""
        for number in range(size):
            inputs = [rng.choice(choices) for choices in self.choices[:-1]]
            if rng.random() < 0.5 and len(inputs) > 1 and \
                    self.tensors[0].shape == self.tensors[1].shape:
                inputs[1] = inputs[0]
            outputs = self.choices[-1]
            if number % 2:
                right = [output for output in outputs
                         if self.is_right((*inputs, output))]
                outputs = right or outputs
            yield (*inputs, rng.choice(outputs))


class Moves(Subject):
    """All collectives on one mesh, from any layout to any other."""

    def __init__(self, mesh, collective, chance):
        tensor = Tensor((4, 6), units=((1,), (1, 2)))
        super().__init__(mesh, Operation(
            collective.name, collective.text(), (tensor,), tensor,
            lambda pieces, origins, wholes, shape: pieces[0]), chance)
        self.collective = collective

    def refused_by_definition(self, chosen):
        before, after = chosen
        made = self.collective.define(self.operation.result.shape,
                                      before, after)
        return made is None or not self.lie_alike(made, after)

    def lie_alike(self, one, other):
        """The same elements on the same ranks, unfinished over the same."""
        if one.unreduced and one.kind != other.kind or sorted(
                runs(sorted(one.unreduced))) != sorted(
                    runs(sorted(other.unreduced))):
            return False
        shape = self.operation.result.shape
        return all(place_of(self.mesh, shape, one, rank)
                   == place_of(self.mesh, shape, other, rank)
                   for rank in range(num_ranks(self.mesh)))

    def is_equal(self, chosen):
        before, after = chosen
        for draw in range(DRAWS):
            results = self.collective.run(self.pieces(draw, 0, before), before,
                                          after)
            if any(result is None for result in results) or not holds(
                    self.mesh, results, self.expected[draw], after):
                return False
        return True


class Reshards(Subject):
    """Any layout to any other; only what is an unfinished maximum stays one."""

    def __init__(self, mesh, chance):
        tensor = Tensor((4, 6), units=((1,), (1, 2)))
        super().__init__(mesh, Operation(
            "reshard", "tp.reshard %a", (tensor,), tensor,
            lambda pieces, origins, wholes, shape: pieces[0]), chance)

    def is_right(self, chosen):
        before, after = chosen
        if not after.unreduced or after.kind == "sum":
            return True
        return before.kind == "max" and all(
            replica(self.mesh, replica(self.mesh, rank, after.unreduced),
                    before.unreduced)
            == replica(self.mesh, rank, before.unreduced)
            for rank in range(num_ranks(self.mesh)))


class Constants(Subject):
    """A value that every rank knows: any layout but an unfinished one; zeros may
    be unfinished."""

    def __init__(self, mesh, entries, chance):
        tensor = Tensor((4, 6), units=((1, 2), (1, 3)))
        self.are_zero = not numpy.any(entries)
        super().__init__(mesh, Operation(
            "constant", f"tp.constant dense<{entries.tolist()}>", (), tensor,
            lambda pieces, origins, wholes, shape: entries), chance)

    def is_right(self, chosen):
        return self.are_zero or not chosen[0].unreduced

    def case(self, chosen):
        whole = "tensor<4x6xf32>"
        typed = type_text(self.mesh, self.tensors[0], chosen[0])
        return Case(self.mesh, f"{self.operation.text} : {whole} as {typed}",
                    (), ())


def find_refused(tp_opt, mesh, cases):
    """Numbers of the cases that tp-opt has an error for."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "cases.mlir"
        lines = [f"tp.mesh @mesh = {mesh_text(mesh)}"]
        lines += [case.function(number) for number, case in enumerate(cases)]
        path.write_text("\n".join(lines) + "\n")
        answer = subprocess.run([tp_opt, str(path), "-o", "/dev/null"],
                                capture_output=True, text=True)
    if answer.returncode not in (0, 1):
        sys.exit(f"tp-opt ended with {answer.returncode}:\n{answer.stderr[-4000:]}")
    found = {int(line) - 2 for line in
             re.findall(r"cases\.mlir:(\d+):\d+: error", answer.stderr)}
    structural = [line for line in answer.stderr.splitlines()
                  if ": error" in line and not re.search(r"\[R\d+\]$", line)]
    if structural or (answer.returncode == 1) != bool(found):
        sys.exit("no error of a rule:\n" + answer.stderr[:4000])
    return found


class Tally:
    def __init__(self):
        self.right = self.wrong = self.empty = 0
        self.disagreements = collections.Counter()
        self.examples = []

    def judge(self, tp_opt, name, mesh, cases, expected):
        refused = find_refused(tp_opt, mesh, cases)
        for number, (case, is_right) in enumerate(zip(cases, expected)):
            self.right += is_right
            self.wrong += not is_right
            if is_right != (number in refused):
                continue
            if is_right and any(map(leaves_ranks_empty, itertools.repeat(mesh),
                                    case.tensors, case.chosen)):
                self.empty += 1
                continue
            kind = "refused though right" if is_right else "accepted though wrong"
            self.disagreements[name, mesh, kind] += 1
            if self.disagreements[name, mesh, kind] <= 2:
                self.examples.append(f"// {name}, {kind}\ntp.mesh @mesh = "
                                     f"{mesh_text(mesh)}\n{case.function(0)}\n")


def try_subject(subject, options, rng, tally):
    everything = subject.count() <= options.budget
    chosen = subject.all() if everything else \
        subject.sample(options.budget, rng)
    chosen = iter(chosen)
    while block := list(itertools.islice(chosen, FUNCTIONS_IN_A_FILE)):
        tally.judge(options.tp_opt, subject.operation.name, subject.mesh,
                    [subject.case(layouts) for layouts in block],
                    [subject.is_right(layouts) for layouts in block])


def subjects(chance, only, meshes):
    for mesh in MESHES[:meshes]:
        for operation in operations():
            if only in operation.name:
                yield Subject(mesh, operation, chance)
        for collective in collectives(mesh, 2):
            if only in collective.name:
                yield Moves(mesh, collective, chance)
        if only in "constant":
            yield Constants(mesh, numpy.zeros((4, 6)), chance)
            yield Constants(mesh, numpy.arange(24.0).reshape(4, 6), chance)
        if only in "reshard":
            yield Reshards(mesh, chance)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tp_opt")
    parser.add_argument("--budget", type=int, default=700)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--meshes", type=int, default=len(MESHES))
    options = parser.parse_args()
    options.seed += int(os.environ.get("TP_SEED", "0"))
    rng, chance = random.Random(options.seed), \
        numpy.random.default_rng(options.seed)
    tally = Tally()
    with numpy.errstate(all="ignore"):
        for subject in subjects(chance, options.only, options.meshes):
            try_subject(subject, options, rng, tally)
    print("".join(tally.examples), end="")
    for (name, mesh, kind), count in tally.disagreements.items():
        print(f"{name} on {mesh_text(mesh)}: {count} {kind}")
    total = tally.right + tally.wrong
    print(f"seed {options.seed}: {total} combinations, {tally.right} right and "
          f"{tally.wrong} wrong ones; tp-check disagrees on "
          f"{sum(tally.disagreements.values())} and refuses {tally.empty} right "
          f"ones in which ranks hold nothing")
    enough = min(tally.right, tally.wrong) * 20 >= total
    return 0 if enough and not tally.disagreements else 1


sys.exit(main())
