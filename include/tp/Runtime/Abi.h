// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_ABI_H
#define TP_RUNTIME_ABI_H

#include <stdint.h>

/// \file
/// Every function that compiled per-rank code may call.
///
/// Buffers are contiguous and row-major and hold elements at their natural
/// alignment, no more; they belong to the caller. Sizes are numbers of elements
/// unless a name says bytes. An empty size is legal everywhere. A result may
/// not overlap an operand, except where a function says so.
///
/// A function that fails does not return: it records what happened in the
/// context of the calling rank, stops the ranks that wait for it and leaves the
/// program for `tp::runtime::runRank`, which reports it. Compiled code needs no
/// unwind tables for this and may hold nothing that needs a destructor.
///
/// `T` is float (`_f32`) or double (`_f64`).

#ifdef __cplusplus
extern "C" {
#endif

/// Element types of a collective. i1 takes one byte, which is 0 or 1.
enum TPDataType {
  TP_F32 = 0,
  TP_F64 = 1,
  TP_I32 = 2,
  TP_I64 = 3,
  TP_I8 = 4,
  TP_I1 = 5
};

/// How a collective combines the elements of its members.
enum TPReduction {
  /// In the order of the members, ((x0 + x1) + x2) + ..., so that every rank
  /// gets the same bits. Integers wrap around. Not defined on i1.
  TP_SUM = 0,
  /// The largest; NaN if there is one. On i1 the logical or.
  TP_MAX = 1
};

//===-- Kernels -----------------------------------------------------------===//

/// out[batch, m, n] = a * b, where a is [batch, m, k], or [batch, k, m] if
/// `transposeA`, and b is [k, n], or [n, k] if `transposeB`: one for each batch
/// if `bBatched`, else shared. k = 0 gives zeros.
void tp_matmul_f32(float *out, const float *a, const float *b, int64_t batch,
                   int64_t m, int64_t n, int64_t k, int64_t bBatched,
                   int64_t transposeA, int64_t transposeB);
void tp_matmul_f64(double *out, const double *a, const double *b, int64_t batch,
                   int64_t m, int64_t n, int64_t k, int64_t bBatched,
                   int64_t transposeA, int64_t transposeB);

/// out = softmax(scale * q k^T) v for each head. q and out are
/// [batch, queries, heads, headDim], k and v [batch, keys, kvHeads, headDim];
/// head h reads KV head h / (heads / kvHeads), which must be whole. If
/// `causal`, query i sees key j where j <= i + origin. A query that sees no key
/// gets 0.
void tp_attention_f32(float *out, const float *q, const float *k,
                      const float *v, int64_t batch, int64_t queries,
                      int64_t keys, int64_t heads, int64_t kvHeads,
                      int64_t headDim, double scale, int64_t causal,
                      int64_t origin);
void tp_attention_f64(double *out, const double *q, const double *k,
                      const double *v, int64_t batch, int64_t queries,
                      int64_t keys, int64_t heads, int64_t kvHeads,
                      int64_t headDim, double scale, int64_t causal,
                      int64_t origin);

/// out[r, c] = x[r, c] / sqrt(mean over c of x[r, c]^2 + epsilon) * gain[c].
/// `out` may be `x`.
void tp_rms_norm_f32(float *out, const float *x, const float *gain,
                     int64_t rows, int64_t columns, double epsilon);
void tp_rms_norm_f64(double *out, const double *x, const double *gain,
                     int64_t rows, int64_t columns, double epsilon);

/// out[r, c] = (x[r, c] - m) / sqrt(v + epsilon) * gain[c] + bias[c], where m
/// is the mean of row r and v the mean of its squared deviations. `bias` is
/// read only if `hasBias`, and is 0 otherwise. `out` may be `x`.
void tp_layer_norm_f32(float *out, const float *x, const float *gain,
                       const float *bias, int64_t rows, int64_t columns,
                       double epsilon, int64_t hasBias);
void tp_layer_norm_f64(double *out, const double *x, const double *gain,
                       const double *bias, int64_t rows, int64_t columns,
                       double epsilon, int64_t hasBias);

/// Rotary position embedding (Su et al. 2021) of x [batch, sequence, heads,
/// headDim]: elements i and i + headDim/2 turn by (origin + s) * f_i radians,
/// f_i = theta^(-2i/headDim). A `factor` other than 0 scales the frequencies as
/// Llama 3.1 does: those with a wave length above originalContext/lowFrequency
/// by 1/factor, below originalContext/highFrequency not at all, and smoothly in
/// between. headDim must be even. `out` may be `x`.
void tp_rope_f32(float *out, const float *x, int64_t batch, int64_t sequence,
                 int64_t heads, int64_t headDim, int64_t origin, double theta,
                 double factor, double lowFrequency, double highFrequency,
                 double originalContext);
void tp_rope_f64(double *out, const double *x, int64_t batch, int64_t sequence,
                 int64_t heads, int64_t headDim, int64_t origin, double theta,
                 double factor, double lowFrequency, double highFrequency,
                 double originalContext);

/// out[o, i] = the sum, or maximum, over r of x[o, r, i] for x [outer, size,
/// inner], where only r with origin + r < count take part. Over nothing 0, or
/// -infinity. A maximum is NaN if an element is.
void tp_reduce_sum_f32(float *out, const float *x, int64_t outer, int64_t size,
                       int64_t inner, int64_t origin, int64_t count);
void tp_reduce_sum_f64(double *out, const double *x, int64_t outer,
                       int64_t size, int64_t inner, int64_t origin,
                       int64_t count);
void tp_reduce_max_f32(float *out, const float *x, int64_t outer, int64_t size,
                       int64_t inner, int64_t origin, int64_t count);
void tp_reduce_max_f64(double *out, const double *x, int64_t outer,
                       int64_t size, int64_t inner, int64_t origin,
                       int64_t count);

/// out[o, r, i] = exp(x[o, r, i] - m) / (sum over r of the same), where m is
/// the maximum over r; x and out are [outer, size, inner]. `out` may be `x`.
void tp_softmax_f32(float *out, const float *x, int64_t outer, int64_t size,
                    int64_t inner);
void tp_softmax_f64(double *out, const double *x, int64_t outer, int64_t size,
                    int64_t inner);

/// out[t, :] = row ids[t] of a table of which `table` holds the rows [origin,
/// origin + rows); zeros for an id elsewhere in the vocabulary. Rows from
/// `vocabulary` on are padding.
/// Fails on an id outside [0, vocabulary).
void tp_embedding_f32_i32(float *out, const float *table, const int32_t *ids,
                          int64_t tokens, int64_t rows, int64_t width,
                          int64_t origin, int64_t vocabulary);
void tp_embedding_f32_i64(float *out, const float *table, const int64_t *ids,
                          int64_t tokens, int64_t rows, int64_t width,
                          int64_t origin, int64_t vocabulary);
void tp_embedding_f64_i32(double *out, const double *table, const int32_t *ids,
                          int64_t tokens, int64_t rows, int64_t width,
                          int64_t origin, int64_t vocabulary);
void tp_embedding_f64_i64(double *out, const double *table, const int64_t *ids,
                          int64_t tokens, int64_t rows, int64_t width,
                          int64_t origin, int64_t vocabulary);

/// out[t] = logits[t, targets[t] - origin] for logits [tokens, columns], which
/// are classes [origin, origin + columns) of `vocabulary` and perhaps some
/// padding; 0 for a target elsewhere in the vocabulary, and for `ignored` if
/// `hasIgnored`. Fails on a target outside [0, vocabulary).
void tp_take_target_f32_i32(float *out, const float *logits,
                            const int32_t *targets, int64_t tokens,
                            int64_t columns, int64_t origin, int64_t vocabulary,
                            int64_t hasIgnored, int64_t ignored);
void tp_take_target_f32_i64(float *out, const float *logits,
                            const int64_t *targets, int64_t tokens,
                            int64_t columns, int64_t origin, int64_t vocabulary,
                            int64_t hasIgnored, int64_t ignored);
void tp_take_target_f64_i32(double *out, const double *logits,
                            const int32_t *targets, int64_t tokens,
                            int64_t columns, int64_t origin, int64_t vocabulary,
                            int64_t hasIgnored, int64_t ignored);
void tp_take_target_f64_i64(double *out, const double *logits,
                            const int64_t *targets, int64_t tokens,
                            int64_t columns, int64_t origin, int64_t vocabulary,
                            int64_t hasIgnored, int64_t ignored);

/// Sets elements to 0 at random and divides the others by 1 - rate. `dims`
/// holds numDims pairs (size, stride), major to minor: x and out are row-major
/// of these sizes, and an element's index is `origin` plus its places times the
/// strides; the last stride is 1. The element is set to 0 if word index mod 4
/// of Philox4x32-10 (Salmon et al. 2011), with the counter (index / 4, site)
/// and the key seed[0], low words first, lies below rate * 2^32. `out` may be
/// `x`.
void tp_dropout_f32(float *out, const float *x, const int64_t *seed,
                    const int64_t *dims, int64_t numDims, int64_t origin,
                    double rate, int64_t site);
void tp_dropout_f64(double *out, const double *x, const int64_t *seed,
                    const int64_t *dims, int64_t numDims, int64_t origin,
                    double rate, int64_t site);

//===-- Collectives -------------------------------------------------------===//
//
// `groups` is a table of numGroups rows of groupSize ranks that holds each rank
// once. The members of a call are the row with the calling rank, and piece p
// belongs to the member at position p. `site` identifies the call in the
// program: members of a group that disagree in the function, its site, type,
// sizes, reduction or group all fail with an error that names both sides.

/// out[count] = the reduction of the members' in[count]. `out` may be `in`.
void tp_all_reduce(void *out, const void *in, int64_t count, int64_t dtype,
                   int64_t kind, const int64_t *groups, int64_t numGroups,
                   int64_t groupSize, int64_t site);

/// Gathers along a dimension: in is [outer, inner], out [outer, groupSize,
/// inner], with the operand of member p at [:, p, :].
void tp_all_gather(void *out, const void *in, int64_t outer, int64_t inner,
                   int64_t dtype, const int64_t *groups, int64_t numGroups,
                   int64_t groupSize, int64_t site);

/// The inverse: in is [outer, groupSize, inner], out [outer, inner] is, on
/// member p, the reduction of the members' in[:, p, :].
void tp_reduce_scatter(void *out, const void *in, int64_t outer, int64_t inner,
                       int64_t dtype, int64_t kind, const int64_t *groups,
                       int64_t numGroups, int64_t groupSize, int64_t site);

/// Gathers along one dimension of in [outer, dim0, middle, dim1, inner], the
/// source, and splits along another, the target, whose size groupSize must
/// divide. With G = groupSize and p the position of this rank:
///   sourceFirst: out is [outer, G * dim0, middle, dim1 / G, inner] and
///     out[o, q * dim0 + i, m, j, e] = in of q [o, i, m, p * dim1 / G + j, e];
///   otherwise:   out is [outer, dim0 / G, middle, G * dim1, inner] and
///     out[o, i, m, q * dim1 + j, e] = in of q [o, p * dim0 / G + i, m, j, e].
void tp_all_to_all(void *out, const void *in, int64_t outer, int64_t dim0,
                   int64_t middle, int64_t dim1, int64_t inner,
                   int64_t sourceFirst, int64_t dtype, const int64_t *groups,
                   int64_t numGroups, int64_t groupSize, int64_t site);

/// The same with pieces that differ, and may be empty: `pieces` has the shape
/// of `groups` and holds the size of each member's piece along the dimension,
/// which has the sum P of a row. On member p the operand is [outer, pieces[p],
/// inner] and out is [outer, P, inner]; for a reduce-scatter the other way
/// round.
void tp_all_gather_v(void *out, const void *in, int64_t outer, int64_t inner,
                     int64_t dtype, const int64_t *pieces,
                     const int64_t *groups, int64_t numGroups,
                     int64_t groupSize, int64_t site);
void tp_reduce_scatter_v(void *out, const void *in, int64_t outer,
                         int64_t inner, int64_t dtype, int64_t kind,
                         const int64_t *pieces, const int64_t *groups,
                         int64_t numGroups, int64_t groupSize, int64_t site);

/// An all-to-all with pieces that differ. With S and T the sums of the rows of
/// this group, member p holds [outer, sourcePieces[p], middle, T, inner] and
/// gets [outer, S, middle, targetPieces[p], inner] if sourceFirst; otherwise it
/// holds [outer, T, middle, sourcePieces[p], inner] and gets [outer,
/// targetPieces[p], middle, S, inner].
void tp_all_to_all_v(void *out, const void *in, int64_t outer, int64_t middle,
                     int64_t inner, int64_t sourceFirst, int64_t dtype,
                     const int64_t *sourcePieces, const int64_t *targetPieces,
                     const int64_t *groups, int64_t numGroups,
                     int64_t groupSize, int64_t site);

/// out[count] = in[count] of the rank whose target this rank is. `pairs` holds
/// numPairs pairs (source, target), with each rank once as a source and once as
/// a target.
void tp_collective_permute(void *out, const void *in, int64_t count,
                           int64_t dtype, const int64_t *pairs,
                           int64_t numPairs, int64_t site);

/// The same where the block of pair i has counts[i] elements.
void tp_collective_permute_v(void *out, const void *in, int64_t dtype,
                             const int64_t *counts, const int64_t *pairs,
                             int64_t numPairs, int64_t site);

/// The number of the calling rank, in [0, number of ranks).
int64_t tp_rank(void);

//===-- Memory ------------------------------------------------------------===//

/// A block of `bytes` bytes, aligned to 64, not initialised, from the arena of
/// the calling rank; 0 bytes give a block too. The block lives until it is
/// freed on the same rank, or until the rank's scope ends. Fails if there is no
/// memory.
void *tp_alloc(int64_t bytes);
/// Gives back a block of this rank; null is ignored. Fails on anything else.
void tp_free(void *block);

/// The same under the names that MLIR's lowering of memref.alloc and
/// memref.dealloc calls. `alignment` is a power of two.
void *_mlir_memref_to_llvm_alloc(int64_t bytes);
void *_mlir_memref_to_llvm_aligned_alloc(int64_t alignment, int64_t bytes);
void _mlir_memref_to_llvm_free(void *block);

#ifdef __cplusplus
}
#endif

#endif // TP_RUNTIME_ABI_H
