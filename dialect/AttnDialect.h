//===- AttnDialect.h - the attn dialect: include this ---------------------===//
//
// Declares the dialect, its type, enumerations and ops. docs/IR.md explains
// them; the generated op pages have the equations and constraints.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_ATTNDIALECT_H
#define FOVEA_DIALECT_ATTNDIALECT_H

#include "dialect/AttnForward.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace fovea::attn {

/// from <= number <= to; nothing: unbounded.
struct Band {
  std::optional<int64_t> from, to;
  bool isWhole() const { return !from && !to; }
  /// The same for the reverse difference.
  Band turned() const {
    auto negated = [](std::optional<int64_t> bound) {
      return bound ? std::optional(-*bound) : std::nullopt;
    };
    return {negated(to), negated(from)};
  }
  bool operator==(const Band &) const = default;
};

inline llvm::hash_code hash_value(const Band &band) {
  return llvm::hash_combine(band.from.has_value(), band.from.value_or(0),
                            band.to.has_value(), band.to.value_or(0));
}

/// One extent of a workspace: rounded up to a multiple, plus padding.
struct RoomExtent {
  mlir::Attribute extent;
  int64_t multiple = 1, extra = 0;
  /// Of an extent of so many places.
  int64_t padded(int64_t places) const {
    return llvm::alignTo(places, multiple) + extra;
  }
  bool operator==(const RoomExtent &) const = default;
};

inline llvm::hash_code hash_value(const RoomExtent &extent) {
  return llvm::hash_combine(extent.extent, extent.multiple, extent.extra);
}

} // namespace fovea::attn

#define GET_ATTRDEF_CLASSES
#include "dialect/AttnAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/AttnTypes.h.inc"

#include "dialect/AdjointInterface.h.inc"

#define GET_OP_CLASSES
#include "dialect/AttnOps.h.inc"

namespace mlir {
class Pass;
} // namespace mlir

namespace fovea::attn {

/// Where targets add passes to the phases `kernels` and `memory`: before and
/// after equations form kernels in strips and columns, after all kernels are
/// formed, and after arrays have locations.
enum class Stage { beforeStrips, afterStrips, afterKernels, afterMemory };
using AddPass = llvm::function_ref<void(std::unique_ptr<mlir::Pass>)>;

/// passes/memory/Copies.h
struct StripDecisions;

/// How the target computes an op, and the mark of a loop whose steps are one
/// launch.
constexpr llvm::StringLiteral configName = "attn.config",
                              staysName = "attn.stays";

/// Emit an error if a kernel takes some keys at a time, or if ops of a placed
/// program have decisions of another target.
mlir::LogicalResult refuseKeys(KernelOp kernel, mlir::StringAttr target);
mlir::LogicalResult refuseDecisions(ProgramOp program, mlir::StringAttr target);

} // namespace fovea::attn

#include "dialect/Target.h.inc"

namespace fovea::attn {

/// Returns whether numbers in bodies have `type`: f64, i64 or i1.
bool isElement(mlir::Type type);

/// Returns whether a number of a body is one of bf16, whatever its operands, if
/// the elements of the arrays for which `isStored` holds are.
bool isRounded(mlir::Value number,
               llvm::function_ref<bool(mlir::Value array)> isStored);

/// An extent as text: `512`, `S`.
std::string extentText(mlir::Attribute extent);

/// Returns which indices of its `attn.compute` a value of a body or condition
/// depends on, as bits; indices of enclosing loops are excluded.
uint64_t dependence(mlir::Value value);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_ATTNDIALECT_H
