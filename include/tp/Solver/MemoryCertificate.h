// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_MEMORYCERTIFICATE_H
#define TP_SOLVER_MEMORYCERTIFICATE_H

#include "tp/Solver/Certificate.h"

namespace tp {

/// A proof that no plan within a problem's memory limit costs less than a
/// bound. As in `Certificate` there is nothing in it to believe.
///
/// The plans are divided by their working memory. Those of a range have at
/// most the limit less its least working memory for what is persistent. With a
/// toll on persistent memory, no plan costs less than a bound that messages
/// prove, and none that fits pays more toll than that for the whole of its
/// persistent memory: the difference bounds the price without tolls (Lagrangian
/// relaxation). The least bound of all ranges holds.
///
/// What the search between bound and plan has looked at is not part of it: the
/// bound may lie below the price of a plan that the solver knows to be optimal.
struct MemoryCertificate {
  struct Range {
    /// The greatest working memory of its plans. The least is one byte more
    /// than the greatest of the range before it, or none.
    uint64_t mostWorking = 0;
    /// Toll for 2^32 bytes in units of the time of a price; that for a choice
    /// is rounded down.
    uint64_t multiplier = 0;
    /// A price with tolls; nothing above it is claimed.
    Price tolledCost;
    /// Of the problem with tolls, without the choices that no plan in the range
    /// can have.
    Certificate certificate;
    friend bool operator==(const Range &, const Range &) = default;
  };
  /// Ascending; the last one reaches the limit.
  std::vector<Range> ranges;
  friend bool operator==(const MemoryCertificate &,
                         const MemoryCertificate &) = default;
};

/// The bound that `certificate` proves: no plan of `problem` within its memory
/// limit costs less. `cost` is the price of a plan that is known; nothing above
/// it is claimed. Fails, saying where, if the certificate does not fit the
/// problem, or the problem has no limit.
///
/// The code shares nothing with the solver but the problem and the prices.
llvm::Expected<Price>
checkMemoryCertificate(const Problem &problem, Price cost,
                       const MemoryCertificate &certificate);

} // namespace tp

#endif // TP_SOLVER_MEMORYCERTIFICATE_H
