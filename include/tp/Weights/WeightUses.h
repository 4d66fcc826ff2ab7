// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Weights in the terms of the products that read them, and names for what
/// stands where in a program.

#ifndef TP_WEIGHTS_WEIGHTUSES_H
#define TP_WEIGHTS_WEIGHTUSES_H

#include "tp/Weights/Graph.h"

namespace tp {

/// Whether an operand has a dimension that the operation sums over.
bool isContractedDim(const ShardingRule &rule, unsigned operand);

/// By value: whether an operation sums over a dimension of it, or of what still
/// is the weight that it is.
std::vector<bool> findContracted(const Graph &graph);

/// The values that a weight is before anything is done to it: parameters of the
/// entry as a rule.
llvm::SmallVector<unsigned, 1> findRoots(const Graph &graph, unsigned value);

/// One operation that reads a weight as it is stored.
struct WeightUse {
  unsigned node, operand;
  /// The graph's.
  const ShardingRule *rule;
  /// Whether rows are read by index.
  bool isLookup;
};

/// Where the parameter that entry argument `argument` is gets read, through
/// calls; nothing that turns it first.
std::vector<WeightUse> findWeightUses(const Graph &graph, unsigned argument);

/// Of those, the one whose terms name the weight's layouts: the first that
/// contracts it, rather a product than a lookup. Null if there is none.
const WeightUse *findProduct(llvm::ArrayRef<WeightUse> uses);

/// Whether dimension `dim` of the weight is summed over.
bool isSummedDim(const WeightUse &use, unsigned dim);

/// `column` where no dimension that the product sums over is split, `row` where
/// no other one is, `whole`, or both; empty without a product.
std::string nameLayout(const WeightUse *product, const Layout &layout);

/// `model.layers.*.mlp.up_proj.weight`: numbers between dots become `*`.
std::string withoutNumbers(llvm::StringRef name);

/// An operation by its name and the parameter it reads, as `tp.matmul with
/// model.layers.*.mlp.up_proj.weight`; arguments and results by their own.
std::string nameNode(const Graph &graph, unsigned node);

/// The node that makes a value, and those that use it, beyond what only passes
/// it into and out of functions.
unsigned findMaker(const Graph &graph, unsigned value);
llvm::SmallVector<std::pair<unsigned, unsigned>>
findUsers(const Graph &graph,
          llvm::ArrayRef<std::pair<unsigned, unsigned>> uses);

/// The first of the users that `use` leads to, by its name.
std::string nameUser(const Graph &graph, std::pair<unsigned, unsigned> use);

} // namespace tp

#endif // TP_WEIGHTS_WEIGHTUSES_H
