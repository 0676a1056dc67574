//===- ProgramEmitter.h - the steps of a program and their kernels --------===//
//
// Private to the emitter. The function of the program runs its ops in order:
// loops as loops, everything else as a kernel over independent work units.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PROGRAM_PROGRAMEMITTER_H
#define FOVEA_CODEGEN_CPU_PROGRAM_PROGRAMEMITTER_H

#include "codegen/cpu/loops/ComputeEmitter.h"
#include "codegen/cpu/loops/Epilogue.h"
#include "codegen/cpu/products/Gemm.h"
#include "codegen/cpu/program/EmitProgram.h"
#include "passes/analysis/Product.h"

namespace fovea::codegen {

struct RowsOfProduct;

/// Where the part of this thread begins.
mlir::Value threadMemory(KernelBuilder &kernel, mlir::Type real,
                         mlir::Value frame, attn::ThreadMemory memory);

class ProgramEmitter {
public:
  ProgramEmitter(attn::ProgramOp program, mlir::ModuleOp module,
                 const EmitOptions &options);

  mlir::LogicalResult emit();
  const runtime::Program &description() const { return storage.description(); }

private:
  using Unit = llvm::function_ref<void(KernelBuilder &, const Place &,
                                       mlir::Value first)>;

  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation &op);
  void emitKernel(attn::KernelOp kernel);
  /// One equation, or several sums that one loop computes.
  void emitCompute(llvm::ArrayRef<attn::ComputeOp> ops, attn::Units units);
  void emitAllRows(llvm::ArrayRef<attn::ComputeOp> ops, llvm::StringRef name);
  /// The equations of each example, one after the other.
  void emitRows(llvm::ArrayRef<attn::ComputeOp> ops);
  void beginFunction(llvm::StringRef name);
  void emitPrepare();
  /// Packs the weights of the products in `op`, which stands in no loop: those
  /// that are kept from run to run, or the others.
  void emitPacking(mlir::Operation &op, bool ofParameters);
  void emitPack(attn::ComputeOp op, attn::RowsProduct product);
  void emitProduct(attn::ComputeOp op, attn::RowsProduct product);
  /// Rows of a product and units of its columns, as panels: what a kernel
  /// computes.
  struct Piece {
    mlir::Value firstRow, lastRow, first, last;
  };
  /// The work units of a product: tiles of rows where there are many, otherwise
  /// units of columns, of half of the rows each.
  struct Tiles {
    mlir::Value count, atOnce;
  };
  Tiles tilesOf(KernelBuilder &builder, mlir::Value rows, int64_t columns);
  /// Calls `body` for the pieces of which these units consist.
  void forPieces(KernelBuilder &kernel, mlir::Value first, mlir::Value last,
                 mlir::Value rows, int64_t columns,
                 llvm::function_ref<void(const Piece &)> body);
  /// Calls the GEMM for a piece of the product `op`. Its first row goes to
  /// `to`, `stride` elements ahead of the next. `list`: where the rows of its
  /// left side lie; null: one behind the other.
  void multiply(KernelBuilder &kernel, mlir::Value frame, attn::ComputeOp op,
                const Piece &piece, mlir::Value terms, mlir::Value list,
                mlir::Value to, mlir::Value stride);
  void emitEpilogue(const Epilogue &epilogue);
  void emitPiece(KernelBuilder &kernel, mlir::Value frame,
                 const Epilogue &epilogue, llvm::ArrayRef<RowsOfProduct> rooms,
                 const Piece &piece);

  void emitBatchedProduct(attn::ComputeOp op, attn::ExampleProduct product);
  void emitStrips(const StripGroup &group);
  void emitExampleStrips(const StripGroup &group, llvm::StringRef name);
  void emitBatchStrips(const StripGroup &group, llvm::StringRef name);
  void emitRowList(attn::ComputeOp op, const Storage &list);
  void emitRunList(attn::ComputeOp op, attn::RowsProduct product);
  void emitGathered(attn::ComputeOp op, attn::RowsProduct product);
  mlir::Value rowOfLeft(KernelBuilder &kernel, const Place &place,
                        attn::ComputeOp op, mlir::Value row);
  mlir::Value isExcluded(KernelBuilder &kernel, const Place &place,
                         attn::ComputeOp op);
  void emitRowCondition(attn::ComputeOp op);
  void emitZeros(attn::ComputeOp op, mlir::Value rows,
                 attn::RowsProduct product);
  mlir::Value termsOf(attn::RowsProduct product);
  void emitConcat(attn::ConcatOp op);
  void emitAppend(attn::AppendOp op);
  void emitDropout(attn::DropoutOp op);
  mlir::LogicalResult emitScan(attn::ScanOp op);
  void emitStart(attn::ScanOp op);
  void emitCommit(attn::ScanOp op);
  void emitEnd(attn::ScanOp op);

  /// The names of equations that are one kernel.
  static std::string joinedLabels(llvm::ArrayRef<mlir::Operation *> ops);
  /// The last kernel computes all of these.
  void noteOthers(llvm::ArrayRef<mlir::Operation *> ops);
  /// A kernel of its own: `body` gets the builder, the frame and the range, of
  /// at least `atOnce` units.
  void launch(mlir::Operation *op, llvm::StringRef name, mlir::Value units,
              llvm::function_ref<void(KernelBuilder &, mlir::Value frame,
                                      mlir::Value first, mlir::Value last)>
                  body,
              mlir::Value atOnce = nullptr);
  /// A kernel whose work units are the examples that take part, the rows of
  /// the loops around `op`.
  void
  launchRows(mlir::Operation *op, llvm::StringRef name,
             llvm::function_ref<void(KernelBuilder &, const Place &)> body);
  /// The place of row `row` in the loops around `op`; calls `body`, or `ended`
  /// where the example has ended in an inner one.
  void forRow(KernelBuilder &kernel, mlir::Operation *op, mlir::Value frame,
              mlir::Value row, llvm::function_ref<void(const Place &)> body,
              llvm::function_ref<void(const Place &)> ended = nullptr);
  /// The place of what a batch has once.
  Place placeOf(KernelBuilder &kernel, mlir::Operation *op, mlir::Value frame);
  mlir::Value rowsAround(mlir::Operation *op);

  void copyAll(KernelBuilder &kernel, const Place &to, const Storage &target,
               const Place &from, const Storage &source);
  void copyRow(KernelBuilder &kernel, const Place &place, const Storage &target,
               int64_t axis, mlir::Value at, const Storage &source);
  void copyBytes(KernelBuilder &kernel, mlir::Type element, mlir::Value to,
                 mlir::Value from, mlir::Value count);

  attn::ProgramOp program;
  mlir::ModuleOp module;
  Target target;
  mlir::Type real;
  GemmTile tile;
  StorageMap storage;
  std::vector<KernelNote> *notes;
  unsigned lanes;
  KernelBuilder main;
  mlir::Value frame; // of the function of the program
  llvm::SmallVector<mlir::Value> steps;
  unsigned numKernels = 0;
  llvm::DenseSet<int> packedSlots;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PROGRAM_PROGRAMEMITTER_H
