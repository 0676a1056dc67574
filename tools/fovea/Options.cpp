//===- Options.cpp - the commands and their options -----------------------===//
//
// The command that reads an option defines its meaning.
//
//===----------------------------------------------------------------------===//

#include "tools/fovea/Options.h"
#include "app/show/Pictures.h"
#include "metrics/Metric.h"
#include "tools/fovea/HelpGroups.h"
#include "tools/fovea/SharedOptions.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/ranges.h>

using namespace fovea::cli;
using fovea::runtime::atLeast;
using fovea::runtime::below2To63;
using fovea::runtime::positive;
using fovea::runtime::upTo2To31;

/// NAME=FILE of a drawn or stored equation.
static CLI::Validator shown() {
  return {[](const std::string &text) -> std::string {
            std::string name, file;
            if (!splitPair(text, name, file))
              return "takes NAME=FILE, not '" + text + "'";
            return isPicture(file) ||
                           llvm::StringRef(file).ends_with(".safetensors")
                       ? ""
                       : "'" + file +
                             "' must end in .html, .svg, .png, .pdf or "
                             ".safetensors";
          },
          ""};
}

/// The values of --metric and eval: bleu, chrf, ..
static std::string metricNames() {
  return fmt::format("{}", fmt::join(fovea::metrics::Metric::names(), ", "));
}

/// The output form that the file name implies.
static std::string emitFor(const Arguments &arguments) {
  namespace fs = llvm::sys::fs;
  llvm::StringRef file = arguments.output;
  fs::file_status status;
  bool isDevice = !fs::status(file, status) && !fs::is_regular_file(status) &&
                  !fs::is_directory(status);
  if (file.empty() || file == "-" || isDevice || arguments.explain ||
      !arguments.stopAfter.empty())
    return "mlir";
  llvm::StringRef ending = llvm::sys::path::extension(file);
  std::string what = llvm::StringSwitch<std::string>(ending)
                         .Case("", "exe")
                         .Case(".so", "so")
                         .Case(".o", "obj")
                         .Case(".mlir", "mlir")
                         .Case(".ll", "llvm")
                         .Case(".s", "asm")
                         .Case(".ptx", "ptx")
                         .Case(".cubin", "cubin")
                         .Case(".fov", "spec")
                         .Case(".onnx", "onnx")
                         .Default("");
  if (what.empty())
    throw CLI::ValidationError(
        "-o", "the ending of '" + file.str() +
                  "' does not say what to write; help: add '--emit exe' for "
                  "a program, or '--emit mlir' for its IR");
  return what;
}

namespace {

/// Every command, with its options.
class Commands : SharedOptions {
public:
  using SharedOptions::SharedOptions;

  void add() {
    addNew();
    addCheck();
    addExplain();
    addPrepare();
    addTrain();
    addDecode();
    addChat();
    addScore();
    addEval();
    addCompile();
    addInfo();
    addPlot();
    addServe();
    addParams();
    addRun();
    addBench();
    addDoctor();
    addInit();
    addExport();
    addFmt();
    addLsp();
    addCompletion();
    addHelp();
    groupHelp(app);
  }

private:
  void addDoctor() {
    CLI::App *command = addCommand(
        "doctor", "report this machine's capabilities and missing tools");
    addJson(command, "print the report as JSON");
    addExamples(command, {"fovea doctor", "fovea doctor --json"});
  }

  void addCheck() {
    CLI::App *command = addSpecCommand(
        "check", "check a spec and list its parameters and data");
    command->add_flag("--syntax-only", arguments.syntaxOnly,
                      "only parse; do not check names, shapes and ranges");
    addJson(command,
            "print parameters, data, equations and diagnostics as JSON");
    addExamples(
        command,
        {"fovea check models/rnnsearch.fov",
         "fovea check models/rnnsearch.fov --set H=64 --set src.vocab=8000"});
  }

  void addParams() {
    CLI::App *command = addSpecCommand(
        "params", "list the parameters with their types and shapes");
    addJson(command, "print the list as JSON");
    addExamples(command,
                {"fovea params models/rnnsearch.fov --set src.vocab=8000 "
                 "--set tgt.vocab=8000",
                 "fovea params run --json"});
  }

