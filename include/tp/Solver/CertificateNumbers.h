// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_CERTIFICATENUMBERS_H
#define TP_SOLVER_CERTIFICATENUMBERS_H

#include "tp/Solver/MemoryCertificate.h"
#include <optional>

namespace tp {

/// What proves the bound of a plan: one certificate, or the one within a memory
/// limit.
struct PlanProof {
  Certificate certificate;
  std::optional<MemoryCertificate> withinMemory;

  uint64_t getSize() const;
  friend bool operator==(const PlanProof &, const PlanProof &) = default;
};

/// A proof as a list of numbers: each list in it as its length and its
/// elements, in the order of the structs. The first number is how many ranges
/// of working memory there are; without a memory limit, none.
std::vector<int64_t> toNumbers(const PlanProof &proof);

/// The proof that `toNumbers` wrote. Fails if the numbers are none.
llvm::Expected<PlanProof> fromNumbers(llvm::ArrayRef<int64_t> numbers);

} // namespace tp

#endif // TP_SOLVER_CERTIFICATENUMBERS_H
