//===- Installed.cpp - files that are installed with this program ---------===//

#include "driver/machines/Installed.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

std::optional<std::string> fovea::cli::findInstalled(StringRef name) {
  static int here;
  std::string self = sys::fs::getMainExecutable(nullptr, &here);
  SmallString<128> beside = sys::path::parent_path(self);
  sys::path::append(beside, "..", "lib");
  for (SmallString<128> path :
       {beside, SmallString<128>(FOVEA_RUNTIME_FOLDER)}) {
    sys::path::append(path, name);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return std::nullopt;
}
