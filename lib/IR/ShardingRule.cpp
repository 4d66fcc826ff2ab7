// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/IR/ShardingRule.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tp;

unsigned ShardingRuleBuilder::factor(StringRef name, int64_t size,
                                     FactorKind kind) {
  rule.factors.push_back({name.str(), size, kind, /*isPositional=*/false});
  return rule.factors.size() - 1;
}

TensorFactors
ShardingRuleBuilder::withoutUnits(ArrayRef<DimFactors> dims) const {
  TensorFactors tensor;
  for (const DimFactors &dim : dims) {
    DimFactors &kept = tensor.emplace_back();
    llvm::copy_if(dim, std::back_inserter(kept), [&](unsigned factor) {
      return rule.factors[factor].size != 1;
    });
  }
  return tensor;
}

ShardingRuleBuilder &ShardingRuleBuilder::operand(ArrayRef<DimFactors> dims) {
  rule.operands.push_back(withoutUnits(dims));
  return *this;
}

ShardingRuleBuilder &ShardingRuleBuilder::result(ArrayRef<DimFactors> dims) {
  rule.results.push_back(withoutUnits(dims));
  return *this;
}

ShardingRuleBuilder &
ShardingRuleBuilder::linearIn(ArrayRef<unsigned> operands) {
  rule.linear.emplace_back(operands);
  return *this;
}

ShardingRuleBuilder &ShardingRuleBuilder::movesData() {
  rule.movesData = true;
  return *this;
}

ShardingRuleBuilder &ShardingRuleBuilder::takesMaximum() {
  rule.takesMaximum = true;
  return *this;
}

ShardingRuleBuilder &ShardingRuleBuilder::isZero() {
  rule.isZero = true;
  return *this;
}

ShardingRuleBuilder &
ShardingRuleBuilder::dependsOnPosition(ArrayRef<unsigned> factors) {
  for (unsigned factor : factors)
    rule.factors[factor].isPositional = true;
  return *this;
}

ShardingRule ShardingRuleBuilder::build() { return std::move(rule); }

std::string ShardingRule::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto printTensor = [&](const TensorFactors &tensor) {
    os << "[";
    llvm::interleave(
        tensor, os,
        [&](const DimFactors &dim) {
          if (dim.empty())
            os << "1";
          llvm::interleave(
              dim, os, [&](unsigned factor) { os << factors[factor].name; },
              "*");
        },
        ",");
    os << "]";
  };
  auto printList = [&](ArrayRef<TensorFactors> tensors) {
    os << "(";
    llvm::interleaveComma(tensors, os, printTensor);
    os << ")";
  };
  printList(operands);
  os << " -> ";
  printList(results);
  os << " {";
  llvm::interleaveComma(factors, os, [&](const Factor &factor) {
    static constexpr StringLiteral kinds[] = {"", " sum", " max", " whole"};
    os << factor.name << "=" << factor.size
       << kinds[static_cast<unsigned>(factor.kind)];
  });
  os << "}";
  for (ArrayRef<unsigned> set : linear) {
    os << " linear {";
    llvm::interleaveComma(set, os);
    os << "}";
  }
  for (auto [holds, word] :
       {std::pair(movesData, " moves"), std::pair(takesMaximum, " maximum"),
        std::pair(isZero, " zero")})
    if (holds)
      os << word;
  return text;
}

ShardingRuleBuilder tp::elementwiseRule(Operation *op) {
  ShardingRuleBuilder builder;
  auto shape = cast<ShapedType>(op->getResult(0).getType()).getShape();
  SmallVector<DimFactors> dims;
  for (auto [index, size] : llvm::enumerate(shape))
    dims.push_back({builder.factor("d" + std::to_string(index), size)});
  for (Value operand : op->getOperands()) {
    int64_t rank = cast<ShapedType>(operand.getType()).getRank();
    builder.operand(ArrayRef(dims).take_back(rank));
  }
  builder.result(dims);
  return builder;
}
