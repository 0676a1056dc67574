//===- Epilogue.h - equations behind products, column by column -----------===//
//
// The gates of a recurrent network, and their adjoints, read sums of products
// with weights at their own place. A thread then computes its columns of the
// products and, behind them, its columns of these equations: the sums are never
// in memory that threads share, and no thread waits in between.
//
// A product may have several parts of the same width, one per gate. It is
// packed so that the columns of all parts that belong to one place stand
// together.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_EPILOGUE_H
#define FOVEA_CODEGEN_CPU_EPILOGUE_H

#include "codegen/cpu/Strips.h"

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

/// Finds the epilogues in the loops and at the top of a program, and moves the
/// ops of each next to one another, to where the last one stands. What reads
/// them comes behind. The members of `groups` stay where they are. Behind the
/// phase `batch`.
std::vector<Epilogue> gatherEpilogues(attn::ProgramOp program,
                                      const GemmTile &tile,
                                      llvm::ArrayRef<StripGroup> groups);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_EPILOGUE_H
