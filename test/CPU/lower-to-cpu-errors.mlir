// RUN: tp-opt %s -split-input-file -verify-diagnostics -tp-lower-to-cpu

// expected-error @below {{is not the program of one rank; run tp-partition first}}
func.func @open(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @half(%x: tensor<4x4xbf16>) -> tensor<4x4xbf16>
    attributes {tp.local} {
  // expected-error @below {{failed to bufferize op}}
  // expected-error @below {{computes in 'bf16', and the CPU kernels in f32 and f64 only; cast the program to f32 before lowering, as tp-run does}}
  %y = tp.matmul %x, %x
      : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return %y : tensor<4x4xbf16>
}

// -----

// expected-error @below {{begins with 'tp_', which names functions of the run-time library}}
func.func @tp_rank(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tp.local} {
  return %x : tensor<4xf32>
}

// -----

func.func @sent(%x: tensor<4xf16>) -> tensor<4xf16>
    attributes {tp.local, tp.ranks = 2} {
  // expected-error @below {{failed to bufferize op}}
  // expected-error @below {{sends 'f16', which the CPU run-time library does not; cast the program to f32 before lowering, as tp-run does}}
  %y = tp.local_all_reduce %x sum groups dense<[[0, 1]]> : tensor<1x2xi64>
      : (tensor<4xf16>) -> tensor<4xf16>
  return %y : tensor<4xf16>
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
