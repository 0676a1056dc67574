//===- GpuEmitter.h - the kernels of a GPU and their launches -------------===//
//
// Private to the back end. The work of groups and blocks of threads on work
// units, and matrix products in tiles.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_PROGRAM_GPUEMITTER_H
#define FOVEA_CODEGEN_GPU_PROGRAM_GPUEMITTER_H

#include "codegen/gpu/products/Tile.h"
#include "codegen/program/LaunchEmitter.h"
#include "targets/nvidia/KeepLoops.h"

namespace fovea::codegen {

/// For a kernel's function: the threads of a block, and the work units that a
/// block processes at a time.
constexpr llvm::StringLiteral threadsName = "fovea.threads";
constexpr llvm::StringLiteral unitsAtOnceName = "fovea.units_at_once";
/// The cluster size; 0: no clusters.
constexpr llvm::StringLiteral clusterName = "fovea.cluster";
/// The list size of a kernel that reads it by computed
/// indices.
constexpr llvm::StringLiteral slotsName = "fovea.slots";
/// For a kernel with all steps of a loop: the number of grid
/// synchronisations per step. For a loop of launches: that the kernel before
/// it replaces it.
constexpr llvm::StringLiteral loopName = "fovea.loop";
/// A kernel of a loop that stays on the device: its time in a step
/// (targets/nvidia/KeepLoops.h), and its op.
struct StepLaunch {
  attn::StepTime time;
  mlir::Operation *op = nullptr;
  /// Whether a block handles an example.
  bool isByExample = false;
  /// Whether it precedes all computations of the step; it lists rows.
  bool isAhead = false;
};
/// A product of such a loop with columns on the chip: functions of the
/// frame, of the address of a strip, its number of terms, and its first
/// column; and of the block's first tile of rows and the distance to the
/// next one.
struct KeptProduct {
  attn::KeptColumns columns;
  mlir::func::FuncOp keep, multiply;
};
/// The maximum registers per thread, unless left to CUDA.
constexpr llvm::StringLiteral registersName = "fovea.registers";
/// The blocks for which a processor has registers at the same time; 1 unless
/// stated.
constexpr llvm::StringLiteral blocksName = "fovea.blocks";

class GpuEmitter final : public LaunchEmitter {
public:
  GpuEmitter(attn::ProgramOp program, mlir::ModuleOp module,
             const EmitOptions &options);

  mlir::LogicalResult emit(const EmitOptions &options);

private:
  void emitLaunch(mlir::Operation *op, llvm::StringRef name, const Work &work,
                  KernelBody body) override;
  void emitProduct(attn::ComputeOp op, attn::RowsProduct product) override;
  void emitBatchedProduct(attn::ComputeOp op,
                          attn::ExampleProduct product) override;
  bool emitScatter(attn::ComputeOp op) override;
  void emitStrips(attn::KernelOp kernel) override;
  void clearRows(attn::ComputeOp op);
  void listTerms(attn::ComputeOp op, const attn::Storage &list);
  void linkTerms(attn::ComputeOp op, const attn::Storage &list);
  void addTerms(attn::ComputeOp op, const attn::Storage &list);
  void emitCopies(mlir::Operation *op) override;
  /// An attention that reads copies.
  void emitInGroups(attn::KernelOp kernel);
  void copyFactors(const struct StripGroup &group);
  void emitColumns(attn::KernelOp kernel) override;
  void noteLoop(attn::ScanOp op, mlir::scf::ForOp loop) override;

  /// Records what a kernel in a loop that stays on the device is.
  void noteStep(mlir::func::FuncOp function, bool isByExample, bool isAhead);
  /// The kernels of such loops.
  void emitLoops();

  /// A kernel in which a block computes one unit, of some tiles, after the
  /// other.
  void launchTiles(mlir::Operation *op, mlir::Value units,
                   const TileShape &shape,
                   llvm::function_ref<void(KernelBuilder &, mlir::Value frame,
                                           mlir::Value unit)>
                       body);
  /// `sharedBytes`: of the memory of a block that has no size of its own.
  void callKernel(mlir::func::FuncOp function, mlir::Value units,
                  int64_t threads, int64_t unitsAtOnce,
                  mlir::Value sharedBytes = nullptr);

  /// A number, or its place in the frame.
  struct Size {
    std::optional<int64_t> number = std::nullopt;
    int slot = 0;
    mlir::Value of(KernelBuilder &builder, mlir::Value frame) const;
  };
  /// The copy of a product's side: its source, the number of rows, and their
  /// list, if there is one.
  struct FactorCopy {
    const attn::Storage *copy;
    attn::CopiedSide from;
    Size rows;
    const attn::Storage *list;
    int64_t across() const;
    mlir::Value units(KernelBuilder &builder, mlir::Value frame) const;
  };
  TileSide sideOf(KernelBuilder &builder, mlir::Value frame,
                  const FactorCopy &copy);
  std::array<FactorCopy, 2> factorsOf(attn::ComputeOp op,
                                      const attn::RowsProduct &product,
                                      const ProductSize &size);
  void launchCopies(attn::ComputeOp op);
  /// Records that the units of the last kernel are tiles of copies.
  void noteCopies();

  /// One of several copies that a launch makes, and the first of its units.
  struct GatheredPart {
    FactorCopy copy;
    int64_t firstUnit;
  };
  /// The launch of the gathered copies before a product.
  void launchGathered(attn::ComputeOp op);
  void copyTile(KernelBuilder &builder, mlir::Value frame,
                llvm::ArrayRef<GatheredPart> parts, mlir::Value unit);
  KernelBuilder::Values copyAt(KernelBuilder &builder, mlir::Value frame,
                               llvm::ArrayRef<GatheredPart> parts,
                               mlir::Value unit);

  /// Pads the copies that the equations of a kernel store.
  void clearRest(KernelBuilder &builder, mlir::Value frame,
                 mlir::Operation *launched);
  void emitCopiedProduct(attn::ComputeOp op, const attn::RowsProduct &product,
                         const ProductSize &size);

  void emitKept(attn::ComputeOp op,
                llvm::function_ref<Tile(KernelBuilder &, mlir::Value frame,
                                        const TileShape &)>
                    tileOf);

  /// Memories that stay on the device.
  std::vector<std::pair<attn::ScanOp, mlir::scf::ForOp>> loops;
  llvm::DenseMap<mlir::Operation *, StepLaunch> stepLaunches;
  llvm::MapVector<mlir::Operation *, KeptProduct> keptProducts;
  mlir::func::FuncOp lastKernel;
  /// For the current kernel.
  TileMemory memory;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PROGRAM_GPUEMITTER_H
