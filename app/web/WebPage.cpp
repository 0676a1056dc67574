//===- WebPage.cpp - a model as a page for browsers -----------------------===//
//
// The files of page/ with the module in base 64: a page opened from a folder
// may read no other file.
//
//===----------------------------------------------------------------------===//

#include "app/web/WebPage.h"
#include "pictures/Page.h"
#include "llvm/Support/Base64.h"

using namespace fovea;
using llvm::StringRef;

static constexpr unsigned char indexPage[] = {
#include "app/web/index.html.inc"
};
static constexpr unsigned char style[] = {
#include "app/web/page.css.inc"
};
static constexpr unsigned char engine[] = {
#include "app/web/engine.js.inc"
};
static constexpr unsigned char files[] = {
#include "app/web/files.js.inc"
};
static constexpr unsigned char script[] = {
#include "app/web/page.js.inc"
};

template <size_t size>
static StringRef textOf(const unsigned char (&bytes)[size]) {
  return {reinterpret_cast<const char *>(bytes), size};
}

std::string fovea::cli::webPage(StringRef model, StringRef module) {
  std::string title = pictures::escape(model.str());
  std::string encoded = llvm::encodeBase64(module);
  std::string page;
  StringRef rest = textOf(indexPage);
  // Replaces the text between two section signs.
  static constexpr StringRef sign = "\xc2\xa7";
  while (!rest.empty()) {
    auto [before, tail] = rest.split(sign);
    page += before;
    auto [name, after] = tail.split(sign);
    rest = after;
    if (name == "title")
      page += title;
    else if (name == "style")
      (page += textOf(style)) += pictures::figureStyle();
    else if (name == "engine")
      page += textOf(engine);
    else if (name == "script")
      ((page += pictures::tipScript()) += textOf(files)) += textOf(script);
    else if (name == "module")
      page += encoded;
  }
  return page;
}
