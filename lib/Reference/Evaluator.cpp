// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Walks a function, all ranks in lockstep. Knows calls and returns; the
/// kernels know the rest.

#include "Reference/Kernel.h"

#include "tp/IR/TP.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include <limits>

using namespace mlir;
using namespace tp;

/// Elements of the largest tensor that is evaluated: 4 GiB of scalars.
static constexpr int64_t maxElements = int64_t(1) << 29;

namespace {

/// One value on every rank.
template <class S> using RankValues = std::vector<TensorOf<S>>;

template <class S> class Walker {
public:
  explicit Walker(Session &session) : session(session) {}

  llvm::Expected<std::vector<RankValues<S>>>
  run(func::FuncOp function, std::vector<RankValues<S>> arguments);

private:
  /// The values of one function's body, kept while something still reads them.
  struct Frame {
    llvm::DenseMap<Value, RankValues<S>> values;
    llvm::DenseMap<Value, int64_t> remainingUses;
  };

  llvm::Error checkFunction(func::FuncOp function) const;
  llvm::Error step(Operation *op, Frame &frame);
  llvm::Error callFunction(func::CallOp op, Frame &frame);
  llvm::Error runKernel(Operation *op, const Kernel<S> &kernel, Frame &frame);
  llvm::Error runGroup(Operation *op, const Kernel<S> &kernel, Frame &frame,
                       std::vector<RankValues<S>> &results);
  llvm::Error runRank(Operation *op, const Kernel<S> &kernel, int64_t rank,
                      Frame &frame, std::vector<RankValues<S>> &results);
  void define(Frame &frame, Value value, RankValues<S> content) {
    if (int64_t uses = llvm::range_size(value.getUses())) {
      frame.remainingUses[value] = uses;
      frame.values[value] = std::move(content);
    }
  }
  void release(Operation *op, Frame &frame) {
    for (Value operand : op->getOperands())
      if (--frame.remainingUses[operand] == 0)
        frame.values.erase(operand);
  }

  Session &session;
  SmallVector<func::FuncOp> active;
};

} // namespace

/// A result before its kernel has run.
template <class S>
static llvm::Expected<TensorOf<S>> makeZeros(Operation *op, Type type) {
  TensorOf<S> tensor;
  tensor.degree = {0, 0};
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked && !type.isIndex())
    return makeError(op, "neither a tensor nor an index");
  if (!ranked) {
    tensor.isInteger = true;
    tensor.integers.push_back(0);
    return tensor;
  }
  tensor.shape.assign(ranked.getShape().begin(), ranked.getShape().end());
  tensor.isInteger = isa<IntegerType>(ranked.getElementType());
  std::optional<int64_t> size =
      ranked.hasStaticShape() ? numElements(ranked.getShape()) : std::nullopt;
  if (!size || *size > maxElements)
    return makeError(op, "a tensor of more than " + Twine(maxElements) +
                             " elements is too large for the reference "
                             "evaluator; evaluate a smaller instance");
  if (tensor.isInteger)
    tensor.integers.resize(*size);
  else
    tensor.values.resize(*size);
  return tensor;
}

template <class S>
llvm::Error Walker<S>::checkFunction(func::FuncOp function) const {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return makeError(function, "@" + function.getName() +
                                   " has no body of one block to evaluate");
  if (llvm::is_contained(active, function))
    return makeError(function, "@" + function.getName() + " calls itself");
  if (function->hasAttr(localAttrName) != session.isLocal)
    return makeError(function,
                     "@" + function.getName() +
                         (session.isLocal
                              ? " is not marked tp.local: evaluate it as the "
                                "unsharded program"
                              : " is marked tp.local: evaluate it on all "
                                "ranks"));
  return llvm::Error::success();
}

template <class S>
llvm::Expected<std::vector<RankValues<S>>>
Walker<S>::run(func::FuncOp function, std::vector<RankValues<S>> arguments) {
  if (llvm::Error error = checkFunction(function))
    return error;
  active.push_back(function);
  Frame frame;
  for (auto [argument, content] :
       llvm::zip_equal(function.getArguments(), arguments))
    define(frame, argument, std::move(content));
  for (Operation &op : function.front().without_terminator()) {
    if (llvm::Error error = step(&op, frame))
      return error;
    release(&op, frame);
  }
  std::vector<RankValues<S>> results;
  for (Value value : function.front().getTerminator()->getOperands())
    results.push_back(frame.values[value]);
  active.pop_back();
  return results;
}

template <class S> llvm::Error Walker<S>::step(Operation *op, Frame &frame) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return callFunction(call, frame);
  const KernelTable<S> &kernels = getKernels<S>();
  auto found = kernels.find(op->getName().getStringRef());
  if (found == kernels.end())
    return makeError(op, "has no reference kernel");
  Phase phase = found->second.phase;
  if (phase == (session.isLocal ? Phase::Global : Phase::Local))
    return makeError(op, session.isLocal
                             ? "does not belong in a tp.local function"
                             : "belongs in a tp.local function");
  return runKernel(op, found->second, frame);
}

