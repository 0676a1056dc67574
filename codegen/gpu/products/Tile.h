//===- Tile.h - a tile of a matrix product --------------------------------===//
//
// A block of threads computes a tile of C = A * B. It goes through some terms
// of both sides at a time, in the memory that its threads share, and has the
// sums in registers. Every sum is one chain over ascending terms.
//
// Of factors as they are, 256 threads compute 64 x 64 elements by fused
// multiply-adds, as on a CPU: 16 terms at a time, 4 x 4 elements a thread; or,
// where that makes few tiles, 128 threads 16 x 32, 32 terms at a time, 2 x 2
// elements a thread; or, where it makes many, 256 threads 128 x 128, 16 terms
// at a time, 8 x 8 elements a thread. Of factors that are rounded to bf16 see
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
  /// That it takes at a time.
  int64_t terms = 16;
  /// Whether the next ones are on their way while these are multiplied. It
  /// takes registers; where there are many blocks, these hide the way of each
  /// other.
  bool isAhead = false;
  /// Whether its factors are rounded to bf16.
  bool isRounded = false;
};

/// Of products with few tiles (passes/kernels/ChooseTiles.cpp).
constexpr TileShape smallTile{
    .rows = 16, .columns = 32, .threads = 128, .terms = 32, .isAhead = true};

/// Of products with many tiles: half as much is read for an operation.
constexpr TileShape largeTile{
    .rows = 128, .columns = 128, .threads = 256, .isAhead = true};

/// One side of a product: element (row, term) of A, (column, term) of B, at
/// base + row * along + term * deep; or, with a list, each row (or each term)
/// in runs that lie where the list says, or are 0.
struct TileSide {
  mlir::Value base, along, deep;
  mlir::Value list = nullptr;
  bool listsTerms = false; // its rows are the terms
  int64_t runs = 1;
  mlir::Value run = nullptr; // the elements of one
  /// Whether each four terms from a multiple of four on, of which there is none
  /// or all, lie at an address that 16 divides.
  bool isInFours = false;

  /// Whether neighbours among the terms, not among the rows, lie side by side.
  bool isDeep() const;
  /// The element, which is there.
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

/// Where the threads of a block share pieces of both sides.
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
  /// Where A is not zero: row - termsBefore <= term <= row + termsAfter; and C
  /// likewise, of columns. Null: no bound.
  mlir::Value termsBefore, termsAfter, columnsBefore, columnsAfter;
  /// Whether C holds sums already, of terms before these.
  bool goesOn = false;
  /// The first `keptTerms` terms of the columns of B are on the chip already,
  /// at `kept`: the columns of a tile side by side, term after term. Null: none
  /// are.
  mlir::Value kept = nullptr, keptTerms = nullptr;

  /// The first of the terms that any row of the tile has, and the one after
  /// the last.
  std::pair<mlir::Value, mlir::Value> range(KernelBuilder &kernel) const;
  /// What the sum of an element of C begins with.
  mlir::Value begin(KernelBuilder &kernel, mlir::Value at,
                    mlir::Value column) const;
  /// Stores an element of C, if there is one.
  void store(KernelBuilder &kernel, mlir::Value sum, mlir::Value at,
             mlir::Value column) const;
};

/// The bytes of what the code of a kernel in strips says that a block has, at
/// most: tiles of f64 beside rounded ones, or rounded keys and values.
constexpr int64_t mostTileBytes = 36 << 10;

/// All threads of the block come here.
void emitTile(KernelBuilder &kernel, const Tile &tile);
void emitTensorTile(KernelBuilder &kernel, const Tile &tile);
/// Brings what a tile finds at `kept`.
void keepColumns(KernelBuilder &kernel, const Tile &tile);

/// Memory that the threads of a block share, as many bytes as the launch says:
/// its address.
mlir::Value sizedMemory(KernelBuilder &kernel, mlir::ModuleOp module);
/// The same, from an address that 1,024 divides, among such memory.
mlir::Value stageMemory(KernelBuilder &kernel, mlir::ModuleOp module);
/// Memory that the threads of a block share: its address, among such memory.
mlir::Value sharedMemory(KernelBuilder &kernel, mlir::ModuleOp module,
                         llvm::StringRef name, mlir::Type element,
                         int64_t count);
TileMemory tensorTileMemory(KernelBuilder &kernel, mlir::ModuleOp module,
                            const TileShape &shape);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PRODUCTS_TILE_H
