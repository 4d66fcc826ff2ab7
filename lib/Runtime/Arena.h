// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_ARENA_H
#define TP_RUNTIME_ARENA_H

#include "tp/Runtime/Rank.h"

#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tp::runtime {

/// Memory of one rank. Freed blocks are kept by size and given out again: a
/// step of a program asks for the same sizes as the step before, and the first
/// touch of fresh pages costs far more than the work on them. Used by one
/// thread.
class Arena {
public:
  Arena() = default;
  /// Frees every block, live ones too.
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// A block of at least `bytes` bytes. Throws RuntimeError if `bytes` is
  /// negative, `alignment` no power of two, or memory is short.
  void *allocate(int64_t bytes, int64_t alignment);
  /// Throws RuntimeError unless `block` is live.
  void release(void *block);
  /// Releases every live block.
  void releaseAll();

  MemoryUse use() const { return usage; }

private:
  /// Capacity in bytes, then alignment: blocks that replace one another.
  using Shape = std::pair<int64_t, int64_t>;

  /// Adds a fresh block to `cached`.
  void reserve(Shape shape, std::vector<void *> &cached);

  std::unordered_map<void *, Shape> live;
  std::map<Shape, std::vector<void *>> free;
  MemoryUse usage;
};

} // namespace tp::runtime

#endif // TP_RUNTIME_ARENA_H
