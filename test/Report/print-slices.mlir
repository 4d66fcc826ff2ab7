// Which part of which tensor of a checkpoint each rank holds.
// RUN: tp-opt %s --tp-print-slices="output=-" -o /dev/null | FileCheck %s --check-prefix=TEXT
// RUN: tp-opt %s --tp-print-slices="format=json output=-" -o /dev/null | tr -s ' \n' ' ' | FileCheck %s --check-prefix=JSON
// RUN: tp-translate --import-hf-config %models/phi-3-mini-4k.json --layers=1 --sequence=8 \
// RUN:   | tp-opt - --tp-split-fused-weights --tp-plan="mesh=tp=4" --tp-print-slices -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PHI3

tp.mesh @mesh = <["dp"=2, "tp"=2]>
#rows = #tp.sharding<@mesh, [ {"tp"}, {} ]>
#columns = #tp.sharding<@mesh, [ {}, {"tp"} ]>
#whole = #tp.sharding<@mesh, [ {} ]>

// Queries and keys of one tensor, group by group: 4 groups of 2 queries of 3
// rows and a key of 3 rows. A tensor of 11 rows is padded to 12.

// TEXT: qkv [36, 5]
// TEXT-NEXT: ranks 0, 2: [0:6, 0:5] [9:15, 0:5] [6:9, 0:5] [15:18, 0:5]
// TEXT-NEXT: ranks 1, 3: [18:24, 0:5] [27:33, 0:5] [24:27, 0:5] [33:36, 0:5]
// TEXT-NEXT: norm [5]
// TEXT-NEXT: ranks 0, 1, 2, 3: [0:5]
// TEXT-NEXT: out [5, 24]
// TEXT-NEXT: ranks 0, 2: [0:5, 0:12]
// TEXT-NEXT: ranks 1, 3: [0:5, 12:24]
// TEXT-NEXT: table [11, 5]
// TEXT-NEXT: ranks 0, 2: [0:6, 0:5]
// TEXT-NEXT: ranks 1, 3: [6:11, 0:5]
// TEXT-NEXT: tail [7, 5]
// TEXT-NEXT: ranks 0, 2: [0:7, 0:5]
// TEXT-NEXT: ranks 1, 3: nothing
// TEXT-NOT: {{.}}

// JSON: "ranks": 4,
// JSON-SAME: "name": "qkv[6:9 of every 9]",
// JSON-SAME: "tensor": "qkv",
// JSON-SAME: "tensor_shape": [ 36, 5 ],
// JSON-SAME: "ranks": [ 1, 3 ], "local_shape": [ 6, 5 ],
// JSON-SAME: "slices": [ { "from": [ 24, 0 ], "sizes": [ 3, 5 ], "to": [ 0, 0 ] },
// JSON-SAME: { "from": [ 33, 0 ], "sizes": [ 3, 5 ], "to": [ 3, 0 ] } ]

// 32 heads of 96 rows for each of q, k and v; 8192 rows for each of gate and up.

// PHI3: model.layers.0.self_attn.qkv_proj.weight [9216, 3072]
// PHI3-NEXT: rank 0: [0:768, 0:3072] [3072:3840, 0:3072] [6144:6912, 0:3072]
// PHI3-NEXT: rank 1: [768:1536, 0:3072] [3840:4608, 0:3072] [6912:7680, 0:3072]
// PHI3-NEXT: rank 2: [1536:2304, 0:3072] [4608:5376, 0:3072] [7680:8448, 0:3072]
// PHI3-NEXT: rank 3: [2304:3072, 0:3072] [5376:6144, 0:3072] [8448:9216, 0:3072]
// PHI3: model.layers.0.mlp.gate_up_proj.weight [16384, 3072]
// PHI3-NEXT: rank 0: [0:2048, 0:3072] [8192:10240, 0:3072]
// PHI3-NEXT: rank 1: [2048:4096, 0:3072] [10240:12288, 0:3072]

func.func @main(
    %x: tensor<5xf32, #whole>,
    %q: tensor<24x5xf32, #rows> {tp.name = "qkv[0:6 of every 9]", tp.parameter, tp.stored = #tp.stored<"qkv" [36, 5], dim 0 from 0 size 6 stride 9 count 4>},
    %k: tensor<12x5xf32, #rows> {tp.name = "qkv[6:9 of every 9]", tp.parameter, tp.stored = #tp.stored<"qkv" [36, 5], dim 0 from 6 size 3 stride 9 count 4>},
    %n: tensor<5xf32, #whole> {tp.name = "norm", tp.parameter},
    %o: tensor<5x24xf32, #columns> {tp.name = "out", tp.parameter},
    %t: tensor<12x5xf32, #rows> {tp.name = "table", tp.parameter, tp.stored = #tp.stored<"table" [11, 5], dim 0 from 0 size 11>},
    %u: tensor<14x5xf32, #rows> {tp.name = "tail", tp.parameter, tp.stored = #tp.stored<"tail" [7, 5], dim 0 from 0 size 7>}) {
  return
}
