# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes decode.safetensors beside a model, with Hugging Face transformers.

The first six tokens of expected.safetensors fill the cache, the seventh is
decoded: its id, the keys and values of the cache, [batch, tokens, kv_heads,
head_dim], the logits, and the keys and values that are new.

usage: decode.py FOLDER...        needs torch, transformers and safetensors
"""

import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

CACHED = 6


def tokens_first(tensor):
    return tensor.transpose(1, 2).contiguous()


def decode(folder):
    model = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager").eval()
    ids = load_file(folder / "expected.safetensors")["input_ids"]
    with torch.no_grad():
        cache = model(input_ids=ids[:, :CACHED], use_cache=True).past_key_values
        past = {f"past_key_values.{i}.{kind}": tokens_first(tensor).clone()
                for i, layer in enumerate(cache.layers)
                for kind, tensor in (("key", layer.keys),
                                     ("value", layer.values))}
        answer = model(input_ids=ids[:, CACHED:], past_key_values=cache,
                       use_cache=True)
    new = {f"new_key_values.{i}.{kind}": tokens_first(tensor)[:, CACHED:]
           for i, layer in enumerate(answer.past_key_values.layers)
           for kind, tensor in (("key", layer.keys), ("value", layer.values))}
    tensors = dict(input_ids=ids[:, CACHED:], logits=answer.logits, **past,
                   **new)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()},
              folder / "decode.safetensors")


for argument in sys.argv[1:]:
    decode(pathlib.Path(argument))
