// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OptionsCheck.h"
#include "ConfigFields.h"
#include "tp/IR/TP.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tp;
using llvm::createStringError;

namespace {

/// Collects what is wrong with the options.
class OptionsCheck {
public:
  /// `element` is the type that the options name, or null.
  OptionsCheck(const DecoderConfig &config, const DecoderOptions &options,
               Type element)
      : config(config), options(options), element(element) {}

  llvm::Error run() {
    range("batch", options.batch, maxSize, "");
    if (range("sequence", options.sequence, maxSize, ""))
      checkPositions();
    if (options.padVocabulary)
      checkPadding();
    if (options.layers)
      range("layers", *options.layers, config.layers,
            ", the number that the config has");
    if (!element)
      problem("dtype is \"" + options.dtype +
              "\": expected \"bf16\", \"f16\", \"f32\" or \"f64\"");
    // With an option out of range the sizes would mean nothing.
    if (problems.empty())
      checkElements();
    if (problems.empty())
      return llvm::Error::success();
    return createStringError(Twine(llvm::join(problems, "\n")));
  }

private:
  void problem(const Twine &message) { problems.push_back(message.str()); }

  bool range(StringRef name, int64_t value, int64_t max, StringRef reason) {
    if (value >= 1 && value <= max)
      return true;
    problem(name + " is " + Twine(value) + ": expected an integer from 1 to " +
            Twine(max) + reason);
    return false;
  }

  void checkPadding() {
    if (auto rows = paddedVocabulary(config.vocabulary, *options.padVocabulary))
      vocabulary = *rows;
    else
      problem(llvm::toString(rows.takeError()));
  }

  void checkPositions() {
    // The token that follows a cache has a position of its own.
    int64_t next = options.phase == Phase::Decode ? 1 : 0;
    std::string given =
        "sequence is " + std::to_string(options.sequence) +
        (next ? " and one token follows, but the model " : ", but the model ");
    if (options.sequence + next > config.maxPositions)
      problem(given + "has " + Twine(config.maxPositions) +
              " positions: give a sequence of at most " +
              Twine(config.maxPositions - next));
    // A layer with a window of w positions sees the token itself and the w - 1
    // before it. Up to w tokens that is all of them, so that the window has no
    // effect and plain causal attention is exact.
    if (config.slidingWindow && options.sequence + next > *config.slidingWindow)
      problem(given + "attends to the last \"sliding_window\" " +
              Twine(*config.slidingWindow) +
              " positions only, which is not supported: give a sequence of at "
              "most " +
              Twine(*config.slidingWindow - next));
  }

  /// Weights fit, as the config is checked; activations need not.
  void checkElements() {
    int64_t widths[] = {config.hiddenSize, config.heads * config.headDim,
                        config.ffnSize, vocabulary};
    int64_t widest = *llvm::max_element(widths);
    if (numElements({options.batch, options.sequence, widest}))
      return;
    problem("a tensor of batch " + Twine(options.batch) + ", sequence " +
            Twine(options.sequence) + " and width " + Twine(widest) +
            " has more than 2^63 - 1 elements: give a smaller batch or "
            "sequence");
  }

  const DecoderConfig &config;
  const DecoderOptions &options;
  Type element;
  int64_t vocabulary = config.vocabulary;
  std::vector<std::string> problems;
};

} // namespace

Type tp::parseElementType(Builder builder, StringRef name) {
  if (name == "bf16")
    return builder.getBF16Type();
  if (name == "f16")
    return builder.getF16Type();
  if (name == "f32")
    return builder.getF32Type();
  return name == "f64" ? builder.getF64Type() : Type();
}

llvm::Expected<int64_t> tp::paddedVocabulary(int64_t vocabulary,
                                             int64_t ranks) {
  if (ranks < 1)
    return createStringError("cannot pad a vocabulary for " + Twine(ranks) +
                             " ranks: expected an integer of at least 1");
  std::optional<int64_t> step = llvm::checkedMul<int64_t>(ranks, 128);
  std::optional<int64_t> rows;
  if (step)
    rows =
        llvm::checkedMul<int64_t>(llvm::divideCeil(vocabulary, *step), *step);
  if (rows)
    return *rows;
  return createStringError("a vocabulary of " + Twine(vocabulary) +
                           " padded for " + Twine(ranks) +
                           " ranks exceeds 2^63 - 1 rows");
}

std::string tp::describePadding(int64_t vocabulary, int64_t ranks) {
  auto rows = paddedVocabulary(vocabulary, ranks);
  if (!rows)
    return llvm::toString(rows.takeError());
  return "vocabulary " + std::to_string(vocabulary) + " -> " +
         std::to_string(*rows) + ", a multiple of 128 * " +
         std::to_string(ranks);
}

llvm::Error tp::checkOptions(const DecoderConfig &config,
                             const DecoderOptions &options, Type element) {
  return OptionsCheck(config, options, element).run();
}
