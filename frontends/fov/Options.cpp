//===- Options.cpp - the words that the language knows --------------------===//

#include "frontends/fov/Options.h"
#include "frontends/fov/Diagnostics.h"
#include "frontends/fov/ForeignWords.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace fovea;
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
      "vector",    "matrix",  "tensor",      "true",     "false",  "inf",
      "grad"};
  return names;
}

ArrayRef<StringRef> fovea::fov::estimators() {
  static constexpr StringRef names[] = {
      "reinforce", "reparameterised", "enumerate",   "straight_through",
      "gumbel",    "expected",        "no_gradient", "sampled",
      "margin",    "weight",          "policy"};
  return names;
}

ArrayRef<StringRef> fovea::fov::decodeTreatments() {
  static constexpr StringRef names[] = {"sample", "mode", "expected",
                                        "marginal", "candidates"};
  return names;
}

ArrayRef<StringRef> fovea::fov::metrics() {
  static constexpr StringRef names[] = {
      "bleu",     "bleu_1",        "bleu_2",     "bleu_3",     "bleu_4",
      "chrf",     "ter",           "meteor",     "rouge_1",    "rouge_2",
      "rouge_l",  "rouge_l_coco",  "cider",      "cider_d",    "bracket_f1",
      "accuracy", "exact",         "per",        "wer",        "cer",
      "edit",     "edit_distance", "error_rate", "perplexity", "bits_wrong",
      "bound"};
  return names;
}

ArrayRef<StringRef> fovea::fov::optionNames(StringRef block) {
  static constexpr StringRef train[] = {
      "average",     "optimiser",       "rate",   "clip",   "clip_value",
      "column_norm", "noise",           "smooth", "init",   "batch",
      "bucket",      "early_stop",      "decay",  "warmup", "accumulate",
      "polyak",      "optimiser_state", "lazy"};
  static constexpr StringRef decode[] = {"beam",      "longest", "shortest",
                                         "normalise", "unknown", "stop",
                                         "valid",     "score"};
  return block == "train" ? ArrayRef(train) : ArrayRef(decode);
}

std::string fovea::fov::optionMistake(StringRef block, StringRef name,
                                      StringRef word) {
  ArrayRef<StringRef> options = optionNames(block);
  if (!llvm::is_contained(options, name)) {
    std::string ours =
        ourWord(name, block == "train" ? WordPlace::Train : WordPlace::Decode);
    return "'" + name.str() + "' is not an option of " + block.str() +
           (ours.empty() ? suggestion(name, options) : ours);
  }
  // Words that are values of some options.
  static const std::map<StringRef, std::vector<StringRef>> words = {
      {"average", {"token", "example"}},
      {"optimiser",
       {"adam", "adamw", "adadelta", "rmsprop", "adagrad", "momentum", "sgd"}},
      {"optimiser_state", {"f32", "bf16"}},
      {"lazy", {"true", "false"}}};
  auto it = words.find(name);
  if (it == words.end() || llvm::is_contained(it->second, word))
    return "";
  std::string all;
  for (StringRef each : it->second)
    all += (all.empty() ? "" : ", ") + each.str();
  return "'" + word.str() + "' is not a value of '" + name.str() + "' (" + all +
         ")" + suggestion(word, it->second);
}
