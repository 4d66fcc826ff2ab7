// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The program as the planner sees it: flat, calls read as if inlined.

#ifndef TP_WEIGHTS_GRAPH_H
#define TP_WEIGHTS_GRAPH_H

#include "tp/IR/TP.h"
#include <memory>

namespace tp {

/// One call of a function, or the entry.
struct Instance {
  mlir::func::FuncOp function;
  /// The call, and the instance it is in; null and ~0 for the entry.
  mlir::func::CallOp call;
  unsigned parent = ~0u;
};

/// What has a choice.
struct GraphNode {
  enum Kind {
    /// Strategies of an operation.
    Operation,
    /// Where an entry argument lies.
    Home,
    /// A layout through which a value passes into or out of a function that
    /// is not its only user, or a tp.reshard of the source.
    Passage,
    /// A layout that is asked for: the result of the entry.
    Demand
  };
  Kind kind;
  unsigned instance;
  mlir::Operation *op = nullptr;
  /// Operation: its rule, the same in every instance of the function.
  std::shared_ptr<const ShardingRule> rule;
  llvm::SmallVector<unsigned, 4> operands;
  llvm::SmallVector<unsigned, 1> results;
  /// Operands that are weights and that the result still is, such as a weight
  /// that is moved, cast or scaled by what parameters alone determine: split as
  /// they are, and read by the product that reads the result.
  llvm::SmallVector<unsigned, 1> carried;
  /// Home: the argument. Demand: the result.
  unsigned number = 0;
};

/// An encoding that the source gives a value.
struct SourcePin {
  ShardingAttr sharding;
  mlir::Location location;
  /// The SSA value or the operand of a return that carries it, the same in
  /// every instance of a function.
  const void *carrier;
};

/// A tensor, in one place however many functions it passes through.
struct GraphValue {
  mlir::RankedTensorType type;
  unsigned producer = ~0u;
  std::string name;
  /// (node, operand number)
  llvm::SmallVector<std::pair<unsigned, unsigned>, 2> consumers;
  /// A parameter of the entry or of a function, or what carries one on.
  bool isParameter = false;
  /// Computed of parameters and constants alone.
  bool isStatic = false;
  /// Elements of the parameter that a static value carries on, or its own.
  int64_t numStored = 0;
  bool isStream = false;
  llvm::SmallVector<SourcePin, 1> pins;
};

/// A flat program. Nodes and values are in program order.
class Graph {
public:
  /// Reads `entry` and what it calls. Diagnoses recursion, programs that are
  /// too large with their calls inlined, operations without a rule and
  /// collectives, which are the planner's to place.
  static mlir::FailureOr<Graph> build(mlir::func::FuncOp entry);

  std::vector<Instance> instances;
  std::vector<GraphNode> nodes;
  std::vector<GraphValue> values;
  /// The flat value of an SSA value in an instance.
  std::vector<llvm::DenseMap<mlir::Value, unsigned>> valueOf;
  /// The node of an operation in an instance.
  std::vector<llvm::DenseMap<mlir::Operation *, unsigned>> nodeOf;
  /// The passage through which operand i of a call goes, if any.
  llvm::DenseMap<std::pair<unsigned, mlir::OpOperand *>, unsigned> passageOf;
};

} // namespace tp

#endif // TP_WEIGHTS_GRAPH_H
