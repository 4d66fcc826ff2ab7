// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Tile.h"

#include <Eigen/Core>

namespace tp::runtime::TP_VARIANT {

namespace {

template <typename T>
using Matrix =
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The transpositions are types in Eigen: it reads either order as it lies.
template <typename T>
void multiplySmall(T *out, const T *a, const T *b, const MatmulShape &shape) {
  Eigen::Map<Matrix<T>> result(out, shape.m, shape.n);
  int64_t rows = shape.transposeA ? shape.k : shape.m;
  int64_t columns = shape.transposeA ? shape.m : shape.k;
  Eigen::Map<const Matrix<T>> lhs(a, rows, columns);
  rows = shape.transposeB ? shape.n : shape.k;
  columns = shape.transposeB ? shape.k : shape.n;
  Eigen::Map<const Matrix<T>> rhs(b, rows, columns);
  if (shape.transposeA && shape.transposeB)
    result.noalias() = lhs.transpose() * rhs.transpose();
  else if (shape.transposeA)
    result.noalias() = lhs.transpose() * rhs;
  else if (shape.transposeB)
    result.noalias() = lhs * rhs.transpose();
  else
    result.noalias() = lhs * rhs;
}

/// A large product in blocks (Goto and van de Geijn 2008, section 4.2). A block
/// of b is moved to panels as wide as a tile, which pass through the caches in
/// order; a block of a stays in the second-level cache, as it lies or, if it is
/// transposed, in rows of its own.
template <typename T> class LargeProduct {
public:
  LargeProduct(T *out, const T *a, const T *b, const MatmulShape &shape)
      : out(out), a(a), b(b), shape(shape) {
    int64_t depth = smaller(shape.k, mostDepth);
    int64_t panels = (smaller(shape.n, mostColumns) + width - 1) / width;
    panelData.resize(panels * width * depth);
    if (shape.transposeA)
      rowData.resize(smaller(shape.m, mostRows) * depth);
  }

  void run() {
    for (int64_t j = 0; j < shape.n; j += mostColumns)
      for (int64_t l = 0; l < shape.k; l += mostDepth) {
        Range columns = {j, smaller(mostColumns, shape.n - j)};
        Range depth = {l, smaller(mostDepth, shape.k - l)};
        fillPanels(columns, depth);
        for (int64_t i = 0; i < shape.m; i += mostRows)
          multiplyBlock({i, smaller(mostRows, shape.m - i)}, columns, depth);
      }
  }

private:
  struct Range {
    int64_t begin, size;
  };

  static constexpr int64_t width = tileWidth<T>;
  /// 1 MiB of a, panels of 128 KiB with the widest vectors.
  static constexpr int64_t mostDepth = 2048 / sizeof(T);
  static constexpr int64_t mostRows = 80 * rowsPerTile;
  static constexpr int64_t mostColumns = 1024;

  static int64_t smaller(int64_t x, int64_t y) { return x < y ? x : y; }

  void fillPanels(Range columns, Range depth) {
    T *panel = panelData.data();
    for (int64_t j = 0; j < columns.size; j += width) {
      int64_t used = smaller(width, columns.size - j);
      if (used < width)
        for (int64_t i = 0; i < depth.size * width; ++i)
          panel[i] = T(0);
      if (shape.transposeB)
        transpose(panel, width,
                  Strided<T>{b + (columns.begin + j) * shape.k + depth.begin,
                             shape.k, 1},
                  used, depth.size);
      else
        for (int64_t l = 0; l < depth.size; ++l)
          copy(panel + l * width,
               b + (depth.begin + l) * shape.n + columns.begin + j, used);
      panel += depth.size * width;
    }
  }

  static void copy(T *to, const T *from, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = from[i];
  }

  /// The rows of a block of a, in order.
  Strided<T> rowsOf(Range rows, Range depth) {
    if (!shape.transposeA)
      return {a + rows.begin * shape.k + depth.begin, shape.k, 1};
    transpose(rowData.data(), depth.size,
              Strided<T>{a + depth.begin * shape.m + rows.begin, shape.m, 1},
              depth.size, rows.size);
    return {rowData.data(), depth.size, 1};
  }

  void multiplyBlock(Range rows, Range columns, Range depth) {
    Strided<T> lhs = rowsOf(rows, depth);
    Result<T> result = {out + rows.begin * shape.n + columns.begin, shape.n,
                        depth.begin != 0};
    const T *panel = panelData.data();
    for (int64_t j = 0; j < columns.size; j += width) {
      for (int64_t i = 0; i < rows.size; i += rowsPerTile) {
        int64_t height = smaller(rowsPerTile, rows.size - i);
        if (j + width <= columns.size)
          multiplyRows<vectorsPerTile>(result.from(i, j), lhs.from(i), panel,
                                       width, depth.size, height);
        else
          multiplyEdge(result.from(i, j), lhs.from(i), panel, depth.size,
                       {height, columns.size - j});
      }
      panel += depth.size * width;
    }
  }

  struct Extent {
    int64_t rows, columns;
  };

  /// A tile that is wider than the result.
  static void multiplyEdge(Result<T> result, Strided<T> lhs, const T *panel,
                           int64_t depth, Extent extent) {
    T tile[rowsPerTile * width];
    multiplyRows<vectorsPerTile>(Result<T>{tile, width, false}, lhs, panel,
                                 width, depth, extent.rows);
    for (int64_t i = 0; i < extent.rows; ++i)
      for (int64_t j = 0; j < extent.columns; ++j) {
        T &to = result.data[i * result.row + j];
        to = result.add ? to + tile[i * width + j] : tile[i * width + j];
      }
  }

  T *out;
  const T *a, *b;
  const MatmulShape &shape;
  using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
  /// [panels][depth][width], and [rows][depth] of a transposed a.
  Array panelData, rowData;
};

template <typename T>
void multiply(T *out, const T *a, const T *b, const MatmulShape &shape) {
  // Moving b to panels pays off when enough rows use them.
  bool large = shape.m >= 4 * rowsPerTile && shape.n >= tileWidth<T> / 2 &&
               shape.k >= 16;
  if (large)
    LargeProduct<T>(out, a, b, shape).run();
  else
    multiplySmall(out, a, b, shape);
}

} // namespace

template <typename T>
void matmul(T *out, const T *a, const T *b, const MatmulShape &shape) {
  if (shape.batch == 0 || shape.m == 0 || shape.n == 0)
    return;
  if (shape.k == 0) {
    for (int64_t i = 0, e = shape.batch * shape.m * shape.n; i < e; ++i)
      out[i] = T(0);
    return;
  }
  for (int64_t i = 0; i < shape.batch; ++i)
    multiply(out + i * shape.m * shape.n, a + i * shape.m * shape.k,
             shape.bBatched ? b + i * shape.k * shape.n : b, shape);
}

template void matmul(float *, const float *, const float *,
                     const MatmulShape &);
template void matmul(double *, const double *, const double *,
                     const MatmulShape &);

} // namespace tp::runtime::TP_VARIANT
