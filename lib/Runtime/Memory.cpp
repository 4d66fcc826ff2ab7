// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Arena.h"
#include "Runtime/Context.h"
#include "tp/Runtime/Abi.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#if defined(__linux__)
#include <sys/mman.h>
#endif

using namespace tp::runtime;

static constexpr int64_t cacheLine = 64;
static constexpr int64_t hugePage = int64_t(1) << 21;
/// Larger requests are refused before rounding up could overflow.
static constexpr int64_t largestBlock = int64_t(1) << 62;

static int64_t roundUp(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

/// Sizes that share their freed blocks: multiples of a cache line up to 4 KiB,
/// then eight steps for each power of two, so that at most an eighth is lost.
static int64_t capacityFor(int64_t bytes) {
  if (bytes <= 4096)
    return roundUp(std::max<int64_t>(bytes, 1), cacheLine);
  auto power = std::bit_floor(static_cast<uint64_t>(bytes));
  return roundUp(bytes, static_cast<int64_t>(power / 8));
}

Arena::~Arena() {
  for (auto &[block, shape] : live)
    std::free(block);
  for (auto &[shape, blocks] : free)
    for (void *block : blocks)
      std::free(block);
}

void Arena::reserve(Shape shape, std::vector<void *> &cached) {
  // Room in the list first: a block must not be lost between two allocations.
  cached.reserve(cached.size() + 1);
  auto [capacity, alignment] = shape;
  bool large = capacity >= 2 * hugePage;
  int64_t boundary = large ? std::max(alignment, hugePage) : alignment;
  int64_t size = roundUp(capacity, boundary);
  void *block = std::aligned_alloc(boundary, size);
  if (!block)
    throw RuntimeError("no memory for " + std::to_string(capacity) +
                       " bytes; this rank holds " +
                       std::to_string(usage.reserved));
#if defined(__linux__)
  // Fewer page faults on the first touch and fewer TLB misses later. It is a
  // hint: without huge pages the block works as well.
  if (large)
    (void)madvise(block, size, MADV_HUGEPAGE);
#endif
  usage.reserved += capacity;
  cached.push_back(block);
}

void *Arena::allocate(int64_t bytes, int64_t alignment) {
  if (bytes < 0 || bytes > largestBlock)
    throw RuntimeError("cannot allocate " + std::to_string(bytes) + " bytes");
  if (alignment <= 0 || alignment > hugePage ||
      !std::has_single_bit(static_cast<uint64_t>(alignment)))
    throw RuntimeError("alignment " + std::to_string(alignment) +
                       " is no power of two up to 2097152");
  Shape shape = {capacityFor(bytes), std::max(alignment, cacheLine)};
  std::vector<void *> &cached = free[shape];
  if (cached.empty())
    reserve(shape, cached);
  void *block = cached.back();
  live.emplace(block, shape);
  cached.pop_back();
  usage.live += shape.first;
  usage.peak = std::max(usage.peak, usage.live);
  return block;
}

void Arena::release(void *block) {
  auto entry = live.find(block);
  if (entry == live.end())
    throw RuntimeError("a pointer was freed that is no live block of this "
                       "rank");
  usage.live -= entry->second.first;
  free[entry->second].push_back(block);
  live.erase(entry);
}

void Arena::releaseAll() {
  for (auto &[block, shape] : live)
    free[shape].push_back(block);
  live.clear();
  usage.live = 0;
}

/// Allocation for generated code, under the caller's name in errors.
static void *allocate(const char *name, int64_t alignment, int64_t bytes) {
  void *block = nullptr;
  guarded(name,
          [&] { block = requireContext().arena.allocate(bytes, alignment); });
  return block;
}

static void release(const char *name, void *block) {
  if (block)
    guarded(name, [&] { requireContext().arena.release(block); });
}

extern "C" {

void *tp_alloc(int64_t bytes) { return allocate("tp_alloc", cacheLine, bytes); }

void tp_free(void *block) { release("tp_free", block); }

void *_mlir_memref_to_llvm_alloc(int64_t bytes) {
  return allocate("_mlir_memref_to_llvm_alloc", cacheLine, bytes);
}

void *_mlir_memref_to_llvm_aligned_alloc(int64_t alignment, int64_t bytes) {
  return allocate("_mlir_memref_to_llvm_aligned_alloc", alignment, bytes);
}

void _mlir_memref_to_llvm_free(void *block) {
  release("_mlir_memref_to_llvm_free", block);
}
}
