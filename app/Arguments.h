//===- Arguments.h - what stands on the command line ----------------------===//

#ifndef FOVEA_APP_ARGUMENTS_H
#define FOVEA_APP_ARGUMENTS_H

#include "runtime/model/SearchFlags.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fovea::cli {

/// How a command ends.
enum ExitCode {
  done = 0,
  badInput = 1, // spec, data or weights are at fault
  badUsage = 2,
  badMachine = 3, // disk full, out of memory
  interrupted = 130,
};

/// How a picture looks.
struct PictureLook {
  std::string title; // empty: a usual one; `none`: no titles
  int64_t width = 0; // in millimetres; 0: 96 pixels per inch
  std::string font;
};

/// The options of all commands; a command reads its own. Lists of NAME=VALUE
/// are split where they are used.
struct Arguments {
  std::string command;
  std::vector<std::string> specs; // several for fmt only
  /// The weights file with the spec, if the spec argument is a training folder
  /// or such a file (app/open/StoredSpec.h); empty: none.
  std::string stored;
  std::vector<std::pair<std::string, std::string>> sets;

  std::string weights;
  std::vector<std::string> moreWeights; // of the other members of an ensemble
  std::string output;                   // empty: standard output
  std::vector<std::string> data;
  std::vector<std::string> vocabularies;
  std::optional<uint64_t> seed;
  std::string dtype = "f32";
  bool givesDtype = false; // the interpreter is in f64 without
  std::string precision;   // of the factors of products; empty: that of dtype
  std::string cache;       // of rows that attention reads; empty: that of dtype
  std::string stopAfter;
  std::vector<std::string> leaveOut;
  bool reference = false;
  bool launches = false;  // of run: interprets the schedule of launches
  bool isChecked = false; // compiled code checks its accesses to memory
  int threads = 0;        // 0: one per CPU
  bool quiet = false;
  double maxSilence = 120; // of another process; 0: for ever

  // run
  std::vector<std::string> gets;

  // init, export
  std::string from, map; // weights of another program, and what they are called

  // train
  std::string folder;
  std::vector<std::string> valid;
  bool resume = false;
  bool dryRun = false; // report memory and time, and change nothing
  bool change = false; // what the training that is resumed has otherwise
  std::optional<int64_t> steps, epochs, batch;
  std::optional<double> minutes;
  int64_t reportEvery = 100;
  std::optional<int64_t> validEvery, saveEvery;
  std::vector<std::string> metrics;         // of validations
  std::vector<std::string> validReferences; // beside the validation's own text
  std::string bestBy;
  std::optional<int64_t> patience;
  bool shardsOptimiser = false; // among the processes
  std::optional<int64_t> maxDataMb;
  std::optional<int> port;         // of the page that follows it; also of serve
  std::optional<int> trainer;      // the process that has started serve
  std::string eventFolder;         // of TensorBoard
  std::vector<std::string> sweeps; // KEY=VALUES: a training per combination

  // decode
  runtime::SearchFlags search;
  std::vector<std::string> shows;
  std::vector<std::string> prefixes;
  std::string dictionary; // for unknown words

  // chat
  std::string chatTemplate; // a file; empty: beside the weights
  std::string system;       // the first message
  bool printsPrompt = false;

  // eval
  std::string metric;
  std::vector<std::string> hypotheses, references;
  bool keepsEmpty = false; // an empty line of --ref is an empty reference
  bool isPaired = false, perLine = false, isLower = false;
  std::string tokenise; // empty: as the metric has it
  std::string smooth = "exp";
  std::optional<double> smoothValue;
  std::string wordnet, paraphrases;
  int64_t digits = 1;

  // plot
  std::vector<std::string> plots, names;
  std::string plotOver = "step";
  PictureLook look;                    // of --show too
  std::vector<std::string> plotLabels; // of the logs; empty: their paths
  int64_t maxPictureMb = 25;

  // data
  std::vector<std::string> texts; // FILE, or FILE:COLUMN
  std::string split;              // train=98,valid=1,test=1
  std::optional<int64_t> key;     // the column that decides the part
  bool shuffles = false, dropsEmpty = false, dropsRepeated = false;
  std::optional<int64_t> minWords, maxWords, maxChars, pieces;
  std::optional<double> maxRatio;

  // compile
  std::string emit = "mlir";
  std::vector<std::string> entries;
  bool explain = false;
  bool proves = false; // that phases keep what is computed

  // bench
  std::vector<std::string> benchEntries = {"grad"};
  std::optional<int64_t> maxActivationMb;
  std::string lengths, json;
  std::string cpu = "native";
  double seconds = 2;
  int64_t runs = 9; // at least
  bool perf = false;
  std::string trace; // a file; also of train

  // check
  bool syntaxOnly = false;
  bool asJson = false; // also of others that a program may read

  std::string configFile; // already expanded (tools/fovea/ConfigFile.h)
  /// The command line and the version of Fovea, for a training's record.
  std::string commandLine, version;

  // help, completion
  bool asManual = false;
  std::string helpFor, shell;

  // new
  std::string kind;

  // explain
  std::string code; // empty: all

  // fmt
  bool inPlace = false;
  bool onlyCheck = false;

  const std::string &spec() const { return specs.front(); }
};

/// Parses a command line. Without a value the program ends with the exit code:
/// help was requested, or a usage error was reported.
std::optional<Arguments> parseCommandLine(int argc, char **argv, int &exitCode);

/// `derive, differentiate, .. and fuse`.
std::string phaseNames();

int runBench(const Arguments &arguments);
int runChat(const Arguments &arguments);
int runCheck(const Arguments &arguments);
int runCompile(const Arguments &arguments);
int runData(const Arguments &arguments);
int runDecode(const Arguments &arguments);
int runDoctor(const Arguments &arguments);
int runEval(const Arguments &arguments);
int runExplain(const Arguments &arguments);
int runExport(const Arguments &arguments);
int runFmt(const Arguments &arguments);
int runInfo(const Arguments &arguments);
int runInit(const Arguments &arguments);
int runLsp(const Arguments &arguments);
int runNew(const Arguments &arguments);
int runParams(const Arguments &arguments);
int runPlot(const Arguments &arguments);
int runRun(const Arguments &arguments);
int runScore(const Arguments &arguments);
int runServe(const Arguments &arguments);
int runTrain(const Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_APP_ARGUMENTS_H
