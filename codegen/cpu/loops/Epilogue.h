//===- Epilogue.h - kernels that compute column by column -----------------===//
//
// What the emitter has to know of a kernel in columns (`attn-form-epilogues`
// makes it). A product of several parts is packed so that the columns of all
// parts that belong to one place stand together.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_LOOPS_EPILOGUE_H
#define FOVEA_CODEGEN_CPU_LOOPS_EPILOGUE_H

#include "codegen/cpu/products/Gemm.h"
#include "codegen/program/Strips.h"

namespace fovea::codegen {

struct Epilogue {
  attn::KernelOp kernel;
  struct Product {
    attn::ComputeOp op;
    int64_t parts = 1;
  };
  llvm::SmallVector<Product> products;
  /// Equations of `width` places each. They read a product, and what others of
  /// them give, at their own place only.
  llvm::SmallVector<attn::ComputeOp> members;
  int64_t width = 0; // a multiple of a vector

  /// How many places are computed at once at least: their columns are whole
  /// panels of every product.
  int64_t placesAtOnce(const GemmTile &tile) const;
};

/// A kernel in columns, after the phase `memory`.
Epilogue epilogueOf(attn::KernelOp kernel);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_LOOPS_EPILOGUE_H
