//===- Commands.h - the commands of fovea ---------------------------------===//
//
// One function and one struct of options per command; Main.cpp fills the
// options from the command line. Each returns the exit code: 0 done, 1 the
// user's input is at fault (said on standard error), 3 the machine is.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_COMMANDS_H
#define FOVEA_TOOLS_FOVEA_COMMANDS_H

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class MemoryBuffer;
}

namespace fovea {

constexpr int exitInput = 1, exitUsage = 2, exitMachine = 3;

/// `fovea fmt`: prints each file in the project's layout.
struct FmtOptions {
  std::vector<std::string> files; // "-" is standard input
  bool inPlace = false;           // rewrite what changes, atomically
  bool check = false;             // only say what would change, and exit with 1
};
int runFmt(const FmtOptions &options);

/// `fovea check`: says what is wrong with a spec.
struct CheckOptions {
  std::string spec;
  bool syntaxOnly = false;
};
int runCheck(const CheckOptions &options);

/// `fovea compile`: prints a spec at one stage of its compilation.
struct CompileOptions {
  std::string spec;
  std::string emit; // "ast"
};
int runCompile(const CompileOptions &options);

/// The text of a file or of standard input ("-"); null, and said why, when it
/// cannot be read.
std::unique_ptr<llvm::MemoryBuffer> readInput(const std::string &path);

} // namespace fovea

#endif // FOVEA_TOOLS_FOVEA_COMMANDS_H
