// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Split.h"
#include "Runtime/Context.h"

#include <algorithm>

namespace tp::runtime {

/// Pieces of less work are not worth waking a thread for.
static constexpr int64_t leastWork = 1 << 18;
/// Rows of a product are dealt out in such units: a multiple of the height of a
/// tile, above the limit under which a product is computed in another way.
static constexpr int64_t rowUnit = 48;
/// The same for the queries of attention.
static constexpr int64_t queryUnit = 64;

namespace {

/// `count` things dealt out in units to at most one piece a thread; the last
/// piece takes what is left over.
class Pieces {
public:
  /// `work` is that of all, in multiply-adds.
  Pieces(int64_t count, int64_t unit, double work, const RankContext *context)
      : count(count), unit(unit), units(count / unit) {
    int64_t threads = context ? context->workers.size() : 1;
    auto worthwhile = static_cast<int64_t>(
        std::min(work / leastWork, static_cast<double>(threads)));
    number = std::max<int64_t>(1, std::min(worthwhile, units));
  }

  int64_t size() const { return number; }
  int64_t begin(int64_t piece) const { return units * piece / number * unit; }
  int64_t end(int64_t piece) const {
    return piece + 1 == number ? count : begin(piece + 1);
  }

private:
  int64_t count, unit, units, number;
};

} // namespace

static void forEach(const Pieces &pieces, RankContext *context,
                    const std::function<void(int64_t)> &body) {
  if (pieces.size() == 1)
    return body(0);
  context->workers.forEach(pieces.size(), body);
}

template <typename T>
void splitMatmul(T *out, const T *a, const T *b, const MatmulShape &shape) {
  const auto &kernel = kernels().of<T>().matmul;
  RankContext *context = currentContext();
  bool rowsFollow = !shape.bBatched && !shape.transposeA;
  MatmulShape one = shape;
  if (rowsFollow) {
    // The rows of all batches follow one another: one large product.
    one.m = shape.batch * shape.m;
    one.batch = 1;
  }
  double work = static_cast<double>(shape.batch) *
                static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                static_cast<double>(shape.k);
  Pieces pieces = rowsFollow ? Pieces(one.m, rowUnit, work, context)
                             : Pieces(one.batch, 1, work, context);
  int64_t rowOfA = rowsFollow ? one.k : one.m * one.k;
  int64_t rowOfB = one.bBatched ? one.k * one.n : 0;
  int64_t rowOfOut = rowsFollow ? one.n : one.m * one.n;
  forEach(pieces, context, [&](int64_t piece) {
    int64_t begin = pieces.begin(piece), size = pieces.end(piece) - begin;
    MatmulShape part = one;
    (rowsFollow ? part.m : part.batch) = size;
    kernel(out + begin * rowOfOut, a + begin * rowOfA, b + begin * rowOfB,
           part);
  });
}

template <typename T>
void splitAttention(T *out, const T *q, const T *k, const T *v,
                    const AttentionShape &shape) {
  const auto &kernel = kernels().of<T>().attention;
  RankContext *context = currentContext();
  int64_t row = shape.heads * shape.headDim;
  int64_t kvSize = shape.keys * shape.kvHeads * shape.headDim;
  double work = 2.0 * static_cast<double>(shape.batch) *
                static_cast<double>(shape.queries) *
                static_cast<double>(shape.keys) * static_cast<double>(row);
  Pieces batches(shape.batch, 1, work, context);
  Pieces queries(shape.queries, queryUnit,
                 work / static_cast<double>(batches.size()), context);
  // Sequences first: the keys of each are then read by one thread.
  if (batches.size() > 1 || queries.size() == 1)
    return forEach(batches, context, [&](int64_t piece) {
      int64_t begin = batches.begin(piece);
      AttentionShape part = shape;
      part.batch = batches.end(piece) - begin;
      int64_t at = begin * shape.queries * row;
      kernel(out + at, q + at, k + begin * kvSize, v + begin * kvSize, part);
    });
  for (int64_t sequence = 0; sequence < shape.batch; ++sequence)
    forEach(queries, context, [&](int64_t piece) {
      int64_t begin = queries.begin(piece);
      AttentionShape part = shape;
      part.batch = 1;
      part.queries = queries.end(piece) - begin;
      part.origin = shape.origin + begin;
      int64_t at = (sequence * shape.queries + begin) * row;
      kernel(out + at, q + at, k + sequence * kvSize, v + sequence * kvSize,
             part);
    });
}

template void splitMatmul(float *, const float *, const float *,
                          const MatmulShape &);
template void splitMatmul(double *, const double *, const double *,
                          const MatmulShape &);
template void splitAttention(float *, const float *, const float *,
                             const float *, const AttentionShape &);
template void splitAttention(double *, const double *, const double *,
                             const double *, const AttentionShape &);

} // namespace tp::runtime
