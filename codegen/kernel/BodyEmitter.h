//===- BodyEmitter.h - the scalars of a body as scalars or vectors --------===//
//
// Emits a region of an `attn.compute` at given indices, for one element or for
// several neighbours along one index at once. Values that are equal in all
// lanes stay scalar.
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

/// The current place of a kernel: the example, and the steps of loops.
struct Place {
  mlir::Value frame;
  mlir::Value example; // null in what a batch has once
  mlir::Value rank;    // the example's place in the order of the loop around
  llvm::DenseMap<mlir::Value, mlir::Value> steps; // loop index -> i64

  /// The current strips of arrays that exist only partially: the address of the
  /// first row, its number, and the row pitch. For an array with parts, only
  /// the row of the example exists, without a number.
  struct Strip {
    mlir::Value base, firstRow, stride;
  };
  llvm::SmallVector<Strip> strips;
  /// Arrays whose read element is already available.
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

  /// The yield of the only block of `region` at `indices`, a scalar or a
  /// vector. `tail`: the existing lanes (null: all). `guard`: the lanes whose
  /// value is used, so that the others read nothing out of bounds.
  mlir::Value emit(mlir::Region &region, llvm::ArrayRef<Index> indices,
                   mlir::Value tail, mlir::Value guard);

  /// The factors of the product that the body of a fused sum yields, for a
  /// multiply-add. Otherwise the yielded value alone.
  llvm::SmallVector<mlir::Value> emitFactors(attn::ComputeOp op,
                                             llvm::ArrayRef<Index> indices,
                                             mlir::Value tail,
                                             mlir::Value guard);

  /// Each of `ops` equals an op that is emitted by then, and is not computed
  /// again.
  void reuse(const llvm::DenseMap<mlir::Operation *, mlir::Operation *> &ops) {
    reused = &ops;
  }

  /// A value of a region, which depends on uniform `indices` only.
  mlir::Value emitValue(mlir::Region &region, mlir::Value value,
                        llvm::ArrayRef<Index> indices);

  /// The position of the element that `read`, in the body `region`, accesses:
  /// in elements from the first one of the array at this place. `inside`:
  /// whether it is in bounds; null if it certainly is.
  mlir::Value locate(mlir::Region &region, attn::ReadOp read,
                     llvm::ArrayRef<Index> indices, mlir::Value &inside);

  /// An index in every lane, as whole numbers.
  mlir::Value materialise(const Index &index);

  /// The extent of an axis or index in the current example. A nested length
  /// needs `parentOf`, which returns the index of its parent; without one, it
  /// is the largest of the example.
  mlir::Value
  extent(mlir::Attribute extent,
         llvm::function_ref<mlir::Value(llvm::StringRef)> parentOf = nullptr);

  /// The element of an array, in elements from its address, as an index.
  Index offset(const Storage &array, llvm::ArrayRef<Index> indices);
  /// The first element of the array at this place, relative to the batch's
  /// first, and its address.
  mlir::Value start(const Storage &array);
  /// For an array of each example: the number of places in earlier
  /// examples.
  mlir::Value placesBefore(const Storage &array);
  mlir::Value base(const Storage &array);
  /// A product's view of an array: the address at some indices of an op, and
  /// the strides along each.
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
  mlir::Value loadElement(mlir::Type element, mlir::Value start,
                          const Index &where, bool alwaysInside);
  mlir::Value
  readStored(const Storage &array, const runtime::StorageFormat &format,
             const Index &where,
             llvm::function_ref<mlir::Value(mlir::Type, const Index &)> load);
  mlir::Value
  readGroup(const Storage &array, const runtime::StorageFormat &format,
            const Index &where,
            llvm::function_ref<mlir::Value(mlir::Type, const Index &)> load);
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
