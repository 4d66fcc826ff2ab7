// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_TEST_RUNTIME_RUNRANKS_H
#define TP_TEST_RUNTIME_RUNRANKS_H

#include "tp/Runtime/Rank.h"
#include "tp/Runtime/Threads.h"

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tp::test {

using Errors = std::vector<std::optional<std::string>>;

/// Runs `program(rank)` on every rank of a world, each in a thread; the errors
/// by rank.
inline Errors runRanks(runtime::ThreadWorld &world,
                       const std::function<void(int64_t)> &program) {
  auto numRanks = static_cast<size_t>(world.size());
  Errors errors(numRanks);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < numRanks; ++rank)
    threads.emplace_back([&, rank] {
      auto number = static_cast<int64_t>(rank);
      runtime::RankScope scope(world.communicator(number));
      errors[rank] = runtime::runRank(scope, [&] { program(number); });
    });
  for (std::thread &thread : threads)
    thread.join();
  return errors;
}

inline Errors runRanks(int64_t numRanks, double deadlineSeconds,
                       const std::function<void(int64_t)> &program) {
  runtime::ThreadWorld world(numRanks, deadlineSeconds);
  return runRanks(world, program);
}

/// The error of a program that runs alone, or "".
inline std::string errorOf(const std::function<void()> &program) {
  Errors errors = runRanks(1, 60, [&](int64_t) { program(); });
  return errors[0].value_or("");
}

} // namespace tp::test

#endif // TP_TEST_RUNTIME_RUNRANKS_H
