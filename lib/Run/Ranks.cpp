// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Run/Ranks.h"
#include "tp/Runtime/Rank.h"
#include "tp/Runtime/Threads.h"
#include "llvm/Support/FormatVariadic.h"
#include <barrier>
#include <chrono>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace tp;

/// What the run-time library takes, in seconds.
static constexpr double longestDeadline = 1e9;

using Clock = std::chrono::steady_clock;

static llvm::Error fail(const Twine &message) {
  return llvm::createStringError(message);
}

/// Calls `body` for every rank, each on a thread of its own.
static void onThreads(int64_t numRanks,
                      llvm::function_ref<void(int64_t)> body) {
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < numRanks; ++rank)
    threads.emplace_back([body, rank] { body(rank); });
  for (std::thread &thread : threads)
    thread.join();
}

/// The first error of a rank, if there is one; it names the rank.
static llvm::Error firstError(ArrayRef<std::string> errors, StringRef what) {
  for (auto [rank, error] : llvm::enumerate(errors))
    if (!error.empty()) {
      std::string prefix = StringRef(error).contains("rank ")
                               ? std::string()
                               : "rank " + std::to_string(rank) + ": ";
      return fail(what + prefix + error);
    }
  return llvm::Error::success();
}

/// Refuses arguments that this machine cannot hold: allocation would not fail,
/// the process would be ended.
static llvm::Error checkMemory(const Signature &signature) {
  double needed = 0;
  auto add = [&](const Port &port) {
    for (int64_t rank = 0; rank < signature.numRanks; ++rank) {
      double bytes = sizeInBytes(port.kind);
      for (int64_t size : signature.localShape(port, rank))
        bytes *= static_cast<double>(size);
      needed += bytes;
    }
  };
  llvm::for_each(signature.arguments, add);
  llvm::for_each(signature.results, add);
  double available = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (needed <= available)
    return llvm::Error::success();
  return fail(llvm::formatv(
      "the arguments and results of {0} ranks take {1:F1} GiB, this machine "
      "has {2:F1} GiB; run a part of the program (of a model folder, --layers)",
      signature.numRanks, needed / (1 << 30), available / (1 << 30)));
}

static llvm::Expected<std::vector<std::vector<Array>>>
readArguments(const Signature &signature, const Inputs &inputs) {
  std::vector<std::vector<Array>> arguments(signature.numRanks);
  std::vector<std::string> errors(signature.numRanks);
  onThreads(signature.numRanks, [&](int64_t rank) {
    for (const Port &port : signature.arguments) {
      llvm::Expected<Array> value =
          inputs.read(port, signature.ranges(port, rank));
      if (!value) {
        errors[rank] = llvm::toString(value.takeError());
        return;
      }
      arguments[rank].push_back(std::move(*value));
    }
  });
  if (llvm::Error error = firstError(errors, "reading inputs: "))
    return std::move(error);
  return arguments;
}

namespace {

/// The runs of all ranks.
class Execution {
public:
  Execution(const Engine &engine, const RankOptions &options,
            ArrayRef<std::vector<Array>> arguments)
      : engine(engine), options(options), arguments(arguments),
        start(arguments.size()), errors(arguments.size()),
        peaks(arguments.size()), spans(arguments.size()) {
    results.outputs.resize(arguments.size());
  }

  llvm::Expected<RankResults> run();

private:
  /// When a rank began a run and ended it.
  using Span = std::pair<Clock::time_point, Clock::time_point>;

  void runRank(runtime::Communicator &communicator, int64_t rank);
  double getSeconds(int64_t run) const;

  const Engine &engine;
  const RankOptions &options;
  ArrayRef<std::vector<Array>> arguments;
  /// All ranks begin a run together.
  std::barrier<> start;
  RankResults results;
  std::vector<std::string> errors;
  std::vector<int64_t> peaks;
  /// By rank, then run.
  std::vector<std::vector<Span>> spans;
};

} // namespace

/// One scope for all runs: a step finds the memory of the one before.
void Execution::runRank(runtime::Communicator &communicator, int64_t rank) {
  Engine::Call call(engine, rank, arguments[rank]);
  runtime::RankScope scope(communicator, options.threadsPerRank);
  for (int64_t run = 0; run <= options.repeats; ++run) {
    start.arrive_and_wait();
    Clock::time_point begin = Clock::now();
    std::optional<std::string> error =
        runtime::runRank(scope, [&] { call.run(); });
    spans[rank].push_back({begin, Clock::now()});
    if (error) {
      errors[rank] = *error;
      break;
    }
    if (run == 0)
      results.outputs[rank] = call.results();
    scope.freeBlocks();
  }
  start.arrive_and_drop();
  peaks[rank] = scope.memoryUse().peak;
}

double Execution::getSeconds(int64_t run) const {
  auto [begin, end] = spans.front()[run];
  for (ArrayRef<Span> ofRank : spans) {
    begin = std::min(begin, ofRank[run].first);
    end = std::max(end, ofRank[run].second);
  }
  return std::chrono::duration<double>(end - begin).count();
}

llvm::Expected<RankResults> Execution::run() {
  runtime::ThreadWorld world(arguments.size(), options.deadline);
  onThreads(arguments.size(),
            [&](int64_t rank) { runRank(world.communicator(rank), rank); });
  if (llvm::Error error = firstError(errors, ""))
    return std::move(error);
  std::vector<double> times;
  for (int64_t run = 0; run <= options.repeats; ++run)
    times.push_back(getSeconds(run));
  llvm::sort(times);
  results.seconds = times.front();
  results.medianSeconds = times[times.size() / 2];
  results.peakBytes = *llvm::max_element(peaks);
  return std::move(results);
}

llvm::Expected<RankResults> tp::runRanks(const Engine &engine,
                                         const Signature &signature,
                                         const Inputs &inputs,
                                         const RankOptions &options) {
  if (signature.numRanks < 1 || signature.numRanks > maxRanks)
    return fail("the program is for " + Twine(signature.numRanks) +
                " ranks; 1 to " + Twine(maxRanks) + " run in one process");
  if (!(options.deadline > 0 && options.deadline <= longestDeadline))
    return fail("the deadline of a collective must be above 0 and at most 1e9 "
                "seconds, not " +
                llvm::formatv("{0}", options.deadline).str());
  if (options.repeats < 0)
    return fail("a program cannot be run " + Twine(options.repeats) +
                " more times");
  if (llvm::Error error = checkMemory(signature))
    return std::move(error);
  auto arguments = readArguments(signature, inputs);
  if (!arguments)
    return arguments.takeError();
  return Execution(engine, options, *arguments).run();
}
