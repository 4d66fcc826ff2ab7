// Meshes and shardings that are wrong in themselves or for their tensor.
// RUN: tp-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{a mesh axis needs a name}}
tp.mesh @mesh = <["tp"=2, ""=3]>

// -----

// expected-error @below {{mesh axis "tp" is named twice}}
tp.mesh @mesh = <["tp"=2, "dp"=3, "tp"=5]>

// -----

// expected-error @below {{mesh axis "tp" has 0 ranks; at least 1 is needed}}
tp.mesh @mesh = <["tp"=0]>

// -----

// expected-error @below {{mesh axis "tp" has -3 ranks; at least 1 is needed}}
tp.mesh @mesh = <["dp"=2, "tp"=-3]>

// -----

// expected-error @below {{the number of ranks of the mesh exceeds 2^63 - 1 at axis "b"}}
tp.mesh @mesh = <["a"=4611686018427387904, "b"=3]>

// -----

// expected-error @below {{a sub-axis of size 0}}
#empty = #tp.sharding<@mesh, [{"tp":(1)0}]>

// -----

// expected-error @below {{sub-axis "tp":(0)3: both numbers must be at least 1 and their product fit 63 bits}}
#nothing_before = #tp.sharding<@mesh, [{"tp":(0)3}]>

// -----

// expected-error @below {{sub-axis "tp":(3)-5: both numbers must be at least 1 and their product fit 63 bits}}
#negative = #tp.sharding<@mesh, [{"tp":(3)-5}]>

// -----

// expected-error @below {{sub-axis "tp":(4611686018427387904)3: both numbers must be at least 1 and their product fit 63 bits}}
#too_large = #tp.axis_ref<"tp":(4611686018427387904)3>

// -----

// expected-error @below {{unit = 0; a unit is at least 1}}
#no_unit = #tp.sharding<@mesh, [{}, {"tp", unit = 0}]>

// -----

// expected-error @below {{unit = -7; a unit is at least 1}}
#negative_unit = #tp.dim<{"tp", unit = -7}>

// -----

// expected-error @below {{max{} over no axes: write nothing instead}}
#no_maximum = #tp.sharding<@mesh, [{}], unreduced = max{}>

// -----

#matrix = #tp.sharding<@mesh, [{}, {"tp"}]>
// expected-error @below {{the sharding has 2 dimensions, the tensor 1}}
func.func private @too_few_dimensions(tensor<6xf32, #matrix>)

// -----

#matrix = #tp.sharding<@mesh, [{}, {"tp"}]>
// expected-error @below {{the sharding has 2 dimensions, the tensor 3}}
func.func private @too_many_dimensions(tensor<3x6x5xf32, #matrix>)

// -----

#matrix = #tp.sharding<@mesh, [{}, {"tp"}]>
// expected-error @below {{dimension 1 is dynamic; only static shapes can be split}}
func.func private @dynamic(tensor<3x?xf32, #matrix>)

// -----

#heads = #tp.sharding<@mesh, [{}, {"tp", unit = 4}]>
// expected-error @below {{unit = 4 does not divide dimension 1 of 10 elements}}
func.func private @half_a_head(tensor<3x10xf32, #heads>)

// -----

#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
// expected-error @below {{a value of element type 'index' cannot be unreduced}}
func.func private @sum_of_no_numbers(tensor<5xindex, #sum>)

// -----

#sum = #tp.sharding<@mesh, [{}], unreduced = sum{"tp"}>
// expected-error @below {{a sum of i1 values is not defined; use max{..}}}
func.func private @sum_of_bits(tensor<5xi1, #sum>)

// -----

tp.mesh @mesh = <["tp"=2]>
// expected-error @below {{nothing follows the unit of a dimension}}
#twice = #tp.sharding<@mesh, [{"tp", unit = 2, unit = 4}]>