  void addInit() {
    CLI::App *command = addSpecCommand("init", "write initial weights");
    addOutput(command, "the weights file to write");
    command->get_option("-o")->required();
    addSeed(command, "random seed (default: 0)");
    addDtype(command);
    CLI::Option *from =
        command
            ->add_option(
                "--from", arguments.from,
                "import weights of another program, a safetensors file")
            ->type_name("FILE");
    command
        ->add_option("--map", arguments.map,
                     "maps tensors of --from to parameters (default: tensors "
                     "with the parameters' names)")
        ->type_name("FILE")
        ->needs(from);
    addExamples(command,
                {"fovea init model.fov -o weights.safetensors --seed 1",
                 "fovea init model.fov --from gpt2.safetensors --map gpt2.map "
                 "-o weights.safetensors"});
  }

  void addLaunches(CLI::App *command) {
    command->add_flag(
        "--launches", arguments.launches,
        "check each launch of compiled code against an interpreter; with "
        "--reference: interpret the launches instead of running them");
  }

  void addLeaveOut(CLI::App *command) {
    command
        ->add_option("--leave-out", arguments.leaveOut,
                     "passes that do not run; the results keep their bits")
        ->type_name("PASS")
        ->group("");
  }

  void addExport() {
    CLI::App *command = addSpecCommand(
        "export", "write weights under the names of another program");
    addWeights(command);
    command
        ->add_option("--map", arguments.map,
                     "maps parameters to tensors, as for init (default: "
                     "tensors with the parameters' names)")
        ->type_name("FILE");
    addOutput(command, "the safetensors file to write");
    command->get_option("-o")->required();
    addExamples(command, {"fovea export run -o weights.safetensors",
                          "fovea export run --map models/gpt2.map -o "
                          "model.safetensors"});
  }

  void addRun() {
    CLI::App *command = addSpecCommand(
        "run",
        "evaluate one batch: loss, log-probabilities, gradients, equations");
    addWeights(command);
    addData(command, /*asText=*/false);
    addVocabularies(command);
    command
        ->add_option(
            "--get", arguments.gets,
            "the values to compute: loss, logp, grads or names of equations")
        ->type_name("NAME")
        ->required();
    addLeaveOut(command);
    addLaunches(command);
    addOutput(command, "the safetensors file for the results");
    command->get_option("-o")->required();
    addSeed(command, "enable dropout and weight noise with this random seed");
    addExecution(command);
    addExamples(command,
                {"fovea run model.fov --weights w.safetensors --data "
                 "batch.safetensors --get loss -o out.safetensors",
                 "fovea run model.fov --weights w.safetensors --data "
                 "batch.safetensors --get grads -o grads.safetensors"});
  }

