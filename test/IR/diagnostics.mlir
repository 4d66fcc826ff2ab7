// A diagnostic quotes the line that it is about; a module, which may be large,
// is printed only if that is asked for.
// RUN: not tp-opt %s --tp-plan="mesh=tp" 2>&1 | FileCheck %s
// RUN: not tp-opt %s --tp-plan="mesh=dp=2 weights=none" 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// RUN: not tp-opt %s --tp-plan="mesh=dp=2 weights=none" --mlir-print-op-on-diagnostic=true 2>&1 | FileCheck %s --check-prefix=ASKED
// CHECK: error: mesh 'tp': an axis is written name=ranks
// CHECK-NOT: current operation
// WEIGHTS: error: weights='none' must be one of stationary, stored, free
// WEIGHTS-NOT: current operation
// ASKED: error: weights='none'
// ASKED: note: see current operation
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
