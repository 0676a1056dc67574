//===- System.h - the adjoints of the arrays of a block -------------------===//

#ifndef FOVEA_DIALECT_ADJOINTS_SYSTEM_H
#define FOVEA_DIALECT_ADJOINTS_SYSTEM_H

#include "dialect/AttnDialect.h"
#include "llvm/ADT/MapVector.h"

namespace fovea::attn {

/// Adds the equations of adjoints to a block: decides which arrays have one and
/// sums the contributions; each op defines its own (AdjointInterface). Like
/// anything in a system, an adjoint may be read before it is defined, so ops
/// may be visited in any order.
class SystemAdjoint {
public:
  /// Called for each new op, with the array that the op's adjoint belongs to.
  using Mark = llvm::function_ref<void(mlir::Operation *, mlir::Value)>;

  /// New ops are added at the end of `block`.
  SystemAdjoint(mlir::Block *block, Mark mark)
      : block(block), builder(mlir::OpBuilder::atBlockEnd(block)), mark(mark) {}

  /// Differentiates `roots` with respect to `inputs`. `seedOf(i)` makes the
  /// adjoint of root i; it is called if the root depends on an input. Fails
  /// with an error at an op without an adjoint.
  mlir::LogicalResult build(llvm::ArrayRef<mlir::Value> roots,
                            llvm::ArrayRef<mlir::Value> inputs,
                            llvm::function_ref<mlir::Value(unsigned)> seedOf);

  /// The adjoint of an input; null if no root depends on it.
  mlir::Value lookup(mlir::Value input) const { return adjoints.lookup(input); }

  /// The sum of arrays of the type of `array`; without any, zeros.
  mlir::Value sum(mlir::Value array, llvm::ArrayRef<mlir::Value> parts);

  mlir::OpBuilder &getBuilder() { return builder; }

private:
  mlir::LogicalResult contribute(mlir::Value array, mlir::Value adjoint);

  mlir::Block *block;
  mlir::OpBuilder builder;
  Mark mark;
  /// Arrays that depend on an input, and on which a root depends.
  llvm::SetVector<mlir::Value> active;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> contributions;
  llvm::DenseMap<mlir::Value, mlir::Value> adjoints;
};

/// The arrays of a block that depend on `inputs` and that `roots` depend on,
/// both included.
llvm::SetVector<mlir::Value> arraysBetween(mlir::Block *block,
                                           llvm::ArrayRef<mlir::Value> inputs,
                                           llvm::ArrayRef<mlir::Value> roots);

/// Whether a value is an array of f64.
bool isReal(mlir::Value value);

/// Calls `visit` with each f64 array through which a change reaches a result of
/// `op`.
void forEachSource(mlir::Operation *op,
                   llvm::function_ref<void(mlir::Value)> visit);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_ADJOINTS_SYSTEM_H
