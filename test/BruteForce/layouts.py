# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts, as the dialect's documentation defines them and nothing else.

A mesh is a tuple of (name, ranks), major to minor; the last axis varies fastest.
A part is (axis, pre, size): the coordinate (c // (n // (pre * size))) % size of
the coordinate c along an axis of n ranks.
"""

import functools
import itertools
import typing


class Dim(typing.NamedTuple):
    parts: tuple = ()
    unit: int = 1


class Layout(typing.NamedTuple):
    dims: tuple
    kind: str = "sum"
    unreduced: tuple = ()


def num_ranks(mesh):
    ranks = 1
    for _, size in mesh:
        ranks *= size
    return ranks


def coordinate(mesh, rank, part):
    axis, pre, size = part
    stride = num_ranks(mesh[axis + 1:])
    ranks = mesh[axis][1]
    return rank // stride % ranks // (ranks // (pre * size)) % size


def place(mesh, rank, parts):
    """The coordinates along `parts` as one number, and how many there are."""
    index, total = 0, 1
    for part in parts:
        index = index * part[2] + coordinate(mesh, rank, part)
        total *= part[2]
    return index, total


def array_split(size, pieces, index):
    """numpy's: the first size % pieces get one more. (offset, size)."""
    base, extra = divmod(size, pieces)
    return index * base + min(index, extra), base + (index < extra)


@functools.lru_cache(maxsize=None)
def shard(mesh, size, dim, rank):
    """(offset, size) of what a rank holds of a dimension."""
    offset, units = 0, size // dim.unit
    for part in dim.parts:
        begin, units = array_split(units, part[2], coordinate(mesh, rank, part))
        offset += begin
    return offset * dim.unit, units * dim.unit


def box(mesh, shape, layout, rank):
    return tuple(shard(mesh, size, dim, rank)
                 for size, dim in zip(shape, layout.dims))


def runs(parts):
    """Parts as [axis, begin, end], neighbours joined."""
    joined = []
    for axis, pre, size in parts:
        if joined and joined[-1][0] == axis and joined[-1][2] == pre:
            joined[-1][2] = pre * size
        else:
            joined.append([axis, pre, pre * size])
    return joined


def without_minor(parts, removed):
    """`parts` without `removed` at their minor end; None if they do not end so."""
    kept, gone = runs(parts), runs(removed)
    if len(kept) < len(gone):
        return None
    first = kept[len(kept) - len(gone)]
    if kept[len(kept) - len(gone) + 1:] != gone[1:] or \
            first[0] != gone[0][0] or first[2] != gone[0][2] or \
            gone[0][1] % first[1]:
        return None
    kept = kept[:len(kept) - len(gone)]
    if first[1] < gone[0][1]:
        kept.append([first[0], first[1], gone[0][1]])
    return tuple((axis, begin, end // begin) for axis, begin, end in kept)



# Text.

def part_text(mesh, part):
    name, ranks = mesh[part[0]]
    if part[1:] == (1, ranks):
        return f'"{name}"'
    return f'"{name}":({part[1]}){part[2]}'


def parts_text(mesh, parts):
    return "{" + ", ".join(part_text(mesh, part) for part in parts) + "}"


def dim_text(mesh, dim):
    entries = [part_text(mesh, part) for part in dim.parts]
    if dim.unit != 1:
        entries.append(f"unit = {dim.unit}")
    return "{" + ", ".join(entries) + "}"


def layout_text(mesh, layout):
    text = "#tp.sharding<@mesh, [" + ", ".join(
        dim_text(mesh, dim) for dim in layout.dims) + "]"
    if layout.unreduced:
        kind = "max" if layout.kind == "max" else ""
        text += f", unreduced = {kind}{parts_text(mesh, layout.unreduced)}"
    return text + ">"


def mesh_text(mesh):
    return "<[" + ", ".join(f'"{name}"={size}' for name, size in mesh) + "]>"


# Enumeration.

def cuts(axis, ranks):
    """The axis whole, and cut in two in every way."""
    yield ((axis, 1, ranks),)
    for size in range(2, ranks):
        if ranks % size == 0:
            yield ((axis, 1, size), (axis, size, ranks // size))


def placements(atoms, rank):
    """Each atom splits a dimension, is unreduced or is not used."""
    for homes in itertools.product(range(-2, rank), repeat=len(atoms)):
        groups = [[atom for atom, home in zip(atoms, homes) if home == dim]
                  for dim in range(rank)]
        unreduced = tuple(atom for atom, home in zip(atoms, homes)
                          if home == -2)
        orders = [list(itertools.permutations(group)) for group in groups]
        for dims in itertools.product(*orders):
            yield dims, unreduced


def layouts(mesh, shape, kinds, units):
    """Every layout: all cuts of the axes, all places, orders and kinds, with the
    units that `units` gives each dimension. Some mean the same."""
    found = {}
    for pieces in itertools.product(*(cuts(axis, ranks) for axis, (_, ranks)
                                      in enumerate(mesh))):
        atoms = [part for cut in pieces for part in cut]
        for parts, unreduced in placements(atoms, len(shape)):
            dealt = [units[d] if parts[d] else (1,) for d in range(len(shape))]
            for chosen in itertools.product(*dealt):
                dims = tuple(map(Dim, parts, chosen))
                for kind in kinds if unreduced else ("sum",):
                    if unreduced or kind == "sum":
                        found[Layout(dims, kind, unreduced)] = None
    return list(found)
