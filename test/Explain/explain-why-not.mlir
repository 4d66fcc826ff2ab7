// What a layout would cost that was not chosen, or which constraint excludes it.
// Column then row sends one all-reduce, 2 * 3/4 * 8 * 64 * 4 = 3,072 bytes. Row
// then column, the hidden values whole between, sends an all-reduce of these,
// 2 * 3/4 * 8 * 256 * 4 = 12,288, and a gather of the result, 3/4 * 8 * 64 * 4
// = 1,536: 13,824, 4.5 times as many.
// UNSUPPORTED: roundtrip
// RUN: tp-opt %s --tp-plan="machine=%S/../Plan/Inputs/ring.yaml mesh=tp=4" --tp-explain="output=- why-not=w1:row,w2:column" -o /dev/null | FileCheck %s
// RUN: tp-opt %s --tp-plan="machine=%S/../Plan/Inputs/ring.yaml mesh=tp=4" --tp-explain='output=- why-not=w1:[{"tp"},{}],w2:[{},{"tp"}]' -o /dev/null | FileCheck %s --check-prefix=FULL
// RUN: tp-opt %s --tp-plan="machine=%S/../Plan/Inputs/ring.yaml mesh=tp=4" --tp-explain="output=- why-not=w1:whole;w2:row;bias:whole" -o /dev/null | FileCheck %s --check-prefix=SEVERAL
// RUN: tp-opt %s --tp-plan="machine=%S/../Plan/Inputs/ring.yaml mesh=tp=5 uneven=allow" --tp-explain="output=- why-not=w1:row" -o /dev/null | FileCheck %s --check-prefix=UNEVEN
// RUN: tp-opt %s --tp-plan="machine=%S/../Plan/Inputs/ring.yaml mesh=tp=128" --tp-explain="output=- why-not=w1:row" -o /dev/null | FileCheck %s --check-prefix=REFUSED
// RUN: tp-opt %s --tp-plan="machine=%S/../Plan/Inputs/ring.yaml mesh=dp=2,tp=2" --tp-explain='output=- why-not=w1:[{"dp"},{"tp"}]' -o /dev/null | FileCheck %s --check-prefix=DATA

// CHECK: plan for #tp.mesh<["tp"=4]>
// CHECK-NEXT: 3,072 bytes sent a rank, 1 all_reduce
// CHECK: {{^}}why not w1 row, w2 column
// CHECK-NEXT: more a step, 10,752 bytes more sent a rank, {{.*}}; 13,824 bytes in all, 4.50 times the plan's
// CHECK-NEXT: w1 is then row, dimension 0 of 64 over "tp", 16 a rank
// CHECK-NEXT: w2 is then column, dimension 1 of 64 over "tp", 16 a rank
// CHECK-NOT: {{.}}

// FULL: why not w1 [{"tp"},{}], w2 [{},{"tp"}]
// FULL-NEXT: 13,824 bytes in all, 4.50 times the plan's

// A question for each semicolon.
// SEVERAL: why not w1 whole
// SEVERAL-NEXT: no plan, forced by weights=stationary: with weights=free there is one, {{.*}} less a step, 3,072 bytes fewer sent a rank, 1 fewer all_reduce, {{.*}} bytes more of parameters a rank
// SEVERAL-NEXT: why not w2 row
// SEVERAL-NEXT: as fast a step; 3,072 bytes in all
// SEVERAL-NEXT: w2 is so in the plan
// SEVERAL-NEXT: why not bias whole
// SEVERAL-NEXT: as fast a step, 768 bytes more of parameters a rank; 3,072 bytes in all
// SEVERAL-NEXT: bias is then whole

// 64 in 5 parts is uneven, and may be.
// UNEVEN: why not w1 row
// UNEVEN-NEXT: more a step

// 64 has no 128 parts that are even.
// REFUSED: why not w1 row
// REFUSED-NEXT: no even split of it over the ranks is that; no plan, forced by even shards: with uneven=allow there is one, {{.*}} more a step

// A weight may not lie on an axis that carries the batch.
// DATA: why not w1 [{"dp"},{"tp"}]
// DATA-NEXT: no plan, forced by the batch on the data axes: with model-axes=dp,tp there is one
func.func @main(%x: tensor<8x64xf32>,
    %a: tensor<64x256xf32> {tp.parameter, tp.name = "w1"},
    %c: tensor<256xf32> {tp.parameter, tp.name = "bias"},
    %b: tensor<256x64xf32> {tp.parameter, tp.name = "w2"}) -> tensor<8x64xf32> {
  %h = tp.matmul %x, %a : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
  %p = tp.add %h, %c : (tensor<8x256xf32>, tensor<256xf32>) -> tensor<8x256xf32>
  %r = tp.relu %p : (tensor<8x256xf32>) -> tensor<8x256xf32>
  %y = tp.matmul %r, %b : (tensor<8x256xf32>, tensor<256x64xf32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
