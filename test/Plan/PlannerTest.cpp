// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Plans of random small programs against all assignments of their choices, on
/// the layouts of one and of two real mesh axes.

#include "tp/Plan/Planner.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace tp;

namespace {

/// A random program of a few operations on vectors and matrices.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed, bool useMatrices)
      : random(seed), useMatrices(useMatrices) {}

  std::string write() {
    std::string type = useMatrices ? "tensor<4x8xf32>" : "tensor<8xf32>";
    std::string body;
    unsigned numOps = useMatrices ? 2 : 3;
    for (unsigned op = 0; op < numOps; ++op)
      body += writeOp(op, type);
    return llvm::formatv(
        "func.func @main(%v0: {0} {{tp.parameter}, %v1: {0}) -> {0} {{\n"
        "{1}  return %v{2} : {0}\n}",
        type, body, numOps + 1);
  }

private:
  unsigned pick(unsigned bound) { return random() % bound; }

  std::string writeOp(unsigned op, const std::string &type) {
    unsigned result = op + 2;
    // The last value is always used, so that no operation hangs loose.
    unsigned last = op == 0 ? pick(2) : op + 1, other = pick(op + 2);
    static constexpr llvm::StringLiteral binary[] = {"add", "sub", "mul"};
    if (pick(3) == 0)
      return llvm::formatv("  %v{0} = tp.relu %v{1} : ({2}) -> {2}\n", result,
                           last, type);
    return llvm::formatv("  %v{0} = tp.{1} %v{2}, %v{3} : ({4}, {4}) -> {4}\n",
                         result, binary[pick(3)], last, other, type);
  }

  std::mt19937 random;
  bool useMatrices;
};

template <typename Visit>
void visitAssignments(const Problem &problem, Visit visit) {
  std::vector<unsigned> choices(problem.variables.size());
  for (;;) {
    visit(choices);
    size_t place = 0;
    while (place < choices.size() &&
           ++choices[place] == problem.getNumChoices(place))
      choices[place++] = 0;
    if (place == choices.size())
      return;
  }
}

/// The least price over all assignments, each evaluated as a whole.
Price bruteForce(const Problem &problem) {
  Price best = Price::infinite();
  visitAssignments(problem, [&](llvm::ArrayRef<unsigned> choices) {
    best = std::min(best, problem.evaluate(choices));
  });
  return best;
}

double countAssignments(const Problem &problem) {
  double count = 1;
  for (unsigned i = 0; i < problem.variables.size(); ++i)
    count *= static_cast<double>(problem.getNumChoices(i));
  return count;
}

/// Plans `count` programs and returns how many were small enough to enumerate.
int planRandomPrograms(int count, const std::string &mesh, bool useMatrices) {
  DialectRegistry registry;
  registry.insert<TPDialect, func::FuncDialect>();
  MLIRContext context(registry);
  int judged = 0;
  for (int seed = 0; judged < count && seed < 20 * count; ++seed) {
    std::string text = RandomProgram(seed, useMatrices).write();
    auto module = parseSourceString<ModuleOp>(text, &context);
    PlanSettings settings;
    settings.mesh = mesh;
    settings.machine = std::string(TP_SOURCE_DIR) + "/share/machines/a100.yaml";
    settings.weights = "free";
    auto planner = Planner::create(*module, settings);
    EXPECT_TRUE(succeeded(planner)) << text;
    if (failed(planner) || countAssignments((*planner)->getProblem()) > 3e5)
      continue;
    FailureOr<Solution> solution = (*planner)->solve();
    EXPECT_TRUE(succeeded(solution)) << text;
    if (failed(solution))
      continue;
    Price best = bruteForce((*planner)->getProblem());
    EXPECT_TRUE(solution->cost == best) << text;
    EXPECT_TRUE(solution->lowerBound == best) << text;
    ++judged;
  }
  return judged;
}

/// Prices of the best plans of `problem` by the memory that they take, as long
/// as more memory makes them cheaper.
std::map<uint64_t, Price> findFrontier(const Problem &problem) {
  std::map<uint64_t, Price> best;
  visitAssignments(problem, [&](llvm::ArrayRef<unsigned> choices) {
    uint64_t bytes = problem.memoryOf(choices).getTotal();
    Price &price = best.try_emplace(bytes, Price::infinite()).first->second;
    price = std::min(price, problem.evaluate(choices));
  });
  Price last = Price::infinite();
  for (auto it = best.begin(); it != best.end();) {
    bool isCheaper = it->second < last;
    last = std::min(last, it->second);
    it = isCheaper ? std::next(it) : best.erase(it);
  }
  return best;
}

/// Plans programs under each limit at which the best plan changes, and returns
/// how many limits that were.
int planWithinMemory(int programs, const std::string &mesh, bool useMatrices) {
  DialectRegistry registry;
  registry.insert<TPDialect, func::FuncDialect>();
  MLIRContext context(registry);
  int judged = 0;
  for (int seed = 0; seed < programs; ++seed) {
    std::string text = RandomProgram(seed, useMatrices).write();
    auto module = parseSourceString<ModuleOp>(text, &context);
    PlanSettings settings;
    settings.mesh = mesh;
    settings.machine = std::string(TP_SOURCE_DIR) + "/share/machines/a100.yaml";
    settings.weights = "free";
    auto plan = [&](const std::string &limit) {
      settings.memoryLimit = limit;
      auto planner = Planner::create(*module, settings);
      EXPECT_TRUE(succeeded(planner)) << text;
      return std::move(*planner);
    };
    std::unique_ptr<Planner> planner = plan("1TB");
    if (countAssignments(planner->getProblem()) > 3e5)
      continue;
    for (auto [bytes, price] : findFrontier(planner->getProblem())) {
      FailureOr<Solution> solution = plan(std::to_string(bytes))->solve();
      EXPECT_TRUE(succeeded(solution)) << text << bytes;
      if (failed(solution))
        continue;
      EXPECT_TRUE(solution->cost == price) << text << bytes;
      EXPECT_TRUE(solution->lowerBound == price) << text << bytes;
      ++judged;
    }
  }
  return judged;
}

TEST(PlannerTest, WithinMemoryOnOneAxis) {
  EXPECT_GT(planWithinMemory(60, "tp=2", true), 60);
  EXPECT_GT(planWithinMemory(60, "tp=4", false), 60);
}

TEST(PlannerTest, WithinMemoryOnTwoAxes) {
  EXPECT_GT(planWithinMemory(60, "a=2,b=4", false), 60);
}

TEST(PlannerTest, OneAxis) {
  EXPECT_EQ(planRandomPrograms(100, "tp=2", true), 100);
  EXPECT_EQ(planRandomPrograms(100, "tp=4", false), 100);
}

TEST(PlannerTest, TwoAxes) {
  EXPECT_EQ(planRandomPrograms(100, "a=2,b=4", false), 100);
}

} // namespace
