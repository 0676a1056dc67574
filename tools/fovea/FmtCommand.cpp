//===- FmtCommand.cpp - fovea fmt -----------------------------------------===//
//
// Which files are printed, rewritten or named. The layout itself is
// frontends/fov/Format.cpp.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Parser.h"
#include "tools/fovea/Commands.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace fovea;
using namespace llvm;

/// Replaces a file at once: whoever reads it meanwhile has the old text or the
/// new one. Permissions stay; of a symbolic link the target is replaced.
static bool replaceFile(StringRef path, StringRef text) {
  SmallString<128> real;
  std::error_code failure = sys::fs::real_path(path, real);
  Error error = Error::success();
  if (!failure) {
    ErrorOr<sys::fs::perms> permissions = sys::fs::getPermissions(real);
    Error written = writeToOutput(real, [&](raw_ostream &out) {
      out << text;
      return Error::success();
    });
    error = joinErrors(std::move(error), std::move(written));
    if (permissions)
      (void)sys::fs::setPermissions(real, *permissions);
  } else {
    error = joinErrors(std::move(error), errorCodeToError(failure));
  }
  if (!error)
    return true;
  errs() << "error: '" << path
         << "' cannot be written: " << toString(std::move(error)) << '\n';
  return false;
}

int fovea::runFmt(const FmtOptions &options) {
  int result = 0;
  for (const std::string &path : options.files) {
    std::unique_ptr<MemoryBuffer> input = readInput(path);
    if (!input) {
      result = std::max(result, exitInput);
      continue;
    }
    Diagnostics diagnostics(errs());
    StringRef text = diagnostics.addSource(path, input->getBuffer().str());
    std::string formatted = formatSource(text, diagnostics);
    diagnostics.finish();
    if (diagnostics.failed()) {
      result = std::max(result, exitInput);
    } else if (options.check) {
      if (formatted != text) {
        errs() << "error: '" << path << "' is not as fovea fmt lays it out\n";
        result = std::max(result, exitInput);
      }
    } else if (!options.inPlace || path == "-") {
      outs() << formatted;
    } else if (formatted != text && !replaceFile(path, formatted)) {
      result = exitMachine;
    }
  }
  return result;
}
