// Programs of which no graph can be made, and why.
// RUN: tp-opt %s --split-input-file --verify-diagnostics --tp-plan="mesh=tp=2"

func.func private @elsewhere(tensor<6xf32>) -> tensor<6xf32>
func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{'func.call' op calls 'elsewhere', which has no body to plan}}
  %y = call @elsewhere(%x) : (tensor<6xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

tp.mesh @mesh = <["tp"=2]>
#sum = #tp.sharding<@mesh, [{}], unreduced = {"tp"}>
#rep = #tp.sharding<@mesh, [{}]>
func.func @main(%x: tensor<6xf32, #sum>) -> tensor<6xf32, #rep> {
  // expected-error @below {{'tp.all_reduce' op is a collective; in open IR collectives are the planner's to place: remove it, or pin the layout with a tp.reshard}}
  %y = tp.all_reduce %x over {"tp"} : (tensor<6xf32, #sum>) -> tensor<6xf32, #rep>
  return %y : tensor<6xf32, #rep>
}

// -----

func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{'arith.negf' op has no sharding rule, so it cannot be planned}}
  %y = arith.negf %x : tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

// An origin would have to come from an operation such as this one.
func.func @main(%x: tensor<3x7x5x2xf32>) -> tensor<3x7x5x2xf32> {
  // expected-error @below {{'arith.constant' op has no sharding rule, so it cannot be planned}}
  %o = arith.constant 9 : index
  %y = tp.rope %x from %o {theta = 500.0 : f64} : (tensor<3x7x5x2xf32>, index) -> tensor<3x7x5x2xf32>
  return %y : tensor<3x7x5x2xf32>
}

// -----

// expected-error @below {{'func.func' op has 2 blocks; a graph has one}}
func.func @main() {
  return
^bb1:
  return
}

// -----

// A declaration may be nested, but not public.
// expected-error @below {{the module has no public function with a body to start from}}
module {
  func.func nested @main(tensor<6xf32>)
}

// -----

// expected-error @below {{'func.func' op argument 1 of type 'index' is not a tensor with a rank}}
func.func @main(%x: tensor<6xf32>, %i: index) {
  return
}

// -----

// expected-error @below {{the module has no public function with a body to start from}}
module {
  func.func private @main(%x: tensor<6xf32>) {
    return
  }
}

// -----

tp.mesh @first = <["tp"=2]>
// expected-error @below {{'tp.mesh' op is the module's second mesh, after 'first'; a plan is for one mesh}}
tp.mesh @second = <["tp"=3]>
func.func @main(%x: tensor<6xf32>) {
  return
}

// -----

// expected-error @below {{has a symbol 'mesh' that is not a tp.mesh}}
module {
  func.func @mesh(%x: tensor<6xf32>) {
    return
  }
}

// -----

tp.mesh @mesh = <["tp"=2]>
#row = #tp.sharding<@mesh, [{"tp"}, {}]>
func.func @main(%x: tensor<5x6xf32>) -> tensor<5x6xf32, #row> {
  // expected-error @below {{'tp.reshard' of shape [5, 6] is pinned as #tp.sharding<@mesh, [{"tp"}, {}]>: shards must be even unless uneven=allow, and 5 of dimension 0 cannot be dealt evenly to 2 ranks}}
  // expected-note @below {{fix: with uneven=allow the pinned layouts can be met}}
  %y = tp.reshard %x : (tensor<5x6xf32>) -> tensor<5x6xf32, #row>
  return %y : tensor<5x6xf32, #row>
}

// -----

// expected-error @below {{'func.func' op result 0 of type 'tensor<3x6xf32>' cannot lie like argument 1 of type 'tensor<6x3x1xf32>'}}
func.func @main(%x: tensor<3x6xf32>, %cache: tensor<6x3x1xf32>) -> (tensor<3x6xf32> {tp.like = 1 : i64}) {
  return %x : tensor<3x6xf32>
}

// -----

// The sum wants the weight's rows split, the columns want its columns split,
// and it may not move.
#sum = #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>
#col = #tp.sharding<@mesh, [{}, {"tp"}]>
// expected-error @below {{cannot be planned: }}
// expected-note @below {{fix: with weights=stored the pinned layouts can be met}}
module {
  tp.mesh @mesh = <["tp"=2]>
  func.func @main(%x: tensor<3x6xf32>, %w: tensor<6x10xf32> {tp.parameter}) -> (tensor<3x10xf32>, tensor<3x10xf32>) {
    // expected-note @below {{pinned here: 'tp.matmul' as #tp.sharding<@mesh, [{}, {}], unreduced = {"tp"}>, one of 2 pins that contradict each other; without any one of them there is a plan}}
    %a = tp.matmul %x, %w : (tensor<3x6xf32>, tensor<6x10xf32>) -> tensor<3x10xf32, #sum>
    // expected-note @below {{pinned here: 'tp.matmul' as #tp.sharding<@mesh, [{}, {"tp"}]>, one of 2 pins}}
    %b = tp.matmul %x, %w : (tensor<3x6xf32>, tensor<6x10xf32>) -> tensor<3x10xf32, #col>
    %c = tp.reshard %a : (tensor<3x10xf32, #sum>) -> tensor<3x10xf32>
    %d = tp.reshard %b : (tensor<3x10xf32, #col>) -> tensor<3x10xf32>
    return %c, %d : tensor<3x10xf32>, tensor<3x10xf32>
  }
}
