// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_CERTIFICATETERMS_H
#define TP_SOLVER_CERTIFICATETERMS_H

#include "tp/Solver/Certificate.h"
#include "tp/Solver/Problem.h"

// The part of the certificate checker that makes tables of values. It shares
// nothing with the solver.
namespace tp {

/// A table over variables in ascending order, the last one varying fastest.
struct CertificateTerm {
  std::vector<unsigned> scope;
  /// Index into `CertificateSum::tables`.
  unsigned table = 0;
};

/// A sum of tables whose minimum is no more than the price of any plan.
struct CertificateSum {
  /// By variable, auxiliary ones last: how many choices it has; never zero.
  std::vector<uint64_t> sizes;
  std::vector<std::vector<Price>> tables;
  std::vector<CertificateTerm> terms;
};

/// Checks the claims about values as sums of tables, and makes these tables
/// over `choices`, those left by variable, of which there must be some. The
/// certificate's indices must be in range.
llvm::Expected<CertificateSum>
makeCertificateSum(const Problem &problem, const Certificate &certificate,
                   llvm::ArrayRef<std::vector<unsigned>> choices);

} // namespace tp

#endif // TP_SOLVER_CERTIFICATETERMS_H
