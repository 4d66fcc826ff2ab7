# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Identities of published memory and message formulas, as equalities of whole
numbers between them and what tp-cost-report says. Programs are forward passes,
so of messages it is the forward's half that is compared: two collectives of
each kind a layer, where a training step has four.
"""

from tool import expect, ratio, report
from transformer import Shape, program

GIB = 1 << 30


#===- Saved activations: Korthikanti et al., MLSys 2023, section 4 --------===#

PUBLISHED = Shape(s=2048, b=1, h=12288, a=96, t=8)
ODD = [Shape(s=15, b=2, h=36, a=6, t=3), Shape(s=28, b=3, h=40, a=20, t=4),
       Shape(s=6, b=1, h=28, a=14, t=2)]


def saved(shape, **how):
    recompute = "recompute=layers" if how.pop("recompute", False) else ""
    memory = report(program(shape, **how), recompute)["memory"]
    return memory["saved_activations"]["bytes"]


def activations():
    for shape in [PUBLISHED, *ODD]:
        s, b, h, a, t, sbh = (shape.s, shape.b, shape.h, shape.a, shape.t,
                              shape.sbh)
        pairs = 5 * a * s * s * b
        one = Shape(s, b, h, a, 1)
        expect("ID-01", f"{shape}", saved(shape),
               ratio(sbh * (10 * t + 24) + pairs, t))
        expect("ID-02", f"{shape}", saved(shape, sequence_parallel=True),
               ratio(34 * sbh + pairs, t))
        expect("ID-03", f"SP {shape}",
               saved(shape, sequence_parallel=True, fused=True),
               ratio(34 * sbh, t))
        expect("ID-03", f"{shape}", saved(shape, fused=True),
               ratio(sbh * (10 * t + 24), t))
        expect("ID-04", f"recomputed, 3 layers, {shape}",
               saved(shape, recompute=True, layers=3), 3 * 2 * sbh)
        expect("ID-04", f"{one}", saved(one), 34 * sbh + pairs)
    expect("ID-01", "published", saved(PUBLISHED), 578_813_952)
    expect("ID-02", "published", saved(PUBLISHED, sequence_parallel=True),
           358_612_992)
    expect("ID-03", "published, SP",
           saved(PUBLISHED, sequence_parallel=True, fused=True), 106_954_752)
    expect("ID-03", "published", saved(PUBLISHED, fused=True), 327_155_712)
    expect("ID-04", "published, recomputed", saved(PUBLISHED, recompute=True),
           50_331_648)
    alone = Shape(PUBLISHED.s, PUBLISHED.b, PUBLISHED.h, PUBLISHED.a, 1)
    expect("ID-04", "published, one rank", saved(alone), 2_868_903_936)


#===- What a layer sends forward: half of a training step ----------------===#

def sent(shape, **how):
    return report(program(shape, **how))["totals"]


def messages():
    published = Shape(s=2048, b=4, h=6144, a=64, t=8)
    for shape in [published, *ODD]:
        t, message = shape.t, 2 * shape.sbh
        wanted = ratio(2 * 2 * (t - 1) * message, t)
        reduced = sent(shape, fused=True)
        expect("ID-07", f"{shape}", reduced["collectives"], {"all_reduce": 2})
        expect("ID-07", f"bytes, {shape}", reduced["bytes_sent_per_rank"], wanted)
        scattered = sent(shape, fused=True, sequence_parallel=True)
        expect("ID-09", f"{shape}", scattered["collectives"],
               {"all_gather": 2, "reduce_scatter": 2})
        expect("ID-09", f"bytes, {shape}", scattered["bytes_sent_per_rank"],
               wanted)
        alone = sent(Shape(shape.s, shape.b, shape.h, shape.a, 1), fused=True)
        expect("ID-12", f"{shape}",
               (alone["collectives"], alone["bytes_sent_per_rank"],
                alone["communication_time"]["seconds"]), ({}, 0, 0))
    expect("ID-07", "published, forward",
           2 * sent(published, fused=True)["bytes_sent_per_rank"], 704_643_072)


#===- Parameters and what an optimizer keeps ------------------------------===#

def weights(count, mesh="tp=1", layout="{}"):
    axes = ", ".join(f'"{name}"={ranks}' for name, ranks in
                     (axis.split("=") for axis in mesh.split(",")))
    return (f"tp.mesh @mesh = <[{axes}]>\n"
            f"func.func @main(%w: tensor<{count}xbf16, #tp.sharding<@mesh, "
            f"[{layout}]>> {{tp.parameter}}) {{ return }}\n")


def states(text, options):
    memory = report(text, f"optimizer=adam {options}")["memory"]
    return sum(memory[row]["bytes"]
               for row in ("parameters", "gradients", "optimizer_states"))


def optimizer():
    # Shoeybi et al.: 12 l h^2 parameters in matrices, gradients in f32.
    for layers, h, gib in ((48, 6144, 45.5625), (12, 12288, 45.5625),
                           (3, 20480, 31.640625), (2, 25600, 32.958984375)):
        found = states(weights(12 * layers * h * h, "tp=8", '{"tp"}'),
                       "gradient-type=f32")
        expect("ID-06", f"{layers} layers of {h}", found / GIB, gib)
    # Rajbhandari et al., figure 1.
    for stage, gb in enumerate((120.0, 31.40625, 16.640625, 1.875)):
        found = states(weights(7_500_000_000, "dp=64"), f"zero={stage}")
        expect("ID-18", f"stage {stage}", found / 1e9, gb)
    # Shares that are not equal: the largest.
    expect("ID-18", "101 over 7", states(weights(101, "data=7"), "zero=1"),
           4 * 101 + 12 * 15)


def main():
    activations()
    messages()
    optimizer()


main()
