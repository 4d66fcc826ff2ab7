# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies a model of f32 as one of bf16: narrow-copy.py SOURCE TARGET [--round]

The config says bfloat16; with --round the file holds bf16 tensors, too, each
number rounded to nearest, ties to even."""

import json
import shutil
import struct
import sys
from pathlib import Path


def rounded(data):
    """The bytes of f32 numbers as those of bf16 ones."""
    words = struct.unpack(f"<{len(data) // 4}I", data)
    return struct.pack(
        f"<{len(words)}H",
        *((word + 0x7FFF + (word >> 16 & 1)) >> 16 for word in words))


def round_file(source, target):
    content = source.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    body = content[8 + size:]
    placed, pieces, end = {}, [], 0
    for name, tensor in header.items():
        if name == "__metadata__":
            continue
        assert tensor["dtype"] == "F32", name
        begin, stop = tensor["data_offsets"]
        pieces.append(rounded(body[begin:stop]))
        placed[name] = {"dtype": "BF16", "shape": tensor["shape"],
                        "data_offsets": [end, end + len(pieces[-1])]}
        end += len(pieces[-1])
    text = json.dumps(placed).encode()
    target.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(pieces))


def main(source, target, rounds):
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    config = json.loads((source / "config.json").read_text())
    config["dtype"] = "bfloat16"
    (target / "config.json").write_text(json.dumps(config, indent=2))
    if rounds:
        round_file(source / "model.safetensors", target / "model.safetensors")
    else:
        shutil.copy(source / "model.safetensors", target)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), "--round" in sys.argv[3:])
