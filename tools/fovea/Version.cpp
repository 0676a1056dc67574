//===- Version.cpp - which fovea this is ----------------------------------===//
//
// The commit comes from a header that every build checks, and that changes only
// with the commit (Commit.cmake).
//
//===----------------------------------------------------------------------===//

#include "tools/fovea/Version.h"
#include "codegen/Backend.h"
#include "tools/fovea/Commit.h.inc"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

using namespace fovea;

std::string fovea::cli::versionNumber() { return FOVEA_VERSION; }

std::string fovea::cli::versionCommit() { return FOVEA_COMMIT; }

std::vector<std::string> fovea::cli::versionTargets() {
  std::vector<std::string> names;
  for (const codegen::Backend *backend : {
#define BACKEND(name) &codegen::name##Backend(),
#include "codegen/Backends.def"
       })
    for (llvm::StringRef name : backend->targets())
      names.push_back(name.str());
  return names;
}

std::string fovea::cli::versionText() {
  return "fovea " + versionNumber() + ", commit " + versionCommit() +
         ", LLVM " LLVM_VERSION_STRING "\ntargets: " +
         llvm::join(versionTargets(), ", ");
}
