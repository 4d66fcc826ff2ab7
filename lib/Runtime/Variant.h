// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_VARIANT_H
#define TP_RUNTIME_VARIANT_H

#include "Runtime/Kernels.h"

/// \file
/// For the sources that are compiled once for each instruction set. The build
/// defines TP_VARIANT, and `Eigen` as a name of its own for each, for a linker
/// that finds one inline function in several objects keeps any of them, perhaps
/// one that this processor cannot run. For the same reason these sources keep
/// to Eigen, libm and plain loops: what they emit must lie in the variant's
/// namespaces. The test `RuntimeVariants` looks at the objects.

namespace tp::runtime::TP_VARIANT {

template <typename T>
void matmul(T *out, const T *a, const T *b, const MatmulShape &shape);
template <typename T>
void attention(T *out, const T *q, const T *k, const T *v,
               const AttentionShape &shape);
template <typename T>
void rmsNorm(T *out, const T *x, const T *gain, const NormShape &shape);
template <typename T>
void layerNorm(T *out, const T *x, const T *gain, const T *bias,
               const NormShape &shape);
template <typename T>
void reduceSum(T *out, const T *x, const ReduceShape &shape);
template <typename T>
void reduceMax(T *out, const T *x, const ReduceShape &shape);
template <typename T>
void softmax(T *out, const T *x, const ReduceShape &shape);
template <typename T> void rope(T *out, const T *x, const RopeShape &shape);

} // namespace tp::runtime::TP_VARIANT

#endif // TP_RUNTIME_VARIANT_H
