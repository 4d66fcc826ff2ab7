// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Run/Exact.h"
#include "Run/Numeric.h"
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

Checks::Checks(const Program &program, const RankResults &results,
               raw_ostream &out)
    : program(program), outputs(assembleOutputs(program.signature, results)),
      out(out) {}

/// Whether an output could not be put together; says so.
bool Checks::reportFault(unsigned output) {
  StringRef fault = outputs[output].fault;
  if (fault.empty())
    return false;
  ok = false;
  printShape(out, program.signature.results[output]);
  out << ": FAILED: " << fault << "\n";
  return true;
}

void Checks::summarise() {
  for (auto [number, port] : llvm::enumerate(program.signature.results)) {
    if (reportFault(number))
      continue;
    double magnitude = 0;
    bool finite = true;
    const TensorOf<double> &values = outputs[number].whole;
    for (double value : values.values) {
      finite &= std::isfinite(value);
      if (!isMasked(value))
        magnitude = std::max(magnitude, std::fabs(value));
    }
    for (int64_t value : values.integers)
      magnitude = std::max(magnitude, std::fabs(double(value)));
    ok &= finite;
    printShape(out, port);
    out << ": largest magnitude " << llvm::format("%.6g", magnitude)
        << (finite ? "\n" : "; FAILED: not finite\n");
  }
}

void Checks::reportDifference(unsigned output, const NumericCheck &numeric,
                              bool isExact) {
  printShape(out, program.signature.results[output]);
  StringRef fault = numeric.getFault(output);
  if (!fault.empty()) {
    ok = false;
    out << ": FAILED: " << fault << "\n";
    return;
  }
  out << ": max error";
  llvm::ListSeparator comma(",");
  for (const NumericCheck::Column &column : numeric.getColumns()) {
    const Difference &difference = column.differences[output];
    out << comma << llvm::format(" %.3g", difference.absolute)
        << llvm::format(" (%.3g relative)", difference.relative()) << " vs "
        << column.name;
    if (difference.notFinite)
      out << " [not finite, or integers or shapes differ]";
  }
  numeric.printTolerance(out, output);
  bool isFine = numeric.isFine(output);
  out << (isFine ? "ok" : "FAILED");
  if (isFine && !isExact)
    out << ", not checked exactly";
  if (!isFine)
    numeric.printWorst(out, output);
  out << "\n";
  ok &= isFine;
}

//===- References ---------------------------------------------------------===//

/// What the probability rests on.
static void printBound(raw_ostream &out, double doubt, unsigned runs,
                       const Signature &signature) {
  out << "exact: equal in the field of 2^61 - 1 elements on every rank";
  if (runs > 1)
    out << " under " << runs << " keys";
  out << llvm::format(" (a difference would go unseen with probability at "
                      "most %.2g",
                      doubt);
  out << ", over the random numbers in place of floating-point inputs and the "
         "hashes in place of nonlinear functions";
  SmallVector<StringRef> integers;
  for (const Port &port : signature.arguments)
    if (port.kind != ElementKind::F32 && port.kind != ElementKind::F64)
      integers.push_back(port.name);
  if (!integers.empty())
    out << "; for the integers used as " << llvm::join(integers, ", ");
  out << "): ok\n";
}

