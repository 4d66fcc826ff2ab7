// Rules: factors of each dimension, their kinds, linearity, and what passes
// unfinished maxima and sums besides.
// RUN: tp-opt %s --tp-print-sharding-rules | FileCheck %s

func.func @rules(%x: tensor<2x3x8xf32>, %w: tensor<12x8xf32>, %g: tensor<8xf32>,
    %t: tensor<11x8xf32>, %ids: tensor<2x3xi64>, %y: tensor<5x7xf32>) {
  // CHECK: "([b0,m,k], [n,k]) -> ([b0,m,n]) {b0=2, m=3, k=8 sum, n=12} linear {0} linear {1}"
  %a = tp.matmul %x, %w {transpose_b} : (tensor<2x3x8xf32>, tensor<12x8xf32>) -> tensor<2x3x12xf32>
  // CHECK: "([f0,f1,f2*f3]) -> ([f0,f1,f2,f3]) {f0=2, f1=3, f2=6, f3=2} linear {0} moves"
  %h = tp.reshape %a : (tensor<2x3x12xf32>) -> tensor<2x3x6x2xf32>
  // CHECK: "([batch,sequence,heads,head_dim]) -> ([batch,sequence,heads,head_dim]) {batch=2, sequence=3, heads=6, head_dim=2 whole} linear {0}"
  %r = tp.rope %h {theta = 500.0 : f64} : (tensor<2x3x6x2xf32>) -> tensor<2x3x6x2xf32>
  // CHECK: "([d0,d1,normalised], [normalised]) -> ([d0,d1,normalised]) {d0=2, d1=3, normalised=8 whole} linear {1}"
  %n = tp.rms_norm %x, %g {epsilon = 1.0e-6 : f64} : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  // CHECK: "([vocabulary,width], [t0,t1]) -> ([t0,t1,width]) {vocabulary=11 sum, t0=2, t1=3, width=8} linear {0}"
  %e = tp.embedding %t, %ids : (tensor<11x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
  // CHECK: "([d0,d1,d2], [d2]) -> ([d0,d1,d2]) {d0=2, d1=3, d2=8} linear {0, 1}"
  %s = tp.add %e, %g : (tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  // CHECK: "([d0,d1,d2]) -> ([d0,d1,d2]) {d0=2, d1=3, d2=8}"
  %u = tp.silu %s : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  // CHECK: "([d0,d1,d2]) -> ([d2,d0,d1]) {d0=2, d1=3, d2=8} linear {0} moves"
  %p = tp.transpose %u by [2, 0, 1] : (tensor<2x3x8xf32>) -> tensor<8x2x3xf32>
  // CHECK: "([d0,d1,d2]) -> ([d0,d1,d2]) {d0=2, d1=3, d2=8} linear {0} moves"
  %wide = tp.cast %s : (tensor<2x3x8xf32>) -> tensor<2x3x8xf64>
  // CHECK: "([d0,d1,d2]) -> ([d0,d1,d2]) {d0=2, d1=3, d2=8} maximum"
  %narrow = tp.cast %s : (tensor<2x3x8xf32>) -> tensor<2x3x8xf16>
  // CHECK: "() -> ([d0]) {d0=7} zero"
  %zeros = tp.constant dense<0.0> : tensor<7xf32>
  // CHECK: "() -> ([d0]) {d0=7}"
  %ones = tp.constant dense<1.0> : tensor<7xf32>
  // CHECK: "([d0,d1], [d1]) -> ([d0,d1]) {d0=5, d1=7} maximum"
  %floor = tp.maximum %y, %ones : (tensor<5x7xf32>, tensor<7xf32>) -> tensor<5x7xf32>
  return
}
