//===- CheckCommand.cpp - fovea check, fovea compile ----------------------===//

#include "frontends/fov/Parser.h"
#include "tools/fovea/Commands.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace fovea;
using namespace llvm;

/// Parses a file and reports its mistakes. Null when it has some.
static std::unique_ptr<ast::File> parseFile(const std::string &path,
                                            Diagnostics &diagnostics) {
  std::unique_ptr<MemoryBuffer> input = readInput(path);
  if (!input)
    return nullptr;
  StringRef text = diagnostics.addSource(path, input->getBuffer().str());
  std::unique_ptr<ast::File> file = parse(text, diagnostics);
  diagnostics.finish();
  return diagnostics.failed() ? nullptr : std::move(file);
}

int fovea::runCheck(const CheckOptions &options) {
  Diagnostics diagnostics(errs());
  return parseFile(options.spec, diagnostics) ? 0 : exitInput;
}

int fovea::runCompile(const CompileOptions &options) {
  Diagnostics diagnostics(errs());
  std::unique_ptr<ast::File> file = parseFile(options.spec, diagnostics);
  if (!file)
    return exitInput;
  printAst(*file, outs());
  return 0;
}
