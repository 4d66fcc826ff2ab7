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
/// Most ranks that are evaluated.
static constexpr int64_t maxEvaluatedRanks = int64_t(1) << 16;

namespace {

/// One value on every rank.
template <class S> using RankValues = std::vector<TensorOf<S>>;

/// One operation of a program: the operation of each of its functions.
struct Step {
  const RankFunctions &functions;
  SmallVector<Operation *> ops;

  Operation *any() const { return ops.front(); }
  Operation *of(int64_t rank) const { return ops[functions.indexOf(rank)]; }
};

template <class S> class Walker {
public:
  explicit Walker(Session &session) : session(session) {}

  llvm::Expected<std::vector<RankValues<S>>>
  run(const RankFunctions &functions, std::vector<RankValues<S>> arguments);

private:
  /// The values of the functions' bodies, kept while something still reads
  /// them. A value is there for the ranks that run its function.
  struct Frame {
    llvm::DenseMap<Value, RankValues<S>> values;
    llvm::DenseMap<Value, int64_t> remainingUses;
  };

  llvm::Error checkFunction(func::FuncOp function) const;
  llvm::Error checkStep(const Step &step) const;
  llvm::Error take(const Step &step, Frame &frame);
  llvm::Error callFunction(const Step &step, Frame &frame);
  llvm::Error runKernel(const Step &step, const Kernel<S> &kernel,
                        Frame &frame);
  llvm::Error runGroup(const Step &step, const Kernel<S> &kernel, Frame &frame,
                       std::vector<RankValues<S>> &results);
  llvm::Error runRank(Operation *op, const Kernel<S> &kernel, int64_t rank,
                      Frame &frame, std::vector<RankValues<S>> &results);

  /// Operand `number` of a step on every rank.
  RankValues<S> operand(const Step &step, unsigned number, Frame &frame) {
    RankValues<S> values;
    for (int64_t rank = 0; rank < session.numRanks; ++rank)
      values.push_back(frame.values[step.of(rank)->getOperand(number)][rank]);
    return values;
  }
  /// Value number i of each function gets the content of the ranks that run it.
  void define(const RankFunctions &functions, ArrayRef<Value> values,
              RankValues<S> content, Frame &frame) {
    for (auto [index, value] : llvm::enumerate(values)) {
      int64_t uses = llvm::range_size(value.getUses());
      if (uses == 0)
        continue;
      frame.remainingUses[value] = uses;
      RankValues<S> &own = frame.values[value];
      own.resize(session.numRanks);
      for (int64_t rank = 0; rank < session.numRanks; ++rank)
        if (functions.indexOf(rank) == index)
          own[rank] = std::move(content[rank]);
    }
  }
  void defineResult(const Step &step, unsigned number, RankValues<S> content,
                    Frame &frame) {
    SmallVector<Value> values =
        llvm::map_to_vector(step.ops, [&](Operation *op) -> Value {
          return op->getResult(number);
        });
    define(step.functions, values, std::move(content), frame);
  }
  void release(const Step &step, Frame &frame) {
    for (Operation *op : step.ops)
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

/// The functions of a program are one program: the same operations in the same
/// order, the collectives with the same tables.
template <class S> llvm::Error Walker<S>::checkStep(const Step &step) const {
  Operation *first = step.any();
  bool communicates = hasEffect<MemoryEffects::Write>(first);
  for (Operation *op : ArrayRef(step.ops).drop_front()) {
    if (op->getName() != first->getName() ||
        op->getNumOperands() != first->getNumOperands())
      return makeError(op, "stands where other ranks run " +
                               first->getName().getStringRef() +
                               "; the functions of all ranks must be the same "
                               "but for shapes");
    if (communicates && op->getAttrDictionary() != first->getAttrDictionary())
      return makeError(op, "differs from the collective of other ranks in its "
                           "groups, pieces or kind");
  }
  return llvm::Error::success();
}

template <class S>
llvm::Expected<std::vector<RankValues<S>>>
Walker<S>::run(const RankFunctions &functions,
               std::vector<RankValues<S>> arguments) {
  for (func::FuncOp function : functions.functions)
    if (llvm::Error error = checkFunction(function))
      return error;
  size_t depth = active.size();
  llvm::append_range(active, functions.functions);
  Frame frame;
  for (auto [number, content] : llvm::enumerate(arguments))
    define(
        functions,
        llvm::map_to_vector(functions.functions,
                            [number = number](func::FuncOp function) -> Value {
                              return function.getArgument(number);
                            }),
        std::move(content), frame);
  Step step{functions, {}};
  for (func::FuncOp function : functions.functions)
    step.ops.push_back(&function.front().front());
  for (;; llvm::for_each(step.ops,
                         [](Operation *&op) { op = op->getNextNode(); })) {
    if (llvm::Error error = checkStep(step))
      return error;
    if (step.any()->hasTrait<OpTrait::IsTerminator>())
      break;
    if (llvm::Error error = take(step, frame))
      return error;
    release(step, frame);
  }
  std::vector<RankValues<S>> results;
  for (unsigned number = 0; number < step.any()->getNumOperands(); ++number)
    results.push_back(operand(step, number, frame));
  active.truncate(depth);
  return results;
}

template <class S> llvm::Error Walker<S>::take(const Step &step, Frame &frame) {
  Operation *op = step.any();
  if (isa<func::CallOp>(op))
    return callFunction(step, frame);
  const KernelTable<S> &kernels = getKernels<S>();
  auto found = kernels.find(op->getName().getStringRef());
  if (found == kernels.end())
    return makeError(op, "has no reference kernel");
  Phase phase = found->second.phase;
  if (phase == (session.isLocal ? Phase::Global : Phase::Local))
    return makeError(op, session.isLocal
                             ? "does not belong in a tp.local function"
                             : "belongs in a tp.local function");
  return runKernel(step, found->second, frame);
}

template <class S>
llvm::Error Walker<S>::callFunction(const Step &step, Frame &frame) {
  // Functions may call the same one.
  RankFunctions callees;
  SmallVector<unsigned> calleeOf;
  for (Operation *op : step.ops) {
    auto call = cast<func::CallOp>(op);
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, call.getCalleeAttr());
    if (!callee)
      return makeError(op,
                       "calls @" + call.getCallee() + ", which is not there");
    auto known = llvm::find(callees.functions, callee);
    calleeOf.push_back(known - callees.functions.begin());
    if (known == callees.functions.end())
      callees.functions.push_back(callee);
  }
  callees.name = callees.functions.front().getSymName();
  for (int64_t rank = 0; rank < session.numRanks; ++rank)
    callees.ofRank.push_back(calleeOf[step.functions.indexOf(rank)]);
  std::vector<RankValues<S>> arguments;
  for (unsigned number = 0; number < step.any()->getNumOperands(); ++number)
    arguments.push_back(operand(step, number, frame));
  auto results = run(callees, std::move(arguments));
  if (!results)
    return results.takeError();
  for (auto [number, content] : llvm::enumerate(*results))
    defineResult(step, number, std::move(content), frame);
  return llvm::Error::success();
}

template <class S>
llvm::Error Walker<S>::runKernel(const Step &step, const Kernel<S> &kernel,
                                 Frame &frame) {
  std::vector<RankValues<S>> results(step.any()->getNumResults());
  for (auto [number, content] : llvm::enumerate(results))
    for (int64_t rank = 0; rank < session.numRanks; ++rank) {
      Operation *op = step.of(rank);
      llvm::Expected<TensorOf<S>> zeros =
          makeZeros<S>(op, op->getResult(number).getType());
      if (!zeros)
        return zeros.takeError();
      content.push_back(std::move(*zeros));
    }
  if (kernel.onAll) {
    if (llvm::Error error = runGroup(step, kernel, frame, results))
      return error;
  } else {
    for (int64_t rank = 0; rank < session.numRanks; ++rank)
      if (llvm::Error error =
              runRank(step.of(rank), kernel, rank, frame, results))
        return error;
  }
  for (auto [number, content] : llvm::enumerate(results))
    defineResult(step, number, std::move(content), frame);
  return llvm::Error::success();
}

template <class S>
llvm::Error Walker<S>::runGroup(const Step &step, const Kernel<S> &kernel,
                                Frame &frame,
                                std::vector<RankValues<S>> &results) {
  SmallVector<const TensorOf<S> *> operands;
  for (int64_t rank = 0; rank < session.numRanks; ++rank)
    operands.push_back(&frame.values[step.of(rank)->getOperand(0)][rank]);
  GroupCall<S> call{step.any(), session, operands, results.front()};
  if (llvm::Error error = kernel.onAll(call))
    return error;
  for (int64_t rank = 0; rank < session.numRanks; ++rank) {
    Operation *op = step.of(rank);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (type.getShape() != ArrayRef(results.front()[rank].shape))
      return makeError(op, "gives rank " + Twine(rank) +
                               " another shape than its result has");
  }
  return llvm::Error::success();
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
runEntry(const RankFunctions &entry, Session session,
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
  RankFunctions only{entry.getSymName().str(), {entry}, {}};
  auto results = runEntry<S>(only, session, std::move(values), options);
  if (!results)
    return results.takeError();
  std::vector<TensorOf<S>> tensors;
  for (RankValues<S> &value : *results)
    tensors.push_back(std::move(value.front()));
  return tensors;
}

template <class S>
llvm::Expected<std::vector<std::vector<TensorOf<S>>>>
tp::evaluateRanks(const RankFunctions &entry, int64_t numRanks,
                  ArrayRef<std::vector<TensorOf<S>>> arguments,
                  EvaluateOptions options) {
  func::FuncOp first = entry.functions.front();
  if (numRanks < 1 || numRanks > maxEvaluatedRanks ||
      numRanks != static_cast<int64_t>(arguments.size()))
    return makeError(first, "arguments for " + Twine(arguments.size()) +
                                " ranks given, " + Twine(numRanks) +
                                " ranks asked for (1 to " +
                                Twine(maxEvaluatedRanks) + ")");
  if (!entry.ofRank.empty() &&
      static_cast<int64_t>(entry.ofRank.size()) != numRanks)
    return makeError(first, "is of a table of " + Twine(entry.ofRank.size()) +
                                " ranks, " + Twine(numRanks) +
                                " ranks asked for");
  std::vector<RankValues<S>> values(first.getNumArguments());
  for (auto [rank, ofRank] : llvm::enumerate(arguments)) {
    if (llvm::Error error = checkArguments<S>(entry.of(rank), ofRank))
      return error;
    for (auto [value, argument] : llvm::zip_equal(values, ofRank))
      value.push_back(argument);
  }
  Session session{options.key, numRanks, true, {}};
  auto results = runEntry<S>(entry, session, std::move(values), options);
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
template llvm::Expected<std::vector<TensorOf<Rounded>>>
    tp::evaluate(func::FuncOp, ArrayRef<TensorOf<Rounded>>, EvaluateOptions);
template llvm::Expected<std::vector<TensorOf<Field>>>
    tp::evaluate(func::FuncOp, ArrayRef<TensorOf<Field>>, EvaluateOptions);
template llvm::Expected<std::vector<std::vector<TensorOf<double>>>>
tp::evaluateRanks(const RankFunctions &, int64_t,
                  ArrayRef<std::vector<TensorOf<double>>>, EvaluateOptions);
template llvm::Expected<std::vector<std::vector<TensorOf<Field>>>>
tp::evaluateRanks(const RankFunctions &, int64_t,
                  ArrayRef<std::vector<TensorOf<Field>>>, EvaluateOptions);

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
    SmallVector<int64_t> sizes;
    for (const Factor &factor : ruled.getShardingRule().factors)
      sizes.push_back(factor.size);
    total += cast<WorkOpInterface>(op).getWork().countFlops(sizes) / 2;
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
