// RUN: split-file %s %t
// RUN: tp-opt %t/bad.mlir --split-input-file --verify-diagnostics --tp-print-slices
// RUN: not tp-opt %t/good.mlir --tp-print-slices=format=html 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not tp-opt %t/good.mlir --tp-print-slices=output=%t/missing/list 2>&1 | FileCheck %s --check-prefix=OUTPUT

// FORMAT: error: tp-print-slices knows no format 'html'; use text or json
// OUTPUT: error: cannot write the report to '{{.*}}missing/list': {{[Nn]}}o such file

//--- good.mlir
tp.mesh @mesh = <["tp"=2]>
func.func @main() {
  return
}

//--- bad.mlir
// expected-error@+1 {{has 0 meshes, tp-print-slices lists the ranks of one; fix: run tp-plan first}}
module {
  func.func @main() {
    return
  }
}

// -----

// expected-error@+1 {{has 65537 ranks; tp-print-slices lists up to 65536}}
module {
  tp.mesh @mesh = <["tp"=65537]>
  func.func @main() {
    return
  }
}

// -----

// expected-error@+1 {{the module has no public function with a body to start from}}
module {
  tp.mesh @mesh = <["tp"=2]>
}

// -----

tp.mesh @mesh = <["tp"=2]>
// expected-error @below {{argument 0 has no layout; fix: run tp-plan before tp-print-slices}}
func.func @open(%w: tensor<4x6xf32> {tp.parameter}) {
  return
}

// -----

tp.mesh @mesh = <["tp"=2]>
#whole = #tp.sharding<@mesh, [ {} ]>
// expected-error @below {{argument 0 consists of more than 65536 parts of "w" on one rank}}
func.func @many_runs(%w: tensor<70000xf32, #whole> {tp.parameter, tp.stored = #tp.stored<"w" [140000], dim 0 from 0 size 1 stride 2 count 70000>}) {
  return
}
