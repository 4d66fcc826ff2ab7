# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad programs and bad options of the passes, for tp-opt."""

from row import Row, prefixes

# Where MLIR's diagnostics say an error is.
PLACE = r"a\.mlir:\d+:\d+: error"
SPLIT = '#tp.sharding<@mesh, [{"tp"}]>'
WHOLE = "#tp.sharding<@mesh, [{}]>"
MESH = 'tp.mesh @mesh = <["tp"=2]>\n'
TENSOR = "tensor<4x6xf32>"
BIG = 9223372036854775807

GOOD = '''tp.mesh @mesh = <["dp"=2, "tp"=2]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, [{}, {}]>
func.func @main(%x: tensor<4x6xf32, #rep> {tp.name = "x"}, %a: tensor<6x8xf32, #col> {tp.parameter},
    %b: tensor<8x6xf32, #row> {tp.parameter}) -> tensor<4x6xf32, #rep> {
  %0 = tp.matmul %x, %a : (tensor<4x6xf32, #rep>, tensor<6x8xf32, #col>) -> tensor<4x8xf32, #col>
  %1 = tp.gelu %0 : (tensor<4x8xf32, #col>) -> tensor<4x8xf32, #col>
  %2 = tp.matmul %1, %b : (tensor<4x8xf32, #col>, tensor<8x6xf32, #row>) -> tensor<4x6xf32, #sum>
  %3 = tp.all_reduce %2 over {"tp"} : (tensor<4x6xf32, #sum>) -> tensor<4x6xf32, #rep>
  return %3 : tensor<4x6xf32, #rep>
}
'''
OPEN = '''func.func @main(%x: tensor<4x6xf32>, %a: tensor<6x8xf32> {tp.parameter}) -> tensor<4x8xf32> {
  %0 = tp.matmul %x, %a : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
'''


def program(name, text, *expected, passes=()):
    return Row(name, "tp-opt", ["a.mlir", *passes], [PLACE, *expected],
               {"a.mlir": text})


def function(body, arguments="", result=""):
    return f"func.func @main({arguments}){result} {{\n{body}\n  return\n}}\n"


def meshes():
    rows = [program(f"mesh of {size} ranks", f'tp.mesh @m = <["tp"={size}]>',
                    str(size)) for size in (0, -1, 2**63, 2**64)]
    rows += [
        program("ranks that overflow", 'tp.mesh @m = <["a"=4294967296, '
                '"b"=2147483648]>', r"2\^63"),
        program("axis twice in a mesh", 'tp.mesh @m = <["a"=2, "a"=3]>',
                '"a"'),
        program("axis without a name", 'tp.mesh @m = <[""=2]>'),
        program("mesh without a number", 'tp.mesh @m = <["a"=]>'),
        program("mesh with half a rank", 'tp.mesh @m = <["a"=1.5]>'),
        program("mesh that does not end", 'tp.mesh @m = <["a"=2'),
        program("two meshes of a name", MESH + MESH, "mesh"),
        program("mesh and function of a name",
                MESH + "func.func @mesh() { return }", "mesh"),
        program("mesh inside a function", function("  " + MESH)),
    ]
    return rows


def shardings():
    def typed(name, mesh, sharding, *expected, tensor="4x6"):
        return program(
            name, f"tp.mesh @mesh = <[{mesh}]>\nfunc.func @main(%x: "
            f"tensor<{tensor}xf32, #tp.sharding<@mesh, {sharding}>>) {{ return }}",
            *expected)

    rows = [
        typed("sharding of rank 1", '"tp"=2', '[{"tp"}]', "1", "2"),
        typed("sharding of rank 3", '"tp"=2', '[{}, {}, {"tp"}]', "3", "2"),
        typed("unknown axis", '"tp"=2', '[{"pp"}, {}]', '"pp"'),
        typed("axis twice in a sharding", '"tp"=2', '[{"tp"}, {"tp"}]', "twice"),
        typed("axis split and unreduced", '"tp"=2',
              '[{"tp"}, {}], unreduced = {"tp"}', "twice"),
        typed("average over the ranks", '"tp"=2',
              '[{}, {}], unreduced = avg{"tp"}', "avg"),
        typed("maximum over no axes", '"tp"=2', '[{}, {}], unreduced = max{}'),
        typed("split dynamic dimension", '"tp"=2', '[{"tp"}, {}]', "dynamic",
              tensor="?x6"),
    ]
    for pre, size in ((0, 2), (-1, 2), (1, 0), (1, -1), (1, 5), (5, 1), (3, 4),
                      (4611686018427387904, 4), (1, 2**63), (2**63, 2)):
        rows.append(typed(f"sub-axis ({pre}){size}", '"tp"=6',
                          f'[{{"tp":({pre}){size}}}, {{}}]'))
    for unit in (0, -1, 3, BIG, 2**63):
        rows.append(typed(f"unit of {unit}", '"tp"=2',
                          f'[{{"tp", unit = {unit}}}, {{}}]'))
    rows.append(typed("two units", '"tp"=2', '[{"tp", unit = 2, unit = 2}, {}]'))
    return rows


