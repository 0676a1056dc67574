//===- AnswerOptions.cpp - the options that use a trained model -----------===//
//
// The command that reads an option defines its meaning.
//
//===----------------------------------------------------------------------===//

#include "app/show/Pictures.h"
#include "tools/fovea/SharedOptions.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace fovea::cli;
using fovea::runtime::atLeast;
using fovea::runtime::positive;

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

class AnswerOptions : SharedOptions {
public:
  using SharedOptions::SharedOptions;

  void add() {
    addDecode();
    addChat();
    addScore();
    addEval();
    addCompile();
  }

private:
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
        ->delimiter(',')
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
};

} // namespace

void fovea::cli::addAnswerCommands(CLI::App &app, Arguments &arguments) {
  AnswerOptions(app, arguments).add();
}
