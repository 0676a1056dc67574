//===- Options.cpp - the commands and their options -----------------------===//
//
// What an option means is decided by the command that reads it.
//
//===----------------------------------------------------------------------===//

#include "tools/fovea/Options.h"
#include "driver/show/Pictures.h"
#include "metrics/Metric.h"
#include "tools/fovea/SharedOptions.h"

#include <fmt/ranges.h>

using namespace fovea::cli;
using fovea::runtime::atLeast;
using fovea::runtime::below2To63;
using fovea::runtime::positive;
using fovea::runtime::upTo2To31;

/// NAME=FILE of what is drawn or stored.
static CLI::Validator shown() {
  return {[](const std::string &text) -> std::string {
            std::string name, file;
            if (!splitPair(text, name, file))
              return "takes NAME=FILE, not '" + text + "'";
            return isPicture(file) ||
                           llvm::StringRef(file).ends_with(".safetensors")
                       ? ""
                       : "'" + file +
                             "' has to end in .html, .svg, .png or "
                             ".safetensors";
          },
          ""};
}

/// What --metric and eval take: bleu, chrf, ..
static std::string metricNames() {
  return fmt::format("{}", fmt::join(fovea::metrics::Metric::names(), ", "));
}

namespace {

/// Every command, with its options.
class Commands : SharedOptions {
public:
  using SharedOptions::SharedOptions;

  void add() {
    addCheck();
    addParams();
    addInit();
    addRun();
    addTrain();
    addDecode();
    addScore();
    addEval();
    addPlot();
    addServe();
    addCompile();
    addBench();
    addFmt();
    addLsp();
    addJson(addCommand("doctor", "say what this machine can do, and what it "
                                 "lacks"),
            "the same for a program to read");
    addCompletion();
    addHelp();
  }

private:
  void addCheck() {
    CLI::App *command = addSpecCommand(
        "check", "parse and check a spec, and say what is in it");
    command->add_flag("--syntax-only", arguments.syntaxOnly,
                      "only parse: names, shapes and ranges are not checked");
    addJson(command, "what is in it for a program to read: parameters, data, "
                     "equations");
  }

  void addParams() {
    addJson(
        addSpecCommand("params", "list the parameters: name, type, extents"),
        "a list of objects for a program to read");
  }

  void addInit() {
    CLI::App *command =
        addSpecCommand("init", "write weights to begin training with");
    addOutput(command, "where the weights go");
    command->get_option("-o")->required();
    addSeed(command, "of the random numbers (0)");
    addDtype(command);
    CLI::Option *from =
        command
            ->add_option("--from", arguments.from,
                         "takes the values of another program's weights, a "
                         "safetensors file")
            ->type_name("FILE");
    command
        ->add_option("--map", arguments.map,
                     "which of its tensors each parameter is made of; without "
                     "it, that of the same name")
        ->type_name("FILE")
        ->needs(from);
  }

  void addRun() {
    CLI::App *command = addSpecCommand(
        "run", "evaluate one batch: loss, log p, gradients, equations");
    addWeights(command);
    addData(command, /*asText=*/false);
    command
        ->add_option("--get", arguments.gets,
                     "loss, logp, grads, or names of equations")
        ->type_name("NAME")
        ->required();
    addOutput(command, "where the results go, a safetensors file");
    command->get_option("-o")->required();
    addSeed(command, "turns dropout and weight noise on");
    addExecution(command);
  }

