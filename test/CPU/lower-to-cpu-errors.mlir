// RUN: tp-opt %s -split-input-file -verify-diagnostics -tp-lower-to-cpu

// expected-error @below {{is not the program of one rank; run tp-partition first}}
func.func @open(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @half(%x: tensor<4x4xbf16>) -> tensor<4x4xbf16>
    attributes {tp.local} {
  // expected-error @below {{computes in 'bf16', and the CPU kernels in f32 and f64 only}}
  %y = tp.matmul %x, %x
      : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return %y : tensor<4x4xbf16>
}

// -----

// expected-error @below {{begins with 'tp_', which names functions of the run-time library}}
func.func @tp_rank(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tp.local} {
  return %x : tensor<4xf32>
}
