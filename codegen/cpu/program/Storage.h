//===- Storage.h - where the arrays of a program lie ----------------------===//
//
// Gives every array of a batched program a place in memory, and every length,
// loop and array its slots of the frame; fills in the description that the
// runtime allocates by (runtime/Program.h).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PROGRAM_STORAGE_H
#define FOVEA_CODEGEN_CPU_PROGRAM_STORAGE_H

#include "codegen/cpu/loops/Epilogue.h"
#include "codegen/cpu/loops/Strips.h"
#include "codegen/cpu/products/Gemm.h"
#include "dialect/AttnDialect.h"
#include "runtime/Program.h"

namespace fovea::codegen {

/// A loop of the program while it runs.
struct Loop {
  mlir::Operation *op = nullptr;
  int stepSlot = 0;
  /// How many rows take part in the present step; -1: all examples.
  int rowsSlot = -1;
  /// The order of the examples, of a loop whose rows are ranks: only those
  /// that are long enough take part, and they are the first.
  int order = -1;
};

/// Where an array lies.
struct Storage {
  int slot = 0;
  attn::ArrayType type;
  /// One per example; otherwise one for the batch.
  bool perExample = false;
  /// The layout of the program, -1 for a row per example and no lengths.
  int layout = -1;
  /// The loop whose ranks number the rows; null: examples do.
  const Loop *ranks = nullptr;
  /// The array of which this one is the row at the present step of `along`: it
  /// is written where it stays. Null: an array of its own.
  mlir::Value rowOf;
  const Loop *along = nullptr;
  /// Not null: the row at the step before, and ahead of the first step this
  /// array.
  mlir::Value init;
  /// Not below 0: only a strip of its rows is there, as part `strip` of the
  /// place at hand (Strips.h). The rows lie along `rowAxis`.
  int strip = -1;
  size_t rowAxis = 0;
  /// Not 0: one row is there, with so many parts whose vectors take turns
  /// (Epilogue.h).
  int64_t parts = 0;
};

/// What a thread has for the strips of a group, or for an epilogue.
struct StripMemory {
  int slot = 0, partSlot = 0;
};

class StorageMap {
public:
  /// `groups` of equations that are computed in strips, and `epilogues`,
  /// outlive the map. `keepsPacked`: packed parameters stay from run to run.
  StorageMap(attn::ProgramOp program, mlir::Type real, GemmTile tile,
             llvm::ArrayRef<StripGroup> groups,
             llvm::ArrayRef<Epilogue> epilogues, bool keepsPacked);

  const Storage &of(mlir::Value array) const;
  /// Room for the packed right side of a product that `op` is; null when it is
  /// none. Products of the same weights share it.
  const Storage *packedOf(attn::ComputeOp op) const;
  /// The group that `op` is a member of, and its memory; null: of none.
  const StripGroup *groupOf(mlir::Operation *op) const {
    return groupsByOp.lookup(op);
  }
  StripMemory memoryOf(const StripGroup &group) const {
    return stripMemory.lookup(&group);
  }
  /// The same of an epilogue.
  const Epilogue *epilogueOf(mlir::Operation *op) const {
    return epiloguesByOp.lookup(op);
  }
  StripMemory memoryOf(const Epilogue &epilogue) const {
    return stripMemory.lookup(&epilogue);
  }
  /// How many parts of the right side of a product take turns where it is
  /// packed.
  int64_t packedPartsOf(attn::ComputeOp op) const;
  /// The columns of one part that stand together.
  unsigned packedLanes() const { return tile.lanes; }
  /// Whether an array stays from run to run.
  bool isKept(const Storage &array) const;
  /// Whether the rows of the left side of a product do not lie one behind the
  /// other, so that a list says where.
  bool hasRowList(attn::RowsProduct product) const;
  /// The list of a product that is no part of an epilogue, in elements of the
  /// array that they are rows of, int64; null: there is none.
  const Storage *rowListOf(attn::ComputeOp op) const;
  /// The buffer from which a loop takes the next value of a carry that is
  /// itself a carry of the loop; null where none is needed.
  const Storage *swapOf(mlir::Operation *loop, unsigned carry) const;

