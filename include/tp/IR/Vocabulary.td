// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_VOCABULARY_TD
#define TP_IR_VOCABULARY_TD

include "tp/IR/Dialect.td"

def TP_EmbeddingOp : TP_Op<"embedding", [
    AllElementTypesMatch<["table", "result"]>,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface,
        ["getShardingRule", "writeLocal", "getIndexBound"]>]> {
  let summary = "rows of a table";
  let description = [{
    `table` is [vocabulary, h], `ids` [dims..], the result [dims.., h]. Linear in
    the table. Splitting the vocabulary leaves a partial sum: a rank adds 0 for
    ids outside its rows [origin, origin + local rows). An id outside
    [0, vocabulary) is a run-time error; `vocabulary` is the number of rows
    unless it is given: where the table is a shard (local phase), or where its
    last rows are padding that no id may name.
  }];
  let arguments = (ins TP_FloatTensor:$table, TP_IntegerTensor:$ids,
                       Optional<Index>:$origin,
                       OptionalAttr<I64Attr>:$vocabulary);
  let results = (outs TP_FloatTensor:$result);
  let assemblyFormat = [{
    $table `,` $ids (`from` $origin^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_TakeTargetOp : TP_Op<"take_target", [
    AllElementTypesMatch<["logits", "result"]>,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface,
        ["getShardingRule", "writeLocal", "getIndexBound"]>]> {
  let summary = "the element of the last dimension that each target names";
  let description = [{
    `logits` is [dims.., classes], `targets` and the result [dims..]. Linear in
    the logits. Splitting the classes leaves a partial sum: a rank adds 0 for
    targets outside its columns [origin, origin + local columns). A target
    outside [0, vocabulary) is a run-time error, except `ignore_index`, which
    gives 0. `vocabulary` is the number of columns unless it is given: where the
    logits are a shard (local phase), or where the last columns are padding.

        %g = tp.take_target %logits, %targets {ignore_index = -100 : i64}
            : (tensor<3x5x12xf32>, tensor<3x5xi64>) -> tensor<3x5xf32>
  }];
  let arguments = (ins TP_FloatTensor:$logits, TP_IntegerTensor:$targets,
                       Optional<Index>:$origin,
                       OptionalAttr<I64Attr>:$vocabulary,
                       OptionalAttr<I64Attr>:$ignore_index);
  let results = (outs TP_FloatTensor:$result);
  let assemblyFormat = [{
    $logits `,` $targets (`from` $origin^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_CrossEntropyOp : TP_Op<"cross_entropy", [
    AllElementTypesMatch<["logits", "result"]>,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface,
                              ["getShardingRule", "getIndexBound"]>]> {
  let summary = "mean negative log likelihood of the targets";
  let description = [{
    `logits` is [dims.., classes], `targets` [dims..]; the result is one number.
    With s = `label_smoothing`, K = `vocabulary` (the classes that are not
    padding, default all) and lse the logarithm of the sum of the exponentials of
    the first K logits x, a token with target t has the loss

        lse - (1 - s) x_t - s/K sum over k < K of x_k

    The result is its mean over the tokens whose target is not `ignore_index`;
    0 if there are none. A target outside [0, K) is a run-time error.

    This is a short form: `tp-decompose-cross-entropy`, which `tp-plan` runs
    first, writes it as a maximum, exponentials, sums and `tp.take_target`, so
    that split classes cost three reductions of one number a token. Itself it
    needs whole logits.

        %loss = tp.cross_entropy %logits, %targets {vocabulary = 50257 : i64}
            : (tensor<3x5x51200xf32>, tensor<3x5xi64>) -> tensor<f32>
  }];
  let arguments = (ins TP_FloatTensor:$logits, TP_IntegerTensor:$targets,
                       OptionalAttr<I64Attr>:$vocabulary,
                       OptionalAttr<I64Attr>:$ignore_index,
                       DefaultValuedOptionalAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs TP_FloatTensor:$result);
  let assemblyFormat = [{
    $logits `,` $targets attr-dict `:` functional-type(operands, results)
  }];
}

def TP_MaskPaddingOp : TP_Op<"mask_padding", [TP_ResultLikeOperand,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface,
                              ["getShardingRule", "writeLocal"]>]> {
  let summary = "the lowest number in the columns that are padding";
  let description = [{
    Elements of the last dimension from `valid` on become the lowest finite
    number of the element type: a padded logit is never the largest and adds 0
    to a sum of exponentials. Not linear: a partial sum is finished first.
    `origin` is the index of the first column (local phase).

        // columns 50257 to 51199 are padding
        %m = tp.mask_padding %logits {valid = 50257 : i64}
            : (tensor<2x7x51200xf32>) -> tensor<2x7x51200xf32>
  }];
  let arguments = (ins TP_FloatTensor:$input, Optional<Index>:$origin,
                       I64Attr:$valid);
  let results = (outs TP_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`from` $origin^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // TP_IR_VOCABULARY_TD