def shapes():
    def argument(name, tensor, *expected):
        return program(name, f"func.func @main(%x: {tensor}) {{ return }}",
                       *expected)

    rows = [
        argument("negative size", "tensor<-1xf32>"),
        argument("size of 2^63", f"tensor<{2**63}xf32>"),
        argument("size of 2^64", f"tensor<{2**64}xf32>"),
        argument("2^64 elements", "tensor<4294967296x4294967296xf32>", r"2\^63"),
        argument("2^63 elements", f"tensor<{2**62}x2xf32>", r"2\^63"),
        argument("no element type", "tensor<4x>"),
        argument("unknown element type", "tensor<4xf31>"),
    ]
    for element in ("complex<f32>", "i8", "index", "tensor<2xf32>"):
        rows.append(program(
            f"tanh of {element}", f"func.func @main(%x: tensor<4x{element}>) "
            f"{{\n  %y = tp.tanh %x : (tensor<4x{element}>) -> tensor<4x{element}>"
            "\n  return\n}"))
    for tensor in ("tensor<*xf32>", "tensor<?xf32>"):
        rows.append(program(
            f"tanh of {tensor}", f"func.func @main(%x: {tensor}) {{\n"
            f"  %y = tp.tanh %x : ({tensor}) -> {tensor}\n  return\n}}"))
    return rows


def operation(name, text, *expected, arguments=f"%x: {TENSOR}"):
    return program(name, function("  %y = " + text, arguments), *expected)


