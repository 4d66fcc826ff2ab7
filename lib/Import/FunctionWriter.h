// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_FUNCTIONWRITER_H
#define TP_IMPORT_FUNCTIONWRITER_H

#include "tp/IR/TP.h"
#include "tp/Import/HFConfig.h"
#include "llvm/ADT/StringMap.h"

namespace tp {

/// An argument of a function that is not a weight, or a result.
struct NamedTensor {
  mlir::RankedTensorType type;
  llvm::SmallVector<mlir::NamedAttribute> attributes;
};

/// Writes one function of a decoder, whose arguments are activations and then
/// weights. Operations are named after the modules of the checkpoint.
class FunctionWriter {
public:
  /// `prefix` begins the location of every operation.
  FunctionWriter(mlir::MLIRContext *context, mlir::Type element,
                 const DecoderConfig &config, llvm::StringRef prefix)
      : builder(context), element(element), config(config), prefix(prefix) {}

  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape) const {
    return mlir::RankedTensorType::get(shape, element);
  }
  mlir::Location at(const llvm::Twine &name) {
    return mlir::NameLoc::get(builder.getStringAttr(prefix + name));
  }
  mlir::NamedAttribute named(llvm::StringRef attribute, llvm::StringRef text) {
    return builder.getNamedAttr(attribute, builder.getStringAttr(text));
  }
  /// Marks the result of `op` as the stream between blocks.
  void markStream(mlir::Operation *op);

  /// Appends the function to `module` and goes to its body.
  mlir::func::FuncOp begin(mlir::ModuleOp module, llvm::StringRef name,
                           llvm::ArrayRef<NamedTensor> activations,
                           llvm::ArrayRef<WeightSpec> specs,
                           llvm::ArrayRef<NamedTensor> results);

  /// Which part of the checkpoint's tensor a weight is, for those that are not
  /// the whole of it; before `begin`.
  llvm::StringMap<StoredAttr> stored;

  /// Null if the function has no such weight.
  mlir::Value weight(const llvm::Twine &name) const {
    return weights.lookup(name.str());
  }

  /// `input` times the weight of `module`, as in "self_attn.q_proj", plus its
  /// bias if there is one.
  mlir::Value project(mlir::Value input, llvm::StringRef module);
  /// The norm of the config, with the gain of `module`.
  mlir::Value normalise(mlir::Value input, llvm::StringRef module);
  mlir::Value reshape(mlir::Value input, llvm::ArrayRef<int64_t> shape,
                      const llvm::Twine &name);
  /// Elements `offset` to `offset + size` of the last dimension.
  mlir::Value columns(mlir::Value input, int64_t offset, int64_t size,
                      const llvm::Twine &name);
  /// `input` times a number, rounded to the element type.
  mlir::Operation *scaled(mlir::Value input, double factor,
                          const llvm::Twine &name);
  /// The config's activation.
  mlir::Value activate(mlir::Value input);

  mlir::OpBuilder builder;

private:
  mlir::Value number(double value, const llvm::Twine &name);

  mlir::Type element;
  const DecoderConfig &config;
  llvm::StringRef prefix;
  llvm::StringMap<mlir::Value> weights;
};

/// What locations call a module: its path without the folders that repeat.
llvm::StringRef label(llvm::StringRef module);

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace tp

#endif // TP_IMPORT_FUNCTIONWRITER_H
