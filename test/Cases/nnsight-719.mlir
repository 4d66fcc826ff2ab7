// ndif-team/nnsight 719: a fused activation was gathered from ranks that held a third
// of the queries, of the keys and of the values each, so that it read q0 k0 v0 q1 k1 v1
// and a slice of it was wrong; the test that compared sorted values did not see it. A
// gather of blocks that were split one by one gives each block whole, in its place;
// joining the split blocks first is refused. The values are compared place by place.
// RUN: split-file %s %t
// RUN: tp-run %t/gathered.mlir --mesh=tp=2 --check | FileCheck %s
// RUN: tp-run %t/gathered.mlir --mesh=tp=3 --uneven=allow --check | FileCheck %s
// RUN: tp-opt %t/joined.mlir --verify-diagnostics
// CHECK: exact: equal in the field of 2^61 - 1 elements on every rank

//--- gathered.mlir
// The whole activation is a result, and so are heads and halves taken of it.
func.func @main(%x: tensor<3x5xf32>, %w: tensor<5x12xf32> {tp.parameter})
    -> (tensor<3x12xf32>, tensor<3x4xf32>, tensor<3x6xf32>) {
  %y = tp.matmul %x, %w : (tensor<3x5xf32>, tensor<5x12xf32>) -> tensor<3x12xf32>
  %k = tp.slice %y at [0, 4] : (tensor<3x12xf32>) -> tensor<3x4xf32>
  %half = tp.slice %y at [0, 6] : (tensor<3x12xf32>) -> tensor<3x6xf32>
  return %y, %k, %half : tensor<3x12xf32>, tensor<3x4xf32>, tensor<3x6xf32>
}

//--- joined.mlir
tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @blocks_gathered_one_by_one(%q: tensor<3x4xf32, #col>, %kv: tensor<3x8xf32, #col>) -> tensor<3x4xf32, #rep> {
  %a = tp.all_gather %q dim 1 over {"tp"} : (tensor<3x4xf32, #col>) -> tensor<3x4xf32, #rep>
  %b = tp.all_gather %kv dim 1 over {"tp"} : (tensor<3x8xf32, #col>) -> tensor<3x8xf32, #rep>
  %y = tp.concat %a, %b along 1 : (tensor<3x4xf32, #rep>, tensor<3x8xf32, #rep>) -> tensor<3x12xf32, #rep>
  %k = tp.slice %y at [0, 4] : (tensor<3x12xf32, #rep>) -> tensor<3x4xf32, #rep>
  return %k : tensor<3x4xf32, #rep>
}
// expected-note @below {{this value is split so}}
func.func @gather_in_shard_order_r5(%q: tensor<3x4xf32, #col>, %kv: tensor<3x8xf32, #col>) -> tensor<3x12xf32, #rep> {
  // expected-error @below {{'tp.concat': 'part0' of 4 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 0); the result is then #tp.sharding<@mesh, [{}, {}]>}}
  // expected-error @below {{'tp.concat': 'part1' of 8 must be whole but is split over "tp" [R5]}}
  // expected-note @below {{fix: all-gather that dimension over "tp" before this operation (operand 1); the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %y = tp.concat %q, %kv along 1 : (tensor<3x4xf32, #col>, tensor<3x8xf32, #col>) -> tensor<3x12xf32, #col>
  %whole = tp.all_gather %y dim 1 over {"tp"} : (tensor<3x12xf32, #col>) -> tensor<3x12xf32, #rep>
  return %whole : tensor<3x12xf32, #rep>
}
