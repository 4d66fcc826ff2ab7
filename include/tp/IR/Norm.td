// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_NORM_TD
#define TP_IR_NORM_TD

include "tp/IR/Dialect.td"

def TP_RMSNormOp : TP_Op<"rms_norm"> {
  let summary = "root mean square normalisation over the last dimension";
  let description = [{
    `x / sqrt(mean(x^2) + epsilon) * gain` (Zhang and Sennrich 2019). The last
    dimension must be whole; the others may be split.
  }];
  let arguments = (ins TP_FloatTensor:$input, TP_FloatTensor:$gain,
                       F64Attr:$epsilon);
  let results = (outs TP_FloatTensor:$result);
  let assemblyFormat =
      "$input `,` $gain attr-dict `:` functional-type(operands, results)";
}

#endif // TP_IR_NORM_TD
