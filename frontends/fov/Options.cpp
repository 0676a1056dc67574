//===- Options.cpp - the words that the language knows --------------------===//

#include "frontends/fov/Options.h"

using llvm::ArrayRef;
using llvm::StringRef;

ArrayRef<StringRef> fovea::fov::builtinNames() {
  static constexpr StringRef names[] = {
      "tanh",      "sigmoid", "exp",         "log",      "sqrt",   "abs",
      "sin",       "cos",     "relu",        "softplus", "erf",    "round",
      "floor",     "int",     "stop",        "max",      "min",    "clamp",
      "dot",       "zeros",   "ones",        "fold",     "cut",    "onehot",
      "dropout",   "sum",     "mean",        "prod",     "argmax", "argmin",
      "logsumexp", "softmax", "log_softmax", "cumsum",   "any",    "all",
      "vector",    "matrix",  "tensor",      "true",     "false",  "inf"};
  return names;
}

ArrayRef<StringRef> fovea::fov::trainOptions() {
  static constexpr StringRef names[] = {
      "average", "optimiser", "rate", "clip",  "clip_value", "column_norm",
      "noise",   "smooth",    "init", "batch", "bucket",     "early_stop"};
  return names;
}

ArrayRef<StringRef> fovea::fov::decodeOptions() {
  static constexpr StringRef names[] = {"beam",      "longest", "shortest",
                                        "normalise", "unknown", "stop",
                                        "valid",     "score"};
  return names;
}

ArrayRef<StringRef> fovea::fov::estimators() {
  static constexpr StringRef names[] = {
      "reinforce",        "reparameterised", "enumerate",
      "straight_through", "gumbel",          "expected",
      "no_gradient",      "sampled",         "margin"};
  return names;
}

ArrayRef<StringRef> fovea::fov::decodeTreatments() {
  static constexpr StringRef names[] = {"sample", "mode", "expected",
                                        "marginal", "candidates"};
  return names;
}

ArrayRef<StringRef> fovea::fov::metrics() {
  static constexpr StringRef names[] = {
      "bleu",          "chrf",       "meteor",   "rouge_l",
      "cider",         "cider_d",    "per",      "wer",
      "error_rate",    "perplexity", "accuracy", "exact",
      "edit_distance", "bits_wrong", "bound",    "bracket_f1"};
  return names;
}

ArrayRef<StringRef> fovea::fov::optimisers() {
  static constexpr StringRef names[] = {"adam",    "adamw",    "adadelta",
                                        "rmsprop", "momentum", "sgd"};
  return names;
}
