// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// How a family of operations gives its kernels to the evaluator.

#ifndef TP_REFERENCE_KERNEL_H
#define TP_REFERENCE_KERNEL_H

#include "mlir/IR/Operation.h"
#include "tp/Reference/Evaluator.h"
#include "llvm/ADT/StringMap.h"
#include <bit>
#include <cmath>

namespace tp {

template <class S> inline constexpr bool isField = std::is_same_v<S, Field>;
template <class S> inline constexpr bool isRounded = std::is_same_v<S, Rounded>;

//===- Hashes -------------------------------------------------------------===//

/// Key of the hash that stands for function `name` with `attributes`.
uint64_t getFunctionKey(uint64_t key, llvm::StringRef name,
                        llvm::ArrayRef<double> attributes = {});

/// The finaliser of splitmix64 (Steele, Lea and Flood 2014).
inline uint64_t mixBits(uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

/// A hash of `word` under `key`.
inline uint64_t hashWord(uint64_t key, uint64_t word) {
  return mixBits(mixBits(word ^ key) + key);
}

/// A nonlinear function of `x`: `real(x)`, or the hash with `functionKey`.
template <class S>
S applyFunction(uint64_t functionKey, S x, const RealFunction &real) {
  if constexpr (isField<S>)
    return Field::reduce(hashWord(functionKey, x.residue()));
  else
    return real(x);
}

//===- Integers -----------------------------------------------------------===//

/// The integer that a tensor of integers of type `elementType` holds after a
/// sum or product of value `bits` mod 2^64: wrapped to the type's width, i1 as
/// 0 or 1.
int64_t wrapAround(mlir::Type elementType, uint64_t bits);

//===- Calls --------------------------------------------------------------===//

/// An error that names `op` and where it is.
llvm::Error makeError(mlir::Operation *op, const llvm::Twine &message);

/// What the kernels of one evaluation share.
struct Session {
  uint64_t key = 0;
  int64_t numRanks = 1;
  bool isLocal = false;
  EvaluationCounts counts;

  /// Notes that an equality of this degree may decide something.
  void noteDegree(Degree degree) {
    counts.degree = degreeOfSum(counts.degree, degree);
  }
  /// Notes hashes of values of degree `argument`. The value is an unknown of
  /// its own: it has degree 1.
  Degree noteHashes(double number, Degree argument) {
    counts.hashes += number;
    noteDegree(argument);
    return {1, 0};
  }
  /// Notes divisions by values of degree `denominator`; the degree of the
  /// inverses. An inverse in the denominator moves the product of all earlier
  /// denominators to the numerator.
  Degree noteDivisions(double number, Degree denominator) {
    double moved = denominator.inverses * counts.clearing;
    counts.divisions += number;
    counts.clearing += number * (denominator.polynomial + moved);
    return {moved, 1};
  }
};

/// One operation on one rank. Results have their shape and are zero; their
/// degree is {0, 0}.
template <class S> struct RankCall {
  mlir::Operation *op;
  Session &session;
  int64_t rank;
  llvm::ArrayRef<const TensorOf<S> *> operands;
  llvm::MutableArrayRef<TensorOf<S>> results;

  const TensorOf<S> &operand(unsigned number) const {
    return *operands[number];
  }
  TensorOf<S> &result() const { return results.front(); }
  /// Operand `number`, an index; `otherwise` if there is no such operand.
  int64_t indexOr(unsigned number, int64_t otherwise) const {
    return number < operands.size() ? operands[number]->integers.front()
                                    : otherwise;
  }
};

/// One operation on all ranks: the single operand of each, and its result.
template <class S> struct GroupCall {
  mlir::Operation *op;
  Session &session;
  llvm::ArrayRef<const TensorOf<S> *> operands;
  llvm::MutableArrayRef<TensorOf<S>> results;
};

/// Where an operation may stand.
enum class Phase { Any, Global, Local };

/// How to evaluate an operation: rank by rank, or all ranks at once.
template <class S> struct Kernel {
  Phase phase = Phase::Any;
  llvm::Error (*onRank)(RankCall<S> &) = nullptr;
  llvm::Error (*onAll)(GroupCall<S> &) = nullptr;
};

template <class S> using KernelTable = llvm::StringMap<Kernel<S>>;

// Each family adds its kernels.
template <class S> void addAttentionKernels(KernelTable<S> &table);
template <class S> void addCollectiveKernels(KernelTable<S> &table);
template <class S> void addElementwiseKernels(KernelTable<S> &table);
template <class S> void addMatmulKernels(KernelTable<S> &table);
template <class S> void addNormKernels(KernelTable<S> &table);
template <class S> void addReductionKernels(KernelTable<S> &table);
template <class S> void addShapeKernels(KernelTable<S> &table);
template <class S> void addVocabularyKernels(KernelTable<S> &table);

/// All kernels.
template <class S> const KernelTable<S> &getKernels();

//===- Scalars ------------------------------------------------------------===//

template <class S> S fromDouble(double value) {
  if constexpr (isField<S>)
    return Field::fromDouble(value);
  else if constexpr (isRounded<S>)
    // Whether the program's type holds it exactly is judged by the narrowest
    // that runs.
    return {value, static_cast<float>(value) == value ? 0 : std::fabs(value)};
  else
    return value;
}

template <class S> S fromInteger(int64_t value) {
  if constexpr (isField<S>)
    return Field::fromInteger(value);
  else
    return fromDouble<S>(static_cast<double>(value));
}

/// 1 / value; an error where the field has no inverse.
llvm::Expected<double> invert(mlir::Operation *op, double value);
llvm::Expected<Rounded> invert(mlir::Operation *op, Rounded value);
llvm::Expected<Field> invert(mlir::Operation *op, Field value);

/// Key of the order in which maxima are taken.
uint64_t getOrderKey(uint64_t key);

/// The exponential function.
extern const RealFunction exponential;

/// The larger of two values, NaN if one is; in the field by a random order of
/// the elements, one for each key.
double takeLarger(uint64_t orderKey, double a, double b);
Rounded takeLarger(uint64_t orderKey, Rounded a, Rounded b);
Field takeLarger(uint64_t orderKey, Field a, Field b);

/// The maximum of nothing: the element that is never the larger one.
template <class S> S getLowest(uint64_t orderKey);
template <> double getLowest(uint64_t orderKey);
template <> Rounded getLowest(uint64_t orderKey);
template <> Field getLowest(uint64_t orderKey);

/// Replaces scores by their exponentials; returns the sum of these. A maximum
/// is subtracted first where that changes nothing but the range.
double exponentiate(uint64_t expKey, llvm::MutableArrayRef<double> scores);
Rounded exponentiate(uint64_t expKey, llvm::MutableArrayRef<Rounded> scores);
Field exponentiate(uint64_t expKey, llvm::MutableArrayRef<Field> scores);

/// A sum of products: in the field reduced only as often as it must be.
template <class S> class ProductSum {
public:
  void add(S a, S b) { sum += a * b; }
  S get() const { return sum; }

private:
  S sum = 0;
};

/// The products are rounded and the sum is, once a term: by at most the largest
/// sum on the way, for which the result stands, or a single product.
template <> class ProductSum<Rounded> {
public:
  void add(Rounded a, Rounded b) {
    double product = a.value * b.value;
    sum += product;
    squares += product * product;
    double byA = a.error * b.value, byB = b.error * a.value;
    carried += byA * byA + byB * byB;
    numProducts += product != 0;
  }
  Rounded get() const {
    return {sum, std::sqrt(carried + numProducts * (squares + sum * sum))};
  }

private:
  double sum = 0, squares = 0, carried = 0, numProducts = 0;
};

template <> class ProductSum<Field> {
public:
  void add(Field a, Field b) {
    if (++numProducts > Field::maxProducts) {
      sum = Field::reduce(sum).residue();
      numProducts = 1;
    }
    sum += a.widened(b);
  }
  Field get() const { return Field::reduce(sum); }

private:
  Field::Wide sum = 0;
  int64_t numProducts = 0;
};

} // namespace tp

#endif // TP_REFERENCE_KERNEL_H
