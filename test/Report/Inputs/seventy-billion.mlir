tp.mesh @mesh = <["dp"=DP, "tp"=TP]>
func.func @main(%w: tensor<70000x1000000xbf16, #tp.sharding<@mesh, [{}, {"tp"}]>> {tp.parameter}) {
  return
}
