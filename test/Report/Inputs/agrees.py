# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a report takes as long as the plan that it is of, and sends as much.

    agrees.py PLAN.json REPORT.json
"""
import json
import sys

plan, report = (json.load(open(path)) for path in sys.argv[1:])
totals = report["totals"]
# Every price of a plan is rounded to a sixteenth of a picosecond.
difference = abs(totals["time"]["seconds"] - plan["seconds"])
print("same time" if difference < 1e-10 else f"{difference} s apart")
# Shares of 13/14 are no whole bytes; each sum is rounded once.
more = totals["bytes_sent_per_rank"] - plan["sent_bytes"]
print("same bytes" if abs(more) <= 1 else f"{more} bytes more")
