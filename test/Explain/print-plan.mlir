// A plan as a table: weights that are parts of a tensor of the checkpoint, on a
// mesh of two axes; the collectives that each leads to. And as JSON.
// UNSUPPORTED: roundtrip
// RUN: tp-opt %s --tp-plan="mesh=dp=2,tp=3" --tp-print-plan="output=-" -o /dev/null | FileCheck %s
// RUN: tp-opt %s --tp-plan="mesh=dp=2,tp=3" --tp-insert-collectives --tp-print-plan="output=-" -o /dev/null | FileCheck %s
// RUN: tp-opt %s --tp-plan="mesh=dp=2,tp=3" --tp-print-plan="output=- format=json" -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: tp-opt %s --tp-plan="mesh=tp=1" --tp-print-plan="output=-" -o /dev/null | FileCheck %s --check-prefix=ONE
// RUN: tp-opt %s --tp-plan="mesh=tp=4 uneven=allow" --tp-print-plan="output=-" -o /dev/null | FileCheck %s --check-prefix=UNEVEN

// A sum of [4, 12] f32 of which a data rank has the half: 2 * 2/3 * 2 * 12 * 4 =
// 128 bytes; the result is whole, so that it is gathered: 2 * 12 * 4 = 96.
// CHECK: {{^}}plan for #tp.mesh<["dp"=2, "tp"=3]>, machine h100: {{.*}} us a step, {{.*}} bytes sent and {{.*}} bytes of parameters a rank
// CHECK: {{^}}weight shape split first rank last rank then{{$}}
// CHECK-NEXT: {{^}}gain [12] whole [:] [:] -{{$}}
// CHECK-NEXT: {{^}}gate_up[0:6] [6, 12] column "tp" [0:2, :] of gate_up [4:6, :] of gate_up -{{$}}
// CHECK-NEXT: {{^}}gate_up[6:12] [6, 12] column "tp" [6:8, :] of gate_up [10:12, :] of gate_up -{{$}}
// CHECK-NEXT: {{^}}layers.*.down x 2 [6, 12] row "tp" [0:2, :] [4:6, :] 1, 2{{$}}
// CHECK: {{^}}1 all_reduce of [4, 12] f32 after tp.{{.*}}, before {{.*}} "tp", 128 bytes sent a rank
// CHECK: {{^}}2 all_gather of [4, 12] f32 {{.*}}, before result 0: "dp", 96 bytes sent a rank

// ONE: {{^}}gate_up[0:6] [6, 12] whole [0:6, :] of gate_up [0:6, :] of gate_up -{{$}}
// ONE-NEXT: {{^}}gate_up[6:12] [6, 12] whole [6:12, :] of gate_up
// ONE-NOT: {{^1 }}

// 6 rows on 4 ranks: 2, 2, 1, 1.
// UNEVEN: gate_up[6:12] [6, 12] column "tp" [6:8, :] of gate_up [11:12, :] of gate_up

// JSON: "axes": [
// JSON: "name": "dp",
// JSON-NEXT: "ranks": 2
// JSON: "name": "tp",
// JSON-NEXT: "ranks": 3
// JSON: "ranks": 6,
// JSON-NEXT: "machine": "h100",
// JSON-NEXT: "settings": {
// JSON-NEXT: "weights": "stationary",
// JSON-NEXT: "sequence_parallel": "auto",
// JSON-NEXT: "model_axes": "tp",
// JSON-NEXT: "uneven": "refuse",
// JSON-NEXT: "memory_limit": ""
// JSON: "seconds":
// JSON-NEXT: "lower_bound_seconds":
// JSON-NEXT: "sent_bytes":
// JSON-NEXT: "parameter_bytes":
// JSON: "weights": [
// JSON: "name": "gate_up[6:12]",
// JSON: "type": "f32",
// JSON-NEXT: "split": "column",
// JSON-NEXT: "layout": "#tp.sharding<@mesh, [{\"tp\"}, {}]>",
// JSON-NEXT: "tensor": "gate_up",
// JSON: "held": [
// JSON: "name": "layers.1.down",
// JSON: "collectives": [
// JSON-NEXT: 0,
// JSON-NEXT: 1
// JSON: "collectives": [
// JSON: "kind": "all_reduce",
// JSON-NEXT: "count": 1,
// JSON: "axes": "\"tp\"",
// JSON: "groups": [
// JSON: "before": [
// JSON: "sent_bytes": 128,
// JSON: "kind": "all_gather",
func.func @main(%x: tensor<4x12xf32>,
    %n: tensor<12xf32> {tp.parameter, tp.name = "gain"},
    %g: tensor<6x12xf32> {tp.parameter, tp.name = "gate_up[0:6]", tp.stored = #tp.stored<"gate_up" [12, 12], dim 0 from 0 size 6>},
    %u: tensor<6x12xf32> {tp.parameter, tp.name = "gate_up[6:12]", tp.stored = #tp.stored<"gate_up" [12, 12], dim 0 from 6 size 6>},
    %d: tensor<6x12xf32> {tp.parameter, tp.name = "layers.0.down"},
    %e: tensor<6x12xf32> {tp.parameter, tp.name = "layers.1.down"}) -> tensor<4x12xf32> {
  %0 = tp.rms_norm %x, %n {epsilon = 1.0e-5 : f64} : (tensor<4x12xf32>, tensor<12xf32>) -> tensor<4x12xf32>
  %1 = tp.matmul %0, %g {transpose_b} : (tensor<4x12xf32>, tensor<6x12xf32>) -> tensor<4x6xf32>
  %2 = tp.matmul %0, %u {transpose_b} : (tensor<4x12xf32>, tensor<6x12xf32>) -> tensor<4x6xf32>
  %3 = tp.matmul %1, %d : (tensor<4x6xf32>, tensor<6x12xf32>) -> tensor<4x12xf32>
  %4 = tp.matmul %2, %e : (tensor<4x6xf32>, tensor<6x12xf32>) -> tensor<4x12xf32>
  %5 = tp.add %3, %4 : (tensor<4x12xf32>, tensor<4x12xf32>) -> tensor<4x12xf32>
  return %5 : tensor<4x12xf32>
}
