// llvm/llvm-project 178870 and NVIDIA/TransformerEngine 530: a gather along the last
// dimension came out in the order of the ranks' buffers, [[0, 2], [1, 3]] for
// [[0, 1], [2, 3]]. Gathered, moved from one dimension to the other and scattered
// along the last one, every rank has the elements of the unsharded program.
// RUN: tp-run %s --check | FileCheck %s

// CHECK: exact: equal in the field of 2^61 - 1 elements on every rank
tp.mesh @mesh = <["tp"=2]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, [{}, {}]>
func.func @main(%x: tensor<2x6xf32, #col>, %w: tensor<6x4xf32, #row>) -> (tensor<2x6xf32, #rep>, tensor<2x4xf32, #col>) {
  %g = tp.reshard %x : (tensor<2x6xf32, #col>) -> tensor<2x6xf32, #rep>
  %p = tp.matmul %x, %w : (tensor<2x6xf32, #col>, tensor<6x4xf32, #row>) -> tensor<2x4xf32, #sum>
  %s = tp.reshard %p : (tensor<2x4xf32, #sum>) -> tensor<2x4xf32, #col>
  %r = tp.reshard %s : (tensor<2x4xf32, #col>) -> tensor<2x4xf32, #row>
  %a = tp.tanh %r : (tensor<2x4xf32, #row>) -> tensor<2x4xf32, #row>
  %c = tp.reshard %a : (tensor<2x4xf32, #row>) -> tensor<2x4xf32, #col>
  return %g, %c : tensor<2x6xf32, #rep>, tensor<2x4xf32, #col>
}