  void addTrain() {
    CLI::App *command = addSpecCommand(
        "train",
        "train a model and write its weights, checkpoints and log to a folder");
    addData(command, /*asText=*/true)->required(false);
    command
        ->add_option("--valid", arguments.valid,
                     "the validation data, in the format of --data")
        ->check(dataPairs())
        ->type_name("NAME=FILE");
    command
        ->add_option("--out", arguments.folder,
                     "the output folder: model.safetensors, log.jsonl, last/")
        ->type_name("DIR");
    command->add_flag("--resume", arguments.resume,
                      "continue the run in the output folder, bit for bit as "
                      "if it had never stopped");
    command
        ->add_flag("--change", arguments.change,
                   "allow --resume with other settings, such as the learning "
                   "rate; a note lists the differences")
        ->needs("--resume");
    command->add_flag("--dry-run", arguments.dryRun,
                      "report memory and time per update, and change nothing");
    addWeights(command);
    command->get_option("--weights")
        ->description("start from these weights instead of random ones");
    auto addCount = [&](const char *name, auto &value, const char *what) {
      command->add_option(name, value, what)
          ->check(atLeast(1))
          ->check(below2To63())
          ->type_name("N");
    };
    addCount("--steps", arguments.steps, "stop after N updates in total");
    addCount(
        "--epochs", arguments.epochs,
        "stop after N epochs in total (default: 10 if no other limit is set)");
    command
        ->add_option("--minutes", arguments.minutes,
                     "stop after X minutes of this run")
        ->check(positive())
        ->type_name("X");
    addCount("--batch", arguments.batch,
             "examples per batch; --set train.batch=tokens(N) counts tokens "
             "instead");
    addMemoryLimit(command);
    command
        ->add_option("--max-data-mb", arguments.maxDataMb,
                     "memory for examples, in MiB, and as much again for "
                     "validation (default: 256); the rest is spilled to a file "
                     "in $TMPDIR or /var/tmp; does not change results")
        ->check(CLI::Range(int64_t(0), int64_t(1) << 31).description(""))
        ->type_name("N");
    addCount("--report-every", arguments.reportEvery,
             "updates between log lines (default: 100)");
    addCount("--valid-every", arguments.validEvery,
             "updates between validations (default: one epoch)");
    command
        ->add_option(
            "--metric", arguments.metrics,
            "metric of each validation, by greedy decoding: " + metricNames() +
                "; bleu(tgt) if the model generates several names; none "
                "(default: the metrics of the spec)")
        ->type_name("METRIC");
    command
        ->add_option("--best-by", arguments.bestBy,
                     "criterion for the best weights: loss (default), "
                     "perplexity or a metric")
        ->type_name("METRIC");
    command
        ->add_option("--valid-ref", arguments.validReferences,
                     "more references for --metric, one per line; an empty "
                     "line is none; NAME=FILE if the model generates several "
                     "names")
        ->type_name("FILE");
    addCount("--patience", arguments.patience,
             "stop after N validations without improvement");
    addCount(
        "--save-every", arguments.saveEvery,
        "updates between checkpoints (default: every minute and every epoch)");
    command->add_flag("--shard-optimiser", arguments.shardsOptimiser,
                      "split the optimiser's state among the processes of "
                      "mpirun; does not change results");
    addMaxSilence(command);
    CLI::Option *sweep =
        command
            ->add_option("--sweep", arguments.sweeps,
                         "train every combination of values, each in its own "
                         "folder below --out, and compare the results: "
                         "rate=0.001,0.002, seed=1..3 or any K of --set")
            ->type_name("K=V,V..")
            ->allow_extra_args(false)
            ->excludes("--dry-run");
    command
        ->add_option(
            "--serve", arguments.port,
            "show live progress at http://127.0.0.1:PORT/; 0 picks a free port")
        ->check(CLI::Range(0, 65535).description(""))
        ->type_name("PORT")
        ->excludes(sweep);
    command
        ->add_option("--tensorboard", arguments.eventFolder,
                     "also write the log as TensorBoard events")
        ->type_name("DIR");
    addTrace(command)->excludes(sweep)->excludes("--dry-run");
    addSeed(
        command,
        "random seed of weights, data order, dropout and noise (default: 0)");
    addThreads(command, "number of threads; does not change results");
    addDtype(command, "precision of computation: f32 (default) or f64");
    addCpu(command);
    addDevice(command);
    addPrecision(command);
    addChecked(command);
    addQuiet(command);
    addExamples(command,
                {"fovea train model.fov --data src=train.tsv:1,tgt=train.tsv:2 "
                 "--valid src=valid.tsv:1,tgt=valid.tsv:2 --out run",
                 "fovea train run --resume --out run --epochs 20"});
  }

