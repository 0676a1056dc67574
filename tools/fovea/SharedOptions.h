//===- SharedOptions.h - options that several commands have ---------------===//
//
// Adds each shared option in one way, with the same checks and texts
// everywhere. Files such as TrainingOptions.cpp assign options to commands.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_SHAREDOPTIONS_H
#define FOVEA_TOOLS_FOVEA_SHAREDOPTIONS_H

#include "app/data/Examples.h"
#include "app/data/Inputs.h"
#include "app/open/ChooseTarget.h"
#include "metrics/Metric.h"
#include "runtime/model/SearchFlagsCli.h"
#include "tools/fovea/Options.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// Pairs NAME=FILE, or one file.
inline CLI::Validator dataPairs() {
  return {[](const std::string &text) -> std::string {
            for (const GivenData &data : splitData({text})) {
              llvm::StringRef path = data.path;
              if (data.name.empty() &&
                  (path.ends_with("=") || path.starts_with("=")))
                return "takes NAME=FILE, not '" + path.str() + "'";
            }
            return "";
          },
          ""};
}

/// The values of --metric and eval: bleu, chrf, ..
inline std::string metricNames() {
  return fmt::format("{}", fmt::join(metrics::Metric::names(), ", "));
}

/// Adds commands and options that write to one Arguments; callbacks refer only
/// to that.
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

  /// Ends the command's help with `lines`, each a whole command.
  void addExamples(CLI::App *command, std::vector<std::string> lines) {
    constexpr size_t columns = 96;
    std::string text = "Examples:\n";
    for (const std::string &line : lines) {
      size_t used = 0;
      for (llvm::StringRef word : llvm::split(line, ' ')) {
        bool fits = used + 1 + word.size() <= columns;
        text += used == 0 ? "  " : fits ? " " : " \\\n      ";
        text += word;
        used = (used == 0 || fits ? used : 4) + 1 + word.size();
      }
      text += "\n";
    }
    command->footer(text + "\n" + command->get_footer());
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
            "the model: a .fov or .onnx file, a training folder or its "
            "model.safetensors; - reads a spec from standard input")
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
        "override a dim, const, vocabulary size (src.vocab=97) or block entry "
        "(train.smooth=0)");
    set->type_name("K=V")->allow_extra_args(false);
    command
        ->add_option("--config", arguments.configFile,
                     "read options from this file, one 'OPTION = VALUE' per "
                     "line; 'spec = FILE' names the model")
        ->type_name("FILE");
    return command;
  }

  void addWeights(CLI::App *command) {
    command
        ->add_option("--weights", arguments.weights,
                     "the weights: a safetensors file or a training folder")
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
            "the weights: a safetensors file or a training folder; several "
            "files form an ensemble that averages probabilities")
        ->type_name("FILE")
        ->allow_extra_args(false);
  }

  CLI::Option *addData(CLI::App *command, bool asText) {
    CLI::Option *data =
        command
            ->add_option(
                "--data", arguments.data,
                asText ? "text with one example per line, NAME=FILE or "
                         "NAME=FILE:COLUMN; or one batch, FILE.safetensors"
                       : "one batch, a safetensors file")
            ->type_name(asText ? "NAME=FILE" : "FILE")
            ->check(dataPairs())
            ->required();
    if (asText)
      addVocabularies(command);
    return data;
  }

  void addVocabularies(CLI::App *command) {
    command
        ->add_option("--vocab", arguments.vocabularies,
                     "vocabulary file of a vocabulary or data name, one word "
                     "per line from id 0")
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
        ->check(CLI::IsMember({"f32", "f64"}))
        ->each([&given = arguments.givesDtype](const std::string &) {
          given = true;
        });
  }

  void addCpu(CLI::App *command) {
    std::vector<std::string> names = {"native", "x86-64-v3", "x86-64-v4"};
    for (const std::string &name : addedTargets())
      names.push_back(name);
    command
        ->add_option("--cpu", arguments.cpu,
                     "native, x86-64-v3 (AVX2) or x86-64-v4 (AVX-512); does "
                     "not change results")
        ->check(CLI::IsMember(names));
  }

  /// `--target` sets the same value as `--cpu`: there is one machine of each
  /// other kind.
  void addTarget(CLI::App *command) {
    std::vector<std::string> names = gpuTargets();
    std::string gpus = fmt::format("{}", fmt::join(names, ", "));
    names.insert(names.begin(), {"native", "aarch64", "wasm32"});
    command
        ->add_option("--target", arguments.cpu,
                     "target machine: aarch64 (64-bit ARM, Linux), wasm32 "
                     "(WebAssembly), " +
                         gpus + " (NVIDIA GPUs); default: this one")
        ->check(CLI::IsMember(names))
        ->excludes(command->get_option("--cpu"));
  }

  void addPrecision(CLI::App *command) {
    command->add_option("--precision", arguments.precision, helpOfPrecision())
        ->check(CLI::IsMember(precisions()));
    command
        ->add_option("--cache", arguments.cache,
                     "f32 (default); bf16: rows that attention reads for "
                     "other places, such as keys and values, are rounded to "
                     "bf16 and stored in it, and all else is as before (CPU)")
        ->check(CLI::IsMember({"f32", "bf16"}));
  }

  /// Commands that execute run on this machine's CPU or on its GPU.
  void addDevice(CLI::App *command) {
    command
        ->add_option(
            "--target", arguments.cpu,
            "native (default): the CPU; cuda: the first NVIDIA GPU; auto: that "
            "GPU if there is one, else the CPU; does not change results")
        ->check(CLI::IsMember({"native", "cuda", "auto"}))
        ->excludes(command->get_option("--cpu"));
  }

  /// For an architecture without a device, bench prints estimates.
  void addBenchDevice(CLI::App *command) {
    std::vector<std::string> names = estimatedTargets();
    std::string gpus = fmt::format("{}", fmt::join(names, ", "));
    names.insert(names.begin(), {"native", "cuda", "auto"});
    command
        ->add_option("--target", arguments.cpu,
                     "native (default): the CPU; cuda: the first NVIDIA GPU; "
                     "auto: that GPU if there is one, else the CPU; " +
                         gpus + ": estimate kernels without a GPU")
        ->check(CLI::IsMember(names))
        ->excludes(command->get_option("--cpu"));
  }

  void addMaxSilence(CLI::App *command) {
    command
        ->add_option("--max-silence", arguments.maxSilence,
                     "seconds to wait for an unresponsive process of mpirun "
                     "(default: 120); 0: forever")
        ->check(runtime::atLeast(0))
        ->type_name("X");
  }

  void addQuiet(CLI::App *command) {
    command->add_flag("--quiet", arguments.quiet,
                      "print no progress or notes on standard error");
  }

  void addChecked(CLI::App *command) {
    CLI::Option *checked = command->add_flag(
        "--checked", arguments.isChecked,
        "compile checks of each access to memory into the code, which then "
        "runs in one thread, slowly, with the same results");
    if (CLI::Option *launches = command->get_option_no_throw("--launches"))
      checked->excludes(launches);
  }

  /// The options of all commands that execute.
  void addExecution(CLI::App *command) {
    command->add_flag("--reference", arguments.reference,
                      "run the reference interpreter instead of compiled code");
    addThreads(command, "number of threads; does not change results");
    addDtype(command,
             command->get_name() != "decode"
                 ? "precision: f32 (default; f64 with --reference) or f64; the "
                   "interpreter has the bits of compiled code in f32"
                 : "precision of compiled code: f32 (default) or f64");
    addCpu(command);
    addDevice(command);
    addPrecision(command);
    addChecked(command);
    addStopAfter(command,
                 "run the reference interpreter on the IR after this phase: " +
                     phaseNames());
    addQuiet(command);
  }

  void addStopAfter(CLI::App *command, const std::string &what) {
    command->add_option("--stop-after", arguments.stopAfter, what)
        ->type_name("PHASE");
  }

  void addJson(CLI::App *command, const std::string &what) {
    command->add_flag("--json", arguments.asJson, what);
  }

  /// `usual` is what the title is by default, in parentheses, or empty.
  std::vector<CLI::Option *> addLook(CLI::App *command,
                                     const std::string &usual) {
    return {command
                ->add_option("--title", arguments.look.title,
                             "title of the picture; none: no titles" +
                                 (usual.empty() ? "" : " " + usual))
                ->type_name("WORDS"),
            command
                ->add_option("--width", arguments.look.width,
                             "width of an SVG, PNG or PDF in millimetres, such "
                             "as 85 for a column of a paper")
                ->check(CLI::Range(10, 2000).description(""))
                ->type_name("MM"),
            command
                ->add_option("--font", arguments.look.font,
                             "font of the picture, such as 'TeX Gyre Termes'")
                ->type_name("NAME")};
  }
  CLI::Option *addTrace(CLI::App *command) {
    return command
        ->add_option("--trace", arguments.trace,
                     "write when each equation ran, as a JSON file for "
                     "https://ui.perfetto.dev or chrome://tracing")
        ->type_name("FILE");
  }

  void addMemoryLimit(CLI::App *command) {
    command
        ->add_option("--max-activation-mb", arguments.maxActivationMb,
                     "memory for activations, in MiB (default: no limit); the "
                     "backward pass recomputes arrays that do not fit")
        ->check(runtime::upTo2To31())
        ->type_name("N");
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

  CLI::App &app;
  Arguments &arguments;
};

/// The commands under a heading of the help.
void addTrainingCommands(CLI::App &app, Arguments &arguments);
void addAnswerCommands(CLI::App &app, Arguments &arguments);
void addInspectionCommands(CLI::App &app, Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_SHAREDOPTIONS_H
