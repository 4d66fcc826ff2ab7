// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Run/Exact.h"

using namespace mlir;
using namespace tp;

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
    auto argument = inputs.readField(port, key);
    if (!argument)
      return argument.takeError();
    for (int64_t rank = 0; rank < signature.numRanks; ++rank)
      parts[rank].push_back(
          slice<Field>(*argument, signature.ranges(port, rank)));
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
