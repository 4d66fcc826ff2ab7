// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_DIALECT_TD
#define TP_IR_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tp/IR/Interfaces.td"

def TP_Dialect : Dialect {
  let name = "tp";
  let cppNamespace = "::tp";
  let summary = "tensor programs split over the ranks of a device mesh";
  let description = [{
    A value has its *global* shape. The encoding of its tensor type, a
    `#tp.sharding`, says how the value lies on the mesh. An operation is well
    typed when every rank can compute its piece of the results from its pieces
    of the operands without talking to anyone; a collective changes only the
    encoding.

    A program passes through three phases. *Open*: no encodings, the planner
    decides; an encoding pins one value. *Typed*: every tensor has an encoding.
    *Local*: functions marked `tp.local` hold the program of one rank on plain
    tensors of local shape, with collectives that name their groups.

    Integers are two's complement numbers of the width of their type, i1 is 0 or
    1: sums, differences and products wrap around, wherever they are taken. So
    they are linear, and any order of a sum gives the same value.

    Attributes that other operations may carry:

    | attribute | on | meaning |
    |---|---|---|
    | `tp.name` | arguments, results | a name that survives printing (the checkpoint's, for weights) |
    | `tp.parameter` | arguments | a weight: its layout is a choice of the planner |
    | `tp.stream` | arguments, tp operations | the values between blocks, which `sequence-parallel` constrains |
    | `tp.like` | results | number of an argument of the same rank whose layout the result takes |
    | `tp.stored` | arguments, results | which part of which tensor of a file the value is, where it is not the one called `tp.name` |
    | `tp.bound` | integer arguments | values lie in [0, bound) |
    | `tp.local` | functions | the local phase |
    | `tp.ranks` | functions | number of ranks a local function is written for |
    | `tp.machine` | module | the machine that the plan was made for |
    | `tp.plan` | module | the options and pins that the plan answers to |
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = "void registerGeneratedEntities();";
}

def TP_Float : AnyTypeOf<[F64, F32, F16, BF16], "floating-point">;
def TP_Integer : AnyTypeOf<[I64, I32], "i64 or i32">;
def TP_Number : AnyTypeOf<[F64, F32, F16, BF16, I64, I32, I1],
                          "f64, f32, f16, bf16, i64, i32 or i1">;

def TP_Tensor : StaticShapeTensorOf<[TP_Number]>;
def TP_FloatTensor : StaticShapeTensorOf<[TP_Float]>;
def TP_IntegerTensor : StaticShapeTensorOf<[TP_Integer]>;

/// All tensors of an operation have one element type. Traits here compare types
/// without their encodings, as those of MLIR do not.
def TP_OneElementType : NativeOpTrait<"OneElementType"> {
  let cppNamespace = "::tp";
}

/// The result has the shape and element type of operand 0.
def TP_ResultLikeOperand : NativeOpTrait<"ResultLikeOperand"> {
  let cppNamespace = "::tp";
}

/// Any operation of the dialect.
class TP_BaseOp<string mnemonic, list<Trait> traits = []>
    : Op<TP_Dialect, mnemonic, traits>;

/// An operation that computes. It has a sharding rule and work: an operation
/// without them does not link.
class TP_Op<string mnemonic, list<Trait> traits = []>
    : TP_BaseOp<mnemonic, !listconcat(traits, [
        Pure, DeclareOpInterfaceMethods<ShardingRuleOpInterface,
                                        ["getShardingRule"]>,
        DeclareOpInterfaceMethods<WorkOpInterface>])> {
  let hasVerifier = 1;
}

#endif // TP_IR_DIALECT_TD
