//===- WebPage.h - a model as a page for browsers -------------*- C++ -*-===//

#ifndef FOVEA_DRIVER_WEB_WEBPAGE_H
#define FOVEA_DRIVER_WEB_WEBPAGE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace fovea::cli {

/// How many bytes the weights of a page have at most: the text of a page holds
/// a third more, and browsers have limits.
constexpr int64_t mostBytesOfPage = int64_t(256) << 20;

/// The text of a page, complete in itself, that runs a module of WebAssembly
/// (runtime/web/Answers.h).
std::string webPage(llvm::StringRef model, llvm::StringRef module);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_WEB_WEBPAGE_H
