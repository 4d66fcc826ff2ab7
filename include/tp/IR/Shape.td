// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_SHAPE_TD
#define TP_IR_SHAPE_TD

include "tp/IR/Dialect.td"

def TP_ReshapeOp : TP_Op<"reshape"> {
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

def TP_TransposeOp : TP_Op<"transpose"> {
  let summary = "dimension i of the result is dimension permutation[i]";
  let arguments = (ins TP_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat = [{
    $input `by` $permutation attr-dict `:` functional-type(operands, results)
  }];
}

#endif // TP_IR_SHAPE_TD
