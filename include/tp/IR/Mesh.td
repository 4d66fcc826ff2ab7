// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_MESH_TD
#define TP_IR_MESH_TD

include "mlir/IR/SymbolInterfaces.td"
include "tp/IR/Sharding.td"

def TP_MeshOp : TP_BaseOp<"mesh", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "names a device mesh";
  let description = [{
    Axes major to minor; ranks are numbered row-major. The symbol is public,
    because one that is used only inside types looks unused to symbol-dce.

        tp.mesh @mesh = <["dp"=2, "tp"=4]>
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TP_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

#endif // TP_IR_MESH_TD
