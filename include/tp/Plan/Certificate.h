// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_PLAN_CERTIFICATE_H
#define TP_PLAN_CERTIFICATE_H

#include "tp/Plan/Problem.h"

namespace tp {

/// A proof that no plan of a problem costs less than a bound, made to be
/// checked by a program that does not trust the one that wrote it. It claims
/// three things, in this order:
///
/// 1. Some choices need not be considered, as another choice of the same
///    variable does at least as well whatever the rest of the plan is. Banned
///    choices are left out without mention.
/// 2. The tree of each value can be written as a sum of small tables over
///    auxiliary variables.
/// 3. Removing the variables one after the other, each leaves behind a
///    `message`, a table over the variables it met, which together with a
///    constant is nowhere above the minimum over the variable's choices. What
///    remains when all are gone is the bound: the sum of the constants.
///
/// What repeats, as in identical layers, is stored once and referred to.
struct Certificate {
  /// Choice `choice` is left out since `dominator` does at least as well. The
  /// dominator must not have been left out before.
  struct Dropped {
    unsigned choice = 0;
    unsigned dominator = 0;
    friend bool operator==(const Dropped &, const Dropped &) = default;
  };

  /// How the tree of a value with n different uses is written. Uses are
  /// different if their variable or their layout map is.
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

  /// One variable removed.
  struct Step {
    Price constant;
    /// Index into `messages`.
    unsigned message = 0;
    friend bool operator==(const Step &, const Step &) = default;
  };

  std::vector<std::vector<Dropped>> dropped;
  /// By variable: index into `dropped`.
  std::vector<unsigned> droppedOf;

  std::vector<Expansion> expansions;
  /// By value: index into `expansions`; ignored for a value without consumers.
  std::vector<unsigned> expansionOf;

  /// All variables in the order of their removal. The auxiliary ones are
  /// numbered after the problem's own, value by value and slot by slot.
  std::vector<unsigned> order;

  /// Cells of a table over variables in ascending order, the last one varying
  /// fastest, each over the choices not left out.
  std::vector<std::vector<Price>> messages;
  std::vector<Step> steps;
  /// By position in `order`: index into `steps`.
  std::vector<unsigned> stepOf;

  friend bool operator==(const Certificate &, const Certificate &) = default;
};

/// Recomputes every claim of `certificate` and returns the bound it proves: no
/// plan of `problem` costs less. Fails, saying where, if any claim does not
/// hold. A plan is optimal if its price equals the bound; their difference is
/// the gap.
///
/// Repeated steps are checked once. The work is the solver's; the code is not.
llvm::Expected<Price> checkCertificate(const Problem &problem,
                                       const Certificate &certificate);

} // namespace tp

#endif // TP_PLAN_CERTIFICATE_H
