// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Pass tp-print-slices: from ranks to the tensors of a checkpoint.

#include "tp/Check/ReportFile.h"
#include "tp/Check/Slices.h"
#include "tp/IR/TP.h"
#include "tp/Passes.h"

using namespace mlir;
using namespace tp;

namespace tp {
#define GEN_PASS_DEF_PRINTSLICES
#include "tp/Passes.h.inc"
} // namespace tp

//===- Text ---------------------------------------------------------------===//

/// One tensor of the checkpoint: all parameters that are parts of it.
static void printTensor(ArrayRef<const HeldParameter *> parts, int64_t numRanks,
                        raw_ostream &os) {
  os << parts.front()->tensor << " [";
  llvm::interleaveComma(parts.front()->storedShape, os);
  os << "]\n";
  std::vector<std::string> held(numRanks);
  for (const HeldParameter *parameter : parts)
    for (const Holding &holding : parameter->holdings) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      for (const StoredSlice &slice : holding.slices)
        printSlice(slice, stream);
      for (int64_t rank : holding.ranks)
        held[rank] += text;
    }
  llvm::MapVector<StringRef, SmallVector<int64_t>> ranksOf;
  for (auto [rank, text] : llvm::enumerate(held))
    ranksOf[text].push_back(static_cast<int64_t>(rank));
  for (const auto &[text, ranks] : ranksOf) {
    os << (ranks.size() == 1 ? "  rank " : "  ranks ");
    llvm::interleaveComma(ranks, os);
    os << ":" << (text.empty() ? " nothing" : text) << "\n";
  }
}

static void printText(ArrayRef<HeldParameter> parameters, int64_t numRanks,
                      raw_ostream &os) {
  llvm::MapVector<StringRef, SmallVector<const HeldParameter *>> tensors;
  for (const HeldParameter &parameter : parameters)
    tensors[parameter.tensor].push_back(&parameter);
  for (const auto &[name, parts] : tensors)
    printTensor(parts, numRanks, os);
}

//===- JSON ---------------------------------------------------------------===//

static void printJSON(ArrayRef<HeldParameter> parameters, int64_t numRanks,
                      raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("ranks", numRanks);
    json.attributeArray("parameters", [&] {
      for (const HeldParameter &parameter : parameters)
        json.object([&] {
          json.attribute("name", llvm::json::fixUTF8(parameter.name));
          writeHoldings(parameter, json);
        });
    });
  });
  os << "\n";
}

//===- Pass ---------------------------------------------------------------===//

namespace {

struct PrintSlicesPass : tp::impl::PrintSlicesBase<PrintSlicesPass> {
  using PrintSlicesBase::PrintSlicesBase;

  void runOnOperation() final {
    markAllAnalysesPreserved();
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module) {
    if (failed(checkReportFormat(module, getArgument(), format)))
      return failure();
    FailureOr<MeshAttr> mesh = findListedMesh(module, getArgument());
    if (failed(mesh))
      return failure();
    llvm::Expected<func::FuncOp> entry = findEntry(module);
    if (!entry)
      return module.emitError() << llvm::toString(entry.takeError());
    FailureOr<std::vector<HeldParameter>> parameters =
        readHeldParameters(*entry, *mesh, getArgument());
    if (failed(parameters))
      return failure();
    std::string text;
    llvm::raw_string_ostream os(text);
    if (format == "json")
      printJSON(*parameters, mesh->getNumRanks(), os);
    else
      printText(*parameters, mesh->getNumRanks(), os);
    return writeReport(module, output, text);
  }
};

} // namespace
