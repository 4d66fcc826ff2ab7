// A weight that two calls use is held once, and takes no working memory where
// it is used as it lies. In bytes: half of the weight, 6 * 3 * 4 = 72, half of
// x, 64 * 3 * 4 = 768. The second product takes half of the first one's result,
// 768, and makes a partial sum, 64 * 6 * 4 = 1536; or all of it and half of the
// sum. That is 2304.
// RUN: not tp-opt %s --tp-plan="memory-limit=3143" 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: tp-opt %s --tp-plan="memory-limit=3144" | FileCheck %s
// LEAST: every plan takes at least 3144 bytes a rank, 72 bytes for parameters, 768 bytes for other inputs and 2304 bytes of working memory
// CHECK: memory_bytes = 3144 : i64
tp.mesh @mesh = <["tp"=2]>
func.func private @layer(%x: tensor<64x6xf32>, %w: tensor<6x6xf32> {tp.parameter}) -> tensor<64x6xf32> {
  %y = tp.matmul %x, %w : (tensor<64x6xf32>, tensor<6x6xf32>) -> tensor<64x6xf32>
  return %y : tensor<64x6xf32>
}
func.func @main(%x: tensor<64x6xf32>, %w: tensor<6x6xf32> {tp.parameter}) -> tensor<64x6xf32> {
  %0 = call @layer(%x, %w) : (tensor<64x6xf32>, tensor<6x6xf32>) -> tensor<64x6xf32>
  %1 = call @layer(%0, %w) : (tensor<64x6xf32>, tensor<6x6xf32>) -> tensor<64x6xf32>
  return %1 : tensor<64x6xf32>
}
