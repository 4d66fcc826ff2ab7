// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_TILE_H
#define TP_RUNTIME_TILE_H

#include "Runtime/Variant.h"

/// \file
/// The inner loop of all products: a tile of the result is kept in registers
/// while rank-one updates are added to it. Only for sources that are compiled
/// for each instruction set.

namespace tp::runtime::TP_VARIANT {

/// Bytes of a vector register, and how many of them a row of a tile takes: with
/// 6 rows the tile leaves some of the 32 or 16 registers for the operands.
#if defined(__AVX512F__)
constexpr int64_t vectorBytes = 64;
constexpr int64_t vectorsPerTile = 4;
#elif defined(__AVX2__)
constexpr int64_t vectorBytes = 32;
constexpr int64_t vectorsPerTile = 2;
#else
constexpr int64_t vectorBytes = 16;
constexpr int64_t vectorsPerTile = 2;
#endif
constexpr int64_t rowsPerTile = 6;

template <typename T> constexpr int64_t lanes = vectorBytes / sizeof(T);
/// Columns of a tile.
template <typename T> constexpr int64_t tileWidth = vectorsPerTile * lanes<T>;

template <typename T> struct VectorOf {
  typedef T Type __attribute__((vector_size(vectorBytes)));
};
template <typename T> using Vector = typename VectorOf<T>::Type;

template <typename T> inline Vector<T> loadVector(const T *from) {
  Vector<T> value;
  __builtin_memcpy(&value, from, sizeof(value));
  return value;
}

template <typename T> inline void storeVector(T *to, Vector<T> value) {
  __builtin_memcpy(to, &value, sizeof(value));
}

/// A matrix whose element (i, j) is at data[i * row + j * column].
template <typename T> struct Strided {
  const T *data;
  int64_t row, column;

  Strided from(int64_t i) const { return {data + i * row, row, column}; }
};

/// A result: element (i, j) is at data[i * row + j].
template <typename T> struct Result {
  T *data;
  int64_t row;
  /// Add to what is there.
  bool add;

  Result from(int64_t i, int64_t j) const {
    return {data + i * row + j, row, add};
  }
};

/// out[Rows, Vectors * lanes] = a[Rows, depth] * b[depth, Vectors * lanes].
template <int Rows, int Vectors, typename T>
inline void multiplyTile(Result<T> out, Strided<T> a, const T *b, int64_t bRow,
                         int64_t depth) {
  Vector<T> sum[Rows][Vectors] = {};
  for (int64_t l = 0; l < depth; ++l) {
    Vector<T> right[Vectors];
    for (int v = 0; v < Vectors; ++v)
      right[v] = loadVector(b + l * bRow + v * lanes<T>);
    for (int r = 0; r < Rows; ++r) {
      T left = a.data[r * a.row + l * a.column];
      for (int v = 0; v < Vectors; ++v)
        sum[r][v] += left * right[v];
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v) {
      T *to = out.data + r * out.row + v * lanes<T>;
      storeVector(to, out.add ? loadVector(to) + sum[r][v] : sum[r][v]);
    }
}

/// The same for `rows` rows, at most rowsPerTile.
template <int Vectors, typename T, int Rows = rowsPerTile>
inline void multiplyRows(Result<T> out, Strided<T> a, const T *b, int64_t bRow,
                         int64_t depth, int64_t rows) {
  if constexpr (Rows > 0) {
    if (rows == Rows)
      multiplyTile<Rows, Vectors>(out, a, b, bRow, depth);
    else
      multiplyRows<Vectors, T, Rows - 1>(out, a, b, bRow, depth, rows);
  }
}

/// out[rows, columns] = a[rows, depth] * b[depth, columns], where `columns` is
/// a multiple of lanes<T> and the elements of a row of b follow one another.
template <typename T>
inline void multiplyNarrow(Result<T> out, Strided<T> a, Strided<T> b,
                           int64_t depth, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; i += rowsPerTile) {
    int64_t height = rows - i < rowsPerTile ? rows - i : rowsPerTile;
    int64_t j = 0;
    for (; j + tileWidth<T> <= columns; j += tileWidth<T>)
      multiplyRows<vectorsPerTile>(out.from(i, j), a.from(i), b.data + j, b.row,
                                   depth, height);
    for (; j < columns; j += lanes<T>)
      multiplyRows<1>(out.from(i, j), a.from(i), b.data + j, b.row, depth,
                      height);
  }
}

/// Four elements, whatever the registers: the unit of a transposition.
template <typename T> struct FourOf {
  typedef T Type __attribute__((vector_size(4 * sizeof(T))));
};
template <typename T> using Four = typename FourOf<T>::Type;

/// Columns of a 4 x 4 block for its rows.
template <typename T> inline void transposeBlock(Four<T> (&x)[4]) {
  Four<T> low = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
  Four<T> high = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
  Four<T> lower = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
  Four<T> higher = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  x[0] = __builtin_shufflevector(low, lower, 0, 1, 4, 5);
  x[1] = __builtin_shufflevector(low, lower, 2, 3, 6, 7);
  x[2] = __builtin_shufflevector(high, higher, 0, 1, 4, 5);
  x[3] = __builtin_shufflevector(high, higher, 2, 3, 6, 7);
}

/// to[j * toRow + i] = from(i, j) for i < rows, j < columns, where the elements
/// of a row of `from` follow one another.
template <typename T>
inline void transpose(T *to, int64_t toRow, Strided<T> from, int64_t rows,
                      int64_t columns) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    int64_t j = 0;
    for (; j + 4 <= columns; j += 4) {
      Four<T> x[4];
      for (int r = 0; r < 4; ++r)
        __builtin_memcpy(&x[r], from.data + (i + r) * from.row + j,
                         sizeof(x[r]));
      transposeBlock<T>(x);
      for (int r = 0; r < 4; ++r)
        __builtin_memcpy(to + (j + r) * toRow + i, &x[r], sizeof(x[r]));
    }
    for (; j < columns; ++j)
      for (int r = 0; r < 4; ++r)
        to[j * toRow + i + r] = from.data[(i + r) * from.row + j];
  }
  for (; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to[j * toRow + i] = from.data[i * from.row + j];
}

} // namespace tp::runtime::TP_VARIANT

#endif // TP_RUNTIME_TILE_H
