// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The planning problem of a graph.

#ifndef TP_PLAN_BUILDER_H
#define TP_PLAN_BUILDER_H

#include "tp/Plan/Choices.h"
#include "tp/Plan/Planner.h"
#include "tp/Reshard/Path.h"
#include "tp/Solver/Problem.h"
#include "tp/Weights/Degrees.h"
#include "tp/Weights/Graph.h"
#include "tp/Weights/Units.h"
#include <map>
#include <set>

namespace tp {

/// The choices of one node.
struct NodeChoices {
  /// By choice, then by operand and result: the number of the layout in the
  /// value's space.
  std::vector<llvm::SmallVector<unsigned, 4>> layouts;
  std::vector<Price> prices;
};

/// Builds the Problem. Variables are the nodes, values the values of the graph.
class ProblemBuilder {
public:
  ProblemBuilder(const Graph &graph, const CostModel &model,
                 const PlanAxes &axes, const PlanWishes &wishes)
      : graph(graph), model(model), axes(axes), weights(wishes.weights),
        sequence(wishes.sequence), uneven(wishes.uneven) {}

  /// Diagnoses nodes without a choice, and names what excludes them.
  mlir::LogicalResult build();

  Problem problem;
  std::vector<NodeChoices> choices;

  const LayoutSpace &getSpace(unsigned value) const { return *spaceOf[value]; }
  /// The layout of a node's operand (or, after those, result) under a choice.
  unsigned getLayout(unsigned node, unsigned choice, unsigned tensor) const {
    return choices[node].layouts[choice][tensor];
  }
  /// The layout that a value is made in under a choice of every node.
  unsigned getProducedLayout(unsigned value,
                             llvm::ArrayRef<unsigned> nodeChoices) const;

  /// The weights of the entry that weights=stationary leaves unsplit, by value:
  /// their tiles do not let the ranks split them, though their sizes would.
  const std::map<unsigned, std::vector<TiledDim>> &getUnsplit() const {
    return unsplit;
  }
  Weights getWeights() const { return weights; }
  Uneven getUneven() const { return uneven; }
  /// By value: whether a product reads it, or what it still is.
  const std::vector<bool> &getContracted() const { return isContracted; }

private:
  const LayoutSpace &makeSpace(unsigned value);
  unsigned makeFixedTable(unsigned numLayouts);
  mlir::LogicalResult makeSpaces();
  unsigned makeTable(unsigned value);
  mlir::LogicalResult findPins();
  mlir::LogicalResult checkPin(unsigned value, const SourcePin &pin,
                               const Layout &layout) const;
  mlir::LogicalResult diagnosePin(unsigned value, const SourcePin &pin,
                                  const Layout &layout) const;
  void addNode(unsigned node);
  void addOperation(unsigned node);
  void addHome(unsigned node);
  void addPassage(unsigned node);
  void addDemand(unsigned node);
  void addVariable(unsigned node);
  void addValues();
  mlir::LogicalResult addLinks();
  void markPassedWeights();
  void findUnsplit();
  void markMaxima();
  unsigned internMap(std::vector<unsigned> map);
  unsigned internCosts(std::vector<Price> costs);
  std::string signatureOf(unsigned node) const;
  unsigned violatedBy(unsigned node, const ShardingRule &rule,
                      const Strategy &strategy,
                      llvm::ArrayRef<unsigned> numbers) const;
  bool breaksWeights(unsigned node, const ShardingRule &rule,
                     const Strategy &strategy) const;
  bool breaksData(unsigned node, const ShardingRule &rule,
                  const Strategy &strategy) const;
  bool breaksSequence(unsigned value, const Layout &layout) const;
  bool breaksPins(unsigned value, unsigned layout) const;
  bool isHomeAllowed(unsigned value, const Layout &layout) const;
  /// Whether a weight that makes keys or values of so many groups may be
  /// replicated over part `index`: 0 for no such weight.
  bool isExcused(int64_t groups, unsigned index) const;

  /// A node without a choice. The nearest of its strategies break these
  /// constraints: each breaks one of them if `isEither`.
  struct Exclusion {
    unsigned node;
    unsigned broken;
    size_t numStrategies;
    bool isEither;
  };
  void exclude(unsigned node, llvm::ArrayRef<unsigned> masks);
  void excludeLayouts(unsigned node);
  std::pair<unsigned, const void *> causeOf(const Exclusion &excluded) const;
  mlir::LogicalResult diagnoseExclusions() const;
  mlir::InFlightDiagnostic describeOperation(const Exclusion &excluded) const;
  mlir::InFlightDiagnostic describeLayouts(const Exclusion &excluded) const;
  void noteConstraints(const Exclusion &excluded,
                       mlir::Diagnostic &error) const;
  void noteWeights(mlir::Diagnostic &error) const;
  void noteBatch(unsigned node, const ShardingRule &rule,
                 mlir::Diagnostic &error) const;
  void noteSequence(unsigned node, mlir::Diagnostic &error) const;
  mlir::LogicalResult checkReturnedWeights() const;
  /// The factor that carries the batch: the major one of dimension 0 of the
  /// result, unless a weight has it too.
  std::optional<unsigned> findBatchFactor(const GraphNode &node,
                                          const ShardingRule &rule) const;

  const Graph &graph;
  const CostModel &model;
  const PlanAxes &axes;
  Weights weights;
  SequenceParallel sequence;
  Uneven uneven;

  /// Of shards that differ in size.
  Units units;
  /// The products that make keys or values, with the number of groups.
  std::map<std::pair<unsigned, unsigned>, int64_t> groupProjections;
  /// Values that a product contracts or a lookup reads.
  std::vector<bool> isContracted;
  std::map<unsigned, std::vector<TiledDim>> unsplit;
  /// By value: such a weight, or what carries it on.
  std::vector<bool> mayLieWhole;
  /// By value: the number of groups of keys or values that a weight makes; 0
  /// for other weights.
  std::vector<int64_t> groupsOfWeight;
  /// Values that may be an unfinished maximum.
  std::vector<bool> mayBeMaximum;
  std::vector<llvm::SmallVector<unsigned, 1>> pinned;
  /// By type, whether it is a parameter, may be a maximum, and units.
  using SpaceKey = std::tuple<const void *, bool, bool, DimUnits>;
  std::map<SpaceKey, std::unique_ptr<LayoutSpace>> spaces;
  std::vector<const LayoutSpace *> spaceOf;
  std::map<const LayoutSpace *, unsigned> tables;
  /// By number of layouts: those that forbid every move.
  std::map<unsigned, unsigned> fixedTables;
  std::map<std::vector<unsigned>, unsigned> maps;
  std::map<std::vector<Price>, unsigned> costs;
  std::map<std::string, unsigned> nodeOfSignature;
  std::vector<Exclusion> exclusions;
};

} // namespace tp

#endif // TP_PLAN_BUILDER_H
