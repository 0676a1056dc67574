//===- SharedOptions.h - options that several commands have ---------------===//
//
// Each is added in one way, with the same checks and the same words wherever it
// stands. Which command has which is Options.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_SHAREDOPTIONS_H
#define FOVEA_TOOLS_FOVEA_SHAREDOPTIONS_H

#include "driver/data/Inputs.h"
#include "runtime/model/SearchFlagsCli.h"
#include "tools/fovea/Options.h"

namespace fovea::cli {

/// NAME=FILE.
inline CLI::Validator pair() {
  return {[](const std::string &text) -> std::string {
            std::string name, file;
            return splitPair(text, name, file)
                       ? ""
                       : "takes NAME=FILE, not '" + text + "'";
          },
          ""};
}

/// Adds commands and options over one Arguments; what outlives it refers to
/// that alone.
class SharedOptions {
public:
  SharedOptions(CLI::App &app, Arguments &arguments)
      : app(app), arguments(arguments) {}

protected:
  CLI::App *addCommand(const std::string &name, const std::string &what) {
    CLI::App *command = app.add_subcommand(name, what);
    command->set_help_flag("-h,--help", "print this help");
    return command;
  }

  /// A command on one spec.
  CLI::App *addSpecCommand(const std::string &name, const std::string &what) {
    CLI::App *command = addCommand(name, what);
    command
        ->add_option_function<std::string>(
            "SPEC",
            [&arguments = arguments](const std::string &spec) {
              arguments.specs = {spec};
            },
            "the model, a .fov file; - is standard input; or the folder of a "
            "training, or its model.safetensors")
        ->required();
    auto *set = command->add_option_function<std::vector<std::string>>(
        "--set",
        [&arguments = arguments](const std::vector<std::string> &texts) {
          for (const std::string &text : texts) {
            size_t equals = text.find('=');
            if (equals == 0 || equals == std::string::npos)
              throw CLI::ValidationError("--set",
                                         "takes K=V, not '" + text + "'");
            arguments.sets.push_back(
                {text.substr(0, equals), text.substr(equals + 1)});
          }
        },
        "overrides a dim, a const, a vocabulary size (src.vocab=97) or an "
        "entry of a block (train.smooth=0)");
    set->type_name("K=V")->allow_extra_args(false);
    return command;
  }

  void addWeights(CLI::App *command) {
    command
        ->add_option("--weights", arguments.weights,
                     "the parameters, a safetensors file")
        ->type_name("FILE");
  }

  /// Several make an ensemble.
  void addMembers(CLI::App *command) {
    command
        ->add_option_function<std::vector<std::string>>(
            "--weights",
            [&arguments = arguments](const std::vector<std::string> &files) {
              arguments.weights = files.front();
              arguments.moreWeights.assign(files.begin() + 1, files.end());
            },
            "the parameters, a safetensors file; several are an ensemble, "
            "which chooses from the mean of the members' probabilities")
        ->type_name("FILE")
        ->allow_extra_args(false);
  }

  CLI::Option *addData(CLI::App *command, bool asText) {
    CLI::Option *data =
        command
            ->add_option(
                "--data", arguments.data,
                asText ? "one example per line, NAME=FILE or NAME=FILE:COLUMN; "
                         "or one batch as FILE.safetensors"
                       : "the batch, a safetensors file")
            ->type_name(asText ? "NAME=FILE" : "FILE")
            ->required();
    if (asText)
      addVocabularies(command);
    return data;
  }

  void addVocabularies(CLI::App *command) {
    command
        ->add_option("--vocab", arguments.vocabularies,
                     "the words of a vocabulary, or of a data name, one per "
                     "line from id 0; without it text holds ids")
        ->check(pair())
        ->type_name("NAME=FILE");
  }

  void addOutput(CLI::App *command, const std::string &what) {
    command->add_option("-o,--output", arguments.output, what)
        ->type_name("FILE");
  }

  void addSeed(CLI::App *command, const std::string &what) {
    command->add_option("--seed", arguments.seed, what)
        ->check(runtime::wholeBelow2To64())
        ->type_name("N");
  }

  void addThreads(CLI::App *command, const std::string &what, int least = 1) {
    command->add_option("--threads", arguments.threads, what)
        ->check(runtime::atLeast(least))
        ->type_name("N");
  }

