// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_EXCHANGE_H
#define TP_RUNTIME_EXCHANGE_H

#include "tp/Runtime/Communicator.h"

#include <span>

namespace tp::runtime {

/// The buffers of one member of a collective.
struct Buffers {
  const void *in;
  void *out;
};

/// The share of member `self` of a collective among threads, which all see each
/// other's buffers; `members` is in the order of the group. Between a barrier
/// before and one after the shares of all members, no two of them touch the
/// same bytes unless both read. The results do not depend on how the work is
/// shared.
void exchangeShare(const Call &call, std::span<const Buffers> members,
                   size_t self);

} // namespace tp::runtime

#endif // TP_RUNTIME_EXCHANGE_H
