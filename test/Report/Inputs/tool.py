# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tp-cost-report says, and equalities with it. Whoever expects one prints
the name of the identity and its value."""

import json
import subprocess
import sys


def run(command, text=""):
    result = subprocess.run(command, input=text, capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stderr}")
    return result.stdout


def report(text, options=""):
    return json.loads(run(["tp-opt", "-", "-o", "/dev/null",
                           f"--tp-cost-report=format=json output=- {options}"],
                          text))


def expect(identity, what, found, wanted):
    if found != wanted:
        sys.exit(f"{identity} {what}: {found}, wanted {wanted}")
    print(f"{identity} {what}: {found}")


def ratio(numerator, denominator):
    assert numerator % denominator == 0
    return numerator // denominator
