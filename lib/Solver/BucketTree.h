// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_BUCKETTREE_H
#define TP_SOLVER_BUCKETTREE_H

#include "Elimination.h"

namespace tp {

/// One step of an elimination as a node of a tree: its message goes to the step
/// that uses it.
struct Bucket {
  unsigned variable = 0;
  /// The variables of its message, ascending; empty for a root.
  llvm::SmallVector<unsigned, 4> scope;
  /// Factors of the graph, then the messages of the children in their order.
  llvm::ArrayRef<CostTerm> terms;
  /// The steps whose messages it takes, ascending.
  llvm::SmallVector<unsigned, 2> children;
  /// Index into `Elimination::results`.
  unsigned result = 0;

  llvm::ArrayRef<CostTerm> getFactors() const {
    return terms.drop_back(children.size());
  }
  llvm::ArrayRef<CostTerm> getMessages() const {
    return terms.take_back(children.size());
  }
};

/// How a bucket is completed: what the rest of the graph adds.
struct BucketCompletion {
  /// Table over the bucket's scope: the least sum of all that lies outside the
  /// subtree of the bucket, less its minimum.
  unsigned outside = 0;
  /// The least sum of the bucket's terms and `outside`.
  Price minimum;
  /// By choice of the bucket's variable: how much more than the minimum of the
  /// whole graph the best assignment with this choice takes (its min-marginal).
  std::vector<Price> slacks;
};

/// The tree of an elimination. Refers to both arguments.
class BucketTree {
public:
  BucketTree(FactorGraph &graph, const Elimination &elimination);

  /// In the order of elimination: children before parents.
  llvm::ArrayRef<Bucket> getBuckets() const { return buckets; }
  const EliminationResult &getResult(const Bucket &bucket) const {
    return elimination.results[bucket.result];
  }

  /// What all that a bucket computes depends on: its tables and how their
  /// scopes lie in that of the bucket.
  std::vector<unsigned> getShape(const Bucket &bucket) const;

  /// Goes down the tree, from the roots, and completes every bucket. Buckets
  /// of one shape with one table outside are completed once. Points to results
  /// by bucket.
  struct Completions {
    std::vector<BucketCompletion> distinct;
    /// By bucket: index into `distinct`.
    std::vector<unsigned> of;
  };
  Completions complete();
  /// By variable and choice: the slacks of its bucket.
  std::vector<std::vector<Price>>
  getSlacks(const Completions &completions) const;

private:
  /// Completes a bucket of which `completion.outside` is known, and returns the
  /// tables outside its children.
  std::vector<unsigned> completeOne(const Bucket &bucket,
                                    BucketCompletion &completion);

  FactorGraph &graph;
  const Elimination &elimination;
  std::vector<Bucket> buckets;
};

/// `graph` with only the choices `kept[variable]`, ascending and not empty, of
/// each variable. A factor is over the variables that have several of them.
FactorGraph restrictGraph(const FactorGraph &graph,
                          llvm::ArrayRef<llvm::SmallVector<unsigned, 16>> kept);

} // namespace tp

#endif // TP_SOLVER_BUCKETTREE_H