def operations():
    rows = []
    for dim in (-1, 2, BIG, 2**63):
        rows.append(program(
            f"gather of dimension {dim}", MESH + function(
                f'  %y = tp.all_gather %x dim {dim} over {{"tp"}} : '
                f"(tensor<4xf32, {SPLIT}>) -> tensor<4xf32, {WHOLE}>",
                f"%x: tensor<4xf32, {SPLIT}>")))
        rows.append(operation(
            f"softmax over dimension {dim}", f"tp.softmax %x along {dim} : "
            f"({TENSOR}) -> {TENSOR}"))
        rows.append(operation(
            f"slice from {dim}", f"tp.slice %x at [{dim}, 0] : ({TENSOR}) -> "
            "tensor<3x6xf32>"))
        rows.append(operation(
            f"sum of dimension {dim}", f"tp.reduce sum %x over [{dim}] : "
            f"({TENSOR}) -> tensor<4xf32>"))
    for dims in ("-1", "3", "1, 1", f"{BIG}", f"{2**63}"):
        rows.append(operation(
            f"broadcast along [{dims}]", f"tp.broadcast %x along [{dims}] : "
            f"({TENSOR}) -> tensor<4x6x2xf32>"))
    for permutation in ("", "0", "0, 0", "-1, 0", "0, 2", "0, 1, 2",
                        f"0, {BIG}"):
        rows.append(operation(
            f"transpose by [{permutation}]",
            f"tp.transpose %x by [{permutation}] : ({TENSOR}) -> {TENSOR}"))
    for size in ("5x5", "4x5", "24x2", "0x6", "1x1x1", "4294967296x4294967296"):
        rows.append(operation(
            f"reshape to {size}",
            f"tp.reshape %x : ({TENSOR}) -> tensor<{size}xf32>"))
    for number in ("0.0", "-1.0", "0x7FF0000000000000", "0x7FF8000000000000"):
        rows.append(operation(
            f"rope with theta {number}",
            f"tp.rope %x {{theta = {number} : f64}} : (tensor<1x3x2x4xf32>) -> "
            "tensor<1x3x2x4xf32>", arguments="%x: tensor<1x3x2x4xf32>"))
    for number in ("-1.0", "0x7FF0000000000000", "0x7FF8000000000000"):
        rows.append(operation(
            f"norm with epsilon {number}",
            f"tp.rms_norm %x, %g {{epsilon = {number} : f64}} : ({TENSOR}, "
            f"tensor<6xf32>) -> {TENSOR}",
            arguments=f"%x: {TENSOR}, %g: tensor<6xf32>"))
    rows += [
        operation("product of other sizes",
                  f"tp.matmul %x, %x : ({TENSOR}, {TENSOR}) -> tensor<4x4xf32>",
                  "6", "4"),
        operation("result of another type",
                  f"tp.tanh %x : ({TENSOR}) -> tensor<4x6xf64>"),
        operation("one operand too few", f"tp.add %x : ({TENSOR}) -> {TENSOR}"),
        operation("operation that does not exist",
                  f"tp.frobnicate %x : ({TENSOR}) -> {TENSOR}"),
        operation("value that does not exist",
                  f"tp.tanh %z : ({TENSOR}) -> {TENSOR}", "z"),
        operation("generic form without attributes",
                  f'"tp.rope"(%x) : ({TENSOR}) -> {TENSOR}'),
        operation("constant of another size",
                  "tp.constant dense<[1.0, 2.0]> : tensor<3xf32>"),
        operation("constant without a value", "tp.constant : tensor<3xf32>"),
        operation("collective without a sharding",
                  f'tp.all_reduce %x over {{"tp"}} : ({TENSOR}) -> {TENSOR}'),
        operation("odd heads", "tp.attention %x, %k, %k {scale = 1.0 : f64} : "
                  "(tensor<1x3x7x2xf32>, tensor<1x3x2x2xf32>, "
                  "tensor<1x3x2x2xf32>) -> tensor<1x3x7x2xf32>", "7", "2",
                  arguments="%x: tensor<1x3x7x2xf32>, %k: tensor<1x3x2x2xf32>"),
    ]
    return rows


def locals_():
    """The program of one rank: groups and numbers of ranks."""
    rows = []
    for groups in ("[[0, 0]]", "[[0, 2]]", "[[-1, 0]]", "[[0], [0]]",
                   f"[[0, {BIG}]]", "[[0, 2147483648]]", "[[0, 1], [1, 2]]"):
        columns = groups.count("]") - 1
        flat = groups.strip("[]").split("], [")
        shape = f"{columns}x{len(flat[0].split(','))}"
        rows.append(program(
            f"groups {groups}", "func.func @main(%x: tensor<4xf32>) attributes "
            "{tp.local, tp.ranks = 2 : i64} {\n  %y = tp.local_all_reduce %x sum "
            f"groups dense<{groups}> : tensor<{shape}xi64> : (tensor<4xf32>) -> "
            "tensor<4xf32>\n  return\n}"))
    for ranks in (0, -1, -BIG, "2.0", '"two"'):
        suffix = "" if isinstance(ranks, str) else " : i64"
        rows.append(program(
            f"a program of {ranks} ranks", "func.func @main() attributes "
            f"{{tp.local, tp.ranks = {ranks}{suffix}}} {{ return }}", "ranks"))
    return rows


