// A plan is priced again from its types, and its bound proven. By hand, on an
// H100 with two ranks: the price is the one that tp-plan has found; a row and a
// column split with one all-reduce has no competitor among stationary weights.
// RUN: tp-opt %s --tp-plan="mesh=tp=2" --tp-check-plan="output=-" -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=AGAIN
// AGAIN: plan: [[PRICE:[0-9.]+]] us a step, by its types
// AGAIN-NEXT: bound: [[PRICE]] us, proven by a certificate of {{[0-9]+}} bytes that was found again
// AGAIN-NEXT: gap: 0, no plan is cheaper

// The certificate survives in the text, and so does the plan.
// RUN: tp-opt %s --tp-plan="mesh=tp=2 certificate" -o %t.mlir
// RUN: FileCheck %s --check-prefix=TEXT < %t.mlir
// RUN: tp-opt %t.mlir --tp-check-plan="output=-" -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=KEPT
// TEXT: module attributes {tp.certificate = array<i64: {{[-0-9, ]+}}>,
// KEPT: bound: {{.*}} bytes in the module
// KEPT-NEXT: gap: 0, no plan is cheaper

// Other plans differ and say how far they are from the best one. The second is
// as cheap: between the blocks either dimension may be split.
// RUN: tp-opt %s --tp-plan="mesh=tp=2" -o %t1.mlir
// RUN: tp-opt %s --tp-plan="mesh=tp=2 nth=2" -o %t2.mlir
// RUN: tp-opt %s --tp-plan="mesh=tp=2 nth=9" -o %t9.mlir
// RUN: not diff %t1.mlir %t2.mlir > /dev/null
// RUN: not diff %t2.mlir %t9.mlir > /dev/null
// RUN: tp-opt %t9.mlir --tp-check-plan="output=-" -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=SECOND
// SECOND: gap: {{[0-9.]+}} us, {{[0-9.]+}} % of the plan; a cheaper one may exist

// Two axes, and functions that are called more than once: each in its copy.
// RUN: tp-opt %s --tp-plan="mesh=a=2,b=3 uneven=allow" --tp-check-plan="output=-" -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=AGAIN

// After the collectives have been placed, too.
// RUN: tp-opt %s --tp-plan="mesh=tp=2" --tp-insert-collectives \
// RUN:   --tp-check-plan="output=-" -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=AGAIN

// Within a memory limit that binds: the weights take 768 bytes, half of which
// must go.
// RUN: tp-opt %s --tp-plan="mesh=tp=2 weights=free memory-limit=1000 certificate" \
// RUN:   --tp-check-plan="output=-" -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=LIMIT
// LIMIT: bytes in the module

func.func private @block(%x: tensor<4x6xf32>, %a: tensor<6x8xf32> {tp.parameter},
                         %b: tensor<8x6xf32> {tp.parameter}) -> tensor<4x6xf32> {
  %0 = tp.matmul %x, %a : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  %1 = tp.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = tp.matmul %1, %b : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %3 = tp.add %x, %2 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %3 : tensor<4x6xf32>
}

func.func @main(%x: tensor<4x6xf32>,
                %a: tensor<6x8xf32> {tp.parameter}, %b: tensor<8x6xf32> {tp.parameter},
                %c: tensor<6x8xf32> {tp.parameter}, %d: tensor<8x6xf32> {tp.parameter})
    -> tensor<4x6xf32> {
  %0 = call @block(%x, %a, %b) : (tensor<4x6xf32>, tensor<6x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = call @block(%0, %c, %d) : (tensor<4x6xf32>, tensor<6x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
