//===- Target.cpp - what a CPU decides ------------------------------------===//

#include "targets/cpu/Target.h"
#include "dialect/Target.h"
#include "mlir/IR/DialectImplementation.h"
#include "targets/cpu/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fovea::attn;

#include "targets/cpu/Dialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "targets/cpu/Attributes.cpp.inc"

namespace {
/// A program that writes no target is for the oldest x86-64 with AVX2.
struct OldestCpu final : DefaultTarget {
  using DefaultTarget::DefaultTarget;
  TargetAttr get() const override {
    return CpuTargetAttr::get(getContext(), "x86-64-v3", /*lanes=*/8,
                              /*tile_rows=*/6, /*tile_vectors=*/2);
  }
};
} // namespace

void CpuDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "targets/cpu/Attributes.cpp.inc"
      >();
  addInterfaces<OldestCpu>();
}

void CpuTargetAttr::addPasses(Stage stage, AddPass add) const {
  if (stage == Stage::beforeStrips) {
    add(createListRows());
    add(createGuardSteps());
  }
  if (stage == Stage::afterKernels)
    add(createLeaveRows());
}
