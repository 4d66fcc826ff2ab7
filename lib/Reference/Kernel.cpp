// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference/Kernel.h"
#include "Reference/Order.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tp;

char ZeroDenominatorError::ID = 0;

SmallVector<int64_t> tp::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

uint64_t tp::getFunctionKey(uint64_t key, StringRef name,
                            ArrayRef<double> attributes) {
  uint64_t result = hashWord(key, llvm::xxh3_64bits(name));
  for (double attribute : attributes)
    result = hashWord(result, std::bit_cast<uint64_t>(attribute));
  return result;
}

int64_t tp::wrapAround(Type elementType, uint64_t bits) {
  unsigned width = elementType.getIntOrFloatBitWidth();
  return width == 1 ? static_cast<int64_t>(bits & 1)
                    : llvm::SignExtend64(bits, width);
}

static std::string describe(Operation *op, const Twine &message) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getLoc() << ": " << op->getName() << ": " << message;
  return text;
}

llvm::Error tp::makeError(Operation *op, const Twine &message) {
  return llvm::createStringError(describe(op, message));
}

llvm::Expected<double> tp::invert(Operation *, double value) {
  return 1 / value;
}

llvm::Expected<Rounded> tp::invert(Operation *, Rounded value) {
  return Rounded(1) / value;
}

llvm::Expected<Field> tp::invert(Operation *op, Field value) {
  if (!value.isZero())
    return value.inverse();
  return llvm::make_error<ZeroDenominatorError>(
      describe(op, "a denominator is 0 mod 2^61 - 1 by chance; evaluate again "
                   "with another key"));
}

uint64_t tp::getOrderKey(uint64_t key) { return getFunctionKey(key, "order"); }

double tp::takeLarger(uint64_t, double a, double b) {
  return a < b || std::isnan(b) ? b : a;
}

/// Which of the two is the larger one may depend on the errors.
Rounded tp::takeLarger(uint64_t orderKey, Rounded a, Rounded b) {
  bool isFinite = std::isfinite(a.value) && std::isfinite(b.value);
  double value = takeLarger(orderKey, a.value, b.value);
  if (!isFinite)
    return {value, value == a.value ? a.error : b.error};
  return {value, std::max(a.error, b.error)};
}

Field tp::takeLarger(uint64_t orderKey, Field a, Field b) {
  RandomOrder order(orderKey);
  return order.placeOf(a) < order.placeOf(b) ? b : a;
}

template <> double tp::getLowest(uint64_t) {
  return -std::numeric_limits<double>::infinity();
}

template <> Rounded tp::getLowest(uint64_t) {
  return Rounded(getLowest<double>(0));
}

template <> Field tp::getLowest(uint64_t orderKey) {
  return RandomOrder(orderKey).at(0);
}

double tp::exponentiate(uint64_t, MutableArrayRef<double> scores) {
  double largest = getLowest<double>(0), total = 0;
  for (double score : scores)
    largest = takeLarger(0, largest, score);
  for (double &score : scores)
    total += score = std::exp(score - largest);
  return total;
}

const RealFunction tp::exponential = {[](double x) { return std::exp(x); },
                                      [](double x) { return std::exp(x); }};

Rounded tp::exponentiate(uint64_t, MutableArrayRef<Rounded> scores) {
  Rounded largest = getLowest<Rounded>(0), total;
  for (Rounded score : scores)
    if (largest.value < score.value || std::isnan(score.value))
      largest = score;
  for (Rounded &score : scores) {
    // The maximum cancels: its own error is none of the result.
    score =
        exponential(Rounded::round(score.value - largest.value, score.error));
    total += score;
  }
  return total;
}

Field tp::exponentiate(uint64_t expKey, MutableArrayRef<Field> scores) {
  Field total;
  for (Field &score : scores)
    total += score = Field::reduce(hashWord(expKey, score.residue()));
  return total;
}

template <class S> const KernelTable<S> &tp::getKernels() {
  static const KernelTable<S> kernels = [] {
    KernelTable<S> table;
    addAttentionKernels(table);
    addCollectiveKernels(table);
    addElementwiseKernels(table);
    addMatmulKernels(table);
    addNormKernels(table);
    addReductionKernels(table);
    addShapeKernels(table);
    addVocabularyKernels(table);
    return table;
  }();
  return kernels;
}

template const KernelTable<double> &tp::getKernels<double>();
template const KernelTable<Rounded> &tp::getKernels<Rounded>();
template const KernelTable<Field> &tp::getKernels<Field>();

bool tp::hasReferenceKernel(StringRef name) {
  return getKernels<double>().contains(name);
}
