// Memory limits that cannot be read, and plans that none meets. The bytes are
// those of memory-limit.mlir: 768 of x, 120 of the weight, and at work a copy
// of 240 of the weight and the product of 1280.
// RUN: not tp-opt %s --tp-plan="weights=free memory-limit=2407" 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not tp-opt %s --tp-plan="weights=free memory-limit=2400 bytes-per-parameter=16" 2>&1 | FileCheck %s --check-prefix=ADAM
// RUN: not tp-opt %s --tp-plan="weights=free memory-limit=1 bytes-per-parameter=16" 2>&1 | FileCheck %s --check-prefix=ONE --implicit-check-not=bytes-per-parameter
// RUN: not tp-opt %s --tp-plan="memory-limit=80GB memory-search=slow" 2>&1 | FileCheck %s --check-prefix=SEARCH
// RUN: not tp-opt %s --tp-plan="memory-search=exhaustive" 2>&1 | FileCheck %s --check-prefix=SEARCHALONE
// RUN: not tp-opt %s --tp-plan="memory-limit=80G" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not tp-opt %s --tp-plan="memory-limit=lots" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not tp-opt %s --tp-plan="memory-limit=-1" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not tp-opt %s --tp-plan="memory-limit=0" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not tp-opt %s --tp-plan="memory-limit=1.5GB" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not tp-opt %s --tp-plan="memory-limit=8388608TiB" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not tp-opt %s --tp-plan="memory-limit=99999999999999999999" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not tp-opt %s --tp-plan="memory-limit=80GB bytes-per-parameter=-16" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not tp-opt %s --tp-plan="bytes-per-parameter=16" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not tp-opt %s --tp-plan="memory-limit=80GB bytes-per-parameter=10000000000000000" 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not tp-opt %s --tp-plan="memory-limit=80GB bytes-per-parameter=1000000000000000000" 2>&1 | FileCheck %s --check-prefix=ENDLESS

// LEAST: error: cannot be planned within memory-limit=2407: every plan takes at least 2408 bytes a rank, 120 bytes for parameters, 768 bytes for other inputs and 1520 bytes of working memory
// LEAST: note: this operation works with the most: its operands and results, at their largest shards
// LEAST: note: fix: use memory-limit=2408 or more, or more ranks
// LEAST-NOT: bytes-per-parameter

// 30 elements of 16 bytes; (2400 - 768 - 1520) / 30 is 3.
// ADAM: error: cannot be planned within memory-limit=2400: every plan takes at least 2768 bytes a rank, 480 bytes for parameters at 16 bytes each, 768 bytes for other inputs and 1520 bytes of working memory
// ADAM: note: fix: use memory-limit=2768 or more, or more ranks
// ADAM: note: fix: use bytes-per-parameter=3 or less

// ONE: error: cannot be planned within memory-limit=1: every plan takes at least 2768 bytes a rank, 480 bytes for parameters at 16 bytes each, 768
// ONE: note: fix: use memory-limit=2768 or more, or more ranks

// SIZE: error: memory-limit='{{80G|lots|-1|0|1.5GB|8388608TiB|9+}}' must be machine or from 1 to 2^63 - 1 bytes, as 80000000000, 80GB or 80GiB
// NEGATIVE: error: bytes-per-parameter=-16 must be positive, as 16 for weights with Adam in mixed precision
// SEARCH: error: memory-search='slow' must be one of quick, exhaustive

// SEARCHALONE: error: memory-search=exhaustive has no effect without memory-limit

// ALONE: error: bytes-per-parameter=16 has no effect without memory-limit
// HUGE: error: cannot be planned: the largest possible total of bytes of memory is 300000000000004352, which does not fit in
// ENDLESS: error: cannot be planned: the largest possible total of bytes of memory is 2^64 - 1 or more, which does not fit in
tp.mesh @mesh = <["tp"=2]>
func.func @main(%x: tensor<64x6xf32>, %w: tensor<6x10xf32> {tp.parameter}) -> tensor<64x10xf32> {
  %y = tp.matmul %x, %w : (tensor<64x6xf32>, tensor<6x10xf32>) -> tensor<64x10xf32>
  return %y : tensor<64x10xf32>
}
