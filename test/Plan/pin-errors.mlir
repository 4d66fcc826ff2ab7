// Pins that no plan can have: the one reason that is true, and a fix that is.
// RUN: split-file --leading-lines %s %t
// RUN: not tp-opt %t/element.mlir --tp-plan 2>&1 | FileCheck %s --check-prefix=ELEMENT --implicit-check-not=error: --implicit-check-not=fix:
// RUN: not tp-opt %t/element.mlir --tp-plan="uneven=allow" 2>&1 | FileCheck %s --check-prefix=ELEMENT --implicit-check-not=error: --implicit-check-not=fix:
// RUN: sed 's/{}, {"tp"}/{}, {}/' %t/element.mlir | tp-opt --tp-plan -o /dev/null
// RUN: not tp-opt %t/partial.mlir --tp-plan 2>&1 | FileCheck %s --check-prefix=PARTIAL --implicit-check-not=error: --implicit-check-not=fix:
// RUN: sed 's/, unreduced = {"tp"}//' %t/partial.mlir | tp-opt --tp-plan -o /dev/null
// RUN: not tp-opt %t/maximum.mlir --tp-plan 2>&1 | FileCheck %s --check-prefix=MAXIMUM --implicit-check-not=error: --implicit-check-not=fix:
// RUN: not tp-opt %t/data.mlir --tp-plan 2>&1 | FileCheck %s --check-prefix=DATA --implicit-check-not=error:
// RUN: not tp-opt %t/cut.mlir --tp-plan 2>&1 | FileCheck %s --check-prefix=CUT --implicit-check-not=error:
// RUN: not tp-opt %t/unit.mlir --tp-plan="uneven=allow" 2>&1 | FileCheck %s --check-prefix=UNIT --implicit-check-not=error:
// RUN: tp-opt %t/part.mlir --tp-plan | FileCheck %s --check-prefix=PART

//--- element.mlir
// ELEMENT: [[#@LINE+4]]:17: error: 'scale' of shape [1, 1] is pinned as #tp.sharding<@mesh, [{}, {"tp"}]>: dimension 1 has one element, which cannot be split over "tp"
// ELEMENT: note: fix: pin that dimension whole: #tp.sharding<@mesh, [{}, {}]>
tp.mesh @mesh = <["tp"=2]>
#c = #tp.sharding<@mesh, [{}, {"tp"}]>
func.func @main(%s: tensor<1x1xf32, #c> {tp.parameter, tp.name = "scale"}) -> tensor<1x1xf32> {
  %y = tp.relu %s : (tensor<1x1xf32, #c>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

//--- partial.mlir
// PARTIAL: [[#@LINE+4]]:17: error: 'argument 0' of shape [8] is pinned as #tp.sharding<@mesh, [{}], unreduced = {"tp"}>: an argument may not come in partial, here unreduced over "tp": nothing in the program makes its 2 summands
// PARTIAL: note: fix: pin it finished: #tp.sharding<@mesh, [{}]>
tp.mesh @mesh = <["tp"=2]>
#p = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
func.func @main(%o: tensor<8xf32, #p>) -> tensor<8xf32> {
  %z = tp.reshard %o : (tensor<8xf32, #p>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}

//--- maximum.mlir
// MAXIMUM: error: 'tp.relu' of shape [8] is pinned as #tp.sharding<@mesh, [{}], unreduced = max{"tp"}>: no operation leaves a maximum unfinished here
tp.mesh @mesh = <["tp"=2]>
#p = #tp.sharding<@mesh, [{}], unreduced = max{"tp"}>
func.func @main(%o: tensor<8xf32>) -> tensor<8xf32> {
  %z = tp.relu %o : (tensor<8xf32>) -> tensor<8xf32, #p>
  %y = tp.reshard %z : (tensor<8xf32, #p>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

//--- data.mlir
// DATA: error: 'tp.relu' of shape [4, 6] is pinned as #tp.sharding<@mesh, [{}, {"dp"}]>: data axis "dp" splits dimension 0 of an activation, not dimension 1
tp.mesh @mesh = <["dp"=2, "tp"=2]>
#p = #tp.sharding<@mesh, [{}, {"dp"}]>
func.func @main(%o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = tp.relu %o : (tensor<4x6xf32>) -> tensor<4x6xf32, #p>
  %y = tp.reshard %z : (tensor<4x6xf32, #p>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

//--- cut.mlir
// Two parts of one axis of which neither border divides the other.
// CUT: error: 'tp.reshard' of shape [12, 6] is pinned as #tp.sharding<@mesh, [{"tp":(1)3}, {}]>: the plan is over "tp":(1)2, "tp":(2)3, which cannot be joined to "tp":(1)3
tp.mesh @mesh = <["tp"=6]>
#p = #tp.sharding<@mesh, [{"tp":(1)2}, {}]>
#q = #tp.sharding<@mesh, [{"tp":(1)3}, {}]>
func.func @main(%o: tensor<12x6xf32>) -> tensor<12x6xf32> {
  %z = tp.relu %o : (tensor<12x6xf32>) -> tensor<12x6xf32, #p>
  %y = tp.reshard %z : (tensor<12x6xf32, #p>) -> tensor<12x6xf32, #q>
  %r = tp.reshard %y : (tensor<12x6xf32, #q>) -> tensor<12x6xf32>
  return %r : tensor<12x6xf32>
}

//--- unit.mlir
// UNIT: error: 'tp.relu' of shape [9, 6] is pinned as #tp.sharding<@mesh, [{"tp", unit = 3}, {}]>: no operation deals dimension 0 in units of 3
tp.mesh @mesh = <["tp"=2]>
#p = #tp.sharding<@mesh, [{"tp", unit = 3}, {}]>
func.func @main(%o: tensor<9x6xf32>) -> tensor<9x6xf32> {
  %z = tp.relu %o : (tensor<9x6xf32>) -> tensor<9x6xf32, #p>
  %r = tp.reshard %z : (tensor<9x6xf32, #p>) -> tensor<9x6xf32>
  return %r : tensor<9x6xf32>
}

//--- part.mlir
// A part of an axis is planned where a pin cuts the axis.
// PART: #[[PART:.*]] = #tp.sharding<@mesh, [{"tp":(1)2}, {}]>
// PART: func.func @main(%{{.*}}: tensor<8x6xf32, #[[PART]]>
tp.mesh @mesh = <["tp"=8]>
#p = #tp.sharding<@mesh, [{"tp":(1)2}, {}]>
func.func @main(%x: tensor<8x6xf32, #p>, %a: tensor<6x16xf32> {tp.parameter}, %b: tensor<16x8xf32> {tp.parameter}) -> tensor<8x8xf32> {
  %0 = tp.matmul %x, %a : (tensor<8x6xf32, #p>, tensor<6x16xf32>) -> tensor<8x16xf32>
  %1 = tp.relu %0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = tp.matmul %1, %b : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
