// The LLVM dialect is not one that tp-opt reads.
// UNSUPPORTED: roundtrip
// RUN: tp-opt %s -tp-lower-to-cpu | FileCheck %s

// The tables of ranks are constants, shared by the calls that use them.
// CHECK: llvm.mlir.global private constant @[[GROUPS:[^(]+]](dense<{{.*}}0, 1{{.*}}> : tensor<1x2xi64>)
// CHECK-NOT: llvm.mlir.global

// CHECK-LABEL: llvm.func @main
// CHECK-NOT: tp.
// The two elementwise operations between the products are one loop nest.
// CHECK: llvm.call @tp_matmul_f32
// CHECK: llvm.cond_br
// CHECK: llvm.cond_br
// CHECK-NOT: llvm.cond_br
// The first product is freed before the second one is made.
// CHECK: llvm.call @_mlir_memref_to_llvm_free
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.call @tp_matmul_f32
// CHECK: llvm.call @tp_all_reduce
// CHECK: llvm.call @tp_all_reduce
// CHECK: llvm.return
// CHECK: llvm.func @_mlir_ciface_main
func.func @main(%x: tensor<4x8xf32> {tp.name = "x"},
                %w: tensor<8x16xf32> {tp.name = "w", tp.parameter},
                %v: tensor<16x8xf32>, %b: tensor<16xf32>)
    -> (tensor<4x8xf32> {tp.name = "y"}) attributes {tp.local, tp.ranks = 2} {
  %p = tp.matmul %x, %w
      : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %h = tp.add %p, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %r = tp.relu %h : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %q = tp.matmul %r, %v
      : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %s = tp.local_all_reduce %q sum groups dense<[[0, 1]]> : tensor<1x2xi64>
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = tp.local_all_reduce %s max groups dense<[[0, 1]]> : tensor<1x2xi64>
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %m : tensor<4x8xf32>
}

// 16-bit types are computed, sent and passed as f32.
// CHECK-LABEL: llvm.func @narrow
// CHECK-NOT: bf16
// CHECK: llvm.call @tp_matmul_f32
// CHECK: llvm.call @tp_all_reduce
// CHECK-NOT: f16
// CHECK: llvm.return
func.func @narrow(%x: tensor<5x3xbf16>, %w: tensor<3x7xbf16>) -> tensor<5x7xf16>
    attributes {tp.local, tp.ranks = 2} {
  %p = tp.matmul %x, %w
      : (tensor<5x3xbf16>, tensor<3x7xbf16>) -> tensor<5x7xbf16>
  %s = tp.local_all_reduce %p sum groups dense<[[0, 1]]> : tensor<1x2xi64>
      : (tensor<5x7xbf16>) -> tensor<5x7xbf16>
  %c = tp.constant dense<1.5> : tensor<5x7xbf16>
  %t = tp.add %s, %c : (tensor<5x7xbf16>, tensor<5x7xbf16>) -> tensor<5x7xbf16>
  %y = tp.cast %t : (tensor<5x7xbf16>) -> tensor<5x7xf16>
  return %y : tensor<5x7xf16>
}
