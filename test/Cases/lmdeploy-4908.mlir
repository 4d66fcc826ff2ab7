// InternLM/lmdeploy 4908 and RBLN-SW/vllm-rbln 960: the mirror image of
// tpu-inference 3435: a finished output was added inside the sum, and counted once
// a rank: of 10 and partials 1 and 2 came 23 and not 13. tp-legalize reduces the
// partial one and leaves the later reduction out.
// RUN: tp-opt %s --split-input-file --verify-diagnostics
// RUN: tp-opt %s --tp-legalize 2>/dev/null | FileCheck %s

// CHECK: %[[SUM:.*]] = tp.all_reduce %{{.*}} over {"tp"}
// CHECK-NEXT: %[[BOTH:.*]] = tp.add %{{.*}}, %[[SUM]]
// CHECK-NEXT: return %[[BOTH]]
tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
// expected-note @below {{it comes in unreduced}}
func.func @finished_inside_the_sum_r2(%full: tensor<3x5xf32, #rep>, %partial: tensor<3x5xf32, #sum>) -> tensor<3x5xf32, #rep> {
  // expected-error @below {{'tp.add': operand 1 is unreduced over "tp" but operand 0 is finished; every rank would add the finished value, 2 times in all [R2]}}
  // expected-note @below {{fix: all-reduce operand 1 over "tp" first; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  // expected-note @below {{fix: make operand 0 unreduced with tp.to_unreduced over "tp"}}
  %y = tp.add %full, %partial : (tensor<3x5xf32, #rep>, tensor<3x5xf32, #sum>) -> tensor<3x5xf32, #sum>
  %s = tp.all_reduce %y over {"tp"} : (tensor<3x5xf32, #sum>) -> tensor<3x5xf32, #rep>
  return %s : tensor<3x5xf32, #rep>
}