  const runtime::Program &description() const { return program; }
  runtime::Program &description() { return program; }
  const Loop &loopOf(mlir::Operation *op) const { return *loops.at(op); }
  /// The loops around `op`, outermost first.
  llvm::SmallVector<const Loop *> around(mlir::Operation *op) const;

  const runtime::Program::Length &length(llvm::StringRef name) const;
  /// The layout of one length, which the program has by then.
  int layoutOfLength(mlir::StringAttr length) const;
  int slotOfLayout(int layout) const { return program.layouts[layout].slot; }
  /// Whether the rows of an array lie one behind the other.
  bool isPacked(const Storage &array) const {
    return array.layout < 0 || program.layouts[array.layout].kind ==
                                   runtime::Program::Layout::Packed;
  }
  /// `real` for f64, otherwise the type itself.
  mlir::Type elementOf(mlir::Type type) const {
    return type.isF64() ? real : type;
  }

private:
  /// The layout of a list of lengths.
  int layoutOf(
      llvm::ArrayRef<mlir::Attribute> extents,
      runtime::Program::Layout::Kind kind = runtime::Program::Layout::Packed);
  void addLengths(attn::ProgramOp op);
  runtime::Program::Array &addThreadMemory(const void *owner, int position);
  void addGroup(const StripGroup &group, int position);
  void addEpilogue(const Epilogue &epilogue, int position);
  void addBlock(mlir::Block &block, int position);
  void addKernel(attn::KernelOp kernel, int position);
  void addOp(mlir::Operation &op, int position);
  void addLoop(mlir::Operation *op, int position);
  void findRowsInPlace(mlir::Operation *op, const Loop *loop);
  void findCarriesInPlace(mlir::Operation *op);
  Storage carryOf(mlir::Operation *op, unsigned number, int position);
  Storage placed(
      attn::ArrayType type, bool perExample, mlir::Operation *where,
      runtime::Program::Layout::Kind kind = runtime::Program::Layout::Packed);
  Storage allocate(
      attn::ArrayType type, bool perExample, mlir::Operation *where,
      int position, llvm::StringRef name = "",
      runtime::Program::Role role = runtime::Program::Role::Temporary,
      runtime::Program::Layout::Kind kind = runtime::Program::Layout::Packed);
  /// The extents of an array as the description has them.
  std::vector<int64_t> describe(attn::ArrayType type) const;
  void use(mlir::Value array, int position);
  void addPacked(attn::ComputeOp op, int position);
  void addRowList(attn::ComputeOp op, attn::RowsProduct product, int position);
  int newSlot() { return program.numSlots++; }

  mlir::Type real;
  GemmTile tile;
  bool keepsPacked;
  runtime::Program program;
  std::map<mlir::Operation *, std::unique_ptr<Loop>> loops;
  llvm::DenseMap<mlir::Value, Storage> storage;
  std::map<std::pair<mlir::Operation *, unsigned>, Storage> swaps;
  /// What is packed: the array, where it begins, its strides, sizes and parts.
  using PackedKey = std::tuple<const void *, int64_t, int64_t, int64_t, int64_t,
                               int64_t, int64_t>;
  std::map<PackedKey, Storage> packedArrays;
  llvm::DenseMap<mlir::Operation *, const Storage *> packed;
  /// Values of bodies that are written where a loop keeps its rows.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, const Loop *>> inPlace;
  /// Next values of carries that are written over them.
  llvm::DenseMap<mlir::Value, mlir::Value> overCarry;
  std::map<mlir::Operation *, Storage> rowLists;
  llvm::DenseMap<mlir::Operation *, const StripGroup *> groupsByOp;
  llvm::DenseMap<mlir::Operation *, const Epilogue *> epiloguesByOp;
  llvm::DenseMap<const void *, StripMemory> stripMemory;
  llvm::StringMap<int> lengthIds;
  llvm::DenseMap<int, int> arrayOfSlot;
};

/// The named extents of a type, in order.
llvm::SmallVector<mlir::Attribute> lengthsIn(attn::ArrayType type);
/// The product of the numbers among its extents.
int64_t numbersIn(attn::ArrayType type);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PROGRAM_STORAGE_H
