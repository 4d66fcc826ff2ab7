// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_LOCALCOLLECTIVE_TD
#define TP_IR_LOCALCOLLECTIVE_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
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
defvar PiecesText = GroupsText # [{
    `pieces` is a table of the same shape with the size of each member's piece;
    without it the pieces of a group are equal. A piece may be empty.
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
  let description = PiecesText # [{

        %1 = tp.local_all_gather %0 dim 0 groups dense<[[0, 1]]> : tensor<1x2xi64>
            pieces dense<[[4, 3]]> : tensor<1x2xi64>
            : (tensor<4x5xf32>) -> tensor<7x5xf32>
  }];
  let arguments = (ins TP_Tensor:$input, I64Attr:$dim, I64ElementsAttr:$groups,
                       OptionalAttr<I64ElementsAttr>:$pieces);
  let assemblyFormat = [{
    $input `dim` $dim `groups` $groups (`pieces` $pieces^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_LocalReduceScatterOp : TP_LocalCollective<"local_reduce_scatter"> {
  let summary = "the rank's piece along `dim` of the group's sum or maximum";
  let description = PiecesText;
  let arguments = (ins TP_Tensor:$input, TP_ReductionKind:$kind, I64Attr:$dim,
                       I64ElementsAttr:$groups,
                       OptionalAttr<I64ElementsAttr>:$pieces);
  let assemblyFormat = [{
    $input $kind `dim` $dim `groups` $groups (`pieces` $pieces^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_LocalAllToAllOp : TP_LocalCollective<"local_all_to_all"> {
  let summary = "gathers along `source` while splitting along `target`";
  let description = PiecesText # [{
    `source_pieces` are what the members hold along `source`, `target_pieces`
    what they get along `target`.
  }];
  let arguments = (ins TP_Tensor:$input, I64Attr:$source, I64Attr:$target,
                       I64ElementsAttr:$groups,
                       OptionalAttr<I64ElementsAttr>:$source_pieces,
                       OptionalAttr<I64ElementsAttr>:$target_pieces);
  let assemblyFormat = [{
    $input `from` $source `to` $target `groups` $groups
    (`source_pieces` $source_pieces^)? (`target_pieces` $target_pieces^)?
    attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_LocalPermuteOp : TP_LocalCollective<"local_permute"> {
  let summary = "each rank sends its block to one rank and gets one block";
  let description = [{
    `pairs` is a table of (source, target): each rank is once a source and once a
    target. `counts` are the numbers of elements of the blocks, one a pair;
    without it all blocks are equal.
  }];
  let arguments = (ins TP_Tensor:$input, I64ElementsAttr:$pairs,
                       OptionalAttr<DenseI64ArrayAttr>:$counts);
  let assemblyFormat = [{
    $input `pairs` $pairs (`counts` $counts^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_RankTableOp : TP_BaseOp<"rank_table", [Symbol,
    HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "which of several local functions each rank runs";
  let description = [{
    Where shards differ in size, a program has one function for each distinct
    set of local shapes. The table stands for all of them under the name of the
    unsharded function: rank r runs function number `function_of_rank[r]`. The
    functions are `tp.local`, and the same operation for operation; only shapes
    differ.

        tp.rank_table @main [@main_0, @main_1] [0, 0, 1]
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
      OptionalAttr<StrAttr>:$sym_visibility,
      TypedArrayAttrBase<FlatSymbolRefAttr, "functions">:$functions,
      DenseI64ArrayAttr:$function_of_rank);
  let assemblyFormat = "$sym_name $functions $function_of_rank attr-dict";
  let hasVerifier = 1;
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
