//===- Choices.h - distributions of one random choice ---------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_CHOICES_H
#define FOVEA_DIALECT_REFERENCE_CHOICES_H

#include "dialect/reference/Lengths.h"

#include <array>

namespace fovea::reference {

/// The distribution of one element of an attn.choice, with its numbers.
class ChoiceDistribution {
public:
  /// Takes the parameters of element `group` (its row-major number over the
  /// axes of the choice, at `indices`). `arrayOf` gives a parameter's array,
  /// `inputs` whether it has numbers of f32, and where their trees are kept.
  Status take(attn::ChoiceOp op, int64_t group, llvm::ArrayRef<int64_t> indices,
              const LengthTable &lengths,
              llvm::function_ref<const Array &(mlir::Value)> arrayOf,
              llvm::function_ref<int64_t(llvm::StringRef)> loopIndex,
              const Inputs &inputs);

  /// The mean of the probabilities of discrete choices among the same symbols.
  static ChoiceDistribution meanOf(llvm::ArrayRef<ChoiceDistribution> all);

  static bool isDiscrete(attn::Distribution kind) {
    return kind == attn::Distribution::categorical ||
           kind == attn::Distribution::bernoulli;
  }
  bool isDiscrete() const { return isDiscrete(kind); }
  bool isCategorical() const { return kind == attn::Distribution::categorical; }
  /// How many numbers one value has: 2 for a mixture of pairs, otherwise 1.
  int64_t valueSize() const { return parameter("correlation").empty() ? 1 : 2; }
  /// log p of each symbol of a discrete choice.
  const std::vector<double> &symbols() const { return logps; }
  /// Excludes a symbol from sampling; returns false if none is left.
  bool exclude(double symbol);
  /// log p, or the log of the density, of a value.
  Status logp(llvm::ArrayRef<double> value, double &result) const;
  /// The most probable value: the lowest symbol among equals, the mean, the
  /// middle of an interval, the mean of the most probable component.
  std::vector<double> mode() const;
  /// A value sampled with three uniform numbers.
  std::vector<double> draw(std::array<double, 3> uniform) const;

private:
  llvm::ArrayRef<double> parameter(llvm::StringRef name) const;
  void findLogps(bool single, bool isShort);
  double componentLogDensity(size_t m, llvm::ArrayRef<double> value) const;

  attn::Distribution kind = attn::Distribution::categorical;
  std::vector<std::pair<std::string, std::vector<double>>> parameters;
  std::vector<double> logps; // of symbols, or of the components of a mixture
  std::string name;
};

/// The symbol at a uniform number's place in the cumulative distribution, given
/// log p of each.
size_t symbolAt(llvm::ArrayRef<double> logps, double uniform);

/// The axes of a choice's elements: those of its result or observation, without
/// the last one of pairs.
unsigned numChoiceAxes(attn::ChoiceOp op);

/// The array that a choice generates or observes.
mlir::Value chosenArray(attn::ChoiceOp op);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_CHOICES_H
