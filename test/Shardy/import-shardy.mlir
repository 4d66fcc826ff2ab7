// Annotations become encodings; what is undecided stays so; there and back is
// the same; a plan that obeys the pins runs equal to the unsharded program.
// RUN: tp-opt %s --tp-import-shardy --split-input-file | FileCheck %s
// RUN: tp-opt %s --tp-import-shardy --tp-export-shardy --split-input-file | FileCheck %s --check-prefix=BACK
// RUN: tp-opt %s --tp-import-shardy --tp-export-shardy --tp-import-shardy --split-input-file | FileCheck %s

// CHECK-DAG: #[[ROW:.*]] = #tp.sharding<@mesh, [{"b"}, {}]>
// CHECK-DAG: #[[COL:.*]] = #tp.sharding<@mesh, [{}, {"a", "b"}]>
// CHECK-DAG: #[[PART:.*]] = #tp.sharding<@mesh, [{}, {"b":(1)2}]>
// CHECK-DAG: #[[SUM:.*]] = #tp.sharding<@mesh, [{}, {}], unreduced = {"a", "b"}>
// CHECK-DAG: #[[WHOLE:.*]] = #tp.sharding<@mesh, [{}, {}]>
// CHECK: tp.mesh @mesh = <["a"=3, "b"=4]>
// CHECK-NOT: sdy
// CHECK: func.func @main(%{{.*}}: tensor<8x5xf32, #[[ROW]]>, %{{.*}}: tensor<5x24xf32, #[[COL]]> {tp.parameter}, %{{.*}}: tensor<24x12xf32>) -> (tensor<8x12xf32, #[[WHOLE]]>, tensor<8x24xf32>)
// CHECK: %[[F:.*]] = tp.matmul {{.*}} -> tensor<8x24xf32>
// CHECK: %[[H:.*]] = tp.reshard %[[F]] : (tensor<8x24xf32>) -> tensor<8x24xf32, #[[COL]]>
// CHECK: %[[R:.*]] = tp.relu %[[H]] : (tensor<8x24xf32, #[[COL]]>) -> tensor<8x24xf32>
// CHECK: %[[P:.*]] = tp.reshard %[[R]] : (tensor<8x24xf32>) -> tensor<8x24xf32, #[[PART]]>
// CHECK: %[[Y:.*]] = tp.matmul %[[P]], {{.*}} -> tensor<8x12xf32, #[[SUM]]>
// CHECK: %[[W:.*]] = tp.reshard %[[Y]] : (tensor<8x12xf32, #[[SUM]]>) -> tensor<8x12xf32, #[[WHOLE]]>
// CHECK: return %[[W]], %[[R]] :
//
// BACK: sdy.mesh @mesh = <["a"=3, "b"=4]>
// BACK-NOT: tp.mesh
// BACK-NOT: #tp.sharding
// BACK: func.func @main(%{{.*}}: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}]>}, %{{.*}}: tensor<5x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a", "b"}]>, tp.parameter}, %{{.*}}: tensor<24x12xf32>) -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<8x24xf32>)
// BACK: tp.matmul %{{[^ ]*}}, %{{[^ ]*}} : (tensor
// BACK: sdy.sharding_constraint %{{.*}} <@mesh, [{}, {"a", "b"}]> : tensor<8x24xf32>
// BACK: tp.relu %{{.*}} : (tensor<8x24xf32>) -> tensor<8x24xf32>
// BACK: sdy.sharding_constraint %{{.*}} <@mesh, [{}, {"b":(1)2}]> : tensor<8x24xf32>
// BACK: tp.matmul {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"a", "b"}>]>}
// BACK: sdy.sharding_constraint %{{.*}} <@mesh, [{}, {}]> : tensor<8x12xf32>
sdy.mesh @mesh = <["a"=3, "b"=4], device_ids=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]>
sdy.mesh @not_used = <[], device_ids=[3]>
func.func @main(%x: tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}p0, {}], replicated={"a"}>},
                %a: tensor<5x24xf32> {tp.parameter, sdy.sharding = #sdy.sharding<@mesh, [{}, {"a", "b"}]>},
                %b: tensor<24x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>})
    -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<8x24xf32>) {
  %h = tp.matmul %x, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a", "b"}]>]>}
      : (tensor<8x5xf32>, tensor<5x24xf32>) -> tensor<8x24xf32>
  %r = tp.relu %h : (tensor<8x24xf32>) -> tensor<8x24xf32>
  %c = sdy.sharding_constraint %r <@mesh, [{}, {"b":(1)2}]> : tensor<8x24xf32>
  %o = sdy.sharding_constraint %c <@mesh, [{?}, {?}]> : tensor<8x24xf32>
  %y = tp.matmul %o, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"a", "b"}>]>}
      : (tensor<8x24xf32>, tensor<24x12xf32>) -> tensor<8x12xf32>
  return {sdy.sharding = #sdy.sharding_per_value<[]>} %y, %r : tensor<8x12xf32>, tensor<8x24xf32>
}

// -----

// A mesh written in full, one that has the same axes, calls with layouts of
// their own, no arguments at all.
//
// CHECK-DAG: #[[A:.*]] = #tp.sharding<@[[MESH:[a-z]*]], [{"a"}]>
// CHECK-DAG: #[[W:.*]] = #tp.sharding<@[[MESH]], [{}]>
// CHECK: tp.mesh @[[MESH]] = <["a"=2]>
// CHECK-NOT: tp.mesh
// CHECK: func.func private @layer(%{{.*}}: tensor<6xf32, #[[A]]>) -> tensor<6xf32, #[[A]]>
// CHECK: %[[X:.*]] = tp.relu %{{.*}} : (tensor<6xf32>) -> tensor<6xf32>
// CHECK: %[[I:.*]] = tp.reshard %[[X]] : (tensor<6xf32>) -> tensor<6xf32, #[[A]]>
// CHECK: %[[C:.*]] = call @layer(%[[I]]) : (tensor<6xf32, #[[A]]>) -> tensor<6xf32, #[[A]]>
// CHECK: %[[P:.*]] = tp.reshard %[[C]] : (tensor<6xf32, #[[A]]>) -> tensor<6xf32, #[[W]]>
// CHECK: %[[O:.*]] = tp.reshard %[[P]] : (tensor<6xf32, #[[W]]>) -> tensor<6xf32>
// CHECK: return %[[O]] : tensor<6xf32>
// BACK: call @layer(%{{.*}}) : (tensor<6xf32>) -> tensor<6xf32>
sdy.mesh @first = <["a"=2]>
sdy.mesh @second = <["a"=2]>
func.func private @layer(%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{"a"}]>})
    -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@second, [{"a"}]>}) {
  %y = tp.relu %x : (tensor<6xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  %i = tp.relu %x : (tensor<6xf32>) -> tensor<6xf32>
  %y = call @layer(%i) {sdy.sharding = #sdy.sharding_per_value<[<@first, [{}]>]>} : (tensor<6xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
