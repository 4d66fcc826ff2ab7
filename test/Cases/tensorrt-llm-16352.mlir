// NVIDIA/TensorRT-LLM 16352: the global shape of a packed weight was rebuilt as
// local times ranks on both dimensions, the unsplit one too. Here shapes are global
// and the local one follows: 8 by 8 of 8 by 16 columns over two ranks.
// RUN: tp-opt %s --tp-partition | FileCheck %s

// CHECK: func.func @main(%{{.*}}: tensor<8x8xf32> {tp.global = tensor<8x16xf32
tp.mesh @mesh = <["tp"=2]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @main(%w: tensor<8x16xf32, #col>) -> tensor<8x16xf32, #col> {
  return %w : tensor<8x16xf32, #col>
}
