# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values as the ranks hold them: dealt out, and put together again."""

import numpy

from layouts import box, coordinate, num_ranks, place

TYPES = {"f32": numpy.float64, "f64": numpy.float64, "bf16": numpy.float64,
         "i64": numpy.int64, "i32": numpy.int32, "i1": numpy.bool_}
# What the maximum of nothing is, and what masked elements are.
LOWEST = -1e30


def lowest(dtype):
    if numpy.issubdtype(dtype, numpy.floating):
        return dtype.type(LOWEST)
    return False if dtype == numpy.bool_ else numpy.iinfo(dtype).min


def make_terms(value, kind, count, draw, chance):
    """`count` tensors whose sum or maximum is `value`; integers wrap. In the
    first draws one of them alone has the maximum."""
    if count == 1:
        return [value]
    shape = (count, *value.shape)
    if kind == "sum":
        if numpy.issubdtype(value.dtype, numpy.floating):
            terms = chance.normal(size=shape)
        else:
            limits = numpy.iinfo(value.dtype)
            terms = chance.integers(limits.min, limits.max, size=shape,
                                    dtype=value.dtype)
        terms = terms.astype(value.dtype)
        terms[0] = value - terms[1:].sum(axis=0, dtype=value.dtype)
        return list(terms)
    holder = chance.integers(0, count, size=value.shape)
    if draw < 2:
        holder[...] = 0 if draw == 0 else count - 1
    if value.dtype == numpy.bool_:
        smaller = (chance.random(shape) < (draw > 1) * 0.4) & value
    else:
        smaller = value - chance.integers(1, 9, size=shape).astype(value.dtype)
    return [numpy.where(holder == i, value, smaller[i]) for i in range(count)]


def deal(mesh, value, layout, draw, chance):
    """What each rank holds of `value`. The ranks of every group add up to it,
    each group in its own way."""
    _, count = place(mesh, 0, layout.unreduced)
    terms_of = {}
    pieces = []
    for rank in range(num_ranks(mesh)):
        index, _ = place(mesh, rank, layout.unreduced)
        group = replica(mesh, rank, layout.unreduced)
        if group not in terms_of:
            terms_of[group] = make_terms(value, layout.kind, count, draw,
                                         chance)
        terms = terms_of[group]
        where = tuple(slice(offset, offset + size) for offset, size
                      in box(mesh, value.shape, layout, rank))
        pieces.append(terms[index][where])
    return pieces


def near(a, b):
    if numpy.issubdtype(a.dtype, numpy.floating):
        return bool(numpy.allclose(a, b, rtol=1e-9, atol=1e-9))
    return bool(numpy.array_equal(a, b))


def replica(mesh, rank, unreduced):
    """The rank at place 0 of `rank`'s group along the unreduced parts."""
    first = rank
    for axis, pre, size in unreduced:
        stride = num_ranks(mesh[axis + 1:])
        ranks = mesh[axis][1]
        step = ranks // (pre * size) * stride
        first -= coordinate(mesh, rank, (axis, pre, size)) * step
    return first


def holds(mesh, pieces, value, layout):
    """Whether `pieces` are `value` laid out as `layout`."""
    boxes = [box(mesh, value.shape, layout, rank)
             for rank in range(num_ranks(mesh))]
    for piece, where in zip(pieces, boxes):
        if piece.shape != tuple(size for _, size in where):
            return False
    groups = {}
    for rank, piece in enumerate(pieces):
        groups.setdefault(replica(mesh, rank, layout.unreduced), []).append(
            piece)
    combine = numpy.maximum if layout.kind == "max" else numpy.add
    for first, members in groups.items():
        total = members[0]
        for member in members[1:]:
            if member.dtype == numpy.bool_ and combine is numpy.add:
                return False
            total = combine(total, member)
        where = tuple(slice(offset, offset + size)
                      for offset, size in boxes[first])
        if not near(total, value[where]):
            return False
    return True