  void addPrepare() {
    CLI::App *command = addCommand(
        "data", "prepare text for training: join, filter, split and shuffle");
    command
        ->add_option("FILE", arguments.texts,
                     "text with one example per line; FILE:2 takes a column, "
                     "FILE.jsonl:NAME a value; several files become columns")
        ->required();
    command
        ->add_option("--out", arguments.folder,
                     "the folder to write, with PART.tsv for each part, or "
                     "data.tsv")
        ->type_name("DIR")
        ->required();
    command
        ->add_option("--split", arguments.split,
                     "parts and their shares, such as train=98,valid=1,test=1; "
                     "lines with the same key are in the same part")
        ->type_name("PART=SHARE,..");
    auto addCount = [&](const char *name, auto &value, const char *what) {
      command->add_option(name, value, what)
          ->check(atLeast(1))
          ->check(below2To63())
          ->type_name("N");
    };
    addCount("--key", arguments.key,
             "the column that is the key of --split (default: the whole line)");
    command->add_flag("--shuffle", arguments.shuffles,
                      "write the lines of each part in random order");
    addSeed(command, "random seed of --split and --shuffle (default: 0)");
    command->add_flag("--drop-empty", arguments.dropsEmpty,
                      "drop lines with an empty column");
    command->add_flag("--drop-repeated", arguments.dropsRepeated,
                      "drop lines that occurred before");
    addCount("--min-words", arguments.minWords,
             "drop lines with fewer words in a column");
    addCount("--max-words", arguments.maxWords,
             "drop lines with more words in a column");
    addCount("--max-chars", arguments.maxChars,
             "drop lines with more characters in a column");
    command
        ->add_option("--max-ratio", arguments.maxRatio,
                     "drop lines whose longest column has more than X times "
                     "the words of the shortest")
        ->check(positive())
        ->type_name("X");
    addCount("--pieces", arguments.pieces,
             "also learn a SentencePiece model of N byte pairs and characters "
             "from the first part: pieces.model, for a vocabulary "
             "sentencepiece(\"pieces.model\")");
    addExamples(command,
                {"fovea data news.en news.de --out corpus --drop-empty "
                 "--max-words 100 --split train=98,valid=1,test=1",
                 "fovea data pairs.tsv --out corpus --split train=9,test=1 "
                 "--key 1 --shuffle --seed 7"});
  }

  void addDecode() {
    CLI::App *command =
        addSpecCommand("decode", "generate outputs, one line per example");
    addMembers(command);
    // A model without inputs generates one example.
    addData(command, /*asText=*/true)->required(false);
    addSearchFlags(*command, arguments.search);
    command
        ->add_option("--prefix", arguments.prefixes,
                     "fixed beginning of each output, one line per example; "
                     "NAME=FILE if the model generates several names")
        ->type_name("FILE");
    command
        ->add_option_function<std::string>(
            "--replace-unknown",
            [&arguments = arguments](const std::string &text) {
              arguments.sets.push_back({"decode.unknown", text});
            },
            "replace each <unk> with the source word of the largest weight in "
            "this equation, as 'unknown' in the spec's decode block does; none")
        ->type_name("NAME");
    command
        ->add_option("--dictionary", arguments.dictionary,
                     "translations for the source words that replace <unk>, in "
                     "two columns")
        ->type_name("FILE");
    command
        ->add_option("--show", arguments.shows,
                     "draw an equation for each best hypothesis (.html, .svg, "
                     ".png, .pdf) or store it (.safetensors)")
        ->check(shown())
        ->type_name("NAME=FILE");
    for (CLI::Option *option : addLook(command, "(default: the model's name)"))
      option->needs("--show");
    addJson(command, "print one JSON object per example, with all hypotheses");
    addLeaveOut(command);
    addLaunches(command);
    addMaxSilence(command);
    addExecution(command);
    addExamples(command, {"fovea decode run --data src=test.txt",
                          "fovea decode run --data src=test.txt --beam 8 "
                          "--show align=align.html"});
  }

  void addChat() {
    CLI::App *command = addSpecCommand(
        "chat", "answer messages with a published language model");
    addWeights(command);
    addVocabularies(command);
    command
        ->add_option("--template", arguments.chatTemplate,
                     "the chat template (default: chat_template.jinja or "
                     "tokenizer_config.json beside the weights)")
        ->type_name("FILE");
    command
        ->add_option("--system", arguments.system,
                     "a message to the model before the conversation")
        ->type_name("TEXT");
    command->add_flag("--print-prompt", arguments.printsPrompt,
                      "print what the model would read; lines are messages of "
                      "the user and the model in turn");
    auto &search = arguments.search;
    command
        ->add_option("--max-length", search.maxLength,
                     "symbols of an answer, at most (default: 512)")
        ->check(atLeast(1))
        ->check(fovea::runtime::upToSteps())
        ->type_name("N");
    addSamplingFlags(*command, search);
    addThreads(command, "number of threads; does not change results");
    addDtype(command);
    addCpu(command);
    addDevice(command);
    addPrecision(command);
    addQuiet(command);
    addExamples(command, {"fovea chat DIR", "fovea chat llama.safetensors "
                                            "--vocab word=tokenizer.json "
                                            "--template chat.jinja"});
  }

