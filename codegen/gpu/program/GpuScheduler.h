//===- GpuScheduler.h - the launches that only a GPU needs ------*- C++ -*-===//
//
// A GPU copies the factors of large products in bf16, computes scatters in
// steps, and chooses among tiles where a batch decides their number.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_PROGRAM_GPUSCHEDULER_H
#define FOVEA_CODEGEN_GPU_PROGRAM_GPUSCHEDULER_H

#include "codegen/gpu/products/Tile.h"
#include "codegen/program/Scheduler.h"

namespace fovea::codegen {

/// The tile of a product: the one of its name, or, if that is empty, the one
/// that the program says.
TileShape shapeOf(attn::ComputeOp op, mlir::Type element, llvm::StringRef tile);

class GpuScheduler final : public Scheduler {
public:
  GpuScheduler(attn::ProgramOp program, attn::StorageMap &storage,
               mlir::Type real);

private:
  void addTiles(attn::ComputeOp op, const attn::RowsProduct &product,
                Values sizes, const Uses &uses) override;
  bool addScatter(attn::ComputeOp op) override;
  void addCopies(attn::KernelOp kernel) override;
  bool isPersistent(attn::ScanOp op) override;
  bool listsAhead(attn::ScanOp op) override;
  StepTime timeInStep(mlir::Operation *op) override;
  Values scalarsOf(const StripGroup &group) override;
  Values scalarsOf(attn::ComputeOp op,
                   const attn::ExampleProduct &product) override;

  void addCopies(attn::ComputeOp op, const attn::RowsProduct &product,
                 const Values &sizes);
  void addChoice(attn::ComputeOp op, const attn::RowsProduct &product,
                 const Values &sizes, const Uses &uses);

  mlir::Type real;
  /// The slots of factors that are copied already.
  llvm::DenseSet<int> copied;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PROGRAM_GPUSCHEDULER_H
