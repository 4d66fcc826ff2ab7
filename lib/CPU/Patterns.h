// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_CPU_PATTERNS_H
#define TP_CPU_PATTERNS_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "tp/IR/TP.h"

namespace tp {

/// Writes the scalars of one element of a result from those of the operands.
using ScalarBody = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// Replaces `op` by a loop nest over its result that reads `op`'s tensor
/// operands `inputs`, each aligned with the last dimensions of the result.
void replaceByElementwise(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                          mlir::ValueRange inputs, ScalarBody body);

/// The larger of two scalars of one type; NaN if one is.
mlir::Value takeLarger(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value x, mlir::Value y);

/// Arithmetic, activations, casts and constants.
void addElementwisePatterns(mlir::RewritePatternSet &patterns);
/// reshape, transpose, broadcast, slice, concat, local_slice and local_mask.
void addShapePatterns(mlir::RewritePatternSet &patterns);
/// Sums and maxima of integers; of floats, reductions of separate dimensions.
void addReductionPatterns(mlir::RewritePatternSet &patterns);
/// Replaces columns from `op`'s `valid` on by `lowest`.
void replaceMaskPadding(mlir::PatternRewriter &rewriter, MaskPaddingOp op,
                        mlir::FloatAttr lowest);
/// mask_padding.
void addVocabularyPatterns(mlir::RewritePatternSet &patterns);
/// Turns f16 and bf16 into f32 everywhere. Casts to them round to their values,
/// mask_padding keeps their lowest number. An error: constants whose values are
/// not in the text.
llvm::LogicalResult widenFloats(mlir::ModuleOp module);
/// Replaces each shard_origin by arithmetic on the number of the rank.
llvm::LogicalResult lowerShardOrigins(mlir::ModuleOp module);

/// Each family's models of the operations that become calls.
void addElementwiseModels(mlir::MLIRContext &context);
void addMatmulModels(mlir::MLIRContext &context);
void addAttentionModels(mlir::MLIRContext &context);
void addNormModels(mlir::MLIRContext &context);
void addReductionModels(mlir::MLIRContext &context);
void addVocabularyModels(mlir::MLIRContext &context);
void addCollectiveModels(mlir::MLIRContext &context);

/// Copies between strided buffers become loops, and every buffer is freed after
/// its last use.
std::unique_ptr<mlir::Pass> createTidyBuffersPass();
/// Calls on buffers become calls on pointers.
std::unique_ptr<mlir::Pass> createLowerRuntimeCallsPass();

} // namespace tp

#endif // TP_CPU_PATTERNS_H
