// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_MATMUL_TD
#define TP_IR_MATMUL_TD

include "tp/IR/Dialect.td"

def TP_MatmulOp : TP_Op<"matmul", [TP_OneElementType]> {
  let summary = "matrix product, batched or not";
  let description = [{
    `lhs` is [batch.., m, k] (with `transpose_a` [batch.., k, m]); `rhs` is
    [k, n], shared by the batch, or [batch.., k, n] (with `transpose_b` the last
    two exchanged). The result is [batch.., m, n]. Linear in each operand.
    Splitting n splits the result's columns, splitting k leaves a partial sum.

        // a weight as checkpoints store it: (out, in)
        %q = tp.matmul %x, %wq {transpose_b}
            : (tensor<2x7x48xf32>, tensor<64x48xf32>) -> tensor<2x7x64xf32>
  }];
  let arguments = (ins TP_FloatTensor:$lhs, TP_FloatTensor:$rhs,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs TP_FloatTensor:$result);
  let assemblyFormat =
      "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

#endif // TP_IR_MATMUL_TD
