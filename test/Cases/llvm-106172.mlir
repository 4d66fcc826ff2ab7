// llvm/llvm-project 106172: partitioning crashed on an argument without a layout
// that nobody uses. It is planned whole; partitioned without a plan it is an
// error.
// RUN: tp-opt %s --tp-plan="mesh=tp=2" --tp-partition | FileCheck %s
// RUN: not tp-opt %s --tp-partition 2>&1 | FileCheck %s --check-prefix=OPEN

// CHECK: func.func @main(%{{.*}}: tensor<4x4xf32> {tp.global
// OPEN: error: has no tp.mesh to be partitioned over
func.func @main(%unused: tensor<4x4xf32>, %x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %y = tp.relu %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
