// huggingface/transformers 47811: 12 query heads divide by 4, the 6 KV heads do
// not, and 4 is no multiple of 6. Shards overlapped silently. Neither number
// divides the other, so the mesh is refused, with the numbers that are legal.
// RUN: tp-opt %s --tp-plan="mesh=tp=4" --verify-diagnostics

func.func @main(%q: tensor<1x3x12x2xf32>, %k: tensor<1x3x6x2xf32>) -> tensor<1x3x12x2xf32> {
  // expected-error @below {{'tp.attention' op 12 query heads and 6 KV heads do not fit axis "tp" of 4 ranks: neither of 6 and 4 divides the other}}
  // expected-note @below {{fix: use one of the legal degrees 1, 2, 3, 6, 12}}
  // expected-note @below {{fix: deal whole heads unevenly with uneven=allow}}
  %o = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<1x3x12x2xf32>, tensor<1x3x6x2xf32>, tensor<1x3x6x2xf32>) -> tensor<1x3x12x2xf32>
  return %o : tensor<1x3x12x2xf32>
}
