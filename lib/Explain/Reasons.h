// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Sentences about a plan, read off its layouts and the operations' rules.

#ifndef TP_EXPLAIN_REASONS_H
#define TP_EXPLAIN_REASONS_H

#include "tp/Plan/PlanSteps.h"
#include "tp/Weights/WeightUses.h"

namespace tp {

/// "dimension 0 of 4096 over "tp", 512 a rank"; "whole".
std::string describeLayout(llvm::ArrayRef<int64_t> shape, const Layout &layout,
                           MeshAttr mesh);

/// The same for a value on its way: "a sum over "tp"".
std::string describeValue(llvm::ArrayRef<int64_t> shape, const Layout &layout,
                          MeshAttr mesh);

/// "[1, 2048] bf16".
std::string describeType(mlir::RankedTensorType type);

/// "2 groups of 4 ranks: {0, 1, 2, 3}, {4, 5, 6, 7}".
std::string describeGroups(llvm::ArrayRef<AxisPart> parts, MeshAttr mesh);

/// What one plan does, in words.
class Reasons {
public:
  Reasons(const Planner &planner, const Solution &solution);

  llvm::ArrayRef<PlanStep> getSteps() const { return steps; }

  /// What the layout of a weight does to the product that reads it: where the
  /// split of a column goes, where the sum of a row is finished, who wants it
  /// whole.
  std::string describeUse(const WeightUse &use) const;

  /// The steps for which ranks talk, those that are alike together: same place
  /// but for the numbers of layers, same cause, same groups, same bytes.
  std::vector<llvm::SmallVector<const PlanStep *>> groupCollectives() const;

  /// The collectives that what `use` makes meets before another product; steps
  /// by their number.
  llvm::SmallVector<unsigned> findNextCollectives(const WeightUse &use) const;

  /// "all_reduce of [8, 64] f32 after tp.matmul with w2, before result 0".
  std::string describePlace(const PlanStep &step) const;

  /// Who made the value of a step so, and whether its users could take it.
  std::string describeCause(const PlanStep &step) const;

  /// The layout of tensor `tensor` of a node under the plan.
  const Layout &getLayout(unsigned node, unsigned tensor) const;

private:
  /// Where a split that is handed on ends.
  struct Trace {
    llvm::SmallVector<std::string> through, ends;
    bool communicates = false;
  };
  void follow(unsigned value, llvm::ArrayRef<AxisPart> parts,
              Trace &trace) const;
  void enter(unsigned node, unsigned operand, llvm::ArrayRef<AxisPart> parts,
             Trace &trace, llvm::SmallVectorImpl<unsigned> &todo) const;
  std::string describeColumn(const WeightUse &use,
                             llvm::ArrayRef<AxisPart> parts) const;
  std::string describeRow(const WeightUse &use,
                          llvm::ArrayRef<AxisPart> parts) const;
  std::string describeWhole(const WeightUse &use) const;
  std::string describeSteps(unsigned value) const;
  bool canTake(unsigned node, unsigned operand, const Layout &layout) const;
  unsigned getValue(unsigned node, unsigned tensor) const;
  bool isProduct(unsigned node) const;

  const Graph &graph;
  const ProblemBuilder &builder;
  MeshAttr mesh;
  const std::vector<unsigned> &choices;
  std::vector<PlanStep> steps;
};

} // namespace tp

#endif // TP_EXPLAIN_REASONS_H
