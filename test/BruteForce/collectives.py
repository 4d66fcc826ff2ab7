# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives, simulated: what the ranks of each group hold afterwards."""

import functools
import itertools

import numpy

from layouts import (Dim, array_split, coordinate, num_ranks, parts_text, place,
                     runs, shard, without_minor)
from values import replica


def groups(mesh, parts):
    """Ranks that differ along `parts` only, in the order of the parts."""
    found = {}
    for rank in range(num_ranks(mesh)):
        found.setdefault(replica(mesh, rank, parts), []).append(rank)
    return [sorted(group, key=lambda rank: place(mesh, rank, parts)[0])
            for group in found.values()]


def same_shapes(pieces):
    return len({piece.shape for piece in pieces}) == 1


def combine(pieces, kind):
    if not same_shapes(pieces):
        return None
    function = numpy.maximum if kind == "max" else numpy.add
    return functools.reduce(function, pieces)


def overlap(parts):
    return any(a[0] == b[0] and a[1] < b[1] * b[2] and b[1] < a[1] * a[2]
               for a, b in itertools.combinations(parts, 2))


def subtract(parts, removed):
    """`parts` without `removed`; None if they do not hold all of it."""
    left = runs(sorted(parts))
    for axis, begin, end in runs(sorted(removed)):
        home = [run for run in left
                if run[0] == axis and run[1] <= begin and end <= run[2]
                and begin % run[1] == 0 and run[2] % end == 0]
        if not home:
            return None
        left.remove(home[0])
        left += [[axis, home[0][1], begin], [axis, end, home[0][2]]]
    return tuple((axis, begin, end // begin) for axis, begin, end in left
                 if begin != end)


def split(piece, dim, parts, mesh, rank, unit):
    """The rank's part of what it holds of `dim`, dealt in units."""
    size = piece.shape[dim]
    if size % unit:
        return None
    offset, units = 0, size // unit
    for part in parts:
        begin, units = array_split(units, part[2], coordinate(mesh, rank, part))
        offset += begin
    return numpy.take(piece, range(offset * unit, (offset + units) * unit), dim)


def join(pieces, dim):
    shapes = {piece.shape[:dim] + piece.shape[dim + 1:] for piece in pieces}
    return numpy.concatenate(pieces, axis=dim) if len(shapes) == 1 else None


class Collective:
    """One collective over `parts` of a mesh; attributes by keyword."""

    def __init__(self, name, mesh, parts, **attributes):
        self.name, self.mesh, self.parts = name, mesh, parts
        self.attributes = attributes

    def text(self):
        order = {"all_to_all": "from {source} to {target} over {over}",
                 "all_reduce": "over {over}", "to_unreduced": "over {over}",
                 "collective_permute": "dim {dim} to {over}"}
        form = order.get(self.name, "dim {dim} over {over}")
        return f"tp.{self.name} %a " + form.format(
            over=parts_text(self.mesh, self.parts), **self.attributes)

    def define(self, shape, before, after):
        """The layout that it makes of `before`, dealt in the units of `after`
        where it splits; None if `before` is not one that it takes."""
        size = shape[self.attributes.get("dim", 0)]
        dims, unreduced = list(before.dims), before.unreduced
        source = self.attributes.get("source", self.attributes.get("dim"))
        target = self.attributes.get("target", self.attributes.get("dim"))
        if self.name in ("all_reduce", "reduce_scatter"):
            unreduced = subtract(unreduced, self.parts)
            if unreduced is None:
                return None
        if self.name == "to_unreduced":
            if (unreduced and before.kind == "max") or after.kind == "max":
                return None
            unreduced += self.parts
        if self.name == "collective_permute":
            if sorted(runs(sorted(dims[target].parts))) != \
                    sorted(runs(sorted(self.parts))):
                return None
            if len({shard(self.mesh, size, dims[target], rank)[1]
                    for rank in range(num_ranks(self.mesh))}) != 1:
                return None
            dims[target] = Dim(self.parts, dims[target].unit)
        if self.name in ("all_gather", "all_to_all"):
            kept = without_minor(dims[source].parts, self.parts)
            if kept is None:
                return None
            dims[source] = Dim(kept, dims[source].unit)
        if self.name in ("all_slice", "reduce_scatter", "all_to_all"):
            dims[target] = Dim(dims[target].parts + self.parts,
                               after.dims[target].unit)
        used = [part for dim in dims for part in dim.parts] + list(unreduced)
        if overlap(used):
            return None
        return before._replace(dims=tuple(dims), unreduced=unreduced,
                               kind=before.kind if unreduced else "sum")

    def run(self, pieces, before, after):
        """The pieces afterwards; None for ranks whose pieces do not fit."""
        results = [None] * len(pieces)
        for group in groups(self.mesh, self.parts):
            members = [pieces[rank] for rank in group]
            for rank, result in zip(group, getattr(self, self.name)(
                    group, members, before, after)):
                results[rank] = result
        return results

    def all_reduce(self, group, members, before, after):
        return [combine(members, before.kind)] * len(group)

    def all_gather(self, group, members, before, after):
        return [join(members, self.attributes["dim"])] * len(group)

    def all_slice(self, group, members, before, after):
        dim = self.attributes["dim"]
        return [split(piece, dim, self.parts, self.mesh, rank,
                      after.dims[dim].unit)
                for rank, piece in zip(group, members)]

    def reduce_scatter(self, group, members, before, after):
        total = combine(members, before.kind)
        if total is None:
            return [None] * len(group)
        return self.all_slice(group, [total] * len(group), before, after)

    def all_to_all(self, group, members, before, after):
        source, target = self.attributes["source"], self.attributes["target"]
        results = []
        for rank in group:
            blocks = [split(piece, target, self.parts, self.mesh, rank,
                            after.dims[target].unit) for piece in members]
            results.append(None if any(block is None for block in blocks)
                           else join(blocks, source))
        return results

    def to_unreduced(self, group, members, before, after):
        return [piece if place_in == 0 else numpy.zeros_like(piece)
                for place_in, piece in enumerate(members)]

    def collective_permute(self, group, members, before, after):
        """Rank number i in the old order of the axes sends to number i in the
        new one."""
        old = before.dims[self.attributes["dim"]].parts
        order = sorted(range(len(group)),
                       key=lambda i: place(self.mesh, group[i], old)[0])
        results = [None] * len(group)
        for target, source in enumerate(order):
            results[target] = members[source]
        return results


def parts_of(mesh):
    """Whole axes, cut ones, and pairs of different axes in both orders."""
    singles = []
    for axis, (_, ranks) in enumerate(mesh):
        singles.append((axis, 1, ranks))
        for size in range(2, ranks):
            if ranks % size == 0:
                singles.append((axis, 1, size))
                singles.append((axis, ranks // size, size))
    for part in singles:
        yield (part,)
    for one, other in itertools.permutations(singles, 2):
        apart = one[0] != other[0] or one[1] * one[2] <= other[1] or \
            other[1] * other[2] <= one[1]
        nested = one[0] != other[0] or \
            max(one[1], other[1]) % (min(one, other)[1] * min(one, other)[2]) == 0
        if apart and nested:
            yield (one, other)


def collectives(mesh, rank):
    for parts in parts_of(mesh):
        yield Collective("all_reduce", mesh, parts)
        yield Collective("to_unreduced", mesh, parts)
        for dim in range(rank):
            for name in ("all_gather", "all_slice", "reduce_scatter"):
                yield Collective(name, mesh, parts, dim=dim)
            if len(parts) > 1:
                yield Collective("collective_permute", mesh, parts, dim=dim)
        for source, target in itertools.permutations(range(rank), 2):
            yield Collective("all_to_all", mesh, parts, source=source,
                             target=target)
