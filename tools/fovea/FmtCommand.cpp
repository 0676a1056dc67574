//===- FmtCommand.cpp - fovea fmt -----------------------------------------===//
//
// Prints, rewrites or lists files. frontends/fov/syntax/Format.cpp defines the
// layout.
//
//===----------------------------------------------------------------------===//

#include "app/Arguments.h"
#include "app/data/Files.h"
#include "app/open/Errors.h"
#include "frontends/fov/syntax/Parser.h"
#include "frontends/fov/syntax/SourceFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace fovea;
using namespace fovea::cli;
using namespace llvm;

int fovea::cli::runFmt(const Arguments &arguments) {
  int result = done;
  for (const std::string &path : arguments.specs) {
    std::optional<std::string> input = readInput(path);
    if (!input) {
      result = std::max<int>(result, badInput);
      continue;
    }
    Diagnostics diagnostics(errs());
    StringRef text = diagnostics.addSource(sourceName(path), std::move(*input));
    std::string formatted = formatSource(text, diagnostics);
    diagnostics.finish();
    if (diagnostics.failed()) {
      result = std::max<int>(result, badInput);
    } else if (arguments.onlyCheck) {
      if (formatted != text) {
        beginError() << "'" << path
                     << "' is not formatted; help: run 'fovea fmt -i'\n";
        result = std::max<int>(result, badInput);
      }
    } else if (!arguments.inPlace || path == "-") {
      outs() << formatted;
    } else if (formatted != text) {
      result = std::max(result, writeText(path, formatted));
    }
  }
  return result;
}
