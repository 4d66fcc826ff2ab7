// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DualMessages.h"
#include "llvm/ADT/STLExtras.h"

using namespace tp;

/// The ends of the model's graph in its order, as uses of the problem.
static std::vector<Problem::Use> listUses(const Problem &problem) {
  std::vector<Problem::Use> uses;
  for (const Problem::Value &value : problem.values) {
    if (value.consumers.empty())
      continue;
    uses.push_back(value.producer);
    llvm::append_range(uses, value.differentUses());
  }
  return uses;
}

/// The layouts of each map, ascending.
static std::vector<std::vector<unsigned>> listLayouts(const Problem &problem) {
  std::vector<std::vector<unsigned>> lists = problem.layoutMaps;
  for (std::vector<unsigned> &layouts : lists) {
    llvm::sort(layouts);
    layouts.erase(llvm::unique(layouts), layouts.end());
  }
  return lists;
}

void tp::writeMessages(const Problem &problem, const DualModel &model,
                       const DualResult &result, Certificate &certificate) {
  std::vector<std::vector<unsigned>> lists = listLayouts(problem);
  std::map<std::vector<int64_t>, unsigned> known;
  std::map<std::tuple<unsigned, unsigned, unsigned>, unsigned> converted;
  for (auto [end, use] : llvm::enumerate(listUses(problem))) {
    unsigned index = result.messageOf[end];
    unsigned layouts = model.graph.ends[end].layouts;
    auto [it, isNew] =
        converted.try_emplace({index, layouts, use.layoutMap}, 0);
    if (isNew) {
      llvm::ArrayRef<unsigned> all = lists[use.layoutMap];
      std::vector<int64_t> message(all.size());
      for (auto [layout, number] :
           llvm::zip_equal(model.ends[layouts].layouts, result.messages[index]))
        message[llvm::lower_bound(all, layout) - all.begin()] = number;
      auto [place, isOther] =
          known.try_emplace(message, certificate.messages.size());
      if (isOther)
        certificate.messages.push_back(std::move(message));
      it->second = place->second;
    }
    certificate.messageOf.push_back(it->second);
  }
}

std::optional<DualResult> tp::readMessages(const Problem &problem,
                                           const DualModel &model,
                                           const Certificate &certificate) {
  std::vector<Problem::Use> uses = listUses(problem);
  if (certificate.messages.empty() ||
      certificate.messageOf.size() != uses.size())
    return std::nullopt;
  std::vector<std::vector<unsigned>> lists = listLayouts(problem);
  DualResult result;
  std::map<std::tuple<unsigned, unsigned, unsigned>, unsigned> converted;
  for (auto [end, use] : llvm::enumerate(uses)) {
    unsigned index = certificate.messageOf[end];
    llvm::ArrayRef<unsigned> all = lists[use.layoutMap];
    if (index >= certificate.messages.size() ||
        certificate.messages[index].size() != all.size())
      return std::nullopt;
    unsigned layouts = model.graph.ends[end].layouts;
    auto [it, isNew] = converted.try_emplace({index, layouts, use.layoutMap},
                                             result.messages.size());
    if (isNew) {
      std::vector<Ticks> &message = result.messages.emplace_back();
      for (unsigned layout : model.ends[layouts].layouts)
        message.push_back(static_cast<Ticks>(
            certificate.messages[index][llvm::lower_bound(all, layout) -
                                        all.begin()]));
    }
    result.messageOf.push_back(it->second);
  }
  return result;
}
