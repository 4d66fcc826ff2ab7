// A program is planned and checked on its own types: what they forbid is
// refused though the run would be in f32.
// RUN: rm -rf %t && split-file %s %t
// RUN: not tp-run %t/pinned.mlir --mesh=tp=2 --check 2>&1 | FileCheck %s --check-prefix=PINNED
// RUN: not tp-run %t/integer.mlir --check 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: not tp-run %t/wrap.mlir --check 2>&1 | FileCheck %s --check-prefix=WRAP

// PINNED: 'tp.cast' is applied to a sum that is not finished: {{.*}}; rounding f32 to bf16 before the sum is finished is not rounding the sum [R8]
// INTEGER: error: 'tp.cast' is applied to a sum that is not finished: {{.*}}; f16 does not hold every i32, so rounding before the sum is finished is not rounding the sum [R8]
// INTEGER-NOT: error: 'tp.cast'
// WRAP: error: 'tp.cast' is applied to a sum that is not finished: {{.*}}; sums of i32 wrap around, so casting to i64 before the sum is finished is not casting the sum [R8]
// WRAP: fix: all-reduce it over "tp" before this operation

//--- pinned.mlir
tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
func.func @main(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>, %v: tensor<5x5xbf16>) -> tensor<3x5xbf16> {
  %0 = tp.matmul %x, %w : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32, #sum>
  %1 = tp.cast %0 : (tensor<3x5xf32, #sum>) -> tensor<3x5xbf16, #sum>
  %2 = tp.matmul %1, %v : (tensor<3x5xbf16, #sum>, tensor<5x5xbf16>) -> tensor<3x5xbf16>
  return %2 : tensor<3x5xbf16>
}

//--- integer.mlir
#s = #tp.sharding<@mesh, [{"tp"}]>
#p = #tp.sharding<@mesh, [], unreduced = {"tp"}>
#w = #tp.sharding<@mesh, []>
module attributes {tp.plan = {}} {
  tp.mesh @mesh = <["tp"=3]>
  func.func @f(%a: tensor<3xi32, #s>) -> tensor<f32, #w> {
    %m = tp.constant dense<2049> : tensor<3xi32> as tensor<3xi32, #s>
    %0 = tp.reduce sum %m over [0] : (tensor<3xi32, #s>) -> tensor<i32, #p>
    %1 = tp.cast %0 : (tensor<i32, #p>) -> tensor<f16, #p>
    %2 = tp.cast %1 : (tensor<f16, #p>) -> tensor<f32, #p>
    %3 = tp.all_reduce %2 over {"tp"} : (tensor<f32, #p>) -> tensor<f32, #w>
    return %3 : tensor<f32, #w>
  }
}

//--- wrap.mlir
#s = #tp.sharding<@mesh, [{"tp"}]>
#p = #tp.sharding<@mesh, [], unreduced = {"tp"}>
#w = #tp.sharding<@mesh, []>
module attributes {tp.plan = {}} {
  tp.mesh @mesh = <["tp"=2]>
  func.func @f(%a: tensor<4xi32, #s>) -> tensor<i64, #w> {
    %m = tp.constant dense<1000000000> : tensor<4xi32> as tensor<4xi32, #s>
    %0 = tp.reduce sum %m over [0] : (tensor<4xi32, #s>) -> tensor<i32, #p>
    %1 = tp.cast %0 : (tensor<i32, #p>) -> tensor<i64, #p>
    %2 = tp.all_reduce %1 over {"tp"} : (tensor<i64, #p>) -> tensor<i64, #w>
    return %2 : tensor<i64, #w>
  }
}
