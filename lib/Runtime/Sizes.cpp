// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Sizes.h"
#include "tp/Runtime/Communicator.h"

#include <algorithm>
#include <string>

using namespace tp::runtime;

int64_t tp::runtime::checkedCount(std::initializer_list<NamedSize> sizes,
                                  int64_t elementBytes) {
  int64_t count = 1;
  int64_t bytes = elementBytes;
  std::string text;
  for (const NamedSize &size : sizes) {
    if (size.value < 0)
      throw RuntimeError(std::string("size \"") + size.name + "\" is " +
                         std::to_string(size.value));
    // A zero elsewhere must not hide a product of the others that overflows.
    int64_t factor = std::max<int64_t>(size.value, 1);
    if (__builtin_mul_overflow(bytes, factor, &bytes)) {
      for (const NamedSize &each : sizes)
        text += (text.empty() ? "" : " x ") + std::string(each.name) + " " +
                std::to_string(each.value);
      throw RuntimeError("a buffer of " + text +
                         " elements is larger than memory can be");
    }
    count *= size.value;
  }
  return count;
}
