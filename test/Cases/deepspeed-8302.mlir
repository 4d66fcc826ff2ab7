// deepspeedai/DeepSpeed 8302: logits split along the vocabulary were fed to the
// ordinary loss: a label outside the shard was rejected, or the denominator ran over
// a part. The loss needs the classes whole and says so; gathered first it is right.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#split = #tp.sharding<@mesh, [{}, {"tp"}]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#ids = #tp.sharding<@mesh, [{}]>
#loss = #tp.sharding<@mesh, []>
// expected-note @below {{this value is split so}}
func.func @split_logits_r5(%x: tensor<3x4xf32, #split>, %t: tensor<3xi64, #ids>) -> tensor<f32, #loss> {
  // expected-error @below {{'tp.cross_entropy': 'classes' of 4 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0)}}
  %l = tp.cross_entropy %x, %t : (tensor<3x4xf32, #split>, tensor<3xi64, #ids>) -> tensor<f32, #loss>
  return %l : tensor<f32, #loss>
}
func.func @gathered(%x: tensor<3x4xf32, #split>, %t: tensor<3xi64, #ids>) -> tensor<f32, #loss> {
  %g = tp.all_gather %x dim 1 over {"tp"} : (tensor<3x4xf32, #split>) -> tensor<3x4xf32, #rep>
  %l = tp.cross_entropy %g, %t : (tensor<3x4xf32, #rep>, tensor<3xi64, #ids>) -> tensor<f32, #loss>
  return %l : tensor<f32, #loss>
}