  void addScore() {
    CLI::App *command = addSpecCommand(
        "score",
        "print the log-probability of given outputs, one line per example");
    addMembers(command);
    addData(command, /*asText=*/true)->required(false);
    addJson(command, "print one JSON object per line");
    addMaxSilence(command);
    addExecution(command);
    addExamples(
        command,
        {"fovea score run --data src=test.tsv:1,tgt=test.tsv:2",
         "fovea score run --data src=test.tsv:1,tgt=test.tsv:2 --json"});
  }

  void addEval() {
    CLI::App *command =
        addCommand("eval", "score hypotheses against references");
    command
        ->add_option("METRIC", arguments.metric,
                     metricNames() + " (docs/METRICS.md)")
        ->required();
    command
        ->add_option("--hyp", arguments.hypotheses,
                     "one hypothesis per line; FILE:2 reads column 2, .gz is "
                     "decompressed; several files are several systems")
        ->type_name("FILE")
        ->required();
    command
        ->add_option("--ref", arguments.references,
                     "references, one per line; with several files, an empty "
                     "line is no reference")
        ->type_name("FILE")
        ->required();
    command->add_flag("--empty-references", arguments.keepsEmpty,
                      "treat an empty line as an empty reference");
    command->add_flag("--per-line", arguments.perLine,
                      "print the value of each line instead of the corpus");
    command
        ->add_flag("--paired", arguments.isPaired,
                   "test whether other --hyp differ from the first one by "
                   "chance: paired bootstrap and approximate randomisation")
        ->excludes("--per-line");
    command->add_flag("--lowercase", arguments.isLower,
                      "compare lines in lower case");
    command
        ->add_option(
            "--tokenise", arguments.tokenise,
            "tokeniser: 13a (default for bleu), intl, meteor (default for "
            "meteor), none (split at spaces; default for others) or char")
        ->check(CLI::IsMember({"13a", "intl", "meteor", "none", "char"}));
    command
        ->add_option("--smooth", arguments.smooth,
                     "smoothing of bleu: exp (default), floor, add-k or none")
        ->check(CLI::IsMember({"exp", "floor", "add-k", "none"}));
    command
        ->add_option("--smooth-value", arguments.smoothValue,
                     "smoothing value (default: 0.1 for floor, 1 for add-k)")
        ->check(positive())
        ->type_name("X");
    command
        ->add_option("--wordnet", arguments.wordnet,
                     "WordNet folder with meteor's synonyms, or none "
                     "(default: $WNSEARCHDIR or /usr/share/wordnet if present)")
        ->type_name("DIR");
    command
        ->add_option("--paraphrases", arguments.paraphrases,
                     "meteor's paraphrases: two tab-separated phrases per "
                     "line, or a METEOR table")
        ->type_name("FILE");
    command
        ->add_option("--digits", arguments.digits,
                     "digits after the decimal point (default: 1)")
        ->check(CLI::Range(0, 15).description(""))
        ->type_name("N");
    addJson(command, "print metric, value and number of lines as JSON");
    addExamples(command,
                {"fovea eval bleu --hyp output.txt --ref test.tsv:2",
                 "fovea eval wer --hyp output.txt --ref reference.txt --json"});
  }

