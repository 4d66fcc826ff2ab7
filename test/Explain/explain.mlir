// What a plan costs, what its pins cost, what the next best layout of a weight
// costs. Row then column sends 12,288 + 1,536 bytes, column then row 3,072.
// UNSUPPORTED: roundtrip
// RUN: tp-opt %s --tp-plan --tp-explain="output=-" -o /dev/null | FileCheck %s
// RUN: tp-opt %s --tp-plan --tp-explain -o /dev/null 2>&1 | FileCheck %s

tp.mesh @mesh = <["tp"=4]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#whole = #tp.sharding<@mesh, [{}, {}]>
// CHECK: plan for #tp.mesh<["tp"=4]>, machine h100, weights=stationary, sequence-parallel=auto, model axes "tp"
// CHECK-NEXT: 13,824 bytes sent a rank
// CHECK: gap 0.000 us
// CHECK: w1 [64, 256]
// CHECK-NEXT: dimension 0 of 64 over "tp", 16 a rank
// CHECK: {{^}}without the pins
// CHECK-NEXT: 3,072 bytes sent a rank, 1 all_reduce
// CHECK-NEXT: the pins cost {{.*}} a step and 10,752 bytes, 4.50 times the bytes
func.func @main(%x: tensor<8x64xf32>,
    %a: tensor<64x256xf32, #row> {tp.parameter, tp.name = "w1"},
    %b: tensor<256x64xf32, #col> {tp.parameter, tp.name = "w2"}) -> tensor<8x64xf32> {
  %h = tp.matmul %x, %a : (tensor<8x64xf32>, tensor<64x256xf32, #row>) -> tensor<8x256xf32>
  %r = tp.relu %h : (tensor<8x256xf32>) -> tensor<8x256xf32, #whole>
  %y = tp.matmul %r, %b : (tensor<8x256xf32, #whole>, tensor<256x64xf32, #col>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
