// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_CERTIFICATE_H
#define TP_SOLVER_CERTIFICATE_H

#include "tp/Solver/Problem.h"

namespace tp {

/// A proof that no plan of a problem costs less than a bound, made to be
/// checked by a program that does not trust the one that wrote it. There is
/// nothing in it to believe: whatever the numbers are, the bound that is
/// computed with them holds. Good numbers make it a high one.
///
/// Messages are the first part. A message moves cost from a variable to the
/// tree of a value it makes or uses: for each layout, the price of the
/// variable's choices that have it there falls, and the price of the tree's
/// combinations that have it there rises, by the same number. The price of
/// every plan stays what it was, so the sum of the minima of all variables and
/// of all trees, each by itself, is a lower bound.
///
/// Where that leaves a gap, the second part says how to close it. A choice
/// whose use alone lifts the bound to the price of a known plan is left out.
/// What remains is written as a sum of small tables, and the variables are
/// eliminated in the order given, which yields the minimum itself.
///
/// What repeats, as in identical layers, is stored once and referred to.
struct Certificate {
  /// In units of the time of a `Price`, by index of a layout among the
  /// different ones of the layout map, in ascending order.
  std::vector<std::vector<int64_t>> messages;
  /// For each value with consumers, in order, an index into `messages` for the
  /// producer and one for each of `differentUses()`. Empty: all numbers are
  /// zero.
  std::vector<unsigned> messageOf;

  /// How the tree of a value with n different uses is written.
  struct Expansion {
    enum class Kind : uint8_t {
      /// n = 1: one table, the distance from producer to consumer.
      Direct,
      /// n - 1 auxiliary variables, the slots, which are the branching nodes of
      /// the tree. Each has one choice per entry of `slotLayouts`. The first
      /// hangs on the producer, each other one on the nearest earlier slot,
      /// each consumer on the nearest slot. Exact: a tree with n targets never
      /// needs more than n - 1 branching nodes.
      Slots,
      /// One auxiliary variable with one choice per entry of `layoutSets`: the
      /// layouts that are made. It costs the tree from the producer to them; a
      /// consumer must find its layout in the set.
      Cover,
    };
    Kind kind = Kind::Direct;
    std::vector<unsigned> slotLayouts;
    /// Each in ascending order.
    std::vector<std::vector<unsigned>> layoutSets;
    friend bool operator==(const Expansion &, const Expansion &) = default;
  };

  std::vector<Expansion> expansions;
  /// By value: index into `expansions`; ignored for a value without consumers.
  std::vector<unsigned> expansionOf;
  /// All variables in the order of their elimination; empty if the messages say
  /// all. The auxiliary ones are numbered after the problem's own, value by
  /// value and slot by slot.
  std::vector<unsigned> order;

  friend bool operator==(const Certificate &, const Certificate &) = default;

  /// Bytes of all numbers and indices.
  uint64_t getSize() const;
};

/// The bound that `certificate` proves: no plan of `problem` costs less. `cost`
/// is the price of a plan that is known; nothing above it is claimed. The plan
/// is optimal if the bound equals its price; their difference is the gap.
///
/// Fails, saying where, if the certificate does not fit the problem.
///
/// What repeats is computed once. The code shares nothing with the solver but
/// the problem and the prices.
llvm::Expected<Price> checkCertificate(const Problem &problem, Price cost,
                                       const Certificate &certificate);

} // namespace tp

#endif // TP_SOLVER_CERTIFICATE_H
