// Constants that have one number a head follow the heads: split with them,
// whole heads dealt out, and with KV groups.
// RUN: tp-run %s --mesh=tp=2 --check | FileCheck %s
// RUN: tp-run %s --mesh=tp=3 --check | FileCheck %s
// RUN: tp-run %s --mesh=tp=4 --uneven=allow --check | FileCheck %s
// RUN: tp-run %s --mesh=a=2,b=3 --check | FileCheck %s
// RUN: tp-opt %s --tp-plan="mesh=tp=4 uneven=allow" | FileCheck %s --check-prefix=PLAN

// CHECK: y [5, 7]: max error {{.*}}: ok
// CHECK: exact: equal in the field of 2^61 - 1 elements on every rank

// 6 heads over 4 ranks, in units of a head's 5 elements in the weight; the
// constants are split, too.
// PLAN: #[[HEADS:.*]] = #tp.sharding<@mesh, [{}, {"tp", unit = 5}]>
// PLAN: %arg1: tensor<7x30xf32, #[[HEADS]]>
// PLAN: tp.constant {{.*}} as tensor<6xf32, #{{.*}}split0_tp_rank1>
// PLAN: tp.constant {{.*}} as tensor<6x1x1xf32, #{{.*}}split0_tp_rank3>
func.func @main(%x: tensor<5x7xf32>, %w: tensor<7x30xf32> {tp.parameter}, %v: tensor<30x7xf32> {tp.parameter}) -> (tensor<5x7xf32> {tp.name = "y"}) {
  %0 = tp.matmul %x, %w : (tensor<5x7xf32>, tensor<7x30xf32>) -> tensor<5x30xf32>
  %1 = tp.reshape %0 : (tensor<5x30xf32>) -> tensor<5x6x5xf32>
  %slopes = tp.constant dense<[0.5, 0.25, 0.125, 0.0625, 0.75, 1.5]> : tensor<6xf32>
  %2 = tp.broadcast %slopes along [0, 2] : (tensor<6xf32>) -> tensor<5x6x5xf32>
  %3 = tp.mul %1, %2 : (tensor<5x6x5xf32>, tensor<5x6x5xf32>) -> tensor<5x6x5xf32>
  %scales = tp.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]], [[6.0]]]> : tensor<6x1x1xf32>
  %4 = tp.reshape %scales : (tensor<6x1x1xf32>) -> tensor<6xf32>
  %5 = tp.broadcast %4 along [0, 2] : (tensor<6xf32>) -> tensor<5x6x5xf32>
  %6 = tp.mul %3, %5 : (tensor<5x6x5xf32>, tensor<5x6x5xf32>) -> tensor<5x6x5xf32>
  %7 = tp.reshape %6 : (tensor<5x6x5xf32>) -> tensor<5x30xf32>
  %8 = tp.matmul %7, %v : (tensor<5x30xf32>, tensor<30x7xf32>) -> tensor<5x7xf32>
  return %8 : tensor<5x7xf32>
}
