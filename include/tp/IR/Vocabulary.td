// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_VOCABULARY_TD
#define TP_IR_VOCABULARY_TD

include "tp/IR/Dialect.td"

def TP_EmbeddingOp : TP_Op<"embedding", [DeclareOpInterfaceMethods<
    ShardingRuleOpInterface,
    ["getShardingRule", "writeLocal", "getIndexBound"]>]> {
  let summary = "rows of a table";
  let description = [{
    `table` is [vocabulary, h], `ids` [dims..], the result [dims.., h]. Linear in
    the table. Splitting the vocabulary leaves a partial sum: a rank adds 0 for
    ids outside its rows [origin, origin + local rows). An id outside
    [0, vocabulary) is a run-time error; `vocabulary` is the global number of
    rows where the table is a shard (local phase).
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

#endif // TP_IR_VOCABULARY_TD
