// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_PROBLEM_H
#define TP_SOLVER_PROBLEM_H

#include "tp/Cost/Price.h"
#include "tp/Reshard/Tree.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace tp {

/// The planning problem, free of any program: pick one choice for each variable
/// so that the choices and the reshards between them cost least.
///
/// A variable is whatever has a choice: the strategy of an operation, the
/// layout in which a parameter lies. Each value is made by one variable and
/// used by others; a variable's choice fixes the layout in which it makes or
/// wants the value, and the value pays the cheapest tree from the one to all
/// the others.
///
/// Cost vectors, memory vectors, layout maps and distance tables are referred
/// to by their index. What is equal should be stored once: the solver takes
/// equal indices as the sign that two layers are the same.
struct Problem {
  /// Bytes on one rank.
  struct Memory {
    /// What lies there for the whole step, as a weight's shard.
    uint64_t persistent = 0;
    /// What is needed while an operation runs. Operations run one after the
    /// other, so that a plan needs the most that one of them does.
    uint64_t working = 0;

    /// Requires that the problem passes `check()`.
    uint64_t getTotal() const { return persistent + working; }
    friend bool operator==(const Memory &, const Memory &) = default;
  };

  /// The memory vector of a variable that takes no memory.
  static constexpr unsigned noMemory = ~0u;

  struct Variable {
    /// For messages.
    std::string name;
    /// Index into `costVectors`; its length is the number of choices.
    unsigned costVector = 0;
    /// Index into `memoryVectors`, or `noMemory`.
    unsigned memoryVector = noMemory;
  };

  /// One end of a value: a variable and the layout that each of its choices
  /// makes or wants.
  struct Use {
    unsigned variable = 0;
    /// Index into `layoutMaps`.
    unsigned layoutMap = 0;
    friend auto operator<=>(const Use &, const Use &) = default;
  };

  struct Value {
    /// For messages.
    std::string name;
    /// Index into `tables`. Where the value may not be resharded, a table that
    /// is infinite off its diagonal says so.
    unsigned table = 0;
    Use producer;
    /// A variable may use a value twice.
    llvm::SmallVector<Use, 2> consumers;

    /// The consumers in ascending order, each once: equal ones always want the
    /// same layout.
    llvm::SmallVector<Use, 2> differentUses() const;
  };

  std::vector<DistanceTable> tables;
  /// The price of each choice; an infinite one bans the choice.
  std::vector<std::vector<Price>> costVectors;
  /// The memory of each choice.
  std::vector<std::vector<Memory>> memoryVectors;
  /// From choice to layout.
  std::vector<std::vector<unsigned>> layoutMaps;
  /// In program order.
  std::vector<Variable> variables;
  std::vector<Value> values;
  /// The most bytes that a plan may take on a rank. It bounds what
  /// `solveWithinMemory` may choose; `evaluate` and `solve` do not look at it.
  std::optional<uint64_t> memoryLimit;

  size_t getNumChoices(unsigned variable) const {
    return costVectors[variables[variable].costVector].size();
  }

  /// The price of one choice.
  Price getCost(unsigned variable, unsigned choice) const {
    return costVectors[variables[variable].costVector][choice];
  }

  /// The memory of one choice.
  Memory getMemory(unsigned variable, unsigned choice) const {
    unsigned vector = variables[variable].memoryVector;
    return vector == noMemory ? Memory() : memoryVectors[vector][choice];
  }

  /// The layout of `use` under `choice` of its variable.
  unsigned getLayout(Use use, unsigned choice) const {
    return layoutMaps[use.layoutMap][choice];
  }

  /// Refuses indices out of range, sizes that do not fit together, distance
  /// tables that are not closed, values that may want more than
  /// `maxTreeTargets` different layouts at once, and problems so large that a
  /// field of a price other than the time could overflow into the next one, or
  /// that a plan could take half as many bytes as a price has ticks, or more.
  llvm::Error check() const;

  /// The same, but for whether tables hold shortest paths.
  llvm::Error checkShape() const;

  /// The price of a plan, one choice for each variable: every choice plus the
  /// cheapest tree of every value. Infinite if the plan uses a banned choice or
  /// an impossible reshard, or has the wrong length or an index out of range.
  /// Requires a problem that passes `check()`.
  Price evaluate(llvm::ArrayRef<unsigned> choices) const;

  /// The memory of a plan: the sum of what is persistent, and the most that a
  /// choice needs besides. Requires a problem that passes `check()` and one
  /// choice in range for each variable.
  Memory memoryOf(llvm::ArrayRef<unsigned> choices) const;
};

} // namespace tp

#endif // TP_SOLVER_PROBLEM_H
