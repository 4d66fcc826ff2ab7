// A loss that is laid out: it would get parts that are not.
// RUN: tp-opt %s --split-input-file --verify-diagnostics --tp-decompose-cross-entropy

tp.mesh @mesh = <["tp"=3]>
#whole2 = #tp.sharding<@mesh, [{}, {}]>
#whole1 = #tp.sharding<@mesh, [{}]>
#whole0 = #tp.sharding<@mesh, []>
func.func @typed(%x: tensor<5x12xf32, #whole2>, %t: tensor<5xi64, #whole1>) -> tensor<f32, #whole0> {
  // expected-error @below {{'tp.cross_entropy' op is laid out already; decompose it before planning}}
  %l = tp.cross_entropy %x, %t : (tensor<5x12xf32, #whole2>, tensor<5xi64, #whole1>) -> tensor<f32, #whole0>
  return %l : tensor<f32, #whole0>
}
