// A planned module whose result was moved away from its argument.
#split = #tp.sharding<@mesh, [{"tp"}]>
#whole = #tp.sharding<@mesh, [{}]>
module attributes {tp.machine = "h100", tp.plan = {lower_bound = 0 : i64, model_axes = "\22tp\22", picoseconds = 0 : i64, sequence_parallel = "auto", weights = "stationary"}} {
  tp.mesh @mesh = <["tp"=2]>
  func.func @main(%x: tensor<4xf32, #split>) -> (tensor<4xf32, #whole> {tp.like = 0 : i64}) {
    %0 = tp.relu %x : (tensor<4xf32, #split>) -> tensor<4xf32, #split>
    %1 = tp.reshard %0 : (tensor<4xf32, #split>) -> tensor<4xf32, #whole>
    return %1 : tensor<4xf32, #whole>
  }
}
