// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_ODOMETER_H
#define TP_SOLVER_ODOMETER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace tp {

/// For each variable of `over`, how far apart the cells of a table over `scope`
/// are; zero for those that it has not.
inline llvm::SmallVector<uint64_t, 6>
stridesOver(llvm::ArrayRef<unsigned> scope, llvm::ArrayRef<unsigned> sizes,
            llvm::ArrayRef<unsigned> over) {
  llvm::SmallVector<uint64_t, 6> strides(over.size());
  uint64_t stride = 1;
  for (size_t dim = scope.size(); dim-- > 0;) {
    const unsigned *it = llvm::find(over, scope[dim]);
    if (it != over.end())
      strides[it - over.begin()] = stride;
    stride *= sizes[dim];
  }
  return strides;
}

/// Walks over all points of a box, the last dimension fastest, and keeps for
/// each table the offset of the cell that belongs to the point. Refers to its
/// arguments.
class Odometer {
public:
  Odometer(llvm::ArrayRef<unsigned> sizes,
           llvm::ArrayRef<llvm::SmallVector<uint64_t, 6>> strides)
      : sizes(sizes), strides(strides), digits(sizes.size()),
        offsets(strides.size()) {}

  uint64_t getOffset(size_t table) const { return offsets[table]; }

  /// False when all points have been visited.
  bool next() {
    for (size_t dim = sizes.size(); dim-- > 0;) {
      if (++digits[dim] < sizes[dim]) {
        for (size_t table = 0; table < offsets.size(); ++table)
          offsets[table] += strides[table][dim];
        return true;
      }
      digits[dim] = 0;
      for (size_t table = 0; table < offsets.size(); ++table)
        offsets[table] -= strides[table][dim] * (sizes[dim] - 1);
    }
    return false;
  }

private:
  llvm::ArrayRef<unsigned> sizes;
  llvm::ArrayRef<llvm::SmallVector<uint64_t, 6>> strides;
  llvm::SmallVector<unsigned, 6> digits;
  llvm::SmallVector<uint64_t, 6> offsets;
};

} // namespace tp

#endif // TP_SOLVER_ODOMETER_H
