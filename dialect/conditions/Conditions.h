//===- Conditions.h - builds conditions inside bodies ---------------------===//
//
// What the adjoints and the passes that move bodies have in common: evaluating
// a region somewhere else, and conditions that are evaluated only where they
// mean something.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_CONDITIONS_CONDITIONS_H
#define FOVEA_DIALECT_CONDITIONS_CONDITIONS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Evaluates one region of a compute, its condition or its body, at the
/// indices `at`, and returns what it yields.
mlir::Value inlineRegion(mlir::OpBuilder &builder, mlir::Region &region,
                         mlir::ValueRange at);

/// Whether a region reads arrays: it is then evaluated only where it stands
/// for something.
bool readsArrays(mlir::Region &region);

/// Takes the condition of `op` apart, so that a new one can be built at the end
/// of its block, which is made where there was none. Returns what the condition
/// was, or null.
mlir::Value openCondition(ComputeOp op);

/// A conjunction whose later parts are evaluated only where the earlier ones
/// hold.
class Conjunction {
public:
  Conjunction(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}
  void require(mlir::Value condition);
  /// What is built from here on is evaluated only where all so far holds.
  void guardRest();
  bool isTrivial() const { return !current && open.empty(); }
  /// The conjunction, at the place where it was begun.
  mlir::Value finish();

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value current;
  llvm::SmallVector<mlir::scf::IfOp> open;
};

/// Requires that `indices` stand inside an array with these extents. `compute`
/// is the op in whose body this is.
void requireInside(mlir::OpBuilder &builder, mlir::Location loc,
                   ComputeOp compute, llvm::ArrayRef<mlir::Attribute> extents,
                   llvm::ArrayRef<mlir::Value> indices, Conjunction &inside);

/// The condition of case number `number` of a read alone: the indices of the
/// read, evaluated as `indices`, stand at its places.
mlir::Value atPlaces(mlir::OpBuilder &builder, ReadOp read, unsigned number,
                     llvm::ArrayRef<mlir::Value> indices);

/// Whether the places of a case certainly stand outside the array: the case
/// then decides without a look at the other indices.
bool isOutside(ReadOp read, unsigned number);

/// What is left of `indices` for the array of a case.
llvm::SmallVector<mlir::Value>
withoutPlaced(ReadOp read, unsigned number,
              llvm::ArrayRef<mlir::Value> indices);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_CONDITIONS_CONDITIONS_H