  void addTrain() {
    CLI::App *command = addSpecCommand(
        "train", "train: writes the best weights, the state of the training "
                 "and its log into a folder");
    addData(command, /*asText=*/true)->required(false);
    command
        ->add_option("--valid", arguments.valid,
                     "the examples to validate on, as --data")
        ->type_name("NAME=FILE");
    command
        ->add_option("--out", arguments.folder,
                     "the folder: model.safetensors, log.jsonl, last/")
        ->type_name("DIR");
    command->add_flag("--resume", arguments.resume,
                      "continue the training that the folder has, as if it had "
                      "never ended");
    command
        ->add_flag("--change", arguments.change,
                   "continue it with another rate, clip, validation ..: what "
                   "differs is said, and is no error")
        ->needs("--resume");
    addWeights(command);
    command->get_option("--weights")
        ->description("weights to begin with, instead of drawn ones");
    auto addCount = [&](const char *name, auto &value, const char *what) {
      command->add_option(name, value, what)
          ->check(atLeast(1))
          ->check(below2To63())
          ->type_name("N");
    };
    addCount("--steps", arguments.steps, "ends after N updates in all");
    addCount("--epochs", arguments.epochs,
             "ends after N epochs in all (10 where nothing ends training)");
    command
        ->add_option("--minutes", arguments.minutes,
                     "ends after this time, of this run alone")
        ->check(positive())
        ->type_name("X");
    addCount("--batch", arguments.batch,
             "examples of a batch; --set train.batch=tokens(N) counts tokens");
    addMemoryLimit(command);
    command
        ->add_option("--max-data-mb", arguments.maxDataMb,
                     "examples that exceed it lie in a file in $TMPDIR or "
                     "/var/tmp (2^20 bytes, and as much for the validation; "
                     "256); the results do not depend on it")
        ->check(CLI::Range(int64_t(0), int64_t(1) << 31))
        ->type_name("N");
    addCount("--report-every", arguments.reportEvery,
             "updates between two lines of the log (100)");
    addCount("--valid-every", arguments.validEvery,
             "updates between two validations (an epoch)");
    command
        ->add_option(
            "--metric", arguments.metrics,
            "measured in each validation, by greedy decoding: " +
                metricNames() +
                "; bleu(tgt) where several names are generated; none (those "
                "that the spec names in 'metric')")
        ->type_name("METRIC");
    command->add_option("--best-by", arguments.bestBy,
                        "which weights are the best: by loss (without it), "
                        "perplexity or a metric");
    addCount("--patience", arguments.patience,
             "ends after N validations without a new best");
    addCount("--save-every", arguments.saveEvery,
             "updates between two savings (a minute, and an epoch)");
    command->add_flag("--shard-optimiser", arguments.shardsOptimiser,
                      "each process of mpirun has a part of the optimiser's "
                      "state; the results do not depend on it");
    addMaxSilence(command);
    command
        ->add_option("--serve", arguments.port,
                     "follow it in a browser of this machine, at "
                     "http://127.0.0.1:PORT/; 0: at any port that is free")
        ->check(CLI::Range(0, 65535))
        ->type_name("PORT");
    command
        ->add_option("--tensorboard", arguments.eventFolder,
                     "writes the log as events of TensorBoard, too")
        ->type_name("DIR");
    addSeed(command, "of weights, order, dropout and noise (0)");
    addThreads(command, "the results do not depend on it");
    addDtype(command, "f32 or f64: what it computes in");
    addCpu(command);
    addDevice(command);
    addPrecision(command);
    addQuiet(command);
  }

  void addDecode() {
    CLI::App *command =
        addSpecCommand("decode", "generate: one line per example");
    addMembers(command);
    // A model that is given nothing generates one example.
    addData(command, /*asText=*/true)->required(false);
    addSearchFlags(*command, arguments.search);
    command
        ->add_option("--prefix", arguments.prefixes,
                     "what each line of the output begins with, one line per "
                     "example; NAME=FILE where several names are generated")
        ->type_name("FILE");
    command
        ->add_option_function<std::string>(
            "--replace-unknown",
            [&arguments = arguments](const std::string &text) {
              arguments.sets.push_back({"decode.unknown", text});
            },
            "replaces each <unk> by the given word with the largest weight in "
            "this equation, as the entry 'unknown' of the block decode; none")
        ->type_name("NAME");
    command
        ->add_option("--dictionary", arguments.dictionary,
                     "what given words become where they replace <unk>: lines "
                     "of two columns")
        ->type_name("FILE");
    command
        ->add_option("--show", arguments.shows,
                     "draws an equation of the best hypothesis of each example "
                     "(.html, .svg, .png), or stores it (.safetensors)")
        ->check(shown())
        ->type_name("NAME=FILE");
    addJson(command, "an object per example for a program to read, with all "
                     "hypotheses");
    addMaxSilence(command);
    addExecution(command);
  }

