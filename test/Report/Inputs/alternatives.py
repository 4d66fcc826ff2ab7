# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what a report says of other plans against these plans.

Each weight is pinned in the source to the layout that is named as its next
best, each constraint is replaced in the options of tp-plan; the report of the
program planned so has to have the figures that were promised. That no other pin
is cheaper is tried, too.

Usage: alternatives.py
"""

import json
import re
import subprocess
import sys

SIZES = {"gain": [12], "w1": [12, 20], "w2": [20, 28], "w3": [28, 12]}


def program(mesh, pins):
    def tensor(shape, pin=None):
        sizes = "x".join(map(str, shape))
        return f"tensor<{sizes}xf32{', ' + pin if pin else ''}>"

    x, h, g = tensor([6, 12]), tensor([6, 20]), tensor([6, 28])
    types = {name: tensor(shape, pins.get(name))
             for name, shape in SIZES.items()}
    arguments = ", ".join(
        f'%{name}: {type_} {{tp.parameter, tp.name = "{name}"}}'
        for name, type_ in types.items())
    axes = ", ".join(f'"{axis}"={ranks}' for axis, ranks in mesh.items())
    return f"""tp.mesh @mesh = <[{axes}]>
func.func @main(%x: {x}, {arguments}) -> {x} {{
  %n = tp.rms_norm %x, %gain {{epsilon = 1.0e-5 : f64}} : ({x}, {types["gain"]}) -> {x}
  %h = tp.matmul %n, %w1 : ({x}, {types["w1"]}) -> {h}
  %a = tp.relu %h : ({h}) -> {h}
  %g = tp.matmul %a, %w2 : ({h}, {types["w2"]}) -> {g}
  %y = tp.matmul %g, %w3 : ({g}, {types["w3"]}) -> {x}
  return %y : {x}
}}
"""


def plan(mesh, pins, options, report=""):
    """The report of the planned program; nothing if there is no plan."""
    result = subprocess.run(
        ["tp-opt", "-", "-o", "/dev/null", f"--tp-plan={options}",
         "--tp-insert-collectives",
         f"--tp-cost-report=format=json output=- {report}"],
        input=program(mesh, pins), capture_output=True, text=True, check=False)
    return json.loads(result.stdout) if result.returncode == 0 else None


def figures(report):
    return (report["totals"]["time"]["seconds"],
            report["totals"]["bytes_sent_per_rank"],
            report["parameters"]["size_per_rank"]["bytes"])


def pin(shape, layout):
    """`row, dimension 1 of 20 over "tp", 10 a rank` as a sharding."""
    dims = ["{}"] * len(shape)
    for dim, axes in re.findall(
            r'dimension (\d+) of \d+ over ("[^ ]*"(?:, "[^ ]*")*)', layout):
        dims[int(dim)] = f"{{{axes}}}"
    assert ("whole" in layout) == (dims == ["{}"] * len(shape)), layout
    return f"#tp.sharding<@mesh, [{', '.join(dims)}]>"


def check_more(what, more, base, other):
    for name, one, two in zip(("time", "bytes_sent_per_rank",
                               "parameter_bytes_per_rank"), base, other):
        found = more[name]["seconds"] if name == "time" else more[name]
        limit = 1e-9 if name == "time" else 0.5
        if abs(found - (two - one)) > limit:
            sys.exit(f"{what}, {name}: {found}, in fact {two - one}")


def check(mesh, options, given=None):
    """`given` are the pins that the program has."""
    given = given or {}

    def pinned(name, layout):
        return plan(mesh, {**given, name: layout}, options)

    report = plan(mesh, given, options, "alternatives=on")
    base, found = figures(report), report["alternatives"]
    assert abs(found["time"]["seconds"] - base[0]) < 1e-9
    assert [weight["name"] for weight in found["weights"]] == list(SIZES)
    for weight in found["weights"]:
        shape = SIZES[weight["name"]]
        assert weight["shape"] == shape and weight["count"] == 1
        name = weight["name"]
        same = pinned(name, pin(shape, weight["layout"]))
        assert abs(figures(same)[0] - base[0]) < 1e-9
        if weight["more"] is None:
            assert weight["other_layout"] is None and name in given
            continue
        check_more(name, weight["more"], base, figures(
            pinned(name, pin(shape, weight["other_layout"]))))
        for dims in range(len(shape)):
            parts = ["{}"] * len(shape)
            parts[dims] = '{"tp"}'
            tried = pinned(name, f"#tp.sharding<@mesh, [{', '.join(parts)}]>")
            # Either what the plan has, or no cheaper than the next best.
            assert (tried is None or abs(figures(tried)[0] - base[0]) < 1e-9
                    or figures(tried)[0] - base[0]
                    > weight["more"]["time"]["seconds"] - 1e-9)
    priced = 0
    for constraint in found["constraints"]:
        if constraint["given"] == "the pins":
            other = plan(mesh, {}, options)
        else:
            other = plan(mesh, given, f"{options} {constraint['instead']}")
        assert (other is None) == (constraint["more"] is None)
        if other:
            priced += 1
            check_more(constraint["given"], constraint["more"], base,
                       figures(other))
    changed = sum(weight["more"] is not None for weight in found["weights"])
    print(f"{mesh}: {changed} weights moved, {priced} constraints given up")


def main():
    check({"tp": 2}, "machine=h100")
    check({"tp": 4}, "machine=v100 weights=stored")
    check({"dp": 2, "tp": 2}, "machine=h100 weights=free")
    check({"tp": 2}, "machine=h100",
          {"w2": '#tp.sharding<@mesh, [{}, {"tp"}]>'})


main()
