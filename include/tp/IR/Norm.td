// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_NORM_TD
#define TP_IR_NORM_TD

include "tp/IR/Dialect.td"

def TP_RMSNormOp
    : TP_Op<"rms_norm", [TP_OneElementType, TP_ResultLikeOperand]> {
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

def TP_LayerNormOp
    : TP_Op<"layer_norm", [TP_OneElementType, TP_ResultLikeOperand]> {
  let summary = "normalisation over the last dimension";
  let description = [{
    `(x - mean(x)) / sqrt(variance(x) + epsilon) * gain + bias` (Ba, Kiros and
    Hinton 2016), where the variance is the mean of the squared deviations. The
    last dimension must be whole; the others may be split. Linear in gain and
    bias together.

        %y = tp.layer_norm %x, %gain, %bias {epsilon = 1.0e-5 : f64}
            : (tensor<5x7xf32>, tensor<7xf32>, tensor<7xf32>) -> tensor<5x7xf32>
  }];
  let arguments = (ins TP_FloatTensor:$input, TP_FloatTensor:$gain,
                       Optional<TP_FloatTensor>:$bias, F64Attr:$epsilon);
  let results = (outs TP_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $gain (`,` $bias^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // TP_IR_NORM_TD
