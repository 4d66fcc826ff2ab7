# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad configs, weights and machines, for tp-translate, tp-run and tp-plan."""

import json
import struct

from programs import GOOD, OPEN
from row import Row, prefixes

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 10,
    "max_position_embeddings": 32, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
    "hidden_act": "silu", "tie_word_embeddings": False,
    "torch_dtype": "float32", "bos_token_id": 1, "eos_token_id": 2,
}


def config(name, text, *expected, options=()):
    content = text if isinstance(text, (str, bytes)) else json.dumps(text)
    return Row(name, "tp-translate",
               ["--import-hf-config={dir}/config.json", *options],
               [r"config\.json", *expected], {"config.json": content})


def configs():
    rows = []
    for key in ("hidden_size", "intermediate_size", "num_hidden_layers",
                "num_attention_heads", "num_key_value_heads", "vocab_size"):
        for value in (0, -1, 1.5, "8", 2**63):
            rows.append(config(f"{key} of {value!r}", CONFIG | {key: value},
                               key, str(value)))
    for key in ("rms_norm_eps", "rope_theta"):
        for value in (-1, "x", [1]):
            rows.append(config(f"{key} of {value!r}", CONFIG | {key: value},
                               key))
    text = json.dumps(CONFIG)
    rows += [
        config("heads that do not divide", CONFIG | {"num_attention_heads": 3},
               "3"),
        config("KV heads that do not divide", CONFIG | {
            "num_key_value_heads": 3}, "3", "4"),
        config("a product that overflows", CONFIG | {
            "hidden_size": 2**62, "vocab_size": 2**62}),
        config("an unknown family", CONFIG | {"model_type": "mamba"}, "mamba"),
        config("an unknown activation", CONFIG | {"hidden_act": "swoosh"},
               "swoosh"),
        config("no model type", {key: value for key, value in CONFIG.items()
                                 if key != "model_type"}, "model_type"),
        config("a list of configs", "[]"),
        config("an empty config", ""),
        config("a number for a config", "7"),
        config("a key twice", text[:-1] + ', "hidden_size": 16}', "hidden_size"),
        config("infinity", text.replace("10000.0", "1e999")),
        config("NaN", text.replace("10000.0", "NaN")),
        config("a NUL byte in a config", text.encode()[:40] + b"\0"
               + text.encode()[40:]),
        config("invalid UTF-8 in a config", b"\xff" + text.encode()),
        config("brackets 100,000 deep in a config", "[" * 100000),
        config("objects 100,000 deep in a config", '{"a":' * 100000),
        config("text after the config", text + "}"),
        Row("no config", "tp-translate", ["--import-hf-config={dir}"],
            [r"config\.json"]),
    ]
    rows += [config(f"config cut at {index + 1} of 13", cut)
             for index, cut in enumerate(prefixes(text, 12))]
    for option in ("layers", "batch", "sequence", "shrink"):
        # A model that is divided by 2^63 - 1 is as small as it gets.
        for value in (0, -1, 2**63 - 1, 2**63, "x"):
            if option == "shrink" and value == 2**63 - 1:
                continue
            rows.append(Row(
                f"--{option}={value}", "tp-translate",
                ["--import-hf-config={dir}/config.json", f"--{option}={value}"],
                [str(value)], {"config.json": text}))
    rows.append(Row("--dtype=f8", "tp-translate",
                    ["--import-hf-config={dir}/config.json", "--dtype=f8"],
                    ["f8"], {"config.json": text}))
    return rows


