# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lit suite: every .mlir and .test file below test/.

With `--param roundtrip=1` the name tp-opt stands for test/roundtrip/tp-opt,
which reads again what the real one prints. A test whose tp-opt prints
something other than IR says `UNSUPPORTED: roundtrip`.
"""
import os

import lit.formats

config.name = "tp-mlir"
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Style", "roundtrip"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.join(config.source_dir, "test")

roundtrip = "roundtrip" in lit_config.params
config.test_exec_root = os.path.join(
    config.binary_dir, "test", "lit-roundtrip" if roundtrip else "lit"
)

# The tools are found by their bare names: ours, then LLVM's.
path = [config.tools_dir, config.llvm_tools_dir, os.environ["PATH"]]
if roundtrip:
    config.available_features.add("roundtrip")
    config.environment["TP_OPT"] = os.path.join(config.tools_dir, "tp-opt")
    path.insert(0, os.path.join(config.test_source_root, "roundtrip"))
config.environment["PATH"] = os.pathsep.join(path)
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions += [
    ("%tools", config.tools_dir),
    ("%examples", os.path.join(config.source_dir, "examples")),
    ("%models", os.path.join(config.source_dir, "examples", "configs")),
    ("%machines", os.path.join(config.source_dir, "share", "machines")),
    ("%python", config.python),
]
