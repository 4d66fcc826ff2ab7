// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_EXPANSION_H
#define TP_SOLVER_EXPANSION_H

#include "Domains.h"
#include "Elimination.h"

namespace tp {

/// The problem as a sum of tables: the costs of the choices kept, and for each
/// value its expansion (see `Certificate::Expansion`, whose numbering of
/// auxiliary variables it follows). Writes the expansions and an order of
/// elimination to `certificate`.
///
/// Slots and covers are both exact; a value takes whichever gives its auxiliary
/// variables fewer combinations. Fails if a table would have more than
/// `maxEntries` entries. The graph refers to `problem` for names.
llvm::Expected<FactorGraph> expandProblem(const Problem &problem,
                                          const Domains &domains,
                                          uint64_t maxEntries,
                                          Certificate &certificate);

/// The layouts at which a value may branch on its way from one of `roots` to
/// some of `targets`: those on a way from the ones to the others, and of
/// layouts that can be had from each other for nothing the first. Never empty.
std::vector<unsigned> findSlotLayouts(const DistanceTable &table,
                                      llvm::ArrayRef<unsigned> roots,
                                      llvm::ArrayRef<unsigned> targets);

/// The sets of layouts that arise by taking one out of each of `targets`, in
/// lexicographic order; nothing if there are more than `limit`.
std::optional<std::vector<std::vector<unsigned>>>
findLayoutSets(llvm::ArrayRef<llvm::ArrayRef<unsigned>> targets, size_t limit);

} // namespace tp

#endif // TP_SOLVER_EXPANSION_H
