// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_SHAPE_TD
#define TP_IR_SHAPE_TD

include "tp/IR/Dialect.td"

def TP_ReshapeOp : TP_Op<"reshape", [TP_OneElementType]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    The rule factors both shapes: [b, s, h*d] to [b, s, h, d] splits by whole
    heads. What would move elements between ranks is an error.
  }];
  let arguments = (ins TP_Tensor:$input);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat =
      "$input attr-dict `:` functional-type(operands, results)";
}

def TP_TransposeOp : TP_Op<"transpose", [TP_OneElementType]> {
  let summary = "dimension i of the result is dimension permutation[i]";
  let arguments = (ins TP_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat = [{
    $input `by` $permutation attr-dict `:` functional-type(operands, results)
  }];
}

def TP_SliceOp : TP_Op<"slice", [TP_OneElementType]> {
  let summary = "a range of each dimension";
  let description = [{
    Element i of a dimension of the result is element `offsets + i` of the
    operand's. Dimensions that are taken as a whole may be split; those of which
    only a part is taken must be whole, for a rank's part of the range need not
    be in its part of the operand.

        // the second of three blocks of 8 columns
        %k = tp.slice %qkv at [0, 8] : (tensor<5x24xf32>) -> tensor<5x8xf32>
  }];
  let arguments = (ins TP_Tensor:$input, DenseI64ArrayAttr:$offsets);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat =
      "$input `at` $offsets attr-dict `:` functional-type(operands, results)";
}

def TP_BroadcastOp : TP_Op<"broadcast", [TP_OneElementType]> {
  let summary = "repeats the operand along new dimensions";
  let description = [{
    `dimensions` are the new dimensions, by their number in the result and
    ascending; the others are the operand's, in order. Any of them may be split.
    Arithmetic aligns operands of lower rank with the last dimensions by itself
    (`tp.add`): this is for values that lack other dimensions.

        // one number a row, for every column
        %y = tp.broadcast %x along [1] : (tensor<5xf32>) -> tensor<5x7xf32>
  }];
  let arguments = (ins TP_Tensor:$input, DenseI64ArrayAttr:$dimensions);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat = [{
    $input `along` $dimensions attr-dict `:` functional-type(operands, results)
  }];
}

def TP_ConcatOp : TP_Op<"concat"> {
  let summary = "the operands one after the other along a dimension";
  let description = [{
    Dimension `dim` must be whole in all operands, for a rank's part of the
    result need not be in its parts of the operands; the others may be split.
    The cost model takes it for free, as other moves: what grows, such as a
    cache, has room at its end.

        // the keys of a cache of 9 tokens and of the new one, by KV head
        %k = tp.concat %cache, %new along 1
            : (tensor<3x9x4x8xf32>, tensor<3x1x4x8xf32>) -> tensor<3x10x4x8xf32>
  }];
  let arguments = (ins Variadic<TP_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat =
      "$inputs `along` $dim attr-dict `:` functional-type(operands, results)";
}

#endif // TP_IR_SHAPE_TD
