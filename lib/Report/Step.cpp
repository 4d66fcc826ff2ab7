// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Step.h"
#include "tp/Cost/CostModel.h"
#include "tp/IR/LocalShape.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tp;

const StepCall *Step::getShownCall() const {
  return calls.empty() ? nullptr : &calls[calls.size() > 1 ? 1 : 0];
}

bool Step::isParameter(unsigned value) const {
  std::optional<unsigned> argument = getStorage(value).argument;
  return argument && getEntry().getArgAttr(*argument, parameterAttrName);
}

static uint64_t countShardBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  return llvm::SaturatingMultiply<uint64_t>(
      countLargestShard(type.getShape(), getCheckedLayout(value)),
      getElementBytes(type.getElementType()));
}

namespace {

class Follower {
public:
  explicit Follower(func::FuncOp entry) { step.entry = entry; }

  Step run();

private:
  /// A function under way.
  struct Frame {
    func::FuncOp function;
    Block::iterator next;
    llvm::DenseMap<Value, unsigned> numbers;
    /// The call that it runs for; null for the entry.
    func::CallOp caller;
  };

  unsigned addValue(Value value);
  void addEvent(Operation &op);
  /// Where the results of `op`, which only moves data, lie.
  void place(Operation &op, StepEvent &event);
  void enter(func::CallOp call);
  void leave(Operation &end);
  void push(func::FuncOp function, func::CallOp caller);

  SymbolTableCollection symbols;
  std::vector<Frame> frames;
  std::optional<unsigned> call;
  /// By value of the program: bytes of the shard.
  llvm::DenseMap<Value, uint64_t> sizes;
  Step step;
};

} // namespace

unsigned Follower::addValue(Value value) {
  auto [it, isNew] = sizes.try_emplace(value, 0);
  if (isNew)
    it->second = countShardBytes(value);
  unsigned number = step.values.size();
  step.values.push_back({it->second, number, {}, {}});
  return number;
}

void Follower::place(Operation &op, StepEvent &event) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(&op);
  if (!ruled || event.operands.empty() || event.results.size() != 1)
    return;
  if (!isMove(ruled))
    return;
  StepValue &result = step.values[event.results[0]];
  const StepValue &storage = step.getStorage(event.operands[0]);
  if (event.operands.size() == 1) {
    // Not a broadcast.
    if (sizes.lookup(op.getOperand(0)) < result.bytes)
      return;
    result.storage = step.values[event.operands[0]].storage;
    result.bytes = 0;
    return;
  }
  // An input that grows in place, as the cost model has it: a KV cache.
  if (storage.argument)
    result.bytes -= std::min(result.bytes, sizes.lookup(op.getOperand(0)));
}

void Follower::addEvent(Operation &op) {
  StepEvent event;
  event.op = &op;
  event.call = call;
  auto &numbers = frames.back().numbers;
  for (Value operand : op.getOperands())
    event.operands.push_back(numbers.lookup(operand));
  for (Value result : op.getResults()) {
    unsigned number = addValue(result);
    step.values[number].event = step.events.size();
    numbers[result] = number;
    event.results.push_back(number);
  }
  place(op, event);
  step.events.push_back(std::move(event));
}

void Follower::push(func::FuncOp function, func::CallOp caller) {
  Frame &frame = frames.emplace_back();
  frame.function = function;
  frame.next = function.getBody().front().begin();
  frame.caller = caller;
}

void Follower::enter(func::CallOp op) {
  SmallVector<unsigned> operands;
  for (Value operand : op.getOperands())
    operands.push_back(frames.back().numbers.lookup(operand));
  if (!call) {
    call = step.calls.size();
    unsigned begin = step.events.size();
    step.calls.push_back({op, operands, begin, begin});
  }
  auto callee =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  push(callee, op);
  for (auto [argument, number] :
       llvm::zip_equal(callee.getArguments(), operands))
    frames.back().numbers[argument] = number;
}

void Follower::leave(Operation &end) {
  SmallVector<unsigned> returned;
  for (Value operand : end.getOperands())
    returned.push_back(frames.back().numbers.lookup(operand));
  func::CallOp caller = frames.back().caller;
  frames.pop_back();
  if (frames.empty()) {
    step.results = returned;
    return;
  }
  for (auto [result, number] : llvm::zip_equal(caller.getResults(), returned))
    frames.back().numbers[result] = number;
  if (frames.size() > 1)
    return;
  step.calls[*call].end = step.events.size();
  call.reset();
}

Step Follower::run() {
  push(step.entry, nullptr);
  for (BlockArgument argument : step.entry.getArguments()) {
    unsigned number = addValue(argument);
    step.values[number].argument = argument.getArgNumber();
    frames.back().numbers[argument] = number;
  }
  while (!frames.empty()) {
    Operation &op = *frames.back().next++;
    if (auto callOp = dyn_cast<func::CallOp>(op))
      enter(callOp);
    else if (op.hasTrait<OpTrait::IsTerminator>())
      leave(op);
    else
      addEvent(op);
  }
  return std::move(step);
}

Step tp::followStep(func::FuncOp entry) { return Follower(entry).run(); }
