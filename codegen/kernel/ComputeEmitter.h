//===- ComputeEmitter.h - one equation as loops ---------------------------===//
//
// The loops of an `attn.compute` inside a kernel: over its parallel indices,
// over its reduction indices, and along one of them in vectors.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_KERNEL_COMPUTEEMITTER_H
#define FOVEA_CODEGEN_KERNEL_COMPUTEEMITTER_H

#include "codegen/kernel/BodyEmitter.h"
#include "passes/analysis/VectorIndex.h"

namespace fovea::codegen {

class ComputeEmitter {
public:
  /// `lanes`: of a vector of the program's real numbers, which vectors along
  /// the result have; those along a reduction have as many on every machine
  /// (VectorIndex.h). `given`: indices that have one place each, and no
  /// vectors.
  ComputeEmitter(KernelBuilder &builder, const StorageMap &storage,
                 attn::ComputeOp op, unsigned lanes,
                 llvm::ArrayRef<unsigned> given = {});
  /// For several sums in one loop (`attn-share-loops`).
  ComputeEmitter(KernelBuilder &builder, const StorageMap &storage,
                 llvm::ArrayRef<attn::ComputeOp> twins, unsigned lanes,
                 llvm::ArrayRef<unsigned> given = {});

  /// Emits the part of the result at `place` with the parallel indices, from
  /// the first, `given`; null or missing ones are iterated over.
  void emit(const Place &place, llvm::ArrayRef<mlir::Value> given);
  /// The same for the elements `begin` .. `end`-1 along the index of
  /// `rangeIndex()`.
  void emitRange(const Place &place, mlir::Value begin, mlir::Value end);
  /// The parallel index whose elements can be given in ranges, or -1.
  int rangeIndex();

  /// For a sum over one index whose condition determines a row of the result:
  /// the row to which the term at that index is added, or -1.
  mlir::Value emitRowOfTerm(const Place &place, mlir::Value term);
  /// Adds the term to its row.
  void emitTerm(const Place &place, mlir::Value row, mlir::Value term);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  /// The action on the vector, or element, at the current indices.
  using Step = llvm::function_ref<Values(unsigned width, mlir::Value tail,
                                         Values carried)>;

  bool isParallel(int number);
  std::pair<mlir::Value, mlir::Value> boundsOf(unsigned number);
  bool isFixed(unsigned number);
  mlir::Value alignLanes(mlir::Value first);
  std::pair<mlir::Value, mlir::Value> narrow(unsigned number, mlir::Value first,
                                             mlir::Value last);
  std::pair<mlir::Value, mlir::Value>
  narrowResult(unsigned number, mlir::Value first, mlir::Value last);
  Values forVectors(unsigned number, mlir::Value first, mlir::Value last,
                    Values carried, Step step);
  std::optional<unsigned> decidingIndices();
  bool isDecidedAt(unsigned number);
  mlir::Value decided();
  void emitAll();
  void emitDecided(unsigned number);
  void emitZeros(unsigned number);
  void emitParallel(unsigned number);
  void emitElements();
  bool readsRows();
  mlir::Value emitBlocks(mlir::Value first, mlir::Value last);
  void emitBlock(mlir::Value at, llvm::ArrayRef<mlir::Value> tails);
  static attn::ReadOp findTurned(attn::ComputeOp op);
  mlir::Value emitTurned(mlir::Value tail, mlir::Value last);
  void emitScatter();
  using RowStep = llvm::function_ref<void(unsigned width, mlir::Value tail)>;
  void overRow(unsigned number, RowStep emitAt);
  void clearElements();
  void clearRow(mlir::Value row);
  void addToRow(mlir::Value row);
  std::pair<mlir::Value, mlir::Value> rowOfTerm();
  void emitNormaliser();
  void emitZerosBelow(unsigned number);
  void emitCumulative();

  Values overReductions(unsigned number, Values carried, Step element);
  Values overExamples(Values carried, Step element);
  void overTerms(Step element);
  Values reduce(attn::Reducer reducer, unsigned width, mlir::Value tail,
                Values carried, mlir::Value shift);
  Values reduceWhere(attn::Reducer reducer, unsigned width, mlir::Value tail,
                     mlir::Value guard, Values carried, mlir::Value shift);
  mlir::Value addFactors(attn::ComputeOp op, mlir::ValueRange factors,
                         mlir::Value sum);
  Values addUp(unsigned width, mlir::Value tail, mlir::Value guard,
               Values carried);
  mlir::Value combine(attn::Reducer reducer, Values carried);
  Values combineAll(attn::Reducer reducer, Values carried);
  Values initial(attn::Reducer reducer, unsigned width);
  mlir::Value join(attn::Reducer reducer, mlir::Value a, mlir::Value b);
  Values joinLanes(attn::Reducer reducer, Values carried);
  Values reduced(unsigned width, mlir::Value tail);

  mlir::Value condition(unsigned width, mlir::Value tail);
  mlir::Value body(unsigned width, mlir::Value tail, mlir::Value guard);
  mlir::Value resultAddress(llvm::ArrayRef<Index> at, mlir::Value result);
  mlir::Value resultAddress(llvm::ArrayRef<Index> at) {
    return resultAddress(at, op.getResult());
  }
  void storeAll(llvm::ArrayRef<mlir::Value> results, mlir::Value tail);
  void storeOne(attn::ComputeOp of, mlir::Value value, mlir::Value tail);
  mlir::Type real() { return storage.elementOf(builder.getF64Type()); }

  KernelBuilder &builder;
  const StorageMap &storage;
  attn::ComputeOp op;
  /// A sum that is computed in the same loops, and what it has in common with
  /// `op`.
  struct Twin {
    attn::ComputeOp op;
    llvm::DenseMap<mlir::Operation *, mlir::Operation *> common;
  };
  llvm::SmallVector<Twin, 1> twins;
  unsigned lanes;
  /// The index along which neighbours share a vector, or -1.
  int along;
  /// Reads of rows along the sum, which are transposed for adjacent
  /// chains.
  attn::ReadOp turned;
  std::optional<attn::Equality> scattered;
  /// Whether the condition is known to hold.
  bool isDecided = false;
  Place place;
  llvm::SmallVector<mlir::Value> given;
  llvm::SmallVector<Index> indices;
  mlir::Value rangeBegin, rangeEnd;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_KERNEL_COMPUTEEMITTER_H
