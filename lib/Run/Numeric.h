// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_RUN_NUMERIC_H
#define TP_RUN_NUMERIC_H

#include "Run/Program.h"

namespace tp {

/// The outputs of a run, put together from what the ranks hold.
std::vector<Assembled<double>> assembleOutputs(const Signature &signature,
                                               const RankResults &results);

/// The differences of the sharded run from the unsharded one and from the
/// reference in f64, over one draw of inputs or several.
class NumericCheck {
public:
  /// The differences from one of the two, by output.
  struct Column {
    llvm::StringRef name;
    std::vector<Difference> differences;
  };

  /// `open` and `whole` are the unsharded program and its signature. The
  /// reference is evaluated if `hasReference`.
  NumericCheck(const Program &program, mlir::func::FuncOp open,
               const Signature &whole, bool hasReference);

  /// Compiles the unsharded program.
  llvm::Error prepare(mlir::ModuleOp module, const RunOptions &options);
  /// Compares what the ranks gave for `inputs`.
  llvm::Error add(const Inputs &inputs,
                  llvm::ArrayRef<Assembled<double>> outputs);
  /// Runs the ranks on `inputs`, and compares.
  llvm::Error run(const Inputs &inputs, const RunOptions &options);

  llvm::ArrayRef<Column> getColumns() const { return columns; }
  /// What is wrong with an output of `run`; empty if nothing is.
  llvm::StringRef getFault(unsigned output) const { return faults[output]; }
  /// Whether every difference of an output is in order.
  bool isFine(unsigned output) const;
  /// How far off an output may be, and where it is further off, in words.
  void printTolerance(llvm::raw_ostream &out, unsigned output) const;
  void printWorst(llvm::raw_ostream &out, unsigned output) const;

private:
  bool isFine(const Difference &difference) const {
    return hasReference ? difference.withinErrors()
                        : difference.within(relative);
  }

  const Program &program;
  mlir::func::FuncOp open;
  const Signature &whole;
  bool hasReference;
  double unit, relative;
  std::optional<Program> single;
  std::vector<Column> columns;
  std::vector<std::string> faults;
};

} // namespace tp

#endif // TP_RUN_NUMERIC_H
