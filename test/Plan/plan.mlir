// Layouts of a linear layer and of an MLP; pins; one copy of a function for each
// distinct plan.
// RUN: split-file %s %t
// RUN: tp-opt %t/linear.mlir --tp-plan="mesh=tp=4" --tp-insert-collectives | FileCheck %s --check-prefix=COLUMN
// RUN: tp-opt %t/row.mlir --tp-plan="mesh=tp=4" --tp-insert-collectives | FileCheck %s --check-prefix=SUMMED
// RUN: tp-opt %t/mlp.mlir --tp-plan="mesh=tp=4" --tp-insert-collectives | FileCheck %s --check-prefix=MLP
// RUN: tp-opt %t/mlp.mlir --tp-plan="mesh=dp=2,tp=4" --tp-insert-collectives | FileCheck %s --check-prefix=DATA
// RUN: tp-opt %t/mlp.mlir --tp-plan="mesh=tp=1" | FileCheck %s --check-prefix=ONE
// RUN: tp-opt %t/calls.mlir --tp-plan="mesh=tp=3" | FileCheck %s --check-prefix=CALLS
// RUN: tp-opt %t/calls.mlir --inline --tp-plan="mesh=tp=3" | FileCheck %s --check-prefix=INLINED

//--- linear.mlir
// Column: the result is gathered once and nothing is summed.
// COLUMN-LABEL: func.func @main
// COLUMN-NOT: all_reduce
// COLUMN: tp.all_gather %{{.*}} dim 2 over {"tp"}
// COLUMN-NOT: tp.all_
// COLUMN: return
func.func @main(%x: tensor<2x8x64xf32>, %w: tensor<64x256xf32> {tp.parameter}) -> tensor<2x8x256xf32> {
  %y = tp.matmul %x, %w : (tensor<2x8x64xf32>, tensor<64x256xf32>) -> tensor<2x8x256xf32>
  return %y : tensor<2x8x256xf32>
}

//--- row.mlir
// Row, pinned: one sum and no gather.
// SUMMED-LABEL: func.func @main
// SUMMED-NOT: all_gather
// SUMMED: tp.all_reduce %{{.*}} over {"tp"}
// SUMMED-NOT: tp.all_
// SUMMED: return
tp.mesh @mesh = <["tp"=4]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
func.func @main(%x: tensor<2x8x256xf32>, %w: tensor<256x64xf32, #row> {tp.parameter}) -> tensor<2x8x64xf32> {
  %y = tp.matmul %x, %w : (tensor<2x8x256xf32>, tensor<256x64xf32, #row>) -> tensor<2x8x64xf32>
  return %y : tensor<2x8x64xf32>
}

//--- mlp.mlir
// MLP-DAG: #[[$COL:.*]] = #tp.sharding<@mesh, [{}, {"tp"}]>
// MLP-DAG: #[[$ROW:.*]] = #tp.sharding<@mesh, [{"tp"}, {}]>
// MLP-LABEL: func.func @main
// MLP-SAME: tensor<64x256xf32, #[[$COL]]>
// MLP-SAME: tensor<256x64xf32, #[[$ROW]]>
// MLP-COUNT-1: tp.all_reduce
// MLP-NOT: tp.all_
// The batch lies over dp; the result, being whole, is gathered over it.
// DATA-LABEL: func.func @main
// DATA-SAME: %[[X:.*]]: tensor<8x64xf32, #{{[a-z0-9_]*}}>
// DATA: tp.all_reduce %{{.*}} over {"tp"}
// DATA: tp.all_gather %{{.*}} dim 0 over {"dp"}
// ONE-NOT: tp.all_
func.func @main(%x: tensor<8x64xf32>, %a: tensor<64x256xf32> {tp.parameter}, %b: tensor<256x64xf32> {tp.parameter}) -> tensor<8x64xf32> {
  %h = tp.matmul %x, %a : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
  %r = tp.relu %h : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %y = tp.matmul %r, %b : (tensor<8x256xf32>, tensor<256x64xf32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

//--- calls.mlir
// Equal plans share a function, a pinned one gets its own.
// CALLS: func.func private @twice{{.*}}(
// CALLS: func.func private @twice{{.*}}(
// CALLS: func.func @main
// CALLS: call @twice[[A:[_0-9]*]](
// CALLS: call @twice[[A]](
// CALLS-NOT: call @twice[[A]](
// CALLS: call @twice{{[_0-9]*}}(
// INLINED-NOT: call
tp.mesh @mesh = <["tp"=3]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func private @twice(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %y = tp.add %x, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}
func.func @main(%x: tensor<3x3xf32, #row>) -> (tensor<3x3xf32, #row>, tensor<3x3xf32, #col>) {
  %i = tp.reshard %x : (tensor<3x3xf32, #row>) -> tensor<3x3xf32>
  %a = call @twice(%i) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %b = call @twice(%a) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %o = tp.reshard %b : (tensor<3x3xf32>) -> tensor<3x3xf32, #row>
  %j = tp.relu %b : (tensor<3x3xf32>) -> tensor<3x3xf32, #col>
  %p = tp.reshard %j : (tensor<3x3xf32, #col>) -> tensor<3x3xf32>
  %c = call @twice(%p) : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %u = tp.reshard %c : (tensor<3x3xf32>) -> tensor<3x3xf32, #col>
  return %o, %u : tensor<3x3xf32, #row>, tensor<3x3xf32, #col>
}
