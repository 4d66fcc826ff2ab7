# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The slices of Llama-3-8B on 8 ranks, by the arithmetic of the layout: rank r
has the rows from r * step of q, k, v, gate and up, the columns of o and down.
"""

import json
import sys

STEPS = {"q_proj": (0, 512), "k_proj": (0, 128), "v_proj": (0, 128),
         "o_proj": (1, 512), "gate_proj": (0, 1792), "up_proj": (0, 1792),
         "down_proj": (1, 1792)}

with open(sys.argv[1]) as file:
    plan = json.load(file)
good = 0
for weight in plan["weights"]:
    kind = weight["name"].split(".")[-2]
    if kind not in STEPS:
        continue
    dim, step = STEPS[kind]
    shape = weight["tensor_shape"]
    sizes = [step if d == dim else shape[d] for d in range(2)]
    wanted = [{"ranks": [rank], "local_shape": sizes,
               "slices": [{"from": [rank * step if d == dim else 0
                                    for d in range(2)],
                           "sizes": sizes, "to": [0, 0]}]}
              for rank in range(8)]
    if weight["held"] != wanted:
        print("wrong:", weight)
    good += weight["held"] == wanted
sums = sum(entry["count"] for entry in plan["collectives"]
           if entry["kind"] == "all_reduce")
print(good, "matrices lie as they should,", sums, "all_reduce")
