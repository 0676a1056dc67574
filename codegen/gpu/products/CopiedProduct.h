//===- CopiedProduct.h - products of factors copied as bf16 -----*- C++ -*-===//
//
// What reads copies (passes/memory/Copies.h) and what they look like here: a
// tile is 128 rows of 64 columns, 16 KB. The tiles of the same rows are
// consecutive, columns ascending. Eight columns of a row lie at
//
//   row * 128 + (eight ^ row % 8) * 16        bytes
//
// as wgmma calls its swizzle of 128 bytes: eight rows at the same columns are
// in eight banks. Terms are the columns of a copy, or its rows: wgmma and
// ldmatrix read both.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_PRODUCTS_COPIEDPRODUCT_H
#define FOVEA_CODEGEN_GPU_PRODUCTS_COPIEDPRODUCT_H

#include "codegen/gpu/products/Tile.h"
#include "passes/memory/Copies.h"

namespace fovea::codegen {

constexpr int64_t copyRows = 128, copyBytes = copyRows * 128;

/// Rounds one tile of a side, with 256 threads: number `unit`, of `termTiles`
/// along the terms, which are the columns of the copy. `terms` and `rows` are
/// those of the side.
constexpr int64_t copyThreads = 256;
void emitCopy(KernelBuilder &kernel, const TileSide &side, mlir::Value rows,
              mlir::Value terms, mlir::Value termTiles, mlir::Value unit,
              mlir::Value to);

/// Whether the source allows reading four columns at a time.
bool isInFours(const attn::CopiedSide &side);

/// Rounds an element, for an equation that stores a copy of its result.
const CopyOps &roundingCopyOps();

/// A product's view of a copy, 128 rows of the factor and 64 terms at a time,
/// in two halves of 64 rows: the number of horizontally adjacent tiles, and
/// whether its rows are the terms.
struct CopiedFactor {
  mlir::Value tiles;
  int64_t across = 0;
  bool rowsAreTerms = false;

  /// The address of a half, `halfBytes` long.
  mlir::Value half(KernelBuilder &kernel, mlir::Value tile, mlir::Value piece,
                   mlir::Value half) const;
};
constexpr int64_t halves = 2, halfBytes = copyBytes / halves;

/// C = A * B of two copies; a tile of C is 128 rows, and `columnsOfTile`.
struct CopiedProduct {
  CopiedFactor a, b;
  /// C[row, column] at c + row * cRow + column; whether even columns are always
  /// 8-byte aligned.
  mlir::Value c;
  int64_t cRow;
  bool isInPairs;
  mlir::Value rows, termTiles;
  int64_t columns, columnsOfTile;
  /// The number of blocks with vertically adjacent tiles, if the device
  /// supports clusters. All of them have tiles, though the last may have no
  /// row.
  int64_t cluster = 1;

  int64_t tilesAcross() const {
    return llvm::divideCeil(columns, columnsOfTile);
  }
};

/// The rows and columns of a unit's tile. Concurrent tiles are near each other,
/// and those of a cluster are vertically adjacent.
std::pair<mlir::Value, mlir::Value> tileOfUnit(KernelBuilder &kernel,
                                               const CopiedProduct &product,
                                               mlir::Value unit);

/// Stores sums in the instructions' layout: for each eight columns, two
/// neighbours of a row, and two of the row 8 below.
void storeSums(KernelBuilder &kernel, const CopiedProduct &product,
               mlir::ValueRange sums, mlir::Value row, mlir::Value column);

/// The bytes of a block's memory for pieces of both sides.
struct Stages {
  int64_t count, bytes;
  int64_t all() const { return count * bytes; }
};

/// By warps, with mma.sync. All threads of a block reach it, once.
constexpr int64_t threadsOfCopiedTile = 256;
Stages stagesOfWarps();
void emitCopiedTiles(KernelBuilder &kernel, mlir::ModuleOp module,
                     const CopiedProduct &product, mlir::Value units);

/// By warp groups, with wgmma, on machines that have it: two groups multiply,
/// and another warp fetches. The widest tile has so many columns, and so many
/// blocks share their fetches.
constexpr int64_t groupColumns = 256, clusterBlocks = 2;
constexpr int64_t groupThreadsOfTile = 288;
Stages stagesOfGroups(int64_t columnsOfTile);
void emitGroupTiles(KernelBuilder &kernel, mlir::ModuleOp module,
                    const CopiedProduct &product, mlir::Value units);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PRODUCTS_COPIEDPRODUCT_H
