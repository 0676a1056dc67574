//===- AttnForward.h - the attn dialect for headers -----------------------===//
//
// Headers that only name ops and attributes include this. So what includes them
// is not compiled again after each change of an op. AttnDialect.h has them all.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_ATTNFORWARD_H
#define FOVEA_DIALECT_ATTNFORWARD_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"

#include "dialect/AttnDialect.h.inc"
#include "dialect/AttnEnums.h.inc"

namespace fovea::attn {

class ArrayType;
class ChoiceOp;
class ComputeOp;
class KernelOp;
class ProgramOp;
class SystemOp;
class TargetAttr;

} // namespace fovea::attn

#endif // FOVEA_DIALECT_ATTNFORWARD_H
