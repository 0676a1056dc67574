//===- Scheduler.h - which launches run a program -------------------------===//
//
// Makes the schedule of a program after the phase `memory`: every launch of its
// function as a `launch.run`, with the memories and numbers that it takes
// (dialect/launch). The emitters carry it out. This is the machine-independent
// part; each machine adds the launches that only it needs.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_PROGRAM_SCHEDULER_H
#define FOVEA_CODEGEN_PROGRAM_SCHEDULER_H

#include "codegen/kernel/KernelBuilder.h"
#include "codegen/program/Strips.h"
#include "dialect/launch/LaunchDialect.h"
#include "dialect/launch/NumberedOps.h"
#include "passes/memory/Storage.h"

namespace fovea::codegen {

/// The carries that a loop copies: ahead of it, at the end of a step, and
/// after it; and the rows of a step that it copies.
llvm::SmallVector<unsigned> startedCarries(attn::ScanOp op,
                                           const attn::StorageMap &storage);
llvm::SmallVector<unsigned> committedCarries(attn::ScanOp op,
                                             const attn::StorageMap &storage);
llvm::SmallVector<unsigned> endedCarries(attn::ScanOp op);
llvm::SmallVector<unsigned> committedRows(attn::ScanOp op,
                                          const attn::StorageMap &storage);

/// The names of the equations in one kernel.
std::string joinedLabels(llvm::ArrayRef<mlir::Operation *> ops);

class Scheduler {
public:
  /// Scalars get slots of the frame that `storage` describes.
  Scheduler(attn::ProgramOp program, attn::StorageMap &storage);
  virtual ~Scheduler() = default;

  /// Adds the schedule to `module`. Fails, with an error at the op, if an op
  /// cannot be launched. `marksSteps`: the runtime is told each step.
  /// `sharesKernels`: runs whose kernels are equal launch the same one.
  mlir::FailureOr<launch::ProgramOp>
  schedule(mlir::ModuleOp module, bool marksSteps, bool sharesKernels);

protected:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;
  using Work = launch::Work;
  using Units = launch::Units;

  /// The slots of the memories that a run uses, in order.
  struct Uses {
    llvm::SmallSetVector<int, 8> reads, writes, updates, scratch;
  };

  //===--------------------------------------------------------------------===//
  // What each machine says itself
  //===--------------------------------------------------------------------===//

  /// Runs ahead of everything, once for a set of parameters.
  virtual void addPrepare() {}
  /// Packs the weights of the products in `op`, outside of loops.
  virtual void addPacks(mlir::Operation &op) {}
  virtual void addProduct(attn::ComputeOp op, const attn::RowsProduct &product);
  /// The product itself; `sizes` are its rows and terms.
  virtual void addTiles(attn::ComputeOp op, const attn::RowsProduct &product,
                        Values sizes, const Uses &uses);
  /// Returns false if the equation is computed in the general way.
  virtual bool addScatter(attn::ComputeOp op) { return false; }
  /// What a kernel in strips reads and the program does not have.
  virtual void addCopies(attn::KernelOp kernel) {}
  /// Whether one launch runs all steps of a loop.
  virtual bool isPersistent(attn::ScanOp op) { return false; }
  /// Whether a step of such a loop lists the rows of the next one.
  virtual bool listsAhead(attn::ScanOp op) { return false; }
  /// When `op` runs within a step of such a loop.
  struct StepTime {
    int64_t phase = 0, turn = 0;
  };
  virtual StepTime timeInStep(mlir::Operation *op) { return {}; }
  /// The numbers that a kernel in strips within examples takes, or a product
  /// within examples.
  virtual Values scalarsOf(const StripGroup &group) { return {}; }
  virtual Values scalarsOf(attn::ComputeOp op,
                           const attn::ExampleProduct &product) {
    return {};
  }

  //===--------------------------------------------------------------------===//
  // Runs
  //===--------------------------------------------------------------------===//

  struct Run {
    Work work;
    mlir::Operation *op;
    std::string label = "";
    Units units = Units::once;
    Value count = nullptr;
    Values scalars = {};
    llvm::StringRef tile = "";
  };
  launch::RunOp add(const Run &run, const Uses &uses);
  void addRunList(attn::ComputeOp op);
  /// The arrays that `op` reads, from outside of it, but for factors of
  /// products that it reads in another form if not `withFactors`.
  Uses arraysOf(mlir::Operation *op, bool withFactors = true) const;
  /// All that an op uses.
  Uses usesOf(mlir::Operation *op) const;
  void read(mlir::Value array, Uses &uses) const;

  Value rowsAround(mlir::Operation *op);
  Value batch();
  Value longest(mlir::Attribute extent);
  /// The places of all examples in a layout; 0: one each.
  Value placesOf(int layout);
  Value termsOf(const attn::RowsProduct &product);

  attn::ProgramOp program;
  attn::StorageMap &storage;
  KernelBuilder b;

private:
  Values memoriesAt(llvm::ArrayRef<int> slots);
  Value memoryAt(int slot);
  mlir::Block &homeOf(int slot);
  void addDealloc(int64_t step);
  void nameMemories();
  void findStepMemories();
  void numberSlots();
  void addKernels(bool sharesKernels);

  mlir::LogicalResult addBlock(mlir::Block &block);
  mlir::LogicalResult addOp(mlir::Operation &op);
  void addCompute(attn::ComputeOp op);
  void addKernel(attn::KernelOp op);
  void addGeneral(mlir::Operation *op, std::string label);
  mlir::LogicalResult addScan(attn::ScanOp op);
  void addStart(attn::ScanOp op);
  void addCommit(attn::ScanOp op);
  void addEnd(attn::ScanOp op);
  Run forExamples(Work work, mlir::Operation *op);

  launch::ProgramOp result;
  bool marksSteps = false;
  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
  llvm::DenseMap<int, Value> memories;
  llvm::DenseMap<int, std::string> names;
  /// The slots of temporary memories, by the step that uses them last.
  llvm::DenseMap<int64_t, llvm::SmallVector<int>> lastUsedAt;
  /// The loops whose steps have a memory each, by its slot.
  llvm::DenseMap<int, mlir::Operation *> stepMemories;
  /// The steps of loops.
  llvm::DenseMap<mlir::Operation *, Value> stepOf;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_PROGRAM_SCHEDULER_H
