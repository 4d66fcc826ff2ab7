// Pins that contradict each other: a minimal set, each pin at its place, and
// what could be given up in their stead. Removing any one of them is enough.
// RUN: split-file --leading-lines %s %t
// RUN: not tp-opt %t/uses.mlir --tp-plan 2>&1 | FileCheck %s --check-prefix=USES
// RUN: sed 's/, #pin1>/>/g' %t/uses.mlir | tp-opt --tp-plan -o /dev/null
// RUN: sed 's/, #pin2>/>/g' %t/uses.mlir | tp-opt --tp-plan -o /dev/null
// RUN: sed 's/, #pin3>/>/g' %t/uses.mlir | not tp-opt --tp-plan -o /dev/null
// RUN: tp-opt %t/uses.mlir --tp-plan="weights=stored" -o /dev/null
// RUN: not tp-opt %t/weight.mlir --tp-plan 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: sed 's/, #pin1>/>/g' %t/weight.mlir | tp-opt --tp-plan -o /dev/null
// RUN: sed 's/, #pin2>/>/g' %t/weight.mlir | tp-opt --tp-plan -o /dev/null
// RUN: tp-opt %t/weight.mlir --tp-plan="weights=stored" -o /dev/null
// RUN: not tp-opt %t/called.mlir --tp-plan 2>&1 | FileCheck %s --check-prefix=CALLED
// RUN: sed 's/, #pin1>/>/g' %t/called.mlir | tp-opt --tp-plan -o /dev/null
// RUN: not tp-opt %t/uneven.mlir --tp-plan 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: tp-opt %t/uneven.mlir --tp-plan="uneven=allow" -o /dev/null
// RUN: not tp-opt %t/sequence.mlir --tp-plan="sequence-parallel=off" 2>&1 | FileCheck %s --check-prefix=SEQUENCE
// RUN: tp-opt %t/sequence.mlir --tp-plan="sequence-parallel=auto" -o /dev/null
// RUN: not tp-opt %t/memory.mlir --tp-plan="weights=free memory-limit=60000" 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: sed 's/, #pin1>/>/g' %t/memory.mlir | tp-opt --tp-plan="weights=free memory-limit=60000" -o /dev/null
// RUN: sed 's/, #pin2>/>/g' %t/memory.mlir | tp-opt --tp-plan="weights=free memory-limit=60000" -o /dev/null
// RUN: not tp-opt %t/memory.mlir --tp-plan="weights=free memory-limit=200" 2>&1 | FileCheck %s --check-prefix=PLAIN

