//===- Main.cpp - the command line of Fovea -------------------------------===//
//
// Dispatches to one file per command, and sees to it that whatever happens
// ends with an exit code: running out of memory is 3, an interrupt 130.
//
//===----------------------------------------------------------------------===//

#include "driver/Arguments.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <new>
#include <unistd.h>

using namespace fovea::cli;

/// Only what is safe in a signal handler, and when no memory is left.
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

/// What was printed counts as done only when it could be written.
static int flushOutput(int code) {
  llvm::outs().flush();
  bool failed = llvm::outs().has_error() || std::fflush(stdout) != 0;
  llvm::outs().clear_error();
  if (!failed)
    return code;
  constexpr char text[] = "error: cannot write to standard output\n";
  say(text, sizeof(text) - 1);
  return badMachine;
}

int main(int argc, char **argv) {
  std::signal(SIGINT, onInterrupt);
  std::set_new_handler(onOutOfMemory);
  llvm::install_bad_alloc_error_handler(onLLVMOutOfMemory);

  int exitCode = done;
  std::optional<Arguments> arguments = parseCommandLine(argc, argv, exitCode);
  if (!arguments)
    return flushOutput(exitCode);
  using Command = int (*)(const Arguments &);
  static constexpr std::pair<llvm::StringLiteral, Command> commands[] = {
      {"check", runCheck}, {"params", runParams},   {"init", runInit},
      {"run", runRun},     {"decode", runDecode},   {"score", runScore},
      {"bench", runBench}, {"compile", runCompile}, {"fmt", runFmt},
      {"lsp", runLsp},     {"train", runTrain},     {"eval", runEval},
      {"plot", runPlot},   {"doctor", runDoctor}};
  for (auto [name, command] : commands)
    if (arguments->command == name)
      return flushOutput(command(*arguments));
  llvm_unreachable("the parser knows the commands");
}
