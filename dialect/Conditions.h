//===- Conditions.h - builds conditions inside bodies ---------------------===//
//
// What the adjoints and the passes that move bodies have in common: evaluating
// a region somewhere else, and conditions that are evaluated only where they
// mean something.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_CONDITIONS_H
#define FOVEA_DIALECT_CONDITIONS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Evaluates one region of a compute, its condition or its body, at the
/// indices `at`, and returns what it yields.
mlir::Value inlineRegion(mlir::OpBuilder &builder, mlir::Region &region,
                         mlir::ValueRange at);

/// Whether a region reads arrays: it is then evaluated only where it stands
/// for something.
bool readsArrays(mlir::Region &region);

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

/// Requires that the indices of a read stand inside its array. `scalar` gives
/// the values of the body's scalars at the place of `builder`.
void requireInside(mlir::OpBuilder &builder, ReadOp read,
                   llvm::function_ref<mlir::Value(mlir::Value)> scalar,
                   Conjunction &inside);

/// The condition of case number `number` of a read alone: all its indices
/// stand at their places.
mlir::Value atPlaces(mlir::OpBuilder &builder, ReadOp read, unsigned number,
                     llvm::function_ref<mlir::Value(mlir::Value)> scalar);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_CONDITIONS_H
