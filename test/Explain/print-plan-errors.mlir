// What has no plan to print.
// RUN: split-file %s %t
// RUN: not tp-opt %t/open.mlir --tp-print-plan 2>&1 | FileCheck %s
// RUN: not tp-opt %t/open.mlir --tp-plan="mesh=tp=2" --tp-print-plan="format=xml" 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not tp-opt %t/open.mlir --tp-plan="mesh=tp=2" --tp-print-plan="output=/nowhere/table" 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not tp-opt %t/other.mlir --tp-print-plan 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not tp-opt %t/none.mlir --tp-print-plan 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tp-opt %t/large.mlir --tp-plan --tp-print-plan 2>&1 | FileCheck %s --check-prefix=LARGE

//--- open.mlir
// CHECK: error: carries no plan; run tp-plan before tp-print-plan
// FORMAT: error: tp-print-plan knows no format 'xml'; use text or json
// FILE: error: {{.*}}cannot write the report to '/nowhere/table'
func.func @main(%x: tensor<4xf32>) {
  return
}

//--- other.mlir
// A layout that no plan with stationary weights has.
// OTHER: error: 'w' is laid out in a way that the recorded settings do not allow: none of the 2 ways that they do has these layouts together
#whole = #tp.sharding<@mesh, [{}, {}]>
module attributes {tp.machine = "h100", tp.plan = {weights = "stationary", sequence_parallel = "auto", model_axes = "\22tp\22"}} {
  tp.mesh @mesh = <["tp"=2]>
  func.func @main(%x: tensor<8x4xf32, #whole>, %w: tensor<4x64xf32, #whole> {tp.parameter, tp.name = "w"}) -> tensor<8x64xf32, #whole> {
    %y = tp.matmul %x, %w : (tensor<8x4xf32, #whole>, tensor<4x64xf32, #whole>) -> tensor<8x64xf32, #whole>
    return %y : tensor<8x64xf32, #whole>
  }
}

//--- none.mlir
// Five elements do not lie on two ranks as the pin wants.
// NONE: error: {{.*}} of shape [5] is pinned as #tp.sharding<@mesh, [{"tp"}]>: shards must be even unless uneven=allow, and 5 of dimension 0 cannot be dealt evenly to 2 ranks
#row = #tp.sharding<@mesh, [{"tp"}]>
module attributes {tp.machine = "h100", tp.plan = {weights = "free", sequence_parallel = "auto", model_axes = "tp"}} {
  tp.mesh @mesh = <["tp"=2]>
  func.func @main(%x: tensor<5xf32>) -> (tensor<5xf32, #row> {tp.pinned}) {
    %y = tp.reshard %x {tp.pinned} : (tensor<5xf32>) -> tensor<5xf32, #row>
    return %y : tensor<5xf32, #row>
  }
}

//--- large.mlir
// LARGE: error: {{.*}}has 131072 ranks; tp-print-plan lists up to 65536
tp.mesh @mesh = <["tp"=131072]>
func.func @main(%x: tensor<131072xf32>) -> tensor<131072xf32> {
  return %x : tensor<131072xf32>
}
