# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Identities of published models: how many parameters, bytes of keys and values
and FLOPs they have, and what many ranks hold and compute beside that. Each is
worked out here from a model's sizes, and is an equality of whole numbers with
what tp-cost-report says of the program imported from these sizes."""

import json
import re
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from tool import expect, ratio, run


@dataclass(frozen=True)
class Model:
    """Width, layers, heads, KV heads and their size, feed-forward width,
    vocabulary, whether the embedding is the head, and the parameters that are
    published."""

    family: str
    h: int
    l: int
    a: int
    kv: int
    d: int
    f: int
    v: int
    tied: bool
    published: int = 0
    positions: int = 8192

    def config(self):
        if self.family == "gpt2":
            return {"model_type": "gpt2", "n_embd": self.h, "n_layer": self.l,
                    "n_head": self.a, "n_positions": self.positions,
                    "vocab_size": self.v}
        return {"model_type": self.family, "hidden_size": self.h,
                "num_hidden_layers": self.l, "num_attention_heads": self.a,
                "num_key_value_heads": self.kv, "head_dim": self.d,
                "intermediate_size": self.f, "vocab_size": self.v,
                "max_position_embeddings": self.positions,
                "tie_word_embeddings": self.tied}

    @property
    def head_norms(self):
        return 2 * self.l * self.d if self.family == "qwen3" else 0

    @property
    def norms(self):
        return (2 * self.l + 1) * self.h

    @property
    def matrices(self):
        """Numbers in the products of the layers."""
        heads = (2 * self.a + 2 * self.kv) * self.d
        wide = 2 if self.family == "gpt2" else 3
        return self.l * self.h * (heads + wide * self.f)

    @property
    def parameters(self):
        embeddings = self.v * self.h * (1 if self.tied else 2)
        if self.family == "gpt2":
            # Norms have biases too, and so has each product: 9 h a layer.
            return (embeddings + self.positions * self.h + self.matrices
                    + 2 * self.norms + 9 * self.l * self.h)
        biases = (self.a + 2 * self.kv) * self.d * self.l
        return (embeddings + self.matrices + self.norms + self.head_norms
                + (biases if self.family == "qwen2" else 0))


MODELS = {
    "Llama-2-7B": Model("llama", 4096, 32, 32, 32, 128, 11008, 32000, False,
                        6_738_415_616),
    "Llama-2-13B": Model("llama", 5120, 40, 40, 40, 128, 13824, 32000, False,
                         13_015_864_320),
    "Llama-2-70B": Model("llama", 8192, 80, 64, 8, 128, 28672, 32000, False,
                         68_976_648_192),
    "Llama-3-8B": Model("llama", 4096, 32, 32, 8, 128, 14336, 128256, False,
                        8_030_261_248),
    "Llama-3-70B": Model("llama", 8192, 80, 64, 8, 128, 28672, 128256, False,
                         70_553_706_496),
    "Llama-3.1-405B": Model("llama", 16384, 126, 128, 8, 128, 53248, 128256,
                            False, 405_853_388_800),
    "Llama-3.2-1B": Model("llama", 2048, 16, 32, 8, 64, 8192, 128256, True,
                          1_235_814_400),
    "Llama-3.2-3B": Model("llama", 3072, 28, 24, 8, 128, 8192, 128256, True,
                          3_212_749_824),
    "Mistral-7B": Model("mistral", 4096, 32, 32, 8, 128, 14336, 32000, False,
                        7_241_732_096),
    "Qwen2.5-0.5B": Model("qwen2", 896, 24, 14, 2, 64, 4864, 151936, True,
                          494_032_768),
    "Qwen2.5-7B": Model("qwen2", 3584, 28, 28, 4, 128, 18944, 152064, False,
                        7_615_616_512),
    "Qwen2.5-72B": Model("qwen2", 8192, 80, 64, 8, 128, 29568, 152064, False,
                         72_706_203_648),
    "Qwen3-0.6B": Model("qwen3", 1024, 28, 16, 8, 128, 3072, 151936, True,
                        596_049_920),
    "Qwen3-1.7B": Model("qwen3", 2048, 28, 16, 8, 128, 6144, 151936, True,
                        1_720_574_976),
    "Phi-3-mini": Model("phi3", 3072, 32, 32, 32, 96, 8192, 32064, False,
                        3_821_079_552),
    "GPT-2": Model("gpt2", 768, 12, 12, 12, 64, 3072, 50257, True, 124_439_808,
                   1024),
    "GPT-2-XL": Model("gpt2", 1600, 48, 25, 25, 64, 6400, 50257, True,
                      1_557_611_200, 1024),
}

# Published models that are not read, and what the importer lacks for them. Each
# has to be refused: whoever adds one adds its count above.
NOT_READ = {
    "mixtral": "experts",
    "gemma2": "norms behind the blocks, capped scores and logits",
    "gemma3_text": "norms behind the blocks, layers that differ",
    "falcon": "attention and feed-forward side by side",
    "gpt_neox": "attention and feed-forward side by side",
    "opt": "positions that begin at 2",
    "bloom": "ALiBi, a norm behind the embedding",
    "deepseek_v2": "latent attention, experts",
    "deepseek_v3": "latent attention, experts",
    "gpt_oss": "experts, sinks of attention",
    "whisper": "an encoder, cross-attention",
    "bert": "attention that is not causal",
}

# D. Narayanan et al., SC 2021, table 1: billions of parameters; width, heads
# and layers. Sequences of 2048, a vocabulary of 51,200.
NARAYANAN = ((1.7, 2304, 24, 24), (3.6, 3072, 32, 30), (7.5, 4096, 32, 36),
             (18.4, 6144, 48, 40), (39.1, 8192, 64, 48), (76.1, 10240, 80, 60),
             (145.6, 12288, 96, 80), (310.1, 16384, 128, 96),
             (529.6, 20480, 128, 105), (1008.0, 25600, 160, 128))


class Importer:
    """Typed programs of models, planned for a mesh."""

    def __init__(self, folder):
        self.path = Path(folder) / "config.json"
        self.plan = Path(folder) / "plan.json"

    def translate(self, config, *importing):
        self.path.write_text(json.dumps(config), "utf-8")
        return run(["tp-translate", "--import-hf-config", str(self.path),
                    *importing])

    def report(self, model, mesh="tp=1", *importing):
        program = self.translate(model.config(), *importing)
        return json.loads(run(
            ["tp-opt", "-", "-o", "/dev/null", "--tp-split-fused-weights",
             f"--tp-plan=mesh={mesh} sequence-parallel=off",
             f"--tp-print-plan=format=json output={self.plan}",
             "--tp-insert-collectives",
             "--tp-cost-report=format=json output=-"], program))

    def count_copies(self, ranks):
        """Of a K or V projection in the last plan; those that have a tensor
        with the query's have no copies."""
        plan = json.loads(self.plan.read_text("utf-8"))
        copies = {ranks // len(weight["held"]) for weight in plan["weights"]
                  if re.search("[kv]_proj", weight["name"])}
        assert len(copies) <= 1
        return copies.pop() if copies else 1

    def legal_degrees(self, model):
        """Of more than one rank, those in which every dimension divides."""
        text = self.translate(model.config(), "--sequence=48")
        found = json.loads(run(
            ["tp-opt", "-", "-o", "/dev/null", "--tp-split-fused-weights",
             "--tp-legal-degrees=format=json output=-"], text))
        return [degree["ranks"] for degree in found["degrees"]
                if degree["ranks"] > 1 and degree["legal"]
                and not degree["undivided"]]

    def refuses(self, family):
        """Whether its name is what the importer refuses."""
        self.path.write_text(json.dumps({"model_type": family}), "utf-8")
        result = subprocess.run(
            ["tp-translate", "--import-hf-config", str(self.path)],
            capture_output=True, text=True, check=False)
        return (result.returncode != 0
                and "not a supported model type" in result.stderr)


