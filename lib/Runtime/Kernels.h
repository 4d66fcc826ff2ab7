// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_KERNELS_H
#define TP_RUNTIME_KERNELS_H

#include <cstdint>
#include <span>

namespace tp::runtime {

/// The sizes of each kernel, checked. Meanings as in Abi.h.
struct MatmulShape {
  int64_t batch, m, n, k;
  bool bBatched, transposeA, transposeB;
};

struct AttentionShape {
  int64_t batch, queries, keys, heads, kvHeads, headDim;
  double scale;
  bool causal;
  int64_t origin;
};

struct NormShape {
  int64_t rows, columns;
  double epsilon;
};

/// The first `visible` of `size` elements take part.
struct ReduceShape {
  int64_t outer, size, inner, visible;
};

struct RopeShape {
  int64_t batch, sequence, heads, headDim, origin;
  double theta, factor, lowFrequency, highFrequency, originalContext;
};

template <typename T> struct KernelsOf {
  void (*matmul)(T *out, const T *a, const T *b, const MatmulShape &shape);
  void (*attention)(T *out, const T *q, const T *k, const T *v,
                    const AttentionShape &shape);
  void (*rmsNorm)(T *out, const T *x, const T *gain, const NormShape &shape);
  /// `bias` is null if there is none.
  void (*layerNorm)(T *out, const T *x, const T *gain, const T *bias,
                    const NormShape &shape);
  void (*rope)(T *out, const T *x, const RopeShape &shape);
  void (*reduceSum)(T *out, const T *x, const ReduceShape &shape);
  void (*reduceMax)(T *out, const T *x, const ReduceShape &shape);
  void (*softmax)(T *out, const T *x, const ReduceShape &shape);
};

/// The kernels as compiled for one instruction set.
struct KernelTable {
  const char *name;
  KernelsOf<float> f32;
  KernelsOf<double> f64;

  template <typename T> const KernelsOf<T> &of() const;
};

template <> inline const KernelsOf<float> &KernelTable::of() const {
  return f32;
}
template <> inline const KernelsOf<double> &KernelTable::of() const {
  return f64;
}

/// The tables that this processor can run, from the plainest to the fastest.
std::span<const KernelTable> supportedKernels();

/// The fastest of them.
const KernelTable &kernels();

} // namespace tp::runtime

#endif // TP_RUNTIME_KERNELS_H
