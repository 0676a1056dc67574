//===- Enumeration.h - what depends on a choice, and how --------*- C++ -*-===//

#ifndef FOVEA_PASSES_DERIVE_ENUMERATION_H
#define FOVEA_PASSES_DERIVE_ENUMERATION_H

#include "dialect/Distributions.h"
#include "passes/derive/EquationBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace fovea::attn {

/// How an array depends on the choice.
struct Dependence {
  bool current = false, previous = false;
  /// For each axis of the choice: the axis of the array.
  llvm::SmallVector<unsigned> places;

  unsigned count() const { return unsigned(current) + unsigned(previous); }
};

class Enumeration : EquationBuilder {
public:
  Enumeration(ChoiceOp choice, ChoiceOp start)
      : EquationBuilder(mlir::OpBuilder::atBlockEnd(choice->getBlock())),
        choice(choice), start(start),
        system(choice->getParentOfType<SystemOp>()),
        type(cast<ArrayType>(choice.getResult().getType())) {
    loc = choice.getLoc();
    values = builder.getI64IntegerAttr(2);
    if (choice.getDistribution() == Distribution::categorical)
      values = lastExtent(choice.getParameters()[0]);
  }

  llvm::LogicalResult run();

private:
  llvm::LogicalResult reject(mlir::Operation *op, const llvm::Twine &why);
  /// The axes of a choice of data, observed or generated.
  static ArrayType typeOf(ChoiceOp op) {
    mlir::Value value = op.getResult() ? op.getResult() : op.getObserved();
    return cast<ArrayType>(value.getType());
  }
  llvm::LogicalResult rejectElsewhere(mlir::Operation *op) {
    return reject(op, "this depends on it at other places");
  }
  llvm::LogicalResult rejectDrawn(mlir::Operation *op) {
    return reject(op, "this is drawn from what depends on it");
  }
  // The dependent arrays, and how they depend on it.
  llvm::LogicalResult find();
  llvm::LogicalResult follow(mlir::Value array, mlir::Operation *user);
  llvm::LogicalResult followReads(mlir::Value array, ComputeOp op);
  llvm::LogicalResult add(mlir::Operation *op, const Dependence &more);
  /// The indices of an array that a read may access: for case `number`, the
  /// axes that it does not place.
  static llvm::SmallVector<mlir::Value> indicesOf(ReadOp read,
                                                  std::optional<size_t> number);
  std::optional<bool> isShifted(llvm::ArrayRef<mlir::Value> indices,
                                const Dependence &of, ComputeOp op,
                                llvm::SmallVector<unsigned> &places);
  bool isFound(ReadOp read);
  std::optional<bool> shiftOf(ReadOp read, ComputeOp op, Dependence &of);
  // Their replacements.
  mlir::Value spread(mlir::Value array, const Dependence &wanted);
  llvm::SmallVector<mlir::Attribute>
  longer(const Dependence &of, llvm::ArrayRef<mlir::Attribute> extents);
  void expand(ComputeOp op);
  void expand(ReadOp read, ComputeOp op, mlir::Value current,
              mlir::Value previous);
  void expandValue(ReadOp read, ComputeOp op, mlir::Value current,
                   mlir::Value previous);
  void expand(ChoiceOp op);
  void expand(EquationOp op);
  void leaveChoice();

  ChoiceOp choice, start;
  SystemOp system;
  ArrayType type;
  mlir::Attribute values;
  std::optional<unsigned> axis; // along which a place reads the one before
  llvm::MapVector<mlir::Value, Dependence> found;
  llvm::SmallVector<ChoiceOp> choices;
  llvm::SmallVector<EquationOp> equations;
  mlir::Value best, bestBefore;
};

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_ENUMERATION_H
