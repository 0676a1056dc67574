//===- CpuScheduler.h - the launches that only a CPU needs ------*- C++ -*-===//
//
// A CPU packs the weights of products: parameters once, other matrices in each
// run, all of them outside of loops.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PROGRAM_CPUSCHEDULER_H
#define FOVEA_CODEGEN_CPU_PROGRAM_CPUSCHEDULER_H

#include "codegen/program/Scheduler.h"

namespace fovea::codegen {

class CpuScheduler final : public Scheduler {
public:
  using Scheduler::Scheduler;

private:
  void addPrepare() override;
  void addPacks(mlir::Operation &op) override;
  void addProduct(attn::ComputeOp op,
                  const attn::RowsProduct &product) override;
  void addPack(attn::ComputeOp op, const attn::RowsProduct &product);

  /// The slots of what is packed already.
  llvm::DenseSet<int> packed;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PROGRAM_CPUSCHEDULER_H
