//===- ExplainCommand.cpp - fovea explain ---------------------------------===//
//
// Prints the page of an error code, a section of docs/errors/, or lists all
// codes. The pages are part of the program.
//
//===----------------------------------------------------------------------===//

#include "app/open/Session.h"
#include "tools/fovea/Embedded.h"
#include "llvm/ADT/StringExtras.h"

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

namespace pages {
#include "tools/fovea/ErrorPages.inc"
} // namespace pages

/// The sections of all pages, each from its code on: `E0301: A name is ..`,
/// ordered by code.
static std::vector<StringRef> allSections() {
  constexpr StringRef heading = "\n## ";
  std::vector<StringRef> result;
  for (const EmbeddedFile &page : pages::embeddedFiles) {
    StringRef rest = page.text().split(heading).second;
    while (!rest.empty()) {
      auto [section, others] = rest.split(heading);
      result.push_back(section.rtrim());
      rest = others;
    }
  }
  llvm::sort(result);
  return result;
}

int fovea::cli::runExplain(const Arguments &arguments) {
  std::string wanted = StringRef(arguments.code).trim("[]").upper();
  for (StringRef section : allSections()) {
    if (wanted.empty()) {
      llvm::outs() << section.split('\n').first << '\n';
    } else if (section.split(':').first == wanted) {
      llvm::outs() << section << '\n';
      return done;
    }
  }
  if (wanted.empty())
    return done;
  return wrongUsage("unknown code " + quoted(arguments.code) +
                    "; help: 'fovea explain' lists all codes");
}
