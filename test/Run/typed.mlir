// Every value has a layout: run as it is typed, collectives as they are written,
// on a mesh of two axes, with nested calls and one layer in two layouts.
// RUN: tp-run %s --entry=main --check | FileCheck %s
// RUN: tp-run %s --entry=uneven --check | FileCheck %s --check-prefix=UNEVEN
// RUN: tp-run %s --entry=outer --check | FileCheck %s --check-prefix=OUTER
// RUN: tp-run %s --entry=open --mesh=tp=3 --check | FileCheck %s --check-prefix=OPEN
// RUN: not tp-run %s --check 2>&1 | FileCheck %s --check-prefix=SEVERAL

// CHECK: @main on 6 ranks #tp.mesh<["dp"=2, "tp"=3]>
// CHECK-NEXT: y [5, 4]: max error {{.*}}: ok
// CHECK-NEXT: exact: equal in the field of 2^61 - 1 elements on every rank
// UNEVEN: @uneven on 3 ranks #tp.mesh<["tp"=3]>
// UNEVEN-NEXT: z [7, 2]: max error {{.*}}: ok
// UNEVEN-NEXT: exact: equal
// OUTER: @outer on 6 ranks
// OUTER-NEXT: y [5, 4]: max error {{.*}}: ok
// OUTER-NEXT: exact: equal
// OPEN: @open on 3 ranks #tp.mesh<["tp"=3]>
// OPEN-NEXT: w [6, 2]: max error {{.*}}: ok
// SEVERAL: error: the module has 3 public functions (@main, @uneven, @open)

tp.mesh @grid = <["dp"=2, "tp"=3]>
tp.mesh @line = <["tp"=3]>
#rep = #tp.sharding<@grid, [{}, {}]>
#rows = #tp.sharding<@grid, [{"dp"}, {}]>
#cols = #tp.sharding<@grid, [{}, {"tp"}]>
#both = #tp.sharding<@grid, [{"dp"}, {"tp"}]>
#in = #tp.sharding<@grid, [{"tp"}, {}]>
#sum = #tp.sharding<@grid, [{}, {}], unreduced = {"tp"}>
#rows_sum = #tp.sharding<@grid, [{"dp"}, {}], unreduced = {"tp"}>
func.func @main(%x: tensor<5x6xf32, #cols> {tp.name = "x"}, %w: tensor<6x4xf32, #in> {tp.name = "w"}) -> (tensor<5x4xf32, #rep> {tp.name = "y"}) {
  %y = call @outer(%x, %w) : (tensor<5x6xf32, #cols>, tensor<6x4xf32, #in>) -> tensor<5x4xf32, #rep>
  return %y : tensor<5x4xf32, #rep>
}
func.func private @outer(%x: tensor<5x6xf32, #cols> {tp.name = "x"}, %w: tensor<6x4xf32, #in> {tp.name = "w"}) -> (tensor<5x4xf32, #rep> {tp.name = "y"}) {
  %a = call @product(%x, %w) : (tensor<5x6xf32, #cols>, tensor<6x4xf32, #in>) -> tensor<5x4xf32, #rep>
  %s = tp.all_slice %x dim 0 over {"dp"} : (tensor<5x6xf32, #cols>) -> tensor<5x6xf32, #both>
  %b = call @product_of_rows(%s, %w) : (tensor<5x6xf32, #both>, tensor<6x4xf32, #in>) -> tensor<5x4xf32, #rows>
  %g = tp.reshard %b : (tensor<5x4xf32, #rows>) -> tensor<5x4xf32, #rep>
  %y = tp.mul %a, %g : (tensor<5x4xf32, #rep>, tensor<5x4xf32, #rep>) -> tensor<5x4xf32, #rep>
  return %y : tensor<5x4xf32, #rep>
}
func.func private @product(%x: tensor<5x6xf32, #cols>, %w: tensor<6x4xf32, #in>) -> tensor<5x4xf32, #rep> {
  %p = tp.matmul %x, %w : (tensor<5x6xf32, #cols>, tensor<6x4xf32, #in>) -> tensor<5x4xf32, #sum>
  %y = tp.all_reduce %p over {"tp"} : (tensor<5x4xf32, #sum>) -> tensor<5x4xf32, #rep>
  return %y : tensor<5x4xf32, #rep>
}
func.func private @product_of_rows(%x: tensor<5x6xf32, #both>, %w: tensor<6x4xf32, #in>) -> tensor<5x4xf32, #rows> {
  %p = tp.matmul %x, %w : (tensor<5x6xf32, #both>, tensor<6x4xf32, #in>) -> tensor<5x4xf32, #rows_sum>
  %y = tp.all_reduce %p over {"tp"} : (tensor<5x4xf32, #rows_sum>) -> tensor<5x4xf32, #rows>
  return %y : tensor<5x4xf32, #rows>
}

#line_rows = #tp.sharding<@line, [{"tp"}, {}]>
#line_cols = #tp.sharding<@line, [{}, {"tp"}]>
func.func @uneven(%x: tensor<7x2xf32, #line_rows> {tp.name = "x"}) -> (tensor<7x2xf32, #line_cols> {tp.name = "z"}) {
  %y = tp.tanh %x : (tensor<7x2xf32, #line_rows>) -> tensor<7x2xf32, #line_rows>
  %z = tp.all_to_all %y from 0 to 1 over {"tp"} : (tensor<7x2xf32, #line_rows>) -> tensor<7x2xf32, #line_cols>
  return %z : tensor<7x2xf32, #line_cols>
}

func.func @open(%x: tensor<6x2xf32> {tp.name = "x"}) -> (tensor<6x2xf32> {tp.name = "w"}) {
  %y = tp.relu %x : (tensor<6x2xf32>) -> tensor<6x2xf32>
  return %y : tensor<6x2xf32>
}
