// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Compile, launch the ranks, feed, collect, compare.

#ifndef TP_RUN_SESSION_H
#define TP_RUN_SESSION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tp/Import/Decoder.h"
#include "tp/Run/Inputs.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>

namespace tp {

/// When to evaluate in the field of 2^61 - 1 elements.
enum class ExactCheck { Auto, Always, Never };

/// What to run and how.
struct RunOptions {
  /// A file of IR, `-` for standard input, or the folder of a Hugging Face
  /// model.
  std::string input;
  /// As tp-plan takes them; empty: tp-plan's default.
  std::string mesh, machine, sequenceParallel, weights, modelAxes, uneven;
  /// Empty: the only public function.
  std::string entry;
  /// A safetensors file with arguments and results, by `tp.name`. Empty: none.
  std::string expect;
  /// For folders: the program's batch and sequence length. By default those of
  /// `input_ids` (of a cache: its own) in the file to expect, else 1 and 16.
  std::optional<int64_t> batch, sequence;
  /// For folders: the first so many layers only.
  std::optional<int64_t> layers;
  /// For folders: all tokens, or one after a cache of `sequence` tokens.
  Phase phase = Phase::Prefill;
  /// For folders: pad the vocabulary for this many ranks.
  std::optional<int64_t> padVocabulary;
  /// For arguments that no file names.
  uint64_t seed = 0;
  MadeValues values = MadeValues::Normal;
  /// Compare with the unsharded program and with the reference.
  bool check = false;
  ExactCheck exact = ExactCheck::Auto;
  /// Multiply-adds up to which the reference in f64, and the field, are
  /// evaluated without being asked for: some ten seconds each.
  double referenceLimit = 2e10, exactLimit = 1e9;
  /// Seconds that a rank waits for another one in a collective.
  double deadline = 60;
  /// Threads that compute the products and the attention of a rank.
  int64_t threadsPerRank = 1;
  /// Runs after the first, for the time.
  int64_t repeats = 0;
};

/// Reads what `options.input` names. Says on `out` if 16-bit types will run as
/// f32.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
loadProgram(mlir::MLIRContext &context, const RunOptions &options,
            llvm::raw_ostream &out);

/// Whether `folder` holds weights under the names that Checkpoint reads.
bool hasWeights(llvm::StringRef folder);

/// Plans, partitions, compiles and runs the program on all its ranks, and
/// compares as the options ask. Prints one line an output. True if every
/// comparison was in order and no output holds a NaN or an infinity; errors are
/// what kept the program from running.
llvm::Expected<bool> runSession(mlir::ModuleOp program,
                                const RunOptions &options,
                                llvm::raw_ostream &out);

} // namespace tp

#endif // TP_RUN_SESSION_H
