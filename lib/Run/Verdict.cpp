// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Run/Exact.h"
#include "Run/Program.h"
#include "tp/IR/TP.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace tp;

/// Largest difference, in units of the largest magnitude, that published
/// results may be from ours: they were computed elsewhere in f32.
static constexpr double fileTolerance = 2e-5;
/// Evaluations in the field go on under further keys until a difference would
/// go unseen with at most this probability,
static constexpr double acceptableDoubt = 1e-6;
/// or so many are equal.
static constexpr unsigned mostEqualRuns = 8;
/// Evaluations that may meet a zero denominator; each does so with a
/// probability below 1e-9.
static constexpr unsigned mostZeroDenominators = 2;

static void printShape(raw_ostream &out, const Port &port) {
  out << port.name << " [";
  llvm::interleaveComma(port.globalShape, out);
  out << "]";
}

/// What files name of a rank's part of a value: a masked column would be the
/// largest number of the output and hide every difference.
static TensorOf<double> withoutPadding(const TensorOf<double> &part,
                                       const Port &port,
                                       ArrayRef<Range> ranges) {
  SmallVector<Range> named = llvm::map_to_vector(
      part.shape, [](int64_t size) { return Range{0, size}; });
  if (StoredAttr stored = port.stored) {
    unsigned dim = stored.getDim();
    int64_t rows = stored.getSize() * stored.getCount() - ranges[dim].offset;
    named[dim].size = std::clamp<int64_t>(rows, 0, named[dim].size);
  }
  return slice<double>(part, named);
}

Difference Checks::worst(unsigned output,
                         const TensorOf<double> &expected) const {
  const Port &port = program.signature.results[output];
  Difference total;
  for (auto [rank, outputs] : llvm::enumerate(results.outputs)) {
    SmallVector<Range> ranges = program.signature.ranges(port, rank);
    merge(
        total,
        compare(withoutPadding(toReference(outputs[output]), port, ranges),
                withoutPadding(slice<double>(expected, ranges), port, ranges)));
  }
  return total;
}

void Checks::summarise() {
  for (auto [number, port] : llvm::enumerate(program.signature.results)) {
    double magnitude = 0;
    bool finite = true;
    for (auto [rank, outputs] : llvm::enumerate(results.outputs)) {
      TensorOf<double> values =
          withoutPadding(toReference(outputs[number]), port,
                         program.signature.ranges(port, rank));
      for (double value : values.values) {
        finite &= std::isfinite(value);
        magnitude = std::max(magnitude, std::fabs(value));
      }
      for (int64_t value : values.integers)
        magnitude = std::max(magnitude, std::fabs(double(value)));
    }
    ok &= finite;
    printShape(out, port);
    out << ": largest magnitude " << llvm::format("%.6g", magnitude)
        << (finite ? "\n" : "; FAILED: not finite\n");
  }
}

void Checks::report(ArrayRef<Column> columns, double tolerance) {
  for (auto [number, port] : llvm::enumerate(program.signature.results)) {
    printShape(out, port);
    out << ": max error";
    bool fine = true;
    llvm::ListSeparator comma(",");
    for (const Column &column : columns) {
      Difference difference = worst(number, column.outputs[number]);
      fine &= difference.within(tolerance);
      out << comma << llvm::format(" %.3g", difference.absolute)
          << llvm::format(" (%.3g relative)", difference.relative()) << " vs "
          << column.name;
      if (difference.notFinite)
        out << " [not finite, or integers or shapes differ]";
    }
    out << llvm::format("; tolerance %.3g relative: ", tolerance)
        << (fine ? "ok" : "FAILED") << "\n";
    ok &= fine;
  }
}

//===- References ---------------------------------------------------------===//

static llvm::Expected<std::vector<TensorOf<double>>>
evaluateInF64(func::FuncOp open, const Signature &whole, const Inputs &inputs) {
  std::vector<TensorOf<double>> arguments;
  for (const Port &port : whole.arguments) {
    auto argument = inputs.readWhole(port);
    if (!argument)
      return argument.takeError();
    arguments.push_back(std::move(*argument));
  }
  return evaluate<double>(open, arguments);
}

static std::vector<TensorOf<double>> outputsOf(const RankResults &results) {
  std::vector<TensorOf<double>> outputs;
  for (const Array &output : results.outputs.front())
    outputs.push_back(toReference(output));
  return outputs;
}

