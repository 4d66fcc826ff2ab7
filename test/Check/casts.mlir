// What passes a cast unfinished: sums of floats into types that hold them, and
// every maximum, for no cast changes the order of two values.
// RUN: tp-opt %s | FileCheck %s

tp.mesh @mesh = <["dp"=2, "tp"=3]>
#sum = #tp.sharding<@mesh, [{"dp"}], unreduced = {"tp"}>
#max = #tp.sharding<@mesh, [{"dp"}], unreduced = max{"tp"}>

// CHECK-LABEL: func.func @sums
func.func @sums(%a: tensor<6xbf16, #sum>, %b: tensor<6xf16, #sum>,
                %c: tensor<6xi32, #sum>) -> tensor<6xi32, #sum> {
  // CHECK-COUNT-6: tp.cast
  %0 = tp.cast %a : (tensor<6xbf16, #sum>) -> tensor<6xf32, #sum>
  %1 = tp.cast %a : (tensor<6xbf16, #sum>) -> tensor<6xf64, #sum>
  %2 = tp.cast %b : (tensor<6xf16, #sum>) -> tensor<6xf32, #sum>
  %3 = tp.cast %b : (tensor<6xf16, #sum>) -> tensor<6xf16, #sum>
  %4 = tp.cast %0 : (tensor<6xf32, #sum>) -> tensor<6xf64, #sum>
  %5 = tp.cast %c : (tensor<6xi32, #sum>) -> tensor<6xi32, #sum>
  return %5 : tensor<6xi32, #sum>
}

// CHECK-LABEL: func.func @maxima
func.func @maxima(%a: tensor<6xf32, #max>, %b: tensor<6xi1, #max>,
                  %c: tensor<6xi32, #max>, %d: tensor<6xi64, #max>)
    -> tensor<6xf16, #max> {
  // CHECK-COUNT-9: tp.cast
  %0 = tp.cast %a : (tensor<6xf32, #max>) -> tensor<6xbf16, #max>
  %1 = tp.cast %0 : (tensor<6xbf16, #max>) -> tensor<6xf16, #max>
  %2 = tp.cast %b : (tensor<6xi1, #max>) -> tensor<6xi32, #max>
  %3 = tp.cast %b : (tensor<6xi1, #max>) -> tensor<6xbf16, #max>
  %4 = tp.cast %c : (tensor<6xi32, #max>) -> tensor<6xi64, #max>
  %5 = tp.cast %c : (tensor<6xi32, #max>) -> tensor<6xf32, #max>
  %6 = tp.cast %c : (tensor<6xi32, #max>) -> tensor<6xf64, #max>
  %7 = tp.cast %d : (tensor<6xi64, #max>) -> tensor<6xf64, #max>
  %8 = tp.cast %d : (tensor<6xi64, #max>) -> tensor<6xf16, #max>
  return %8 : tensor<6xf16, #max>
}
