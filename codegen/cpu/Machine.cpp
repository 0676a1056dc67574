//===- Machine.cpp - what passes know of a CPU ----------------------------===//

#include "codegen/cpu/Machine.h"
#include "codegen/cpu/products/Gemm.h"
#include "targets/cpu/Target.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::codegen;

TargetAttr fovea::codegen::describe(const Target &target, Type real) {
  GemmTile tile = gemmTile(real, target);
  return CpuTargetAttr::get(real.getContext(), target.cpu, tile.lanes,
                            tile.rows, tile.vectors);
}
