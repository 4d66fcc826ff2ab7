// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// From a module to the planning problem and back.

#ifndef TP_PLAN_PLANNER_H
#define TP_PLAN_PLANNER_H

#include "tp/IR/TP.h"
#include "tp/Solver/Solver.h"
#include "llvm/ADT/MapVector.h"
#include <memory>

namespace tp {

class CostModel;
class Graph;
class ProblemBuilder;

/// Options of tp-plan, as written.
struct PlanSettings {
  std::string mesh;
  std::string machine = "h100";
  std::string sequenceParallel = "auto";
  std::string weights = "stationary";
  std::string modelAxes;
  std::string uneven = "refuse";
  std::string memoryLimit;
  int64_t bytesPerParameter = 0;
  std::string memorySearch = "quick";
  /// Plans as if the source gave no layouts; not an option, but a question.
  bool ignorePins = false;
};

/// What a plan amounts to in one step of one rank.
struct PlanFigures {
  double seconds = 0;
  double sentBytes = 0;
  /// Number of each collective, by name.
  llvm::MapVector<llvm::StringRef, int64_t> collectives;
  /// Bytes of the parameters.
  double parameterBytes = 0;
};

/// A parameter of the entry and where a plan puts it.
struct ParameterChoice {
  std::string name;
  mlir::RankedTensorType type;
  ShardingAttr sharding;
  /// Number of the entry's argument.
  unsigned argument = 0;
};

/// What a question changes in a problem before it is solved.
struct Changes {
  /// Layouts of entry arguments, by number, on top of the module's own pins.
  llvm::SmallVector<std::pair<unsigned, Layout>> pins;
  /// Values of the problem, by number, about which ranks that differ along the
  /// parts may not talk.
  llvm::SmallVector<std::pair<unsigned, AxisParts>> silentValues;
  /// Dearer plans count as none.
  Price cutoff = Price::infinite();
};

/// Plans one module. The module is only read until `write`.
class Planner {
public:
  /// Reads the module under `settings`. Diagnoses what is wrong with either.
  static mlir::FailureOr<std::unique_ptr<Planner>>
  create(mlir::ModuleOp module, const PlanSettings &settings);
  virtual ~Planner() = default;

  /// The cheapest plan within the memory limit. Without one: diagnosed unless
  /// `quiet`.
  virtual mlir::FailureOr<Solution> solve(const Changes &changes = {},
                                          bool quiet = false) = 0;

  /// The `count` cheapest plans, cheapest first, or as many as there are; all
  /// with the lower bound and certificate of the cheapest one. Not within a
  /// memory limit.
  virtual mlir::FailureOr<std::vector<Solution>> solveBest(unsigned count) = 0;

  virtual PlanFigures getFigures(const Solution &solution) const = 0;
  virtual std::vector<ParameterChoice>
  getParameters(const Solution &solution) const = 0;
  /// The layouts that the plan's constraints leave to an entry argument.
  virtual std::vector<Layout> getHomes(unsigned argument) const = 0;
  virtual MeshAttr getMesh() const = 0;
  virtual const Problem &getProblem() const = 0;
  virtual const Graph &getGraph() const = 0;
  virtual const ProblemBuilder &getBuilder() const = 0;
  virtual const CostModel &getModel() const = 0;
  /// Axes that split the model, as `"tp"`.
  virtual AxisParts getModelParts() const = 0;
  virtual std::string getModelAxes() const = 0;

  /// Writes the plan into the module: types, reshards, one copy of a function
  /// for each distinct plan of it.
  virtual mlir::LogicalResult write(const Solution &solution) = 0;
};

/// Parses `tp=8` or `dp=2,tp=4`. Diagnoses at `loc`.
mlir::FailureOr<MeshAttr> parseMesh(llvm::StringRef text, mlir::Location loc);

} // namespace tp

#endif // TP_PLAN_PLANNER_H
