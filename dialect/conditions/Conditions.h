//===- Conditions.h - builds conditions inside bodies ---------------------===//
//
// Shared by the adjoints and the passes that move bodies: evaluating a region
// somewhere else, and conditions that are evaluated only where they are
// defined.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_CONDITIONS_CONDITIONS_H
#define FOVEA_DIALECT_CONDITIONS_CONDITIONS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Evaluates one region of a compute, its condition or its body, at the indices
/// `at`, and returns its yield.
mlir::Value inlineRegion(mlir::OpBuilder &builder, mlir::Region &region,
                         mlir::ValueRange at);

/// Returns whether a region reads arrays: it must then be evaluated only where
/// it is defined.
bool readsArrays(mlir::Region &region);

/// Detaches the condition of `op`, so that a new one can be built at the end of
/// its block. Creates the block if there was none. Returns the old condition,
/// or null.
mlir::Value openCondition(ComputeOp op);

/// A conjunction whose later parts are evaluated only where the earlier ones
/// hold.
class Conjunction {
public:
  Conjunction(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}
  void require(mlir::Value condition);
  /// Code emitted from here on is evaluated only where everything so far holds.
  void guardRest();
  bool isTrivial() const { return !current && open.empty(); }
  /// The conjunction, at its starting point.
  mlir::Value finish();

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value current;
  llvm::SmallVector<mlir::scf::IfOp> open;
};

/// Requires that `indices` are inside an array with these extents. `compute` is
/// the op whose body this is.
void requireInside(mlir::OpBuilder &builder, mlir::Location loc,
                   ComputeOp compute, llvm::ArrayRef<mlir::Attribute> extents,
                   llvm::ArrayRef<mlir::Value> indices, Conjunction &inside);

/// The condition of case number `number` of a read alone: its indices,
/// evaluated as `indices`, are at the case's places.
mlir::Value atPlaces(mlir::OpBuilder &builder, ReadOp read, unsigned number,
                     llvm::ArrayRef<mlir::Value> indices);

/// Returns whether the places of a case are certainly outside the array: the
/// case then decides without the other indices.
bool isOutside(ReadOp read, unsigned number);

/// The part of `indices` for the array of a case.
llvm::SmallVector<mlir::Value>
withoutPlaced(ReadOp read, unsigned number,
              llvm::ArrayRef<mlir::Value> indices);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_CONDITIONS_CONDITIONS_H
