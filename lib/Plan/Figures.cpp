// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Plan/Figures.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace tp;

std::string tp::toMicroseconds(double seconds) {
  return llvm::formatv("{0:f3} us", seconds * 1e6);
}

std::string tp::toBytes(double count) {
  return llvm::formatv("{0:N} bytes",
                       static_cast<int64_t>(std::llround(count)));
}
