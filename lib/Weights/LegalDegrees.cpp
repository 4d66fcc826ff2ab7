// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-legal-degrees: how many ranks a model may be split over.

#include "tp/Check/ReportFile.h"
#include "tp/Passes.h"
#include "tp/Weights/Degrees.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_LEGALDEGREES
#include "tp/Passes.h.inc"
} // namespace tp

/// More than any cluster has.
static constexpr int64_t maxDegree = 1 << 20;

static std::string join(ArrayRef<std::string> parts) {
  return llvm::join(parts, "; ");
}

/// "4096, 11008" of what is not divided, with the first weight that has each.
static std::string describeUndivided(const Degree &degree) {
  std::string text;
  for (const UndividedDim &dim : degree.undivided)
    text += (text.empty() ? "not divided: " : ", ") + std::to_string(dim.size) +
            " (dimension " + std::to_string(dim.dim) + " of " + dim.weight +
            ")";
  return text;
}

/// "3 to 4 of 14 query heads a rank".
static std::string describeShare(const HeadGrouping &grouping,
                                 const HeadShare &share) {
  return std::to_string(share.fewest) + " to " + std::to_string(share.most) +
         " of " + std::to_string(grouping.groups * grouping.inGroup) +
         " query heads a rank";
}

/// What a legal number of ranks makes uneven, replicates or does not divide.
static std::vector<std::string> describeLegal(const DegreeLimits &limits,
                                              const Degree &degree) {
  std::vector<std::string> notes;
  for (auto [grouping, share] :
       llvm::zip_equal(limits.groupings, degree.shares))
    if (share.fewest != share.most)
      notes.push_back(describeShare(grouping, share));
  if (degree.kvReplicas > 1)
    notes.push_back("each KV head on " + std::to_string(degree.kvReplicas) +
                    " ranks");
  if (!degree.undivided.empty())
    notes.push_back(describeUndivided(degree));
  for (const WholeWeight &whole : degree.whole)
    notes.push_back(whole.weight + " not split: " + whole.reason);
  return notes;
}

/// What lets ranks split the vocabularies that some of them do not divide.
static void printVocabularies(ArrayRef<Vocabulary> vocabularies,
                              const std::vector<Degree> &degrees, Uneven uneven,
                              raw_ostream &os) {
  if (uneven == Uneven::Allow)
    return;
  for (const Vocabulary &vocabulary : vocabularies)
    if (llvm::any_of(degrees, [&](const Degree &degree) {
          return degree.isLegal() && vocabulary.size % degree.ranks != 0;
        }))
      os << "  fix: ranks that do not divide the vocabulary of "
         << vocabulary.size << " (" << vocabulary.name
         << ") split it with --pad-vocabulary=RANKS at import, or with "
            "uneven=allow\n";
}

static void printText(const DegreeLimits &limits,
                      ArrayRef<Vocabulary> vocabularies,
                      const std::vector<Degree> &degrees, Uneven uneven,
                      raw_ostream &os) {
  os << "legal degrees up to " << degrees.size()
     << (uneven == Uneven::Allow ? ", shards uneven: " : ": ");
  llvm::ListSeparator separator;
  for (const Degree &degree : degrees)
    if (degree.isLegal())
      os << separator << degree.ranks;
  os << "\n";
  for (const HeadGrouping &grouping : limits.groupings)
    os << "  " << grouping.groups * grouping.inGroup << " query heads, "
       << grouping.groups << " KV heads\n";
  for (const Degree &degree : degrees) {
    if (!degree.isLegal())
      continue;
    std::vector<std::string> notes = describeLegal(limits, degree);
    if (!notes.empty())
      os << "  " << degree.ranks << ": " << join(notes) << "\n";
  }
  printVocabularies(vocabularies, degrees, uneven, os);
  os << "excluded\n";
  for (const Degree &degree : degrees) {
    std::vector<std::string> reasons;
    for (const Exclusion &exclusion : degree.exclusions)
      reasons.push_back(exclusion.reason);
    if (!degree.isLegal())
      os << "  " << degree.ranks << ": " << join(reasons) << "\n";
  }
}

static void writeDegree(llvm::json::OStream &json, const Degree &degree) {
  json.object([&] {
    json.attribute("ranks", degree.ranks);
    json.attribute("legal", degree.isLegal());
    json.attribute("kv_replicas", degree.kvReplicas);
    json.attributeArray("query_heads_per_rank", [&] {
      for (const HeadShare &share : degree.shares)
        json.object([&] {
          json.attribute("fewest", share.fewest);
          json.attribute("most", share.most);
        });
    });
    json.attributeArray("excluded_by", [&] {
      for (const Exclusion &exclusion : degree.exclusions)
        json.object([&] {
          json.attribute("kind", exclusion.kind);
          json.attribute("size", exclusion.size);
          json.attribute("reason", llvm::json::fixUTF8(exclusion.reason));
        });
    });
    json.attributeArray("not_split", [&] {
      for (const WholeWeight &whole : degree.whole)
        json.object([&] {
          json.attribute("weight", llvm::json::fixUTF8(whole.weight));
          json.attribute("reason", whole.reason);
        });
    });
    json.attributeArray("undivided", [&] {
      for (const UndividedDim &dim : degree.undivided)
        json.object([&] {
          json.attribute("weight", llvm::json::fixUTF8(dim.weight));
          json.attribute("dimension", dim.dim);
          json.attribute("size", dim.size);
        });
    });
  });
}

static void printJSON(const DegreeLimits &limits,
                      const std::vector<Degree> &degrees, raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attributeArray("heads", [&] {
      for (const HeadGrouping &grouping : limits.groupings)
        json.object([&] {
          json.attribute("query_heads", grouping.groups * grouping.inGroup);
          json.attribute("kv_heads", grouping.groups);
        });
    });
    json.attributeArray("degrees", [&] {
      for (const Degree &degree : degrees)
        writeDegree(json, degree);
    });
  });
  os << "\n";
}

namespace {

struct LegalDegreesPass : tp::impl::LegalDegreesBase<LegalDegreesPass> {
  using LegalDegreesBase::LegalDegreesBase;

  void runOnOperation() final {
    markAllAnalysesPreserved();
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module) {
    if (failed(checkReportFormat(module, getArgument(), format)))
      return failure();
    if (max < 1 || max > maxDegree)
      return module.emitError()
             << "max=" << int64_t(max) << " is not in [1, " << maxDegree << "]";
    if (uneven != "refuse" && uneven != "allow")
      return module.emitError()
             << "uneven='" << uneven << "' must be one of refuse, allow";
    Uneven wished = uneven == "allow" ? Uneven::Allow : Uneven::Refuse;
    llvm::Expected<func::FuncOp> entry = findEntry(module);
    if (!entry)
      return module.emitError() << llvm::toString(entry.takeError());
    FailureOr<Graph> graph = Graph::build(*entry);
    if (failed(graph))
      return failure();
    DegreeLimits limits = findDegreeLimits(*graph);
    std::vector<Degree> degrees;
    for (int64_t ranks = 1; ranks <= max; ++ranks)
      degrees.push_back(judgeDegree(limits, ranks, wished));
    std::string text;
    llvm::raw_string_ostream os(text);
    if (format == "json")
      printJSON(limits, degrees, os);
    else
      printText(limits, findVocabularies(*graph), degrees, wished, os);
    return writeReport(module, output, text);
  }
};

} // namespace
