//===- Scalars.h - reverse mode through the body of a compute -------------===//
//
// Differentiates the scalars of one body with respect to one read of it.
// The body is straight-line code with scf.if; the branches around the read
// are known to be taken and disappear. Independent of indices and
// reducers.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_ADJOINTS_SCALARS_H
#define FOVEA_DIALECT_ADJOINTS_SCALARS_H

#include "dialect/conditions/Conditions.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace fovea::attn {

/// A branch that encloses a read.
struct Branch {
  mlir::scf::IfOp choice;
  bool taken;
  mlir::Region &region() const {
    return taken ? const_cast<mlir::scf::IfOp &>(choice).getThenRegion()
                 : const_cast<mlir::scf::IfOp &>(choice).getElseRegion();
  }
};

/// The scalars of a body from the view of one read.
class BodyAdjoint {
public:
  BodyAdjoint(ComputeOp op, ReadOp read);

  /// The branches around the read, outermost first.
  llvm::ArrayRef<Branch> getBranches() const { return branches; }
  /// Whether the body's value is differentiable in the read value.
  bool reachesYield() const { return reaches; }

  /// Re-evaluates a scalar of the body; `values` maps the body's indices and
  /// caches results.
  mlir::Value emit(mlir::OpBuilder &builder, mlir::IRMapping &values,
                   mlir::Value value);
  /// Returns whether re-evaluating a scalar needs a read or an integer
  /// division: it must then stay under the conditions that guard the body.
  bool isFragile(mlir::Value value);
  /// The adjoint of the read, from the adjoint of the body's value. Fails with
  /// an error at a scalar without a derivative.
  mlir::FailureOr<mlir::Value> build(mlir::OpBuilder &builder,
                                     mlir::IRMapping &values, mlir::Value seed);

private:
  using Adjoints = llvm::DenseMap<mlir::Value, mlir::Value>;

  mlir::Value resolve(mlir::Value value) const;
  llvm::SmallVector<mlir::Operation *> sliceOf(mlir::Value value,
                                               const mlir::IRMapping *known);
  void findActive(llvm::ArrayRef<mlir::Operation *> ops);
  void flatten(mlir::Block &block, unsigned depth);
  mlir::LogicalResult sweep(mlir::OpBuilder &builder,
                            llvm::ArrayRef<mlir::Operation *> ops,
                            mlir::IRMapping &values, Adjoints &adjoints);
  mlir::LogicalResult sweepIf(mlir::OpBuilder &builder, mlir::scf::IfOp choice,
                              mlir::IRMapping &values, Adjoints &adjoints);
  mlir::Value finds(mlir::OpBuilder &builder, ReadOp other,
                    mlir::IRMapping &values);
  void accumulate(mlir::OpBuilder &builder, Adjoints &adjoints,
                  mlir::Value value, mlir::Value part);

  ComputeOp op;
  ReadOp read;
  llvm::SmallVector<Branch> branches;
  /// Results of enclosing branches, and their replacements.
  llvm::DenseMap<mlir::Value, mlir::Value> aliases;
  llvm::DenseMap<mlir::Operation *, unsigned> order;
  llvm::SmallVector<mlir::Operation *> flat;
  llvm::DenseSet<mlir::Value> active;
  bool reaches = false;
};

/// Returns whether an op of f64 has a zero derivative.
bool isFlat(mlir::Operation *op);

/// One rule per scalar op: `add(operand, contribution)` for each operand that
/// is `active`. `primal` re-evaluates a scalar of the body. Returns false if
/// the op has no derivative.
bool differentiateScalar(
    mlir::OpBuilder &builder, mlir::Operation *op, mlir::Value adjoint,
    llvm::function_ref<mlir::Value(mlir::Value)> primal,
    llvm::function_ref<bool(mlir::Value)> active,
    llvm::function_ref<void(mlir::Value, mlir::Value)> add);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_ADJOINTS_SCALARS_H
