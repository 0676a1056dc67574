//===- Options.cpp - the commands and their options -----------------------===//
//
// The help lists the commands in this order. The command that reads an option
// defines its meaning.
//
//===----------------------------------------------------------------------===//

#include "tools/fovea/Options.h"
#include "tools/fovea/HelpGroups.h"
#include "tools/fovea/SharedOptions.h"

using namespace fovea::cli;

namespace {

/// The commands to begin with, and tools.
class Commands : SharedOptions {
public:
  using SharedOptions::SharedOptions;

  void addFirst() {
    addNew();
    addCheck();
    addExplain();
  }
  void addTools() {
    addInit();
    addExport();
    addFmt();
    addLsp();
    addCompletion();
    addHelp();
  }

private:
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

  void addExplain() {
    CLI::App *command =
        addCommand("explain", "explain the code of an error or a warning");
    command->add_option("CODE", arguments.code,
                        "such as E0301; without it, all codes are listed");
    addExamples(command, {"fovea explain E0301", "fovea explain"});
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
  Commands commands(app, arguments);
  commands.addFirst();
  addTrainingCommands(app, arguments);
  addAnswerCommands(app, arguments);
  addInspectionCommands(app, arguments);
  commands.addTools();
  groupHelp(app);
}
