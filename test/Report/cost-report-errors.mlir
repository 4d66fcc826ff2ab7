// RUN: split-file %s %t
// RUN: tp-opt %t/bad.mlir --split-input-file --verify-diagnostics --tp-cost-report
// RUN: not tp-opt %t/good.mlir --tp-cost-report=format=pdf 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not tp-opt %t/good.mlir --tp-cost-report=machine=abacus 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: not tp-opt %t/good.mlir --tp-cost-report=output=%t/missing/report 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not tp-opt %t/good.mlir --tp-cost-report=output=/dev/full 2>&1 | FileCheck %s --check-prefix=FULL

// Each of 64 functions calls the next one twice.
// RUN: %python -c "for i in range(65): print('func.func', 'private' if i else '', f'@f{i}() {{', f'call @f{i+1}() : () -> () ' * 2, 'return }')" > %t/deep.mlir
// RUN: echo "func.func private @f65() { return }" >> %t/deep.mlir
// RUN: not tp-opt %t/deep.mlir --tp-cost-report 2>&1 | FileCheck %s --check-prefix=DEEP

// Function number i runs 2^i times: 3 (2^19 - 1) + 2^19 operations and calls.
// RUN: %python -c "for i in range(19): print('func.func', 'private' if i else '', f'@f{i}() {{', f'call @f{i+1}() : () -> () ' * 2, 'return }')" > %t/long.mlir
// RUN: echo "func.func private @f19() { return }" >> %t/long.mlir
// RUN: not tp-opt %t/long.mlir --tp-cost-report 2>&1 | FileCheck %s --check-prefix=LONG

// What only an optimizer gives a meaning, and what nothing does.
// RUN: not tp-opt %t/weight.mlir --tp-cost-report=optimizer=sgd 2>&1 | FileCheck %s --check-prefix=OPTIMIZER
// RUN: not tp-opt %t/weight.mlir --tp-cost-report="optimizer=adam gradient-type=bf16" 2>&1 | FileCheck %s --check-prefix=GRADIENT
// RUN: not tp-opt %t/weight.mlir --tp-cost-report="optimizer=adam zero=4" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not tp-opt %t/weight.mlir --tp-cost-report="optimizer=adam zero=-1" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not tp-opt %t/weight.mlir --tp-cost-report="optimizer=adam zero=1 data-axes=pp" 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: not tp-opt %t/good.mlir --tp-cost-report="optimizer=adam zero=1 data-axes=pp" 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: not tp-opt %t/weight.mlir --tp-cost-report="optimizer=adam zero=1 data-axes=tp,tp" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not tp-opt %t/weight.mlir --tp-cost-report="optimizer=adam data-axes=tp" 2>&1 | FileCheck %s --check-prefix=NOZERO
// RUN: not tp-opt %t/weight.mlir --tp-cost-report=recompute=all 2>&1 | FileCheck %s --check-prefix=RECOMPUTE
// RUN: not tp-opt %t/weight.mlir --tp-cost-report=flops=half 2>&1 | FileCheck %s --check-prefix=FLOPS
// RUN: not tp-opt %t/weight.mlir --tp-cost-report=flops= 2>&1 | FileCheck %s --check-prefix=FLOPS
// RUN: not tp-opt %t/weight.mlir --tp-cost-report=flops=Full 2>&1 | FileCheck %s --check-prefix=FLOPS
// RUN: not tp-opt %t/weight.mlir --tp-cost-report=zero=1 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not tp-opt %t/weight.mlir --tp-cost-report=gradient-type=f32 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not tp-opt %t/weight.mlir --tp-cost-report=data-axes=tp 2>&1 | FileCheck %s --check-prefix=ALONE

// Alternatives that there are not.
// RUN: not tp-opt %t/good.mlir --tp-cost-report=alternatives=yes 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not tp-opt %t/good.mlir --tp-cost-report=alternatives= 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not tp-opt %t/weight.mlir --tp-cost-report=alternatives=on 2>&1 | FileCheck %s --check-prefix=OPENED
// RUN: not tp-opt %t/other.mlir --tp-cost-report=alternatives=on 2>&1 | FileCheck %s --check-prefix=OTHER

