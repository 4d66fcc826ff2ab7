// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Kernels.h"
#include "Runtime/Context.h"
#include "Runtime/Sizes.h"
#include "Runtime/Split.h"
#include "tp/Runtime/Abi.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace tp::runtime {

//===-- Choice of the instruction set ------------------------------------===//

#define TP_KERNELS(T)                                                          \
  {matmul<T>, attention<T>, rmsNorm<T>,   layerNorm<T>,                        \
   rope<T>,   reduceSum<T>, reduceMax<T>, softmax<T>}

#define TP_DECLARE_VARIANT(NAME)                                               \
  namespace NAME {                                                             \
  template <typename T>                                                        \
  void matmul(T *out, const T *a, const T *b, const MatmulShape &shape);       \
  template <typename T>                                                        \
  void attention(T *out, const T *q, const T *k, const T *v,                   \
                 const AttentionShape &shape);                                 \
  template <typename T>                                                        \
  void rmsNorm(T *out, const T *x, const T *gain, const NormShape &shape);     \
  template <typename T>                                                        \
  void layerNorm(T *out, const T *x, const T *gain, const T *bias,             \
                 const NormShape &shape);                                      \
  template <typename T> void rope(T *out, const T *x, const RopeShape &shape); \
  template <typename T>                                                        \
  void reduceSum(T *out, const T *x, const ReduceShape &shape);                \
  template <typename T>                                                        \
  void reduceMax(T *out, const T *x, const ReduceShape &shape);                \
  template <typename T>                                                        \
  void softmax(T *out, const T *x, const ReduceShape &shape);                  \
  static const KernelTable table = {#NAME, TP_KERNELS(float),                  \
                                    TP_KERNELS(double)};                       \
  }

TP_DECLARE_VARIANT(baseline)
#if TP_X86_VARIANTS
TP_DECLARE_VARIANT(avx2)
TP_DECLARE_VARIANT(avx512)
#endif

std::span<const KernelTable> supportedKernels() {
#if TP_X86_VARIANTS
  static const std::array<KernelTable, 3> tables = {baseline::table,
                                                    avx2::table, avx512::table};
  static const size_t count = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
      return size_t(1);
    for (bool supported : {__builtin_cpu_supports("avx512f") != 0,
                           __builtin_cpu_supports("avx512dq") != 0,
                           __builtin_cpu_supports("avx512vl") != 0,
                           __builtin_cpu_supports("avx512bw") != 0})
      if (!supported)
        return size_t(2);
    return size_t(3);
  }();
  return std::span(tables).first(count);
#else
  return {&baseline::table, 1};
#endif
}

const KernelTable &kernels() {
  static const KernelTable &best = supportedKernels().back();
  return best;
}

//===-- Entry points -----------------------------------------------------===//

namespace {

template <typename T>
void checkedMatmul(T *out, const T *a, const T *b, const MatmulShape &s) {
  NamedSize batch = {"batch", s.batch}, m = {"m", s.m}, n = {"n", s.n},
            k = {"k", s.k};
  checkedCount({batch, m, n}, sizeof(T));
  checkedCount({batch, m, k}, sizeof(T));
  checkedCount({batch, k, n}, sizeof(T));
  splitMatmul(out, a, b, s);
}

template <typename T>
void checkedAttention(T *out, const T *q, const T *k, const T *v,
                      const AttentionShape &s) {
  NamedSize batch = {"batch", s.batch}, width = {"headDim", s.headDim},
            heads = {"heads", s.heads}, kvHeads = {"kvHeads", s.kvHeads};
  checkedCount({batch, {"queries", s.queries}, heads, width}, sizeof(T));
  checkedCount({batch, {"keys", s.keys}, kvHeads, width}, sizeof(T));
  if (s.heads == 0)
    return;
  if (s.kvHeads == 0 || s.heads % s.kvHeads != 0)
    throw RuntimeError(std::to_string(s.heads) +
                       " query heads are no multiple of " +
                       std::to_string(s.kvHeads) + " KV heads");
  splitAttention(out, q, k, v, s);
}

template <typename T>
void checkedNorm(T *out, const T *x, const T *gain, const NormShape &s) {
  checkedCount({{"rows", s.rows}, {"columns", s.columns}}, sizeof(T));
  kernels().of<T>().rmsNorm(out, x, gain, s);
}

template <typename T>
void checkedLayerNorm(T *out, const T *x, const T *gain, const T *bias,
                      const NormShape &s) {
  checkedCount({{"rows", s.rows}, {"columns", s.columns}}, sizeof(T));
  kernels().of<T>().layerNorm(out, x, gain, bias, s);
}

/// The shape of a reduction, checked, of which elements [origin, count) take
/// part.
template <typename T>
ReduceShape checkedReduction(ReduceShape s, int64_t origin, int64_t count) {
  checkedCount({{"outer", s.outer}, {"size", s.size}, {"inner", s.inner}},
               sizeof(T));
  checkedCount({{"origin", origin}}, 1);
  checkedCount({{"count", count}}, 1);
  s.visible = std::clamp<int64_t>(count - origin, 0, s.size);
  return s;
}

template <typename T> void checkedRope(T *out, const T *x, const RopeShape &s) {
  checkedCount({{"batch", s.batch},
                {"sequence", s.sequence},
                {"heads", s.heads},
                {"headDim", s.headDim}},
               sizeof(T));
  int64_t last;
  if (s.origin < 0 || __builtin_add_overflow(s.origin, s.sequence, &last))
    throw RuntimeError("origin " + std::to_string(s.origin) +
                       " is no position of a sequence");
  if (s.headDim % 2 != 0)
    throw RuntimeError("headDim " + std::to_string(s.headDim) +
                       " is odd; elements turn in pairs");
  kernels().of<T>().rope(out, x, s);
}

} // namespace

} // namespace tp::runtime

