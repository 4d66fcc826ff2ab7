// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What --check finds in per-rank programs that are wrong.

#include "LocalProgram.h"
#include "Run/Program.h"
#include "tp/InitAll.h"

using namespace mlir;
using namespace tp;
using namespace tp::test;

namespace {

constexpr StringRef open = R"(
  func.func @main(%x: tensor<4x8xf32> {tp.name = "x"},
                  %a: tensor<6x8xf32> {tp.name = "a", tp.parameter},
                  %b: tensor<8x6xf32> {tp.name = "b", tp.parameter})
      -> (tensor<4x8xf32> {tp.name = "y"}) {
    %h = tp.matmul %x, %a {transpose_b}
        : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
    %r = tp.silu %h : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %y = tp.matmul %r, %b {transpose_b}
        : (tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  })";

/// The program of two ranks, up to what finishes the sum %p.
std::string local(StringRef finish) {
  return R"(
    tp.mesh @mesh = <["tp"=2]>
    func.func @main(%x: tensor<4x8xf32> {tp.name = "x"},
        %a: tensor<3x8xf32> {tp.name = "a", tp.parameter, tp.global =
            tensor<6x8xf32, #tp.sharding<@mesh, [{"tp"}, {}]>>},
        %b: tensor<8x3xf32> {tp.name = "b", tp.parameter, tp.global =
            tensor<8x6xf32, #tp.sharding<@mesh, [{}, {"tp"}]>>})
        -> (tensor<4x8xf32> {tp.name = "y"})
        attributes {tp.local, tp.ranks = 2} {
      %h = tp.matmul %x, %a {transpose_b}
          : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x3xf32>
      %r = tp.silu %h : (tensor<4x3xf32>) -> tensor<4x3xf32>
      %p = tp.matmul %r, %b {transpose_b}
          : (tensor<4x3xf32>, tensor<8x3xf32>) -> tensor<4x8xf32>
)" + finish.str() +
         "\n return %y : tensor<4x8xf32> }";
}

struct Outcome {
  bool passed = false;
  std::string text;
};

/// Runs a local program and checks it against the open one.
llvm::Expected<Outcome> check(StringRef finish, RunOptions options = {}) {
  DialectRegistry registry;
  registerAllDialects(registry);
  static bool once = (registerAllPasses(), true);
  (void)once;
  MLIRContext context(registry);
  auto whole = parseSourceString<ModuleOp>(open, &context);
  auto parts = parseSourceString<ModuleOp>(local(finish), &context);
  if (!whole || !parts)
    return llvm::createStringError("a program does not parse");
  auto program = compileProgram(*parts, options);
  if (!program)
    return program.takeError();
  Inputs inputs(1);
  auto results = runRanks(*program->engine, program->signature, inputs);
  if (!results)
    return results.takeError();
  Outcome outcome;
  llvm::raw_string_ostream out(outcome.text);
  Checks checks(*program, *results, out);
  options.machine = TP_SOURCE_DIR "/share/machines/h100.yaml";
  if (llvm::Error error = checks.againstReferences(*whole, inputs, options))
    return std::move(error);
  outcome.passed = checks.passed();
  return outcome;
}

constexpr StringRef sum = R"(
  %y = tp.local_all_reduce %p sum groups dense<[[0, 1]]> : tensor<1x2xi64>
      : (tensor<4x8xf32>) -> tensor<4x8xf32>)";

TEST(Check, AcceptsACorrectProgram) {
  Outcome outcome = llvm::cantFail(check(sum));
  EXPECT_TRUE(outcome.passed) << outcome.text;
  EXPECT_NE(outcome.text.find("exact: equal"), std::string::npos);
}

TEST(Check, FindsASumThatIsNotFinished) {
  Outcome outcome = llvm::cantFail(check(R"(
    %y = tp.relu %p : (tensor<4x8xf32>) -> tensor<4x8xf32>)"));
  EXPECT_FALSE(outcome.passed) << outcome.text;
  EXPECT_NE(outcome.text.find("FAILED"), std::string::npos);
}

TEST(Check, FindsAMaximumInPlaceOfTheSum) {
  std::string wrong = sum.str();
  wrong.replace(wrong.find("sum"), 3, "max");
  EXPECT_FALSE(llvm::cantFail(check(wrong)).passed);
}

TEST(Check, TheFieldSeesAnErrorBelowTheTolerance) {
  // 1e-9 of the result is far below what f32 can tell.
  std::string wrong = R"(
    %c = tp.constant dense<1.0e-9> : tensor<4x8xf32>
    %q = tp.add %p, %c : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %y = tp.local_all_reduce %q sum groups dense<[[0, 1]]> : tensor<1x2xi64>
        : (tensor<4x8xf32>) -> tensor<4x8xf32>)";
  Outcome outcome = llvm::cantFail(check(wrong));
  EXPECT_FALSE(outcome.passed) << outcome.text;
  EXPECT_NE(outcome.text.find("exact: FAILED: other values in the field of "
                              "2^61 - 1 elements: `y` on rank 0 at [0, 0]"),
            std::string::npos)
      << outcome.text;
  RunOptions withoutField;
  withoutField.exact = ExactCheck::Never;
  EXPECT_TRUE(llvm::cantFail(check(wrong, withoutField)).passed);
}

TEST(Check, SaysWhatWasTooExpensive) {
  RunOptions options;
  options.referenceLimit = options.exactLimit = 10;
  Outcome outcome = llvm::cantFail(check(sum, options));
  EXPECT_TRUE(outcome.passed) << outcome.text;
  EXPECT_NE(outcome.text.find("f64: not compared"), std::string::npos);
  EXPECT_NE(outcome.text.find("exact: not checked exactly"), std::string::npos);
}

} // namespace
