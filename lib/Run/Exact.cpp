// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Run/Exact.h"

using namespace mlir;
using namespace tp;

/// Whether two arguments have the same numbers: what they are drawn from is the
/// same.
static bool areAlike(const Port &one, const Port &other) {
  return one.sourceName() == other.sourceName() && one.stored == other.stored &&
         one.occurrence == other.occurrence &&
         one.globalShape == other.globalShape && one.kind == other.kind;
}

llvm::Expected<ExactRun::Tensors>
ExactRun::drawWhole(ArrayRef<Port> ports) const {
  Tensors arguments;
  for (const Port &port : ports) {
    auto argument = inputs.readField(port, key);
    if (!argument)
      return argument.takeError();
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}

llvm::Expected<std::vector<ExactRun::Tensors>>
ExactRun::drawParts(ArrayRef<Port> openPorts, const Tensors &whole) const {
  std::vector<Tensors> parts(signature.numRanks);
  for (const Port &port : signature.arguments) {
    // A block of a fused weight is no argument of the unsharded program.
    auto known = llvm::find_if(
        openPorts, [&](const Port &own) { return areAlike(own, port); });
    Tensors drawn;
    if (known == openPorts.end()) {
      auto block = drawWhole(port);
      if (!block)
        return block.takeError();
      drawn = std::move(*block);
    }
    const TensorOf<Field> &argument = known == openPorts.end()
                                          ? drawn.front()
                                          : whole[known - openPorts.begin()];
    for (int64_t rank = 0; rank < signature.numRanks; ++rank)
      parts[rank].push_back(
          slice<Field>(argument, signature.ranges(port, rank)));
  }
  return parts;
}

/// The first element in which tensors of one shape differ, or -1.
static int64_t findDifference(const TensorOf<Field> &actual,
                              const TensorOf<Field> &expected) {
  if (expected.isInteger)
    for (int64_t at = 0; at < expected.size(); ++at)
      if (actual.integers[at] != expected.integers[at])
        return at;
  if (!expected.isInteger)
    for (int64_t at = 0; at < expected.size(); ++at)
      if (!(actual.values[at] == expected.values[at]))
        return at;
  return -1;
}

std::string ExactRun::differenceOf(unsigned output,
                                   const TensorOf<Field> &expected,
                                   ArrayRef<Tensors> actual) const {
  Spread spread = signature.spread(signature.results[output]);
  Assembled<Field> assembled = assemble<Field>(
      spread, llvm::map_to_vector(actual, [&](const Tensors &ofRank) {
        return &ofRank[output];
      }));
  if (!assembled.fault.empty())
    return assembled.fault;
  if (assembled.whole.shape != expected.shape ||
      assembled.whole.isInteger != expected.isInteger)
    return "`" + spread.name.str() + "` has another shape or type";
  int64_t at = findDifference(assembled.whole, expected);
  if (at < 0)
    return "";
  return ("`" + spread.name + "` on rank " +
          Twine(findHolder(spread, signature.numRanks, at)) + " at " +
          describeIndex(spread.shape, at))
      .str();
}

llvm::Expected<std::vector<std::string>> ExactRun::differences() {
  auto openSignature = readWholeSignature(open);
  if (!openSignature)
    return openSignature.takeError();
  // The edges are known where the program was compiled.
  takeBounds(signature, *openSignature);
  auto arguments = drawWhole(openSignature->arguments);
  if (!arguments)
    return arguments.takeError();
  auto parts = drawParts(openSignature->arguments, *arguments);
  if (!parts)
    return parts.takeError();
  auto expected = evaluate<Field>(open, *arguments, {key, &whole});
  if (!expected)
    return expected.takeError();
  auto actual =
      evaluateRanks<Field>(local, signature.numRanks, *parts, {key, &sharded});
  std::vector<std::string> wrong;
  if (!actual) {
    llvm::Error error = actual.takeError();
    if (error.isA<ZeroDenominatorError>())
      return std::move(error);
    wrong.push_back("the ranks' program cannot be evaluated: " +
                    llvm::toString(std::move(error)));
    return wrong;
  }
  if (signature.results.size() != expected->size()) {
    wrong.push_back("another number of outputs");
    return wrong;
  }
  for (unsigned output = 0; output < expected->size(); ++output) {
    std::string text = differenceOf(output, (*expected)[output], *actual);
    if (!text.empty())
      wrong.push_back(std::move(text));
  }
  return wrong;
}
