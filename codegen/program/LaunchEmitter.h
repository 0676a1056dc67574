//===- LaunchEmitter.h - the steps of a program and their kernels ---------===//
//
// Private to the back ends' emitters. They carry out the schedule of a program
// (Scheduler.h): loops as loops, each run as one call that hands a kernel over
// independent work units to the machine. This is the machine-independent part;
// each machine defines how to launch a kernel and compute a matrix product.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_PROGRAM_LAUNCHEMITTER_H
#define FOVEA_CODEGEN_PROGRAM_LAUNCHEMITTER_H

#include "codegen/Backend.h"
#include "codegen/kernel/ComputeEmitter.h"
#include "codegen/kernel/Runs.h"
#include "codegen/program/Scheduler.h"
#include "passes/analysis/Product.h"

#include <map>

namespace fovea::codegen {

class LaunchEmitter {
public:
  virtual ~LaunchEmitter() = default;
  const runtime::Program &description() const { return storage.description(); }

protected:
  /// `lanes`: of a vector along the result of an equation.
  /// `listsSlots`: kernels have a list of the slots that they read, in place of
  /// the frame.
  LaunchEmitter(attn::ProgramOp program, mlir::ModuleOp module,
                const EmitOptions &options, unsigned lanes, bool listsSlots);

  /// A kernel's function for the work units `first` .. `last`-1.
  using KernelBody = llvm::function_ref<void(
      KernelBuilder &, mlir::Value frame, mlir::Value first, mlir::Value last)>;
  /// The number of units; a CPU thread takes `atOnce` at least (null: 1). More
  /// GPU threads share a large unit.
  struct Work {
    mlir::Value units;
    mlir::Value atOnce = nullptr;
    bool isLarge = false;
    /// It reads no result of a loop's step.
    bool needsNothing = false;
  };

  //===--------------------------------------------------------------------===//
  // What each machine says itself
  //===--------------------------------------------------------------------===//

  virtual void emitLaunch(mlir::Operation *op, llvm::StringRef name,
                          const Work &work, KernelBody body) = 0;
  virtual void emitProduct(attn::ComputeOp op, attn::RowsProduct product) = 0;
  virtual void emitBatchedProduct(attn::ComputeOp op,
                                  attn::ExampleProduct product) = 0;
  /// A run of a scatter that the machine computes in its own way; returns false
  /// if it uses the general equation.
  virtual bool emitScatter(attn::ComputeOp op) { return false; }
  /// A run that packs weights.
  virtual void emitPack(attn::ComputeOp op, attn::RowsProduct product) {
    llvm_unreachable("this machine packs no weights");
  }
  /// A run that copies factors.
  virtual void emitCopies(mlir::Operation *op) {
    llvm_unreachable("this machine copies no factors");
  }
  virtual void emitStrips(attn::KernelOp kernel) = 0;
  virtual void emitColumns(attn::KernelOp kernel) = 0;
  /// Called for a loop that is one launch, after all its launches.
  virtual void noteLoop(attn::ScanOp op, mlir::scf::ForOp loop) {
    llvm_unreachable("this machine launches no loops");
  }

  //===--------------------------------------------------------------------===//
  // The schedule
  //===--------------------------------------------------------------------===//

