// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_ATTENTION_TD
#define TP_IR_ATTENTION_TD

include "tp/IR/Dialect.td"

def TP_RopeOp : TP_Op<"rope", [TP_ResultLikeOperand,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface,
                              ["getShardingRule", "writeLocal"]>]> {
  let summary = "rotary position embedding";
  let description = [{
    `input` is [batch, sequence, heads, d]. Elements i and i + d/2 of a head
    turn by position * theta^(-2i/d) (Su et al. 2021, in the half-split order of
    published checkpoints). `llama3 = [factor, low, high, original]` scales the
    frequencies as Llama 3.1 does: wave lengths above original/low by 1/factor,
    below original/high not at all, in between smoothly. Element s of the sequence
    has position `offset + s`: tokens that follow a cache of `offset` tokens.
    `origin` replaces `offset` in the local phase, where the rank's part starts
    later.

        // the query of the token after 9 others
        %r = tp.rope %q {theta = 1.0e4 : f64, offset = 9 : i64}
            : (tensor<3x1x4x8xf32>) -> tensor<3x1x4x8xf32>
  }];
  let arguments = (ins TP_FloatTensor:$input, Optional<Index>:$origin,
                       F64Attr:$theta, OptionalAttr<DenseF64ArrayAttr>:$llama3,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$offset);
  let results = (outs TP_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`from` $origin^)? attr-dict `:` functional-type(operands, results)
  }];
}

def TP_AttentionOp : TP_Op<"attention", [TP_OneElementType,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface,
                              ["getShardingRule", "writeLocal"]>,
    DeclareOpInterfaceMethods<GroupedHeadsOpInterface>]> {
  let summary = "scaled dot-product attention with grouped queries";
  let description = [{
    `query` [batch, s, heads, d], `key` and `value` [batch, t, kv_heads, d];
    heads is a multiple of kv_heads and head h reads KV head h / (heads/kv_heads)
    (Ainslie et al. 2023). `softmax(scale * q k^T) v`. With `causal` query i sees
    key j if j <= i + t - s; `origin` replaces t - s in the local phase, where
    the rank's queries start later. Linear in `value`. Heads split by whole KV
    groups; beyond that, the queries of a group may be split while its key and
    value are replicated.

    Keys may outnumber queries. To decode over a cache, its keys and values are
    inputs [batch, c, kv_heads, d], split with the KV heads; those of the s new
    tokens follow them by `tp.concat`, and the mask, aligned to the end, lets new
    token i see the cache and new tokens up to i:

        %k = tp.concat %key_cache, %new_key along 1
            : (tensor<3x9x2x8xf32>, tensor<3x1x2x8xf32>) -> tensor<3x10x2x8xf32>
        %v = tp.concat %value_cache, %new_value along 1
            : (tensor<3x9x2x8xf32>, tensor<3x1x2x8xf32>) -> tensor<3x10x2x8xf32>
        %y = tp.attention %q, %k, %v {causal, scale = 0.35 : f64}
            : (tensor<3x1x4x8xf32>, tensor<3x10x2x8xf32>, tensor<3x10x2x8xf32>)
            -> tensor<3x1x4x8xf32>
  }];
  let arguments = (ins TP_FloatTensor:$query, TP_FloatTensor:$key,
                       TP_FloatTensor:$value, Optional<Index>:$origin,
                       F64Attr:$scale, UnitAttr:$causal);
  let results = (outs TP_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`from` $origin^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // TP_IR_ATTENTION_TD
