// Each mechanical fix is applied and said; what comes out passes tp-check, which
// runs behind the pass.
// RUN: tp-opt %s --tp-legalize --split-input-file --verify-diagnostics | FileCheck %s

tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#bias = #tp.sharding<@mesh, [{}]>

// CHECK-LABEL: func.func @reduced_before_the_nonlinearity
// CHECK: %[[PARTIAL:.*]] = tp.matmul
// CHECK-NEXT: %[[SUM:.*]] = tp.all_reduce %[[PARTIAL]] over {"tp"}
// CHECK-NEXT: %[[ACTIVE:.*]] = tp.gelu %[[SUM]]
// CHECK-NEXT: return %[[ACTIVE]]
func.func @reduced_before_the_nonlinearity(%x: tensor<3x4xf32, #col>, %w: tensor<4x10xf32, #row>) -> tensor<3x10xf32, #rep> {
  %y = tp.matmul %x, %w : (tensor<3x4xf32, #col>, tensor<4x10xf32, #row>) -> tensor<3x10xf32, #sum>
  // expected-remark @below {{fixed [R1]: all-reduce it over "tp" before this operation; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %z = tp.gelu %y : (tensor<3x10xf32, #sum>) -> tensor<3x10xf32, #sum>
  // The reduction that came too late is left out.
  // expected-remark @below {{fixed [R11]: leave it out}}
  %s = tp.all_reduce %z over {"tp"} : (tensor<3x10xf32, #sum>) -> tensor<3x10xf32, #rep>
  return %s : tensor<3x10xf32, #rep>
}

// One reduction serves both the bias and the second use.
// CHECK-LABEL: func.func @bias_after_the_sum
// CHECK-SAME: (%[[PARTIAL:.*]]: tensor<5x7xf32, {{.*}}>, %[[BIAS:.*]]: tensor<7xf32
// CHECK-NEXT: %[[SUM:.*]] = tp.all_reduce %[[PARTIAL]] over {"tp"}
// CHECK-NEXT: %[[BIASED:.*]] = tp.add %[[SUM]], %[[BIAS]]
// CHECK-NEXT: tp.add %[[BIASED]], %[[SUM]]
func.func @bias_after_the_sum(%y: tensor<5x7xf32, #sum>, %b: tensor<7xf32, #bias>) -> tensor<5x7xf32, #rep> {
  // expected-remark @below {{fixed [R2]: all-reduce operand 0 over "tp" first; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %z = tp.add %y, %b : (tensor<5x7xf32, #sum>, tensor<7xf32, #bias>) -> tensor<5x7xf32, #sum>
  // expected-remark @below {{fixed [R2]: all-reduce operand 1 over "tp" first; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %t = tp.add %z, %y : (tensor<5x7xf32, #sum>, tensor<5x7xf32, #sum>) -> tensor<5x7xf32, #sum>
  // expected-remark @below {{fixed [R11]: leave it out}}
  %s = tp.all_reduce %t over {"tp"} : (tensor<5x7xf32, #sum>) -> tensor<5x7xf32, #rep>
  return %s : tensor<5x7xf32, #rep>
}

// CHECK-LABEL: func.func @operands_that_disagree
// CHECK: %[[WHOLE:.*]] = tp.all_gather %{{.*}} dim 0 over {"tp"}
// CHECK-NEXT: tp.matmul %{{.*}}, %[[WHOLE]]
func.func @operands_that_disagree(%x: tensor<3x4xf32, #rep>, %w: tensor<4x6xf32, #row>) -> tensor<3x6xf32, #rep> {
  // expected-remark @below {{fixed [R4]: all-gather dimension 0 of operand 1 over "tp"}}
  %y = tp.matmul %x, %w : (tensor<3x4xf32, #rep>, tensor<4x6xf32, #row>) -> tensor<3x6xf32, #rep>
  return %y : tensor<3x6xf32, #rep>
}

// CHECK-LABEL: func.func @sum_that_was_forgotten
// CHECK: %[[PARTIAL:.*]] = tp.matmul
// CHECK-NEXT: %[[SUM:.*]] = tp.all_reduce %[[PARTIAL]] over {"tp"}
// CHECK-NEXT: return %[[SUM]]
func.func @sum_that_was_forgotten(%x: tensor<3x4xf32, #col>, %w: tensor<4x6xf32, #row>) -> tensor<3x6xf32, #rep> {
  // expected-remark @below {{fixed [R7]: all-reduce it over "tp" after this operation}}
  %y = tp.matmul %x, %w : (tensor<3x4xf32, #col>, tensor<4x6xf32, #row>) -> tensor<3x6xf32, #rep>
  return %y : tensor<3x6xf32, #rep>
}

// CHECK-LABEL: func.func @returned_unfinished
// CHECK: %[[PARTIAL:.*]] = tp.matmul
// CHECK-NEXT: %[[SUM:.*]] = tp.reshard %[[PARTIAL]]
// CHECK-NEXT: return %[[SUM]]
func.func @returned_unfinished(%x: tensor<3x4xf32, #col>, %w: tensor<4x6xf32, #row>) -> tensor<3x6xf32, #rep> {
  %y = tp.matmul %x, %w : (tensor<3x4xf32, #col>, tensor<4x6xf32, #row>) -> tensor<3x6xf32, #sum>
  // expected-remark @below {{fixed [R13]: reshard operand 0 to the layout of the signature of @returned_unfinished}}
  return %y : tensor<3x6xf32, #sum>
}

// CHECK-LABEL: func.func @called_with_another_layout
// CHECK: %[[WHOLE:.*]] = tp.reshard %{{.*}}
// CHECK-NEXT: %[[MADE:.*]] = call @returned_unfinished(%[[WHOLE]]
// CHECK-NEXT: %[[SPLIT:.*]] = tp.reshard %[[MADE]]
// CHECK-NEXT: tp.relu %[[SPLIT]]
func.func @called_with_another_layout(%x: tensor<3x4xf32, #rep>, %w: tensor<4x6xf32, #row>) -> tensor<3x6xf32, #col> {
  // expected-remark @below {{fixed [R13]: reshard operand 0 to the layout of the signature of @returned_unfinished}}
  // expected-remark @below {{fixed [R13]: reshard result 0 to the layout of the signature of @returned_unfinished}}
  %y = call @returned_unfinished(%x, %w) : (tensor<3x4xf32, #rep>, tensor<4x6xf32, #row>) -> tensor<3x6xf32, #col>
  %z = tp.relu %y : (tensor<3x6xf32, #col>) -> tensor<3x6xf32, #col>
  return %z : tensor<3x6xf32, #col>
}

// CHECK-LABEL: func.func @norm_over_a_split_dimension
// CHECK-DAG: %[[INPUT:.*]] = tp.all_gather %{{.*}} dim 1 over {"tp"}
// CHECK-DAG: %[[GAIN:.*]] = tp.all_gather %{{.*}} dim 0 over {"tp"}
// CHECK: %[[NORM:.*]] = tp.rms_norm %[[INPUT]], %[[GAIN]]
// CHECK-NEXT: tp.reshard %[[NORM]]
func.func @norm_over_a_split_dimension(%x: tensor<3x8xf32, #col>, %g: tensor<8xf32, #tp.sharding<@mesh, [{"tp"}]>>) -> tensor<3x8xf32, #col> {
  // expected-remark @below {{fixed [R5]: all-gather that dimension over "tp" before this operation (operand 0, operand 1); the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %y = tp.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<3x8xf32, #col>, tensor<8xf32, #tp.sharding<@mesh, [{"tp"}]>>) -> tensor<3x8xf32, #col>
  // expected-remark @below {{fixed [R13]: reshard operand 0 to the layout of the signature of @norm_over_a_split_dimension}}
  return %y : tensor<3x8xf32, #col>
}

// What is right is left alone.
// CHECK-LABEL: func.func @right
// CHECK: tp.add
// CHECK-NEXT: tp.all_reduce
// CHECK-NEXT: return
func.func @right(%y: tensor<5x7xf32, #sum>) -> tensor<5x7xf32, #rep> {
  %t = tp.add %y, %y : (tensor<5x7xf32, #sum>, tensor<5x7xf32, #sum>) -> tensor<5x7xf32, #sum>
  %s = tp.all_reduce %t over {"tp"} : (tensor<5x7xf32, #sum>) -> tensor<5x7xf32, #rep>
  return %s : tensor<5x7xf32, #rep>
}

// -----

// The queries split by four, the keys by two: grouped queries need no more.
// CHECK-LABEL: func.func @kv_heads_over_the_major_half
// CHECK: %[[KEYS:.*]] = tp.{{.*}} %{{.*}} : ({{.*}}) -> tensor<1x5x2x2xf32, #{{.*}}>
// CHECK-NEXT: tp.attention %{{.*}}, %[[KEYS]], %[[KEYS]]
tp.mesh @mesh = <["tp"=4]>
#q = #tp.sharding<@mesh, [{}, {}, {"tp"}, {}]>
#minor = #tp.sharding<@mesh, [{}, {}, {"tp":(2)2}, {}]>
func.func @kv_heads_over_the_major_half(%q: tensor<1x3x8x2xf32, #q>, %k: tensor<1x5x2x2xf32, #minor>) -> tensor<1x3x8x2xf32, #q> {
  // expected-remark @below {{fixed [R4]: reshard operand 1 to the layout of operand 0: #tp.sharding<@mesh, [{}, {}, {"tp":(1)2}, {}]>}}
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x3x8x2xf32, #q>, tensor<1x5x2x2xf32, #minor>, tensor<1x5x2x2xf32, #minor>) -> tensor<1x3x8x2xf32, #q>
  return %o : tensor<1x3x8x2xf32, #q>
}

// -----

// Three ways to be wrong at one operation, fixed one after the other.
tp.mesh @mesh = <["dp"=3, "tp"=2]>
#tp = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#dp = #tp.sharding<@mesh, [{"tp"}, {}], unreduced = {"dp"}>
#rep = #tp.sharding<@mesh, [{}, {}]>
// CHECK-LABEL: func.func @several_at_once
func.func @several_at_once(%x: tensor<6x4xf32, #tp>, %y: tensor<6x4xf32, #dp>) -> tensor<6x4xf32, #rep> {
  // expected-remark @below {{fixed [R4]: all-gather dimension 0 of operand 1 over "tp"; the result is then #tp.sharding<@mesh, [{}, {}], unreduced = {"dp", "tp"}>}}
  // expected-remark @below {{fixed [R2]: all-reduce operand 0 over "tp" and operand 1 over "dp" first; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  %z = tp.add %x, %y : (tensor<6x4xf32, #tp>, tensor<6x4xf32, #dp>) -> tensor<6x4xf32, #rep>
  return %z : tensor<6x4xf32, #rep>
}
