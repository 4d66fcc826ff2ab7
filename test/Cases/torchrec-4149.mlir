// meta-pytorch/torchrec 4149: two collectives that did not depend on one another
// were called in different orders by different ranks, over crossing groups, and
// waited for each other. All ranks get one program, and its collectives have an
// effect that keeps passes from moving one across another or leaving one out.
// RUN: tp-opt %s --tp-partition --cse --canonicalize | FileCheck %s

// CHECK: tp.local_all_reduce %{{.*}} sum groups dense<{{\[\[}}0, 1], [2, 3{{\]\]}}>
// CHECK: tp.local_all_reduce %{{.*}} sum groups dense<{{\[\[}}0, 2], [1, 3{{\]\]}}>
// CHECK: tp.local_all_reduce %{{.*}} sum groups dense<{{\[\[}}0, 1], [2, 3{{\]\]}}>
tp.mesh @mesh = <["dp"=2, "tp"=2]>
#tp = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#dp = #tp.sharding<@mesh, [{}], unreduced = {"dp"}>
#rep = #tp.sharding<@mesh, [{}]>
func.func @main(%x: tensor<4xf32, #tp>, %y: tensor<4xf32, #dp>) -> (tensor<4xf32, #rep>, tensor<4xf32, #rep>) {
  %a = tp.all_reduce %x over {"tp"} : (tensor<4xf32, #tp>) -> tensor<4xf32, #rep>
  %b = tp.all_reduce %y over {"dp"} : (tensor<4xf32, #dp>) -> tensor<4xf32, #rep>
  %t = tp.transpose %x by [0] : (tensor<4xf32, #tp>) -> tensor<4xf32, #tp>
  %c = tp.all_reduce %t over {"tp"} : (tensor<4xf32, #tp>) -> tensor<4xf32, #rep>
  return %a, %b : tensor<4xf32, #rep>, tensor<4xf32, #rep>
}
