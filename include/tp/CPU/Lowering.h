// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// From the program of one rank to LLVM.

#ifndef TP_CPU_LOWERING_H
#define TP_CPU_LOWERING_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace tp {

/// Adds the passes that take a module of `tp.local` functions to the LLVM
/// dialect. Public functions get a C interface (`_mlir_ciface_<name>`) whose
/// arguments are pointers to memref descriptors. The code calls the functions
/// of Runtime/Abi.h. Element types are f32, f64, i32, i64 and i1; others are
/// reported as errors.
void buildLowerToCPUPipeline(mlir::OpPassManager &manager);

/// Says to bufferization how the tp operations that call the run-time library
/// use their operands, and registers the upstream models that the pipeline
/// needs. The pass does this by itself.
void registerCPUBufferization(mlir::DialectRegistry &registry);

} // namespace tp

#endif // TP_CPU_LOWERING_H
