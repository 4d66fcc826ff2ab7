// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_STORED_TD
#define TP_IR_STORED_TD

include "tp/IR/Sharding.td"

def TP_Stored : TP_Attr<"Stored", "stored"> {
  let summary = "which part of a file's tensor a value is";
  let description = [{
    The value has the shape of the file's tensor except in `dim`. There its rows
    are `count` runs of `size` rows of the tensor, the first from row `from`, each
    `stride` rows after the one before. Where the value has more rows than these
    (a vocabulary that was padded), the file does not say what they hold; as a
    parameter they are 0.

        // the keys in a fused projection of 48 queries, 24 keys and 24 values
        #tp.stored<"qkv_proj.weight" [96, 48], dim 0 from 48 size 24>
        // the queries where each of 4 groups has 2 queries, a key and a value of
        // 6 rows
        #tp.stored<"query_key_value.weight" [96, 48], dim 0 from 0 size 12 stride 24 count 4>
  }];
  let parameters = (ins StringRefParameter<"name in the file">:$name,
      ArrayRefParameter<"int64_t">:$shape, "int64_t":$dim, "int64_t":$from,
      "int64_t":$size, "int64_t":$stride, "int64_t":$count);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name,
      "::llvm::ArrayRef<int64_t>":$shape, "int64_t":$dim, "int64_t":$from,
      "int64_t":$size), [{
    return $_get($_ctxt, name, shape, dim, from, size, size, 1);
  }]>];
}

#endif // TP_IR_STORED_TD
