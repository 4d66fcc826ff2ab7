# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says where the second of two compared plans loses its time.

Usage: nodes.py COMPARISON.json
"""

import json
import sys
from pathlib import Path


def main():
    document = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    figures = {row["name"]: row for row in document["figures"]}
    assert all(row["kind"] == "predicted" for row in document["figures"])
    rate = figures["tokens_per_second"]
    assert rate["second"] < rate["first"]
    for plan, side in zip(document["plans"], ("first", "second")):
        path = plan["critical_path"]
        assert figures["seconds"][side] == path["time"]["seconds"]
        parts = path["compute_time"]["seconds"] + path["held_time"]["seconds"]
        assert abs(parts - path["time"]["seconds"]) < 1e-9
        assert abs(sum(link["held_time"]["seconds"] for link in path["links"])
                   - path["held_time"]["seconds"]) < 1e-9
    print(f"slower by {1 - rate['second'] / rate['first']:.1%}")
    lost = figures["seconds"]["difference"]
    assert lost <= figures["held_seconds"]["difference"]
    print("waiting explains all of it")
    links = {name: row["difference"] for name, row in figures.items()
             if name.startswith("held_seconds_")}
    worst = max(links, key=links.get)
    _, _, part, link = worst.split("_")
    print(f"most in {part} over {link}")


main()