def safetensors(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(text) if length is None else length
    return struct.pack("<Q", size) + text + data


def weights(name, content, *expected):
    return Row(name, "tp-run", ["a.mlir", "--mesh=tp=2",
                                "--expect={dir}/w.safetensors"],
               [r"w\.safetensors", *expected],
               {"a.mlir": OPEN, "w.safetensors": content})


def tensor(**changes):
    return {"x": {"dtype": "F32", "shape": [2, 3],
                  "data_offsets": [0, 24]} | changes}


def tensors():
    data = bytes(24)
    good = safetensors(tensor(), data)
    rows = [
        weights("empty weights", b""),
        weights("a header of 2^63 bytes", safetensors(b"{}", length=2**63)),
        weights("a header of 2^64 - 1 bytes",
                safetensors(b"{}", length=2**64 - 1)),
        weights("a header longer than the file",
                safetensors(tensor(), data, length=1000)),
        weights("a header of nothing", safetensors(b"")),
        weights("a header that is a list", safetensors([])),
        weights("a header 100,000 deep", safetensors(b"[" * 100000)),
        weights("a NUL byte in a header", safetensors(
            json.dumps(tensor()).encode().replace(b"F32", b"F\x0032"), data)),
        weights("a tensor twice", safetensors(
            json.dumps(tensor()).encode()[:-1]
            + json.dumps(tensor()).encode().replace(b"{", b", ", 1), data),
            "x"),
        weights("a gap between tensors", safetensors(
            tensor(data_offsets=[8, 32]), bytes(32))),
        weights("data of nobody", safetensors(tensor(), bytes(32))),
        weights("tensors that overlap", safetensors(
            tensor() | {"y": tensor()["x"]}, data)),
    ]
    for key, values in {
            "dtype": ["F33", 4, None],
            "shape": [[-1, 3], [2.5, 3], [2**63, 3], [2**62, 8], [2, 4], "2x3",
                      [[2], 3]],
            "data_offsets": [[0, 25], [24, 0], [-1, 24], [0], [0, 2**63],
                             [0, 2**64], "0-24"]}.items():
        for value in values:
            rows.append(weights(f"{key} of {value}", safetensors(
                tensor(**{key: value}), data), "x"))
    rows += [weights(f"weights cut at {index + 1} of 11", cut)
             for index, cut in enumerate(prefixes(good, 10))]
    return rows


MACHINE = '''name: tiny
peaks:
  - {type: f32, flops: 1.0e12}
memory_bandwidth: 1.0e11
memory_bytes: 1000000
links:
  - {name: wire, ranks: 0, bandwidth: 1.0e9, latency: 1.0e-6}
'''


def machine(name, text, *expected):
    return Row(name, "tp-opt",
               ["a.mlir", "--tp-plan=mesh=tp=2 machine={dir}/m.yaml"],
               [r"m\.yaml", *expected], {"a.mlir": OPEN, "m.yaml": text})


def machines():
    rows = [
        machine("an empty machine", ""),
        machine("a machine that is a list", "- 1"),
        machine("a key that is no machine's", MACHINE + "colour: red\n",
                "colour"),
        machine("a machine with a key twice", MACHINE + "name: other\n", "name"),
        machine("a machine without peaks",
                MACHINE.replace("  - {type: f32, flops: 1.0e12}\n", "")),
        machine("a machine without links", MACHINE[:MACHINE.index("links")]),
        machine("a NUL byte in a machine", MACHINE.replace("tiny", "ti\0ny")
                .encode()),
        machine("a machine 100,000 deep", "[" * 100000),
        machine("a machine of mappings 100,000 deep", "{a: " * 100000),
        machine("an alias of nothing", MACHINE.replace("tiny", "*tiny")),
    ]
    for key, old in (("memory_bandwidth", "1.0e11"), ("memory_bytes", "1000000"),
                     ("flops", "1.0e12"), ("bandwidth: ", "1.0e9"),
                     ("latency", "1.0e-6")):
        for value in ("-1", "nan", "x", "1e999", "[1]"):
            rows.append(machine(f"{key.strip(': ')} of {value}",
                                MACHINE.replace(old, value)))
    for ranks in ("-1", "1", "8", "9223372036854775808"):
        rows.append(machine(f"a last link of {ranks} ranks", MACHINE.replace(
            "ranks: 0", f"ranks: {ranks}")))
    # Where a cut machine is a machine: behind its last number's first digit.
    text = MACHINE[:MACHINE.index("links") + 6]
    rows += [machine(f"machine cut at {index + 1} of 9", cut)
             for index, cut in enumerate(prefixes(text, 8))]
    return rows


def runs():
    def run(name, *options, expected=(), text=OPEN):
        return Row(name, "tp-run", ["a.mlir", *options], ["error|option",
                                                          *expected],
                   {"a.mlir": text})

    rows = [run(f"a run on tp={size} ranks", f"--mesh=tp={size}",
                expected=[str(size)])
            for size in (0, -1, 2**31, 2**63 - 1, 2**63, "x")]
    for option, values in {"deadline": (-1, 0, "nan", "inf", "x"),
                           "repeats": (-1, 2**63, "x"),
                           "threads-per-rank": (0, -1, 1025, 2**63 - 1, "x"),
                           "inputs": ("fours",), "exact": ("maybe",),
                           "seed": (-1, 2**64), "entry": ("nobody",)}.items():
        for value in values:
            rows.append(run(f"a run with --{option}={value}", "--mesh=tp=2",
                            f"--{option}={value}", expected=[f"(?i){value}"]))
    rows += [
        run("a run of nothing", "--mesh=tp=2", text=""),
        run("a run of a program that is wrong", text=GOOD.replace(
            "8x6xf32", "9x6xf32"), expected=[r"a\.mlir:\d+:\d+"]),
        run("a run of brackets 100,000 deep", text="[" * 100000,
            expected=["256"]),
        run("a run of bytes", text=bytes(range(256))),
        Row("a run of no file", "tp-run", ["none.mlir"], [r"none\.mlir"]),
        Row("a run of an empty folder", "tp-run", ["{dir}"], [r"config\.json"]),
    ]
    return rows


def shipped(source):
    """Shipped machines and configs, cut in the middle."""
    rows = []
    for path in sorted((source / "share" / "machines").glob("*.yaml")):
        text = path.read_text()
        rows.append(machine(f"half of {path.name}", text[:len(text) // 2]))
    for path in sorted((source / "examples" / "configs").glob("*.json")):
        text = path.read_text()
        rows.append(config(f"half of {path.name}", text[:len(text) // 2]))
    return rows


def rows(source):
    return [*configs(), *tensors(), *machines(), *runs(), *shipped(source)]
