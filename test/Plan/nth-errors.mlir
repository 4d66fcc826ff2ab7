// RUN: not tp-opt %s --tp-plan="mesh=tp=2 nth=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: nth=0 must be from 1 to 1000
// RUN: not tp-opt %s --tp-plan="mesh=tp=2 nth=1001" 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: nth=1001 must be from 1 to 1000
// RUN: not tp-opt %s --tp-plan="mesh=tp=2 nth=50 memory-limit=1000" 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: error: only the cheapest plan is found within a memory limit; fix: leave out memory-limit= or nth=

// Three values of two layouts each: the argument, the relu and the returned
// value, of which the last one must be whole. The relu may be split, too.
// RUN: tp-opt %s --tp-plan="mesh=tp=2 nth=4" -o /dev/null
// RUN: not tp-opt %s --tp-plan="mesh=tp=2 nth=5" 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: nth=5, but there are only 4 plans under these settings
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tp.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
