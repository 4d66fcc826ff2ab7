// pytorch/pytorch 135054: a view that adds and drops a dimension of size 1 made a
// split value whole. The split stays, without a word and without a collective.
// RUN: tp-opt %s --tp-plan="mesh=tp=2" --tp-insert-collectives | FileCheck %s

// CHECK-NOT: tp.all_gather
// CHECK: tp.reshape %{{.*}} -> tensor<1x1x8xf32, #split2_tp_rank3>
// CHECK: tp.reshape %{{.*}} -> tensor<1x8xf32, #split1_tp_rank2>
// CHECK-NOT: tp.all_gather
tp.mesh @mesh = <["tp"=2]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @main(%x: tensor<1x8xf32, #col>) -> tensor<1x8xf32, #col> {
  %a = tp.reshape %x : (tensor<1x8xf32, #col>) -> tensor<1x1x8xf32>
  %b = tp.reshape %a : (tensor<1x1x8xf32>) -> tensor<1x8xf32>
  %y = tp.relu %b : (tensor<1x8xf32>) -> tensor<1x8xf32, #col>
  return %y : tensor<1x8xf32, #col>
}
