//===- Advice.cpp - what a command line may have meant --------------------===//

#include "tools/fovea/Advice.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace fovea;
using llvm::StringRef;

namespace {
/// Words of others for an option of ours.
struct Word {
  StringRef ours;
  std::initializer_list<StringRef> theirs;
};

/// Words of others for what a spec says.
struct Entry {
  StringRef ours; // of '--set'
  std::initializer_list<StringRef> theirs;
};
} // namespace

static llvm::ArrayRef<Word> words() {
  static const Word all[] = {
      {"--batch", {"batch-size", "bs", "per-device-train-batch-size"}},
      {"--epochs",
       {"num-epochs", "max-epochs", "n-epochs", "num-train-epochs"}},
      {"--steps", {"max-steps", "num-steps", "iterations", "max-update"}},
      {"--threads", {"num-threads", "workers", "num-workers", "jobs", "nproc"}},
      {"--precision", {"fp16", "bf16", "amp", "half", "mixed-precision"}},
      {"--dtype", {"fp32", "fp64"}},
      {"--out", {"output-dir", "save-dir", "logdir", "log-dir", "model-dir"}},
      {"--output", {"out", "output-file", "save"}},
      {"--data", {"train", "train-data", "input", "src", "source", "dataset"}},
      {"--valid",
       {"val", "val-data", "validation", "validation-data", "dev", "eval-data",
        "valid-data"}},
      {"--weights",
       {"checkpoint", "ckpt", "model", "load", "model-path", "path", "params",
        "pretrained"}},
      {"--resume", {"resume-from-checkpoint", "continue", "restore-file"}},
      {"--patience", {"early-stopping", "early-stop"}},
      {"--report-every",
       {"log-interval", "log-every", "logging-steps", "log-steps"}},
      {"--valid-every",
       {"eval-every", "eval-steps", "val-check-interval", "eval-interval",
        "validate-interval"}},
      {"--save-every",
       {"save-steps", "checkpoint-every", "save-interval", "save-freq"}},
      {"--metric", {"metrics"}},
      {"--seed", {"random-seed", "manual-seed", "random-state"}},
      {"--beam", {"num-beams", "beam-size", "beam-width"}},
      {"--nbest", {"num-return-sequences", "n-best", "num-samples"}},
      {"--max-length",
       {"max-new-tokens", "max-len", "max-len-b", "max-tokens"}},
      {"--min-length", {"min-new-tokens", "min-len"}},
      {"--length-norm", {"length-penalty", "lenpen", "alpha"}},
      {"--sample", {"do-sample", "sampling"}},
      {"--quiet", {"silent", "no-progress", "q"}},
      {"--vocab", {"vocabulary", "vocab-file", "dict", "tokenizer"}},
  };
  return all;
}

static llvm::ArrayRef<Entry> entries() {
  static const Entry all[] = {
      {"train.rate=X", {"lr", "learning-rate"}},
      {"train.optimiser=adam",
       {"optimizer", "optim", "optimiser", "adam", "sgd"}},
      {"train.decay=X", {"weight-decay", "wd", "l2"}},
      {"train.clip=X",
       {"clip", "clip-norm", "grad-clip", "gradient-clip-val", "max-grad-norm",
        "clip-grad-norm"}},
      {"train.warmup=N", {"warmup", "warmup-steps", "warmup-updates"}},
      {"train.smooth=X", {"label-smoothing", "smoothing"}},
      {"train.accumulate=N",
       {"accumulate-grad-batches", "gradient-accumulation-steps",
        "update-freq"}},
  };
  return all;
}

/// `--Batch_Size=8` is `batch-size`.
static std::string bare(StringRef option) {
  std::string name = option.split('=').first.ltrim('-').lower();
  llvm::replace(name, '_', '-');
  return name;
}

std::string
fovea::cli::adviceFor(StringRef option,
                      llvm::function_ref<bool(StringRef)> hasOption) {
  if (!option.starts_with("-"))
    return "";
  std::string name = bare(option);
  for (const Word &word : words())
    if (hasOption(word.ours) &&
        llvm::is_contained(word.theirs, StringRef(name)))
      return "it is '" + word.ours.str() + "' here";
  for (const Entry &entry : entries())
    if (hasOption("--set") && llvm::is_contained(entry.theirs, StringRef(name)))
      return "the spec says it, and '--set " + entry.ours.str() +
             "' overrides that";
  for (StringRef device :
       {"device", "gpu", "gpus", "cuda", "accelerator", "tpu"})
    if (name == device)
      return hasOption("--threads")
                 ? "models run on the CPU, with '--threads N'"
                 : "models run on the CPU";
  return "";
}

std::vector<std::string>
fovea::cli::idleOptions(StringRef command,
                        llvm::function_ref<bool(StringRef)> isGiven) {
  std::vector<std::string> result;
  auto needs = [&](StringRef option, StringRef other) {
    if (isGiven(option) && !isGiven(other))
      result.push_back(("'" + llvm::Twine(option) +
                        "' changes nothing without '" + other + "'")
                           .str());
  };
  auto excludes = [&](StringRef option, StringRef other) {
    if (isGiven(option) && isGiven(other))
      result.push_back(
          ("'" + llvm::Twine(option) + "' changes nothing with '" + other + "'")
              .str());
  };
  if (command == "run" || command == "score" || command == "decode")
    for (StringRef option : {"--threads", "--dtype", "--cpu"})
      for (StringRef other : {"--reference", "--stop-after"})
        excludes(option, other);
  if (command == "train")
    needs("--valid-every", "--valid");
  return result;
}