def narayanan(importer):
    for billions, h, a, l in NARAYANAN:
        model = Model("gpt2", h, l, a, a, h // a, 4 * h, 51200, True,
                      positions=2048)
        found = importer.report(model, "tp=1", "--sequence=2048")
        count = found["parameters"]["count"]
        # 12 l h^2 (1 + 13 / (12 h) + (V + s) / (12 l h)), which leaves out the
        # last norm.
        formula = 12 * l * h * h + 13 * l * h + (51200 + 2048) * h
        expect("ID-14", f"{billions}B", count, formula + 2 * h)
        expect("ID-14", "rounded", round(formula / 1e9, 1), billions)


def parameters(importer):
    for name, model in MODELS.items():
        count = importer.report(model)["parameters"]["count"]
        expect("ID-16", f"{name}, by its sizes", count, model.parameters)
        expect("ID-16", name, count, model.published)
    for family, lacking in NOT_READ.items():
        expect("ID-16", f"{family} is refused, for it has {lacking}",
               importer.refuses(family), True)


def caches(importer):
    """Latent attention, (kv_lora + rope) l numbers, is not imported."""
    listed = {"Llama-2-7B": 524288, "Llama-2-70B": 327680,
              "Llama-3-70B": 327680, "Llama-3-8B": 131072,
              "Llama-3.1-405B": 516096, "Qwen2.5-0.5B": 12288,
              "Qwen3-0.6B": 114688, "GPT-2-XL": 307200}

    def each(model, mesh, dtype):
        found = importer.report(model, mesh, "--phase=decode", "--sequence=5",
                                "--batch=3", f"--dtype={dtype}")
        return ratio(found["memory"]["kv_cache"]["bytes"], 5 * 3)

    for name, model in MODELS.items():
        wanted = 2 * 2 * model.l * model.kv * model.d
        expect("ID-17", name, each(model, "tp=1", "bf16"),
               listed.get(name, wanted))
    expect("ID-17", "Llama-3-8B, f32",
           each(MODELS["Llama-3-8B"], "tp=1", "f32"), 2 * 131072)
    # Beyond as many ranks as KV heads, a rank has one head.
    for ranks in (2, 8, 16):
        expect("ID-17", f"Llama-3-8B on {ranks}",
               each(MODELS["Llama-3-8B"], f"tp={ranks}", "bf16"),
               131072 // min(ranks, 8))


def padding(importer):
    # The vocabulary of Whisper too, in another model.
    odd = replace(MODELS["GPT-2"], v=51865)
    for name, model, ranks, rows in (
            ("GPT-2", MODELS["GPT-2"], 1, 50304),
            ("GPT-2", MODELS["GPT-2"], 2, 50432),
            ("GPT-2", MODELS["GPT-2"], 4, 50688),
            ("GPT-2", MODELS["GPT-2"], 8, 51200),
            ("Qwen3-0.6B", MODELS["Qwen3-0.6B"], 8, 152576),
            ("51865", odd, 8, 52224)):
        found = importer.report(model, "tp=1", f"--pad-vocabulary={ranks}",
                                "--sequence=3")["parameters"]["padding"]
        expect("ID-21", f"{name} for {ranks}", model.v + ratio(found, model.h),
               rows)


def flops(importer):
    """Of a training step: three times the forward."""
    s = 8192
    for name, causal, full in (
            ("Llama-3-8B", "5.14704e+10", "5.79129e+10"),
            ("Llama-3-70B", "4.49223e+11", "4.81435e+11"),
            ("Llama-3.1-405B", "2.52396e+12", "2.62542e+12")):
        model = MODELS[name]
        found = importer.report(model, "tp=8", f"--sequence={s}")["utilisation"]
        weights = model.matrices + model.v * model.h
        pairs = 6 * model.l * model.a * model.d * s
        for convention, published, wanted in (
                ("causal", causal, 6 * weights + pairs),
                ("full", full, 6 * weights + 2 * pairs)):
            step = 3 * found[f"model_flops_{convention}"]
            expect("ID-24", f"{name}, {convention}", ratio(step, s), wanted)
            expect("ID-24", "published", f"{step / s:.5e}", published)


def conservation(importer):
    """What all ranks hold and compute is what one does, and the rest of the
    copies. Every rank has the norms of the stream (4 FLOPs a number) and adds
    to all of it. On more ranks than KV heads each of these is there several
    times, with its rotation (3) and, where there are any, its norm (4); the
    weights behind them and their products if the plan says so, otherwise the
    head is gathered."""
    tokens = 48
    for name in ("Llama-2-13B", "Llama-3-8B", "Llama-3-70B", "Llama-3.1-405B",
                 "Qwen2.5-7B", "Qwen2.5-72B", "Qwen3-0.6B", "Phi-3-mini"):
        model = MODELS[name]
        kv_rows = 2 * model.l * model.kv * model.d
        has_biases = model.family == "qwen2"
        head_flops = (7 if model.head_norms else 3) * tokens * kv_rows // 2
        stream = tokens * (4 * model.norms + 2 * model.l * model.h)
        sequence = f"--sequence={tokens}"
        alone = importer.report(model, "tp=1", sequence)
        for t in importer.legal_degrees(model):
            many = importer.report(model, f"tp={t}", sequence)
            heads = max(1, t // model.kv)
            copies = importer.count_copies(t)
            expect("ID-26", f"{name} on {t}, KV weights are whole or copied",
                   copies in (1, heads), True)
            expect("ID-26", f"parameters of {name} on {t}",
                   many["parameters"]["count_per_rank"] * t,
                   alone["parameters"]["count"]
                   + (t - 1) * (model.norms + model.head_norms)
                   + (copies - 1) * kv_rows * (model.h + has_biases))
            expect("ID-26", f"FLOPs of {name} on {t}",
                   many["totals"]["flops"] * t,
                   alone["totals"]["flops"] + (t - 1) * stream
                   + (heads - 1) * head_flops
                   + (copies - 1) * tokens * kv_rows
                   * (2 * model.h + has_biases))


def main():
    with tempfile.TemporaryDirectory() as folder:
        importer = Importer(folder)
        for identity in (narayanan, parameters, caches, padding, flops,
                         conservation):
            identity(importer)


main()
