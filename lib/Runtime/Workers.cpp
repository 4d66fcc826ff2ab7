// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime/Workers.h"
#include "Runtime/Denormals.h"
#include "tp/Runtime/Communicator.h"

#include <string>
#include <utility>

using namespace tp::runtime;

void Workers::start(int64_t numThreads) {
  constexpr int64_t most = 1024;
  if (numThreads < 1 || numThreads > most)
    throw RuntimeError("the number of threads of a rank, " +
                       std::to_string(numThreads) + ", is not between 1 and " +
                       std::to_string(most));
  try {
    while (size() < numThreads)
      helpers.emplace_back([this] { help(); });
  } catch (const std::exception &error) {
    throw RuntimeError("of " + std::to_string(numThreads) +
                       " threads of a rank only " + std::to_string(size()) +
                       " could be started: " + error.what());
  }
}

Workers::~Workers() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  work.notify_all();
  for (std::thread &helper : helpers)
    helper.join();
}

void Workers::help() {
  flushDenormals();
  std::unique_lock lock(mutex);
  while (true) {
    work.wait(lock, [this] { return stopping || next < end; });
    if (stopping)
      return;
    takePieces(lock);
  }
}

/// Computes pieces until none is left to begin. After a failure none is.
void Workers::takePieces(std::unique_lock<std::mutex> &lock) {
  while (next < end) {
    int64_t piece = next++;
    ++running;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      (*body)(piece);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    --running;
    if (thrown && !failure) {
      failure = thrown;
      next = end;
    }
  }
  if (running == 0)
    done.notify_one();
}

void Workers::forEach(int64_t numPieces,
                      const std::function<void(int64_t)> &pieceBody) {
  if (helpers.empty() || numPieces <= 1) {
    for (int64_t piece = 0; piece < numPieces; ++piece)
      pieceBody(piece);
    return;
  }
  std::unique_lock lock(mutex);
  body = &pieceBody;
  next = 0;
  end = numPieces;
  work.notify_all();
  takePieces(lock);
  done.wait(lock, [this] { return running == 0; });
  if (std::exception_ptr thrown = std::exchange(failure, nullptr))
    std::rethrow_exception(thrown);
}
