// Sizes that the ranks do not divide, and heads that share keys and values.
// RUN: split-file %s %t
// RUN: tp-opt %t/mlp.mlir --tp-plan="mesh=tp=4 uneven=allow" | FileCheck %s --check-prefix=MLP
// RUN: tp-opt %t/mlp.mlir --tp-plan="mesh=tp=4 uneven=allow" --tp-insert-collectives --tp-check --tp-cost-report -o /dev/null
// RUN: tp-opt %t/queries.mlir --tp-plan="mesh=tp=3" | FileCheck %s --check-prefix=MQA
// RUN: tp-opt %t/pinned.mlir --tp-plan="uneven=allow" | FileCheck %s --check-prefix=DEALT
// RUN: tp-opt %t/pinned.mlir --tp-plan="uneven=allow" --tp-explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

//--- mlp.mlir
// The ffn of 10 is dealt 3,3,2,2; the plan says that it may be.
// MLP: tp.plan = {{.*}}uneven = "allow"
// MLP: %arg1: tensor<6x10xf32, #split1_tp_rank2>
// MLP-SAME: %arg2: tensor<10x6xf32, #split0_tp_rank2>
func.func @main(%x: tensor<4x6xf32>, %a: tensor<6x10xf32> {tp.parameter}, %b: tensor<10x6xf32> {tp.parameter}) -> tensor<4x6xf32> {
  %0 = tp.matmul %x, %a : (tensor<4x6xf32>, tensor<6x10xf32>) -> tensor<4x10xf32>
  %1 = tp.relu %0 : (tensor<4x10xf32>) -> tensor<4x10xf32>
  %2 = tp.matmul %1, %b : (tensor<4x10xf32>, tensor<10x6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

//--- queries.mlir
// One KV head: its projection is computed on every rank, the query heads are
// split.
// MQA: %arg1: tensor<500x600xf32, #split1_tp_rank2>
// MQA-SAME: %arg2: tensor<500x100xf32, #whole2>
// MQA-SAME: %arg3: tensor<600x500xf32, #split0_tp_rank2>
func.func @main(%x: tensor<3x500xf32>, %wq: tensor<500x600xf32> {tp.parameter}, %wk: tensor<500x100xf32> {tp.parameter}, %wo: tensor<600x500xf32> {tp.parameter}) -> tensor<3x500xf32> {
  %0 = tp.matmul %x, %wq : (tensor<3x500xf32>, tensor<500x600xf32>) -> tensor<3x600xf32>
  %q = tp.reshape %0 : (tensor<3x600xf32>) -> tensor<1x3x6x100xf32>
  %1 = tp.matmul %x, %wk : (tensor<3x500xf32>, tensor<500x100xf32>) -> tensor<3x100xf32>
  %k = tp.reshape %1 : (tensor<3x100xf32>) -> tensor<1x3x1x100xf32>
  %2 = tp.attention %q, %k, %k {causal, scale = 1.0 : f64} : (tensor<1x3x6x100xf32>, tensor<1x3x1x100xf32>, tensor<1x3x1x100xf32>) -> tensor<1x3x6x100xf32>
  %3 = tp.reshape %2 : (tensor<1x3x6x100xf32>) -> tensor<3x600xf32>
  %4 = tp.matmul %3, %wo : (tensor<3x600xf32>, tensor<600x500xf32>) -> tensor<3x500xf32>
  return %4 : tensor<3x500xf32>
}

//--- pinned.mlir
// 6 heads over 4 are 2,2,1,1: the weights are dealt in whole heads, too.
// DEALT: #[[HEADS:.*]] = #tp.sharding<@mesh, [{}, {"tp", unit = 100}]>
// WHY: argument 1 [500, 600]
// WHY-NEXT: dimension 1 of 600 over "tp", at most 200 a rank
// DEALT: %arg1: tensor<500x600xf32, #[[HEADS]]>
// DEALT-SAME: %arg2: tensor<500x100xf32, #whole2>
tp.mesh @mesh = <["tp"=4]>
#heads = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
func.func @main(%x: tensor<3x500xf32>, %wq: tensor<500x600xf32> {tp.parameter}, %wk: tensor<500x100xf32> {tp.parameter}, %wo: tensor<600x500xf32> {tp.parameter}) -> tensor<3x500xf32> {
  %0 = tp.matmul %x, %wq : (tensor<3x500xf32>, tensor<500x600xf32>) -> tensor<3x600xf32>
  %q = tp.reshape %0 : (tensor<3x600xf32>) -> tensor<1x3x6x100xf32, #heads>
  %1 = tp.matmul %x, %wk : (tensor<3x500xf32>, tensor<500x100xf32>) -> tensor<3x100xf32>
  %k = tp.reshape %1 : (tensor<3x100xf32>) -> tensor<1x3x1x100xf32>
  %2 = tp.attention %q, %k, %k {causal, scale = 1.0 : f64} : (tensor<1x3x6x100xf32, #heads>, tensor<1x3x1x100xf32>, tensor<1x3x1x100xf32>) -> tensor<1x3x6x100xf32>
  %3 = tp.reshape %2 : (tensor<1x3x6x100xf32>) -> tensor<3x600xf32>
  %4 = tp.matmul %3, %wo : (tensor<3x600xf32>, tensor<600x500xf32>) -> tensor<3x500xf32>
  return %4 : tensor<3x500xf32>
}
