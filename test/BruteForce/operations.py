# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations: their text, and what a rank computes of one in numpy.

A rank gets its pieces and may ask where each begins, as the local form of the
operation does. It answers None where its pieces are none that the operation can
take: shapes that do not fit, or a dimension that must be whole and is not.
"""

import math
import typing

import numpy

from values import LOWEST


class Tensor(typing.NamedTuple):
    shape: tuple
    type: str = "f32"
    # Units that are tried, by dimension.
    units: tuple = ()
    # Integers lie below it.
    bound: int = 0

    def unit_choices(self):
        return self.units or ((1,),) * len(self.shape)


class Operation(typing.NamedTuple):
    name: str
    text: str
    operands: tuple
    result: Tensor
    # (pieces, origins, wholes, shape) -> piece. origins[i][d] is where piece i
    # begins, wholes[i] the shape of the whole, shape that of the result's piece.
    compute: typing.Callable
    # Whether an unfinished maximum may pass: by definition data movement,
    # casts, maximum and reductions to a maximum, and nothing else.
    passes_maximum: bool = False


def random_value(tensor, chance):
    if tensor.type == "i1":
        return chance.integers(0, 2, size=tensor.shape).astype(bool)
    if tensor.type in ("i32", "i64"):
        dtype = numpy.int32 if tensor.type == "i32" else numpy.int64
        low, high = (0, tensor.bound) if tensor.bound else (-99, 99)
        return chance.integers(low, high, size=tensor.shape).astype(dtype)
    return chance.normal(size=tensor.shape)


def binary(function):
    def compute(pieces, origins, wholes, shape):
        a, b = pieces
        long, short = (a, b) if a.ndim >= b.ndim else (b, a)
        if long.shape[long.ndim - short.ndim:] != short.shape:
            return None
        return function(a, b)
    return compute


def unary(function):
    return lambda pieces, origins, wholes, shape: function(pieces[0])


def are_whole(pieces, wholes, operand, dims):
    return all(pieces[operand].shape[d] == wholes[operand][d] for d in dims)


def to_bf16(x):
    """Rounds to 8 bits of significand, to nearest even."""
    significand, exponent = numpy.frexp(x)
    return numpy.ldexp(numpy.rint(significand * 256) / 256, exponent)


def matmul(transpose_a, transpose_b):
    def compute(pieces, origins, wholes, shape):
        a, b = pieces
        a = numpy.swapaxes(a, -1, -2) if transpose_a else a
        b = numpy.swapaxes(b, -1, -2) if transpose_b else b
        if a.shape[-1] != b.shape[-2]:
            return None
        if b.ndim > 2 and a.shape[:-2] != b.shape[:-2]:
            return None
        return a @ b
    return compute


def norm(center):
    def compute(pieces, origins, wholes, shape):
        x, vectors = pieces[0], pieces[1:]
        if not are_whole(pieces, wholes, 0, [x.ndim - 1]):
            return None
        if any(v.shape != x.shape[-1:] for v in vectors):
            return None
        if center:
            x = x - x.mean(axis=-1, keepdims=True)
        y = x / numpy.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-3)
        y = y * vectors[0]
        return y + vectors[1] if len(vectors) > 1 else y
    return compute


def softmax(dim):
    def compute(pieces, origins, wholes, shape):
        if not are_whole(pieces, wholes, 0, [dim]):
            return None
        e = numpy.exp(pieces[0])
        return e / e.sum(axis=dim, keepdims=True)
    return compute


def rope(pieces, origins, wholes, shape):
    x = pieces[0]
    if not are_whole(pieces, wholes, 0, [3]):
        return None
    half = x.shape[3] // 2
    position = (origins[0][1] + numpy.arange(x.shape[1])).reshape(1, -1, 1, 1)
    angle = position * 100.0 ** (-numpy.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return numpy.concatenate([a * numpy.cos(angle) - b * numpy.sin(angle),
                              b * numpy.cos(angle) + a * numpy.sin(angle)],
                             axis=3)


def attention(pieces, origins, wholes, shape):
    q, k, v = pieces
    if k.shape != v.shape or q.shape[0] != k.shape[0]:
        return None
    if not (are_whole(pieces, wholes, 0, [3]) and
            are_whole(pieces, wholes, 1, [1, 3])):
        return None
    heads, groups = q.shape[2], k.shape[2]
    if groups == 0:
        return q if heads == 0 else None
    if heads % groups:
        return None
    out = numpy.empty_like(q)
    # Aligned to the end: the last query sees every key.
    first = origins[0][1] + wholes[1][1] - wholes[0][1]
    position = first + numpy.arange(q.shape[1]).reshape(-1, 1)
    seen = numpy.arange(k.shape[1]).reshape(1, -1) <= position
    for head in range(heads):
        group = head // (heads // groups)
        scores = numpy.einsum("bqd,bkd->bqk", q[:, :, head], k[:, :, group]) / 2
        e = numpy.where(seen, numpy.exp(scores), 0)
        out[:, :, head] = numpy.einsum("bqk,bkd->bqd", e, v[:, :, group])
        out[:, :, head] /= e.sum(axis=2)[..., None]
    return out


def embedding(pieces, origins, wholes, shape):
    table, ids = pieces
    row = ids - origins[0][0]
    inside = (row >= 0) & (row < table.shape[0])
    out = numpy.zeros((*ids.shape, table.shape[1]))
    out[inside] = table[row[inside]]
    return out


def take_target(pieces, origins, wholes, shape):
    logits, targets = pieces
    if logits.shape[:-1] != targets.shape:
        return None
    column = targets - origins[0][-1]
    inside = (column >= 0) & (column < logits.shape[-1]) & (targets != 1)
    out = numpy.zeros(targets.shape)
    out[inside] = logits[inside, column[inside]]
    return out


def cross_entropy(pieces, origins, wholes, shape):
    logits, targets = pieces
    if logits.shape != wholes[0] or targets.shape != wholes[1]:
        return None
    largest = logits.max(axis=-1, keepdims=True)
    log_sum = numpy.log(numpy.exp(logits - largest).sum(axis=-1)) + largest[..., 0]
    inside = numpy.clip(targets, 0, logits.shape[-1] - 1)[..., None]
    picked = numpy.take_along_axis(logits, inside, -1)[..., 0]
    return numpy.asarray((log_sum - picked).mean())


def mask_padding(valid):
    def compute(pieces, origins, wholes, shape):
        columns = origins[0][-1] + numpy.arange(pieces[0].shape[-1])
        return numpy.where(columns < valid, pieces[0], LOWEST)
    return compute


def dropout(pieces, origins, wholes, shape):
    x, seed = pieces
    index = numpy.zeros(x.shape, dtype=numpy.int64)
    for d in range(x.ndim):
        shape = [-1 if e == d else 1 for e in range(x.ndim)]
        here = (origins[0][d] + numpy.arange(x.shape[d])).reshape(shape)
        index = index * wholes[0][d] + here
    word = (index * 2654435761 + 40503 * int(seed) + 977) % 4294967291 % 97
    return numpy.where(word < 40, 0, x / 0.6)


def reduce(kind, dims, count=None):
    def compute(pieces, origins, wholes, shape):
        x = pieces[0]
        if count is not None:
            kept = max(0, min(x.shape[dims[0]], count - origins[0][dims[0]]))
            x = numpy.take(x, numpy.arange(kept), axis=dims[0])
        if kind == "sum":
            return x.sum(axis=dims, dtype=x.dtype)
        if x.dtype == numpy.bool_:
            return x.any(axis=dims)
        start = LOWEST if x.dtype.kind == "f" else numpy.iinfo(x.dtype).min
        return x.max(axis=dims, initial=start)
    return compute


def reshape(pieces, origins, wholes, shape):
    """Row-major on each rank, into the shape that the result has there."""
    if pieces[0].size != math.prod(shape):
        return None
    return pieces[0].reshape(shape)


def broadcast(along):
    def compute(pieces, origins, wholes, shape):
        kept = tuple(size for d, size in enumerate(shape) if d not in along)
        if pieces[0].shape != kept:
            return None
        return numpy.broadcast_to(numpy.expand_dims(pieces[0], along), shape)
    return compute


def transpose(order):
    return lambda pieces, origins, wholes, shape: pieces[0].transpose(order)


def slice_at(offsets, sizes):
    def compute(pieces, origins, wholes, shape):
        x = pieces[0]
        where = []
        for d, (offset, size) in enumerate(zip(offsets, sizes)):
            cut = size != wholes[0][d]
            if cut and x.shape[d] != wholes[0][d]:
                return None
            where.append(slice(offset, offset + size) if cut else slice(None))
        return x[tuple(where)]
    return compute


def concat(dim):
    def compute(pieces, origins, wholes, shape):
        for operand in range(len(pieces)):
            if not are_whole(pieces, wholes, operand, [dim]):
                return None
        shapes = {piece.shape[:dim] + piece.shape[dim + 1:] for piece in pieces}
        return numpy.concatenate(pieces, axis=dim) if len(shapes) == 1 else None
    return compute


F = Tensor
BIG = 2_000_000_000


def arithmetic():
    two, row = F((4, 6), units=((1,), (1, 3))), F((6,), units=((1, 3),))
    odd = F((3, 5))
    for name, function in [("add", numpy.add), ("sub", numpy.subtract),
                           ("mul", numpy.multiply),
                           ("div", lambda a, b: a / numpy.where(b == 0, 1, b)),
                           ("maximum", numpy.maximum)]:
        for lhs, rhs in [(two, row), (row, two), (odd, odd)]:
            out = lhs if len(lhs.shape) == 2 else rhs
            yield Operation(f"{name} {lhs.shape}", f"tp.{name} %a, %b",
                            (lhs, rhs), out, binary(function),
                            name == "maximum")
        if name != "div":
            whole = F((6,), "i32")
            yield Operation(f"{name} i32", f"tp.{name} %a, %b", (whole, whole),
                            whole, binary(function), name == "maximum")
    bits = F((5, 3), "i1")
    yield Operation("maximum i1", "tp.maximum %a, %b", (bits, bits), bits,
                    binary(numpy.logical_or), True)
    numbers = F((4, 3), "i64")
    yield Operation("compare", "tp.compare lt %a, %b", (numbers, numbers),
                    F((4, 3), "i1"), binary(numpy.less))


def functions():
    x = F((4, 6), units=((1, 2), (1,)))
    for name, function in [
            ("exp", numpy.exp), ("log", lambda v: numpy.log(numpy.abs(v) + 1)),
            ("sigmoid", lambda v: 1 / (1 + numpy.exp(-v))),
            ("relu", lambda v: numpy.maximum(v, 0)),
            ("silu", lambda v: v / (1 + numpy.exp(-v))), ("tanh", numpy.tanh),
            ("gelu", lambda v: v * numpy.vectorize(math.erf, otypes=[float])(v))]:
        yield Operation(name, f"tp.{name} %a", (x,), x, unary(function))


# Every cast keeps the order, so that a maximum passes.
CASTS = [("f32", "f64", lambda v: v), ("bf16", "f32", lambda v: v),
         ("f32", "bf16", to_bf16),
         ("f64", "f32", lambda v: v.astype(numpy.float32).astype(float)),
         ("i32", "i64", lambda v: v.astype(numpy.int64)),
         ("i32", "f64", lambda v: v.astype(float)),
         ("i32", "f32", lambda v: v.astype(numpy.float32).astype(float)),
         ("i1", "f32", lambda v: v.astype(float)),
         ("i1", "i32", lambda v: v.astype(numpy.int32))]


def casts():
    for source, target, function in CASTS:
        bound = BIG if source == "i32" else 0
        yield Operation(f"cast {source} {target}", "tp.cast %a",
                        (F((3, 4), source, bound=bound),), F((3, 4), target),
                        unary(function), True)


def products():
    shapes = [((4, 6), (6, 5), (4, 5), 0, 0), ((6, 4), (5, 6), (4, 5), 1, 1),
              ((3, 4, 6), (6, 4), (3, 4, 4), 0, 0),
              ((2, 4, 3), (2, 3, 5), (2, 4, 5), 0, 0)]
    for a, b, c, ta, tb in shapes:
        flags = ", ".join(["transpose_a"] * ta + ["transpose_b"] * tb)
        yield Operation(f"matmul {a} {b}", "tp.matmul %a, %b"
                        + (f" {{{flags}}}" if flags else ""), (F(a), F(b)),
                        F(c), matmul(ta, tb))


def normalisations():
    x, v = F((3, 4, 6)), F((6,))
    yield Operation("rms_norm", "tp.rms_norm %a, %b {epsilon = 1.0e-3 : f64}",
                    (x, v), x, norm(False))
    yield Operation("layer_norm",
                    "tp.layer_norm %a, %b, %c {epsilon = 1.0e-3 : f64}",
                    (F((4, 3)), F((3,)), F((3,))), F((4, 3)), norm(True))
    for dim in 0, 1:
        yield Operation(f"softmax {dim}", f"tp.softmax %a along {dim}",
                        (F((4, 6)),), F((4, 6)), softmax(dim))


def attentions():
    heads = ((1,), (1,), (1, 2), (1,))
    x = F((2, 3, 6, 4), units=heads)
    yield Operation("rope", "tp.rope %a {theta = 1.0e2 : f64}", (x,), x, rope)
    for q, kv in [((2, 3, 4, 4), (2, 5, 2, 4)), ((2, 4, 6, 2), (2, 4, 6, 2)),
                  ((3, 2, 6, 2), (3, 4, 3, 2)), ((1, 4, 12, 2), (1, 4, 2, 2))]:
        yield Operation(
            f"attention {q} {kv}",
            "tp.attention %a, %b, %c {causal, scale = 0.5 : f64}",
            (F(q, units=heads), F(kv), F(kv)), F(q, units=heads), attention)


def vocabularies():
    yield Operation("embedding", "tp.embedding %a, %b",
                    (F((7, 4)), F((2, 3), "i64", bound=7)), F((2, 3, 4)),
                    embedding)
    logits, targets = F((4, 6)), F((4,), "i32", bound=6)
    yield Operation("take_target",
                    "tp.take_target %a, %b {ignore_index = 1 : i64}",
                    (logits, targets), F((4,)), take_target)
    yield Operation("mask_padding", "tp.mask_padding %a {valid = 5 : i64}",
                    (F((4, 7)),), F((4, 7)), mask_padding(5))
    yield Operation("dropout", "tp.dropout %a, %b {rate = 0.4 : f64}",
                    (F((4, 6)), F((), "i64", bound=99)), F((4, 6)), dropout)


def reductions():
    x = F((4, 6), units=((1,), (1, 2)))
    for kind in "sum", "max":
        for dims in [(0,), (1,), (0, 1)]:
            kept = tuple(s for d, s in enumerate(x.shape) if d not in dims)
            yield Operation(f"reduce {kind} {dims}",
                            f"tp.reduce {kind} %a over {list(dims)}", (x,),
                            F(kept), reduce(kind, dims), kind == "max")
        yield Operation(f"reduce {kind} count",
                        f"tp.reduce {kind} %a over [1] {{count = 4 : i64}}",
                        (F((3, 6)),), F((3,)), reduce(kind, (1,), 4),
                        kind == "max")
    for kind in "sum", "max":
        yield Operation(f"reduce {kind} i32", f"tp.reduce {kind} %a over [0]",
                        (F((5, 4), "i32"),), F((4,), "i32"),
                        reduce(kind, (0,)), kind == "max")


def movements():
    for before, after in [((4, 6), (24,)), ((24,), (4, 6)), ((3, 4), (12,)),
                          ((12,), (3, 4)), ((12, 2), (3, 4, 2)), ((4, 6), (6, 4)),
                          ((4, 6), (2, 12)), ((2, 6, 2), (12, 2)),
                          ((6, 4), (2, 3, 4)), ((4, 3), (1, 4, 3)),
                          ((6, 6), (2, 3, 3, 2))]:
        yield Operation(f"reshape {before} {after}", "tp.reshape %a",
                        (F(before, units=tuple((1, s // 2) if s in (6, 12, 24)
                                               else (1,) for s in before)),),
                        F(after, units=tuple((1, s // 2) if s in (6, 12, 24)
                                             else (1,) for s in after)),
                        reshape, True)
    yield Operation("transpose", "tp.transpose %a by [2, 0, 1]",
                    (F((3, 4, 5)),), F((5, 3, 4)), transpose((2, 0, 1)), True)
    yield Operation("slice", "tp.slice %a at [1, 0]", (F((5, 6)),), F((3, 6)),
                    slice_at((1, 0), (3, 6)), True)
    yield Operation("broadcast", "tp.broadcast %a along [1]", (F((4, 3)),),
                    F((4, 5, 3)), broadcast((1,)), True)
    yield Operation("concat", "tp.concat %a, %b along 1", (F((4, 3)), F((4, 2))),
                    F((4, 5)), concat(1), True)


def operations():
    for family in (arithmetic, functions, casts, products, normalisations,
                   attentions, vocabularies, reductions, movements):
        yield from family()
    logits = F((3, 4))
    yield Operation("cross_entropy", "tp.cross_entropy %a, %b",
                    (logits, F((3,), "i64", bound=4)), F(()), cross_entropy)
