//===- Strips.h - a strip of rows by a block of threads ---------*- C++ -*-===//
//
// Private to the back end: what Strips.cpp and KeyTiles.cpp share.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_LOOPS_STRIPS_H
#define FOVEA_CODEGEN_GPU_LOOPS_STRIPS_H

#include "codegen/gpu/products/Tile.h"
#include "codegen/program/Strips.h"
#include "passes/kernels/TileKeys.h"

namespace fovea::codegen {

/// The threads of a block: of a tile, or of an attention that takes some keys
/// at a time, four warps of 16 rows each.
constexpr int64_t stripThreads = TileShape().threads, attentionThreads = 128;

/// One kernel in strips.
class StripEmitter : StripFrame {
public:
  StripEmitter(KernelBuilder &b, const StorageMap &storage,
               const StripGroup &group, mlir::Type real, mlir::ModuleOp module);

  /// A work unit, where each place of the indices outside has so many `parts`,
  /// with rooms from `memory` on.
  void emit(const Place &at, mlir::Value unit, mlir::Value parts,
            mlir::Value memory);

private:
  void emitRows(mlir::Value first, mlir::Value last);
  void emitMember(const StripMember &member, mlir::Value first,
                  mlir::Value count);
  Tile tileOf(const StripMember &member, const Operands &all);
  void multiplyRows(const StripMember &member, mlir::Value first,
                    mlir::Value count);
  void sumRows(const StripMember &member, mlir::Value first, mlir::Value count);
  void clear(const StripMember &member);
  void clearOutside(const StripMember &member, mlir::Value first,
                    mlir::Value count, mlir::Value from, mlir::Value to);

  // Attention of some keys at a time (KeyTiles.cpp).
  using Values = KernelBuilder::Values;
  struct KeySide;
  struct Known;
  struct Rows;
  void attend(mlir::Value first, mlir::Value count);
  Rows beginRows(mlir::Value first, mlir::Value count);
  llvm::SmallVector<Values> leftSide(const Rows &own,
                                     const StripMember &member);
  std::vector<Known> findKnown();
  bool isSamePlace(const Known &known, attn::ComputeOp op, attn::ReadOp read);
  mlir::Value valueOf(const Known &known, mlir::Value row, mlir::Value key);
  void bring(const KeySide &side, mlir::Value firstKey, mlir::Value numKeys);
  void bringKeys(const Rows &own, mlir::Value firstKey);
  mlir::Value elementOf(attn::ComputeOp op, mlir::Value row, mlir::Value key,
                        Place &at, bool isWhole, mlir::Value &counts);
  llvm::SmallVector<Values> pairsAt(const Rows &own, mlir::Value key,
                                    int64_t from,
                                    llvm::ArrayRef<attn::ComputeOp> wanted,
                                    mlir::Value nothing, bool isWhole);
  void addRead(const Rows &own, attn::ComputeOp read, int64_t from,
               mlir::ValueRange pairs, llvm::MutableArrayRef<mlir::Value> sums);
  mlir::Value
  ofRow(const Rows &own, mlir::Value value,
        llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> join);
  Values addWeights(const Rows &own, mlir::Value key, mlir::ValueRange before,
                    bool isWhole);
  Values addPairs(const Rows &own, mlir::Value key, mlir::ValueRange before,
                  bool isWhole);
  attn::ComputeOp pairsOf(attn::ComputeOp read) const;
  size_t sumsOf(const Rows &own, attn::ComputeOp read) const;
  void storeRead(const Rows &own, attn::ComputeOp read, mlir::ValueRange sums,
                 const mlir::Value *factor);
  void storeWeighted(const Rows &own, mlir::ValueRange carried);
  std::pair<mlir::Value, mlir::Value> keysBeside(const Rows &own);
  mlir::Value isWholeTile(const Rows &own, mlir::Value key);
  bool hasBandAlone(attn::ComputeOp op) const;
  const StripMember &memberOf(attn::ComputeOp op) const;
  bool isDoneByTiles(attn::ComputeOp op) const;

  mlir::Value num(int64_t value) { return b.number(value); }
  /// `number`, which may be missing, and `other`.
  mlir::Value shifted(std::optional<int64_t> number, mlir::Value other) {
    return number ? b.add(num(*number), other) : mlir::Value();
  }

  mlir::ModuleOp module;
  std::optional<attn::Attention> attention;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_LOOPS_STRIPS_H