  void addDtype(CLI::App *command, const std::string &what = "f32 or f64") {
    command->add_option("--dtype", arguments.dtype, what)
        ->check(CLI::IsMember({"f32", "f64"}));
  }

  void addCpu(CLI::App *command) {
    command
        ->add_option("--cpu", arguments.cpu,
                     "native, x86-64-v3 (AVX2) or x86-64-v4 (AVX-512); the "
                     "results do not depend on it")
        ->check(CLI::IsMember({"native", "x86-64-v3", "x86-64-v4"}));
  }

  /// A machine is named like a CPU: there is one of each other kind.
  void addTarget(CLI::App *command) {
    command
        ->add_option("--target", arguments.cpu,
                     "the machine, where it is another kind than this one: "
                     "aarch64 (64-bit ARM, Linux), wasm32 (WebAssembly), or "
                     "cuda:sm_80 (which is cuda) or cuda:sm_90a (GPUs of "
                     "NVIDIA)")
        ->check(CLI::IsMember({"native", "aarch64", "wasm32", "cuda",
                               "cuda:sm_80", "cuda:sm_90a", "cuda:emulator"}))
        ->excludes(command->get_option("--cpu"));
  }

  void addPrecision(CLI::App *command) {
    command
        ->add_option("--precision", arguments.precision,
                     "bf16: the factors of large matrix products are rounded "
                     "to bf16, and their sums are in f32, on a GPU; f32: they "
                     "are not")
        ->check(CLI::IsMember({"f32", "bf16"}));
  }

  /// What executes here does so on this machine's CPU or on its GPU.
  void addDevice(CLI::App *command) {
    command
        ->add_option(
            "--target", arguments.cpu,
            "cuda: the first GPU of NVIDIA; auto: the same where there "
            "is one, else the CPU; native: the CPU. The results are "
            "the same")
        ->check(CLI::IsMember({"native", "cuda", "auto"}))
        ->excludes(command->get_option("--cpu"));
  }

  /// An architecture that is not there has figures.
  void addBenchDevice(CLI::App *command) {
    command
        ->add_option("--target", arguments.cpu,
                     "cuda: the first GPU of NVIDIA; auto: the same where "
                     "there is one, else the CPU; native: the CPU; cuda:sm_80 "
                     "or cuda:sm_90a: nothing is timed, and the kernels are "
                     "listed with what they need and how long they take at "
                     "least, for which no GPU is needed")
        ->check(CLI::IsMember(
            {"native", "cuda", "auto", "cuda:sm_80", "cuda:sm_90a"}))
        ->excludes(command->get_option("--cpu"));
  }

  void addMaxSilence(CLI::App *command) {
    command
        ->add_option("--max-silence", arguments.maxSilence,
                     "how many seconds a process of mpirun that does not "
                     "answer is waited for (120); 0: for ever")
        ->check(runtime::atLeast(0))
        ->type_name("X");
  }

  void addQuiet(CLI::App *command) {
    command->add_flag("--quiet", arguments.quiet, "no notes on standard error");
  }

  /// Options of the commands that execute. Until there is compiled code all
  /// of them run by the reference interpreter.
  void addExecution(CLI::App *command) {
    command->add_flag("--reference", arguments.reference,
                      "run by the reference interpreter, in float64");
    addThreads(command, "of compiled code; the results do not depend on it");
    addDtype(command, "f32 or f64: what compiled code computes in; the "
                      "reference interpreter always computes in f64");
    addCpu(command);
    addDevice(command);
    addPrecision(command);
    addStopAfter(command, "interpret the IR after this phase: " + phaseNames());
    addQuiet(command);
  }

  void addStopAfter(CLI::App *command, const std::string &what) {
    command->add_option("--stop-after", arguments.stopAfter, what)
        ->type_name("PHASE");
  }

  void addJson(CLI::App *command, const std::string &what) {
    command->add_flag("--json", arguments.asJson, what);
  }

  void addMemoryLimit(CLI::App *command) {
    command
        ->add_option("--max-activation-mb", arguments.maxActivationMb,
                     "the memory for what is neither weights nor data: arrays "
                     "that exceed it are computed again on the way back "
                     "(2^20 bytes; no limit)")
        ->check(runtime::upTo2To31())
        ->type_name("N");
  }

  CLI::App &app;
  Arguments &arguments;
};

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_SHAREDOPTIONS_H
