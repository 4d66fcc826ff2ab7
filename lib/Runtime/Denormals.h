// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_DENORMALS_H
#define TP_RUNTIME_DENORMALS_H

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tp::runtime {

/// Makes the current thread flush denormal results and operands to zero;
/// returns the former state. Processors other than x86 keep theirs.
inline unsigned flushDenormals() {
#if defined(__SSE__)
  constexpr unsigned flushToZero = 0x8000, denormalsAreZero = 0x0040;
  unsigned state = _mm_getcsr();
  _mm_setcsr(state | flushToZero | denormalsAreZero);
  return state;
#else
  return 0;
#endif
}

inline void restoreFloatingPoint([[maybe_unused]] unsigned state) {
#if defined(__SSE__)
  _mm_setcsr(state);
#endif
}

} // namespace tp::runtime

#endif // TP_RUNTIME_DENORMALS_H
