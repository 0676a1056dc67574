//===- Main.cpp - the command line of Fovea -------------------------------===//
//
// Dispatches to one file per command, and makes every failure end with an exit
// code: running out of memory is 3, an interrupt 130.
//
//===----------------------------------------------------------------------===//

#include "app/Arguments.h"
#include "app/machines/Agreement.h"
#include "app/machines/MpiTeam.h"
#include "app/open/ChooseTarget.h"
#include "codegen/native/ObjectCache.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Pipeline.h"
#include "runtime/ThreadPool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <new>
#include <unistd.h>

using namespace fovea::cli;

/// Uses only functions that are safe in a signal handler and without memory.
static void say(const char *text, size_t length) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, length);
}

static void onInterrupt(int) { _exit(interrupted); }

static void onOutOfMemory() {
  constexpr char text[] = "error: out of memory\n";
  say(text, sizeof(text) - 1);
  _exit(badMachine);
}

static void onLLVMOutOfMemory(void *, const char *, bool) { onOutOfMemory(); }

/// glibc treats a failed `brk` as a success and then uses memory that does not
/// exist. Its own record of the break shows it; any other fault ends as usual.
static void onFault(int number) {
  if (reinterpret_cast<uintptr_t>(sbrk(0)) > uintptr_t(-4096))
    onOutOfMemory();
  std::signal(number, SIG_DFL);
}

/// Libraries need memory before `main` begins.
static void handleFaults(int, char **, char **) {
  std::signal(SIGSEGV, onFault);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const beforeLibraries)(int, char **,
                                                           char **) =
    handleFaults;

/// Output counts as done only if it could be written.
static int flushOutput(int code) {
  llvm::outs().flush();
  bool failed = llvm::outs().has_error() || std::fflush(stdout) != 0 ||
                std::ferror(stdout) != 0;
  llvm::outs().clear_error();
  if (!failed)
    return code;
  constexpr char text[] = "error: cannot write to standard output\n";
  say(text, sizeof(text) - 1);
  return badMachine;
}

static int runCommand(const Arguments &arguments) {
  using Command = int (*)(const Arguments &);
  static constexpr std::pair<llvm::StringLiteral, Command> commands[] = {
      {"check", runCheck},   {"chat", runChat},       {"params", runParams},
      {"init", runInit},     {"run", runRun},         {"decode", runDecode},
      {"score", runScore},   {"bench", runBench},     {"compile", runCompile},
      {"fmt", runFmt},       {"lsp", runLsp},         {"train", runTrain},
      {"eval", runEval},     {"plot", runPlot},       {"serve", runServe},
      {"doctor", runDoctor}, {"explain", runExplain}, {"export", runExport},
      {"new", runNew},       {"info", runInfo},       {"data", runData}};
  for (auto [name, command] : commands)
    if (arguments.command == name)
      return command(arguments);
  llvm_unreachable("the parser knows the commands");
}

/// Open the device before anything that it reads.
static int runOnTarget(Arguments &arguments) {
  bool runsOnTarget = arguments.command != "compile" &&
                      !(arguments.launches && arguments.reference);
  if (runsOnTarget)
    if (int code = chooseTarget(arguments); code != done)
      return code;
  if (int code = checkPrecision(arguments); code != done)
    return code;
  return runCommand(arguments);
}

/// Returns whether an argument reads standard input, which mpirun gives to rank
/// 0 only.
static bool readsStandardInput(const Arguments &arguments) {
  auto isInput = [](llvm::StringRef given) {
    return given == "-" || given.ends_with("=-") || given.contains("=-:") ||
           given.contains("=-,");
  };
  return isInput(arguments.spec()) || llvm::any_of(arguments.data, isInput) ||
         llvm::any_of(arguments.valid, isInput) ||
         (arguments.data.empty() && arguments.command != "train");
}

/// The same for one of several MPI processes: all of them succeed, or none
/// does.
static int runTogether(const Launch &launch, int argc, char **argv) {
  bool resumes = llvm::StringRef(argv[1]) == "train";
  startWorker(launch, resumes);
  std::signal(SIGINT, onInterrupt);
  int code = done;
  std::optional<Arguments> arguments = parseCommandLine(argc, argv, code);
  if (Pair *pair = watched(); pair && arguments)
    pair->patience = arguments->maxSilence;
  std::unique_ptr<MpiTeam> started;
  if (fovea::runtime::Status status = MpiTeam::start(launch, started);
      status.failed()) {
    std::string text = "error: " + status.text() + "\n";
    if (launch.rank == 0)
      say(text.data(), text.size());
    return badMachine;
  }
  setTeam(*started);
  // Help is not a failure, but also ends the program.
  constexpr int isHelp = -1;
  int all = agree(arguments ? done : code == done ? isHelp : code);
  if (all != done)
    return all == isHelp ? flushOutput(done) : all;
  std::string odd =
      findOdd({{"version", fovea::codegen::compilerIdentity().str()}});
  if (!odd.empty()) {
    std::string text = "error: " + odd + "\n";
    say(text.data(), text.size());
    return agree(badMachine);
  }
  if (readsStandardInput(*arguments)) {
    fovea::runtime::Status shared = shareStandardInput(*started);
    std::string text = "error: " + shared.text() + "\n";
    if (shared.failed())
      say(text.data(), text.size());
    if (int failed = agree(shared.failed() ? badMachine : done))
      return failed;
  }
  if (arguments->threads == 0)
    arguments->threads = std::max(1, fovea_pool_cpus() / started->sharers());
  return flushOutput(runOnTarget(*arguments));
}

/// Takes MLIR's own flags, `--mlir-..`, out of the command line. They inspect
/// the passes of any command (docs/DEBUGGING.md).
static bool takePassFlags(int &argc, char **argv) {
  std::vector<const char *> own = {argv[0]};
  auto isFlag = [](const char *text) {
    return llvm::StringRef(text).starts_with("--mlir-");
  };
  std::copy_if(argv + 1, argv + argc, std::back_inserter(own), isFlag);
  if (own.size() == 1)
    return true;
  argc = static_cast<int>(std::remove_if(argv + 1, argv + argc, isFlag) - argv);
  argv[argc] = nullptr;
  // The flags name passes.
  fovea::attn::registerFoveaPasses();
  mlir::registerTransformsPasses();
  fovea::attn::registerPassFlags();
  return llvm::cl::ParseCommandLineOptions(static_cast<int>(own.size()),
                                           own.data(), "", &llvm::errs());
}

int main(int argc, char **argv) {
  std::signal(SIGINT, onInterrupt);
  std::set_new_handler(onOutOfMemory);
  llvm::install_bad_alloc_error_handler(onLLVMOutOfMemory);

  if (!takePassFlags(argc, argv))
    return badUsage;
  Launch launch = findLaunch();
  static constexpr llvm::StringLiteral shared[] = {"train", "decode", "score"};
  if (!launch.library.empty() && argc > 1 &&
      llvm::is_contained(shared, llvm::StringRef(argv[1])))
    return runTogether(launch, argc, argv);
  int exitCode = done;
  std::optional<Arguments> arguments = parseCommandLine(argc, argv, exitCode);
  return flushOutput(arguments ? runOnTarget(*arguments) : exitCode);
}
