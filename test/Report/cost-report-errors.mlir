// RUN: split-file %s %t
// RUN: tp-opt %t/bad.mlir --split-input-file --verify-diagnostics --tp-cost-report
// RUN: not tp-opt %t/good.mlir --tp-cost-report=format=html 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not tp-opt %t/good.mlir --tp-cost-report=machine=abacus 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: not tp-opt %t/good.mlir --tp-cost-report=output=%t/missing/report 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not tp-opt %t/good.mlir --tp-cost-report=output=/dev/full 2>&1 | FileCheck %s --check-prefix=FULL

// Each of 64 functions calls the next one twice.
// RUN: %python -c "for i in range(65): print('func.func', 'private' if i else '', f'@f{i}() {{', f'call @f{i+1}() : () -> () ' * 2, 'return }')" > %t/deep.mlir
// RUN: echo "func.func private @f65() { return }" >> %t/deep.mlir
// RUN: not tp-opt %t/deep.mlir --tp-cost-report 2>&1 | FileCheck %s --check-prefix=DEEP

// FORMAT: error: tp-cost-report knows no format 'html'; use text or json
// MACHINE: error: machine 'abacus' is not in share/machines
// OUTPUT: error: cannot write the report to '{{.*}}missing/report': {{[Nn]}}o such file
// FULL: error: cannot write the report to '/dev/full': {{[Nn]}}o space left
// DEEP: brings the calls of 'f63' in one step to more than 2^63 - 1

//--- good.mlir
func.func @main() {
  return
}

//--- bad.mlir
// expected-error@+1 {{the module has no public function with a body to start from}}
module {}

// -----

// expected-error@+1 {{the module has 2 public functions (@one, @two); make all but the entry private}}
module {
  func.func @one() {
    return
  }
  func.func @two() {
    return
  }
}

// -----

func.func @main() {
  call @there() : () -> ()
  return
}
func.func private @there() {
  call @back() : () -> ()
  return
}
// expected-error@+1 {{'back' calls itself, directly or through others; the number of its calls is unknown}}
func.func private @back() {
  call @there() : () -> ()
  return
}

// -----

func.func private @outside()
func.func @main() {
  // expected-error@+1 {{calls 'outside', which has no body to price}}
  call @outside() : () -> ()
  return
}

// -----

// expected-error@+2 {{has a tensor without a layout, 'tensor<8xf32>'; only a typed program has a predictable cost}}
// expected-note@+1 {{fix: run tp-plan first}}
func.func @main(%0: tensor<8xf32>) -> tensor<8xf32> {
  %1 = tp.relu %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// expected-error@+2 {{'main' is the program of one rank; its layouts are gone}}
// expected-note@+1 {{fix: run tp-cost-report before tp-partition}}
func.func @main(%0: tensor<8xf32>) -> tensor<8xf32>
    attributes {tp.local, tp.ranks = 2} {
  return %0 : tensor<8xf32>
}

// -----

// expected-error@+1 {{has 2 blocks; how often each runs is unknown}}
func.func @main() {
  return
^bb1:
  return
}

// -----

!whole = tensor<8xf32, #tp.sharding<@mesh, [{}]>>
!split = tensor<8xf32, #tp.sharding<@mesh, [{"tp"}]>>
tp.mesh @mesh = <["tp"=4]>
func.func @main(%0: !split) -> !whole {
  // expected-error@+2 {{is not decomposed, so what it sends is not known}}
  // expected-note@+1 {{fix: run tp-insert-collectives first}}
  %1 = tp.reshard %0 : (!split) -> !whole
  return %1 : !whole
}

// -----

!one = tensor<8xf32, #tp.sharding<@one, [{}]>>
!two = tensor<8xf32, #tp.sharding<@two, [{}]>>
tp.mesh @one = <["tp"=4]>
tp.mesh @two = <["tp"=2]>
// expected-error@+1 {{lies on @two, other values on @one; a report is for one mesh}}
func.func @main(%0: !one, %1: !two) {
  return
}

// -----

// What the type checker refuses has no price.
!partial = tensor<8xf32, #tp.sharding<@mesh, [{}], unreduced = {"tp"}>>
tp.mesh @mesh = <["tp"=4]>
// expected-note@+1 {{it comes in unreduced}}
func.func @main(%0: !partial) -> !partial {
  // expected-error@+3 {{[R}}
  // expected-note@+2 {{fix: all-reduce it}}
  // expected-note@+1 {{fix: reduce-scatter it}}
  %1 = tp.relu %0 : (!partial) -> !partial
  return %1 : !partial
}

// -----

!huge = tensor<4611686018427387904xf32, #tp.sharding<@mesh, [{}]>>
tp.mesh @mesh = <["tp"=4]>
// expected-error@+1 {{has parameters of more than 2^63 - 1 numbers in all, or bytes on a rank}}
func.func @main(%0: !huge {tp.parameter}) {
  return
}
