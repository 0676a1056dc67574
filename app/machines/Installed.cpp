//===- Installed.cpp - files that are installed with this program ---------===//

#include "app/machines/Installed.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

std::optional<std::string> fovea::cli::findInstalled(StringRef name) {
  static int here;
  std::string self = sys::fs::getMainExecutable(nullptr, &here);
  SmallString<128> path = sys::path::parent_path(self);
  sys::path::append(path, "..", "lib", name);
  if (!sys::fs::exists(path))
    return std::nullopt;
  return path.str().str();
}
