// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference/Kernel.h"

#include "tp/IR/TP.h"

using namespace mlir;
using namespace tp;

/// Row ids[i] of the table; zeros where another rank has the row.
template <class S> static llvm::Error evaluateEmbedding(RankCall<S> &call) {
  const TensorOf<S> &table = call.operand(0), &ids = call.operand(1);
  TensorOf<S> &result = call.result();
  result.degree = table.degree;
  int64_t rows = table.shape[0], width = table.shape[1];
  int64_t origin = call.indexOr(2, 0);
  std::optional<uint64_t> given = cast<EmbeddingOp>(call.op).getVocabulary();
  int64_t vocabulary = given ? static_cast<int64_t>(*given) : rows;
  for (int64_t i = 0; i < ids.size(); ++i) {
    int64_t id = ids.integers[i];
    if (id < 0 || id >= vocabulary)
      return makeError(call.op, "id " + Twine(id) + " at position " + Twine(i) +
                                    " is outside the vocabulary of " +
                                    Twine(vocabulary));
    if (id < origin || id - origin >= rows)
      continue;
    for (int64_t j = 0; j < width; ++j)
      result.values[i * width + j] = table.values[(id - origin) * width + j];
  }
  return llvm::Error::success();
}

template <class S> void tp::addVocabularyKernels(KernelTable<S> &table) {
  table["tp.embedding"].onRank = evaluateEmbedding<S>;
}

template void tp::addVocabularyKernels(KernelTable<double> &);
template void tp::addVocabularyKernels(KernelTable<Field> &);
