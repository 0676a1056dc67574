//===- Frontend.cpp - a .fov file to a module of the attn dialect ---------===//

#include "frontends/fov/Frontend.h"
#include "frontends/fov/CheckSpec.h"
#include "frontends/fov/lower/LowerSpec.h"
#include "frontends/fov/syntax/SourceFile.h"
#include "llvm/Support/Path.h"

using namespace fovea;
using namespace fovea::fov;

std::unique_ptr<Model> fovea::compileText(llvm::StringRef text,
                                          llvm::StringRef name,
                                          const FrontendOptions &options,
                                          mlir::MLIRContext &context,
                                          Diagnostics &diagnostics) {
  auto result = std::make_unique<Model>();
  std::unique_ptr<CheckedSpec> spec =
      checkSpec(text, name, options, diagnostics, *result);
  if (!spec)
    return nullptr;
  if (!spec->isLowered)
    return result;
  result->module = lowerSpec(*spec, result->name, context, diagnostics);
  return result;
}

std::unique_ptr<Model> fovea::compileSpec(llvm::StringRef path,
                                          const FrontendOptions &options,
                                          mlir::MLIRContext &context,
                                          Diagnostics &diagnostics) {
  std::string why;
  std::optional<std::string> text = readSource(path.str(), why);
  if (!text) {
    diagnostics.error(Code::unreadableFile, {},
                      "cannot read '" + path.str() + "': " + why);
    return nullptr;
  }
  FrontendOptions beside = options;
  if (beside.includeDir.empty())
    beside.includeDir = llvm::sys::path::parent_path(path).str();
  if (beside.includeDir.empty())
    beside.includeDir = ".";
  return compileText(*text, sourceName(path), beside, context, diagnostics);
}
