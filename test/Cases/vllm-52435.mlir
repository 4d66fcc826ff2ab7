// vllm-project/vllm 52435 (also 52535): one violated constraint was reported at a
// time, without advice; putting it right led to the next. All of a program are
// reported in one run, each with the numbers that are legal for it.
// RUN: tp-opt %s --tp-plan="mesh=tp=3" --verify-diagnostics

func.func @main(%q: tensor<1x2x64x2xf32>, %k: tensor<1x2x8x2xf32>, %r: tensor<1x2x10x2xf32>) -> (tensor<1x2x64x2xf32>, tensor<1x2x10x2xf32>) {
  // expected-error @below {{'tp.attention' op 64 query heads and 8 KV heads do not fit axis "tp" of 3 ranks: 3 does not divide 64}}
  // expected-note @below {{fix: use one of the legal degrees 1, 2, 4, 8, 16, 32, 64}}
  // expected-note @below {{fix: deal whole heads unevenly with uneven=allow}}
  %a = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x2x64x2xf32>, tensor<1x2x8x2xf32>, tensor<1x2x8x2xf32>) -> tensor<1x2x64x2xf32>
  // expected-error @below {{'tp.attention' op 10 query heads and 10 KV heads do not fit axis "tp" of 3 ranks: 3 does not divide 10}}
  // expected-note @below {{fix: use one of the legal degrees 1, 2, 5, 10}}
  // expected-note @below {{fix: deal whole heads unevenly with uneven=allow}}
  %b = tp.attention %r, %r, %r {scale = 0.5 : f64} : (tensor<1x2x10x2xf32>, tensor<1x2x10x2xf32>, tensor<1x2x10x2xf32>) -> tensor<1x2x10x2xf32>
  return %a, %b : tensor<1x2x64x2xf32>, tensor<1x2x10x2xf32>
}