  /// The function `@<entry>`, and `@<entry>.prepare` if it has one.
  void emitProgram(launch::ProgramOp schedule);
  void beginFunction(llvm::StringRef name);
  void emitItems(mlir::Block &block);
  void emitItem(mlir::Operation &op);
  void emitRun(launch::RunOp run);
  /// Checks that each run of a schedule is one call, and that there are no
  /// others.
  bool callsEachRun(launch::ProgramOp schedule);
  /// A number of the schedule, in the function of the program.
  mlir::Value emitNumber(mlir::Operation &op);
  mlir::Value constantOf(int slot, llvm::function_ref<mlir::Value()> read);
  /// A scalar of the current run.
  mlir::Value scalar(unsigned number) {
    return numbers.lookup(run.getScalars()[number]);
  }
  int slotOf(unsigned scalar) {
    return static_cast<int>(run.getSlots()[scalar]);
  }
  /// What the units of the current run are counted from.
  mlir::Value count() { return numbers.lookup(run.getCount()); }
  /// Returns whether the current run writes a whole array.
  /// An entry of a table: of the host's, if a device has another one.
  mlir::Value entryOfHost(int slot, mlir::Value index);
  bool isWritten(const Storage &array);
  /// Calls the function of the current run's kernel, which reads `slots`.
  /// `last`: the last argument; null: the number `otherwise`.
  void callParallel(mlir::func::FuncOp kernel, llvm::SmallVector<int64_t> slots,
                    mlir::Value units, mlir::Value last, int64_t otherwise);
  /// The same if an earlier run has launched the kernel: it reads what this one
  /// gives to it. Returns false if there is no function yet.
  bool callKnown(mlir::Value units, mlir::Value last, int64_t otherwise);
  /// Ahead of each call of a kernel, a call copies the slots that the kernel
  /// reads to a list, which the kernel gets. Their numbers are in a table.
  void fillLists();

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  void emitOp(mlir::Operation &op);
  void emitKernel(attn::KernelOp kernel);
  /// One equation, or several sums in one loop.
  void emitCompute(llvm::ArrayRef<attn::ComputeOp> ops, attn::Units units);
  void emitAllRows(llvm::ArrayRef<attn::ComputeOp> ops, llvm::StringRef name);
  /// The members of a kernel in order, for each example.
  void emitRows(attn::KernelOp kernel);
  /// The members of a kernel in order, for each place of each example.
  void emitPlaces(attn::KernelOp kernel);
  void emitConcat(attn::ConcatOp op);
  void emitAppend(attn::AppendOp op);
  /// An equation, or one of these, at a place.
  void emitAt(KernelBuilder &kernel, const Place &place, mlir::Operation *op);
  void emitParts(KernelBuilder &kernel, const Place &place, attn::ConcatOp op);
  void emitRow(KernelBuilder &kernel, const Place &place, attn::AppendOp op);
  mlir::scf::ForOp emitLoop(launch::ForOp item);
  void emitStart(attn::ScanOp op);
  void emitCommit(attn::ScanOp op);
  void emitEnd(attn::ScanOp op);

  //===--------------------------------------------------------------------===//
  // Rows of products
  //===--------------------------------------------------------------------===//

  void emitRowList(attn::ComputeOp op, const Storage &list);
  void emitRunList(attn::ComputeOp op, attn::RowsProduct product);
  mlir::Value readableRow(KernelBuilder &kernel, mlir::Value frame,
                          attn::ComputeOp op);
  mlir::Value rowOfLeft(KernelBuilder &kernel, const Place &place,
                        attn::ComputeOp op, mlir::Value row);
  mlir::Value isExcluded(KernelBuilder &kernel, const Place &place,
                         attn::ComputeOp op);
  void emitRowCondition(attn::ComputeOp op);
  void emitZeros(attn::ComputeOp op, attn::RowsProduct product);
  /// A product kernel's inputs in the frame.
  struct ProductSize {
    mlir::Value rows; // of the result, ahead of the kernel
    int rowsSlot, termsSlot;
    const Storage *rowList; // null: its rows are consecutive
  };
  ProductSize sizeOf(attn::ComputeOp op);

  /// A product of each example is a work unit at every place of its constant
  /// outer indices: so many per example.
  static int64_t placesOf(attn::ComputeOp op,
                          const attn::ExampleProduct &product);
  /// Calls `body` for the products of place `number` of an example: one, or, if
  /// lengths are outer indices too, one for each of their places.
  void forProducts(KernelBuilder &kernel, attn::ComputeOp op,
                   const attn::ExampleProduct &product, const Place &place,
                   mlir::Value number,
                   llvm::function_ref<void(llvm::ArrayRef<Index>)> body);

