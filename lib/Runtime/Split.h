// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_SPLIT_H
#define TP_RUNTIME_SPLIT_H

#include "Runtime/Kernels.h"

namespace tp::runtime {

/// The kernels, with their outermost loops dealt out to the threads of the
/// calling rank. A result does not depend on how many there are, to the bit.
template <typename T>
void splitMatmul(T *out, const T *a, const T *b, const MatmulShape &shape);
template <typename T>
void splitAttention(T *out, const T *q, const T *k, const T *v,
                    const AttentionShape &shape);

} // namespace tp::runtime

#endif // TP_RUNTIME_SPLIT_H
