// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Context.h"
#include "Runtime/Sizes.h"
#include "tp/Runtime/Abi.h"

#include <algorithm>
#include <limits>
#include <string>

using namespace tp::runtime;

namespace {

/// The rows of a vocabulary that a rank holds.
struct Shard {
  int64_t rows, width, origin, vocabulary;
};

[[noreturn]] void refuseId(int64_t token, int64_t id, int64_t vocabulary) {
  throw RuntimeError("token " + std::to_string(token) + " has id " +
                     std::to_string(id) + ", outside a vocabulary of " +
                     std::to_string(vocabulary));
}

template <typename T> void checkShard(int64_t tokens, const Shard &shard) {
  NamedSize width = {"width", shard.width};
  checkedCount({{"tokens", tokens}, width}, sizeof(T));
  checkedCount({{"rows", shard.rows}, width}, sizeof(T));
  // Rows beyond the vocabulary are padding.
  if (shard.origin < 0 ||
      shard.rows > std::numeric_limits<int64_t>::max() - shard.origin)
    throw RuntimeError("there is no shard of " + std::to_string(shard.rows) +
                       " rows from row " + std::to_string(shard.origin));
}

template <typename T, typename Id>
void embed(T *out, const T *table, const Id *ids, int64_t tokens,
           const Shard &shard) {
  checkShard<T>(tokens, shard);
  for (int64_t t = 0; t < tokens; ++t, out += shard.width) {
    int64_t id = ids[t];
    if (id < 0 || id >= shard.vocabulary)
      refuseId(t, id, shard.vocabulary);
    int64_t row = id - shard.origin;
    if (row >= 0 && row < shard.rows)
      std::copy_n(table + row * shard.width, shard.width, out);
    else
      std::fill_n(out, shard.width, T(0));
  }
}

/// The classes that a rank has the logits of.
struct Classes {
  int64_t columns, origin, vocabulary;
  bool hasIgnored;
  int64_t ignored;
};

template <typename T, typename Id>
void takeTargets(T *out, const T *logits, const Id *targets, int64_t tokens,
                 const Classes &classes) {
  checkedCount({{"tokens", tokens}, {"columns", classes.columns}}, sizeof(T));
  checkedCount({{"origin", classes.origin}}, 1);
  checkedCount({{"vocabulary", classes.vocabulary}}, 1);
  for (int64_t t = 0; t < tokens; ++t, logits += classes.columns) {
    int64_t target = targets[t];
    out[t] = 0;
    if (classes.hasIgnored && target == classes.ignored)
      continue;
    if (target < 0 || target >= classes.vocabulary)
      throw RuntimeError("token " + std::to_string(t) + " has target " +
                         std::to_string(target) + ", none of " +
                         std::to_string(classes.vocabulary) + " classes");
    int64_t column = target - classes.origin;
    if (column >= 0 && column < classes.columns)
      out[t] = logits[column];
  }
}

} // namespace

// Compiled code passes every size as an argument of its own.
// NOLINTBEGIN(readability-function-size)
extern "C" {

#define TP_DEFINE_EMBEDDING(SUFFIX, T, ID)                                     \
  void tp_embedding_##SUFFIX(T *out, const T *table, const ID *ids,            \
                             int64_t tokens, int64_t rows, int64_t width,      \
                             int64_t origin, int64_t vocabulary) {             \
    guarded("tp_embedding_" #SUFFIX, [&] {                                     \
      embed(out, table, ids, tokens, {rows, width, origin, vocabulary});       \
    });                                                                        \
  }

TP_DEFINE_EMBEDDING(f32_i32, float, int32_t)
TP_DEFINE_EMBEDDING(f32_i64, float, int64_t)
TP_DEFINE_EMBEDDING(f64_i32, double, int32_t)
TP_DEFINE_EMBEDDING(f64_i64, double, int64_t)

#define TP_DEFINE_TAKE_TARGET(SUFFIX, T, ID)                                   \
  void tp_take_target_##SUFFIX(T *out, const T *logits, const ID *targets,     \
                               int64_t tokens, int64_t columns,                \
                               int64_t origin, int64_t vocabulary,             \
                               int64_t hasIgnored, int64_t ignored) {          \
    guarded("tp_take_target_" #SUFFIX, [&] {                                   \
      takeTargets(out, logits, targets, tokens,                                \
                  {columns, origin, vocabulary, hasIgnored != 0, ignored});    \
    });                                                                        \
  }

TP_DEFINE_TAKE_TARGET(f32_i32, float, int32_t)
TP_DEFINE_TAKE_TARGET(f32_i64, float, int64_t)
TP_DEFINE_TAKE_TARGET(f64_i32, double, int32_t)
TP_DEFINE_TAKE_TARGET(f64_i64, double, int64_t)
}
// NOLINTEND(readability-function-size)
