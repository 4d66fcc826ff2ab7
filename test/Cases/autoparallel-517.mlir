// meta-pytorch/autoparallel 517: a partial gradient on a mesh of two axes was noted
// as whole on one and reduced again over it. From whole and partial to split and
// partial, transposed, to split and whole: one slice over dp, one reduction over
// cp, and no more is accepted.
// RUN: split-file %s %t
// RUN: tp-opt %t/right.mlir --tp-insert-collectives | FileCheck %t/right.mlir
// RUN: tp-opt %t/wrong.mlir --split-input-file --verify-diagnostics

//--- right.mlir
// CHECK: tp.all_slice %{{.*}} dim 1 over {"dp"}
// CHECK-NEXT: tp.transpose
// CHECK-NEXT: tp.all_reduce %{{.*}} over {"cp"}
// CHECK-NEXT: return
tp.mesh @mesh = <["dp"=2, "cp"=2]>
#p = #tp.sharding<@mesh, [{}, {}], unreduced = {"cp"}>
#col = #tp.sharding<@mesh, [{}, {"dp"}], unreduced = {"cp"}>
#row = #tp.sharding<@mesh, [{"dp"}, {}], unreduced = {"cp"}>
#done = #tp.sharding<@mesh, [{"dp"}, {}]>
func.func @main(%g: tensor<4x4xf32, #p>) -> tensor<4x4xf32, #done> {
  %a = tp.reshard %g : (tensor<4x4xf32, #p>) -> tensor<4x4xf32, #col>
  %b = tp.transpose %a by [1, 0] : (tensor<4x4xf32, #col>) -> tensor<4x4xf32, #row>
  %c = tp.reshard %b : (tensor<4x4xf32, #row>) -> tensor<4x4xf32, #done>
  return %c : tensor<4x4xf32, #done>
}

//--- wrong.mlir
tp.mesh @mesh = <["dp"=2, "cp"=2]>
#row = #tp.sharding<@mesh, [{"dp"}, {}], unreduced = {"cp"}>
#done = #tp.sharding<@mesh, [{"dp"}, {}]>
func.func @again_over_the_other_axis_r11(%b: tensor<4x4xf32, #row>) -> tensor<4x4xf32, #done> {
  // expected-note @below {{the operand is laid out here: #tp.sharding<@mesh, [{"dp"}, {}]>}}
  %c = tp.all_reduce %b over {"cp"} : (tensor<4x4xf32, #row>) -> tensor<4x4xf32, #done>
  // expected-error @below {{'tp.all_reduce': needs an operand that is unreduced over "dp" [R11]}}
  // expected-note @below {{fix: leave it out}}
  %d = tp.all_reduce %c over {"dp"} : (tensor<4x4xf32, #done>) -> tensor<4x4xf32, #done>
  return %d : tensor<4x4xf32, #done>
}
