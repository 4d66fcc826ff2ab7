// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Run/Exact.h"

using namespace mlir;
using namespace tp;

/// Whether two arguments have the same numbers: what they are drawn from is the
/// same.
static bool areAlike(const Port &one, const Port &other) {
  return one.sourceName() == other.sourceName() && one.stored == other.stored &&
         one.globalShape == other.globalShape && one.kind == other.kind &&
         one.bound == other.bound;
}

llvm::Expected<std::vector<std::string>> ExactRun::differences() {
  auto openSignature = readWholeSignature(open);
  if (!openSignature)
    return openSignature.takeError();
  std::vector<TensorOf<Field>> arguments;
  std::vector<std::vector<TensorOf<Field>>> parts(signature.numRanks);
  for (const Port &port : openSignature->arguments) {
    auto argument = inputs.readField(port, key);
    if (!argument)
      return argument.takeError();
    arguments.push_back(std::move(*argument));
  }
  for (const Port &port : signature.arguments) {
    // A block of a fused weight is no argument of the unsharded program.
    auto known = llvm::find_if(openSignature->arguments, [&](const Port &own) {
      return areAlike(own, port);
    });
    llvm::Expected<TensorOf<Field>> drawn = TensorOf<Field>();
    if (known == openSignature->arguments.end())
      drawn = inputs.readField(port, key);
    if (!drawn)
      return drawn.takeError();
    const TensorOf<Field> &argument =
        known == openSignature->arguments.end()
            ? *drawn
            : arguments[known - openSignature->arguments.begin()];
    for (int64_t rank = 0; rank < signature.numRanks; ++rank)
      parts[rank].push_back(
          slice<Field>(argument, signature.ranges(port, rank)));
  }
  auto expected = evaluate<Field>(open, arguments, {key, &whole});
  if (!expected)
    return expected.takeError();
  auto actual =
      evaluateRanks<Field>(local, signature.numRanks, parts, {key, &sharded});
  if (!actual)
    return actual.takeError();
  std::vector<std::string> wrong;
  for (auto [number, port] : llvm::enumerate(signature.results))
    for (int64_t rank = 0; rank < signature.numRanks; ++rank)
      if (!((*actual)[rank][number] ==
            slice<Field>((*expected)[number], signature.ranges(port, rank)))) {
        wrong.push_back(port.name + " on rank " + std::to_string(rank));
        break;
      }
  return wrong;
}
