// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Exchange.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>
#include <utility>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

using namespace tp::runtime;

namespace {

/// Up to this many bytes read by one member, each computes its whole result of
/// an all_reduce; beyond, each does one slice for all, which reads every
/// element once in place of once a member but writes to memory that others own.
constexpr int64_t readAllBytes = 1 << 17;

/// From this length on the result of an all_reduce is written around the
/// caches.
constexpr int64_t longBytes = 8 << 20;

/// Bytes combined at a time: the partial result stays in the first-level cache
/// while the members' pieces stream by.
constexpr int64_t blockBytes = 8192;

struct Sum {
  template <typename T> static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a + b;
    } else {
      // Unsigned: integers wrap around.
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    }
  }
};

struct Max {
  /// The first operand if it is NaN; the second wins comparisons with NaN.
  template <typename T> static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a > b || a != a ? a : b;
    else
      return a > b ? a : b;
  }
};

/// One collective as its members' shares see it.
struct Share {
  const Call &call;
  std::span<const Buffers> members;
  size_t self;

  int64_t size() const { return static_cast<int64_t>(members.size()); }
  int64_t position() const { return static_cast<int64_t>(self); }

  template <typename T> const T *in(size_t member) const {
    return static_cast<const T *>(members[member].in);
  }
  template <typename T> T *out(size_t member) const {
    return static_cast<T *>(members[member].out);
  }
};

/// out = the reduction of `count` elements of every member from `offset` on, in
/// the order of the members. `count` is at most one block.
template <typename Op, typename T>
void reduceBlock(T *__restrict out, const Share &share, int64_t offset,
                 int64_t count) {
  const T *first = share.in<T>(0) + offset;
  if (share.members.size() == 1) {
    std::copy_n(first, count, out);
    return;
  }
  const T *second = share.in<T>(1) + offset;
  for (int64_t i = 0; i < count; ++i)
    out[i] = Op::apply(first[i], second[i]);
  for (size_t m = 2; m < share.members.size(); ++m) {
    const T *next = share.in<T>(m) + offset;
    for (int64_t i = 0; i < count; ++i)
      out[i] = Op::apply(out[i], next[i]);
  }
}

template <typename Op, typename T>
void reduceRange(T *out, const Share &share, int64_t offset, int64_t count) {
  constexpr int64_t block = blockBytes / sizeof(T);
  for (int64_t i = 0; i < count; i += block)
    reduceBlock<Op, T>(out + i, share, offset + i, std::min(block, count - i));
}

/// Writes around the caches: a long result would push the operands out of them,
/// and reading its lines before overwriting them costs as much as writing.
template <typename T> void copyAround(T *to, const T *from, int64_t count) {
  typedef char Vector __attribute__((vector_size(16)));
  constexpr int64_t step = sizeof(Vector) / sizeof(T);
  int64_t i = 0;
  for (; i < count && reinterpret_cast<uintptr_t>(to + i) % sizeof(Vector); ++i)
    to[i] = from[i];
  for (; i + step <= count; i += step) {
    Vector value;
    std::memcpy(&value, from + i, sizeof(value));
    __builtin_nontemporal_store(value, reinterpret_cast<Vector *>(to + i));
  }
  for (; i < count; ++i)
    to[i] = from[i];
}

