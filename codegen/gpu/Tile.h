//===- Tile.h - a tile of a matrix product --------------------------------===//
//
// A block of threads computes 64 x 64 elements of C = A * B. It goes through
// 16 terms of both sides at a time, in the memory that its threads share; each
// thread has 4 x 4 elements, in registers. Every element is one chain of fused
// multiply-adds over ascending terms, as on a CPU.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_TILE_H
#define FOVEA_CODEGEN_GPU_TILE_H

#include "codegen/kernel/KernelBuilder.h"

namespace fovea::codegen {

constexpr int64_t tileSide = 64, tileTerms = 16, tileThreads = 256;

/// One side of a product: element (row, term) of A, (column, term) of B, at
/// base + row * along + term * deep; or, with a list, each row (or each term)
/// in runs that lie where the list says, or are 0.
struct TileSide {
  mlir::Value base, along, deep;
  mlir::Value list = nullptr;
  bool listsTerms = false; // its rows are the terms
  int64_t runs = 1;
  mlir::Value run = nullptr; // the elements of one
};

/// Where the threads of a block share pieces of both sides.
struct TileMemory {
  mlir::Value a, b;
};
TileMemory tileMemory(KernelBuilder &kernel, mlir::ModuleOp module,
                      mlir::Type element);

struct Tile {
  TileMemory memory;
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
};

/// All threads of the block come here.
void emitTile(KernelBuilder &kernel, const Tile &tile);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_TILE_H
