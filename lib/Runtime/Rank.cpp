// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Runtime/Rank.h"
#include "Runtime/Context.h"
#include "Runtime/Denormals.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace tp::runtime;

static thread_local RankContext *current = nullptr;

RankContext *tp::runtime::currentContext() { return current; }

RankContext &tp::runtime::requireContext() {
  if (!current)
    throw RuntimeError("this thread is no rank: there is no RankScope");
  return *current;
}

void tp::runtime::recordFailure(const char *function,
                                const char *what) noexcept {
  if (!current) {
    std::fprintf(stderr, "error: %s: %s\n", function ? function : "program",
                 what);
    return;
  }
  try {
    std::string text;
    if (function)
      text = "rank " + std::to_string(current->communicator.rank()) + ": " +
             function + ": ";
    current->error = text + what;
  } catch (...) {
    // No memory for the text: the short one fits into the string object.
    current->error = "out of memory";
  }
  current->communicator.fail(current->error);
}

void tp::runtime::leaveProgram() {
  if (current && current->canLand) {
    current->canLand = false;
    std::longjmp(current->landing, 1);
  }
  if (current)
    std::fprintf(stderr, "error: %s\n", current->error.c_str());
  std::fprintf(stderr, "error: outside runRank there is nowhere to report "
                       "this to; the process ends\n");
  std::_Exit(1);
}

RankScope::RankScope(Communicator &communicator, int64_t numThreads)
    : context(std::make_unique<RankContext>(communicator, numThreads)),
      outer(current), floatingPointState(flushDenormals()) {
  current = context.get();
}

RankScope::~RankScope() {
  current = outer;
  restoreFloatingPoint(floatingPointState);
  context->communicator.leave();
}

MemoryUse RankScope::memoryUse() const { return context->arena.use(); }

void RankScope::freeBlocks() { context->arena.releaseAll(); }

/// The frame that a failing function jumps to: it has no local object that the
/// jump could leave in doubt.
static bool runToEnd(RankContext &context,
                     const std::function<void()> &program) {
  if (setjmp(context.landing) != 0)
    return false;
  context.canLand = true;
  bool finished = succeeds("program", program);
  context.canLand = false;
  return finished;
}

std::optional<std::string>
tp::runtime::runRank(RankScope &scope, const std::function<void()> &program) {
  RankContext &context = scope.getContext();
  if (current != &context)
    return "the scope is not the innermost one of this thread";
  if (context.canLand)
    return "a rank's program cannot start another run";
  context.error.clear();
  context.communicator.beginRun();
  auto startWorkers = [&] { context.workers.start(context.numThreads); };
  if (!succeeds("threads", startWorkers) || !runToEnd(context, program))
    return context.error;
  context.communicator.endRun();
  return std::nullopt;
}
