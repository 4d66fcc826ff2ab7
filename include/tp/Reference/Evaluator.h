// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The reference evaluator: what a program means, in naive index loops. Other
/// parts are held against it; it is held against nothing but arithmetic.
///
/// The scalar is `double`, `Rounded` (the same numbers with the error that the
/// program may make in its own type), or `Field`. In the field sums and
/// products are exact; a nonlinear function is a keyed hash of its argument, so
/// equal results mean equal programs for whatever those functions are, up to
/// the probability of `falseAcceptBound`:
///
/// - float constants are exact (m * 2^e); a mean multiplies by 1/n;
/// - functions of one number are hashes; exp is one function wherever it is
///   applied;
/// - a maximum is taken in a random keyed order: in the order of the residues 0
///   would be the least, and a maximum of masked terms would look like a sum;
/// - a cast from one floating-point type to another that holds all its values,
///   or from i1, is exact; any other to floating point is a hash that keeps the
///   order, for a maximum may be taken before it or after it;
/// - the maximum of nothing is an element that comes first in that order;
/// - dropout multiplies by a hash of seed, site and place;
/// - softmax hashes for exp, without subtracting a maximum, and divides; masked
///   keys are left out;
/// - rope's cosine and sine are hashes of position and pair;
/// - integers are integers, and wrap around at the width of their type.

#ifndef TP_REFERENCE_EVALUATOR_H
#define TP_REFERENCE_EVALUATOR_H

#include "tp/IR/RankFunctions.h"
#include "tp/Reference/Field.h"
#include "tp/Reference/Rounded.h"
#include "tp/Reference/Tensor.h"
#include "llvm/Support/Error.h"

namespace tp {

/// What an evaluation in the field did, for the bound.
struct EvaluationCounts {
  /// Applications of hashed functions, and divisions.
  double hashes = 0;
  double divisions = 0;
  /// Largest degree that an equality of hash arguments or outputs can have.
  Degree degree;
  /// Sum of the degrees of all denominators: multiplying by all of them once
  /// clears a value that is linear in their inverses.
  double clearing = 0;
};

/// How to evaluate.
struct EvaluateOptions {
  /// Chooses the hash functions. Programs are compared under one key.
  uint64_t key = 0;
  /// Added to, if not null.
  EvaluationCounts *counts = nullptr;
};

/// A denominator was 0 in the field: evaluate again with another key and other
/// inputs.
class ZeroDenominatorError : public llvm::ErrorInfo<ZeroDenominatorError> {
public:
  static char ID;
  explicit ZeroDenominatorError(std::string message)
      : message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string message;
};

/// Evaluates a function of the open or typed phase as the unsharded program:
/// layouts, collectives and reshards change no value. Errors: arguments that do
/// not fit, an operation without kernel, recursion, an index out of range,
/// `ZeroDenominatorError`.
template <class S>
llvm::Expected<std::vector<TensorOf<S>>>
evaluate(mlir::func::FuncOp entry, llvm::ArrayRef<TensorOf<S>> arguments,
         EvaluateOptions options = {});

/// Evaluates `tp.local` functions on all ranks in lockstep, each rank by its
/// own: operation for operation they must be the same, with the same
/// collectives. `arguments` and the result have one row a rank.
template <class S>
llvm::Expected<std::vector<std::vector<TensorOf<S>>>>
evaluateRanks(const RankFunctions &entry, int64_t numRanks,
              llvm::ArrayRef<std::vector<TensorOf<S>>> arguments,
              EvaluateOptions options = {});

/// The same where all ranks run one function.
template <class S>
llvm::Expected<std::vector<std::vector<TensorOf<S>>>>
evaluateRanks(mlir::func::FuncOp localEntry, int64_t numRanks,
              llvm::ArrayRef<std::vector<TensorOf<S>>> arguments,
              EvaluateOptions options = {}) {
  return evaluateRanks<S>(
      RankFunctions{localEntry.getSymName().str(), {localEntry}, {}}, numRanks,
      arguments, options);
}

/// Half the floating-point operations of `function` with all that it calls: the
/// multiply-adds of its products. Infinite for a function that calls itself.
double countMultiplyAdds(mlir::func::FuncOp function);

/// Upper bound, at most 1, on the probability that two programs which differ
/// gave equal outputs on random inputs under a random key: the lemma of
/// Schwartz (1980) and Zippel (1979) for every pair of hash arguments, every
/// denominator and the outputs, (N (N - 1) / 2 + N_d + 1) D / p. Holds for the
/// integer inputs that were used. k independent runs give its k-th power.
double falseAcceptBound(const EvaluationCounts &first,
                        const EvaluationCounts &second);

/// Whether the evaluator knows the operation `name`.
bool hasReferenceKernel(llvm::StringRef name);

} // namespace tp

#endif // TP_REFERENCE_EVALUATOR_H
