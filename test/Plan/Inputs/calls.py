# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program of functions that each call the next one so many times.

    calls.py DEPTH TIMES
"""
import sys

depth, times = int(sys.argv[1]), int(sys.argv[2])
tensor = "tensor<4x6xf32>"
for level in range(depth + 1):
    name = "@main" if level == 0 else f"private @f{level}"
    print(f"func.func {name}(%0: {tensor}) -> {tensor} {{")
    body = f"call @f{level + 1}" if level < depth else "tp.relu "
    for index in range(times):
        operand = f"(%{index})" if level < depth else f"%{index}"
        print(f"  %{index + 1} = {body}{operand} : ({tensor}) -> {tensor}")
    print(f"  return %{times} : {tensor}\n}}")
