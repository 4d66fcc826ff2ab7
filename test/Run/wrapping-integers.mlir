// Sums and products of integers that wrap around: the plan finishes a sum before
// it is cast, and every mesh gives the same integers.
// RUN: tp-run %s --check --mesh=tp=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=3 --seed=1 | FileCheck %s
// RUN: tp-run %s --check --mesh=tp=4 --uneven=allow --weights=free --seed=2 | FileCheck %s
// RUN: tp-run %s --check --mesh=a=2,b=3 --weights=free --seed=3 | FileCheck %s

// CHECK: power [6]: max error 0 (0 relative) vs one rank, 0 (0 relative) vs f64
// CHECK: real [6]: max error {{.*}}: ok
// CHECK: masked [6, 6]: max error {{.*}}: ok
// CHECK: any [6]: max error 0 {{.*}}: ok
// CHECK: exact: equal in the field {{.*}}: ok
func.func @main(%i: tensor<6x8xi32> {tp.name = "i", tp.bound = 1000000 : i64},
                %w: tensor<8x6xf16> {tp.name = "w", tp.parameter})
    -> (tensor<6xi64> {tp.name = "power"}, tensor<6xf32> {tp.name = "real"},
        tensor<6x6xf16> {tp.name = "masked"}, tensor<6xf16> {tp.name = "any"},
        tensor<6xi1> {tp.name = "or"}) {
  %k = tp.constant dense<3000> : tensor<6x8xi32>
  %m = tp.mul %i, %k : (tensor<6x8xi32>, tensor<6x8xi32>) -> tensor<6x8xi32>
  %s = tp.reduce sum %m over [1] : (tensor<6x8xi32>) -> tensor<6xi32>
  %a = tp.cast %s : (tensor<6xi32>) -> tensor<6xi64>
  %q = tp.mul %a, %a : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %q2 = tp.mul %q, %q : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %f = tp.cast %q2 : (tensor<6xi64>) -> tensor<6xf32>
  %c = tp.constant dense<500000> : tensor<6x8xi32>
  %b = tp.compare lt %i, %c : (tensor<6x8xi32>, tensor<6x8xi32>) -> tensor<6x8xi1>
  %h = tp.cast %b : (tensor<6x8xi1>) -> tensor<6x8xf16>
  %y = tp.matmul %h, %w : (tensor<6x8xf16>, tensor<8x6xf16>) -> tensor<6x6xf16>
  %n = tp.reduce max %b over [1] : (tensor<6x8xi1>) -> tensor<6xi1>
  %x = tp.reduce max %h over [1] : (tensor<6x8xf16>) -> tensor<6xf16>
  return %q2, %f, %y, %x, %n : tensor<6xi64>, tensor<6xf32>, tensor<6x6xf16>, tensor<6xf16>, tensor<6xi1>
}
