// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WeightGroups.h"
#include "tp/Weights/WeightUses.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tp;

std::vector<WeightGroup>
tp::groupWeights(std::vector<ParameterChoice> parameters) {
  llvm::StringMap<size_t> numberOf;
  std::vector<WeightGroup> groups;
  for (ParameterChoice &parameter : parameters) {
    std::string name = withoutNumbers(parameter.name);
    auto [entry, isNew] = numberOf.try_emplace(name, groups.size());
    if (isNew)
      groups.push_back({name, {}});
    groups[entry->second].members.push_back(std::move(parameter));
  }
  return groups;
}