using namespace tp::runtime;

// Compiled code passes every size and table as an argument of its own.
// NOLINTBEGIN(readability-function-size)
extern "C" {

#define TP_DEFINE_KERNELS(SUFFIX, T)                                           \
  void tp_matmul_##SUFFIX(T *out, const T *a, const T *b, int64_t batch,       \
                          int64_t m, int64_t n, int64_t k, int64_t bBatched,   \
                          int64_t transposeA, int64_t transposeB) {            \
    guarded("tp_matmul_" #SUFFIX, [&] {                                        \
      checkedMatmul(                                                           \
          out, a, b,                                                           \
          {batch, m, n, k, bBatched != 0, transposeA != 0, transposeB != 0});  \
    });                                                                        \
  }                                                                            \
  void tp_attention_##SUFFIX(T *out, const T *q, const T *k, const T *v,       \
                             int64_t batch, int64_t queries, int64_t keys,     \
                             int64_t heads, int64_t kvHeads, int64_t headDim,  \
                             double scale, int64_t causal, int64_t origin) {   \
    guarded("tp_attention_" #SUFFIX, [&] {                                     \
      checkedAttention(out, q, k, v,                                           \
                       {batch, queries, keys, heads, kvHeads, headDim, scale,  \
                        causal != 0, origin});                                 \
    });                                                                        \
  }                                                                            \
  void tp_rms_norm_##SUFFIX(T *out, const T *x, const T *gain, int64_t rows,   \
                            int64_t columns, double epsilon) {                 \
    guarded("tp_rms_norm_" #SUFFIX,                                            \
            [&] { checkedNorm(out, x, gain, {rows, columns, epsilon}); });     \
  }                                                                            \
  void tp_layer_norm_##SUFFIX(T *out, const T *x, const T *gain,               \
                              const T *bias, int64_t rows, int64_t columns,    \
                              double epsilon, int64_t hasBias) {               \
    guarded("tp_layer_norm_" #SUFFIX, [&] {                                    \
      checkedLayerNorm(out, x, gain, hasBias != 0 ? bias : nullptr,            \
                       {rows, columns, epsilon});                              \
    });                                                                        \
  }                                                                            \
  void tp_rope_##SUFFIX(T *out, const T *x, int64_t batch, int64_t sequence,   \
                        int64_t heads, int64_t headDim, int64_t origin,        \
                        double theta, double factor, double lowFrequency,      \
                        double highFrequency, double originalContext) {        \
    guarded("tp_rope_" #SUFFIX, [&] {                                          \
      checkedRope(out, x,                                                      \
                  {batch, sequence, heads, headDim, origin, theta, factor,     \
                   lowFrequency, highFrequency, originalContext});             \
    });                                                                        \
  }                                                                            \
  void tp_reduce_sum_##SUFFIX(T *out, const T *x, int64_t outer, int64_t size, \
                              int64_t inner, int64_t origin, int64_t count) {  \
    guarded("tp_reduce_sum_" #SUFFIX, [&] {                                    \
      kernels().of<T>().reduceSum(                                             \
          out, x,                                                              \
          checkedReduction<T>({outer, size, inner, 0}, origin, count));        \
    });                                                                        \
  }                                                                            \
  void tp_reduce_max_##SUFFIX(T *out, const T *x, int64_t outer, int64_t size, \
                              int64_t inner, int64_t origin, int64_t count) {  \
    guarded("tp_reduce_max_" #SUFFIX, [&] {                                    \
      kernels().of<T>().reduceMax(                                             \
          out, x,                                                              \
          checkedReduction<T>({outer, size, inner, 0}, origin, count));        \
    });                                                                        \
  }                                                                            \
  void tp_softmax_##SUFFIX(T *out, const T *x, int64_t outer, int64_t size,    \
                           int64_t inner) {                                    \
    guarded("tp_softmax_" #SUFFIX, [&] {                                       \
      kernels().of<T>().softmax(                                               \
          out, x, checkedReduction<T>({outer, size, inner, 0}, 0, size));      \
    });                                                                        \
  }

TP_DEFINE_KERNELS(f32, float)
TP_DEFINE_KERNELS(f64, double)
}
// NOLINTEND(readability-function-size)
