//===- Copies.h - factors that are copied as bf16 ---------------*- C++ -*-===//
//
// Where a machine asks for it (`copy_rows`), both factors of a large product
// whose factors are rounded are copied ahead of it: as bf16, in tiles of
// `copy_rows` rows and 64 columns, each consecutive in memory and filled up
// with zeros. A copy has the rows that the array has in memory, and a product
// takes its rows or its columns as terms; so those that read an array in either
// direction share it. An equation that gives a factor, row by row, stores the
// copy, too; others are made by a launch of their own. Here is of which
// products, who stores them, and how large they are; what a tile looks like is
// the back end's.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_MEMORY_COPIES_H
#define FOVEA_PASSES_MEMORY_COPIES_H

#include "passes/analysis/Product.h"

namespace fovea::attn {

/// Columns of a tile, and terms of a piece: 128 bytes of a row.
constexpr int64_t copyTerms = 64;
/// Kernels have two tiles side by side at most, and both are there.
constexpr int64_t copyTilesAtOnce = 2;

/// What is copied of an array for a side of a product: element (row, column) is
/// at first + row * along + column * deep.
struct CopiedSide {
  mlir::Value array;
  int64_t first = 0, along = 0, deep = 0;
  int64_t columns = 0;
  /// Whether the rows are the terms of the product, and not the columns.
  bool rowsAreTerms = false;
  /// Null: as many as the batch has places, times a number, of an array that
  /// has these lengths.
  std::optional<int64_t> rows;
  llvm::SmallVector<mlir::Attribute> lengths = {};
  int64_t perPlace = 1;
  /// Whether a list says where its rows are.
  bool isListed = false;
};

/// Whether a product reads copies of its factors: where it stands in no loop,
/// and has columns enough for that to be worth it.
bool readsCopies(ComputeOp op);

CopiedSide copiedLeft(ComputeOp op, RowsProduct product);
CopiedSide copiedRight(RowsProduct product);

/// Whether an equation can store a copy of what it gives: in no loop, and each
/// element by itself, of a row for each place of a length, of whole tiles, so
/// that no columns are left to be filled up.
bool canStoreCopy(ComputeOp op);
/// The rows that it stores.
CopiedSide storedRows(ComputeOp op);
/// The equation that stores a copy; null: none does.
ComputeOp storesCopyOf(const CopiedSide &side);

/// The right side of a product that reads copies, where it is a parameter of
/// the model.
std::optional<CopiedSide> copiedWeight(ComputeOp op);

/// A copy of a weight that a launch makes ahead of a product, with others
/// (`attn-gather-copies`): who reads it first, and what is copied.
struct GatheredCopy {
  ComputeOp reader;
  CopiedSide side;
};
/// What the launch ahead of `op` gathers; nothing: there is none.
llvm::SmallVector<GatheredCopy> gatheredAhead(ComputeOp op);

/// How many real numbers a copy takes: `count` of each place of these lengths
/// (or, not `isOfEach`, once), and `extra`.
struct CopySize {
  llvm::SmallVector<mlir::Attribute> lengths;
  int64_t count = 0, extra = 0;
  bool isOfEach = false;
};
CopySize sizeOfCopy(const CopiedSide &side, MachineAttr machine);

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_COPIES_H
