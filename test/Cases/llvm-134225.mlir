// llvm/llvm-project 134225: an all-reduce in place needed another call, and one of a
// scalar crashed. Both are run here, on four numbers and on one without a dimension,
// and NovaSky-AI/SkyRL 1886: the reduction of a transposed value must reach its use.
// RUN: tp-run %s --check | FileCheck %s

// CHECK: exact: equal in the field of 2^61 - 1 elements on every rank
tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum0 = #tp.sharding<@mesh, [], unreduced = {"tp"}>
#sum1 = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#sum2 = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#rep0 = #tp.sharding<@mesh, []>
#rep1 = #tp.sharding<@mesh, [{}]>
#rep2 = #tp.sharding<@mesh, [{}, {}]>
func.func @main(%x: tensor<4x6xf32, #split>, %w: tensor<6x3xf32, #row>) -> (tensor<4xf32, #rep1>, tensor<f32, #rep0>, tensor<3x4xf32, #rep2>) {
  %a = tp.reduce sum %x over [1] : (tensor<4x6xf32, #split>) -> tensor<4xf32, #sum1>
  %ar = tp.reshard %a : (tensor<4xf32, #sum1>) -> tensor<4xf32, #rep1>
  %b = tp.reduce sum %x over [0, 1] : (tensor<4x6xf32, #split>) -> tensor<f32, #sum0>
  %br = tp.reshard %b : (tensor<f32, #sum0>) -> tensor<f32, #rep0>
  %p = tp.matmul %x, %w : (tensor<4x6xf32, #split>, tensor<6x3xf32, #row>) -> tensor<4x3xf32, #sum2>
  %t = tp.transpose %p by [1, 0] : (tensor<4x3xf32, #sum2>) -> tensor<3x4xf32, #sum2>
  %tr = tp.reshard %t : (tensor<3x4xf32, #sum2>) -> tensor<3x4xf32, #rep2>
  %u = tp.relu %tr : (tensor<3x4xf32, #rep2>) -> tensor<3x4xf32, #rep2>
  return %ar, %br, %u : tensor<4xf32, #rep1>, tensor<f32, #rep0>, tensor<3x4xf32, #rep2>
}
