//===- Epilogue.h - kernels that compute column by column -----------------===//
//
// What the emitter has to know of a kernel in columns (`attn-form-epilogues`
// makes it). A product of several parts is packed so that the columns of all
// parts that belong to one place stand together.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_LOOPS_EPILOGUE_H
#define FOVEA_CODEGEN_CPU_LOOPS_EPILOGUE_H

#include "codegen/cpu/loops/Strips.h"

namespace fovea::codegen {

/// So many rows are multiplied before the equations behind.
constexpr int64_t epilogueRows = 96;

/// How many real numbers take the place of an entry of a list of rows.
inline int64_t listEntry(mlir::Type real) {
  return 64 / real.getIntOrFloatBitWidth();
}

struct Epilogue {
  struct Product {
    attn::ComputeOp op;
    int64_t parts = 1;

    /// The distance between rows of the sums that a thread has: no power of
    /// two, which would bring them into few sets of a cache.
    int64_t stride(int64_t width) const { return parts * width + 16; }
  };
  llvm::SmallVector<Product> products;
  /// Equations of `width` places each. They read a product, and what others of
  /// them give, at their own place only.
  llvm::SmallVector<attn::ComputeOp> members;
  llvm::SmallVector<mlir::Operation *> views; // of products
  int64_t width = 0;                          // a multiple of a vector

  /// All of its ops, in the order in which they stand.
  llvm::SmallVector<mlir::Operation *> ops() const;
  /// How many places are computed at once at least: their columns are whole
  /// panels of every product.
  int64_t placesAtOnce(const GemmTile &tile) const;
};

/// The kernels in columns of a program that is behind the phase `kernels`.
std::vector<Epilogue> epiloguesOf(attn::ProgramOp program);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_LOOPS_EPILOGUE_H
