// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUN_COMPARE_H
#define TP_RUN_COMPARE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tp/Reference/Rounded.h"
#include "tp/Reference/Tensor.h"
#include "tp/Run/Signature.h"

namespace tp {

/// How far two tensors are apart.
struct Difference {
  /// Largest |actual - expected|, and of that the index in row-major order.
  double absolute = 0;
  int64_t at = 0;
  /// Largest |expected|, without masked elements.
  double magnitude = 0;
  /// A NaN or an infinity on one side only, or anywhere in `actual`.
  bool notFinite = false;
  /// Largest difference in units of what its element may be off by, and where.
  double share = 0;
  int64_t shareAt = 0;

  /// Largest difference in units of the largest magnitude; where that is 0,
  /// the difference itself.
  double relative() const {
    return magnitude > 0 ? absolute / magnitude : absolute;
  }
  /// Whether the difference is in order for `tolerance`, which is relative.
  bool within(double tolerance) const {
    return !notFinite && relative() <= tolerance;
  }
  /// Whether no element is further off than it may be.
  bool withinErrors() const { return !notFinite && share <= 1; }
};

/// Whether `value` stands for no number: minus infinity or the lowest finite
/// number of a type with the range of f32 or f64, as masks and padding do. Such
/// elements have to be masked on both sides and say nothing of the scale.
bool isMasked(double value);

/// The difference of tensors of one shape. Integers must be equal: any
/// difference counts as not finite.
Difference compare(const TensorOf<double> &actual,
                   const TensorOf<double> &expected);
Difference compare(const Array &actual, const TensorOf<double> &expected);
/// The same where element i may be off by `unit` times its error.
Difference compare(const TensorOf<double> &actual,
                   const TensorOf<double> &expected,
                   const TensorOf<Rounded> &errors, double unit);

/// The larger of two differences, so that ranks add up.
void merge(Difference &total, const Difference &other);

/// What an element may be off by, in units of the error that the evaluator
/// carries along: that one is a standard deviation rather than a bound, and the
/// largest of many elements is several of these from the mean.
inline constexpr double errorMargin = 8;

/// The unit roundoff of the narrowest floating-point type of the program, as it
/// runs.
double unitRoundoff(mlir::func::FuncOp entry);

/// Where errors are not carried along: how large the relative difference of two
/// evaluations of `entry`, in whatever order of summation, may become: 8 * eps
/// * sqrt(sum of the reduction lengths along the longest path). Roundings are
/// independent, so a sum of n terms is off by about sqrt(n) eps and errors of
/// one operation after another add up in squares; 8 leaves room for the maximum
/// over all elements. eps is `unitRoundoff`; a cast that rounds to f16 or bf16
/// adds their roundoff.
double tolerance(mlir::func::FuncOp entry);

} // namespace tp

#endif // TP_RUN_COMPARE_H
