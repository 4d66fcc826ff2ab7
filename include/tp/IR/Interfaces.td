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
      Writes the computation of one rank and returns the operation that makes
      its results. The default copies the operation; one that depends on where a
      shard lies (a vocabulary range, a position) asks the writer for the
      origin, which becomes its last operand. Integers come from the writer
      only: it knows layouts, and how each integer follows from them.
    }], "::mlir::Operation *", "writeLocal",
    (ins "::tp::LocalWriter &":$writer), [{}], [{ return writer.copy(); }]>,
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

def WorkOpInterface : OpInterface<"WorkOpInterface"> {
  let cppNamespace = "::tp";
  let description = [{
    What an operation costs. Prices, reports and FLOP counts read this and the
    rule.
  }];
  let methods = [
    InterfaceMethod<[{
      The work at one point of the factors of the operation's rule, which
      factor numbers refer to.
    }], "::tp::Work", "getWork">,
  ];
}

def GroupedHeadsOpInterface : OpInterface<"GroupedHeadsOpInterface"> {
  let cppNamespace = "::tp";
  let description = [{
    An operation on heads of which several share keys and values. A plan splits
    them over all ranks of a model, by whole groups as far as those go, or is
    refused.
  }];
  let methods = [
    InterfaceMethod<[{
      The factors of the operation's rule that count groups, and heads of one.
    }], "::tp::FactorGrouping", "getGrouping">,
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
      Writes the local form, which names its groups, and returns it.
    }], "::mlir::Operation *", "writeLocal",
    (ins "::tp::LocalWriter &":$writer)>,
  ];
}

#endif // TP_IR_INTERFACES_TD
