// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_COLLECTIVE_TD
#define TP_IR_COLLECTIVE_TD

include "tp/IR/Dialect.td"
include "tp/IR/Sharding.td"

/// A collective of the typed phase: changes the encoding only.
class TP_Collective<string mnemonic> : TP_BaseOp<mnemonic, [Pure,
    DeclareOpInterfaceMethods<CollectiveOpInterface,
                              ["getLayoutStep", "writeLocal"]>]> {
  let results = (outs TP_Tensor:$result);
  let hasVerifier = 1;
}

def TP_Axes : TypedArrayAttrBase<TP_AxisRef, "mesh axes, major to minor">;

def TP_AllReduceOp : TP_Collective<"all_reduce"> {
  let summary = "finishes a sum or maximum";
  let description = [{
    Removes `axes` from the unreduced set. Every rank of a group gets bitwise
    the same value.

        %1 = tp.all_reduce %0 over {"tp"}
            : (tensor<8x64xf32, #partial>) -> tensor<8x64xf32, #whole>
  }];
  let arguments = (ins TP_Tensor:$input, TP_Axes:$axes);
  let assemblyFormat = [{
    $input `over` custom<Axes>($axes) attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_AllGatherOp : TP_Collective<"all_gather"> {
  let summary = "removes the minor-most axes of a dimension";
  let arguments = (ins TP_Tensor:$input, I64Attr:$dim, TP_Axes:$axes);
  let assemblyFormat = [{
    $input `dim` $dim `over` custom<Axes>($axes) attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_ReduceScatterOp : TP_Collective<"reduce_scatter"> {
  let summary = "finishes a sum and splits a dimension, appending minor-most";
  let arguments = (ins TP_Tensor:$input, I64Attr:$dim, TP_Axes:$axes);
  let assemblyFormat = [{
    $input `dim` $dim `over` custom<Axes>($axes) attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_AllToAllOp : TP_Collective<"all_to_all"> {
  let summary = "moves the minor-most axes of one dimension to another";
  let arguments = (ins TP_Tensor:$input, I64Attr:$source, I64Attr:$target,
                       TP_Axes:$axes);
  let assemblyFormat = [{
    $input `from` $source `to` $target `over` custom<Axes>($axes) attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_AllSliceOp : TP_Collective<"all_slice"> {
  let summary = "each rank keeps its part of a dimension; nothing is sent";
  let arguments = (ins TP_Tensor:$input, I64Attr:$dim, TP_Axes:$axes);
  let assemblyFormat = [{
    $input `dim` $dim `over` custom<Axes>($axes) attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_ToUnreducedOp : TP_Collective<"to_unreduced"> {
  let summary = "whole to unreduced: coordinate 0 keeps the value, others hold 0";
  let arguments = (ins TP_Tensor:$input, TP_Axes:$axes);
  let assemblyFormat = [{
    $input `over` custom<Axes>($axes) attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_CollectivePermuteOp : TP_Collective<"collective_permute"> {
  let summary = "changes the order of the axes that split a dimension";
  let arguments = (ins TP_Tensor:$input, I64Attr:$dim, TP_Axes:$axes);
  let assemblyFormat = [{
    $input `dim` $dim `to` custom<Axes>($axes) attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_ReshardOp : TP_BaseOp<"reshard", [Pure]> {
  let summary = "from any layout to any other, not yet decomposed";
  let arguments = (ins TP_Tensor:$input);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat =
      "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // TP_IR_COLLECTIVE_TD
