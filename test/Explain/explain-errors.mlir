// What cannot be explained, and why.
// RUN: split-file %s %t
// RUN: not tp-opt %t/open.mlir --tp-explain 2>&1 | FileCheck %s
// RUN: not tp-opt %t/open.mlir --tp-plan="mesh=tp=2" --tp-explain="output=/nowhere/report" 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not tp-opt %t/pins.mlir --tp-explain 2>&1 | FileCheck %s --check-prefix=PINS
// RUN: not tp-opt %t/mlp.mlir --tp-plan="mesh=tp=2" --tp-explain="why-not=w3:row" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tp-opt %t/mlp.mlir --tp-plan="mesh=tp=2" --tp-explain="why-not=w:row" 2>&1 | FileCheck %s --check-prefix=AMBIGUOUS
// RUN: not tp-opt %t/mlp.mlir --tp-plan="mesh=tp=2" --tp-explain="why-not=w1" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not tp-opt %t/mlp.mlir --tp-plan="mesh=tp=2" --tp-explain="why-not=w1:row;" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not tp-opt %t/mlp.mlir --tp-plan="mesh=tp=2" --tp-explain="why-not=gain:row" 2>&1 | FileCheck %s --check-prefix=GAIN
// RUN: not tp-opt %t/mlp.mlir --tp-plan="mesh=tp=2" --tp-explain="why-not=w1:diagonal" 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not tp-opt %t/mlp.mlir --tp-plan="mesh=tp=2" --tp-explain='why-not=w1:[{},{"pp"}]' 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not tp-opt %t/mlp.mlir --tp-plan="mesh=tp=2" --tp-explain='why-not=w1:[{"tp"}]' 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not tp-opt %t/mlp.mlir --tp-plan="mesh=a=2,b=2,c=2,d=2" --tp-explain="why-not=w1:column,w2:column" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not tp-opt %t/mlp.mlir --tp-plan="mesh=tp=2" --tp-explain="why-not=w1:row,w1:column" 2>&1 | FileCheck %s --check-prefix=TWICE

//--- mlp.mlir
// UNKNOWN: error: why-not: 'w3' is not a weight
// UNKNOWN-NEXT: note: the weights are gain, w1, w2
// AMBIGUOUS: error: why-not: 'w' is more than one weight
// AMBIGUOUS-NEXT: note: it may be w1, w2
// SYNTAX: error: why-not: 'w1' is not a question; one is written weight:layout, as q_proj:row
// EMPTY: error: why-not: '' is not a question
// GAIN: error: why-not: no product sums over a dimension of 'gain', so row and column mean nothing for it; write its layout, as [{"tp"}]
// WORD: error: why-not: 'diagonal' is neither row, column or whole nor a layout of 'w1' such as [{}, {"tp"}]: expected '['
// AXIS: error: why-not: '[{},{"pp"}]' is neither {{.*}}: axis "pp" is not one of the mesh's axes
// MANY: error: why-not: 'w1:column,w2:column' leaves {{[0-9]+}} combinations of layouts open, more than 256; write the layouts in full
// TWICE: error: why-not: 'w1:row,w1:column' asks for 'w1' twice, which lies in one way only; ask a question for each with ';' in place of ','
// RANK: error: why-not: '[{"tp"}]' is neither {{.*}}: it has 1 dimensions, the weight has 2
func.func @main(%x: tensor<8x64xf32>, %g: tensor<64xf32> {tp.parameter, tp.name = "gain"},
    %a: tensor<64x256xf32> {tp.parameter, tp.name = "w1"},
    %b: tensor<256x64xf32> {tp.parameter, tp.name = "w2"}) -> tensor<8x64xf32> {
  %n = tp.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
  %h = tp.matmul %n, %a : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
  %y = tp.matmul %h, %b : (tensor<8x256xf32>, tensor<256x64xf32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

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
