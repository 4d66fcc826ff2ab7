// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TP_IR_SHARDING_TD
#define TP_IR_SHARDING_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
include "tp/IR/Dialect.td"

class TP_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<TP_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def TP_ReductionKind : I32EnumAttr<"ReductionKind", "how partial values combine",
    [I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::tp";
}

def TP_MeshAxis : TP_Attr<"MeshAxis", "axis"> {
  let summary = "a named axis of a mesh with its number of ranks";
  let parameters = (ins StringRefParameter<"axis name">:$name,
                        "int64_t":$size);
  let assemblyFormat = "`<` $name `=` $size `>`";
}

def TP_Mesh : TP_Attr<"Mesh", "mesh"> {
  let summary = "the axes of a device mesh, major to minor";
  let description = [{
    `<["dp"=2, "tp"=4]>`: 8 ranks; the last axis varies fastest, so rank 5 has
    coordinates dp = 1, tp = 1. Sizes are positive; their product fits 63 bits.
  }];
  let parameters = (ins ArrayRefParameter<"::tp::MeshAxisAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Position of the axis called `name`.
    std::optional<unsigned> findAxis(::llvm::StringRef name) const;
    /// Number of ranks.
    int64_t getNumRanks() const;
    /// Distance in ranks between neighbours along axis `index`.
    int64_t getStride(unsigned index) const;
  }];
}

def TP_AxisRef : TP_Attr<"AxisRef", "axis_ref"> {
  let summary = "a mesh axis, or a part of one";
  let description = [{
    `"tp"` is the whole axis. `"tp":(2)4` is the part of size 4 that has 2
    coordinates more major to it: on an axis of 16 ranks the coordinate
    (rank / 2) mod 4.
  }];
  let parameters = (ins StringRefParameter<"axis name">:$name,
                        "int64_t":$preSize, "int64_t":$size);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name), [{
    return $_get($_ctxt, name, 1, 0);
  }]>];
  let extraClassDeclaration = [{
    /// Whether the whole axis is meant: then getSize() is 0.
    bool isWhole() const { return getSize() == 0; }
  }];
}

def TP_DimSharding : TP_Attr<"DimSharding", "dim"> {
  let summary = "the axes that split one dimension, major to minor";
  let parameters = (ins OptionalArrayRefParameter<"::tp::AxisRefAttr">:$axes,
                        "int64_t":$unit);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TP_Sharding : TP_Attr<"Sharding", "sharding", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "how a tensor lies on a mesh";
  let description = [{
    One entry a dimension, each with the axes that split it, major to minor. An
    axis of n ranks splits a dimension as numpy's array_split does. `unit = u`
    deals the dimension in whole groups of u. `unreduced = {..}` are axes over
    which the ranks hold terms of a sum still to be taken (`max{..}`: of a
    maximum). Axes not named replicate.

        #tp.sharding<@mesh, [ {}, {"tp"} ]>                     // columns split
        #tp.sharding<@mesh, [ {}, {"tp":(1)4} ]>                // over a sub-axis
        #tp.sharding<@mesh, [ {}, {} ], unreduced = {"tp"}>     // a partial sum
        #tp.sharding<@mesh, [ {"tp", unit = 64} ]>              // whole heads
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh,
      OptionalArrayRefParameter<"::tp::DimShardingAttr">:$dims,
      "::tp::ReductionKind":$kind,
      OptionalArrayRefParameter<"::tp::AxisRefAttr">:$unreduced);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // TP_IR_SHARDING_TD
