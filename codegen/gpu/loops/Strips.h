//===- Strips.h - a strip of rows by a block of threads ---------*- C++ -*-===//
//
// Private to the back end: shared by Strips.cpp and KeyTiles.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_LOOPS_STRIPS_H
#define FOVEA_CODEGEN_GPU_LOOPS_STRIPS_H

#include "codegen/gpu/products/Tile.h"
#include "codegen/program/Strips.h"
#include "targets/nvidia/TileKeys.h"

namespace fovea::codegen {

/// The threads of a block: those of a tile, or, for a key-tiled attention, four
/// warps of 16 rows each.
constexpr int64_t stripThreads = TileShape().threads, attentionThreads = 128;

/// For each product of rows and keys, a thread's part: eight numbers per 16
/// keys.
using PairProducts =
    llvm::SmallDenseMap<mlir::Operation *, KernelBuilder::Values>;

/// One kernel in strips.
class StripEmitter : StripFrame {
public:
  StripEmitter(KernelBuilder &b, const StorageMap &storage,
               const StripGroup &group, mlir::Type real, mlir::ModuleOp module);

  /// A work unit, if each outer place has `parts` of them, with its workspace
  /// at `memory`.
  void emit(const Place &at, mlir::Value unit, mlir::Value parts,
            mlir::Value memory);

  /// All units of a block of warp groups, which read copies
  /// (GroupKeys.cpp).
  void emitInGroups(llvm::function_ref<Place()> placeOf, mlir::Value units,
                    mlir::Value parts);
  /// Copies a tile of a product's rows or keys.
  void copyTile(const Place &at, mlir::Value unit, mlir::Value parts,
                attn::ComputeOp op, bool isOfRows);

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

  // Key-tiled attention (KeyTiles.cpp).
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
  PairProducts multiplyKeys(const Rows &own, int64_t from);
  llvm::SmallVector<Values> pairsAt(const Rows &own, mlir::Value key,
                                    int64_t from, const PairProducts &products,
                                    llvm::ArrayRef<attn::ComputeOp> wanted,
                                    mlir::Value nothing, bool isWhole);
  Values wordsOf(mlir::ValueRange pairs);
  void addRead(const Rows &own, attn::ComputeOp read, int64_t from,
               mlir::ValueRange pairs, llvm::MutableArrayRef<mlir::Value> sums);
  mlir::Value
  ofRow(const Rows &own, mlir::Value value,
        llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> join);
  using ProductsAt = llvm::function_ref<PairProducts(int64_t from)>;
  Values scoresOf(const Rows &own, mlir::Value key, ProductsAt productsAt,
                  bool isWhole);
  struct Scores;
  Scores addScores(const Rows &own, llvm::MutableArrayRef<mlir::Value> scores,
                   mlir::ValueRange before);
  void scale(const Scores &scores, llvm::MutableArrayRef<mlir::Value> sums);
  Values addWeights(const Rows &own, mlir::Value key, mlir::ValueRange before,
                    bool isWhole);
  Values addPairs(const Rows &own, mlir::Value key, mlir::ValueRange before,
                  bool isWhole);
  attn::ComputeOp pairsOf(attn::ComputeOp read) const;
  size_t sumsOf(const Rows &own, attn::ComputeOp read) const;
  void storeRead(const Rows &own, attn::ComputeOp read, mlir::ValueRange sums,
                 const mlir::Value *factor);
  void storeWeighted(const Rows &own, mlir::ValueRange carried);
  Values beginSums(const Rows &own);
  void storeSums(const Rows &own, mlir::ValueRange carried);
  Values forTile(const Rows &own, mlir::Value key,
                 llvm::function_ref<Values(bool isWhole)> body);
  std::pair<mlir::Value, mlir::Value> keysBeside(mlir::Value first,
                                                 mlir::Value count);
  mlir::Value isWholeTile(const Rows &own, mlir::Value key);
  bool hasBandAlone(attn::ComputeOp op) const;

  // The same with warp groups (FetchKeys.cpp, GroupKeys.cpp).
  struct Groups;
  void beginPairs(mlir::Value first);
  mlir::Value copyAt(const attn::Storage &copy, mlir::Value count,
                     int64_t termTiles);
  Rows rowsOfGroup(const Groups &groups, mlir::Value first, mlir::Value count);
  void fetchTiles(const Groups &groups, mlir::Value first, mlir::Value from,
                  mlir::Value to);
  struct Pairs;
  Values multiplyTile(const Groups &groups, attn::ComputeOp op,
                      mlir::Value stage);
  PairProducts startTile(const Groups &groups, mlir::Value stage);
  PairProducts awaitTile(const PairProducts &products, int64_t allBut);
  Pairs pairsOfTile(const Rows &own, mlir::Value key,
                    const PairProducts &products, mlir::ValueRange before,
                    bool rounds);
  llvm::SmallVector<attn::ComputeOp> wantedPairs() const;
  Values addReads(const Groups &groups, const Rows &own, mlir::Value stage,
                  mlir::ValueRange words, mlir::ValueRange before, bool awaits);
  Values addTile(const Groups &groups, const Rows &own, mlir::Value key,
                 mlir::Value stage, mlir::ValueRange before);
  using EnterTile = llvm::function_ref<mlir::Value(mlir::Value key)>;
  using LeaveTile = llvm::function_ref<void(mlir::Value stage)>;
  Values attendAhead(const Groups &groups, const Rows &own, mlir::Value from,
                     mlir::Value to, EnterTile enter, LeaveTile leave);
  void attendInGroup(const Groups &groups, mlir::Value first, mlir::Value count,
                     mlir::Value from, mlir::Value to);

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
