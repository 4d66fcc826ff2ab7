// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_ELIMINATION_H
#define TP_SOLVER_ELIMINATION_H

#include "tp/Cost/Price.h"
#include "tp/Solver/Solver.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tp {

/// A function of some variables as the list of its values, the last variable
/// varying fastest.
struct FactorTable {
  llvm::SmallVector<unsigned, 4> sizes;
  std::vector<Price> cells;
};

/// Tables stored once each, whoever made them.
class TablePool {
public:
  /// The index of a table equal to `table`.
  unsigned intern(FactorTable table);
  const FactorTable &operator[](unsigned index) const { return tables[index]; }

private:
  std::vector<FactorTable> tables;
  /// From a hash of the cells.
  std::unordered_multimap<uint64_t, unsigned> byHash;
};

/// A table applied to variables, which are in ascending order.
struct CostTerm {
  llvm::SmallVector<unsigned, 4> scope;
  unsigned table = 0;
};

/// A sum of factors to be minimised.
struct FactorGraph {
  /// By variable: how many choices it has.
  std::vector<unsigned> sizes;
  /// By variable: where in the program it belongs.
  std::vector<unsigned> positions;
  std::vector<CostTerm> factors;
  TablePool tables;
  /// Names a variable in a message.
  std::function<std::string(unsigned)> nameOf;
};

/// An order of elimination: always the variable whose removal visits the
/// fewest table entries, among equals the first in the program. Variables
/// inside identical layers thus go layer by layer in the same way, and the
/// chain that is left is swept from its start. Fails if one table would exceed
/// `maxEntries`.
llvm::Expected<std::vector<unsigned>> findOrder(const FactorGraph &graph,
                                                uint64_t maxEntries);

/// What eliminating one variable gave.
struct EliminationStep {
  unsigned variable = 0;
  /// The factors that had the variable in their scope.
  llvm::SmallVector<CostTerm, 4> bucket;
  /// Index into `Elimination::results`.
  unsigned result = 0;
};

struct EliminationResult {
  /// The minimum of the sum of the bucket, and the table above it.
  Price constant;
  unsigned message = 0;
};

struct Elimination {
  std::vector<EliminationStep> steps;
  /// Of distinct steps.
  std::vector<EliminationResult> results;
  /// The minimum of the whole sum.
  Price minimum;
};

/// Eliminates all variables in the given order. Messages go to the graph's
/// pool, visits to `statistics`.
llvm::Expected<Elimination> eliminate(FactorGraph &graph,
                                      llvm::ArrayRef<unsigned> order,
                                      const SolveOptions &options,
                                      SolveStatistics &statistics);

/// Goes back through the steps and gives each variable the first choice that
/// attains the minimum.
std::vector<unsigned> decode(const FactorGraph &graph,
                             const Elimination &elimination);

/// The variables of `bucket` other than `variable`, ascending.
llvm::SmallVector<unsigned, 4> getScope(llvm::ArrayRef<CostTerm> bucket,
                                        unsigned variable);

/// The minimum of the sum of `bucket` over the choices of `variable`, as a
/// table over the other variables of the bucket, which are `scope`.
FactorTable minimise(const FactorGraph &graph, llvm::ArrayRef<CostTerm> bucket,
                     unsigned variable, llvm::ArrayRef<unsigned> scope);

} // namespace tp

#endif // TP_SOLVER_ELIMINATION_H
