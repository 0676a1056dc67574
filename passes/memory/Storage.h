//===- Storage.h - the frame of a placed program --------------------------===//
//
// Reads the decisions of `attn-place-arrays`, assigns frame slots to every
// memory, length and loop, and writes the description by which the runtime
// allocates (runtime/Program.h). It decides only numbers.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_MEMORY_STORAGE_H
#define FOVEA_PASSES_MEMORY_STORAGE_H

#include "dialect/AttnDialect.h"
#include "passes/analysis/Product.h"
#include "passes/memory/Copies.h"
#include "runtime/Program.h"
#include "runtime/data/StorageFormat.h"
#include "llvm/ADT/StringMap.h"

namespace fovea::attn {

/// The format in which a program reads a parameter, in code for real numbers of
/// this type; null: it reads real numbers. In fewer bits it is read by products
/// that pack it, and by equations without a sum, which read each element once.
/// If anything else reads it, all read real numbers.
const runtime::StorageFormat *storedFormatOf(ParamOp param, mlir::Type real);
/// The same of the right side that a product packs: so are the panels.
const runtime::StorageFormat *packedFormatOf(ComputeOp op, mlir::Type real);

/// A loop of the program while it runs.
struct Loop {
  mlir::Operation *op = nullptr;
  int stepSlot = 0;
  /// The number of rows in the current step; -1: all examples.
  int rowsSlot = -1;
  /// The order of the examples, for a loop whose rows are ranks: only long
  /// enough ones take part, and they are the first.
  int order = -1;
};

/// The location of an array.
struct Storage {
  int slot = 0;
  ArrayType type;
  /// One per example; otherwise one for the batch.
  bool perExample = false;
  /// The layout of the program, -1 for a row per example and no lengths.
  int layout = -1;
  /// The loop whose ranks number the rows; null: examples do.
  const Loop *ranks = nullptr;
  /// The stacked array that has this one as its row at the current step of
  /// `along`, written in place. Null: a separate array.
  mlir::Value rowOf;
  const Loop *along = nullptr;
  /// Not null: the row at the previous step, and before the first step this
  /// array.
  mlir::Value init;
  /// Not below 0: only some of its rows exist, in the kernel's workspace, as
  /// part `strip` of the current place. The rows are along `rowAxis`.
  int strip = -1;
  size_t rowAxis = 0;
  /// Not 0: one row exists, with so many parts whose vectors alternate.
  int64_t parts = 0;
};

/// The size of the workspace of a thread, or of a block of threads.
struct ThreadMemory {
  int slot = 0, partSlot = 0;
};

class StorageMap {
public:
  /// `program` is past the phase `memory`; real numbers are of type `real`.
  StorageMap(ProgramOp program, mlir::Type real);

  const Storage &of(mlir::Value array) const;
  /// Memory for the packed right side of the product `op`; null if it is not a
  /// product, or uses a kernel's workspace. Products of the same weights share
  /// it.
  const Storage *packedOf(ComputeOp op) const;
  /// The copy of the left side; null if the product reads no copies.
  const Storage *packedLeftOf(ComputeOp op) const;
  /// The copy that an equation stores beside its result, or null.
  const Storage *storedCopyOf(ComputeOp op) const;
  /// The memory of a kernel's workspace, for each thread.
  ThreadMemory memoryOf(KernelOp kernel) const {
    return threadMemory.lookup(kernel);
  }
  /// The number of right-side parts that alternate in the packed
  /// form.
  int64_t packedPartsOf(ComputeOp op) const;
  /// The adjacent columns of one part.
  unsigned packedLanes() const { return target.getLanes(); }
  /// How a parameter in fewer bits is stored; null: elements are as the type
  /// says.
  const runtime::StorageFormat *formatOf(const Storage &array) const;
  /// Returns whether an array persists from run to run.
  bool isKept(const Storage &array) const;
  /// The list of a product outside workspaces, in elements of the array that
  /// they are rows of, int64; or null. It has an entry for every run of a
  /// gathered row, `nowhere` where that is 0.
  const Storage *rowListOf(ComputeOp op) const;
  /// The buffer from which a loop takes the next value of a carry that is
  /// itself a carry of the loop; null if none is needed.
  const Storage *swapOf(mlir::Operation *loop, unsigned carry) const;

