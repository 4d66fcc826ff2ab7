// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// A number with the error that floating point makes of it.

#ifndef TP_REFERENCE_ROUNDED_H
#define TP_REFERENCE_ROUNDED_H

#include <algorithm>
#include <cmath>
#include <limits>

namespace tp {

/// A number in f64, and how far from it a program may be that computes it in a
/// type of unit roundoff u: about `error` times u, to first order in u. This is
/// running error analysis (Wilkinson; Higham, "Accuracy and Stability of
/// Numerical Algorithms", section 3.3) with errors taken as independent: they
/// add up in squares, so that a sum of n terms is off by sqrt(n) and not n
/// roundings. Added up as they are, they grow with every layer of a model until
/// nothing is wrong any more.
/// Cancellation shows: the value shrinks, the error does not.
struct Rounded {
  double value = 0;
  double error = 0;

  constexpr Rounded() = default;
  constexpr Rounded(double value, double error) : value(value), error(error) {}
  /// A number that the type holds exactly.
  constexpr explicit Rounded(double value) : value(value) {}

  bool operator==(const Rounded &) const = default;

  /// The value after one more rounding.
  static Rounded round(double value, double error) {
    return {value, std::hypot(error, value)};
  }
  Rounded operator+(Rounded other) const {
    return round(value + other.value, std::hypot(error, other.error));
  }
  Rounded operator-(Rounded other) const {
    return round(value - other.value, std::hypot(error, other.error));
  }
  Rounded operator*(Rounded other) const {
    // An exact zero or one rounds nothing.
    double product = value * other.value;
    double carried = std::hypot(error * other.value, other.error * value);
    bool isExact = isTrivial() || other.isTrivial();
    return {product, isExact ? carried : std::hypot(carried, product)};
  }
  Rounded operator/(Rounded other) const {
    double quotient = value / other.value;
    return round(quotient, std::hypot(error, quotient * other.error) /
                               std::fabs(other.value));
  }
  /// Adds a term of a sum of many.
  Rounded &operator+=(Rounded term) {
    // A sum of zeros is exact; in another order the larger one may be rounded.
    double before = value;
    value += term.value;
    double rounding = before == 0 || term.value == 0
                          ? 0
                          : std::max(std::fabs(before), std::fabs(value));
    error = std::sqrt(error * error + term.error * term.error +
                      rounding * rounding);
    return *this;
  }

  /// The least positive number of f32 in units of its roundoff: results below
  /// it are lost altogether.
  static constexpr double underflow = 0x1p-126 / 0x1p-24;

private:
  bool isTrivial() const {
    return error == 0 && (value == 0 || std::fabs(value) == 1);
  }
};

/// A function of one number and what it makes of errors.
struct RealFunction {
  double (*value)(double);
  /// Of the value; at a bend, the steeper side.
  double (*derivative)(double);
  /// The largest number that is rounded on the way, in the usual formula: the
  /// result, or what cancels in it.
  double (*rounded)(double) = nullptr;

  double operator()(double x) const { return value(x); }
  /// Library functions are within two roundings.
  Rounded operator()(Rounded x) const {
    double y = value(x.value), carried = x.error;
    if (carried != 0)
      carried *= std::fabs(derivative(x.value));
    double largest = rounded ? rounded(x.value) : y;
    return {y, std::hypot(carried, 2 * largest) + Rounded::underflow};
  }
};

} // namespace tp

#endif // TP_REFERENCE_ROUNDED_H
