!whole = tensor<8xf32, #tp.sharding<@mesh, [{}]>>
!partial = tensor<8xf32, #tp.sharding<@mesh, [{}], unreduced = {"</style>"}>>
tp.mesh @mesh = <["</style>"=2]>
func.func @main(%0: !partial {tp.name = "<img src=x onerror=alert(1)>"}, %w: !whole {tp.name = "\22><b>&amp;", tp.parameter}) -> !whole {
  %1 = tp.all_reduce %0 over {"</style>"} : (!partial) -> !whole loc("<script>alert(1)</script>")
  %2 = tp.relu %1 : (!whole) -> !whole loc("a\07b")
  %3 = tp.mul %2, %w : (!whole, !whole) -> !whole loc("äöüäöüäöüäöüäöüäöüäöüäöü")
  return %3 : !whole
}
