//===- LogProbability.h - log p of choices, as equations ------------------===//

#ifndef FOVEA_PASSES_DERIVE_LOGPROBABILITY_H
#define FOVEA_PASSES_DERIVE_LOGPROBABILITY_H

#include "passes/derive/EquationBuilder.h"

namespace fovea::attn {

/// log p of each value of a discrete choice that is made, along a last axis:
/// the numbers that the objective has for an observed one, bit for bit.
mlir::Value logOfEachValue(const mlir::OpBuilder &builder, ChoiceOp choice);

/// Adds the output `logp/NAME`: the log of the density of each real number that
/// a choice makes. These are the equations that the objective has for an
/// observed one.
void addDensity(const mlir::OpBuilder &builder, ChoiceOp choice);

/// Adds the equations of log p of one choice after the other to a system.
class LogProbability : protected EquationBuilder {
protected:
  LogProbability(const mlir::OpBuilder &builder, double smooth, bool each)
      : EquationBuilder(builder), smooth(smooth), each(each) {}

  /// Makes `choice` the current one.
  void begin(ChoiceOp choice);
  /// log p of the current choice, summed over all of its elements.
  Value logOf(ChoiceOp choice);
  /// The sum of the entropies of the current choice.
  Value entropyOf(ChoiceOp choice);
  /// The value per element, times the weight of the current choice.
  Value weighted(Scalars &at, Body one);
  /// The sum over the elements of the current choice; for a summed-out latent,
  /// one per place and value.
  Value overPlaces(const llvm::Twine &label, Body body);
  /// log p of the current choice, from log p of one element.
  Value sumOfLogps(Body one);

  double smooth;
  bool each; // log p of each element is an output, too
  // The current choice: what follows `logp/` in the output of its elements, its
  // name, and the axes of its elements.
  std::string eachName;
  llvm::StringRef name;
  llvm::SmallVector<mlir::Attribute> axes;
  /// For a choice that depends on a summed-out latent: the axes of its values
  /// and places, and how many are of values.
  llvm::SmallVector<unsigned> kept;
  unsigned numValues = 0;
  /// log p after label smoothing, if that differs.
  Value smoothed;
  /// The weight of log p of the current choice: the product of these.
  llvm::SmallVector<Value> weights;

private:
  Value logOfCategorical(ChoiceOp choice);
  Value logOfBernoulli(ChoiceOp choice);
  Value logOfNormal(ChoiceOp choice);
  Value logOfUniform(ChoiceOp choice);
  Value logOfMixture(ChoiceOp choice);
};

} // namespace fovea::attn

#endif // FOVEA_PASSES_DERIVE_LOGPROBABILITY_H
