// vllm-project/vllm 54178 (also sgl-project/sglang 26107, ROCm/ATOM 1488): gate and
// up of 320 rows each are 640 together, five blocks of 128, but a rank's half of
// one is 1.25 blocks. A unit must divide what it is a unit of, each half by itself.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#blocks = #tp.sharding<@mesh, [{"tp", unit = 128}, {}]>
// expected-error @below {{unit = 128 does not divide dimension 0 of 320 elements}}
func.func @gate(%w: tensor<320x4xf32, #blocks>) {
  return
}

// -----

// 384 rows are three blocks: two on one rank, one on the other.
tp.mesh @mesh = <["tp"=2]>
#blocks = #tp.sharding<@mesh, [{"tp", unit = 128}, {}]>
func.func @padded_gate(%w: tensor<384x4xf32, #blocks>) -> tensor<384x4xf32, #blocks> {
  %y = tp.silu %w : (tensor<384x4xf32, #blocks>) -> tensor<384x4xf32, #blocks>
  return %y : tensor<384x4xf32, #blocks>
}