/// Makes what was written around the caches visible before anything that this
/// thread does next.
void finishCopies() {
#if defined(__SSE2__)
  _mm_sfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Each member reduces one slice and writes it to all results. The slice is
/// read from all operands before it is written, so results may be operands.
template <typename Op, typename T> void reduceSlice(const Share &share) {
  constexpr int64_t block = blockBytes / sizeof(T);
  int64_t count = share.call.sizes[0];
  int64_t numBlocks = (count + block - 1) / block;
  int64_t blocksEach = (numBlocks + share.size() - 1) / share.size();
  int64_t begin = std::min(count, share.position() * blocksEach * block);
  int64_t end = std::min(count, begin + blocksEach * block);
  bool isLong = count * static_cast<int64_t>(sizeof(T)) >= longBytes;
  alignas(64) T result[block];
  for (int64_t i = begin; i < end; i += block) {
    int64_t length = std::min(block, end - i);
    reduceBlock<Op, T>(result, share, i, length);
    for (size_t m = 0; m < share.members.size(); ++m) {
      T *out = share.out<T>(m) + i;
      // The lines of an operand in place are in the cache already.
      if (isLong && share.members[m].in != share.members[m].out)
        copyAround(out, result, length);
      else
        std::copy_n(result, length, out);
    }
  }
  if (isLong)
    finishCopies();
}

template <typename Op, typename T> void allReduce(const Share &share) {
  int64_t count = share.call.sizes[0];
  bool inPlace = std::ranges::any_of(share.members, [](const Buffers &buffers) {
    return buffers.in == buffers.out;
  });
  // Every member comes to the same decision, from the same data.
  int64_t limit = readAllBytes / static_cast<int64_t>(sizeof(T));
  if (!inPlace && count <= limit / share.size())
    reduceRange<Op, T>(share.out<T>(share.self), share, 0, count);
  else
    reduceSlice<Op, T>(share);
}

template <typename Op, typename T> void reduceScatter(const Share &share) {
  auto [outer, inner] = std::pair(share.call.sizes[0], share.call.sizes[1]);
  T *out = share.out<T>(share.self);
  for (int64_t o = 0; o < outer; ++o)
    reduceRange<Op, T>(out + o * inner, share,
                       (o * share.size() + share.position()) * inner, inner);
}

/// Where pieces that differ lie in their dimension.
struct Pieces {
  std::span<const int64_t> sizes;
  int64_t whole = totalOf(sizes);

  int64_t operator[](size_t member) const { return sizes[member]; }
  int64_t before(size_t member) const { return totalOf(sizes.first(member)); }
};

template <typename Op, typename T>
void reduceScatterPieces(const Share &share) {
  auto [outer, inner] = std::pair(share.call.sizes[0], share.call.sizes[1]);
  Pieces pieces{share.call.pieces};
  int64_t own = pieces[share.self] * inner;
  int64_t begin = pieces.before(share.self) * inner;
  T *out = share.out<T>(share.self);
  for (int64_t o = 0; o < outer; ++o)
    reduceRange<Op, T>(out + o * own, share, o * pieces.whole * inner + begin,
                       own);
}

template <typename Op, typename T> void reduce(const Share &share) {
  if (share.call.op == CollectiveOp::AllReduce)
    allReduce<Op, T>(share);
  else if (share.call.hasPieces())
    reduceScatterPieces<Op, T>(share);
  else
    reduceScatter<Op, T>(share);
}

template <typename T> void reduceAs(const Share &share) {
  if (share.call.kind == TP_SUM)
    reduce<Sum, T>(share);
  else
    reduce<Max, T>(share);
}

void reduceTyped(const Share &share) {
  switch (share.call.dtype) {
  case TP_F32:
    return reduceAs<float>(share);
  case TP_F64:
    return reduceAs<double>(share);
  case TP_I32:
    return reduceAs<int32_t>(share);
  case TP_I64:
    return reduceAs<int64_t>(share);
  case TP_I8:
    return reduceAs<int8_t>(share);
  case TP_I1:
    return reduceAs<uint8_t>(share);
  }
}

/// Copies between positions counted in elements.
struct Copier {
  const Share &share;
  int64_t bytes = elementSize(share.call.dtype);

  void operator()(int64_t to, size_t member, int64_t from,
                  int64_t count) const {
    if (count > 0)
      std::memcpy(share.out<char>(share.self) + to * bytes,
                  share.in<char>(member) + from * bytes,
                  static_cast<size_t>(count * bytes));
  }
};

void allGather(const Share &share) {
  Copier copy{share};
  auto [outer, inner] = std::pair(share.call.sizes[0], share.call.sizes[1]);
  for (int64_t o = 0; o < outer; ++o)
    for (size_t m = 0; m < share.members.size(); ++m)
      copy((o * share.size() + static_cast<int64_t>(m)) * inner, m, o * inner,
           inner);
}

/// Gathers dimension 0, splits dimension 1.
void allToAllFirst(const Share &share) {
  Copier copy{share};
  auto [outer, dim0, middle, dim1, inner] = share.call.sizes;
  int64_t run = dim1 / share.size() * inner;
  for (int64_t o = 0; o < outer; ++o)
    for (size_t m = 0; m < share.members.size(); ++m) {
      int64_t to = (o * share.size() + static_cast<int64_t>(m)) * dim0 * middle;
      int64_t from = o * dim0 * middle;
      for (int64_t i = 0; i < dim0 * middle; ++i)
        copy((to + i) * run, m,
             ((from + i) * share.size() + share.position()) * run, run);
    }
}

/// Splits dimension 0, gathers dimension 1.
void allToAllSecond(const Share &share) {
  Copier copy{share};
  auto [outer, dim0, middle, dim1, inner] = share.call.sizes;
  int64_t rows = dim0 / share.size() * middle;
  int64_t run = dim1 * inner;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < rows; ++i)
      for (size_t m = 0; m < share.members.size(); ++m)
        copy(((o * rows + i) * share.size() + static_cast<int64_t>(m)) * run, m,
             ((o * share.size() + share.position()) * rows + i) * run, run);
}

