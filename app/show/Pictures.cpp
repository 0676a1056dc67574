//===- Pictures.cpp - pages of pictures as files --------------------------===//

#include "app/show/Pictures.h"
#include "app/data/Files.h"
#include "app/machines/Installed.h"
#include "app/open/Errors.h"
#include "pictures/Renderer.h"
#include "runtime/data/Printable.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

bool fovea::cli::isPicture(StringRef path) {
  return path.ends_with(".html") || path.ends_with(".svg") ||
         path.ends_with(".png") || path.ends_with(".pdf");
}

/// Sets `file` to the bytes of a PNG or PDF that shows `page`, or `problem`.
static void render(const pictures::Page &page, pictures::Format format,
                   std::string &file, std::string &problem) {
  constexpr const char *name = "libfovea_pictures.so";
  std::optional<std::string> path = findInstalled(name);
  void *plugin = path ? dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (plugin) {
    auto *draw = reinterpret_cast<decltype(&fovea_render)>(
        dlsym(plugin, "fovea_render"));
    draw(drawSvg(page), format, file, problem);
  } else {
    problem = fmt::format(
        "PNG and PDF need librsvg ({}); help: install it (Debian's package is "
        "librsvg2-2), or write SVG or HTML",
        path ? dlerror() : fmt::format("'{}' is not installed", name));
  }
}

/// Asks the user at the terminal; returns false without one.
static bool isWantedAnyway(const std::string &path, size_t megabytes) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0)
    return false;
  llvm::errs() << fmt::format("'{}' will have {} MB; write it? [y/N] ", path,
                              megabytes);
  std::string answer;
  for (char letter = 0; read(STDIN_FILENO, &letter, 1) == 1 && letter != '\n';)
    answer += letter;
  StringRef word = StringRef(answer).trim();
  return word.equals_insensitive("y") || word.equals_insensitive("yes");
}

void fovea::cli::setLook(pictures::Page &page, const PictureLook &look,
                         const std::string &title) {
  page.hasTitles = title != "none";
  page.title = page.hasTitles ? title : "";
  page.width = static_cast<double>(look.width);
  page.font = look.font;
}

int fovea::cli::writePicture(const std::string &path,
                             const pictures::Page &page, int64_t mostBytes) {
  std::string text, problem;
  if (StringRef(path).ends_with(".html"))
    text = pictures::drawHtml(page);
  else if (StringRef(path).ends_with(".svg"))
    text = pictures::drawSvg(page);
  else if (StringRef(path).ends_with(".pdf"))
    render(page, pictures::Format::pdf, text, problem);
  else
    render(page, pictures::Format::png, text, problem);
  size_t megabytes = (text.size() + 999'999) / 1'000'000;
  if (problem.empty() && mostBytes > 0 &&
      static_cast<int64_t>(text.size()) > mostBytes &&
      !isWantedAnyway(path, megabytes))
    problem =
        fmt::format("the picture would have {0} MB, but the limit is {1} MB; "
                    "help: draw less with '--name', or add '--max-mb {0}'",
                    megabytes, mostBytes / 1'000'000);
  if (problem.empty())
    return writeText(path, text);
  beginError() << "cannot draw '" << path
               << "': " << runtime::printable(problem) << '\n';
  return badInput;
}
