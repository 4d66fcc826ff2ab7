// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_LOCALCOLLECTIVE_TD
#define TP_IR_LOCALCOLLECTIVE_TD

include "mlir/IR/EnumAttr.td"
include "tp/IR/Dialect.td"
include "tp/IR/Sharding.td"

/// What collectives touch. A write of it keeps passes from removing, merging
/// or reordering a call on some ranks only.
def TP_Communication : Resource<"::tp::CommunicationResource">;

/// A collective of the local phase, on plain tensors, with explicit groups.
class TP_LocalCollective<string mnemonic> : TP_BaseOp<mnemonic,
    [MemoryEffects<[MemRead<TP_Communication>, MemWrite<TP_Communication>]>]> {
  let results = (outs TP_Tensor:$result);
  let hasVerifier = 1;
}

defvar GroupsText = [{
    `groups` is a table of ranks: each rank is in exactly one row, and the order
    in a row is the order of the pieces.
}];

def TP_LocalAllReduceOp : TP_LocalCollective<"local_all_reduce"> {
  let summary = "sum or maximum over the ranks of a group";
  let description = GroupsText;
  let arguments = (ins TP_Tensor:$input, TP_ReductionKind:$kind,
                       I64ElementsAttr:$groups);
  let assemblyFormat = [{
    $input $kind `groups` $groups attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_LocalAllGatherOp : TP_LocalCollective<"local_all_gather"> {
  let summary = "the pieces of a group, one after the other along `dim`";
  let description = GroupsText;
  let arguments = (ins TP_Tensor:$input, I64Attr:$dim, I64ElementsAttr:$groups);
  let assemblyFormat = [{
    $input `dim` $dim `groups` $groups attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_LocalReduceScatterOp : TP_LocalCollective<"local_reduce_scatter"> {
  let summary = "the rank's piece along `dim` of the group's sum or maximum";
  let description = GroupsText;
  let arguments = (ins TP_Tensor:$input, TP_ReductionKind:$kind, I64Attr:$dim,
                       I64ElementsAttr:$groups);
  let assemblyFormat = [{
    $input $kind `dim` $dim `groups` $groups attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_LocalAllToAllOp : TP_LocalCollective<"local_all_to_all"> {
  let summary = "gathers along `source` while splitting along `target`";
  let description = GroupsText;
  let arguments = (ins TP_Tensor:$input, I64Attr:$source, I64Attr:$target,
                       I64ElementsAttr:$groups);
  let assemblyFormat = [{
    $input `from` $source `to` $target `groups` $groups attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_LocalPermuteOp : TP_LocalCollective<"local_permute"> {
  let summary = "each rank sends its block to one rank and gets one block";
  let description = [{
    `pairs` is a table of (source, target): each rank is once a source and once a
    target.
  }];
  let arguments = (ins TP_Tensor:$input, I64ElementsAttr:$pairs);
  let assemblyFormat = [{
    $input `pairs` $pairs attr-dict `:` functional-type(operands, results)
  }];
}

def TP_LocalSliceOp : TP_BaseOp<"local_slice", [Pure]> {
  let summary = "the part of a dimension that starts at `origin`";
  let arguments = (ins TP_Tensor:$input, Index:$origin, I64Attr:$dim);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat = [{
    $input `from` $origin `dim` $dim attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TP_LocalMaskOp : TP_BaseOp<"local_mask", [Pure]> {
  let summary = "the operand where `coordinate` is 0, zeros elsewhere";
  let arguments = (ins TP_Tensor:$input, Index:$coordinate);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat = [{
    $input `if` $coordinate attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TP_ShardOriginOp : TP_BaseOp<"shard_origin", [Pure]> {
  let summary = "where this rank's part of a dimension begins";
  let description = [{
    The first index, in the global dimension of `size` elements, of the part that
    the rank holds when `split` splits it.

        %o = tp.shard_origin @mesh {"tp"} of 61 : index
  }];
  let arguments = (ins FlatSymbolRefAttr:$mesh, TP_DimSharding:$split,
                       I64Attr:$size);
  let results = (outs Index:$result);
  let assemblyFormat =
      "$mesh custom<DimSplit>($split) `of` $size attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // TP_IR_LOCALCOLLECTIVE_TD
