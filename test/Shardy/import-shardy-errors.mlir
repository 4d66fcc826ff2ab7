// What only Shardy can say, and what does not fit.
// RUN: tp-opt %s --split-input-file --verify-diagnostics --tp-import-shardy

sdy.mesh @mesh = <["a"=2, "b"=4]>
// expected-error @below {{argument 0: dimension 1 is open, other axes may follow; a tp.sharding pins the whole tensor: close its dimensions, or leave the tensor without a sharding}}
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// expected-error @below {{argument 1: dimension 0 is open}}
func.func @main(%w: tensor<8xf32>, %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}], replicated={"a"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// expected-error @below {{argument 0: dimension 0 has priority 2; the planner weighs all pins at once and knows no priorities}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p2]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2], device_ids=[1, 0]>
// expected-error @below {{mesh @mesh has an order of devices of its own; the ranks of a tp.mesh are numbered row-major}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  return
}

// -----

sdy.mesh @one = <[], device_ids=[0]>
// expected-error @below {{mesh @one has no axes: it places a tensor on one device, which no tp.sharding says}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@one, [{}]>}) {
  return
}

// -----

// expected-error @below {{argument 0: there is no sdy.mesh @mesh}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// expected-error @below {{result 0: dimension 0 of 10 elements does not divide into 4 parts; Shardy pads the last ones, tp deals the elements evenly, so the two disagree about who holds what}}
func.func @main(%x: tensor<10xf32>) -> (tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) {
  return %x : tensor<10xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// expected-error @below {{argument 0: axis "c" is not one of the mesh's axes}}
// expected-note @below {{the mesh is}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// expected-error @below {{argument 0: the sharding has 2 dimensions, the tensor 1}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// expected-error @below {{argument 0: 'replicated' names "b":(2)2, which is in use}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}], replicated={"b":(2)2}>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// expected-error @below {{argument 0: 'replicated' names an axis that the mesh does not have}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}], replicated={"z"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// expected-error @below {{argument 0: annotates 'tensor<?xf32>'; only tensors of static shape are split}}
func.func @main(%x: tensor<?xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  return
}

// -----

// expected-error @below {{argument 0: 'sdy.sharding' is "a", a #sdy.sharding is wanted}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = "a"}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{; a #sdy.sharding_per_value with one entry for each of 1 results is wanted}}
  %y = tp.relu %x {sdy.sharding = #sdy.sharding_per_value<[]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{the sharding: dimension 0 is open}}
  %y = sdy.sharding_constraint %x <@mesh, [{"a", ?}]> : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{is not of the tp dialect; only its values, and those of functions, have a layout}}
  %y = arith.negf %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// expected-error @below {{mesh axis "a" is named twice}}
sdy.mesh @mesh = <["a"=2, "a"=4]>

// -----

// expected-error @below {{a priority is wanted here, as p1}}
func.func private @main(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}q]>})

// -----

// expected-error @below {{nothing may follow '?'}}
func.func private @main(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?, "a"}]>})
