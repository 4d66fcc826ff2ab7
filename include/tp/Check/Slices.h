// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// From ranks to the tensors of a checkpoint.

#ifndef TP_CHECK_SLICES_H
#define TP_CHECK_SLICES_H

#include "tp/IR/LocalShape.h"
#include "tp/IR/TP.h"
#include "llvm/Support/JSON.h"

namespace tp {

/// A rectangle of a stored tensor, and where in the rank's tensor it goes.
struct StoredSlice {
  llvm::SmallVector<Range> from;
  llvm::SmallVector<int64_t> to;
};

/// What some ranks hold of a parameter.
struct Holding {
  llvm::SmallVector<int64_t> ranks;
  /// Of the parameter, as the program has it.
  llvm::SmallVector<Range> ranges;
  llvm::SmallVector<StoredSlice> slices;
};

/// A parameter of a typed program and who holds which part of it.
struct HeldParameter {
  /// In the program, and in the checkpoint.
  std::string name, tensor;
  llvm::SmallVector<int64_t> storedShape;
  /// Ranks that hold the same are together.
  std::vector<Holding> holdings;
};

/// The mesh of the module, small enough to list its ranks; diagnosed for the
/// pass called `flag`.
mlir::FailureOr<MeshAttr> findListedMesh(mlir::ModuleOp module,
                                         llvm::StringRef flag);

/// Reads the parameters of a function in the order of the arguments. Diagnoses
/// one without a layout for the pass called `flag`, and one that consists of
/// too many parts.
mlir::FailureOr<std::vector<HeldParameter>>
readHeldParameters(mlir::func::FuncOp function, MeshAttr mesh,
                   llvm::StringRef flag);

/// " [0:2, 0:6]", with ends as in Python.
void printSlice(const StoredSlice &slice, llvm::raw_ostream &os);

/// Writes `tensor`, `tensor_shape` and `held` of the open object.
void writeHoldings(const HeldParameter &parameter, llvm::json::OStream &json);

} // namespace tp

#endif // TP_CHECK_SLICES_H
