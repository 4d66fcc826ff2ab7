// tenstorrent/tt-mlir 2556 (also pytorch/xla 5279): the groups of a reduction were
// lost on the way, and it ran over the other axis of the mesh. A reduction names
// its axes; others than the value is unreduced over are refused, and the groups of
// one rank's program are those of the axis: with values 1, 2, 4, 8 over a they are
// 0 with 2 and 1 with 3, hence 5 and 10.
// RUN: split-file %s %t
// RUN: tp-opt %t/wrong.mlir --split-input-file --verify-diagnostics
// RUN: tp-opt %t/right.mlir --tp-partition | FileCheck %t/right.mlir

//--- wrong.mlir
tp.mesh @mesh = <["a"=2, "b"=2]>
#a = #tp.sharding<@mesh, [{}], unreduced = {"a"}>
#rep = #tp.sharding<@mesh, [{}]>
// expected-note @below {{it comes in unreduced}}
func.func @over_the_other_axis_r11(%x: tensor<3xf32, #a>) -> tensor<3xf32, #rep> {
  // expected-error @below {{'tp.all_reduce': needs an operand that is unreduced over "b" [R11]}}
  // expected-note @below {{fix: instead all-reduce it over "a"}}
  %y = tp.all_reduce %x over {"b"} : (tensor<3xf32, #a>) -> tensor<3xf32, #rep>
  return %y : tensor<3xf32, #rep>
}

//--- right.mlir
// CHECK: tp.local_all_reduce %{{.*}} sum groups dense<{{\[\[}}0, 2], [1, 3{{\]\]}}>
tp.mesh @mesh = <["a"=2, "b"=2]>
#a = #tp.sharding<@mesh, [{}], unreduced = {"a"}>
#rep = #tp.sharding<@mesh, [{}]>
func.func @main(%x: tensor<3xf32, #a>) -> tensor<3xf32, #rep> {
  %y = tp.all_reduce %x over {"a"} : (tensor<3xf32, #a>) -> tensor<3xf32, #rep>
  return %y : tensor<3xf32, #rep>
}
