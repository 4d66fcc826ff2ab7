// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_TEST_PLAN_SHAREDRESHARD_H
#define TP_TEST_PLAN_SHAREDRESHARD_H

#include "tp/Solver/Problem.h"

namespace tp {

inline Price price(uint64_t time, uint64_t collectives = 0, uint64_t memory = 0,
                   uint64_t steps = 0) {
  return *Price::get({time, collectives, memory, steps});
}

/// Layouts 0 (split), 1 and 2 (two ways to be whole on the way to a use).
inline Problem makeShared() {
  Problem problem;
  problem.tables.push_back({4,
                            {price(0), price(8), price(8), price(6), //
                             price(9), price(0), price(4), price(2), //
                             price(9), price(4), price(0), price(2), //
                             price(7), price(2), price(2), price(0)}});
  problem.costVectors = {{price(0)}, {price(1)}};
  problem.layoutMaps = {{0}, {1}, {2}};
  problem.variables = {{"make", 0}, {"use1", 1}, {"use2", 1}};
  problem.values = {{"x", 0, {0, 0}, {{1, 1}, {2, 2}}}};
  return problem;
}

} // namespace tp

#endif // TP_TEST_PLAN_SHAREDRESHARD_H
