// deepspeedai/DeepSpeed 5515: columns were dealt in grains of 64, and the remainder of
// every layer went to the low ranks: 320 columns over 4 ranks are 128, 64, 64, 64, in
// both layers, so that ranks 0 to 2 ran out of memory first. What a rank takes is that
// of the largest shards, 256 columns of 8, and the report says how far the ranks differ.
// RUN: tp-opt %s --tp-cost-report=output=- -o /dev/null | FileCheck %s
// RUN: tp-opt %s --tp-cost-report="format=json output=-" -o /dev/null | FileCheck %s --check-prefix=JSON
// CHECK: parameters: 5,120 in 2 tensors, 2,048 a rank
// CHECK-NEXT: uneven: 1,024 on the rank with the smallest shards
// JSON: "count": 5120,
// JSON-NEXT: "padding": 0,
// JSON-NEXT: "count_per_rank": 2048,
// JSON-NEXT: "fewest_per_rank": 1024,

tp.mesh @mesh = <["tp"=4]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#columns = #tp.sharding<@mesh, [{}, {"tp", unit = 64}]>
func.func @two_layers(%x: tensor<3x8xf32, #rep>,
                      %v: tensor<8x320xf32, #columns> {tp.parameter},
                      %w: tensor<8x320xf32, #columns> {tp.parameter})
    -> (tensor<3x320xf32, #columns>, tensor<3x320xf32, #columns>) {
  %y = tp.matmul %x, %v : (tensor<3x8xf32, #rep>, tensor<8x320xf32, #columns>) -> tensor<3x320xf32, #columns>
  %z = tp.matmul %x, %w : (tensor<3x8xf32, #rep>, tensor<8x320xf32, #columns>) -> tensor<3x320xf32, #columns>
  return %y, %z : tensor<3x320xf32, #columns>, tensor<3x320xf32, #columns>
}