def structure():
    rows = [
        program("function twice", OPEN + OPEN, "main"),
        program("value twice", OPEN.replace("%0 =", "%x =", 1)),
        program("argument twice", OPEN.replace("%a:", "%x:", 1)),
        program("call of nobody", "func.func @main() {\n  call @no() : () -> ()\n"
                "  return\n}", "no"),
        program("no return", "func.func @main() {\n}"),
        program("returns too much", OPEN.replace("return %0 :",
                                                 "return %0, %0 : tensor<4x8xf32>,")),
        program("like an argument that is not there",
                OPEN.replace("-> tensor<4x8xf32> {",
                             "-> (tensor<4x8xf32> {tp.like = 7 : i64}) {", 1), "7"),
        program("like argument -1",
                OPEN.replace("-> tensor<4x8xf32> {",
                             "-> (tensor<4x8xf32> {tp.like = -1 : i64}) {", 1)),
        program("bound of 0", OPEN.replace("{tp.parameter}",
                                           "{tp.bound = 0 : i64}"), "bound"),
        program("name that is a number", OPEN.replace(
            "{tp.parameter}", "{tp.name = 5 : i64}"), "name"),
        program("alias that is not there", OPEN.replace("6x8xf32>",
                                                        "6x8xf32, #no>")),
        program("alias twice", "#a = 1 : i64\n#a = 2 : i64\n" + OPEN),
        program("text after the end", OPEN + "}"),
        program("not a program", "hello"),
        program("invalid UTF-8", b"\xff\xfe" + OPEN.encode()),
        program("bytecode of nothing", b"ML\xefR", ),
        program("a string that does not end", OPEN + '"'),
        program("recursion", "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> "
                "{\n  %y = call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
                "  return %y : tensor<4xf32>\n}", "recurs|calls itself",
                passes=["--tp-plan=mesh=tp=2"]),
    ]
    # Only the first row has anything to say of bytecode's places.
    rows[-3].expected = ["error"]
    for name, opening in (("round", "("), ("square", "["), ("curly", "{"),
                          ("angle", "tuple<"), ("location", "loc(callsite(")):
        rows.append(program(
            f"{name} brackets 100,000 deep",
            "func.func @main() attributes {a = " + opening * 100000, "256"))
    for depth in (257, 5000):
        rows.append(program(
            f"attributes {depth} deep", "func.func @main() attributes {a = "
            + "[" * depth + "]" * depth + "} { return }", "256"))
    for index, text in enumerate(prefixes(GOOD.encode(), 20)):
        rows.append(program(f"program cut at {index + 1} of 21", text))
    for index, text in enumerate(prefixes(GOOD.encode(), 6)):
        rows.append(program(f"NUL byte at {index + 1} of 7",
                            text + b"\0" + GOOD.encode()[len(text):]))
    return rows


def options():
    def plan(name, options, *expected, text=OPEN):
        return Row(name, "tp-opt", ["a.mlir", "-o", "/dev/null",
                                    f"--tp-plan={options}"],
                   ["error", *expected], {"a.mlir": text})

    rows = [plan(f"mesh=tp={size}", f"mesh=tp={size}", str(size))
            for size in (0, -1, 5, 2**31, 2**63 - 1, 2**63, "", "x", "2.0")]
    rows += [
        plan("mesh without axes", "mesh=,", "mesh"),
        plan("mesh without a name", "mesh==4", "mesh"),
        plan("mesh with an axis twice", "mesh=tp=2,tp=2", "tp"),
        plan("mesh that overflows", "mesh=a=4294967296,b=4294967296", r"2\^63"),
        plan("no mesh", "weights=free", "mesh"),
        plan("no such machine", "mesh=tp=2 machine=none", "none"),
        plan("no such setting", "mesh=tp=2 weights=heavy", "heavy"),
        plan("no such sequence", "mesh=tp=2 sequence-parallel=maybe", "maybe"),
        plan("no such model axis", "mesh=tp=2 model-axes=pp", "pp"),
        plan("no such option", "mush=tp=2", "mush"),
        plan("mesh against the module's", "mesh=tp=3", "3",
             text=MESH + OPEN),
        plan("plan of collectives", "mesh=dp=2,tp=2", text=GOOD),
        plan("plan without a function", "mesh=tp=2", "function", text=""),
    ]
    for size in (0, -1, 2**20 + 1, 2**63 - 1, 2**63, "many"):
        rows.append(Row(f"degrees up to {size}", "tp-opt",
                        ["a.mlir", f"--tp-legal-degrees=max={size}"],
                        ["error", str(size)], {"a.mlir": OPEN}))
    for name, passes in (("partition without a mesh", "--tp-partition"),
                         ("explain without a plan", "--tp-explain"),
                         ("report in pdf", "--tp-cost-report=format=pdf"),
                         ("pass that does not exist", "--tp-none")):
        rows.append(Row(name, "tp-opt", ["a.mlir", passes], ["(?i)error|unknown"],
                        {"a.mlir": OPEN}))
    rows.append(Row("no such file", "tp-opt", ["none.mlir"], [r"none\.mlir"]))
    rows.append(Row("a folder", "tp-opt", ["{dir}"], ["(?i)directory"]))
    return rows


def rows():
    return [*meshes(), *shardings(), *shapes(), *operations(), *locals_(),
            *structure(), *options()]
