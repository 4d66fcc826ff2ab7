// mirage-project/mirage 722: the residual was added on every rank before the
// reduction, so that it counted as often as there are ranks: of partials 1 and 2
// and a residual of 100 came 203 and not 103. The next norm hid it.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

tp.mesh @mesh = <["tp"=2]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
func.func @residual_in_the_sum_r2(%x: tensor<3x4xf32, #col>, %w: tensor<4x5xf32, #row>, %r: tensor<3x5xf32, #rep>) -> tensor<3x5xf32, #rep> {
  // expected-note @below {{'tp.matmul' left it unreduced}}
  %y = tp.matmul %x, %w : (tensor<3x4xf32, #col>, tensor<4x5xf32, #row>) -> tensor<3x5xf32, #sum>
  // expected-error @below {{'tp.add': operand 1 is unreduced over "tp" but operand 0 is finished; every rank would add the finished value, 2 times in all [R2]}}
  // expected-note @below {{fix: all-reduce operand 1 over "tp" first; the result is then #tp.sharding<@mesh, [{}, {}]>}}
  // expected-note @below {{fix: make operand 0 unreduced with tp.to_unreduced over "tp"}}
  %z = tp.add %r, %y : (tensor<3x5xf32, #rep>, tensor<3x5xf32, #sum>) -> tensor<3x5xf32, #sum>
  %s = tp.all_reduce %z over {"tp"} : (tensor<3x5xf32, #sum>) -> tensor<3x5xf32, #rep>
  return %s : tensor<3x5xf32, #rep>
}
