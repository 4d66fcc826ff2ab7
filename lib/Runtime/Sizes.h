// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_SIZES_H
#define TP_RUNTIME_SIZES_H

#include <cstdint>
#include <initializer_list>

namespace tp::runtime {

/// A size that compiled code passed, with the name its error uses.
struct NamedSize {
  const char *name;
  int64_t value;
};

/// Product of the sizes of a buffer whose elements take `elementBytes`. Throws
/// RuntimeError if a size is negative or the buffer has 2^63 bytes or more;
/// that another size is 0 is no excuse.
int64_t checkedCount(std::initializer_list<NamedSize> sizes,
                     int64_t elementBytes);

} // namespace tp::runtime

#endif // TP_RUNTIME_SIZES_H
