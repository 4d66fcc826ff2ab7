// Shards that differ in size: a function for each set of local shapes, and a
// table that says which rank runs which.
// RUN: tp-opt %s --tp-partition | FileCheck %s

tp.mesh @mesh = <["tp"=3]>
#whole = #tp.sharding<@mesh, [{}, {}]>
#cols = #tp.sharding<@mesh, [{}, {"tp"}]>
#rows = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>

// 10 over 3 is 4,3,3; 7 is 3,2,2: ranks 1 and 2 run one function.
// CHECK-LABEL: func.func private @layer_0
// CHECK-SAME: tensor<5x4xf32> {tp.global = tensor<5x10xf32
// CHECK: tp.local_reduce_scatter {{.*}} groups dense<{{\[\[}}0, 1, 2]]> : tensor<1x3xi64> pieces dense<{{\[\[}}3, 2, 2]]> : tensor<1x3xi64> : (tensor<7x5xf32>) -> tensor<3x5xf32>
// CHECK-LABEL: func.func private @layer_1
// CHECK: tp.local_reduce_scatter {{.*}} pieces dense<{{\[\[}}3, 2, 2]]> : tensor<1x3xi64> : (tensor<7x5xf32>) -> tensor<2x5xf32>
// CHECK-NOT: @layer_2
// CHECK: tp.rank_table @layer [@layer_0, @layer_1] [0, 1, 1] {sym_visibility = "private"}
func.func private @layer(%x: tensor<7x5xf32, #whole>, %w: tensor<5x10xf32, #cols>, %v: tensor<10x5xf32, #rows>) -> tensor<7x5xf32, #rows> {
  %0 = tp.matmul %x, %w : (tensor<7x5xf32, #whole>, tensor<5x10xf32, #cols>) -> tensor<7x10xf32, #cols>
  %1 = tp.relu %0 : (tensor<7x10xf32, #cols>) -> tensor<7x10xf32, #cols>
  %2 = tp.matmul %1, %v : (tensor<7x10xf32, #cols>, tensor<10x5xf32, #rows>) -> tensor<7x5xf32, #sum>
  %3 = tp.reduce_scatter %2 dim 0 over {"tp"} : (tensor<7x5xf32, #sum>) -> tensor<7x5xf32, #rows>
  return %3 : tensor<7x5xf32, #rows>
}

// What the last dimension, 5 over 3, adds: every rank has a function of its own.
// CHECK-LABEL: func.func private @main_0
// CHECK: call @layer_0
// CHECK: tp.local_all_gather {{.*}} dim 0 {{.*}} pieces dense<{{\[\[}}3, 2, 2]]> : tensor<1x3xi64> : (tensor<3x5xf32>) -> tensor<7x5xf32>
// CHECK: tp.local_all_to_all {{.*}} source_pieces dense<{{\[\[}}3, 2, 2]]> : tensor<1x3xi64> target_pieces dense<{{\[\[}}2, 2, 1]]> : tensor<1x3xi64> : (tensor<3x5xf32>) -> tensor<7x2xf32>
// CHECK-LABEL: func.func private @main_2
// CHECK: call @layer_1
// CHECK: tp.local_all_to_all {{.*}} : (tensor<2x5xf32>) -> tensor<7x1xf32>
// CHECK: tp.rank_table @main [@main_0, @main_1, @main_2] [0, 1, 2]{{$}}
func.func @main(%x: tensor<7x5xf32, #whole>, %w: tensor<5x10xf32, #cols>, %v: tensor<10x5xf32, #rows>) -> tensor<7x5xf32, #cols> {
  %0 = call @layer(%x, %w, %v) : (tensor<7x5xf32, #whole>, tensor<5x10xf32, #cols>, tensor<10x5xf32, #rows>) -> tensor<7x5xf32, #rows>
  %1 = tp.all_gather %0 dim 0 over {"tp"} : (tensor<7x5xf32, #rows>) -> tensor<7x5xf32, #whole>
  %2 = call @layer(%1, %w, %v) : (tensor<7x5xf32, #whole>, tensor<5x10xf32, #cols>, tensor<10x5xf32, #rows>) -> tensor<7x5xf32, #rows>
  %3 = tp.all_to_all %2 from 0 to 1 over {"tp"} : (tensor<7x5xf32, #rows>) -> tensor<7x5xf32, #cols>
  return %3 : tensor<7x5xf32, #cols>
}

// Even shards beside them stay one function.
// CHECK: func.func private @even(%{{.*}}: tensor<2x5xf32>
#even = #tp.sharding<@mesh, [{"tp"}, {}]>
func.func private @even(%x: tensor<6x5xf32, #even>) -> tensor<6x5xf32, #even> {
  %0 = tp.relu %x : (tensor<6x5xf32, #even>) -> tensor<6x5xf32, #even>
  return %0 : tensor<6x5xf32, #even>
}
