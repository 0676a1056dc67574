//===- Target.h - the target of programs without one ------------*- C++ -*-===//
//
// The interfaces of targets are in Target.td; AttnDialect.h declares them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_TARGET_H
#define FOVEA_DIALECT_TARGET_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/DialectInterface.h"

namespace fovea::attn {

/// The dialect of one target implements this: programs that do not write a
/// target are for it.
class DefaultTarget : public mlir::DialectInterface::Base<DefaultTarget> {
public:
  DefaultTarget(mlir::Dialect *dialect) : Base(dialect) {}
  virtual TargetAttr get() const = 0;
};

} // namespace fovea::attn

#endif // FOVEA_DIALECT_TARGET_H
