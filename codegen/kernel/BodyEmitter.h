//===- BodyEmitter.h - the scalars of a body as scalars or vectors --------===//
//
// Emits a region of an `attn.compute` at given indices, for one element or for
// several neighbours along one index at once. What does not differ between
// the lanes stays scalar.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_KERNEL_BODYEMITTER_H
#define FOVEA_CODEGEN_KERNEL_BODYEMITTER_H

#include "codegen/kernel/KernelBuilder.h"
#include "passes/memory/Storage.h"
#include "llvm/Support/SaveAndRestore.h"

namespace fovea::codegen {

using attn::Loop;
using attn::Storage;
using attn::StorageMap;

/// Where a kernel stands: in which example, at which step of which loops.
struct Place {
  mlir::Value frame;
  mlir::Value example; // null in what a batch has once
  mlir::Value rank;    // the example's place in the order of the loop around
  llvm::DenseMap<mlir::Value, mlir::Value> steps; // loop index -> i64

  /// The strips at hand, of arrays of which no more is there: where the first
  /// row lies, which one that is, and the distance between rows. Of an array
  /// with parts only the row of the example is there, without a number.
  struct Strip {
    mlir::Value base, firstRow, stride;
  };
  llvm::SmallVector<Strip> strips;
  /// Arrays of which the one element that is read is at hand.
  llvm::SmallDenseMap<mlir::Value, mlir::Value> elements;
};

/// An index in every lane: base + step * lane. A base that is a vector holds
/// an index for each lane, and the step is 0.
struct Index {
  mlir::Value base;
  int64_t step = 0;
  bool isUniform() const { return step == 0 && !lanesOf(base); }
};

class BodyEmitter {
public:
  /// `lanes` is 0 for one element.
  BodyEmitter(KernelBuilder &builder, const StorageMap &storage,
              const Place &place, unsigned lanes)
      : builder(builder), storage(storage), place(place), lanes(lanes) {}

  /// What the only block of `region` yields at `indices`, a scalar or a
  /// vector. `tail`: the lanes that exist (null: all). `guard`: those whose
  /// value is used, so that the others read nothing that may not be there.
  mlir::Value emit(mlir::Region &region, llvm::ArrayRef<Index> indices,
                   mlir::Value tail, mlir::Value guard);

  /// Emits all but the last op of the region and returns the operands of that
  /// op, when it is a product that the region yields: for a fused
  /// multiply-add. Otherwise the yielded value alone.
  llvm::SmallVector<mlir::Value> emitFactors(mlir::Region &region,
                                             llvm::ArrayRef<Index> indices,
                                             mlir::Value tail,
                                             mlir::Value guard);

  /// Each of `ops` gives what another op has given by then, which is not
  /// computed again.
  void reuse(const llvm::DenseMap<mlir::Operation *, mlir::Operation *> &ops) {
    reused = &ops;
  }

  /// A value of a region, which depends on uniform `indices` only.
  mlir::Value emitValue(mlir::Region &region, mlir::Value value,
                        llvm::ArrayRef<Index> indices);

  /// Where the element lies that `read`, of the body `region`, finds: in
  /// elements from the first one of the array in this place. `inside`: whether
  /// the array has it; null where it certainly does.
  mlir::Value locate(mlir::Region &region, attn::ReadOp read,
                     llvm::ArrayRef<Index> indices, mlir::Value &inside);

  /// An index in every lane, as whole numbers.
  mlir::Value materialise(const Index &index);

  /// The extent of an axis or index in the example at hand. A nested length
  /// needs `parentOf`, which gives the index of its parent, or is the largest
  /// of the example without one.
  mlir::Value
  extent(mlir::Attribute extent,
         llvm::function_ref<mlir::Value(llvm::StringRef)> parentOf = nullptr);

  /// The element of an array, in elements from its address, as an index.
  Index offset(const Storage &array, llvm::ArrayRef<Index> indices);
  /// The first element of the array in this place, in elements from where
  /// those of the batch begin, and its address.
  mlir::Value start(const Storage &array);
  /// Of an array that each example has: how many places of its lengths those
  /// before have.
  mlir::Value placesBefore(const Storage &array);
  mlir::Value base(const Storage &array);
  /// An array as a product sees it: the address at some indices of an op, and
  /// the distances between neighbours along each.
  struct View {
    mlir::Value base;
    llvm::SmallDenseMap<unsigned, mlir::Value> along;
  };
  /// `axes[i]`: what axis i of the array is read at.
  View view(const Storage &array, llvm::ArrayRef<attn::AccessIndex> axes,
            llvm::ArrayRef<Index> indices);

private:
  mlir::Value stride(const Storage &array, size_t axis);
  Index inTurns(const Storage &array, const Index &index);
  mlir::Value startOfRow(const Storage &array, mlir::Value step);
  mlir::Value startOfCarry(const Storage &array, mlir::Value step);
  void emitBlock(mlir::Block &block, mlir::Operation *last);
  void emitOp(mlir::Operation &op);
  bool takeReused(mlir::Operation &op);
  void emitIf(mlir::scf::IfOp op);
  void emitRead(attn::ReadOp op);
  mlir::Value readElement(const Storage &array, llvm::ArrayRef<Index> indices,
                          bool alwaysInside);
  void prefetchAhead(const Storage &array, llvm::ArrayRef<Index> indices);
  mlir::Value readCase(attn::ReadOp op, unsigned number,
                       llvm::ArrayRef<Index> indices, mlir::Value otherwise);
  mlir::Value isInside(const Storage &array, llvm::ArrayRef<Index> indices);
  bool isAlwaysInside(attn::ReadOp op);
  bool emitIndexArithmetic(mlir::Operation &op);
  void emitScalar(mlir::Operation &op);
  void emitRandom(attn::RandomOp op);

  Index indexOf(mlir::Value value);
  mlir::Value valueOf(mlir::Value value);
  mlir::Value parentStep(llvm::StringRef length);
  mlir::Value nestedLengths(const runtime::Program::Length &length,
                            mlir::Value parent, mlir::Value active);
  mlir::Value startOfParent(const runtime::Program::Length &length);

  KernelBuilder &builder;
  const StorageMap &storage;
  const Place &place;
  unsigned lanes;
  mlir::Value tail, guard;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<mlir::Value, Index> indexValues;
  const llvm::DenseMap<mlir::Operation *, mlir::Operation *> *reused = nullptr;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_KERNEL_BODYEMITTER_H
