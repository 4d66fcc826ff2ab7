// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_OPTIONSCHECK_H
#define TP_IMPORT_OPTIONSCHECK_H

#include "mlir/IR/Builders.h"
#include "tp/Import/Decoder.h"

namespace tp {

/// The element type that the options name, or null.
mlir::Type parseElementType(mlir::Builder builder, llvm::StringRef name);

/// Everything in the options that does not fit the config, one line each.
llvm::Error checkOptions(const DecoderConfig &config,
                         const DecoderOptions &options, mlir::Type element);

} // namespace tp

#endif // TP_IMPORT_OPTIONSCHECK_H
