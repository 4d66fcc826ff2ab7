# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command so many times: same-output.py COUNT COMMAND...

Fails unless it succeeds each time with the same bytes, of which there are some.
"""

import subprocess
import sys

outputs = {subprocess.run(sys.argv[2:], check=True, capture_output=True).stdout
           for _ in range(int(sys.argv[1]))}
if len(outputs) != 1 or outputs == {b""}:
    sys.exit(f"{len(outputs)} different outputs")