void allGatherPieces(const Share &share) {
  Copier copy{share};
  auto [outer, inner] = std::pair(share.call.sizes[0], share.call.sizes[1]);
  Pieces pieces{share.call.pieces};
  int64_t begin = 0;
  for (size_t m = 0; m < share.members.size(); ++m) {
    int64_t run = pieces[m] * inner;
    for (int64_t o = 0; o < outer; ++o)
      copy(o * pieces.whole * inner + begin, m, o * run, run);
    begin += run;
  }
}

/// Gathers dimension 0, splits dimension 1.
void allToAllPiecesFirst(const Share &share) {
  Copier copy{share};
  auto [outer, dim0, middle, dim1, inner] = share.call.sizes;
  Pieces sources{share.call.pieces}, targets{share.call.targetPieces};
  int64_t run = targets[share.self] * inner;
  int64_t skipped = targets.before(share.self) * inner;
  for (size_t m = 0; m < share.members.size(); ++m) {
    int64_t rows = sources[m] * middle, first = sources.before(m) * middle;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < rows; ++i)
        copy((o * dim0 * middle + first + i) * run, m,
             (o * rows + i) * dim1 * inner + skipped, run);
  }
}

/// Splits dimension 0, gathers dimension 1.
void allToAllPiecesSecond(const Share &share) {
  Copier copy{share};
  auto [outer, dim0, middle, dim1, inner] = share.call.sizes;
  Pieces sources{share.call.pieces}, targets{share.call.targetPieces};
  int64_t rows = targets[share.self] * middle;
  int64_t skipped = targets.before(share.self) * middle;
  for (size_t m = 0; m < share.members.size(); ++m) {
    int64_t run = sources[m] * inner, first = sources.before(m) * inner;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < rows; ++i)
        copy((o * rows + i) * dim1 * inner + first, m,
             (o * dim0 * middle + skipped + i) * run, run);
  }
}

void allToAll(const Share &share) {
  bool sourceFirst = share.call.sourceFirst;
  if (share.call.hasPieces())
    return sourceFirst ? allToAllPiecesFirst(share)
                       : allToAllPiecesSecond(share);
  return sourceFirst ? allToAllFirst(share) : allToAllSecond(share);
}

void permute(const Share &share) {
  std::span<const int64_t> pairs = share.call.pairs;
  int64_t rank = share.call.group[share.self];
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i + 1] == rank)
      Copier{share}(0, static_cast<size_t>(pairs[i]), 0,
                    share.call.hasPieces() ? share.call.pieces[i / 2]
                                           : share.call.sizes[0]);
}

} // namespace

void tp::runtime::exchangeShare(const Call &call,
                                std::span<const Buffers> members, size_t self) {
  Share share{call, members, self};
  switch (call.op) {
  case CollectiveOp::AllReduce:
  case CollectiveOp::ReduceScatter:
    return reduceTyped(share);
  case CollectiveOp::AllGather:
    return call.hasPieces() ? allGatherPieces(share) : allGather(share);
  case CollectiveOp::AllToAll:
    return allToAll(share);
  case CollectiveOp::Permute:
    return permute(share);
  }
}
