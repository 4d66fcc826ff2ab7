// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The tp dialect: include this.

#ifndef TP_IR_TP_H
#define TP_IR_TP_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tp/IR/LocalWriter.h"
#include "tp/IR/Sharding.h"
#include "tp/IR/ShardingRule.h"
#include "tp/IR/Traits.h"
#include "tp/IR/Work.h"
#include "llvm/Support/Error.h"

#include "tp/IR/Dialect.h.inc"
#include "tp/IR/OpInterfaces.h.inc"

namespace tp {

/// The communication that the local collectives of a rank share.
struct CommunicationResource
    : mlir::SideEffects::Resource::Base<CommunicationResource> {
  llvm::StringRef getName() final { return "communication"; }
};

} // namespace tp

#define GET_OP_CLASSES
#include "tp/IR/Ops.h.inc"

namespace tp {

/// Names of the attributes that the dialect puts on other operations; the
/// dialect's description says what each means.
inline constexpr llvm::StringLiteral nameAttrName = "tp.name";
inline constexpr llvm::StringLiteral parameterAttrName = "tp.parameter";
inline constexpr llvm::StringLiteral streamAttrName = "tp.stream";
inline constexpr llvm::StringLiteral likeAttrName = "tp.like";
inline constexpr llvm::StringLiteral boundAttrName = "tp.bound";
inline constexpr llvm::StringLiteral storedAttrName = "tp.stored";
inline constexpr llvm::StringLiteral localAttrName = "tp.local";
inline constexpr llvm::StringLiteral ranksAttrName = "tp.ranks";
inline constexpr llvm::StringLiteral machineAttrName = "tp.machine";
inline constexpr llvm::StringLiteral planAttrName = "tp.plan";
/// On a local function's arguments and results: the global type.
inline constexpr llvm::StringLiteral globalAttrName = "tp.global";

/// Whether `op` only says where elements are: it moves them and computes
/// nothing.
bool isMove(ShardingRuleOpInterface op);

/// The function called `name`, or without a name the only public one; it has a
/// body.
llvm::Expected<mlir::func::FuncOp> findEntry(mlir::ModuleOp module,
                                             llvm::StringRef name = {});

} // namespace tp

#endif // TP_IR_TP_H
