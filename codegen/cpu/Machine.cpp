//===- Machine.cpp - what passes know of a CPU ----------------------------===//

#include "codegen/cpu/Machine.h"
#include "codegen/cpu/products/Gemm.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::codegen;

MachineAttr fovea::codegen::machineOf(const Target &target, Type real) {
  GemmTile tile = gemmTile(real, target);
  MLIRContext *context = real.getContext();
  return MachineAttr::get(context, StringAttr::get(context, target.cpu),
                          tile.lanes, tile.rows, tile.vectors);
}
