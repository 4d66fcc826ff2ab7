// What only tp can say.
// RUN: tp-opt %s --split-input-file --verify-diagnostics --tp-export-shardy

tp.mesh @mesh = <["tp"=4]>
// expected-error @below {{argument 0: dimension 0 of 10 elements over 4 ranks is uneven; Shardy pads the last parts, tp deals the elements evenly}}
func.func private @main(tensor<10xf32, #tp.sharding<@mesh, [{"tp"}]>>)

// -----

tp.mesh @mesh = <["tp"=4]>
// expected-error @below {{result 0: a maximum still to be taken, unreduced = max{..}, is nothing that Shardy can say}}
func.func private @main() -> tensor<8xf32, #tp.sharding<@mesh, [{}], unreduced = max{"tp"}>>

// -----

tp.mesh @mesh = <["a"=2, "b"=3]>
// Six units of 2 elements, nested: 3, 3 units, then 1 each.
func.func private @main(tensor<12xf32, #tp.sharding<@mesh, [{"a", "b", unit = 2}]>>)

// -----

tp.mesh @mesh = <["tp"=4]>
// expected-error @below {{argument 0: dimension 0 is dealt in units of 6, which Shardy cannot say}}
func.func private @main(tensor<12xf32, #tp.sharding<@mesh, [{"tp", unit = 6}]>>)

// -----

tp.mesh @mesh = <["tp"=4]>
#split = #tp.sharding<@mesh, [{"tp"}]>
#whole = #tp.sharding<@mesh, [{}]>
func.func @main(%x: tensor<8xf32, #split>) -> tensor<8xf32, #whole> {
  // expected-error @below {{is a collective, which is not annotation but operation: export the program before tp-insert-collectives}}
  %y = tp.all_gather %x dim 0 over {"tp"} : (tensor<8xf32, #split>) -> tensor<8xf32, #whole>
  return %y : tensor<8xf32, #whole>
}

// -----

// expected-error @below {{is the program of one rank; Shardy's annotations are on the global one: export it before tp-partition}}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> attributes {tp.local, tp.ranks = 1} {
  return %x : tensor<8xf32>
}
