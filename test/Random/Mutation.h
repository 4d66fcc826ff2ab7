// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_TEST_RANDOM_MUTATION_H
#define TP_TEST_RANDOM_MUTATION_H

#include "OpenProgram.h"
#include "mlir/IR/BuiltinOps.h"

namespace tp::test {

/// Makes one random change to a typed program, as a mistake would: another
/// layout of a value, a reshard or collective left out, a collective over other
/// axes, dimensions or of another kind. What it did, or "" if nothing.
std::string mutate(mlir::ModuleOp module, Chance &chance);

} // namespace tp::test

#endif // TP_TEST_RANDOM_MUTATION_H
