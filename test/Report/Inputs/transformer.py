# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A GPT layer as published memory formulas have it, typed for tensor
parallelism: attention spelled out or as one operation, dropouts, the stream
between blocks whole or split over the sequence."""

from dataclasses import dataclass


@dataclass
class Shape:
    """Sequence, batch, width, heads, ranks."""

    s: int
    b: int
    h: int
    a: int
    t: int

    @property
    def sbh(self):
        return self.s * self.b * self.h


class Writer:
    """Lines of IR; an operation is called with its operands' names."""

    def __init__(self, shape, sequence_parallel):
        self.shape, self.lines, self.types = shape, [], {}
        self.stream = '{}, {"tp"}, {}' if sequence_parallel else "{}, {}, {}"
        self.sequence_parallel = sequence_parallel

    def tensor(self, dims, layout, partial=False, element="bf16"):
        sum_ = ', unreduced = {"tp"}' if partial else ""
        sizes = "".join(f"{dim}x" for dim in dims)
        return f"tensor<{sizes}{element}, #tp.sharding<@mesh, [{layout}]{sum_}>>"

    def add(self, name, op, operands, type_, extra=""):
        """`extra` stands between the operands and the types."""
        types = ", ".join(self.types[operand] for operand in operands)
        used = ", ".join("%" + operand for operand in operands)
        self.lines.append(
            f"  %{name} = tp.{op} {used}{extra} : ({types}) -> {type_}")
        self.types[name] = type_
        return name


def attention_core(w, fused):
    """From q, k, v of [b, s, h] to the mixed values of [b, s, h]."""
    shape = w.shape
    b, s, h, a = shape.b, shape.s, shape.h, shape.a
    split = '{}, {}, {"tp"}, {}'
    heads = w.tensor([b, s, a, h // a], split)
    for name in "qkv":
        w.add(name + "h", "reshape", [name], heads)
    flat = w.tensor([b, s, h], '{}, {}, {"tp"}')
    if fused:
        w.add("mixed", "attention", ["qh", "kh", "vh"], heads,
              " {causal, scale = 0.5 : f64}")
        return w.add("flat", "reshape", ["mixed"], flat)
    by_head = '{}, {"tp"}, {}, {}'
    for name in "qkv":
        w.add(name + "t", "transpose", [name + "h"],
              w.tensor([b, a, s, h // a], by_head), " by [0, 2, 1, 3]")
    pairs = w.tensor([b, a, s, s], by_head)
    w.add("scores", "matmul", ["qt", "kt"], pairs, " {transpose_b}")
    half = w.tensor([], "")
    w.lines.append(
        f"  %half = tp.constant dense<0.5> : tensor<bf16> as {half}")
    w.types["half"] = half
    w.add("scaled", "mul", ["scores", "half"], pairs)
    w.add("weights", "softmax", ["scaled"], pairs, " along 3")
    w.add("dropped", "dropout", ["weights", "seed"], pairs,
          " {rate = 0.1 : f64, site = 1 : i64}")
    w.add("mixed", "matmul", ["dropped", "vt"],
          w.tensor([b, a, s, h // a], by_head))
    w.add("turned", "transpose", ["mixed"], heads, " by [0, 2, 1, 3]")
    return w.add("flat", "reshape", ["turned"], flat)


def finish(w, partial, name, site, residual):
    """Sums over the ranks, drops out and adds to the stream."""
    shape = w.shape
    stream = w.tensor([shape.b, shape.s, shape.h], w.stream)
    if w.sequence_parallel:
        w.add(name + "_sum", "reduce_scatter", [partial], stream,
              ' dim 1 over {"tp"}')
    elif shape.t > 1:
        w.add(name + "_sum", "all_reduce", [partial], stream, ' over {"tp"}')
    else:
        w.types[name + "_sum"] = w.types[partial]
        w.lines[-1] = w.lines[-1].replace(f"%{partial} =", f"%{name}_sum =")
    w.add(name + "_dropped", "dropout", [name + "_sum", "seed"], stream,
          f" {{rate = 0.1 : f64, site = {site} : i64}}")
    return w.add(name + "_stream", "add", [residual, name + "_dropped"], stream)


def enter(w, value, name):
    """Norm, and the whole sequence on each rank."""
    shape = w.shape
    dims = [shape.b, shape.s, shape.h]
    w.add(name, "layer_norm", [value, name + "_g", name + "_b"],
          w.tensor(dims, w.stream), " {epsilon = 1.0e-5 : f64}")
    if not w.sequence_parallel:
        return name
    return w.add(name + "_all", "all_gather", [name],
                 w.tensor(dims, "{}, {}, {}"), ' dim 1 over {"tp"}')


PARAMETERS = ["n1_g", "n1_b", "wq", "wk", "wv", "wo", "n2_g", "n2_b", "up",
              "down"]


def parameter_types(w):
    h = w.shape.h
    columns = w.tensor([h, h], '{}, {"tp"}')
    vector = w.tensor([h], "{}")
    return dict(zip(PARAMETERS, [
        vector, vector, columns, columns, columns,
        w.tensor([h, h], '{"tp"}, {}'), vector, vector,
        w.tensor([h, 4 * h], '{}, {"tp"}'),
        w.tensor([4 * h, h], '{"tp"}, {}')]))


def layer(w, fused):
    b, s, h, t = w.shape.b, w.shape.s, w.shape.h, w.shape.t
    wide = w.tensor([b, s, 4 * h], '{}, {}, {"tp"}')
    partial = w.tensor([b, s, h], "{}, {}, {}", partial=t > 1)
    columns = w.tensor([b, s, h], '{}, {}, {"tp"}')
    whole = enter(w, "x", "n1")
    for name in "qkv":
        w.add(name, "matmul", [whole, "w" + name], columns)
    w.add("o", "matmul", [attention_core(w, fused), "wo"], partial)
    middle = finish(w, "o", "attention", 2, "x")
    w.add("wide", "matmul", [enter(w, middle, "n2"), "up"], wide)
    w.add("active", "gelu", ["wide"], wide)
    w.add("narrow", "matmul", ["active", "down"], partial)
    return finish(w, "narrow", "mlp", 3, middle)


def program(shape, sequence_parallel=False, fused=False, layers=1):
    """An entry that makes the layers' input, so that it is an activation, and
    calls the layers with parameters of their own."""
    w = Writer(shape, sequence_parallel)
    stream = w.tensor([shape.b, shape.s, shape.h], w.stream)
    seed = w.tensor([], "", element="i64")
    weights = parameter_types(w)
    w.types = {"x": stream, "seed": seed, **weights}
    arguments = ", ".join(f"%{name}: {type_}"
                          for name, type_ in w.types.items())
    types = ", ".join(w.types.values())
    result = layer(w, fused)
    text = [f'tp.mesh @mesh = <["tp"={shape.t}]>',
            f"func.func private @layer({arguments}) -> {stream} {{", *w.lines,
            f"  return %{result} : {stream}", "}"]
    held = ", ".join(f"%{name}{number}: {type_} {{tp.parameter}}"
                     for number in range(layers)
                     for name, type_ in weights.items())
    text += [f"func.func @main(%input: {stream}, %seed: {seed}, {held})"
             f" -> {stream} {{",
             f"  %x0 = tp.relu %input : ({stream}) -> {stream}"]
    for number in range(layers):
        used = ", ".join(f"%{name}{number}" for name in weights)
        text.append(f"  %x{number + 1} = call @layer(%x{number}, %seed, {used})"
                    f" : ({types}) -> {stream}")
    return "\n".join([*text, f"  return %x{layers} : {stream}", "}", ""])
