// RUN: not tp-opt %s --tp-explain 2>&1 | FileCheck %s
// RUN: not tp-opt %s --tp-plan="mesh=tp=2" --tp-explain="output=/nowhere/report" 2>&1 | FileCheck %s --check-prefix=FILE

// CHECK: error: {{.*}}carries no plan; run tp-plan before tp-explain
// FILE: error: {{.*}}cannot write '/nowhere/report'
func.func @main(%x: tensor<4xf32>) {
  return
}
