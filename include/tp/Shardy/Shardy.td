// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What of Shardy's text form (openxla/shardy, docs/sharding_representation.md)
/// is read and written.

#ifndef TP_SHARDY_SHARDY_TD
#define TP_SHARDY_SHARDY_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tp/IR/Sharding.td"

def SDY_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::tp::sdy";
  let summary = "Shardy's annotations, as far as tp-import-shardy reads them";
  let description = [{
    Meshes, shardings of function arguments, function results and operation
    results, and the two operations that place one inside a function. Only
    `tp-import-shardy` and `tp-export-shardy` look at them.
  }];
  // Axes are attributes of the tp dialect.
  let dependentDialects = ["::tp::TPDialect"];
  let useDefaultAttributePrinterParser = 1;
}

class SDY_Attr<string name, string attrMnemonic>
    : AttrDef<SDY_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def SDY_Mesh : SDY_Attr<"Mesh", "mesh"> {
  let summary = "the axes of a mesh and the order of its devices";
  let description = [{
    `<["a"=2, "b"=4]>`, or `<["a"=2], device_ids=[1, 0]>` where the devices are
    not in their own order. No device is listed where they are.
  }];
  let parameters = (ins "::tp::MeshAttr":$axes,
                        OptionalArrayRefParameter<"int64_t">:$deviceIds);
}

def SDY_DimensionSharding : SDY_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "the axes that split one dimension, major to minor";
  let description = [{
    `{"a", "b":(1)2}` is closed: the axes are all that split the dimension.
    `{"a", ?}` is open: others may follow. `p1` after it is a priority.
  }];
  let parameters = (ins OptionalArrayRefParameter<"::tp::AxisRefAttr">:$axes,
                        "bool":$isClosed, "int64_t":$priority);
}

def SDY_TensorSharding : SDY_Attr<"TensorSharding", "sharding"> {
  let summary = "how a tensor lies on a mesh";
  let description = [{
    `<@mesh, [ {"a"}, {?} ], replicated={"b"}, unreduced={"c"}>`; in place of
    `@mesh` a mesh may stand in full: `mesh<["a"=2]>`.
  }];
  let parameters = (ins "::mlir::Attribute":$meshOrRef,
      OptionalArrayRefParameter<"::tp::sdy::DimensionShardingAttr">:$dims,
      OptionalArrayRefParameter<"::tp::AxisRefAttr">:$replicated,
      OptionalArrayRefParameter<"::tp::AxisRefAttr">:$unreduced);
}

def SDY_TensorShardingPerValue
    : SDY_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "the shardings of an operation's results";
  let parameters = (ins
      OptionalArrayRefParameter<"::tp::sdy::TensorShardingAttr">:$shardings);
}

class SDY_Op<string mnemonic, list<Trait> traits = []>
    : Op<SDY_Dialect, mnemonic, traits>;

def SDY_MeshOp : SDY_Op<"mesh", [Symbol]> {
  let summary = "names a mesh";
  let arguments = (ins SymbolNameAttr:$sym_name, SDY_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

class SDY_PlacingOp<string mnemonic>
    : SDY_Op<mnemonic, [Pure, AllTypesMatch<["input", "result"]>]> {
  let arguments = (ins AnyTensor:$input, SDY_TensorSharding:$sharding);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = [{
    $input custom<BareSharding>($sharding) attr-dict `:` type($result)
  }];
}

def SDY_ShardingConstraintOp : SDY_PlacingOp<"sharding_constraint"> {
  let summary = "says how a value is to lie from here on";
}

def SDY_ReshardOp : SDY_PlacingOp<"reshard"> {
  let summary = "brings a value into another layout";
}

#endif // TP_SHARDY_SHARDY_TD