  void addScore() {
    CLI::App *command = addSpecCommand(
        "score", "print log p of given outputs, one line per example");
    addMembers(command);
    addData(command, /*asText=*/true)->required(false);
    addJson(command, "an object per line for a program to read");
    addMaxSilence(command);
    addExecution(command);
  }

  void addEval() {
    CLI::App *command =
        addCommand("eval", "say what hypotheses are worth beside references");
    command
        ->add_option("METRIC", arguments.metric,
                     metricNames() + " (docs/METRICS.md)")
        ->required();
    command
        ->add_option("--hyp", arguments.hypotheses,
                     "one hypothesis per line; FILE:2 takes a column, .gz is "
                     "unpacked")
        ->type_name("FILE")
        ->required();
    command
        ->add_option("--ref", arguments.references,
                     "one reference per line; several files give each line "
                     "several")
        ->type_name("FILE")
        ->required();
    command
        ->add_option("--tokenise", arguments.tokenise,
                     "13a (of bleu), meteor (of meteor), none: at spaces (of "
                     "the others), or char")
        ->check(CLI::IsMember({"13a", "meteor", "none", "char"}));
    command
        ->add_option("--smooth", arguments.smooth,
                     "of bleu: exp (without it), floor, add-k or none")
        ->check(CLI::IsMember({"exp", "floor", "add-k", "none"}));
    command
        ->add_option("--smooth-value", arguments.smoothValue,
                     "of floor (0.1) and add-k (1)")
        ->check(positive());
    command
        ->add_option("--wordnet", arguments.wordnet,
                     "of meteor: the folder of WordNet, whose synonyms are "
                     "pairs (/usr/share/wordnet)")
        ->type_name("DIR");
    command
        ->add_option("--paraphrases", arguments.paraphrases,
                     "of meteor: phrases that are pairs, two per line with a "
                     "tab between them, or a table of METEOR")
        ->type_name("FILE");
    command->add_option("--digits", arguments.digits, "after the point (1)")
        ->check(CLI::Range(0, 15));
    addJson(command, "an object for a program to read: metric, value, lines");
  }

  void addPlot() {
    CLI::App *command = addCommand(
        "plot", "draw the curves of trainings, or arrays that are stored");
    command
        ->add_option("FILE", arguments.plots,
                     "folders of trainings or their log.jsonl; or "
                     "safetensors, of 'fovea decode --show' or 'fovea run'")
        ->required();
    addOutput(command, "the picture: .html, .svg or .png");
    command->get_option("-o")->required();
    command
        ->add_option("--name", arguments.names,
                     "draws this array, or this entry of the log (all arrays; "
                     "loss, perplexity and metrics)")
        ->type_name("NAME");
    command
        ->add_option("--over", arguments.plotOver,
                     "what curves are drawn over: step, epoch or seconds "
                     "(step)")
        ->check(CLI::IsMember({"step", "epoch", "seconds"}));
    command->add_option("--title", arguments.title, "stands above the picture");
    command
        ->add_option("--max-mb", arguments.maxPictureMb,
                     "the largest picture that is written (25, of 10^6 bytes)")
        ->check(atLeast(1))
        ->type_name("N");
  }

  void addServe() {
    CLI::App *command = addCommand(
        "serve", "show a training, also a finished one, in a browser of this "
                 "machine");
    command->add_option("DIR", arguments.folder, "the folder of the training")
        ->required();
    command
        ->add_option("--port", arguments.port,
                     "of 127.0.0.1 (0: any that is free)")
        ->check(CLI::Range(0, 65535))
        ->type_name("PORT");
  }

