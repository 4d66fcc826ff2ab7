// What cannot be explained, and why.
// RUN: split-file %s %t
// RUN: not tp-opt %t/open.mlir --tp-explain 2>&1 | FileCheck %s
// RUN: not tp-opt %t/open.mlir --tp-plan="mesh=tp=2" --tp-explain="output=/nowhere/report" 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not tp-opt %t/pins.mlir --tp-explain 2>&1 | FileCheck %s --check-prefix=PINS

//--- open.mlir
// CHECK: error: {{.*}}carries no plan; run tp-plan before tp-explain
// FILE: error: {{.*}}cannot write the report to '/nowhere/report'
func.func @main(%x: tensor<4xf32>) {
  return
}

//--- pins.mlir
// Five elements do not lie on two ranks as the pin wants.
// PINS: error: was planned, but not by this program: its recorded settings give no plan
#row = #tp.sharding<@mesh, [{"tp"}]>
module attributes {tp.machine = "h100", tp.plan = {weights = "free", sequence_parallel = "auto", model_axes = "tp"}} {
  tp.mesh @mesh = <["tp"=2]>
  func.func @main(%x: tensor<5xf32>) -> (tensor<5xf32, #row> {tp.pinned}) {
    %y = tp.reshard %x {tp.pinned} : (tensor<5xf32>) -> tensor<5xf32, #row>
    return %y : tensor<5xf32, #row>
  }
}