template <class S>
llvm::Error Walker<S>::callFunction(func::CallOp op, Frame &frame) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  if (!callee)
    return makeError(op, "calls @" + op.getCallee() + ", which is not there");
  std::vector<RankValues<S>> arguments;
  for (Value operand : op.getOperands())
    arguments.push_back(frame.values[operand]);
  auto results = run(callee, std::move(arguments));
  if (!results)
    return results.takeError();
  for (auto [value, content] : llvm::zip_equal(op.getResults(), *results))
    define(frame, value, std::move(content));
  return llvm::Error::success();
}

template <class S>
llvm::Error Walker<S>::runKernel(Operation *op, const Kernel<S> &kernel,
                                 Frame &frame) {
  std::vector<RankValues<S>> results(op->getNumResults());
  for (auto [value, content] : llvm::zip_equal(op->getResults(), results)) {
    llvm::Expected<TensorOf<S>> zeros = makeZeros<S>(op, value.getType());
    if (!zeros)
      return zeros.takeError();
    content.assign(session.numRanks, *zeros);
  }
  if (kernel.onAll) {
    if (llvm::Error error = runGroup(op, kernel, frame, results))
      return error;
  } else {
    for (int64_t rank = 0; rank < session.numRanks; ++rank)
      if (llvm::Error error = runRank(op, kernel, rank, frame, results))
        return error;
  }
  for (auto [value, content] : llvm::zip_equal(op->getResults(), results))
    define(frame, value, std::move(content));
  return llvm::Error::success();
}

template <class S>
llvm::Error Walker<S>::runGroup(Operation *op, const Kernel<S> &kernel,
                                Frame &frame,
                                std::vector<RankValues<S>> &results) {
  SmallVector<const TensorOf<S> *> operands;
  for (const TensorOf<S> &operand : frame.values[op->getOperand(0)])
    operands.push_back(&operand);
  GroupCall<S> call{op, session, operands, results.front()};
  return kernel.onAll(call);
}

template <class S>
llvm::Error Walker<S>::runRank(Operation *op, const Kernel<S> &kernel,
                               int64_t rank, Frame &frame,
                               std::vector<RankValues<S>> &results) {
  SmallVector<const TensorOf<S> *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(&frame.values[operand][rank]);
  std::vector<TensorOf<S>> ofRank;
  for (RankValues<S> &content : results)
    ofRank.push_back(std::move(content[rank]));
  RankCall<S> call{op, session, rank, operands, ofRank};
  if (llvm::Error error = kernel.onRank(call))
    return error;
  for (auto [content, result] : llvm::zip_equal(results, ofRank))
    content[rank] = std::move(result);
  return llvm::Error::success();
}

//===- Entry --------------------------------------------------------------===//

static std::string toString(ArrayRef<int64_t> shape) {
  return "[" +
         llvm::join(
             llvm::map_range(shape,
                             [](int64_t size) { return std::to_string(size); }),
             ", ") +
         "]";
}

/// Whether the arguments of one rank have the types of `function`.
template <class S>
static llvm::Error checkArguments(func::FuncOp function,
                                  ArrayRef<TensorOf<S>> arguments) {
  if (arguments.size() != function.getNumArguments())
    return makeError(function, "takes " + Twine(function.getNumArguments()) +
                                   " arguments, not " +
                                   Twine(arguments.size()));
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    llvm::Expected<TensorOf<S>> wanted =
        makeZeros<S>(function, function.getArgumentTypes()[index]);
    if (!wanted)
      return wanted.takeError();
    if (argument.shape != wanted->shape ||
        argument.isInteger != wanted->isInteger ||
        argument.values.size() != wanted->values.size() ||
        argument.integers.size() != wanted->integers.size())
      return makeError(
          function, "argument " + Twine(index) + " of shape " +
                        toString(argument.shape) + " with " +
                        Twine(argument.size()) +
                        (argument.isInteger ? " integers" : " scalars") +
                        " does not fit; shape " + toString(wanted->shape) +
                        (wanted->isInteger ? " of integers" : " of scalars") +
                        " is wanted");
  }
  return llvm::Error::success();
}

/// Runs, and adds what the run did to the caller's counts.
template <class S>
static llvm::Expected<std::vector<RankValues<S>>>
runEntry(func::FuncOp entry, Session session,
         std::vector<RankValues<S>> arguments, const EvaluateOptions &options) {
  auto results = Walker<S>(session).run(entry, std::move(arguments));
  if (!results || !options.counts)
    return results;
  for (const RankValues<S> &value : *results)
    for (const TensorOf<S> &tensor : value)
      session.noteDegree(tensor.degree);
  EvaluationCounts &counts = *options.counts;
  counts.hashes += session.counts.hashes;
  counts.divisions += session.counts.divisions;
  counts.degree = degreeOfSum(counts.degree, session.counts.degree);
  counts.clearing += session.counts.clearing;
  return results;
}

