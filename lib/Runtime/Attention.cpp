// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Tile.h"

#include <Eigen/Core>
#include <cmath>

namespace tp::runtime::TP_VARIANT {

namespace {

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/// Flash attention (Dao et al. 2022) on transposed tiles. The columns of a tile
/// are pairs (query, head), query major, of heads that share a KV head; the
/// rows of its scores are keys. So the softmax runs along vectors of columns,
/// and each key is read once for all heads of its group.
template <typename T> class TileAttention {
public:
  TileAttention(T *out, const T *q, const T *k, const T *v,
                const AttentionShape &shape)
      : out(out), q(q), k(k), v(v), shape(shape),
        group(shape.heads / shape.kvHeads), heads(smaller(group, maxColumns)),
        queriesPerTile(larger(1, maxColumns / heads)) {
    int64_t mostPairs = heads * smaller(queriesPerTile, shape.queries);
    narrow = mostPairs <= mostNarrow && shape.headDim % lanes<T> == 0;
    if (!narrow)
      copies.resize(2 * shape.keys * copyRow());
    int64_t most = padded(mostPairs);
    scores.resize(smaller(keysPerBlock, shape.keys) * most);
    turned.resize(shape.headDim * most);
    sum.resize(shape.headDim * most);
    largest.resize(most);
    weight.resize(most);
    correction.resize(most);
  }

  /// All queries of one KV head's group.
  void runGroup(int64_t batch, int64_t kvHead) {
    // Queries in front of the first key see none: they are all zeros, so that
    // every column of a tile sees at least key 0.
    int64_t first = 0;
    if (shape.keys == 0)
      first = shape.queries;
    else if (shape.causal)
      first = smaller(larger(-shape.origin, 0), shape.queries);
    selectHead(batch, kvHead);
    for (int64_t h = 0; h < group; h += heads) {
      headsNow = smaller(heads, group - h);
      head = kvHead * group + h;
      for (int64_t i = 0; i < first; ++i)
        clear(outputRow(batch, i));
      for (int64_t i = first; i < shape.queries; i += queriesPerTile)
        runTile(batch, i);
    }
  }

private:
  /// The queries of a tile, and the scores of a block, fit into a first-level
  /// cache each: 32 KiB at 128 elements a head.
  static constexpr int64_t maxColumns = 256 / sizeof(T);
  static constexpr int64_t keysPerBlock = 128;
  /// Up to this many pairs, as in decoding, vectors run along the head instead:
  /// then the keys and values are read in the order they lie in.
  static constexpr int64_t mostNarrow = 8;

  static int64_t padded(int64_t columns) {
    return (columns + lanes<T> - 1) / lanes<T> * lanes<T>;
  }

  T *outputRow(int64_t batch, int64_t query) const {
    return out + ((batch * shape.queries + query) * shape.heads + head) *
                     shape.headDim;
  }

  void clear(T *row) const {
    for (int64_t i = 0; i < headsNow * shape.headDim; ++i)
      row[i] = T(0);
  }

  void runTile(int64_t batch, int64_t query) {
    firstQuery = query;
    queriesNow = smaller(queriesPerTile, shape.queries - query);
    pairs = queriesNow * headsNow;
    columns = padded(pairs);
    loadQueries(batch);
    int64_t visible = shape.keys;
    if (shape.causal)
      visible = smaller(visible, query + queriesNow + shape.origin);
    for (int64_t key = 0; key < visible; key += keysPerBlock)
      runBlock(key, smaller(keysPerBlock, visible - key));
    storeResult(batch);
  }

  /// Rows of q or out that lie at one distance: those of the heads of a query,
  /// or, where a head stands alone, of the queries.
  struct RowGroups {
    int64_t groups, rowsEach, rowStride, groupStride;
  };

  RowGroups rowGroups() const {
    int64_t query = shape.heads * shape.headDim;
    if (headsNow == 1)
      return {1, queriesNow, query, 0};
    return {queriesNow, headsNow, shape.headDim, query};
  }

  /// turned = scale * q. The padding is 0, and so are its scores.
  void loadQueries(int64_t batch) {
    const T *base = q + (outputRow(batch, firstQuery) - out);
    RowGroups lie = rowGroups();
    auto used = turned.head(shape.headDim * columns);
    if (columns != pairs)
      used.setZero();
    for (int64_t g = 0; g < lie.groups; ++g) {
      const T *rows = base + g * lie.groupStride;
      int64_t first = g * lie.rowsEach;
      if (!narrow)
        transpose(turned.data() + first, columns,
                  Strided<T>{rows, lie.rowStride, 1}, lie.rowsEach,
                  shape.headDim);
      for (int64_t r = 0; narrow && r < lie.rowsEach; ++r)
        for (int64_t d = 0; d < shape.headDim; ++d)
          turned[(first + r) * shape.headDim + d] = rows[r * lie.rowStride + d];
    }
    used *= static_cast<T>(shape.scale);
  }

  /// Elements from one row of a copy to the next: never a power of two, where
  /// a column would fill a single set of a cache.
  int64_t copyRow() const { return shape.headDim + lanes<T>; }

  /// Sets `keys` and `values` to one head. Tiles read them again and again, and
  /// values along columns, so they are moved together first; unless there is
  /// one narrow tile only, which reads them once.
  void selectHead(int64_t batch, int64_t kvHead) {
    int64_t row = shape.kvHeads * shape.headDim;
    int64_t offset = batch * shape.keys * row + kvHead * shape.headDim;
    keys = {k + offset, row, 1};
    values = {v + offset, row, 1};
    if (narrow)
      return;
    T *to = copies.data();
    for (Strided<T> *from : {&keys, &values}) {
      for (int64_t r = 0; r < shape.keys; ++r)
        for (int64_t d = 0; d < shape.headDim; ++d)
          to[r * copyRow() + d] = from->data[r * row + d];
      *from = {to, copyRow(), 1};
      to += shape.keys * copyRow();
    }
  }

  /// The first column that sees a key; the columns from there on see it too.
  int64_t firstColumn(int64_t key) const {
    if (!shape.causal)
      return 0;
    return smaller(larger(key - shape.origin - firstQuery, 0), queriesNow) *
           headsNow;
  }

  void runBlock(int64_t key, int64_t rows) {
    if (narrow)
      scoreNarrow(keys.from(key), rows);
    else
      multiplyNarrow<T>({scores.data(), columns, false}, keys.from(key),
                        {turned.data(), columns, 1}, shape.headDim, rows,
                        columns);
    raiseLargest(key, rows);
    exponentiate(key, rows);
    if (key != 0)
      shrinkSum();
    Strided<T> block = values.from(key);
    if (narrow)
      multiplyNarrow<T>({sum.data(), shape.headDim, key != 0},
                        {scores.data(), 1, columns}, block, rows, pairs,
                        shape.headDim);
    else
      multiplyNarrow<T>({sum.data(), columns, key != 0},
                        {block.data, 1, block.row}, {scores.data(), columns, 1},
                        rows, shape.headDim, columns);
  }

  /// One matrix-vector product for each pair.
  void scoreNarrow(const Strided<T> &from, int64_t rows) {
    using Matrix =
        Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using Column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> block(
        from.data, rows, shape.headDim, Eigen::OuterStride<>(from.row));
    scores.head(rows * columns).setZero();
    for (int64_t pair = 0; pair < pairs; ++pair) {
      Eigen::Map<const Column> query(turned.data() + pair * shape.headDim,
                                     shape.headDim);
      Eigen::Map<Column, 0, Eigen::InnerStride<>> result(
          scores.data() + pair, rows, Eigen::InnerStride<>(columns));
      result.noalias() = block * query;
    }
  }

  /// Multiplies what has been summed for each pair by its `correction`.
  void shrinkSum() {
    if (narrow) {
      for (int64_t pair = 0; pair < pairs; ++pair)
        sum.segment(pair * shape.headDim, shape.headDim) *= correction[pair];
      return;
    }
    for (int64_t d = 0; d < shape.headDim; ++d)
      sum.segment(d * columns, columns) *= correction.head(columns);
  }

  /// Updates the largest score of each column, and by how much this shrinks
  /// what has been summed so far.
  void raiseLargest(int64_t key, int64_t rows) {
    T *top = largest.data();
    for (int64_t c = 0; c < columns; ++c) {
      correction[c] = top[c];
      if (key == 0)
        top[c] = scores[c];
    }
    for (int64_t r = 0; r < rows; ++r) {
      const T *row = scores.data() + r * columns;
      for (int64_t c = firstColumn(key + r); c < columns; ++c)
        top[c] = row[c] > top[c] ? row[c] : top[c];
    }
    if (key == 0)
      return;
    auto shrink = correction.head(columns);
    shrink = (shrink - largest.head(columns)).exp();
  }

  /// Scores to exponentials, 0 where hidden, and their sums to `weight`.
  void exponentiate(int64_t key, int64_t rows) {
    const T *top = largest.data();
    for (int64_t r = 0; r < rows; ++r) {
      T *row = scores.data() + r * columns;
      for (int64_t c = 0; c < columns; ++c)
        row[c] -= top[c];
    }
    auto all = scores.head(rows * columns);
    all = all.exp();
    T *total = weight.data();
    for (int64_t c = 0; c < columns; ++c)
      total[c] = key == 0 ? T(0) : total[c] * correction[c];
    for (int64_t r = 0; r < rows; ++r) {
      T *row = scores.data() + r * columns;
      int64_t shown = firstColumn(key + r);
      for (int64_t c = 0; c < shown; ++c)
        row[c] = T(0);
      for (int64_t c = shown; c < columns; ++c)
        total[c] += row[c];
    }
  }

  /// out = sum / weight.
  void storeResult(int64_t batch) {
    correction.head(columns) = weight.head(columns).inverse();
    shrinkSum();
    RowGroups lie = rowGroups();
    for (int64_t g = 0; g < lie.groups; ++g) {
      T *rows = outputRow(batch, firstQuery) + g * lie.groupStride;
      int64_t first = g * lie.rowsEach;
      if (!narrow)
        transpose(rows, lie.rowStride,
                  Strided<T>{sum.data() + first, columns, 1}, shape.headDim,
                  lie.rowsEach);
      for (int64_t r = 0; narrow && r < lie.rowsEach; ++r)
        for (int64_t d = 0; d < shape.headDim; ++d)
          rows[r * lie.rowStride + d] = sum[(first + r) * shape.headDim + d];
    }
  }

  T *out;
  const T *q, *k, *v;
  const AttentionShape &shape;
  /// Heads that share a KV head, and how many of them a tile takes.
  int64_t group, heads;
  int64_t queriesPerTile;
  bool narrow;

  /// The current tile: its pairs, and its columns, which are the pairs and
  /// padding to whole vectors.
  int64_t head = 0, headsNow = 0, firstQuery = 0, queriesNow = 0;
  int64_t pairs = 0, columns = 0;

  /// The current head's.
  Strided<T> keys{}, values{};

  using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
  /// Scores are [keys, columns]. The others are [headDim, columns], or [pairs,
  /// headDim] if narrow.
  Array scores, turned, sum;
  /// Keys and values of a head, [keys, copyRow()] each.
  Array copies;
  /// For each column: largest score, sum of exponentials, exp(old - new).
  Array largest, weight, correction;
};

} // namespace

template <typename T>
void attention(T *out, const T *q, const T *k, const T *v,
               const AttentionShape &shape) {
  if (shape.batch == 0 || shape.queries == 0 || shape.heads == 0 ||
      shape.headDim == 0)
    return;
  AttentionShape bounded = shape;
  // Beyond these every key is seen, or none: no sum below can overflow.
  bounded.origin = smaller(larger(shape.origin, -shape.queries), shape.keys);
  TileAttention<T> tiles(out, q, k, v, bounded);
  for (int64_t b = 0; b < shape.batch; ++b)
    for (int64_t g = 0; g < shape.kvHeads; ++g)
      tiles.runGroup(b, g);
}

template void attention(float *, const float *, const float *, const float *,
                        const AttentionShape &);
template void attention(double *, const double *, const double *,
                        const double *, const AttentionShape &);

namespace {

/// Inverse frequency of pair i, scaled as Llama 3.1 does if asked for.
double ropeFrequency(const RopeShape &shape, int64_t i) {
  double frequency =
      std::pow(shape.theta, -2.0 * static_cast<double>(i) /
                                static_cast<double>(shape.headDim));
  if (shape.factor == 0)
    return frequency;
  double waveLength = 2 * 3.14159265358979323846 / frequency;
  if (waveLength < shape.originalContext / shape.highFrequency)
    return frequency;
  if (waveLength > shape.originalContext / shape.lowFrequency)
    return frequency / shape.factor;
  double smooth = (shape.originalContext / waveLength - shape.lowFrequency) /
                  (shape.highFrequency - shape.lowFrequency);
  return (1 - smooth) * frequency / shape.factor + smooth * frequency;
}

using Angles =
    Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Cosine and sine of position * frequency.
struct Turn {
  Angles cosine, sine;

