//===- WebPage.h - a model as a page for browsers -------------*- C++ -*-===//

#ifndef FOVEA_APP_WEB_WEBPAGE_H
#define FOVEA_APP_WEB_WEBPAGE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace fovea::cli {

/// The maximum size of a page's weights: base 64 adds a third, and browsers
/// have limits.
constexpr int64_t mostBytesOfPage = int64_t(256) << 20;

/// Returns the text of a self-contained page that runs a WebAssembly module
/// (runtime/web/Answers.h).
std::string webPage(llvm::StringRef model, llvm::StringRef module);

} // namespace fovea::cli

#endif // FOVEA_APP_WEB_WEBPAGE_H
