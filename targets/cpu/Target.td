//===- Target.td - what a CPU decides ----------------------*- tablegen -*-===//

#ifndef FOVEA_TARGETS_CPU_TARGET_TD
#define FOVEA_TARGETS_CPU_TARGET_TD

include "dialect/Target.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Cpu_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::fovea::attn";
  let summary = "what CPUs decide";
  let useDefaultAttributePrinterParser = 1;
}

def Cpu_Target : AttrDef<Cpu_Dialect, "CpuTarget", [Attn_TargetInterface]> {
  let mnemonic = "target";
  let summary = "a CPU";
  let description = [{
    `lanes` is the number of real numbers in a vector. Registers hold a tile of
    a product: `tile_rows` rows of `tile_vectors` adjacent vectors. A strip has
    `strip_rows` rows. Products multiply `column_rows` rows at once before the
    equations in columns that read them. A program that writes no target is for
    `x86-64-v3`.

    `#cpu.target<"x86-64-v4", lanes = 16, tile_rows = 8, tile_vectors = 3>`
  }];
  let parameters = (ins
    "::mlir::StringAttr":$name,
    "int64_t":$lanes, "int64_t":$tile_rows, "int64_t":$tile_vectors,
    DefaultValuedParameter<"int64_t", "64">:$strip_rows,
    DefaultValuedParameter<"int64_t", "96">:$column_rows
  );
  let assemblyFormat = "`<` $name `,` struct($lanes, $tile_rows, $tile_vectors, $strip_rows, $column_rows) `>`";
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name, "int64_t":$lanes,
                                   "int64_t":$tile_rows, "int64_t":$tile_vectors), [{
    return $_get($_ctxt, ::mlir::StringAttr::get($_ctxt, name), lanes,
                 tile_rows, tile_vectors, /*strip_rows=*/64, /*column_rows=*/96);
  }]>];
  let extraClassDeclaration = [{
    void addPasses(Stage stage, AddPass add) const;
    int64_t getTileColumns() const { return getLanes() * getTileVectors(); }
    /// Whole numbers of 8 bits (codegen/cpu/products/IntegerGemm.h), and bf16
    /// numbers with the sums of a tensor core (runtime/TensorCore.h).
    bool multiplies(::mlir::Type factor, ::mlir::Type sum) const {
      return (factor.isInteger(8) || factor.isBF16()) && sum.isF32();
    }
  }];
}

#endif // FOVEA_TARGETS_CPU_TARGET_TD
