//===- LaunchDialect.h - the launch dialect: include this -----------------===//
//
// Declares the schedule of a program's launches. docs/IR.md explains it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_LAUNCH_LAUNCHDIALECT_H
#define FOVEA_DIALECT_LAUNCH_LAUNCHDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/launch/LaunchDialect.h.inc"
#include "dialect/launch/LaunchEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/launch/LaunchAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/launch/LaunchTypes.h.inc"

#define GET_OP_CLASSES
#include "dialect/launch/LaunchOps.h.inc"

namespace fovea::launch {

/// Checks that a schedule is the one that follows from its program. Emits an
/// error at the first item that differs.
mlir::LogicalResult matchSchedule(ProgramOp given, ProgramOp expected);

} // namespace fovea::launch

#endif // FOVEA_DIALECT_LAUNCH_LAUNCHDIALECT_H
