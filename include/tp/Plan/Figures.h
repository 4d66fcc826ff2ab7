// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Figures of a plan in words.

#ifndef TP_PLAN_FIGURES_H
#define TP_PLAN_FIGURES_H

#include <string>

namespace tp {

/// "1.200 us", "1,024 bytes".
std::string toMicroseconds(double seconds);
std::string toBytes(double count);

} // namespace tp

#endif // TP_PLAN_FIGURES_H
