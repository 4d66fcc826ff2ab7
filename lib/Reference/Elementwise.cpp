// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference/Kernel.h"
#include "Reference/Order.h"

#include "tp/IR/ElementTypes.h"
#include "tp/IR/TP.h"
#include <cmath>

using namespace mlir;
using namespace tp;

//===- Arithmetic ---------------------------------------------------------===//

namespace {

// Of scalars, and of integers mod 2^64.
struct Sum {
  template <class S> static S compute(S a, S b) { return a + b; }
  static Degree degree(Degree a, Degree b) { return degreeOfSum(a, b); }
};

struct Difference {
  template <class S> static S compute(S a, S b) { return a - b; }
  static Degree degree(Degree a, Degree b) { return degreeOfSum(a, b); }
};

struct Product {
  template <class S> static S compute(S a, S b) { return a * b; }
  static Degree degree(Degree a, Degree b) { return degreeOfProduct(a, b); }
};

} // namespace

/// An operand of lower rank is aligned with the last dimensions, so its
/// elements repeat.
template <class S, class Operator>
static llvm::Error evaluateBinary(RankCall<S> &call) {
  const TensorOf<S> &lhs = call.operand(0), &rhs = call.operand(1);
  TensorOf<S> &result = call.result();
  result.degree = Operator::degree(lhs.degree, rhs.degree);
  if (!result.isInteger) {
    for (int64_t i = 0; i < result.size(); ++i)
      result.values[i] = Operator::compute(lhs.values[i % lhs.size()],
                                           rhs.values[i % rhs.size()]);
    return llvm::Error::success();
  }
  Type type = getElementTypeOrSelf(call.op->getResult(0).getType());
  for (int64_t i = 0; i < result.size(); ++i) {
    uint64_t a = lhs.integers[i % lhs.size()], b = rhs.integers[i % rhs.size()];
    result.integers[i] = wrapAround(type, Operator::compute(a, b));
  }
  return llvm::Error::success();
}

template <class S> static llvm::Error evaluateMaximum(RankCall<S> &call) {
  const TensorOf<S> &lhs = call.operand(0), &rhs = call.operand(1);
  TensorOf<S> &result = call.result();
  uint64_t key = getOrderKey(call.session.key);
  for (int64_t i = 0; i < result.size(); ++i)
    if (result.isInteger)
      result.integers[i] =
          std::max(lhs.integers[i % lhs.size()], rhs.integers[i % rhs.size()]);
    else
      result.values[i] = takeLarger(key, lhs.values[i % lhs.size()],
                                    rhs.values[i % rhs.size()]);
  result.degree = degreeOfSum(lhs.degree, rhs.degree);
  call.session.noteHashes(2.0 * result.size(), result.degree);
  return llvm::Error::success();
}

/// A quotient of floats; in the field a product with the inverse.
template <class S> static llvm::Error evaluateDiv(RankCall<S> &call) {
  const TensorOf<S> &lhs = call.operand(0), &rhs = call.operand(1);
  TensorOf<S> &result = call.result();
  for (int64_t i = 0; i < result.size(); ++i) {
    S numerator = lhs.values[i % lhs.size()];
    S denominator = rhs.values[i % rhs.size()];
    if constexpr (isField<S>) {
      llvm::Expected<S> inverse = invert(call.op, denominator);
      if (!inverse)
        return inverse.takeError();
      result.values[i] = numerator * *inverse;
    } else {
      result.values[i] = numerator / denominator;
    }
  }
  Degree inverse = call.session.noteDivisions(rhs.size(), rhs.degree);
  result.degree = degreeOfProduct(lhs.degree, inverse);
  return llvm::Error::success();
}

static bool holds(Comparison relation, int64_t a, int64_t b) {
  switch (relation) {
  case Comparison::eq:
    return a == b;
  case Comparison::ne:
    return a != b;
  case Comparison::lt:
    return a < b;
  case Comparison::le:
    return a <= b;
  case Comparison::gt:
    return a > b;
  case Comparison::ge:
    return a >= b;
  }
  return false;
}

template <class S> static llvm::Error evaluateCompare(RankCall<S> &call) {
  const TensorOf<S> &lhs = call.operand(0), &rhs = call.operand(1);
  Comparison relation = cast<CompareOp>(call.op).getRelation();
  TensorOf<S> &result = call.result();
  for (int64_t i = 0; i < result.size(); ++i)
    result.integers[i] = holds(relation, lhs.integers[i % lhs.size()],
                               rhs.integers[i % rhs.size()]);
  return llvm::Error::success();
}