  //===--------------------------------------------------------------------===//
  // Launches
  //===--------------------------------------------------------------------===//

  /// The last kernel computes all of these.
  void noteOthers(llvm::ArrayRef<mlir::Operation *> ops);
  /// The name of a kernel. With private kernels it has no number of a layer, so
  /// that equal ones have one name after splitModule removes the last number.
  std::string symbolFor(llvm::StringRef name);
  /// The function of a kernel, whose body `kernel` builds next. Its reads of
  /// the frame, its first argument, are noted in `readsOf`.
  mlir::func::FuncOp beginKernel(KernelBuilder &kernel, mlir::Operation *op,
                                 llvm::StringRef name,
                                 llvm::ArrayRef<mlir::Type> arguments);
  /// A separate kernel: `body` gets the builder, the frame and the range, of at
  /// least `atOnce` units.
  void launch(mlir::Operation *op, llvm::StringRef name, mlir::Value units,
              KernelBody body, mlir::Value atOnce = nullptr) {
    emitLaunch(op, name, {.units = units, .atOnce = atOnce}, body);
  }
  /// A kernel whose work units are the participating examples, the rows of the
  /// loops around `op`.
  void
  launchRows(mlir::Operation *op, llvm::StringRef name,
             llvm::function_ref<void(KernelBuilder &, const Place &)> body);
  /// A kernel whose work units are the places of the first index of `op`, of
  /// all examples.
  void launchPlaces(
      attn::ComputeOp op, llvm::StringRef name,
      llvm::function_ref<void(KernelBuilder &, const Place &, mlir::Value)>
          body);
  /// The place of row `row` in the loops around `op`; calls `body`, or `ended`
  /// if the example has ended in an inner one.
  void forRow(KernelBuilder &kernel, mlir::Operation *op, mlir::Value frame,
              mlir::Value row, llvm::function_ref<void(const Place &)> body,
              llvm::function_ref<void(const Place &)> ended = nullptr);
  /// The place of what a batch has once.
  Place placeOf(KernelBuilder &kernel, mlir::Operation *op, mlir::Value frame);
  void copyAll(KernelBuilder &kernel, const Place &to, const Storage &target,
               const Place &from, const Storage &source);
  void copyRow(KernelBuilder &kernel, const Place &place, const Storage &target,
               int64_t axis, mlir::Value at, const Storage &source);

  attn::ProgramOp program;
  mlir::ModuleOp module;
  mlir::Type real;
  StorageMap storage;
  std::vector<KernelNote> *notes;
  unsigned lanes;
  KernelBuilder main;
  mlir::Value frame;                          // of the function of the program
  llvm::DenseMap<int, mlir::Value> constants; // of its first block, by slot
  llvm::SmallVector<mlir::Operation *> ops;   // by number
  llvm::SmallVector<attn::StepOp> steps;
  /// The current run, and the numbers of the schedule.
  launch::RunOp run;
  llvm::DenseMap<mlir::Value, mlir::Value> numbers;
  unsigned numKernels = 0;
  bool listsSlots, keepsNames;
  /// The functions that the module had before.
  size_t numOthers;
  /// What the function of the program reads, and each kernel.
  FrameReads reads;
  std::map<mlir::Operation *, FrameReads> readsOf;
  /// The function of a kernel: the slots that it reads in its first run, and
  /// those of what this run gives to it.
  struct Emitted {
    mlir::func::FuncOp function;
    llvm::SmallVector<int64_t> reads, arguments;
  };
  llvm::DenseMap<mlir::Attribute, Emitted> emitted; // by symbol
  /// The calls of kernels with lists, and the slots in them.
  struct Launch {
    mlir::func::CallOp call;
    llvm::SmallVector<int64_t> slots;
  };
  std::vector<Launch> launches;
  /// The origin of the last kernel.
  mlir::Operation *launched = nullptr;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_PROGRAM_LAUNCHEMITTER_H
