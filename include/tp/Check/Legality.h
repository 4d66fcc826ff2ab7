// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The type checker: a rule and the layouts of an operation's tensors in,
/// violations out.

#ifndef TP_CHECK_LEGALITY_H
#define TP_CHECK_LEGALITY_H

#include "tp/IR/TP.h"

namespace tp {

/// A place that explains a violation: where a value became what it is.
struct Cause {
  mlir::Location location;
  std::string text;
};

/// A way out that has been tried on the operation's layouts: it removes its
/// violation and brings no other.
struct Fix {
  std::string text;
  /// Layouts of the operation's tensors, operands first. None if the fix is
  /// another mesh.
  std::vector<Layout> layouts;
  /// The results are brought back to what they are declared to be, behind the
  /// operation.
  bool restoresResults = false;
};

/// One violation. `label` is a rule of docs/errors.md.
struct Violation {
  std::string label;
  std::string message;
  std::vector<Cause> causes;
  /// Cheapest first.
  std::vector<Fix> fixes;
};

/// All violations of `op`, whose tensors all have shardings that resolve on
/// `mesh`. Reads nothing but the rule.
std::vector<Violation> checkOperation(ShardingRuleOpInterface op,
                                      MeshAttr mesh);

/// All violations of a collective. Its fixes have two layouts: what it gets and
/// what it should make.
std::vector<Violation> checkCollective(CollectiveOpInterface op, MeshAttr mesh);

/// All violations of a reshard.
std::vector<Violation> checkReshard(ReshardOp op, MeshAttr mesh);

/// Reports `violation` at `op`, with its causes and fixes.
void report(mlir::Operation *op, const Violation &violation);

/// The operation that left `value` unreduced over `axes`, or where it comes in.
Cause findCause(mlir::Value value, llvm::ArrayRef<AxisPart> axes);

/// What leads from `before` to `after`, in words: `all-reduce it over "tp"`.
/// `it` is what the value is called.
std::string describeConversion(const Layout &before, const Layout &after,
                               mlir::RankedTensorType type, MeshAttr mesh,
                               mlir::FlatSymbolRefAttr meshName,
                               const llvm::Twine &it);

/// A value that a call or a return hands on, against the signature.
struct SignatureMismatch {
  mlir::Operation *op;
  /// The operand, or null for result number `number` of a call.
  mlir::OpOperand *operand;
  unsigned number;
  /// What the signature says.
  mlir::RankedTensorType promised;
  mlir::func::FuncOp function;
};

/// All values of calls and returns that are laid out otherwise than the
/// signature says. Needs no verified module.
std::vector<SignatureMismatch> findSignatureMismatches(mlir::ModuleOp module);

/// Puts a tp.reshard where a value does not have the layout of the signature.
void bridge(const SignatureMismatch &mismatch);

/// Checks a module that the verifier has accepted and reports every violation
/// once.
mlir::LogicalResult checkModule(mlir::ModuleOp module);

/// Checks a module as read, which nothing has verified yet: layouts of calls
/// and returns, then the verifier, then the shardings. For the verifier stops
/// at the first error, wrong layouts of calls and returns are put right on a
/// copy, so that what comes after them is checked too.
mlir::LogicalResult checkUnverifiedModule(mlir::ModuleOp module);

} // namespace tp

#endif // TP_CHECK_LEGALITY_H