//===- Activations --------------------------------------------------------===//

static double logOf(double x) { return std::log(x); }
static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double relu(double x) { return std::max(x, 0.0); }
static double silu(double x) { return x / (1 + std::exp(-x)); }
static double tanhOf(double x) { return std::tanh(x); }
static double gelu(double x) {
  return x / 2 * (1 + std::erf(x / std::sqrt(2)));
}
static double geluTanh(double x) {
  double cubic = x + 0.044715 * x * x * x;
  return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * cubic));
}

static double ofSigmoid(double x) { return sigmoid(x) * sigmoid(-x); }
static double ofRelu(double) { return 1; }
static double ofSilu(double x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }
static double ofTanh(double x) { return 1 - std::tanh(x) * std::tanh(x); }
/// Both formulas have slopes from -0.13 to 1.13.
static double ofGelu(double) { return 1.13; }
/// 1 + erf and 1 + tanh cancel where x is negative.
static double ofWhole(double x) { return x; }
static double ofNothing(double) { return 0; }
static double ofLog(double x) { return 1 / x; }

static const RealFunction logFunction = {logOf, ofLog};
static const RealFunction sigmoidFunction = {sigmoid, ofSigmoid};
static const RealFunction reluFunction = {relu, ofRelu, ofNothing};
static const RealFunction siluFunction = {silu, ofSilu};
static const RealFunction tanhFunction = {tanhOf, ofTanh};
static const RealFunction geluFunction = {gelu, ofGelu, ofWhole};
static const RealFunction geluTanhFunction = {geluTanh, ofGelu, ofWhole};

template <class S>
static void applyToAll(RankCall<S> &call, StringRef name,
                       const RealFunction &real) {
  const TensorOf<S> &input = call.operand(0);
  TensorOf<S> &result = call.result();
  uint64_t key = getFunctionKey(call.session.key, name);
  for (int64_t i = 0; i < result.size(); ++i)
    result.values[i] = applyFunction(key, input.values[i], real);
  result.degree = call.session.noteHashes(result.size(), input.degree);
}

template <class S, const RealFunction &Real>
static llvm::Error evaluateUnary(RankCall<S> &call) {
  applyToAll(call, call.op->getName().getStringRef(), Real);
  return llvm::Error::success();
}

/// The function that attention applies to its scores, too.
template <class S> static llvm::Error evaluateExp(RankCall<S> &call) {
  applyToAll(call, "exp", exponential);
  return llvm::Error::success();
}

template <class S> static llvm::Error evaluateGelu(RankCall<S> &call) {
  if (cast<GeluOp>(call.op).getTanh())
    applyToAll(call, "tp.gelu tanh", geluTanhFunction);
  else
    applyToAll(call, "tp.gelu", geluFunction);
  return llvm::Error::success();
}

//===- Dropout ------------------------------------------------------------===//

/// Word `index mod 4` of Philox4x32-10 (Salmon et al. 2011, section 3.3) with
/// the counter (index / 4, site) and the key `seed`.
static uint32_t getRandomWord(uint64_t seed, uint64_t site, uint64_t index) {
  uint32_t counter[4] = {
      static_cast<uint32_t>(index / 4), static_cast<uint32_t>(index / 4 >> 32),
      static_cast<uint32_t>(site), static_cast<uint32_t>(site >> 32)};
  uint32_t key[2] = {static_cast<uint32_t>(seed),
                     static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * counter[0];
    uint64_t second = uint64_t(0xCD9E8D57) * counter[2];
    uint32_t next[4] = {
        static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0],
        static_cast<uint32_t>(second),
        static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1],
        static_cast<uint32_t>(first)};
    std::copy_n(next, 4, counter);
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter[index % 4];
}

namespace {

/// What dropout multiplies an element by: 0 or 1 / (1 - rate), and in the field
/// a hash of the same arguments, so that no two places are mistaken.
template <class S> struct DropoutFactors {
  double rate;
  uint64_t seed, site, key;

  S at(uint64_t index) const {
    if (rate == 0)
      return fromInteger<S>(1);
    if (rate == 1)
      return fromInteger<S>(0);
    if constexpr (isField<S>)
      return Field::reduce(
          hashWord(hashWord(hashWord(key, seed), site), index));
    else
      return getRandomWord(seed, site, index) <
                     std::llround(std::ldexp(rate, 32))
                 ? S(0)
                 : fromDouble<S>(1 / (1 - rate));
  }
};

} // namespace

