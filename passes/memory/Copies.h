//===- Copies.h - factors that are copied as bf16 ---------------*- C++ -*-===//
//
// If the target asks for it (`copy_rows`), both factors of a large product with
// rounded factors are copied ahead of it. A copy is bf16, in tiles of
// `copy_rows` rows and 64 columns, each consecutive in memory and padded with
// zeros. It has the rows that the array has in memory. A product takes its rows
// or its columns as terms, so readers in either direction share it. An equation
// that computes a factor row by row stores the copy, too; other copies have a
// launch of their own. This file decides which products use copies, which op
// writes them, and their size. The layout of a tile belongs to the back end.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_MEMORY_COPIES_H
#define FOVEA_PASSES_MEMORY_COPIES_H

#include "passes/analysis/Product.h"
#include "llvm/ADT/MapVector.h"

namespace fovea::attn {

/// Columns of a tile, and terms of a piece: 128 bytes of a row.
constexpr int64_t copyTerms = 64;
/// Kernels use at most two adjacent tiles, and both exist.
constexpr int64_t copyTilesAtOnce = 2;

/// The copied part of an array for one side of a product: element (row, column)
/// is at first + row * along + column * deep.
struct CopiedSide {
  mlir::Value array;
  int64_t first = 0, along = 0, deep = 0;
  int64_t columns = 0;
  /// Whether the rows are the terms of the product, and not the columns.
  bool rowsAreTerms = false;
  /// Null: one per place of the batch, times a number, for an array with these
  /// lengths.
  std::optional<int64_t> rows;
  llvm::SmallVector<mlir::Attribute> lengths = {};
  int64_t perPlace = 1;
  /// Whether a list contains the addresses of its rows.
  bool isListed = false;
  /// If a kernel in strips reads it: where each axis of the array is read. Null
  /// otherwise.
  mlir::Attribute view = {};

  bool operator==(const CopiedSide &other) const = default;
};

/// Returns whether a product reads copies of its factors: it is outside loops,
/// and has enough columns for the copies to pay off.
bool readsCopies(ComputeOp op);

CopiedSide copiedLeft(ComputeOp op, RowsProduct product);
CopiedSide copiedRight(RowsProduct product);

/// Returns whether an equation can store a copy of its result. It must be
/// outside loops and compute each element independently. It must also have a
/// row of whole tiles per place of a length, so that no columns need padding.
bool canStoreCopy(ComputeOp op);
/// The rows that it stores.
CopiedSide storedRows(ComputeOp op);
/// The equation that stores a copy, or null.
ComputeOp storesCopyOf(const CopiedSide &side);

/// How a kernel in strips uses registers and copies: the decisions of its
/// target (`TargetAttr::decideStrips`).
struct StripDecisions {
  /// Members whose strips are in registers.
  llvm::SmallVector<ComputeOp> inRegisters;
  /// The number of rows in a tile of the copies; 0: the kernel reads none.
  int64_t copyRows = 0;
  /// The copies that the products of the kernel read. A product without a
  /// copied left side reads another member.
  struct Sides {
    std::optional<CopiedSide> left;
    CopiedSide right;
  };
  llvm::MapVector<mlir::Operation *, Sides> copies;
};
StripDecisions decideStrips(KernelOp kernel);

/// The length that counts the tiles of so many rows along a length.
mlir::StringAttr tilesAlong(mlir::StringAttr length, int64_t rows);

/// The right side of a product that reads copies, if it is a model
/// parameter.
std::optional<CopiedSide> copiedWeight(ComputeOp op);

/// A copy of a weight that a launch before a product makes together with others
/// (`attn-gather-copies`): its first reader, and its source.
struct GatheredCopy {
  ComputeOp reader;
  CopiedSide side;
};
/// The copies that the launch before `op` gathers, or nothing.
llvm::SmallVector<GatheredCopy> gatheredAhead(ComputeOp op);

/// The size of a copy in real numbers: `count` per place of these lengths (or,
/// if not `isOfEach`, once), plus `extra`.
struct CopySize {
  llvm::SmallVector<mlir::Attribute> lengths;
  int64_t count = 0, extra = 0;
  bool isOfEach = false;
};
CopySize sizeOfCopy(const CopiedSide &side, TargetAttr target);

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_COPIES_H
