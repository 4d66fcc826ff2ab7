// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUNTIME_WORKERS_H
#define TP_RUNTIME_WORKERS_H

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tp::runtime {

/// The threads that compute the pieces of a rank's kernels: its own, and
/// helpers that sleep between calls.
class Workers {
public:
  Workers() = default;
  ~Workers();
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;

  /// Makes them `numThreads`, in [1, 1024]. Throws RuntimeError on other values
  /// and where so many cannot be started.
  void start(int64_t numThreads);
  int64_t size() const { return static_cast<int64_t>(helpers.size()) + 1; }

  /// Calls body(piece) once for every piece in [0, numPieces), on any of the
  /// threads and in any order. Returns when all calls have ended; an exception
  /// of one of them is thrown on.
  void forEach(int64_t numPieces, const std::function<void(int64_t)> &body);

private:
  void help();
  void takePieces(std::unique_lock<std::mutex> &lock);

  std::mutex mutex;
  std::condition_variable work, done;
  const std::function<void(int64_t)> *body = nullptr;
  int64_t next = 0, end = 0, running = 0;
  std::exception_ptr failure;
  bool stopping = false;
  std::vector<std::thread> helpers;
};

} // namespace tp::runtime

#endif // TP_RUNTIME_WORKERS_H