//--- uses.mlir
// One weight, which may not move, in two products; a third pin is innocent.
// USES: error: cannot be planned: no plan is possible: at variable 'w'
// USES-NOT: pinned here: 'x'
// USES: :[[#@LINE+10]]:8: note: pinned here: 'tp.matmul' as #tp.sharding<@mesh, [{}, {"tp"}]>, one of 2 pins that contradict each other; without any one of them there is a plan
// USES: :[[#@LINE+10]]:8: note: pinned here: 'tp.matmul' as #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>, one of 2 pins
// USES-NOT: pinned here
// USES: note: fix: with weights=stored the pinned layouts can be met
tp.mesh @mesh = <["tp"=2]>
#pin1 = #tp.sharding<@mesh, [{}, {"tp"}]>
#pin2 = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#pin3 = #tp.sharding<@mesh, [{"tp"}, {}]>
func.func @main(%x: tensor<4x6xf32, #pin3>, %w: tensor<6x8xf32> {tp.parameter, tp.name = "w"}) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %i = tp.reshard %x : (tensor<4x6xf32, #pin3>) -> tensor<4x6xf32>
  %y = tp.matmul %i, %w : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32, #pin1>
  %z = tp.matmul %i, %w : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32, #pin2>
  %r = tp.reshard %y : (tensor<4x8xf32, #pin1>) -> tensor<4x8xf32>
  %s = tp.reshard %z : (tensor<4x8xf32, #pin2>) -> tensor<4x8xf32>
  return %r, %s : tensor<4x8xf32>, tensor<4x8xf32>
}

//--- weight.mlir
// A row weight leaves a sum, its product is pinned by columns.
// WEIGHT: error: {{.*}}cannot be planned
// WEIGHT-DAG: note: pinned here: 'w' as #tp.sharding<@mesh, [{"tp"}, {}]>, one of 2 pins
// WEIGHT-DAG: note: pinned here: 'tp.matmul' as #tp.sharding<@mesh, [{}, {"tp"}]>, one of 2 pins
// WEIGHT: note: fix: with weights=stored the pinned layouts can be met
tp.mesh @mesh = <["tp"=2]>
#pin1 = #tp.sharding<@mesh, [{"tp"}, {}]>
#pin2 = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @main(%x: tensor<4x6xf32>, %w: tensor<6x8xf32, #pin1> {tp.parameter, tp.name = "w"}) -> tensor<4x8xf32> {
  %y = tp.matmul %x, %w : (tensor<4x6xf32>, tensor<6x8xf32, #pin1>) -> tensor<4x8xf32, #pin2>
  %r = tp.reshard %y : (tensor<4x8xf32, #pin2>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

//--- called.mlir
// One pin by itself, written in a function that is called twice: a norm cannot
// make its normalised dimension split, whatever is given up.
// CALLED: error: 'tp.rms_norm' op cannot be split over "tp": of 3 strategies with even shards none meets the pinned layouts
// CALLED-NOT: contradict
// CALLED-NOT: fix: with
tp.mesh @mesh = <["tp"=2]>
#pin1 = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func private @norm(%x: tensor<4x6xf32>, %g: tensor<6xf32> {tp.parameter}) -> tensor<4x6xf32, #pin1> {
  %y = tp.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32, #pin1>
  return %y : tensor<4x6xf32, #pin1>
}
func.func @main(%x: tensor<4x6xf32>, %g: tensor<6xf32> {tp.parameter}) -> tensor<4x6xf32> {
  %y = call @norm(%x, %g) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32, #pin1>
  %z = tp.reshard %y : (tensor<4x6xf32, #pin1>) -> tensor<4x6xf32>
  %v = call @norm(%z, %g) : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32, #pin1>
  %r = tp.reshard %v : (tensor<4x6xf32, #pin1>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

//--- uneven.mlir
// UNEVEN: error: {{.*}} of shape [5, 6] is pinned as #tp.sharding<@mesh, [{"tp"}, {}]>: shards must be even unless uneven=allow, and 5 of dimension 0 cannot be dealt evenly to 2 ranks
// UNEVEN-NOT: pinned here
// UNEVEN: note: fix: with uneven=allow the pinned layouts can be met
tp.mesh @mesh = <["tp"=2]>
#pin1 = #tp.sharding<@mesh, [{"tp"}, {}]>
func.func @main(%x: tensor<5x6xf32, #pin1>) -> tensor<5x6xf32> {
  %y = tp.reshard %x : (tensor<5x6xf32, #pin1>) -> tensor<5x6xf32>
  return %y : tensor<5x6xf32>
}

//--- sequence.mlir
// SEQUENCE: :[[#@LINE+6]]:8: error: 'tp.reshard' op 'tp.reshard' of shape [2, 4, 6] has no layout over "tp" that the constraints allow
// SEQUENCE-NOT: pinned here
// SEQUENCE: note: fix: with sequence-parallel=auto the pinned layouts can be met
tp.mesh @mesh = <["tp"=2]>
#pin1 = #tp.sharding<@mesh, [{}, {"tp"}, {}]>
func.func @main(%x: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  %y = tp.reshard %x {tp.stream} : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32, #pin1>
  %z = tp.relu %y : (tensor<2x4x6xf32, #pin1>) -> tensor<2x4x6xf32>
  return %z : tensor<2x4x6xf32>
}

//--- memory.mlir
// Two matrices of 8 * 1000 * 4 = 32,000 bytes: one of them whole and the half of
// the other fit 60,000, both whole do not. In 200 bytes nothing fits, pinned or
// not.
// MEMORY: error: cannot be planned within memory-limit=60000
// MEMORY: note: pinned here: 'w1' as #tp.sharding<@mesh, [{}, {}]>, one of 2 pins that contradict each other; without any one of them there is a plan
// MEMORY: note: pinned here: 'w2' as #tp.sharding<@mesh, [{}, {}]>, one of 2 pins
// PLAIN: error: cannot be planned within memory-limit=200
// PLAIN-NOT: pinned here
tp.mesh @mesh = <["tp"=2]>
#pin1 = #tp.sharding<@mesh, [{}, {}]>
#pin2 = #tp.sharding<@mesh, [{}, {}]>
func.func @main(%x: tensor<2x8xf32>, %a: tensor<8x1000xf32, #pin1> {tp.parameter, tp.name = "w1"},
    %b: tensor<1000x8xf32, #pin2> {tp.parameter, tp.name = "w2"}) -> tensor<2x8xf32> {
  %h = tp.matmul %x, %a : (tensor<2x8xf32>, tensor<8x1000xf32, #pin1>) -> tensor<2x1000xf32>
  %y = tp.matmul %h, %b : (tensor<2x1000xf32>, tensor<1000x8xf32, #pin2>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}
