//===- ProgramEmitter.h - the kernels of a CPU and their launches ---------===//
//
// Private to the emitter. The work of pool threads on work units, and matrix
// products on packed panels.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PROGRAM_PROGRAMEMITTER_H
#define FOVEA_CODEGEN_CPU_PROGRAM_PROGRAMEMITTER_H

#include "codegen/cpu/loops/Epilogue.h"
#include "codegen/cpu/products/Gemm.h"
#include "codegen/cpu/products/GroupGemm.h"
#include "codegen/cpu/products/IntegerGemm.h"
#include "codegen/cpu/program/EmitProgram.h"
#include "codegen/program/KernelKeys.h"
#include "codegen/program/LaunchEmitter.h"

namespace fovea::codegen {

struct RowsOfProduct;

/// The functions that multiply and pack the right side of a product, in code
/// for real numbers of this type.
struct ProductFunctions {
  std::string multiply, multiplyRows, pack, packFar, packParts;
};
ProductFunctions functionsOf(attn::ComputeOp op, mlir::Type real);

/// The elements of a product whose right side is not packed ahead.
GemmElement elementOf(attn::ComputeOp op, mlir::Type real);

/// Whether a sum over the examples skips the terms that its condition excludes.
/// Sums in groups have them as zeros.
bool skipsTerms(attn::ComputeOp op, const attn::RowsProduct &product);

/// The start of this thread's part.
mlir::Value threadMemory(KernelBuilder &kernel, mlir::Type real,
                         mlir::Value frame, attn::ThreadMemory memory);

class ProgramEmitter final : public LaunchEmitter {
public:
  ProgramEmitter(attn::ProgramOp program, mlir::ModuleOp module,
                 const EmitOptions &options);

  mlir::LogicalResult emit(const EmitOptions &options);

private:
  void emitLaunch(mlir::Operation *op, llvm::StringRef name, const Work &work,
                  KernelBody body) override;
  void emitProduct(attn::ComputeOp op, attn::RowsProduct product) override;
  void emitBatchedProduct(attn::ComputeOp op,
                          attn::ExampleProduct product) override;
  void emitStrips(attn::KernelOp kernel) override;
  void emitColumns(attn::KernelOp kernel) override;
  void emitPack(attn::ComputeOp op, attn::RowsProduct product) override;

  void declareFunctions(bool marksSteps);
  /// Rows of a product and units of its columns, as panels: the work of a
  /// kernel.
  struct Piece {
    mlir::Value firstRow, lastRow, first, last;
  };
  /// The work units of a product: tiles of rows if there are many, otherwise
  /// units of columns, with half of the rows each.
  struct Tiles {
    mlir::Value count, atOnce;
  };
  Tiles tilesOf(KernelBuilder &builder, mlir::Value rows, int64_t columns);
  /// Calls `body` for the pieces in these units.
  void forPieces(KernelBuilder &kernel, mlir::Value first, mlir::Value last,
                 mlir::Value rows, int64_t columns,
                 llvm::function_ref<void(const Piece &)> body);
  /// Calls the GEMM for a piece of the product `op`. Its first row goes to
  /// `to`, `stride` elements before the next. `list`: the places of the rows of
  /// its left side; null: they are consecutive.
  void multiply(KernelBuilder &kernel, mlir::Value frame, attn::ComputeOp op,
                const Piece &piece, mlir::Value terms, mlir::Value list,
                mlir::Value to, mlir::Value stride);
  void emitEpilogue(const Epilogue &epilogue);
  void emitPiece(KernelBuilder &kernel, mlir::Value frame,
                 const Epilogue &epilogue, llvm::ArrayRef<RowsOfProduct> rooms,
                 const Piece &piece);

  void emitStrips(const StripGroup &group);
  void emitExampleStrips(const StripGroup &group, llvm::StringRef name);
  void emitBatchStrips(const StripGroup &group, llvm::StringRef name);
  void emitGathered(attn::ComputeOp op, attn::RowsProduct product);
  /// A product of the rows that the condition of `op` chooses.
  void emitChosenRows(attn::ComputeOp op, attn::RowsProduct product);
  mlir::Value unitsOfThread(int64_t units);

  Target target;
  GemmTile tile;
  /// Equal layers share one kernel.
  bool sharesKernels;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PROGRAM_PROGRAMEMITTER_H
