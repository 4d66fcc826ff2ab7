// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_REDUCTION_TD
#define TP_IR_REDUCTION_TD

include "tp/IR/Dialect.td"
include "tp/IR/Sharding.td"

def TP_ReduceOp : TP_Op<"reduce", [DeclareOpInterfaceMethods<
    ShardingRuleOpInterface, ["getShardingRule", "writeLocal"]>]> {
  let summary = "sum or maximum over some dimensions";
  let description = [{
    `dimensions` ascend; the result has the others. Splitting a reduced dimension
    leaves the result unreduced over its axes, by the same kind. A sum is linear
    and 0 over nothing; a maximum takes unfinished maxima, and is that of a rank
    without elements the lowest value of the type. Integers wrap around; i1 has a
    maximum (or) but no sum.

    With `count` only the elements below that index of the one reduced dimension
    take part: a mask without arithmetic on masked values. `origin` is the index
    of the first element there (local phase).

        // over a vocabulary of 51200 columns, of which 50257 are classes
        %m = tp.reduce max %logits over [2] {count = 50257 : i64}
            : (tensor<3x5x51200xf32>) -> tensor<3x5xf32>
  }];
  let arguments = (ins TP_Tensor:$input, Optional<Index>:$origin,
                       TP_ReductionKind:$kind, DenseI64ArrayAttr:$dimensions,
                       OptionalAttr<I64Attr>:$count);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat = [{
    $kind $input `over` $dimensions (`from` $origin^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_SoftmaxOp : TP_Op<"softmax", [TP_ResultLikeOperand]> {
  let summary = "exponentials over their sum along a dimension";
  let description = [{
    `exp(x - m) / sum(exp(x - m))`, with m the maximum along dimension `dim`,
    which must be whole; the others may be split.

        %p = tp.softmax %scores along 1 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  }];
  let arguments = (ins TP_FloatTensor:$input, I64Attr:$dim);
  let results = (outs TP_FloatTensor:$result);
  let assemblyFormat =
      "$input `along` $dim attr-dict `:` functional-type(operands, results)";
}

#endif // TP_IR_REDUCTION_TD
