// RUN: tp-opt %s -split-input-file -verify-diagnostics -tp-lower-to-cpu

// expected-error @below {{is not the program of one rank; run tp-partition first}}
func.func @open(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @kept_elsewhere() -> tensor<2xbf16> attributes {tp.local} {
  // expected-error @below {{keeps its values of 'bf16' outside the text; dense<..> is wanted}}
  %c = tp.constant dense_resource<two> : tensor<2xbf16>
  return %c : tensor<2xbf16>
}

// -----

// expected-error @below {{begins with 'tp_', which names functions of the run-time library}}
func.func @tp_rank(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tp.local} {
  return %x : tensor<4xf32>
}

// -----

func.func @lost(%x: tensor<4xf32>) -> tensor<2xf32>
    attributes {tp.local, tp.ranks = 2} {
  // expected-error @below {{names mesh @mesh, which the module does not have}}
  %o = tp.shard_origin @mesh {"tp"} of 4 : index
  %y = tp.local_slice %x from %o dim 0 : (tensor<4xf32>, index) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

tp.mesh @mesh = <["dp"=2]>
func.func @unknown(%x: tensor<4xf32>) -> tensor<2xf32>
    attributes {tp.local, tp.ranks = 2} {
  // expected-error @below {{names an axis that mesh @mesh does not have}}
  %o = tp.shard_origin @mesh {"tp"} of 4 : index
  %y = tp.local_slice %x from %o dim 0 : (tensor<4xf32>, index) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