  Turn(int64_t positions, int64_t pairs)
      : cosine(positions, pairs), sine(positions, pairs) {}

  void set(int64_t row, double position, const Angles &frequency) {
    for (int64_t i = 0; i < frequency.cols(); ++i) {
      cosine(row, i) = std::cos(position * frequency(0, i));
      sine(row, i) = std::sin(position * frequency(0, i));
    }
  }
};

template <typename T>
void turnHeads(T *out, const T *x, int64_t heads, const T *cosine,
               const T *sine, int64_t half) {
  for (int64_t h = 0; h < heads; ++h, out += 2 * half, x += 2 * half)
    for (int64_t i = 0; i < half; ++i) {
      T low = x[i], high = x[i + half];
      out[i] = low * cosine[i] - high * sine[i];
      out[i + half] = high * cosine[i] + low * sine[i];
    }
}

} // namespace

/// The turn by position s0 + r is the turn by s0 followed by that by r: two
/// short tables in place of a sine for each position, at an error of two
/// roundings in double.
template <typename T> void rope(T *out, const T *x, const RopeShape &shape) {
  constexpr int64_t step = 64;
  int64_t half = shape.headDim / 2;
  int64_t width = shape.heads * shape.headDim;
  if (width == 0 || shape.batch == 0 || shape.sequence == 0)
    return;
  Angles frequency(1, half);
  for (int64_t i = 0; i < half; ++i)
    frequency(0, i) = ropeFrequency(shape, i);
  Turn base(1, half), offset(smaller(step, shape.sequence), half);
  for (int64_t r = 0; r < offset.cosine.rows(); ++r)
    offset.set(r, static_cast<double>(r), frequency);
  Eigen::Array<T, Eigen::Dynamic, 1> cosine(half), sine(half);
  for (int64_t s = 0; s < shape.sequence; ++s) {
    int64_t r = s % step;
    if (r == 0)
      base.set(0, static_cast<double>(shape.origin + s), frequency);
    for (int64_t i = 0; i < half; ++i) {
      double c = base.cosine(0, i), d = base.sine(0, i);
      double e = offset.cosine(r, i), f = offset.sine(r, i);
      cosine[i] = static_cast<T>(c * e - d * f);
      sine[i] = static_cast<T>(d * e + c * f);
    }
    for (int64_t b = 0; b < shape.batch; ++b) {
      int64_t at = (b * shape.sequence + s) * width;
      turnHeads<T>(out + at, x + at, shape.heads, cosine.data(), sine.data(),
                   half);
    }
  }
}

template void rope(float *, const float *, const RopeShape &);
template void rope(double *, const double *, const RopeShape &);

} // namespace tp::runtime::TP_VARIANT
