//===- Strips.h - a strip of rows by a block of threads ---------*- C++ -*-===//
//
// Private to the back end: what Strips.cpp and KeyTiles.cpp share.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_STRIPS_H
#define FOVEA_CODEGEN_GPU_STRIPS_H

#include "codegen/gpu/Tile.h"
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
  struct Queries;
  void attend(mlir::Value first, mlir::Value count);
  Queries beginQueries(mlir::Value first, mlir::Value count);
  KernelBuilder::Values scoresOf(const Queries &own, mlir::Value key,
                                 mlir::Value *largest);
  mlir::Value
  ofRow(const Queries &own, mlir::Value value,
        llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> join);
  KernelBuilder::Values addKeys(const Queries &own, mlir::Value key,
                                mlir::ValueRange before);
  void storeRead(const Queries &own, mlir::ValueRange carried);
  void bring(mlir::Value memory, int64_t width, const BodyEmitter::View &from,
             unsigned alongKeys, unsigned alongWidth, int64_t size,
             mlir::Value firstKey, mlir::Value numKeys);
  mlir::Value elementOf(attn::ComputeOp op, mlir::Value row, mlir::Value key,
                        Place &at, mlir::Value &counts);
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

#endif // FOVEA_CODEGEN_GPU_STRIPS_H