template <class S> static llvm::Error evaluateDropout(RankCall<S> &call) {
  auto op = cast<DropoutOp>(call.op);
  const TensorOf<S> &input = call.operand(0);
  TensorOf<S> &result = call.result();
  double rate = op.getRate().convertToDouble();
  DropoutFactors<S> factors{
      rate, static_cast<uint64_t>(call.operand(1).integers.front()),
      op.getSite(), getFunctionKey(call.session.key, "tp.dropout", {rate})};
  SmallVector<int64_t> strides =
      rowMajorStrides(op.getGlobalShape().value_or(input.shape));
  int64_t next = 0;
  walkStrided(input.shape, strides, call.indexOr(2, 0), [&](int64_t index) {
    result.values[next] = input.values[next] * factors.at(index);
    ++next;
  });
  Degree factor = call.session.noteHashes(input.size(), {0, 0});
  result.degree = degreeOfProduct(input.degree, factor);
  return llvm::Error::success();
}

//===- Cast ---------------------------------------------------------------===//

static double roundTo(FloatType type, double value) {
  bool losesInfo = false;
  llvm::APFloat rounded(value);
  rounded.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return rounded.convertToDouble();
}

/// In one step: an integer of 64 bits may have no equal in f64.
static double roundTo(FloatType type, int64_t value) {
  llvm::APFloat rounded(type.getFloatSemantics());
  rounded.convertFromAPInt(
      llvm::APInt(64, static_cast<uint64_t>(value), /*isSigned=*/true),
      /*IsSigned=*/true, llvm::APFloat::rmNearestTiesToEven);
  return rounded.convertToDouble();
}

namespace {

/// A cast to a floating-point type that does not hold every value.
template <class S> struct RoundingCast {
  RoundingCast(uint64_t key, FloatType type)
      : type(type), order(getOrderKey(key)) {
    std::string name = "tp.cast ";
    llvm::raw_string_ostream(name) << type;
    castKey = getFunctionKey(key, name);
  }

  template <class Value> S apply(Value value) const {
    if constexpr (isField<S>)
      return order.castTo(castKey, value);
    else if constexpr (std::is_same_v<Value, Rounded>)
      return {roundTo(type, value.value), value.error + roundingOf(value)};
    else
      return S(roundTo(type, value));
  }

private:
  /// Errors count in roundoffs of f32, the narrowest type that is computed in
  /// where there is such a cast. What is exact is rounded alike by everyone.
  double roundingOf(Rounded value) const {
    int digits = llvm::APFloat::semanticsPrecision(type.getFloatSemantics());
    return value.error == 0 ? 0
                            : std::ldexp(std::fabs(value.value), 24 - digits);
  }

  FloatType type;
  RandomOrder order;
  uint64_t castKey;
};

} // namespace

template <class S>
static void evaluateFloatCast(RankCall<S> &call, FloatType from, FloatType to) {
  const TensorOf<S> &input = call.operand(0);
  TensorOf<S> &result = call.result();
  result.values = input.values;
  result.degree = input.degree;
  if (holdsEveryValue(to, from))
    return;
  RoundingCast<S> rounding(call.session.key, to);
  for (S &value : result.values)
    value = rounding.apply(value);
  // Two elements have one image, so there are twice as many that may meet.
  result.degree = call.session.noteHashes(2.0 * result.size(), input.degree);
}

/// From i1 exact. From a wider type in the field a function that keeps the
/// order, even where it is exact: integers have their own order there.
template <class S>
static void evaluateIntegerCast(RankCall<S> &call, IntegerType from,
                                FloatType to) {
  const TensorOf<S> &input = call.operand(0);
  TensorOf<S> &result = call.result();
  bool isExact =
      from.getWidth() == 1 || (!isField<S> && holdsEveryValue(to, from));
  RoundingCast<S> rounding(call.session.key, to);
  for (int64_t i = 0; i < result.size(); ++i)
    result.values[i] = isExact ? fromInteger<S>(input.integers[i])
                               : rounding.apply(input.integers[i]);
  result.degree = {0, 0};
  if (!isExact)
    result.degree = call.session.noteHashes(result.size(), {0, 0});
}

template <class S> static llvm::Error evaluateCast(RankCall<S> &call) {
  const TensorOf<S> &input = call.operand(0);
  Type from = getElementTypeOrSelf(call.op->getOperand(0).getType());
  Type to = getElementTypeOrSelf(call.op->getResult(0).getType());
  if (auto fromFloat = dyn_cast<FloatType>(from))
    evaluateFloatCast(call, fromFloat, cast<FloatType>(to));
  else if (auto toFloat = dyn_cast<FloatType>(to))
    evaluateIntegerCast(call, cast<IntegerType>(from), toFloat);
  else
    call.result().integers = input.integers;
  return llvm::Error::success();
}

