// Casts of what is not finished, where they are legal, and sums that wrap: the
// same on every mesh, exactly. A cast to 16 bits rounds in the run, and in the
// f64 reference.
// RUN: sed 's/MESH/"tp"=2/' %s | tp-run - --check | FileCheck %s
// RUN: sed 's/MESH/"tp"=3/' %s | tp-run - --check --seed=1 | FileCheck %s
// RUN: sed 's/MESH/"tp"=4/' %s | tp-run - --check --seed=2 | FileCheck %s
// RUN: sed 's/MESH/"dp"=2, "tp"=3/' %s | tp-run - --check --seed=3 | FileCheck %s
// RUN: sed 's/MESH/"dp"=2, "tp"=6/; s/{"tp"}/{"tp":(1)3}/g' %s | tp-run - --check --seed=4 | FileCheck %s

// CHECK: note: 16-bit floating-point types run as f32; casts to them round
// CHECK: widened [5, 3]: max error {{.*}}: ok
// CHECK: twice [5, 3]: max error {{.*}}: ok
// CHECK: rounded [5, 3]: max error {{.*}}: ok
// CHECK: integer [5]: max error 0 {{.*}}: ok
// CHECK: real [5]: max error {{.*}}: ok
// CHECK: largest [5]: max error {{.*}}: ok
// CHECK: largest_integer [5]: max error {{.*}}: ok
// CHECK: any [5]: max error 0 {{.*}}: ok
// CHECK: exact: equal in the field {{.*}}: ok

#row = #tp.sharding<@mesh, [{"tp"}, {}]>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
#rep = #tp.sharding<@mesh, [{}, {}]>
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#whole = #tp.sharding<@mesh, [{}]>
#sums = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#maxima = #tp.sharding<@mesh, [{}], unreduced = max{"tp"}>
module attributes {tp.plan = {}} {
  tp.mesh @mesh = <[MESH]>
  // In a called function, too.
  func.func private @widen(%p: tensor<5x3xbf16, #sum>) -> tensor<5x3xf32, #sum> {
    %w = tp.cast %p : (tensor<5x3xbf16, #sum>) -> tensor<5x3xf32, #sum>
    return %w : tensor<5x3xf32, #sum>
  }
  func.func @main(%x: tensor<5x7xbf16, #col> {tp.name = "x"},
                  %w: tensor<7x3xbf16, #row> {tp.name = "w"},
                  %h: tensor<5x7xf16, #col> {tp.name = "h"},
                  %i: tensor<5x7xi32, #col> {tp.name = "i", tp.bound = 100 : i64},
                  %b: tensor<5x7xi1, #col> {tp.name = "b"})
      -> (tensor<5x3xf32, #rep> {tp.name = "widened"},
          tensor<5x3xf64, #rep> {tp.name = "twice"},
          tensor<5x3xf16, #rep> {tp.name = "rounded"},
          tensor<5xi64, #whole> {tp.name = "integer"},
          tensor<5xf32, #whole> {tp.name = "real"},
          tensor<5xbf16, #whole> {tp.name = "largest"},
          tensor<5xf32, #whole> {tp.name = "largest_integer"},
          tensor<5xf16, #whole> {tp.name = "any"}) {
    %p = tp.matmul %x, %w : (tensor<5x7xbf16, #col>, tensor<7x3xbf16, #row>) -> tensor<5x3xbf16, #sum>
    %0 = call @widen(%p) : (tensor<5x3xbf16, #sum>) -> tensor<5x3xf32, #sum>
    %1 = tp.all_reduce %0 over {"tp"} : (tensor<5x3xf32, #sum>) -> tensor<5x3xf32, #rep>
    %2 = tp.cast %0 : (tensor<5x3xf32, #sum>) -> tensor<5x3xf64, #sum>
    %3 = tp.all_reduce %2 over {"tp"} : (tensor<5x3xf64, #sum>) -> tensor<5x3xf64, #rep>
    // Finished, so that it may be narrowed.
    %4 = tp.cast %1 : (tensor<5x3xf32, #rep>) -> tensor<5x3xf16, #rep>

    // Sums of i32 that wrap.
    %k = tp.constant dense<1500000007> : tensor<5x7xi32> as tensor<5x7xi32, #col>
    %5 = tp.mul %i, %k : (tensor<5x7xi32, #col>, tensor<5x7xi32, #col>) -> tensor<5x7xi32, #col>
    %6 = tp.reduce sum %5 over [1] : (tensor<5x7xi32, #col>) -> tensor<5xi32, #sums>
    %7 = tp.add %6, %6 : (tensor<5xi32, #sums>, tensor<5xi32, #sums>) -> tensor<5xi32, #sums>
    %8 = tp.all_reduce %7 over {"tp"} : (tensor<5xi32, #sums>) -> tensor<5xi32, #whole>
    %9 = tp.cast %8 : (tensor<5xi32, #whole>) -> tensor<5xi64, #whole>
    %10 = tp.cast %8 : (tensor<5xi32, #whole>) -> tensor<5xf32, #whole>

    // Maxima.
    %11 = tp.reduce max %h over [1] : (tensor<5x7xf16, #col>) -> tensor<5xf16, #maxima>
    %12 = tp.cast %11 : (tensor<5xf16, #maxima>) -> tensor<5xbf16, #maxima>
    %13 = tp.all_reduce %12 over {"tp"} : (tensor<5xbf16, #maxima>) -> tensor<5xbf16, #whole>
    %14 = tp.reduce max %5 over [1] : (tensor<5x7xi32, #col>) -> tensor<5xi32, #maxima>
    %15 = tp.cast %14 : (tensor<5xi32, #maxima>) -> tensor<5xi64, #maxima>
    %16 = tp.cast %15 : (tensor<5xi64, #maxima>) -> tensor<5xf32, #maxima>
    %17 = tp.all_reduce %16 over {"tp"} : (tensor<5xf32, #maxima>) -> tensor<5xf32, #whole>
    %18 = tp.reduce max %b over [1] : (tensor<5x7xi1, #col>) -> tensor<5xi1, #maxima>
    %19 = tp.cast %18 : (tensor<5xi1, #maxima>) -> tensor<5xf16, #maxima>
    %20 = tp.all_reduce %19 over {"tp"} : (tensor<5xf16, #maxima>) -> tensor<5xf16, #whole>
    return %1, %3, %4, %9, %10, %13, %17, %20 : tensor<5x3xf32, #rep>, tensor<5x3xf64, #rep>, tensor<5x3xf16, #rep>, tensor<5xi64, #whole>, tensor<5xf32, #whole>, tensor<5xbf16, #whole>, tensor<5xf32, #whole>, tensor<5xf16, #whole>
  }
}