// The other plan.
// RUN: not tp-opt %t/good.mlir --tp-cost-report=compare=%t/none.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: echo "func.func @main(" > %t/broken.mlir
// RUN: not tp-opt %t/good.mlir --tp-cost-report=compare=%t/broken.mlir 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: echo "module { func.func @main(%%x: tensor<3xf32>) { return } }" > %t/open.mlir
// RUN: not tp-opt %t/good.mlir --tp-cost-report=compare=%t/open.mlir 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: %python -c "print('[' * 300)" > %t/nested.mlir
// RUN: not tp-opt %t/good.mlir --tp-cost-report=compare=%t/nested.mlir 2>&1 | FileCheck %s --check-prefix=NESTED

// FORMAT: error: tp-cost-report knows no format 'pdf'; use text, json or html
// MACHINE: error: machine 'abacus' is not in share/machines
// OUTPUT: error: cannot write the report to '{{.*}}missing/report': {{[Nn]}}o such file
// FULL: error: cannot write the report to '/dev/full': {{[Nn]}}o space left
// DEEP: brings the calls of 'f63' in one step to more than 2^63 - 1

// LONG: error: 'func.func' op runs 2097149 operations and calls in a step; 1048576 can be followed one by one
// OPTIMIZER: error: optimizer='sgd' must be none or adam
// GRADIENT: error: gradient-type='bf16' must be f32, or be left out for the parameters' type
// ZERO: error: zero={{4|-1}} must be 0, 1 (optimizer states are dealt over the data axes), 2 (gradients, too) or 3 (parameters, too)
// AXES: error: data-axes names "pp", which is no axis of the mesh
// TWICE: error: data-axes names "tp" twice
// NOZERO: error: data-axes has no effect without zero
// RECOMPUTE: error: recompute='all' must be none or layers
// WORD: error: alternatives='{{(yes)?}}' must be auto, on or off
// OPENED: error: carries no plan, so there are no alternatives to it; run tp-plan first
// OTHER: error: was planned, but not by this program: its recorded settings give no plan
// FLOPS: error: flops='{{(half|Full)?}}' must be causal (the pairs that the mask of attention leaves) or full (all pairs)
// ALONE: error: {{zero|gradient-type|data-axes}} has no effect without optimizer=adam
// NONE: error: cannot compare: cannot open input file '{{.*}}none.mlir': {{[Nn]}}o such file
// BROKEN: broken.mlir:1:17: error: expected
// BROKEN: error: cannot compare: there is no report of '{{.*}}broken.mlir'
// OPEN: open.mlir:1:10: error: 'func.func' op has a tensor without a layout
// OPEN: error: cannot compare: there is no report of '{{.*}}open.mlir'
// NESTED: nested.mlir:1:{{.*}}error:
// NESTED: error: cannot compare: there is no report of '{{.*}}nested.mlir'

//--- weight.mlir
tp.mesh @mesh = <["tp"=4]>
func.func @main(%0: tensor<8xf32, #tp.sharding<@mesh, [{"tp"}]>> {tp.parameter}) {
  return
}

//--- other.mlir
module attributes {tp.machine = "h100", tp.plan = {weights = "none", sequence_parallel = "off", model_axes = "tp"}} {
  tp.mesh @mesh = <["tp"=4]>
  func.func @main(%0: tensor<8xf32, #tp.sharding<@mesh, [{"tp"}]>> {tp.parameter}) {
    return
  }
}

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

// -----

// Half of 63 bits of inputs twice; the parameters alone would do.
!huge = tensor<1152921504606846976xf32, #tp.sharding<@mesh, [{}]>>
tp.mesh @mesh = <["tp"=4]>
// expected-error@+1 {{takes 2^63 bytes or more of a rank's memory}}
func.func @main(%0: !huge, %1: !huge) {
  return
}