llvm::Error Checks::checkExactly(func::FuncOp open, const Inputs &inputs,
                                 uint64_t draws) {
  double doubt = 1;
  unsigned equalRuns = 0, zeroDenominators = 0;
  auto needsMore = [&] {
    return equalRuns < draws ||
           (doubt > acceptableDoubt && equalRuns < mostEqualRuns);
  };
  for (uint64_t key = 1; needsMore(); ++key) {
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
  printBound(out, doubt, equalRuns, program.signature);
  return llvm::Error::success();
}

/// As many of `draws` as stay within a limit on multiply-adds, at least one.
static uint64_t countAffordable(uint64_t draws, double work, double limit) {
  double most = std::max(1.0, limit / std::max(work, 1.0));
  return static_cast<double>(draws) <= most ? draws
                                            : static_cast<uint64_t>(most);
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
  auto whole = readWholeSignature(open);
  if (!whole)
    return whole.takeError();
  takeBounds(program.signature, *whole);
  if (whole->results.size() != outputs.size()) {
    ok = false;
    out << "FAILED: the ranks return " << outputs.size() << " outputs, not "
        << whole->results.size() << "\n";
    return llvm::Error::success();
  }
  double work = countMultiplyAdds(open);
  bool isExact =
      options.exact == ExactCheck::Always ||
      (options.exact == ExactCheck::Auto && work <= options.exactLimit);
  NumericCheck numeric(program, open, *whole, work <= options.referenceLimit);
  if (llvm::Error error = numeric.prepare(module, options))
    return error;
  if (llvm::Error error = numeric.add(inputs, outputs))
    return error;
  uint64_t draws = inputs.countDraws(whole->arguments);
  uint64_t runs = countAffordable(draws, work, options.referenceLimit);
  for (uint64_t draw = 1; draw < runs; ++draw)
    if (llvm::Error error = numeric.run(inputs.drawn(draw), options))
      return error;
  for (unsigned output = 0; output < outputs.size(); ++output)
    reportDifference(output, numeric, isExact);
  if (runs < draws)
    out << "integers: " << runs << " of the " << draws
        << " draws that have every first and last index of a shard were run\n";
  if (work > options.referenceLimit)
    out << llvm::format("f64: not compared, %.3g multiply-adds are too many "
                        "for naive loops (limit %.3g)\n",
                        work, options.referenceLimit);
  if (isExact)
    return checkExactly(open, inputs,
                        options.exact == ExactCheck::Always
                            ? draws
                            : countAffordable(draws, work, options.exactLimit));
  if (options.exact == ExactCheck::Never)
    out << "exact: not checked exactly, as asked\n";
  else
    out << llvm::format("exact: not checked exactly, %.3g multiply-adds exceed "
                        "%.3g; --exact=always does it\n",
                        work, options.exactLimit);
  return llvm::Error::success();
}

//===- Published results --------------------------------------------------===//

/// An output without what files do not name: a masked column would be the
/// largest number of the output and hide every difference.
static TensorOf<double> withoutPadding(const TensorOf<double> &whole,
                                       const Port &port) {
  SmallVector<Span> named = llvm::map_to_vector(
      whole.shape, [](int64_t size) { return Span{0, size}; });
  if (StoredAttr stored = port.stored) {
    Span &span = named[stored.getDim()];
    span.size = std::min(span.size, stored.getSize() * stored.getCount());
  }
  return slice<double>(whole, named);
}

llvm::Error Checks::againstFile(const SafetensorsFile &file) {
  Inputs results(/*seed=*/0);
  results.useFile(file);
  bool any = false;
  for (auto [number, port] : llvm::enumerate(program.signature.results))
    for (const StoredTensor &stored : file.tensors()) {
      if (stored.name != port.sourceName())
        continue;
      any = true;
      if (reportFault(number))
        continue;
      Port precise = port;
      if (precise.kind == ElementKind::F32)
        precise.kind = ElementKind::F64;
      auto expected = results.readWhole(precise);
      if (!expected)
        return expected.takeError();
      TensorOf<double> named = withoutPadding(outputs[number].whole, port);
      Difference difference = compare(named, withoutPadding(*expected, port));
      bool fine = difference.within(fileTolerance);
      ok &= fine;
      printShape(out, port);
      out << llvm::format(": max error %.3g (%.3g relative) vs the file; "
                          "tolerance %.3g relative: ",
                          difference.absolute, difference.relative(),
                          fileTolerance)
          << (fine ? "ok" : "FAILED");
      if (!fine)
        out << " at " << describeIndex(named.shape, difference.at);
      out << "\n";
    }
  if (any)
    return llvm::Error::success();
  std::string names;
  for (const Port &port : program.signature.results)
    names += " '" + port.name + "'";
  return llvm::createStringError(
      "the file to expect names none of the outputs" + Twine(names));
}