template <class S>
llvm::Expected<std::vector<TensorOf<S>>>
tp::evaluate(func::FuncOp entry, ArrayRef<TensorOf<S>> arguments,
             EvaluateOptions options) {
  if (llvm::Error error = checkArguments(entry, arguments))
    return error;
  std::vector<RankValues<S>> values;
  for (const TensorOf<S> &argument : arguments)
    values.push_back({argument});
  Session session{options.key, 1, false, {}};
  auto results = runEntry<S>(entry, session, std::move(values), options);
  if (!results)
    return results.takeError();
  std::vector<TensorOf<S>> tensors;
  for (RankValues<S> &value : *results)
    tensors.push_back(std::move(value.front()));
  return tensors;
}

template <class S>
llvm::Expected<std::vector<std::vector<TensorOf<S>>>>
tp::evaluateRanks(func::FuncOp localEntry, int64_t numRanks,
                  ArrayRef<std::vector<TensorOf<S>>> arguments,
                  EvaluateOptions options) {
  if (numRanks < 1 || numRanks > maxTableRanks ||
      numRanks != static_cast<int64_t>(arguments.size()))
    return makeError(localEntry, "arguments for " + Twine(arguments.size()) +
                                     " ranks given, " + Twine(numRanks) +
                                     " ranks asked for (1 to " +
                                     Twine(maxTableRanks) + ")");
  std::vector<RankValues<S>> values(localEntry.getNumArguments());
  for (const std::vector<TensorOf<S>> &ofRank : arguments) {
    if (llvm::Error error = checkArguments<S>(localEntry, ofRank))
      return error;
    for (auto [value, argument] : llvm::zip_equal(values, ofRank))
      value.push_back(argument);
  }
  Session session{options.key, numRanks, true, {}};
  auto results = runEntry<S>(localEntry, session, std::move(values), options);
  if (!results)
    return results.takeError();
  std::vector<std::vector<TensorOf<S>>> rows(numRanks);
  for (RankValues<S> &value : *results)
    for (auto [row, tensor] : llvm::zip_equal(rows, value))
      row.push_back(std::move(tensor));
  return rows;
}

template llvm::Expected<std::vector<TensorOf<double>>>
    tp::evaluate(func::FuncOp, ArrayRef<TensorOf<double>>, EvaluateOptions);
template llvm::Expected<std::vector<TensorOf<Field>>>
    tp::evaluate(func::FuncOp, ArrayRef<TensorOf<Field>>, EvaluateOptions);
template llvm::Expected<std::vector<std::vector<TensorOf<double>>>>
tp::evaluateRanks(func::FuncOp, int64_t,
                  ArrayRef<std::vector<TensorOf<double>>>, EvaluateOptions);
template llvm::Expected<std::vector<std::vector<TensorOf<Field>>>>
tp::evaluateRanks(func::FuncOp, int64_t, ArrayRef<std::vector<TensorOf<Field>>>,
                  EvaluateOptions);

//===- Cost and bound -----------------------------------------------------===//

static double countMultiplyAdds(func::FuncOp function,
                                SmallVectorImpl<func::FuncOp> &active) {
  if (llvm::is_contained(active, function))
    return std::numeric_limits<double>::infinity();
  active.push_back(function);
  double total = 0;
  function.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          op, call.getCalleeAttr());
      total += callee ? countMultiplyAdds(callee, active) : 0;
    }
    auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
    if (!ruled)
      return;
    ShardingRule rule = ruled.getShardingRule();
    double work = rule.flopsPerPoint / 2;
    for (unsigned factor : rule.workFactors)
      work *= rule.factors[factor].size;
    total += work;
  });
  active.pop_back();
  return total;
}

double tp::countMultiplyAdds(func::FuncOp function) {
  SmallVector<func::FuncOp> active;
  return ::countMultiplyAdds(function, active);
}

double tp::falseAcceptBound(const EvaluationCounts &first,
                            const EvaluationCounts &second) {
  double hashes = first.hashes + second.hashes;
  double divisions = first.divisions + second.divisions;
  Degree highest = degreeOfSum(first.degree, second.degree);
  double degree = highest.polynomial +
                  highest.inverses * (first.clearing + second.clearing);
  double events = hashes * (hashes - 1) / 2 + divisions + 1;
  if (hashes < 1)
    events = divisions + 1;
  return std::min(1.0, events * std::max(degree, 1.0) /
                           static_cast<double>(Field::prime));
}
