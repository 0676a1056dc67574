//===- Target.td - what a GPU of NVIDIA decides ------------*- tablegen -*-===//

#ifndef FOVEA_TARGETS_NVIDIA_TARGET_TD
#define FOVEA_TARGETS_NVIDIA_TARGET_TD

include "dialect/Target.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def Nvidia_Dialect : Dialect {
  let name = "nvidia";
  let cppNamespace = "::fovea::attn";
  let summary = "what GPUs of NVIDIA decide";
  let useDefaultAttributePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

def Nvidia_Target : AttrDef<Nvidia_Dialect, "NvidiaTarget", [Attn_TargetInterface]> {
  let mnemonic = "target";
  let summary = "a GPU of NVIDIA";
  let description = [{
    One thread computes one element. Products read their factors in place.

    * `shared_bytes`: the memory of a block on the chip. Strips that fit are in
      it, and the weights of loops that stay on the device; 0: neither.
    * `copy_rows`: the rows of a tile of bf16 copies, which large products of
      rounded factors read; 0: they read the arrays themselves.
    * `group_columns`: the columns of the widest tile of copies that warp groups
      multiply; 0: the GPU has no such groups.
    * `cluster_blocks`: the number of such blocks that share their fetches.

    `#nvidia.target<"sm_80", shared_bytes = 64512, copy_rows = 128>`
  }];
  let parameters = (ins
    "::mlir::StringAttr":$name,
    DefaultValuedParameter<"int64_t", "0">:$shared_bytes,
    DefaultValuedParameter<"int64_t", "0">:$copy_rows,
    DefaultValuedParameter<"int64_t", "0">:$group_columns,
    DefaultValuedParameter<"int64_t", "1">:$cluster_blocks
  );
  let assemblyFormat = "`<` $name (`,` struct($shared_bytes, $copy_rows, $group_columns, $cluster_blocks)^)? `>`";
  let extraClassDeclaration = [{
    /// The rows of a strip: those of a medium tile.
    static constexpr int64_t stripRows = 64;
    /// The number of blocks that have a workspace in memory, for one that is
    /// too large for the chip.
    static constexpr int64_t workspaces = 128;

    int64_t getStripRows() const { return stripRows; }
    /// Too few longer rows of constant size fit on the chip, and such arrays
    /// are small beside arrays of pairs.
    int64_t getStripColumns() const { return 128; }
    int64_t getWorkspaces() const { return workspaces; }
    bool listsTerms() const { return true; }
    bool multiplies(::mlir::Type factor, ::mlir::Type sum) const {
      return factor.isBF16() && sum.isF32();
    }
    void decideStrips(KernelOp kernel, StripDecisions &decisions) const;
    ::llvm::LogicalResult verifyStrips(KernelOp kernel) const;
    ::llvm::LogicalResult verifyPlaced(ProgramOp program) const;
    void addPasses(Stage stage, AddPass add) const;
  }];
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

def Nvidia_TilesKind : I32EnumAttr<"Tiles", "the size of a product's tiles", [
  I32EnumAttrCase<"small", 0>, I32EnumAttrCase<"medium", 1>,
  I32EnumAttrCase<"large", 2>, I32EnumAttrCase<"any", 3>,
  I32EnumAttrCase<"group", 4>, I32EnumAttrCase<"wide", 5>
]> {
  let cppNamespace = "::fovea::attn";
  let genSpecializedAttr = 0;
}

def Nvidia_Tiles : AttrDef<Nvidia_Dialect, "NvidiaTiles", [Attn_ConfigInterface]> {
  let mnemonic = "tiles";
  let summary = "the tiles in which a product is computed";
  let description = [{
    * `small`: there would be few medium tiles.
    * `large`: there are many even of these.
    * `any`: only the launch knows how many there are.
    * `group` and `wide`: for copies of rounded factors, multiplied by warp
      groups. `cluster` blocks, whose tiles are below each other, share their
      fetches.

    A product without a configuration has `medium` tiles.

    `#nvidia.tiles<wide, cluster = 2>`
  }];
  let parameters = (ins EnumParameter<Nvidia_TilesKind>:$kind,
                        DefaultValuedParameter<"int64_t", "1">:$cluster);
  let assemblyFormat = "`<` $kind (`,` `cluster` `=` $cluster^)? `>`";
  let extraClassDeclaration = [{
    ::llvm::LogicalResult verifyConfig(::mlir::Operation *op) const;
  }];
}

def Nvidia_Block : AttrDef<Nvidia_Dialect, "NvidiaBlock", [Attn_ConfigInterface]> {
  let mnemonic = "block";
  let summary = "the number of threads in a block";
  let description = [{
    The blocks that compute units of an equation have so many threads.

    `#nvidia.block<32>`
  }];
  let parameters = (ins "int64_t":$threads);
  let assemblyFormat = "`<` $threads `>`";
  let extraClassDeclaration = [{
    ::llvm::LogicalResult verifyConfig(::mlir::Operation *op) const;
  }];
}

def Nvidia_Groups : AttrDef<Nvidia_Dialect, "NvidiaGroups", [Attn_ConfigInterface]> {
  let mnemonic = "groups";
  let summary = "how warp groups compute an attention";
  let description = [{
    A thread fetches copies of rows, and one tile of keys after the other. Two
    groups of warps attend to 64 rows each.

    * `stages`: the tiles of keys that are in a block's memory at once.
    * `ahead`: the products of the next tile start before the pairs of a tile
      are ready. It takes registers for the products and pairs of both.

    An attention without a configuration reads the arrays themselves.

    `#nvidia.groups<stages = 4, ahead = true>`
  }];
  let parameters = (ins "int64_t":$stages, "bool":$ahead);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    ::llvm::LogicalResult verifyConfig(::mlir::Operation *op) const;
  }];
}

#endif // FOVEA_TARGETS_NVIDIA_TARGET_TD