  void addPlot() {
    CLI::App *command =
        addCommand("plot", "plot training curves or stored arrays");
    command
        ->add_option("FILE", arguments.plots,
                     "training folders, log.jsonl files, or safetensors files "
                     "from 'fovea decode --show' or 'fovea run'")
        ->required();
    addOutput(command, "the picture to write: .html, .svg, .png or .pdf");
    command->get_option("-o")->required();
    command
        ->add_option("--name", arguments.names,
                     "array or log entry to plot (default: all arrays; loss, "
                     "perplexity and metrics)")
        ->type_name("NAME");
    command
        ->add_option("--over", arguments.plotOver,
                     "x axis of the curves: step (default), epoch or seconds")
        ->check(CLI::IsMember({"step", "epoch", "seconds"}));
    addLook(command, "");
    command
        ->add_option("--max-mb", arguments.maxPictureMb,
                     "refuse to write a picture larger than N MB (default: 25)")
        ->check(atLeast(1))
        ->type_name("N");
    addExamples(command,
                {"fovea plot run1 run2 -o curves.html",
                 "fovea plot run -o exact.png --name exact --over epoch"});
  }

  void addServe() {
    CLI::App *command = addCommand(
        "serve", "show a running or finished training run in a browser");
    command->add_option("DIR", arguments.folder, "the training folder")
        ->required();
    command
        ->add_option("--port", arguments.port,
                     "port on 127.0.0.1 (default: 0, any free port)")
        ->check(CLI::Range(0, 65535).description(""))
        ->type_name("PORT");
    // Of `fovea train --serve`: no group, no help.
    command->add_option("--trainer", arguments.trainer)->group("");
    addExamples(command, {"fovea serve run", "fovea serve run --port 8080"});
  }

  void addCompile() {
    CLI::App *command = addSpecCommand(
        "compile", "compile a model to an executable, a library, a web page or "
                   "any intermediate form");
    addMembers(command);
    addVocabularies(command);
    command
        ->add_option(
            "--emit", arguments.emit,
            "exe: an executable that reads and prints lines; so, obj: a "
            "library with a C header; web: a page that runs the model in a "
            "browser; onnx: an ONNX model (opset 18) of the loss, log p and "
            "equations; spec: the spec stored in weights or derived from ONNX; "
            "ast: syntax tree; attn: IR of the front end; mlir: IR after the "
            "phases; plan: arrays in memory; launches: what runs, in order; "
            "fingerprint: hashes of its "
            "kernels, host function and memory; kernels, llvm, asm, ptx, "
            "cubin: code (default: by the ending of -o, exe if it has none; "
            "mlir "
            "without -o)")
        ->type_name("WHAT:{spec,ast,attn,mlir,plan,launches,fingerprint,"
                    "kernels,llvm,asm,ptx,cubin,"
                    "so,obj,exe,web,onnx}");
    addCpu(command);
    addTarget(command);
    addDtype(command);
    addPrecision(command);
    addChecked(command);
    command
        ->add_option("--entry", arguments.entries,
                     "programs to compile: loss, grad, train_step, get, "
                     "encode, step, decode (default: all)")
        ->delimiter(',');
    command
        ->add_option("--get", arguments.gets,
                     "extra equations that the loss program or library returns "
                     "(default without an objective: equations that no other "
                     "reads); adjoint/x: gradient with respect to data x")
        ->type_name("NAME");
    command
        ->add_option("--show", arguments.shows,
                     "extra equations that the decoder returns")
        ->type_name("NAME");
    addStopAfter(command, "stop after this phase: " + phaseNames());
    command->add_flag("--explain", arguments.explain,
                      "print the compiler's decisions instead of the IR");
    command->add_flag("--prove", arguments.proves,
                      "prove on small inputs that the phases keep what is "
                      "computed, operation by operation, or refuse");
    addOutput(command, "the output file (default: standard output)");
    command->final_callback([command, &arguments = arguments] {
      if (command->count("--emit") == 0)
        arguments.emit = emitFor(arguments);
    });
    addExamples(command, {"fovea compile run --emit exe -o translate",
                          "fovea compile model.fov --explain"});
  }

