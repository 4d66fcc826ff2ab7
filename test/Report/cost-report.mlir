// RUN: split-file %s %t
// RUN: tp-opt %t/column.mlir --tp-cost-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=COLUMN
// RUN: tp-opt %t/row.mlir --tp-cost-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROW
// RUN: tp-opt %t/mlp.mlir --tp-cost-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=MLP
// RUN: tp-opt %t/layers.mlir --tp-cost-report=output=- -o /dev/null | FileCheck %s --check-prefix=LAYERS
// RUN: tp-opt %t/layers.mlir "--tp-cost-report=format=json output=%t.json" -o /dev/null
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: %python -m json.tool %t.json
// RUN: tp-opt %t/uneven.mlir --tp-cost-report=machine=%t/slow.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: tp-opt %t/subaxis.mlir --tp-cost-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=SUBAXIS
// RUN: tp-opt %t/empty.mlir --tp-cost-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: tp-opt %t/wide.mlir --tp-cost-report=output=%t.text -o /dev/null
// RUN: FileCheck %s --check-prefix=WIDE --input-file=%t.text
// RUN: not grep -E "^.{101}" %t.text

// A ring over n ranks sends (n-1)/n of S bytes for an all-gather, twice that
// for an all-reduce; S is the whole tensor.

//--- column.mlir
// S = 2*8*256*4 = 16384; three quarters of it.
// COLUMN: cost report, predicted
// COLUMN: machine h100, mesh tp=4, 4 ranks
// COLUMN: @main, 1 a step
// 2*2*8*64*(256/4) = 131072 FLOPs; 4096 + 16384 + 4096 bytes.
// COLUMN: matmul 1 1.3e-04 0.025
// COLUMN: all_gather tp 2x8x256xf32 2 4 1 12,288 {{.*}} nvlink
// COLUMN-NEXT: for return {{.*}}, in @main
// COLUMN: 12,288 bytes sent per rank, 1 all_gather{{$}}
// COLUMN: parameters: 16,384 in 1 tensors, 4,096 a rank
// COLUMN: memory of a rank, forward only
// COLUMN-NEXT: bytes GB GiB
// COLUMN-NEXT: parameters 16,384 1.6e-05 1.5e-05
// COLUMN: total {{.*}}
// COLUMN-NEXT: of the device's 80.000 GB: fits
#whole3 = #tp.sharding<@mesh, [{}, {}, {}]>
#column3 = #tp.sharding<@mesh, [{}, {}, {"tp"}]>
#column = #tp.sharding<@mesh, [{}, {"tp"}]>
tp.mesh @mesh = <["tp"=4]>
func.func @main(%x: tensor<2x8x64xf32, #whole3>,
                %w: tensor<64x256xf32, #column> {tp.parameter})
    -> tensor<2x8x256xf32, #whole3> {
  %0 = tp.matmul %x, %w : (tensor<2x8x64xf32, #whole3>,
      tensor<64x256xf32, #column>) -> tensor<2x8x256xf32, #column3>
  %1 = tp.all_gather %0 dim 2 over {"tp"} : (tensor<2x8x256xf32, #column3>)
      -> tensor<2x8x256xf32, #whole3>
  return %1 : tensor<2x8x256xf32, #whole3>
}

//--- row.mlir
// The second matrix, 256 -> 64: S = 2*8*64*4 = 4096, 2 * 3/4 of it.
// ROW: all_reduce tp 2x8x64xf32 4 1 6,144
// ROW: 6,144 bytes sent per rank, 1 all_reduce{{$}}
#whole3 = #tp.sharding<@mesh, [{}, {}, {}]>
#column3 = #tp.sharding<@mesh, [{}, {}, {"tp"}]>
#partial3 = #tp.sharding<@mesh, [{}, {}, {}], unreduced = {"tp"}>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
tp.mesh @mesh = <["tp"=4]>
func.func @main(%x: tensor<2x8x256xf32, #column3>,
                %w: tensor<256x64xf32, #row> {tp.parameter})
    -> tensor<2x8x64xf32, #whole3> {
  %0 = tp.matmul %x, %w : (tensor<2x8x256xf32, #column3>,
      tensor<256x64xf32, #row>) -> tensor<2x8x64xf32, #partial3>
  %1 = tp.all_reduce %0 over {"tp"} : (tensor<2x8x64xf32, #partial3>)
      -> tensor<2x8x64xf32, #whole3>
  return %1 : tensor<2x8x64xf32, #whole3>
}

//--- mlp.mlir
// Column then row, 8x64 with 256 between: S = 8*64*4 = 2048, 2 * 3/4 of it.
// MLP: matmul 2
// MLP: 3,072 bytes sent per rank, 1 all_reduce{{$}}
// MLP: parameters: 32,768 in 2 tensors, 8,192 a rank
#whole = #tp.sharding<@mesh, [{}, {}]>
#column = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#partial = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
tp.mesh @mesh = <["tp"=4]>
func.func @main(%x: tensor<8x64xf32, #whole>,
                %w1: tensor<64x256xf32, #column> {tp.parameter},
                %w2: tensor<256x64xf32, #row> {tp.parameter})
    -> tensor<8x64xf32, #whole> {
  %0 = tp.matmul %x, %w1 : (tensor<8x64xf32, #whole>,
      tensor<64x256xf32, #column>) -> tensor<8x256xf32, #column>
  %1 = tp.relu %0 : (tensor<8x256xf32, #column>) -> tensor<8x256xf32, #column>
  %2 = tp.matmul %1, %w2 : (tensor<8x256xf32, #column>,
      tensor<256x64xf32, #row>) -> tensor<8x64xf32, #partial>
  %3 = tp.all_reduce %2 over {"tp"} : (tensor<8x64xf32, #partial>)
      -> tensor<8x64xf32, #whole>
  return %3 : tensor<8x64xf32, #whole>
}

//--- layers.mlir
// The two all-reduces of a Llama-3-8B layer: [1, 2048, 4096] in bf16 over 8
// ranks, 2 * 7/8 * 16777216 = 29360128 bytes each, 58720256 a layer. @layer is
// called 2 times by each of 3 @pair: 6 times; 6 * 58720256 = 352321536.
// LAYERS: @layer, 6 a step
// LAYERS-NEXT: operation count
// LAYERS-NEXT: relu 6 0.050 201.327
// LAYERS: all_reduce tp 1x2048x4096xbf16 8 6 29,360,128 {{.*}} nvlink
// LAYERS-NEXT: for relu mlp.input, in @layer
// LAYERS-NEXT: to_unreduced tp 1x2048x4096xbf16 8 6 0 0.000 -
// LAYERS: all_reduce tp 1x2048x4096xbf16 8 6 29,360,128
// LAYERS: 352,321,536 bytes sent per rank, 12 all_reduce{{$}}

// JSON: "format": "tp-cost-report",
// JSON-NEXT: "version": 1,
// JSON-NEXT: "convention": {
// JSON-NEXT: "rank": "largest shards",
// JSON-NEXT: "bytes": "sent per rank",
// JSON: "machine": "h100",
// JSON: "ranks": 8,
// JSON: "totals": {
// JSON: "bytes_sent_per_rank": 352321536,
// JSON-NEXT: "collectives": {
// JSON-NEXT: "all_reduce": 12
// JSON: "parameters": {
// JSON: "collectives": [
// JSON: "function": "layer",
// JSON-NEXT: "kind": "all_reduce",
// JSON-NEXT: "name": "attention.sum",
// JSON-NEXT: "part": "layers",
// JSON-NEXT: "count": 6,
// JSON-NEXT: "axes": [
// JSON-NEXT: "tp"
// JSON-NEXT: ],
// JSON-NEXT: "group_ranks": 8,
// JSON: "element_type": "bf16"
// JSON: "sharded_dimension": null,
// JSON: "algorithm": "ring",
// JSON-NEXT: "link": "nvlink",
// JSON-NEXT: "bytes_convention": "sent",
// JSON-NEXT: "bytes_sent_per_rank": 29360128,
// JSON-NEXT: "bytes_received_per_rank": 29360128,
// JSON-NEXT: "time": {
// JSON-NEXT: "seconds": {{[0-9.e-]+}},
// JSON-NEXT: "kind": "predicted"
// JSON-NEXT: },
// JSON-NEXT: "total_bytes_sent_per_rank": 176160768,
// JSON: "blocking_count": 6,
// JSON: "first_user": {
// JSON-NEXT: "function": "layer",
// JSON-NEXT: "operation": "relu",
// JSON-NEXT: "name": "mlp.input"
// JSON: "operations": [
// JSON: "operation": "relu",
// JSON: "flops": 8388608,
// JSON-NEXT: "memory_bytes": 33554432,
!whole = tensor<1x2048x4096xbf16, #tp.sharding<@mesh, [{}, {}, {}]>>
!partial = tensor<1x2048x4096xbf16,
    #tp.sharding<@mesh, [{}, {}, {}], unreduced = {"tp"}>>
tp.mesh @mesh = <["tp"=8]>
func.func private @layer(%0: !partial) -> !partial {
  %1 = tp.all_reduce %0 over {"tp"} : (!partial) -> !whole loc("attention.sum")
  %2 = tp.relu %1 : (!whole) -> !whole loc("mlp.input")
  %3 = tp.to_unreduced %2 over {"tp"} : (!whole) -> !partial
  %4 = tp.all_reduce %3 over {"tp"} : (!partial) -> !whole loc("mlp.sum")
  %5 = tp.to_unreduced %4 over {"tp"} : (!whole) -> !partial
  return %5 : !partial
}
func.func private @pair(%0: !partial) -> !partial {
  %1 = call @layer(%0) : (!partial) -> !partial
  %2 = call @layer(%1) : (!partial) -> !partial
  return %2 : !partial
}
// Not reached, so not counted.
func.func private @unused(%0: !partial) -> !partial {
  %1 = call @pair(%0) : (!partial) -> !partial
  return %1 : !partial
}
func.func @main(%0: !partial) -> !partial {
  %1 = call @pair(%0) : (!partial) -> !partial
  %2 = call @pair(%1) : (!partial) -> !partial
  %3 = call @pair(%2) : (!partial) -> !partial
  return %3 : !partial
}

//--- slow.yaml
name: slow
peaks: [{type: f32, flops: 1000}]
memory_bandwidth: 1e9
memory_bytes: 1000
links: [{name: wire, ranks: 0, bandwidth: 1000, latency: 0.5}]

//--- uneven.mlir
// 10 rows over 4 ranks: the largest shard has 3. 3*5 FLOPs at 1000 a second;
// the gather sends 3 shards of 3*5*4 bytes in 3 steps: 1.5 s + 180 B / 1000 B/s.
// UNEVEN: machine slow, mesh tp=4
// UNEVEN: relu 1 1.5e-08 1.2e-04 15000.000
// UNEVEN: all_gather tp 10x5xf32 0 4 1 180 1680000.000 wire
// UNEVEN: compute 15000.000
// UNEVEN: communication 1680000.000
// UNEVEN: total 1695000.000
// UNEVEN: parameters: 50 in 1 tensors, 15 a rank
// UNEVEN-NEXT: uneven: 10 on the rank with the smallest shards
// UNEVEN: parameters 60 6.0e-08 5.6e-08
!split = tensor<10x5xf32, #tp.sharding<@mesh, [{"tp"}, {}]>>
!whole = tensor<10x5xf32, #tp.sharding<@mesh, [{}, {}]>>
tp.mesh @mesh = <["tp"=4]>
func.func @main(%0: !split {tp.parameter}) -> !whole {
  %1 = tp.relu %0 : (!split) -> !split
  %2 = tp.all_gather %1 dim 0 over {"tp"} : (!split) -> !whole
  return %2 : !whole
}

//--- subaxis.mlir
// Groups of 16 ranks in nodes of 8 need the slower link, a minor part of the
// axis does not. An all-to-all of 16384 held bytes sends 3/4, a slice nothing.
// SUBAXIS: machine h100, mesh tp=16, 16 ranks
// SUBAXIS: all_slice tp 64x256xf32 0 16 1 0 0.000 -
// SUBAXIS: all_gather tp:(4)4 64x256xf32 0 4 1 12,288 {{.*}} nvlink
// SUBAXIS: all_to_all tp:(1)4 64x256xf32 0 to 1 4 1 12,288 {{.*}} infiniband
// SUBAXIS: all_gather tp:(1)4 64x256xf32 1 4 1 49,152 {{.*}} infiniband
// SUBAXIS: 73,728 bytes sent per rank, 2 all_gather, 1 all_to_all{{$}}
!whole = tensor<64x256xf32, #tp.sharding<@mesh, [{}, {}]>>
!sixteen = tensor<64x256xf32, #tp.sharding<@mesh, [{"tp"}, {}]>>
!four = tensor<64x256xf32, #tp.sharding<@mesh, [{"tp":(1)4}, {}]>>
!columns = tensor<64x256xf32, #tp.sharding<@mesh, [{}, {"tp":(1)4}]>>
tp.mesh @mesh = <["tp"=16]>
func.func @main(%0: !whole) -> !whole {
  %1 = tp.all_slice %0 dim 0 over {"tp"} : (!whole) -> !sixteen
  %2 = tp.all_gather %1 dim 0 over {"tp":(4)4} : (!sixteen) -> !four
  %3 = tp.all_to_all %2 from 0 to 1 over {"tp":(1)4} : (!four) -> !columns
  %4 = tp.all_gather %3 dim 1 over {"tp":(1)4} : (!columns) -> !whole
  return %4 : !whole
}

//--- empty.mlir
// EMPTY: machine h100, mesh none
// EMPTY: total 0.000
// EMPTY: parameters: 0 in 0 tensors, 0 a rank
func.func @main() {
  return
}

//--- wide.mlir
// A name of any length and content stays on its line.
// WIDE: for relu line\0Abreak.{{x+}}...
!whole = tensor<8xf32, #tp.sharding<@mesh, [{}]>>
!partial = tensor<8xf32, #tp.sharding<@mesh, [{}], unreduced = {"tp"}>>
tp.mesh @mesh = <["tp"=8]>
func.func @main(%0: !partial) -> !whole {
  %1 = tp.all_reduce %0 over {"tp"} : (!partial) -> !whole
  %2 = tp.relu %1 : (!whole) -> !whole loc("line\0Abreak.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
  return %2 : !whole
}
