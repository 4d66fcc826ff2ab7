// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_INTERFACES_TD
#define TP_IR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::tp";
  let description = [{
    How an operation may be split. Type checking, strategy enumeration,
    partitioning, cost and diagnostics read only the rule; no pass looks at the
    operation's name.
  }];
  let methods = [
    InterfaceMethod<[{
      The rule: factors, the factors of every dimension of every operand and
      result, and the operands in which the operation is linear. Shapes are
      those of the types, so in the local phase the rule describes the local
      computation.
    }], "::tp::ShardingRule", "getShardingRule">,
    InterfaceMethod<[{
      Writes the computation of one rank at the builder's insertion point.
      `operands` are the local operands, `resultTypes` the local types. The
      default copies the operation; operations that depend on where a shard
      lies (a vocabulary range, a position) add an origin.
    }], "::mlir::Operation *", "writeLocal",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
         "::mlir::TypeRange":$resultTypes), [{}], [{
      return ::tp::copyWithTypes(builder, $_op, operands, resultTypes);
    }]>,
    InterfaceMethod<[{
      If operand `number` holds indices, the number of values an index may
      take; otherwise nothing.
    }], "std::optional<int64_t>", "getIndexBound", (ins "unsigned":$number),
    [{}], [{ return std::nullopt; }]>,
    InterfaceMethod<[{
      False for the rare operation that is linear only for some types, such as
      a narrowing cast, which must not be applied to an unreduced value.
      `why` then says so in words for the diagnostic.
    }], "bool", "keepsPartialSums", (ins "std::string &":$why), [{}],
    [{ return true; }]>,
  ];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::tp";
  let description = [{
    A collective of the typed phase: one operand, one result, same shape and
    element type; only the encoding changes.
  }];
  let methods = [
    InterfaceMethod<"What the collective does to the layout.",
      "::tp::LayoutStep", "getLayoutStep">,
    InterfaceMethod<[{
      Writes the local form at the builder's insertion point.
    }], "::mlir::Value", "writeLocal",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$operand,
         "::mlir::Type":$resultType)>,
  ];
}

#endif // TP_IR_INTERFACES_TD
