// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_SYMBOLS_H
#define TP_RUNTIME_SYMBOLS_H

#include <span>

namespace tp::runtime {

/// A function of Abi.h, for a JIT that resolves names itself.
struct Symbol {
  const char *name;
  void *address;
};

/// All functions of Abi.h.
std::span<const Symbol> abiSymbols();

} // namespace tp::runtime

#endif // TP_RUNTIME_SYMBOLS_H
