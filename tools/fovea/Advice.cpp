//===- Advice.cpp - what a command line may have meant --------------------===//

#include "tools/fovea/Advice.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace fovea;
using llvm::StringRef;

namespace {
/// Words of other tools, and their replacement if the command has `option`.
struct Word {
  StringRef option;
  StringRef help;
  std::initializer_list<StringRef> theirs;
};
} // namespace

static llvm::ArrayRef<Word> words() {
  static const Word all[] = {
      {"--batch",
       "use --batch N",
       {"batch-size", "bs", "per-device-train-batch-size", "batchsize",
        "minibatch", "mini-batch"}},
      {"--epochs",
       "use --epochs N",
       {"num-epochs", "max-epochs", "n-epochs", "num-train-epochs", "epoch",
        "after-epochs"}},
      {"--steps",
       "use --steps N",
       {"max-steps", "num-steps", "iterations", "max-update", "updates",
        "max-iters", "after-batches", "train-steps"}},
      {"--minutes", "use --minutes X", {"max-time", "time-limit", "hours"}},
      {"--threads",
       "use --threads N",
       {"num-threads", "workers", "num-workers", "jobs", "nproc", "cpu-threads",
        "j"}},
      {"--precision",
       "use --precision bf16",
       {"bf16", "amp", "mixed-precision"}},
      {"--precision",
       "use --precision f16, which is not for training, or bf16",
       {"fp16", "f16", "half"}},
      {"--precision",
       "use --precision e4m3, which is not for training",
       {"fp8", "e4m3", "float8"}},
      {"--precision",
       "use --precision int8 or int4, which are not for training",
       {"int8", "int4", "quantize", "quantise", "load-in-8bit",
        "load-in-4bit"}},
      {"--dtype", "use --dtype f32", {"fp32", "float32"}},
      {"--dtype", "use --dtype f64", {"fp64", "float64", "double"}},
      {"--out",
       "use --out DIR",
       {"output-dir", "save-dir", "logdir", "log-dir", "model-dir", "workdir",
        "checkpoint-dir", "output", "o"}},
      {"--output",
       "use -o FILE",
       {"out", "output-file", "save", "output-path"}},
      {"--data",
       "use --data NAME=FILE",
       {"train", "train-data", "input", "src", "source", "dataset", "trg",
        "tgt", "target", "train-sets", "test", "train-file", "data-path",
        "data-dir", "input-file"}},
      {"--valid",
       "use --valid NAME=FILE",
       {"val", "val-data", "validation", "validation-data", "dev", "eval-data",
        "valid-data", "valid-sets", "valid-file", "dev-data"}},
      {"--weights",
       "use --weights FILE",
       {"checkpoint", "ckpt", "load", "model-path", "params", "pretrained",
        "init-from", "load-model", "state-dict"}},
      {"--resume",
       "use --resume",
       {"resume-from-checkpoint", "continue", "restore-file", "resume-from"}},
      {"--patience",
       "use --patience N, which counts validations",
       {"early-stopping", "early-stop", "early-stopping-patience"}},
      {"--report-every",
       "use --report-every N, which counts updates",
       {"log-interval", "log-every", "logging-steps", "log-steps", "disp-freq",
        "print-every"}},
      {"--valid-every",
       "use --valid-every N, which counts updates",
       {"eval-every", "eval-steps", "val-check-interval", "eval-interval",
        "validate-interval", "valid-freq"}},
      {"--save-every",
       "use --save-every N, which counts updates",
       {"save-steps", "checkpoint-every", "save-interval", "save-freq",
        "ckpt-interval"}},
      {"--metric", "use --metric METRIC", {"metrics", "valid-metrics"}},
      {"--seed",
       "use --seed N",
       {"random-seed", "manual-seed", "random-state", "rng-seed"}},
      {"--per-line", "use --per-line", {"sentence-level", "sl"}},
      {"--lowercase", "use --lowercase", {"lc", "lower", "ignore-case"}},
      {"--tokenise", "use --tokenise NAME", {"tokenize", "tok"}},
      {"--paired",
       "use --paired, which runs both tests",
       {"paired-bs", "paired-ar", "significance"}},
      {"--beam", "use --beam N", {"num-beams", "beam-size", "beam-width", "k"}},
      {"--beam", "use --beam 1", {"greedy"}},
      {"--nbest", "use --nbest N", {"num-return-sequences", "n-best"}},
      {"--max-length",
       "use --max-length N",
       {"max-new-tokens", "max-len", "max-len-b", "max-tokens",
        "max-decode-length"}},
      {"--min-length", "use --min-length N", {"min-new-tokens", "min-len"}},
      {"--length-norm",
       "use --length-norm X",
       {"length-penalty", "lenpen", "alpha"}},
      {"--set",
       "use --set decode.normalise=per_symbol",
       {"normalize", "normalise"}},
      {"--sample", "use --sample", {"do-sample", "sampling"}},
      {"--top-k", "use --top-k N", {"topk"}},
      {"--top-p", "use --top-p X", {"topp", "nucleus", "p"}},
      {"--temperature", "use --temperature X", {"temp", "t"}},
      {"--quiet", "use --quiet", {"silent", "no-progress", "q"}},
      {"--vocab",
       "use --vocab NAME=FILE",
       {"vocabulary", "vocab-file", "dict", "tokenizer", "vocabs", "vocabs"}},
      {"--set",
       "set the size of a vocabulary with --set NAME.vocab=N",
       {"vocab-size", "num-tokens", "dim-vocabs"}},
      {"--tensorboard", "use --tensorboard DIR", {"tb", "tensorboard-dir"}},
      {"--sweep",
       "use --sweep KEY=VALUE,VALUE",
       {"grid", "search", "hparams", "multirun"}},
      {"--trace", "use --trace FILE.json", {"profile", "profiler"}},
      {"--target",
       "use --target cuda for a GPU, --target native for the CPU",
       {"device", "gpu", "gpus", "cuda", "accelerator", "devices", "backend",
        "use-cuda", "cpu-only", "no-cuda"}},
      {"--spec",
       "pass the spec as the first argument, without an option",
       {"model", "arch", "spec", "c", "m"}},
      {"--set",
       "set the learning rate in the spec, or with --set train.rate=0.001",
       {"lr", "learning-rate", "learn-rate", "eta", "l"}},
      {"--set",
       "set the schedule in the spec, or with --set train.rate=noam(512, 4000)",
       {"lr-scheduler", "lr-schedule", "scheduler", "lr-decay",
        "lr-scheduler-type"}},
      {"--set",
       "set the optimiser in the spec, or with --set train.optimiser=NAME",
       {"optimizer", "optim", "optimiser", "opt"}},
      {"--set", "use --set train.optimiser=adam", {"adam"}},
      {"--set", "use --set 'train.optimiser=sgd(0.1)'", {"sgd"}},
      {"--set",
       "set it in the spec, or with --set 'train.optimiser=momentum(0.9)'",
       {"momentum"}},
      {"--set",
       "set the weight decay in the spec, or with --set train.decay=X",
       {"weight-decay", "wd", "l2"}},
      {"--set",
       "set the clipping in the spec, or with --set train.clip=X",
       {"clip", "clip-norm", "grad-clip", "gradient-clip-val", "max-grad-norm",
        "clip-grad-norm"}},
      {"--set",
       "set the warm-up in the spec, or with --set train.warmup=N",
       {"warmup", "warmup-steps", "warmup-updates", "lr-warmup"}},
      {"--set",
       "set label smoothing in the spec, or with --set train.smooth=X",
       {"label-smoothing", "smoothing", "ls"}},
      {"--set",
       "set it in the spec, or with --set train.accumulate=N",
       {"accumulate-grad-batches", "gradient-accumulation-steps", "update-freq",
        "grad-accum", "optimizer-delay"}},
      {"--set",
       "write a dim in the spec, and change it with --set H=N",
       {"hidden-size", "dim", "emb-size", "embedding-dim", "d-model", "hidden",
        "dim-emb", "dim-rnn", "num-layers", "layers", "enc-depth", "heads",
        "num-heads", "nhead"}},
      {"--set",
       "write dropout(x, p) in the spec, with const p = 0.1 to change it by "
       "--set p=0.2",
       {"dropout", "dropout-rate", "p-dropout", "dropout-rnn"}},
      {"--help", "batches are always drawn in a random order", {"shuffle"}},
      {"--help", "Fovea has no debugger; see --help", {"debug", "pdb"}},
      {"--help",
       "start several processes with mpirun",
       {"num-gpus", "nnodes", "nproc-per-node", "distributed", "ddp",
        "local-rank"}},
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
  for (const Word &word : words()) {
    // All commands with `--set` take a spec as an argument.
    StringRef needed = word.option == "--spec" ? "--set" : word.option;
    if (hasOption(needed) && llvm::is_contained(word.theirs, StringRef(name)))
      return word.help.str();
  }
  return "";
}

std::string fovea::cli::commandFor(StringRef word) {
  static const std::pair<StringRef, std::initializer_list<StringRef>> all[] = {
      {"decode",
       {"translate", "generate", "predict", "infer", "inference", "sample",
        "beam"}},
      {"score", {"perplexity", "logprob", "likelihood", "rescore"}},
      {"eval", {"test", "evaluate", "metric", "bleu", "sacrebleu"}},
      {"train", {"fit", "learn", "finetune", "fine-tune", "resume"}},
      {"compile", {"build", "convert", "ship", "trace"}},
      {"params", {"summary", "parameters", "weights"}},
      {"check", {"lint", "validate", "verify", "parse", "info"}},
      {"fmt", {"format", "tidy"}},
      {"bench", {"profile", "benchmark", "time"}},
      {"plot", {"visualize", "visualise", "draw", "show"}},
      {"serve", {"server", "dashboard", "watch", "tensorboard", "web"}},
      {"lsp", {"language-server"}},
      {"doctor", {"env", "version", "devices"}},
      {"data", {"split", "prepare", "preprocess", "shuffle", "clean"}},
      {"run", {"execute", "call", "forward"}},
  };
  for (const auto &[command, theirs] : all)
    if (llvm::is_contained(theirs, word))
      return command.str();
  return "";
}

std::vector<std::string>
fovea::cli::idleOptions(StringRef command,
                        llvm::function_ref<bool(StringRef)> isGiven) {
  std::vector<std::string> result;
  auto needs = [&](StringRef option, StringRef other) {
    if (isGiven(option) && !isGiven(other))
      result.push_back(("'" + llvm::Twine(option) +
                        "' has no effect without '" + other + "'")
                           .str());
  };
  auto excludes = [&](StringRef option, StringRef other) {
    if (isGiven(option) && isGiven(other))
      result.push_back(
          ("'" + llvm::Twine(option) + "' has no effect with '" + other + "'")
              .str());
  };
  if (command == "run" || command == "score" || command == "decode")
    for (StringRef option : {"--threads", "--cpu", "--checked"})
      for (StringRef other : {"--reference", "--stop-after"})
        if (option != "--cpu" || !isGiven("--launches"))
          excludes(option, other);
  excludes("--threads", "--checked");
  if (command == "train")
    needs("--valid-every", "--valid");
  if (command == "data") {
    needs("--key", "--split");
    if (!isGiven("--shuffle"))
      needs("--seed", "--split");
  }
  return result;
}