  void addBench() {
    CLI::App *command =
        addSpecCommand("bench", "time compiled code on random data");
    command
        ->add_option(
            "--entry", arguments.benchEntries,
            "programs to time, separated by commas: loss, grad (loss and "
            "gradients), train_step (with weight update), encode, step, decode")
        ->delimiter(',')
        ->check(CLI::IsMember(
            {"loss", "grad", "train_step", "encode", "step", "decode"}));
    command
        ->add_option("--batch", arguments.batch,
                     "examples per batch (default: 1)")
        ->check(upTo2To31())
        ->type_name("N");
    command
        ->add_option("--lengths", arguments.lengths,
                     "lengths, such as S=25,T=25 (default: 25 each)")
        ->type_name("L=N,..");
    addMemoryLimit(command);
    addThreads(command, "number of threads; 0: one per CPU", /*least=*/0);
    addDtype(command);
    addCpu(command);
    addBenchDevice(command);
    addPrecision(command);
    command
        ->add_option("--seconds", arguments.seconds,
                     "minimum time to measure (default: 2)")
        ->type_name("X");
    command
        ->add_option("--runs", arguments.runs,
                     "minimum number of repetitions (default: 9)")
        ->check(atLeast(1))
        ->type_name("N");
    command
        ->add_option("--json", arguments.json,
                     "write the figures to this JSON file")
        ->type_name("FILE");
    command->add_flag("--perf", arguments.perf,
                      "let 'perf' resolve the names of kernels");
    command->add_flag("--explain", arguments.explain,
                      "print the time of each equation");
    addTrace(command)->excludes("--explain");
    addExamples(command, {"fovea bench model.fov --entry train_step --batch 64 "
                          "--lengths S=25,T=25",
                          "fovea bench model.fov --entry decode --explain"});
  }

  void addFmt() {
    CLI::App *command = addCommand("fmt", "format specs");
    command
        ->add_option("SPEC", arguments.specs,
                     ".fov files; - reads standard input")
        ->required();
    CLI::Option *inPlace = command->add_flag("-i,--in-place", arguments.inPlace,
                                             "rewrite the files");
    command
        ->add_flag("--check", arguments.onlyCheck,
                   "print nothing; exit with 1 if a file would change")
        ->excludes(inPlace);
    addExamples(command,
                {"fovea fmt -i model.fov", "fovea fmt --check models/*.fov"});
  }

  void addNew() {
    CLI::App *command = addCommand(
        "new", "write a folder with a spec, sample data and commands");
    command->add_option("KIND", arguments.kind, "what the model does")
        ->required()
        ->check(CLI::IsMember(
            {"translate", "classify", "caption", "speech", "lm"}));
    command->add_option("DIR", arguments.folder, "the folder to write")
        ->required();
    addExamples(command,
                {"fovea new translate numbers", "fovea new caption shapes"});
  }

  void addInfo() {
    CLI::App *command = addCommand(
        "info", "describe a trained model: sizes, data, settings, figures");
    command
        ->add_option_function<std::string>(
            "DIR",
            [&arguments = arguments](const std::string &folder) {
              arguments.specs = {folder};
            },
            "a training folder or its model.safetensors")
        ->required();
    addExamples(command,
                {"fovea info run", "fovea info run/model.safetensors"});
  }

  void addExplain() {
    CLI::App *command =
        addCommand("explain", "explain the code of an error or a warning");
    command->add_option("CODE", arguments.code,
                        "such as E0301; without it, all codes are listed");
    addExamples(command, {"fovea explain E0301", "fovea explain"});
  }

  void addLsp() {
    CLI::App *command = addCommand(
        "lsp", "run the language server for editors (docs/EDITORS.md)");
    command->add_flag("--stdio")->description(
        "accepted for editors; the server always uses standard input and "
        "output");
    addExamples(command, {"fovea lsp", "fovea lsp --stdio"});
  }

  void addCompletion() {
    CLI::App *command =
        addCommand("completion", "print a completion script for a shell");
    command->add_option("SHELL", arguments.shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    addExamples(command, {"source <(fovea completion bash)",
                          "fovea completion fish > "
                          "~/.config/fish/completions/fovea.fish"});
  }

  void addHelp() {
    CLI::App *command =
        addCommand("help", "print help for all commands or one");
    command->add_option("COMMAND", arguments.helpFor, "the command");
    command->add_flag("--man", arguments.asManual,
                      "print a manual page: 'fovea help run --man | man -l -'");
    addExamples(command,
                {"fovea help train", "fovea help train --man | man -l -"});
  }
};

} // namespace

void fovea::cli::addCommands(CLI::App &app, Arguments &arguments) {
  Commands(app, arguments).add();
}
