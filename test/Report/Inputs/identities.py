# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Identities of published memory formulas, as equalities of whole numbers
between them and what tp-cost-report says. Each line names its identity.

Usage: identities.py FOLDER_OF_CONFIGS
"""

import json
import subprocess
import sys
from pathlib import Path

from transformer import Shape, program

GIB = 1 << 30


def run(command, text=""):
    result = subprocess.run(command, input=text, capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stderr}")
    return result.stdout


def report(text, options=""):
    return json.loads(run(["tp-opt", "-", "-o", "/dev/null",
                           f"--tp-cost-report=format=json output=- {options}"],
                          text))


def expect(identity, what, found, wanted):
    if found != wanted:
        sys.exit(f"{identity} {what}: {found}, wanted {wanted}")
    print(f"{identity} {what}: {found}")


def ratio(numerator, denominator):
    assert numerator % denominator == 0
    return numerator // denominator


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


#===- Published models ----------------------------------------------------===#

def planned(config, mesh, *importing):
    text = run(["tp-translate", "--import-hf-config", str(config), *importing])
    return run(["tp-opt", "-", "--tp-split-fused-weights",
                f"--tp-plan=mesh={mesh} sequence-parallel=off",
                "--tp-insert-collectives"], text)


def caches(folder):
    for name, each in (("llama-2-7b", 524288), ("llama-2-70b", 327680),
                       ("llama-3-70b", 327680), ("llama-3-8b", 131072),
                       ("llama-3.1-405b", 516096), ("qwen2.5-0.5b", 12288),
                       ("qwen3-0.6b", 114688), ("gpt2-xl", 307200)):
        text = planned(folder / f"{name}.json", "tp=1", "--phase=decode",
                       "--sequence=5", "--batch=3", "--dtype=bf16")
        found = report(text)["memory"]["kv_cache"]["bytes"]
        expect("ID-17", name, ratio(found, 5 * 3), each)


def padding(folder):
    for ranks, rows in ((1, 50304), (2, 50432), (4, 50688), (8, 51200)):
        text = planned(folder / "gpt2.json", "tp=1",
                       f"--pad-vocabulary={ranks}", "--sequence=3")
        found = report(text)["parameters"]["padding"]
        expect("ID-21", f"gpt2 for {ranks}", 50257 + ratio(found, 768), rows)


# Every rank has the norms of the stream (4 FLOPs a number) and adds to all of
# it; beyond as many ranks as KV heads, each of these is there t / heads times,
# with its product, its rotation (3) and, in Qwen3, its norm.
def conservation(folder):
    tokens = 48
    for name, degrees in (("llama-3-8b", (2, 8, 16)), ("llama-2-7b", (4,)),
                          ("qwen3-0.6b", (4, 16))):
        config = json.loads((folder / f"{name}.json").read_text("utf-8"))
        layers, h = config["num_hidden_layers"], config["hidden_size"]
        kv = config["num_key_value_heads"]
        head = config.get("head_dim", h // config["num_attention_heads"])
        head_norms = config["model_type"] == "qwen3"
        norms = (2 * layers + 1) * h
        kv_numbers = 2 * layers * kv * head * h
        kv_flops = tokens * (2 * kv_numbers + layers * kv * head
                             * (7 if head_norms else 3))
        stream_flops = tokens * (4 * norms + 2 * layers * h)
        alone = report(planned(folder / f"{name}.json", "tp=1",
                               f"--sequence={tokens}"))
        for t in degrees:
            many = report(planned(folder / f"{name}.json", f"tp={t}",
                                  f"--sequence={tokens}"))
            copies = max(1, t // kv)
            whole = norms + (2 * layers * head if head_norms else 0)
            expect("ID-26", f"parameters of {name} on {t}",
                   many["parameters"]["count_per_rank"] * t,
                   alone["parameters"]["count"] + (t - 1) * whole
                   + (copies - 1) * kv_numbers)
            expect("ID-26", f"FLOPs of {name} on {t}",
                   many["totals"]["flops"] * t,
                   alone["totals"]["flops"] + (t - 1) * stream_flops
                   + (copies - 1) * kv_flops)


def main():
    folder = Path(sys.argv[1])
    activations()
    messages()
    optimizer()
    caches(folder)
    padding(folder)
    conservation(folder)


main()
