//===- InspectionOptions.cpp - the options that look inside a model -------===//
//
// The command that reads an option defines its meaning.
//
//===----------------------------------------------------------------------===//

#include "tools/fovea/SharedOptions.h"

using namespace fovea::cli;
using fovea::runtime::atLeast;
using fovea::runtime::upTo2To31;

namespace {

class InspectionOptions : SharedOptions {
public:
  using SharedOptions::SharedOptions;

  void add() {
    addInfo();
    addPlot();
    addServe();
    addParams();
    addRun();
    addBench();
    addDoctor();
  }

private:
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

  void addParams() {
    CLI::App *command = addSpecCommand(
        "params", "list the parameters with their types and shapes");
    addJson(command, "print the list as JSON");
    addExamples(command,
                {"fovea params models/rnnsearch.fov --set src.vocab=8000 "
                 "--set tgt.vocab=8000",
                 "fovea params run --json"});
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
        ->delimiter(',')
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
    addLeaveOut(command);
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

  void addDoctor() {
    CLI::App *command = addCommand(
        "doctor", "report this machine's capabilities and missing tools");
    addJson(command, "print the report as JSON");
    addExamples(command, {"fovea doctor", "fovea doctor --json"});
  }
};

} // namespace

void fovea::cli::addInspectionCommands(CLI::App &app, Arguments &arguments) {
  InspectionOptions(app, arguments).add();
}
