//===- Machine.cpp - what passes know of a CPU ----------------------------===//

#include "codegen/cpu/Machine.h"
#include "codegen/cpu/products/Gemm.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipeline.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

MachineAttr fovea::codegen::machineOf(const Target &target, Type real) {
  GemmTile tile = gemmTile(real, target);
  MLIRContext *context = real.getContext();
  return MachineAttr::get(context, StringAttr::get(context, target.cpu),
                          tile.lanes, tile.rows, tile.vectors);
}

LogicalResult fovea::codegen::formKernels(ProgramOp program,
                                          const Target &target, Type real) {
  MachineAttr machine = machineOf(target, real);
  WalkResult hasKernels =
      program.walk([](KernelOp) { return WalkResult::interrupt(); });
  if (hasKernels.wasInterrupted()) {
    assert(MachineAttr::of(program) == machine &&
           "a program has the kernels of one machine");
    return success();
  }
  program->setAttr("attn.machine", machine);
  PassManager manager(program.getContext(), ProgramOp::getOperationName());
  attn::formKernels(manager);
  return manager.run(program);
}