  /// The number by which locations name a memory; none for a workspace.
  std::optional<unsigned> numberOf(int slot) const;
  /// What the description says about the memory of a slot.
  const runtime::Program::Array &arrayAt(int slot) const;

  const runtime::Program &description() const { return program; }
  runtime::Program &description() { return program; }
  const Loop &loopOf(mlir::Operation *op) const { return *loops.at(op); }
  /// The loops around `op`, outermost first.
  llvm::SmallVector<const Loop *> around(mlir::Operation *op) const;

  const runtime::Program::Length &length(llvm::StringRef name) const;
  /// The layout of one length, which the program has by then.
  int layoutOfLength(mlir::StringAttr length) const;
  int slotOfLayout(int layout) const { return program.layouts[layout].slot; }
  /// A slot for one more number.
  int newSlot() { return program.numSlots++; }
  /// `real` for f64, and for bf16 in programs of f64; otherwise the type
  /// itself.
  mlir::Type elementOf(mlir::Type type) const {
    return type.isF64() || (type.isBF16() && !real.isF32()) ? real : type;
  }

private:
  using LayoutKind = runtime::Program::Layout::Kind;
  using Role = runtime::Program::Role;

  /// The layout of a list of lengths.
  int layoutOf(llvm::ArrayRef<mlir::Attribute> extents,
               LayoutKind kind = LayoutKind::Packed);
  void addLengths(ProgramOp op);
  void addRooms(KernelOp kernel, int position);
  void addBlock(mlir::Block &block, int position);
  void addLoop(mlir::Operation *op, int position);
  void addOutput(OutputOp op);
  void addArray(mlir::Operation *op, int position);
  void addProduct(ComputeOp op, int position);
  void addCopy(ComputeOp op, ArrayLocationAttr location, const CopiedSide &side,
               int position);
  bool usesKnown(ArrayLocationAttr location, int position);
  /// The memory that a location names from now on.
  void name(ArrayLocationAttr location, const Storage &memory);
  Storage placed(ArrayType type, bool perExample, mlir::Operation *where,
                 LayoutKind kind = LayoutKind::Packed);
  Storage rowAt(ArrayType type, bool perExample, mlir::Operation *where,
                ArrayLocationAttr location);
  Storage inRoom(ComputeOp op, KernelOp kernel);
  Storage parameter(ParamOp op, int position);
  Storage allocate(ArrayType type, bool perExample, mlir::Operation *where,
                   int position, llvm::StringRef name = "",
                   Role role = Role::Temporary,
                   LayoutKind kind = LayoutKind::Packed);
  const Storage &memory(ArrayLocationAttr location) const;
  /// The extents of an array in the description's form.
  std::vector<int64_t> describe(ArrayType type) const;
  void use(mlir::Value array, int position);

  mlir::Type real;
  TargetAttr target;
  runtime::Program program;
  std::map<mlir::Operation *, std::unique_ptr<Loop>> loops;
  llvm::DenseMap<mlir::Value, Storage> storage;
  /// By number.
  std::map<unsigned, Storage> memories;
  llvm::DenseMap<int, unsigned> numberOfSlot;
  llvm::DenseMap<mlir::Operation *, ThreadMemory> threadMemory;
  /// The number of a kernel's arrays in its workspace.
  llvm::DenseMap<mlir::Operation *, int> numStrips;
  llvm::StringMap<int> lengthIds;
  llvm::DenseMap<int, int> arrayOfSlot;
};

/// The named extents of a type, in order.
llvm::SmallVector<mlir::Attribute> lengthsIn(ArrayType type);
/// The product of the numbers among its extents.
int64_t numbersIn(ArrayType type);

} // namespace fovea::attn

#endif // FOVEA_PASSES_MEMORY_STORAGE_H