  void addCompile() {
    CLI::App *command = addSpecCommand(
        "compile", "a model as a library or a program, or at any point of its "
                   "way through the compiler");
    addMembers(command);
    addVocabularies(command);
    command
        ->add_option(
            "--emit", arguments.emit,
            "spec: the text of the model, as weights or an ONNX "
            "file have it; ast: the parsed file; attn: what the front end "
            "gives; mlir (default): after the phases; plan: the "
            "arrays of one entry; kernels, llvm, asm (of a GPU ptx, "
            "cubin): its code; "
            "so: a shared library with a C header beside it; obj: "
            "the same as one object; exe: a program that reads "
            "lines and prints lines; web: a folder with a page that runs the "
            "model in a browser")
        ->type_name("WHAT:{spec,ast,attn,mlir,plan,kernels,llvm,asm,ptx,cubin,"
                    "so,obj,exe,web}");
    addCpu(command);
    addTarget(command);
    addDtype(command);
    addPrecision(command);
    command
        ->add_option("--entry", arguments.entries,
                     "what is wanted: loss, grad, train_step, get, encode, "
                     "step, decode (all)")
        ->delimiter(',');
    command
        ->add_option(
            "--get", arguments.gets,
            "equations that the loss program gives as well, and a "
            "library; without an objective, those that no other "
            "equation reads; adjoint/x: the gradient by the data x, of "
            "a library")
        ->type_name("NAME");
    command
        ->add_option("--show", arguments.shows,
                     "equations that the decoder gives as well, also of a "
                     "program or a library")
        ->type_name("NAME");
    addStopAfter(command, "the last phase: " + phaseNames());
    command->add_flag("--explain", arguments.explain,
                      "print what was decided, in words, instead of the IR");
    addOutput(command, "where the text goes (standard output)");
  }

  void addBench() {
    CLI::App *command =
        addSpecCommand("bench", "time compiled code on random data");
    command
        ->add_option("--entry", arguments.benchEntries,
                     "what is timed: grad (loss and gradients), loss, "
                     "train_step (with the update of the weights), encode, "
                     "step, decode; several with commas between")
        ->delimiter(',')
        ->check(CLI::IsMember(
            {"loss", "grad", "train_step", "encode", "step", "decode"}));
    command->add_option("--batch", arguments.batch, "examples (1)")
        ->check(upTo2To31());
    command->add_option("--lengths", arguments.lengths,
                        "such as S=25,T=25 (25 for each)");
    addMemoryLimit(command);
    addThreads(command, "0: one per CPU", /*least=*/0);
    addDtype(command);
    addCpu(command);
    addBenchDevice(command);
    addPrecision(command);
    command->add_option("--seconds", arguments.seconds,
                        "how long it is repeated (2)");
    command
        ->add_option("--runs", arguments.runs,
                     "how often it is repeated at least (9)")
        ->check(atLeast(1));
    command->add_option("--json", arguments.json, "writes the figures")
        ->type_name("FILE");
    command->add_flag("--perf", arguments.perf, "lets 'perf' name kernels");
    command->add_flag("--explain", arguments.explain,
                      "where the time goes, equation by equation");
  }

  void addFmt() {
    CLI::App *command =
        addCommand("fmt", "print specs in the project's layout");
    command
        ->add_option("SPEC", arguments.specs,
                     "the .fov files; - is standard input")
        ->required();
    CLI::Option *inPlace = command->add_flag("-i,--in-place", arguments.inPlace,
                                             "rewrite the files");
    command
        ->add_flag("--check", arguments.onlyCheck,
                   "print nothing; the exit code is 1 when a file would change")
        ->excludes(inPlace);
  }

  void addLsp() {
    addCommand("lsp",
               "the language server that editors start (docs/EDITORS.md)")
        ->add_flag("--stdio")
        ->description("as some editors say it; it always speaks over standard "
                      "input and output");
  }

  void addCompletion() {
    addCommand("completion", "print what makes a shell complete this command "
                             "line")
        ->add_option("SHELL", arguments.shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  }

  void addHelp() {
    CLI::App *command =
        addCommand("help", "explain the commands, or one of them");
    command->add_option("COMMAND", arguments.helpFor, "a command");
    command->add_flag("--man", arguments.asManual,
                      "as a manual page: 'fovea help run --man | man -l -'");
  }
};

} // namespace

void fovea::cli::addCommands(CLI::App &app, Arguments &arguments) {
  Commands(app, arguments).add();
}
