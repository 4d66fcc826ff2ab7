// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_TP_TD
#define TP_IR_TP_TD

include "tp/IR/Dialect.td"
include "tp/IR/Sharding.td"
include "tp/IR/Stored.td"
include "tp/IR/Mesh.td"
include "tp/IR/Elementwise.td"
include "tp/IR/Matmul.td"
include "tp/IR/Shape.td"
include "tp/IR/Reduction.td"
include "tp/IR/Norm.td"
include "tp/IR/Attention.td"
include "tp/IR/Vocabulary.td"
include "tp/IR/Collective.td"
include "tp/IR/LocalCollective.td"

#endif // TP_IR_TP_TD
