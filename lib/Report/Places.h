// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_REPORT_PLACES_H
#define TP_REPORT_PLACES_H

#include "tp/Report/Report.h"

namespace tp {

/// Names are made valid UTF-8.
Place getPlace(mlir::Operation *op);

} // namespace tp

#endif // TP_REPORT_PLACES_H
