// A planned program as Shardy's annotations; read again, it is the same program,
// to the byte.
// RUN: tp-opt %s --tp-plan="mesh=dp=2,tp=4" --tp-export-shardy | FileCheck %s
// RUN: tp-opt %s --tp-plan="mesh=dp=2,tp=4" --tp-export-shardy | tp-opt --tp-import-shardy --tp-plan --tp-insert-collectives | FileCheck %s --check-prefix=AGAIN
// RUN: tp-opt %s --tp-plan="mesh=dp=2,tp=4" --tp-export-shardy --tp-import-shardy | tp-run - --check | FileCheck %s --check-prefix=EQUAL
// RUN: tp-translate --import-hf-config %models/llama-3-8b.json --layers=1 --sequence=64 | tp-opt --tp-plan="mesh=tp=16 sequence-parallel=off" -o %t.typed
// RUN: tp-opt %t.typed --tp-export-shardy | FileCheck %s --check-prefix=LLAMA
// RUN: tp-opt %t.typed --tp-export-shardy --tp-import-shardy | diff %t.typed -
//
// CHECK: sdy.mesh @mesh = <["dp"=2, "tp"=4]>
// CHECK: func.func @main(%{{.*}}: tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>
// CHECK-SAME: tensor<7x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>
// CHECK-SAME: tensor<12x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>
// CHECK-SAME: -> (tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>
// CHECK: tp.matmul {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"dp"}, {"tp"}]>]>}
// CHECK: tp.matmul {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"dp"}, {}], unreduced={"tp"}>]>}
// AGAIN: tp.all_reduce %{{.*}} over {"tp"}
// AGAIN: tp.all_gather %{{.*}} dim 0 over {"dp"}
// EQUAL: exact: equal
// LLAMA: {"tp":(1)8}
func.func @main(%x: tensor<8x7xf32> {tp.name = "x"},
                %a: tensor<7x12xf32> {tp.name = "a", tp.parameter},
                %b: tensor<12x5xf32> {tp.name = "b", tp.parameter})
    -> (tensor<8x5xf32> {tp.name = "y"}) {
  %h = tp.matmul %x, %a : (tensor<8x7xf32>, tensor<7x12xf32>) -> tensor<8x12xf32>
  %r = tp.silu %h : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %y = tp.matmul %r, %b : (tensor<8x12xf32>, tensor<12x5xf32>) -> tensor<8x5xf32>
  return %y : tensor<8x5xf32>
}
