// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Plan/MinimalConflict.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace llvm;

namespace {

class ConflictFinder {
public:
  using Demands = SmallVector<unsigned>;

  explicit ConflictFinder(function_ref<bool(ArrayRef<unsigned>)> canBeMet)
      : canBeMet(canBeMet) {}

  /// The members of a minimal conflict that `candidates` must add to `given`.
  /// `isNew` if `given` has grown since it was last known to be met.
  Demands find(const Demands &given, bool isNew,
               ArrayRef<unsigned> candidates) const {
    if (isNew && !canBeMet(given))
      return {};
    if (candidates.size() <= 1)
      return Demands(candidates);
    ArrayRef<unsigned> first = candidates.take_front(candidates.size() / 2);
    ArrayRef<unsigned> second = candidates.drop_front(first.size());
    Demands ofSecond = find(join(given, first), true, second);
    Demands ofFirst = find(join(given, ofSecond), !ofSecond.empty(), first);
    return join(ofFirst, ofSecond);
  }

private:
  static Demands join(Demands demands, ArrayRef<unsigned> more) {
    append_range(demands, more);
    return demands;
  }

  function_ref<bool(ArrayRef<unsigned>)> canBeMet;
};

} // namespace

SmallVector<unsigned>
tp::findMinimalConflict(unsigned count,
                        function_ref<bool(ArrayRef<unsigned>)> canBeMet) {
  SmallVector<unsigned> all = llvm::to_vector(seq(count));
  SmallVector<unsigned> conflict =
      ConflictFinder(canBeMet).find({}, false, all);
  llvm::sort(conflict);
  return conflict;
}
