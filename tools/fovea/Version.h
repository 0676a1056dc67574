//===- Version.h - which fovea this is ------------------------*- C++ -*-===//

#ifndef FOVEA_TOOLS_FOVEA_VERSION_H
#define FOVEA_TOOLS_FOVEA_VERSION_H

#include <string>
#include <vector>

namespace fovea::cli {

/// `0.1.0`
std::string versionNumber();
/// The commit that it was built from, with a `+` where files were changed;
/// `unknown` where that was no clone.
std::string versionCommit();
/// The targets of code generation.
std::vector<std::string> versionTargets();
/// All of it, and the LLVM version, on two lines.
std::string versionText();

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_VERSION_H
