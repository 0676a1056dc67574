//===- Target.cpp - the target of an op -----------------------------------===//

#include "dialect/Target.h"

using namespace mlir;
using namespace fovea::attn;

#include "dialect/Target.cpp.inc"

static constexpr StringLiteral targetName = "attn.target";

void TargetAttr::setTo(Operation *op) const { op->setAttr(targetName, *this); }

TargetAttr TargetAttr::of(Operation *op) {
  for (Operation *at = op; at; at = at->getParentOp())
    if (auto written = at->getAttrOfType<TargetAttr>(targetName))
      return written;
  DialectInterfaceCollection<DefaultTarget> defaults(op->getContext());
  assert(defaults.begin() != defaults.end() &&
         "a tool that compiles registers the targets");
  return (*defaults.begin()).get();
}

static LogicalResult refuse(Operation *op, StringRef decision,
                            StringAttr target) {
  return op->emitOpError() << "has '" << decision << "', but the target "
                           << target << " does not decide that";
}

LogicalResult fovea::attn::refuseKeys(KernelOp kernel, StringAttr target) {
  return kernel.getKeys() ? refuse(kernel, "keys", target) : success();
}

LogicalResult fovea::attn::refuseDecisions(ProgramOp program,
                                           StringAttr target) {
  WalkResult walk = program.walk([&](Operation *op) -> WalkResult {
    for (StringRef name : {configName, staysName})
      if (op->hasAttr(name))
        return refuse(op, name, target);
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}
