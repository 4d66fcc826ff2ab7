# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes logits that are wrong by 501, 602 and 697 beside a padded one."""

import json
import struct
import sys

header, data = {}, b""
for name, values in [("x", [-1, -2, -3, 0]),
                     ("logits", [500, 600, -700, -3.4028234663852886e38])]:
    raw = struct.pack("<4f", *values)
    header[name] = {"dtype": "F32", "shape": [1, 4],
                    "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
