// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_ELEMENTWISE_TD
#define TP_IR_ELEMENTWISE_TD

include "mlir/IR/EnumAttr.td"
include "tp/IR/Dialect.td"

class TP_Binary<string mnemonic> : TP_Op<mnemonic, [TP_OneElementType]> {
  let arguments = (ins TP_Tensor:$lhs, TP_Tensor:$rhs);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat =
      "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

class TP_Unary<string mnemonic> : TP_Op<mnemonic, [TP_ResultLikeOperand]> {
  let hasVerifier = 0;
  let arguments = (ins TP_FloatTensor:$input);
  let results = (outs TP_FloatTensor:$result);
  let assemblyFormat =
      "$input attr-dict `:` functional-type(operands, results)";
}

defvar BroadcastText = [{
    An operand of lower rank is aligned with the last dimensions of the other
    (a bias, a gain). Dimensions of size 1 are not stretched.
}];

def TP_AddOp : TP_Binary<"add"> {
  let summary = "elementwise sum";
  let description = [{
    Linear in both operands together: a sum of two partial sums over the same
    axes is a partial sum; partial plus whole adds the whole one on every rank
    and is an error.
  }] # BroadcastText;
}
def TP_SubOp : TP_Binary<"sub"> {
  let summary = "elementwise difference";
  let description = "Linear in both operands together, as `tp.add`.\n"
                    # BroadcastText;
}
def TP_MulOp : TP_Binary<"mul"> {
  let summary = "elementwise product";
  let description = [{
    Linear in each operand while the other is whole; a product of two partial
    sums is an error.
  }] # BroadcastText;
}

def TP_DivOp : TP_Binary<"div"> {
  let summary = "elementwise quotient";
  let description = [{
    Of floating-point numbers. Linear in the left operand; the right one must be
    finished.

        // probabilities from exponentials and their sums
        %t = tp.broadcast %sum along [1] : (tensor<5xf32>) -> tensor<5x7xf32>
        %p = tp.div %e, %t : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  }] # BroadcastText;
  let arguments = (ins TP_FloatTensor:$lhs, TP_FloatTensor:$rhs);
  let results = (outs TP_FloatTensor:$result);
}

def TP_MaximumOp : TP_Binary<"maximum"> {
  let summary = "the larger of two elements";
  let description = [{
    NaN if one is; of i1 the logical or. Takes unfinished maxima, next to
    finished values as well, but no partial sums.

        %y = tp.maximum %x, %floor : (tensor<5x7xf32>, tensor<7xf32>) -> tensor<5x7xf32>
  }] # BroadcastText;
}

def TP_Comparison : I32EnumAttr<"Comparison", "how two numbers are compared", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>,
    I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>,
    I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::tp";
}

def TP_CompareOp : TP_Op<"compare", [AllElementTypesMatch<["lhs", "rhs"]>]> {
  let summary = "whether a relation of integers holds, by element";
  let description = [{
    A mask, which `tp.cast` makes a number.

        // the tokens that count
        %c = tp.constant dense<-100> : tensor<i64>
        %m = tp.compare ne %targets, %c
            : (tensor<3x5xi64>, tensor<i64>) -> tensor<3x5xi1>
  }] # BroadcastText;
  let arguments = (ins TP_Comparison:$relation, TP_IntegerTensor:$lhs,
                       TP_IntegerTensor:$rhs);
  let results = (outs StaticShapeTensorOf<[I1]>:$result);
  let assemblyFormat = [{
    $relation $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
}

def TP_DropoutOp : TP_Op<"dropout", [TP_ResultLikeOperand,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface,
                              ["getShardingRule", "writeLocal"]>]> {
  let summary = "elements set to 0 at random";
  let description = [{
    Each element is 0 with probability `rate`, and otherwise divided by
    1 - rate (Srivastava et al. 2014). What happens to an element is a function
    of the seed, of `site`, which tells the places of a program apart, and of the
    element's index in the whole tensor, so it is the same however that is split:
    word (index mod 4) of Philox4x32-10 (Salmon et al. 2011) with the counter
    (index / 4, site) and the seed as its key, below rate * 2^32. Linear in the
    input.

    In the local phase `origin` is the row-major index, in the tensor of
    `global_shape`, of the rank's first element.

        %y = tp.dropout %x, %seed {rate = 0.1 : f64, site = 3 : i64}
            : (tensor<5x7xf32>, tensor<i64>) -> tensor<5x7xf32>
  }];
  let arguments = (ins TP_FloatTensor:$input, StaticShapeTensorOf<[I64]>:$seed,
                       Optional<Index>:$origin, F64Attr:$rate,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$site,
                       OptionalAttr<DenseI64ArrayAttr>:$global_shape);
  let results = (outs TP_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $seed (`from` $origin^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def TP_ExpOp : TP_Unary<"exp"> { let summary = "e^x"; }
def TP_LogOp : TP_Unary<"log"> { let summary = "natural logarithm"; }
def TP_SigmoidOp : TP_Unary<"sigmoid"> { let summary = "1 / (1 + exp(-x))"; }
def TP_ReluOp : TP_Unary<"relu"> { let summary = "max(x, 0)"; }
def TP_SiluOp : TP_Unary<"silu"> { let summary = "x / (1 + exp(-x))"; }
def TP_TanhOp : TP_Unary<"tanh"> { let summary = "hyperbolic tangent"; }
def TP_GeluOp : TP_Unary<"gelu"> {
  let summary = "Gaussian error linear unit";
  let description = [{
    `x/2 (1 + erf(x/sqrt 2))` (Hendrycks and Gimpel 2016), or with `tanh` the
    approximation `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`.
  }];
  let arguments = (ins TP_FloatTensor:$input, UnitAttr:$tanh);
  let assemblyFormat =
      "$input (`tanh` $tanh^)? attr-dict `:` functional-type(operands, results)";
}

def TP_CastOp : TP_Op<"cast", [DeclareOpInterfaceMethods<ShardingRuleOpInterface,
    ["getShardingRule", "keepsPartialSums"]>]> {
  let summary = "changes the element type";
  let description = [{
    Between floating-point types, or from an integer to a wider one or to
    floating point. A value that the result's type does not hold is rounded to
    nearest, ties to even.

    A partial sum passes from one floating-point type to another that holds all
    of its values, and nowhere else: rounding parts is not rounding their sum,
    and the parts of a sum of integers, which wraps, add up to another number in
    a wider type. An unfinished maximum passes every cast: none changes the order
    of two values.
  }];
  let arguments = (ins TP_Tensor:$input);
  let results = (outs TP_Tensor:$result);
  let assemblyFormat =
      "$input attr-dict `:` functional-type(operands, results)";
}

def TP_ConstantOp : TP_Op<"constant", [ConstantLike,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface,
                              ["getShardingRule", "writeLocal"]>]> {
  let summary = "a tensor known at compile time";
  let description = [{
        %g = tp.constant dense<[1.0, 2.0]> : tensor<2xf32>
        %h = tp.constant dense<[1.0, 2.0]> : tensor<2xf32> as tensor<2xf32, #split>

    Any dimension may be split. A constant that is not zero is never unreduced.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs TP_Tensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
}

#endif // TP_IR_ELEMENTWISE_TD
