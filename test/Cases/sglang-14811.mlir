// sgl-project/sglang 14811: a block was told not to reduce its output and nobody
// did it later; a partial sum ran into the residual stream. The addition says so.
// Open, the same program is planned with one all-reduce there.
// RUN: split-file %s %t
// RUN: tp-opt %t/typed.mlir --split-input-file --verify-diagnostics
// RUN: tp-opt %t/open.mlir --tp-plan="mesh=tp=2 sequence-parallel=off" --tp-insert-collectives | FileCheck %t/open.mlir

//--- typed.mlir
tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#gain = #tp.sharding<@mesh, [{}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
func.func @nobody_reduces_r2(%x: tensor<3x4xf32, #rep>, %a: tensor<4x8xf32, #col>, %b: tensor<8x4xf32, #row>, %g: tensor<4xf32, #gain>) -> tensor<3x4xf32, #sum> {
  %h = tp.matmul %x, %a : (tensor<3x4xf32, #rep>, tensor<4x8xf32, #col>) -> tensor<3x8xf32, #col>
  %r = tp.gelu %h : (tensor<3x8xf32, #col>) -> tensor<3x8xf32, #col>
  // expected-note @below {{'tp.matmul' left it unreduced}}
  %y = tp.matmul %r, %b : (tensor<3x8xf32, #col>, tensor<8x4xf32, #row>) -> tensor<3x4xf32, #sum>
  // expected-error @below {{'tp.add': operand 0 is unreduced over "tp" but operand 1 is finished; every rank would add the finished value, 2 times in all [R2]}}
  // expected-note @below {{fix: all-reduce operand 0 over "tp" first}}
  // expected-note @below {{fix: make operand 1 unreduced with tp.to_unreduced over "tp"}}
  %z = tp.add %y, %x : (tensor<3x4xf32, #sum>, tensor<3x4xf32, #rep>) -> tensor<3x4xf32, #sum>
  return %z : tensor<3x4xf32, #sum>
}

//--- open.mlir
// CHECK: %[[PARTIAL:.*]] = tp.matmul %{{.*}} -> tensor<3x4xf32, #rank2_sum_tp>
// CHECK-NEXT: %[[SUM:.*]] = tp.all_reduce %[[PARTIAL]]
// CHECK-NEXT: tp.add %[[SUM]]
// CHECK-NOT: tp.all_reduce
func.func @main(%x: tensor<3x4xf32> {tp.stream}, %a: tensor<4x8xf32> {tp.parameter}, %b: tensor<8x4xf32> {tp.parameter}, %g: tensor<4xf32> {tp.parameter}) -> tensor<3x4xf32> {
  %h = tp.matmul %x, %a : (tensor<3x4xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
  %r = tp.gelu %h : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %y = tp.matmul %r, %b : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  %z = tp.add %y, %x {tp.stream} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %n = tp.rms_norm %z, %g {epsilon = 0.0 : f64} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %n : tensor<3x4xf32>
}
