//===- TrainOptions.h - what a train block asks for -----------------------===//
//
// Parses the entries of `train { .. }` that control the updates. Ignores
// entries that shape the objective (`average`, `smooth`).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TRAIN_TRAINOPTIONS_H
#define FOVEA_RUNTIME_TRAIN_TRAINOPTIONS_H

#include "runtime/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::runtime {

/// The update rule. g is the gradient, t the number of the update from 1,
/// `rate` the learning rate.
enum class Rule {
  /// w -= rate g.
  Sgd,
  /// Polyak (1964), as Sutskever et al. (2013) use it: v = m v + g;
  /// w -= rate v.
  Momentum,
  /// Duchi, Hazan and Singer (2011): r += g^2; w -= rate g / (sqrt(r) + eps).
  Adagrad,
  /// Tieleman and Hinton (2012), lecture 6.5: r = rho r + (1 - rho) g^2;
  /// w -= rate g / (sqrt(r) + eps).
  RmsProp,
  /// Zeiler (2012), algorithm 1: r = rho r + (1 - rho) g^2;
  /// d = sqrt(u + eps) / sqrt(r + eps) g; u = rho u + (1 - rho) d^2;
  /// w -= rate d.
  Adadelta,
  /// Kingma and Ba (2015), algorithm 1: m = b1 m + (1 - b1) g;
  /// v = b2 v + (1 - b2) g^2;
  /// w -= rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).
  Adam,
  /// Loshchilov and Hutter (2019), algorithm 2: Adam, and w -= rate decay w.
  AdamW,
};

/// Its name in a spec.
std::string_view nameOf(Rule rule);

struct OptimiserOptions {
  Rule rule = Rule::Adam;
  double b1 = 0.9, b2 = 0.999; // momentum, decay of the squares
  double eps = 1e-8;
  /// Adds decay w to the gradient; AdamW subtracts it from the weights instead.
  double decay = 0;
};

/// The learning rate of update t = 1, 2, ..
struct RateOptions {
  enum Kind {
    Constant,    // peak
    Noam,        // peak min(t^-1/2, t n^-3/2) (Vaswani et al., 2017)
    InverseSqrt, // peak min(t / n, sqrt(n / t))
    Cosine,      // floor + (peak - floor) (1 + cos(pi min(t - 1, n) / n)) / 2
    Step,        // peak factor^((t - 1) // n)
  } kind = Constant;
  double peak = 1e-3;
  double n = 1, factor = 0.5, floor = 0;
  /// Multiplied by min(1, t / warmup).
  double warmup = 0;
};

double rateAt(const RateOptions &options, int64_t update);

struct EarlyStop {
  /// loss, perplexity, or a metric: bleu, bleu(tgt). Empty: never.
  std::string metric;
  /// Consecutive validations without improvement.
  int64_t patience = 5;
};

struct TrainOptions {
  OptimiserOptions optimiser;
  RateOptions rate;
  double clip = 0; // the norm of all gradients; 0: any
  /// Clips the gradient values of the parameters below a name; empty: all.
  std::map<std::string, double> clipValue;
  /// The frozen parameters: those with these names, or below them.
  std::vector<std::string> frozen;
  /// The states, which take the sums of their updates instead of steps; and
  /// whether an update is one value, and not a mean over the examples.
  std::map<std::string, bool> states;
  double columnNorm = 0; // of the weights into one unit; 0: any
  double noise = 0;      // deviation of the noise on weights
  double noiseAfter = 0; // the last update without this noise
  /// The share of the past in the moving average of the weights; 0: none is
  /// kept.
  double polyak = 0;
  /// Programs read weights rounded to bf16 (runtime/data/Quantise.h), and
  /// updates change the f32 weights.
  bool roundsWeights = false;
  /// Whether rows of embeddings without a gradient keep what the optimiser
  /// knows of them; not given: only where that changes nothing.
  std::optional<bool> lazy;
  bool isLazy() const { return lazy.value_or(false); }
  /// Whether gradients may list rows (RowNames.h): rows without one stay.
  bool takesRows() const;
  /// The optimiser's state has two bytes per value (StepState.h).
  bool hasBrainState = false;
  int64_t batch = 32; // examples, or tokens
  bool countsTokens = false;
  int64_t accumulate = 1; // batches for one update
  bool buckets = false;
  std::string bucketLength; // of buckets; empty: the sum of all lengths
  EarlyStop earlyStop;
  /// Options that were read but are not applied as the spec states.
  std::vector<std::string> notes;
};

/// Parses the entries of `train { .. }`; `sizes` are the dims of the spec.
Status readTrainOptions(const std::map<std::string, std::string> &entries,
                        const std::map<std::string, int64_t> &sizes,
                        TrainOptions &options);

/// The options as text, by entry: equal texts mean equal options.
std::map<std::string, std::string> describe(const TrainOptions &options);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_TRAINOPTIONS_H
