//===- GroupKeys.h - what the warp groups of an attention share -*- C++ -*-===//
//
// Private to the back end: shared by FetchKeys.cpp and GroupKeys.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_LOOPS_GROUPKEYS_H
#define FOVEA_CODEGEN_GPU_LOOPS_GROUPKEYS_H

#include "codegen/gpu/loops/KeyTiles.h"
#include "codegen/gpu/products/CopiedProduct.h"
#include "codegen/gpu/products/GroupOps.h"
#include "targets/nvidia/AttentionCopies.h"
#include "targets/nvidia/Groups.h"

namespace fovea::codegen {

constexpr int64_t numGroups = 2, warpsOfGroup = 4,
                  numAttending = numGroups * groupOfWarps,
                  groupThreadsOfAttention = numAttending + groupOfWarps;
static_assert(numGroups * groupRows == attn::rowsOfAttention &&
              attn::rowsOfAttention == copyRows);

/// The keys of a stage are a part of a copy's tile.
constexpr int64_t keyBytes = copyBytes / copyRows * attn::keysOfTile;
static_assert(copyRows % attn::keysOfTile == 0 &&
              attn::keysOfTile == 2 * warpThreads);

/// The tiles of a copy beside each other.
inline int64_t termTilesOf(int64_t size) {
  return llvm::divideCeil(size, attn::copyTerms);
}

/// Tiles of a copy in a block's memory: the offset from the first of the rows,
/// or of a stage.
struct GroupPart {
  const attn::Storage *copy;
  int64_t termTiles, offset;
};

/// The layout of a block's memory: as for a kernel in strips, plus the tiles of
/// products.
struct GroupLayout {
  llvm::SmallVector<GroupPart> rows, keys;
  /// The rows of a product; keys are those of the attention's sides.
  llvm::SmallDenseMap<mlir::Operation *, unsigned> rowsOf;
  int64_t rowBytes = 0, stageBytes = 0, stages = 0;

  GroupLayout(const attn::Attention &attention, const StorageMap &storage,
              attn::NvidiaGroupsAttr groups);
  int64_t bytes() const { return rowBytes + stages * stageBytes; }
};

/// State shared by the three parts of a block.
struct StripEmitter::Groups {
  GroupLayout layout;
  mlir::Value memory = nullptr, barriers = nullptr;
  mlir::Value thread = nullptr;
  /// The number of stages filled before this unit, and the number of units.
  mlir::Value turns = nullptr, units = nullptr;

  mlir::Value stageOf(KernelBuilder &b, mlir::Value number) const {
    return b.rem(b.add(turns, number), b.number(layout.stages));
  }
  mlir::Value parityOf(KernelBuilder &b, mlir::Value number) const {
    mlir::Value round = b.div(b.add(turns, number), b.number(layout.stages));
    return b.rem(round, b.number(2));
  }
  mlir::Value at(KernelBuilder &b, mlir::Value bytes) const {
    return b.create<mlir::LLVM::GEPOp>(
        memory.getType(), b.getI8Type(), memory,
        llvm::ArrayRef<mlir::LLVM::GEPArg>{bytes});
  }
  mlir::Value bytesOf(KernelBuilder &b, mlir::Value stage) const {
    return b.add(b.mul(stage, b.number(layout.stageBytes)),
                 b.number(layout.rowBytes));
  }
  /// Barriers: each stage is full, and is empty; the same for the
  /// rows.
  mlir::Value barrier(KernelBuilder &b, mlir::Value number) const {
    return b.create<mlir::LLVM::GEPOp>(
        barriers.getType(), b.i64(), barriers,
        llvm::ArrayRef<mlir::LLVM::GEPArg>{number});
  }
  mlir::Value full(KernelBuilder &b, mlir::Value stage) const {
    return barrier(b, stage);
  }
  mlir::Value empty(KernelBuilder &b, mlir::Value stage) const {
    return barrier(b, b.add(stage, b.number(layout.stages)));
  }
  mlir::Value rowsFull(KernelBuilder &b) const {
    return barrier(b, b.number(2 * layout.stages));
  }
  mlir::Value rowsEmpty(KernelBuilder &b) const {
    return barrier(b, b.number(2 * layout.stages + 1));
  }
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_LOOPS_GROUPKEYS_H
