//===- Epilogue.h - kernels that compute column by column -----------------===//
//
// The emitter's view of a kernel in columns (`attn-form-epilogues` makes it). A
// product of several parts is packed so that the columns of all parts of one
// place are adjacent.
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
  /// Equations of `width` places each. They read a product, and results of each
  /// other, only at their own place.
  llvm::SmallVector<attn::ComputeOp> members;
  int64_t width = 0; // a multiple of a vector

  /// The minimum number of places computed at once: their columns are whole
  /// panels of every product.
  int64_t placesAtOnce(const GemmTile &tile) const;
};

/// A kernel in columns, after the phase `memory`.
Epilogue epilogueOf(attn::KernelOp kernel);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_LOOPS_EPILOGUE_H
