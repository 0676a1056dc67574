//===- Tile.h - a tile of a matrix product --------------------------------===//
//
// A block of threads computes a tile of C = A * B. It loads some terms of both
// sides at a time into shared memory, and keeps the sums in registers. Every
// sum is one chain over ascending terms.
//
// For unrounded factors, 256 threads compute 64 x 64 elements by fused
// multiply-adds, as on a CPU: 16 terms at a time, 4 x 4 elements per thread. If
// that gives few tiles, 128 threads compute 16 x 32, 32 terms at a time, 2 x 2
// elements per thread. If it gives many, 256 threads compute 128 x 128, 16
// terms at a time, 8 x 8 elements per thread. For factors rounded to bf16 see
// TensorTile.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_PRODUCTS_TILE_H
#define FOVEA_CODEGEN_GPU_PRODUCTS_TILE_H

#include "codegen/kernel/KernelBuilder.h"

namespace fovea::codegen {

/// The size of a tile, and who computes it.
struct TileShape {
  int64_t rows = 64, columns = 64, threads = 256;
  /// The terms per piece.
  int64_t terms = 16;
  /// Whether the next terms are prefetched during the multiplication.
  /// That takes registers; with many blocks, these hide each other's
  /// latency.
  bool isAhead = false;
  /// Whether its factors are rounded to bf16.
  bool isRounded = false;
};

/// For products with few tiles (targets/nvidia/ChooseTiles.cpp).
constexpr TileShape smallTile{
    .rows = 16, .columns = 32, .threads = 128, .terms = 32, .isAhead = true};

/// For products with many tiles: half as much is read per operation.
constexpr TileShape largeTile{
    .rows = 128, .columns = 128, .threads = 256, .isAhead = true};

/// One side of a product: element (row, term) of A, (column, term) of B, at
/// base + row * along + term * deep. Or, with a list, each row (or each term)
/// consists of runs at listed addresses, or zeros.
struct TileSide {
  mlir::Value base, along, deep;
  mlir::Value list = nullptr;
  bool listsTerms = false; // its rows are the terms
  int64_t runs = 1;
  mlir::Value run = nullptr; // the elements of one
  /// Whether each aligned group of four terms exists completely or not at all,
  /// at a 16-byte aligned address.
  bool isInFours = false;

  /// Whether adjacent elements are terms, not rows.
  bool isDeep() const;
  /// The element, which must exist.
  mlir::Value element(KernelBuilder &kernel, mlir::Type type, mlir::Value at,
                      mlir::Value term) const;
  /// Zero from row `end` on and from term `last` on.
  mlir::Value elementOrZero(KernelBuilder &kernel, mlir::Type type,
                            mlir::Value at, mlir::Value end, mlir::Value term,
                            mlir::Value last) const;
  /// Four of those along the terms.
  KernelBuilder::Values fourOrZeros(KernelBuilder &kernel, mlir::Type type,
                                    mlir::Value at, mlir::Value end,
                                    mlir::Value term, mlir::Value last) const;
};

/// The shared memory for pieces of both sides.
struct TileMemory {
  mlir::Value a, b;
};
TileMemory tileMemory(KernelBuilder &kernel, mlir::ModuleOp module,
                      mlir::Type element, const TileShape &shape);

struct Tile {
  TileMemory memory;
  TileShape shape;
  mlir::Type element;
  TileSide a, b;
  /// C[row, column] at c + row * cRow + column.
  mlir::Value c, cRow;
  mlir::Value rows, columns, terms;
  /// The first row and column of the tile.
  mlir::Value row, column;
  /// Where A is not zero: row - termsBefore <= term <= row + termsAfter; and
  /// similarly C, for columns. Null: no bound.
  mlir::Value termsBefore, termsAfter, columnsBefore, columnsAfter;
  /// Whether C already holds sums of earlier terms.
  bool goesOn = false;
  /// The first `keptTerms` terms of B's columns are on the chip already, at
  /// `kept`: the columns of a tile side by side, term after term. Null: none
  /// are.
  mlir::Value kept = nullptr, keptTerms = nullptr;

  /// The first of the terms that any row of the tile has, and the one after
  /// the last.
  std::pair<mlir::Value, mlir::Value> range(KernelBuilder &kernel) const;
  /// The initial value of an element's sum.
  mlir::Value begin(KernelBuilder &kernel, mlir::Value at,
                    mlir::Value column) const;
  /// Stores an element of C, if it exists.
  void store(KernelBuilder &kernel, mlir::Value sum, mlir::Value at,
             mlir::Value column) const;
};

/// All threads of the block reach it.
void emitTile(KernelBuilder &kernel, const Tile &tile);
void emitTensorTile(KernelBuilder &kernel, const Tile &tile);
/// Loads what a tile finds at `kept`.
void keepColumns(KernelBuilder &kernel, const Tile &tile);

/// The address of the dynamic shared memory.
mlir::Value sizedMemory(KernelBuilder &kernel, mlir::ModuleOp module);
/// The same, at a multiple of 1,024.
mlir::Value stageMemory(KernelBuilder &kernel, mlir::ModuleOp module);
/// The address of static shared memory.
mlir::Value sharedMemory(KernelBuilder &kernel, mlir::ModuleOp module,
                         llvm::StringRef name, mlir::Type element,
                         int64_t count);
TileMemory tensorTileMemory(KernelBuilder &kernel, mlir::ModuleOp module,
                            const TileShape &shape);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PRODUCTS_TILE_H
