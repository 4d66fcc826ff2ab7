// What was changed after planning is found out.
// RUN: tp-opt %s --tp-plan="mesh=tp=2 certificate machine=%S/Inputs/ring.yaml" -o %t.mlir

// RUN: not tp-opt %s --tp-check-plan 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: carries no plan; run tp-plan before tp-check-plan

// The price and the bound that the module claims.
// RUN: sed 's/picoseconds = 1200411/picoseconds = 1200410/' %t.mlir \
// RUN:   | not tp-opt --tp-check-plan 2>&1 | FileCheck %s --check-prefix=PRICE
// PRICE: error: its tp.plan says picoseconds = 1200410, but the price of its types is 1200411 ps
// PRICE: note: fix: plan again with tp-plan; types, settings or numbers were changed after it
// RUN: sed 's/lower_bound = 1200411/lower_bound = 1200412/' %t.mlir \
// RUN:   | not tp-opt --tp-check-plan 2>&1 | FileCheck %s --check-prefix=BOUND
// BOUND: error: its tp.plan says lower_bound = 1200412, but the bound that is proven is 1200411 ps
// A bound that claims less than could be proven is true.
// RUN: sed 's/lower_bound = 1200411/lower_bound = 1200000/' %t.mlir \
// RUN:   | tp-opt --tp-check-plan -o /dev/null
// RUN: sed 's/lower_bound = 1200411 : i64, //' %t.mlir \
// RUN:   | not tp-opt --tp-check-plan 2>&1 | FileCheck %s --check-prefix=SILENT
// SILENT: error: its tp.plan says nothing of lower_bound

// The certificate: no list of numbers, one that proves too little, one for
// another problem.
// RUN: sed 's/array<i64: 0, 0, 0, 4/array<i64: 0, 0, 0, 6/' %t.mlir \
// RUN:   | not tp-opt --tp-check-plan 2>&1 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: error: tp.certificate: the 29 numbers of the certificate do not fit together
// RUN: sed 's/array<i64: [-0-9, ]*>/array<i64: 0, 0, 0, 0, 0, 0>/' %t.mlir \
// RUN:   | not tp-opt --tp-check-plan 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: its tp.plan says lower_bound = 1200411, but the bound that is proven is 0 ps
// RUN: sed 's/array<i64: [-0-9, ]*>/array<i64: 0, 1, 1, 7, 1, 0, 0, 0, 0>/' %t.mlir \
// RUN:   | not tp-opt --tp-check-plan 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: the certificate proves nothing: value '{{.*}}' has a message of 1 numbers for 3 layouts

// Layouts under which every operation is well typed, but which the settings do
// not leave: with stationary weights the first one is not whole.
// RUN: sed -e 's/%arg1: tensor<6x8xf32, #split1_tp_rank2>/%arg1: tensor<6x8xf32, #whole2>/' \
// RUN:     -e 's/%arg0, %arg1 : (tensor<4x6xf32, #whole2>, tensor<6x8xf32, #split1_tp_rank2>) -> tensor<4x8xf32, #split1_tp_rank2>/%arg0, %arg1 : (tensor<4x6xf32, #whole2>, tensor<6x8xf32, #whole2>) -> tensor<4x8xf32, #whole2>/' \
// RUN:     -e 's/tp.matmul %0, %arg2 : (tensor<4x8xf32, #split1_tp_rank2>/tp.matmul %r, %arg2 : (tensor<4x8xf32, #split1_tp_rank2>/' \
// RUN:     -e 's/    %1 = tp.matmul/    %r = tp.reshard %0 : (tensor<4x8xf32, #whole2>) -> tensor<4x8xf32, #split1_tp_rank2>\n    %1 = tp.matmul/' %t.mlir > %t.whole.mlir
// RUN: not tp-opt %t.whole.mlir --tp-check-plan 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: error: 'argument 1' is laid out in a way that the recorded settings do not allow: none of the 2 ways that they do has these layouts together
// WHOLE: error: 'tp.matmul' is laid out in a way that the recorded settings do not allow: none of the 2 ways that they do has these layouts together
// Where they leave it, the price is another one.
// RUN: sed 's/weights = "stationary"/weights = "free"/' %t.whole.mlir \
// RUN:   | not tp-opt --tp-check-plan 2>&1 | FileCheck %s --check-prefix=FREE
// FREE: error: its tp.plan says picoseconds = 1200411, but the price of its types is {{[0-9]+}} ps

// A memory limit that the plan does not keep: the four shares of 24 numbers
// that stay take 288 bytes, and 32 more are worked with.
// RUN: sed 's/tp.plan = {/tp.plan = {memory_limit = "300", /' %t.mlir \
// RUN:   | not tp-opt --tp-check-plan 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: error: holds a plan that takes {{[0-9]+}} bytes a rank, but the limit is 300

// Not every value has a layout.
// RUN: sed -e 's/#split1_tp_rank2> {tp.parameter}/#split1_tp_rank2> {tp.parameter}/' \
// RUN:     -e 's/(%arg0: tensor<4x6xf32, #whole2>,/(%arg0: tensor<4x6xf32>,/' \
// RUN:     -e 's/    %0 = tp.matmul %arg0/    %w = tp.reshard %arg0 : (tensor<4x6xf32>) -> tensor<4x6xf32, #whole2>\n    %0 = tp.matmul %w/' %t.mlir \
// RUN:   | not tp-opt --tp-check-plan 2>&1 | FileCheck %s --check-prefix=BARE
// BARE: error: 'argument 0' has no layout: the module is not a whole plan

// A weight that is moved before it is used.
// RUN: sed -e 's/%arg1: tensor<6x8xf32, #split1_tp_rank2>/%arg1: tensor<6x8xf32, #split0_tp_rank2>/' \
// RUN:     -e 's/    %0 = tp.matmul %arg0, %arg1/    %w = tp.reshard %arg1 : (tensor<6x8xf32, #split0_tp_rank2>) -> tensor<6x8xf32, #split1_tp_rank2>\n    %0 = tp.matmul %arg0, %w/' %t.mlir \
// RUN:   | not tp-opt --tp-check-plan 2>&1 | FileCheck %s --check-prefix=MOVED
// MOVED: error: holds a plan with layouts between which there is no way: with weights=stationary a weight is used where it lies

func.func @main(%x: tensor<4x6xf32>, %a: tensor<6x8xf32> {tp.parameter},
                %b: tensor<8x6xf32> {tp.parameter}) -> tensor<4x6xf32> {
  %0 = tp.matmul %x, %a : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  %1 = tp.matmul %0, %b : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