static llvm::Expected<std::vector<TensorOf<double>>>
runUnsharded(ModuleOp module, MeshAttr mesh, const Signature &whole,
             const Inputs &inputs, const RunOptions &options) {
  auto single = compileUnsharded(module, mesh, options);
  if (!single)
    return single.takeError();
  takeBounds(whole, single->signature);
  auto results = runRanks(*single->engine, single->signature, inputs);
  if (!results)
    return results.takeError();
  return outputsOf(*results);
}

llvm::Error Checks::checkExactly(func::FuncOp open, const Inputs &inputs) {
  double doubt = 1;
  unsigned equalRuns = 0, zeroDenominators = 0;
  for (uint64_t key = 1; doubt > acceptableDoubt && equalRuns < mostEqualRuns;
       ++key) {
    ExactRun run{open, program.entry(), program.signature, inputs, key};
    auto wrong = run.differences();
    if (!wrong) {
      llvm::Error error = wrong.takeError();
      if (!error.isA<ZeroDenominatorError>() ||
          ++zeroDenominators > mostZeroDenominators)
        return error;
      llvm::consumeError(std::move(error));
      continue;
    }
    if (!wrong->empty()) {
      ok = false;
      out << "exact: FAILED: other values in the field of 2^61 - 1 elements: "
          << llvm::join(*wrong, ", ") << "\n";
      return llvm::Error::success();
    }
    doubt *= falseAcceptBound(run.whole, run.sharded);
    ++equalRuns;
  }
  out << "exact: equal in the field of 2^61 - 1 elements on every rank";
  if (equalRuns > 1)
    out << " under " << equalRuns << " keys";
  out << llvm::format(" (a difference would go unseen with probability at "
                      "most %.2g): ok\n",
                      doubt);
  return llvm::Error::success();
}

llvm::Error Checks::againstReferences(ModuleOp module, const Inputs &inputs,
                                      const RunOptions &options) {
  auto entry = findRankFunctions(module, options.entry);
  if (!entry)
    return entry.takeError();
  func::FuncOp open = entry->functions.front();
  if (open->hasAttr(localAttrName))
    return llvm::createStringError(
        "--check compares with the program before tp-partition; this one is "
        "in the local phase already");
  std::vector<Column> columns;
  auto whole = readWholeSignature(open);
  if (!whole)
    return whole.takeError();
  auto single =
      runUnsharded(module, program.signature.mesh, *whole, inputs, options);
  if (!single)
    return llvm::createStringError("the unsharded program: " +
                                   llvm::toString(single.takeError()));
  columns.push_back({"one rank", std::move(*single)});
  double work = countMultiplyAdds(open);
  if (work <= options.referenceLimit) {
    auto reference = evaluateInF64(open, *whole, inputs);
    if (!reference)
      return reference.takeError();
    columns.push_back({"f64", std::move(*reference)});
  }
  report(columns, tolerance(open));
  if (work > options.referenceLimit)
    out << llvm::format("f64: not compared, %.3g multiply-adds are too many "
                        "for naive loops (limit %.3g)\n",
                        work, options.referenceLimit);
  bool affordable = work <= options.exactLimit;
  if (options.exact == ExactCheck::Always ||
      (options.exact == ExactCheck::Auto && affordable))
    return checkExactly(open, inputs);
  if (options.exact == ExactCheck::Never)
    out << "exact: not compared, as asked\n";
  else
    out << llvm::format("exact: not compared, %.3g multiply-adds exceed %.3g; "
                        "--exact=always does it\n",
                        work, options.exactLimit);
  return llvm::Error::success();
}

//===- Published results --------------------------------------------------===//

llvm::Error Checks::againstFile(const SafetensorsFile &file) {
  Inputs results(/*seed=*/0);
  results.useFile(file);
  bool any = false;
  for (auto [number, port] : llvm::enumerate(program.signature.results))
    for (const StoredTensor &stored : file.tensors()) {
      if (stored.name != port.sourceName())
        continue;
      any = true;
      Port precise = port;
      if (precise.kind == ElementKind::F32)
        precise.kind = ElementKind::F64;
      auto expected = results.readWhole(precise);
      if (!expected)
        return expected.takeError();
      Difference difference = worst(number, *expected);
      bool fine = difference.within(fileTolerance);
      ok &= fine;
      printShape(out, port);
      out << llvm::format(": max error %.3g (%.3g relative) vs the file; "
                          "tolerance %.3g relative: ",
                          difference.absolute, difference.relative(),
                          fileTolerance)
          << (fine ? "ok" : "FAILED") << "\n";
    }
  if (any)
    return llvm::Error::success();
  std::string names;
  for (const Port &port : program.signature.results)
    names += " '" + port.name + "'";
  return llvm::createStringError(
      "the file to expect names none of the outputs" + Twine(names));
}
