//===- LogProbability.h - log p of choices, as equations ------------------===//

#ifndef FOVEA_PASSES_DERIVE_LOGPROBABILITY_H
#define FOVEA_PASSES_DERIVE_LOGPROBABILITY_H

#include "passes/derive/EquationBuilder.h"

namespace fovea::attn {

/// Adds the equations of log p of one choice after the other to a system.
class LogProbability : protected EquationBuilder {
protected:
  LogProbability(const mlir::OpBuilder &builder, double smooth, bool each)
      : EquationBuilder(builder), smooth(smooth), each(each) {}

  /// Makes `choice` the present one.
  void begin(ChoiceOp choice);
  /// log p of the present choice, summed over all of its elements.
  Value logOf(ChoiceOp choice);
  /// The sum of the entropies of the present choice.
  Value entropyOf(ChoiceOp choice);
  /// What one element gives, as often as the present choice counts.
  Value weighted(Scalars &at, Body one);
  /// The sum of what the elements of the present choice give; where a latent
  /// is summed over, one for each of its places and values.
  Value overPlaces(const llvm::Twine &label, Body body);
  /// log p of the present choice, given that of one element.
  Value sumOfLogps(Body one);

  double smooth;
  bool each; // log p of each element is an output, too
  // The present choice: its number, its name, and the axes over which it makes
  // one choice per element.
  size_t number = 0;
  llvm::StringRef name;
  llvm::SmallVector<mlir::Attribute> axes;
  /// Of a choice that depends on a latent that is summed over: those axes that
  /// are of its values and places, and how many are of values.
  llvm::SmallVector<unsigned> kept;
  unsigned numValues = 0;
  /// log p after label smoothing, where that differs.
  Value smoothed;
  /// How often log p of the present choice counts: the product of these.
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
