// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Workers.h"
#include "tp/Runtime/Communicator.h"

#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

using namespace tp::runtime;

namespace {

TEST(Workers, EveryPieceIsComputedOnce) {
  for (int64_t threads : {1, 2, 3, 7}) {
    Workers workers;
    workers.start(threads);
    EXPECT_EQ(workers.size(), threads);
    for (int64_t pieces : {0, 1, 2, 5, 97}) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(pieces));
      workers.forEach(
          pieces, [&](int64_t piece) { ++calls[static_cast<size_t>(piece)]; });
      for (const std::atomic<int> &count : calls)
        EXPECT_EQ(count, 1);
    }
  }
}

TEST(Workers, PiecesRunAtTheSameTime) {
  Workers workers;
  workers.start(3);
  std::atomic<int> arrived = 0;
  // Each piece waits for the other two.
  workers.forEach(3, [&](int64_t) {
    ++arrived;
    while (arrived < 3)
      std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 3);
}

TEST(Workers, FailureIsThrownOnAndTheNextCallWorks) {
  Workers workers;
  workers.start(4);
  for (int64_t bad : {0, 41}) {
    auto body = [&](int64_t piece) {
      if (piece == bad)
        throw std::runtime_error("piece " + std::to_string(piece));
    };
    try {
      workers.forEach(50, body);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error &error) {
      EXPECT_EQ(error.what(), "piece " + std::to_string(bad));
    }
    std::atomic<int> calls = 0;
    workers.forEach(9, [&](int64_t) { ++calls; });
    EXPECT_EQ(calls, 9);
  }
}

TEST(Workers, AbsurdNumbersAreRefused) {
  for (int64_t threads :
       {int64_t(-1), int64_t(0), int64_t(1025), int64_t(1) << 62}) {
    Workers workers;
    EXPECT_THROW(workers.start(threads), RuntimeError);
  }
}

} // namespace
