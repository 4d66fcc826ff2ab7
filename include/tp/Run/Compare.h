// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUN_COMPARE_H
#define TP_RUN_COMPARE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tp/Reference/Tensor.h"
#include "tp/Run/Signature.h"

namespace tp {

/// How far two tensors are apart.
struct Difference {
  /// Largest |actual - expected|, and of that the index in row-major order.
  double absolute = 0;
  int64_t at = 0;
  /// Largest |expected|.
  double magnitude = 0;
  /// A NaN or an infinity on one side only, or anywhere in `actual`.
  bool notFinite = false;

  /// Largest difference in units of the largest magnitude; where that is 0,
  /// the difference itself.
  double relative() const {
    return magnitude > 0 ? absolute / magnitude : absolute;
  }
  /// Whether the difference is in order for `tolerance`, which is relative.
  bool within(double tolerance) const {
    return !notFinite && relative() <= tolerance;
  }
};

/// The difference of tensors of one shape. Integers must be equal: any
/// difference counts as not finite.
Difference compare(const TensorOf<double> &actual,
                   const TensorOf<double> &expected);
Difference compare(const Array &actual, const TensorOf<double> &expected);

/// The larger of two differences, so that ranks add up.
void merge(Difference &total, const Difference &other);

/// How large the relative difference of two evaluations of `entry`, in
/// whatever order of summation, may become: 8 * eps * sqrt(sum of the
/// reduction lengths along the longest path). Roundings are independent, so a
/// sum of n terms is off by about sqrt(n) eps and errors of one operation after
/// another add up in squares; 8 leaves room for the maximum over all elements.
/// eps is that of the narrowest floating-point type of the program as it runs;
/// a cast that rounds to f16 or bf16 adds their roundoff.
double tolerance(mlir::func::FuncOp entry);

} // namespace tp

#endif // TP_RUN_COMPARE_H