//===- Constant -----------------------------------------------------------===//

static int64_t asInteger(const llvm::APInt &value) {
  return value.getBitWidth() == 1 ? value.getZExtValue() : value.getSExtValue();
}

/// Floats are exact whatever their type: f64 holds f32, f16 and bf16.
static double asDouble(llvm::APFloat value) {
  bool losesInfo = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

template <class S> static llvm::Error evaluateConstant(RankCall<S> &call) {
  Operation *op = call.op;
  ElementsAttr value = cast<ConstantOp>(op).getValue();
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return makeError(call.op, "only dense<..> values can be evaluated");
  TensorOf<S> &result = call.result();
  if (result.isInteger) {
    for (auto [index, element] :
         llvm::enumerate(dense.getValues<llvm::APInt>()))
      result.integers[index] = asInteger(element);
    return llvm::Error::success();
  }
  for (auto [index, element] :
       llvm::enumerate(dense.getValues<llvm::APFloat>())) {
    double real = asDouble(element);
    if (!std::isfinite(real))
      return makeError(call.op, "element " + Twine(index) +
                                    " is infinite or not a number; masks are "
                                    "counts or i1 values");
    result.values[index] = fromDouble<S>(real);
  }
  return llvm::Error::success();
}

template <class S> static llvm::Error evaluateIndexConstant(RankCall<S> &call) {
  auto value =
      dyn_cast<IntegerAttr>(cast<arith::ConstantOp>(call.op).getValue());
  if (!value || !value.getType().isIndex())
    return makeError(call.op, "only index constants can be evaluated");
  call.result().integers = {value.getInt()};
  return llvm::Error::success();
}

template <class S> static llvm::Error evaluateIndexSum(RankCall<S> &call) {
  if (!call.op->getResult(0).getType().isIndex())
    return makeError(call.op, "only index sums can be evaluated");
  int64_t a = call.indexOr(0, 0), b = call.indexOr(1, 0);
  if (__builtin_add_overflow(a, b, &call.result().integers.front()))
    return makeError(call.op,
                     "of " + Twine(a) + " and " + Twine(b) + " overflows");
  return llvm::Error::success();
}

template <class S> static llvm::Error evaluateIndexProduct(RankCall<S> &call) {
  if (!call.op->getResult(0).getType().isIndex())
    return makeError(call.op, "only index products can be evaluated");
  int64_t a = call.indexOr(0, 1), b = call.indexOr(1, 1);
  if (__builtin_mul_overflow(a, b, &call.result().integers.front()))
    return makeError(call.op,
                     "of " + Twine(a) + " and " + Twine(b) + " overflows");
  return llvm::Error::success();
}

template <class S> void tp::addElementwiseKernels(KernelTable<S> &table) {
  table["tp.add"].onRank = evaluateBinary<S, Sum>;
  table["tp.sub"].onRank = evaluateBinary<S, Difference>;
  table["tp.mul"].onRank = evaluateBinary<S, Product>;
  table["tp.div"].onRank = evaluateDiv<S>;
  table["tp.maximum"].onRank = evaluateMaximum<S>;
  table["tp.compare"].onRank = evaluateCompare<S>;
  table["tp.dropout"].onRank = evaluateDropout<S>;
  table["tp.exp"].onRank = evaluateExp<S>;
  table["tp.log"].onRank = evaluateUnary<S, logFunction>;
  table["tp.sigmoid"].onRank = evaluateUnary<S, sigmoidFunction>;
  table["tp.relu"].onRank = evaluateUnary<S, reluFunction>;
  table["tp.silu"].onRank = evaluateUnary<S, siluFunction>;
  table["tp.tanh"].onRank = evaluateUnary<S, tanhFunction>;
  table["tp.gelu"].onRank = evaluateGelu<S>;
  table["tp.cast"].onRank = evaluateCast<S>;
  table["tp.constant"].onRank = evaluateConstant<S>;
  table["arith.constant"].onRank = evaluateIndexConstant<S>;
  table["arith.addi"].onRank = evaluateIndexSum<S>;
  table["arith.muli"].onRank = evaluateIndexProduct<S>;
}

template void tp::addElementwiseKernels(KernelTable<double> &);
template void tp::addElementwiseKernels(KernelTable<Rounded> &);
template void tp::addElementwiseKernels(KernelTable<Field> &);
