// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Run/Numeric.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace tp;

std::vector<Assembled<double>> tp::assembleOutputs(const Signature &signature,
                                                   const RankResults &results) {
  std::vector<Assembled<double>> outputs;
  for (auto [number, port] : llvm::enumerate(signature.results)) {
    std::vector<TensorOf<double>> parts;
    for (const std::vector<Array> &ofRank : results.outputs)
      parts.push_back(toReference(ofRank[number]));
    SmallVector<const TensorOf<double> *> pointers;
    for (const TensorOf<double> &part : parts)
      pointers.push_back(&part);
    outputs.push_back(assemble<double>(signature.spread(port), pointers));
  }
  return outputs;
}

NumericCheck::NumericCheck(const Program &program, func::FuncOp open,
                           const Signature &whole, bool hasReference)
    : program(program), open(open), whole(whole), hasReference(hasReference),
      unit(errorMargin * unitRoundoff(open)), relative(tolerance(open)),
      faults(program.signature.results.size()) {
  columns.push_back({"one rank", {}});
  if (hasReference)
    columns.push_back({"f64", {}});
  for (Column &column : columns)
    column.differences.resize(program.signature.results.size());
}

llvm::Error NumericCheck::prepare(ModuleOp module, const RunOptions &options) {
  auto compiled = compileUnsharded(module, program.signature.mesh, options);
  if (!compiled)
    return llvm::createStringError("the unsharded program: " +
                                   llvm::toString(compiled.takeError()));
  single = std::move(*compiled);
  takeBounds(whole, single->signature);
  return llvm::Error::success();
}

/// The reference, with the errors that the program may make.
static llvm::Expected<std::vector<TensorOf<Rounded>>>
evaluateWithErrors(func::FuncOp open, const Signature &whole,
                   const Inputs &inputs) {
  std::vector<TensorOf<Rounded>> arguments;
  for (const Port &port : whole.arguments) {
    auto argument = inputs.readWhole(port);
    if (!argument)
      return argument.takeError();
    TensorOf<Rounded> &exact = arguments.emplace_back();
    exact.shape = argument->shape;
    exact.isInteger = argument->isInteger;
    exact.integers = std::move(argument->integers);
    for (double value : argument->values)
      exact.values.emplace_back(value);
  }
  return evaluate<Rounded>(open, arguments);
}

static TensorOf<double> valuesOf(const TensorOf<Rounded> &tensor) {
  TensorOf<double> values;
  values.shape = tensor.shape;
  values.isInteger = tensor.isInteger;
  values.integers = tensor.integers;
  for (Rounded element : tensor.values)
    values.values.push_back(element.value);
  return values;
}

llvm::Error NumericCheck::add(const Inputs &inputs,
                              ArrayRef<Assembled<double>> outputs) {
  auto results = runRanks(*single->engine, single->signature, inputs);
  if (!results)
    return llvm::createStringError("the unsharded program: " +
                                   llvm::toString(results.takeError()));
  std::vector<TensorOf<Rounded>> reference;
  if (hasReference) {
    auto evaluated = evaluateWithErrors(open, whole, inputs);
    if (!evaluated)
      return evaluated.takeError();
    reference = std::move(*evaluated);
  }
  for (auto [number, output] : llvm::enumerate(outputs)) {
    if (!output.fault.empty()) {
      faults[number] = output.fault;
      continue;
    }
    TensorOf<double> alone = toReference(results->outputs.front()[number]);
    if (!hasReference) {
      merge(columns[0].differences[number], compare(output.whole, alone));
      continue;
    }
    const TensorOf<Rounded> &errors = reference[number];
    merge(columns[0].differences[number],
          compare(output.whole, alone, errors, unit));
    merge(columns[1].differences[number],
          compare(output.whole, valuesOf(errors), errors, unit));
  }
  return llvm::Error::success();
}

llvm::Error NumericCheck::run(const Inputs &inputs, const RunOptions &options) {
  auto results = runRanks(*program.engine, program.signature, inputs,
                          {options.deadline, options.threadsPerRank});
  if (!results)
    return results.takeError();
  return add(inputs, assembleOutputs(program.signature, *results));
}

bool NumericCheck::isFine(unsigned output) const {
  return llvm::all_of(columns, [&](const Column &column) {
    return isFine(column.differences[output]);
  });
}

void NumericCheck::printTolerance(raw_ostream &out, unsigned output) const {
  if (!hasReference) {
    out << llvm::format("; tolerance %.3g relative: ", relative);
    return;
  }
  double share = 0;
  for (const Column &column : columns)
    share = std::max(share, column.differences[output].share);
  out << llvm::format("; %.3g of the tolerance of the element: ", share);
}

void NumericCheck::printWorst(raw_ostream &out, unsigned output) const {
  const Signature &signature = program.signature;
  Spread spread = signature.spread(signature.results[output]);
  for (const Column &column : columns) {
    const Difference &difference = column.differences[output];
    if (isFine(difference))
      continue;
    bool byShare = hasReference && !difference.notFinite;
    int64_t at = byShare ? difference.shareAt : difference.at;
    out << " at " << describeIndex(spread.shape, at) << " on rank "
        << findHolder(spread, signature.numRanks, at) << " vs " << column.name;
    return;
  }
}
