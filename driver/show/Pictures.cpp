//===- Pictures.cpp - pages of pictures as files --------------------------===//

#include "driver/show/Pictures.h"
#include "driver/Arguments.h"
#include "driver/data/Files.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

bool fovea::cli::isPicture(StringRef path) {
  return path.ends_with(".html") || path.ends_with(".svg") ||
         path.ends_with(".png");
}

/// Asks whoever sits at the terminal; false where nobody does.
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

int fovea::cli::writePicture(const std::string &path,
                             const pictures::Page &page, int64_t mostBytes) {
  std::string text, problem;
  if (StringRef(path).ends_with(".html"))
    text = pictures::drawHtml(page);
  else if (StringRef(path).ends_with(".svg"))
    text = pictures::drawSvg(page);
  else
    text = pictures::drawPng(page, problem);
  size_t megabytes = (text.size() + 999'999) / 1'000'000;
  if (problem.empty() && mostBytes > 0 &&
      static_cast<int64_t>(text.size()) > mostBytes &&
      !isWantedAnyway(path, megabytes))
    problem = fmt::format(
        "it would have {0} MB and not {1} at most; '--name' draws less, and "
        "'--max-mb {0}' allows for it",
        megabytes, mostBytes / 1'000'000);
  if (problem.empty())
    return writeText(path, text);
  llvm::errs() << "error: cannot draw '" << path << "': " << problem << '\n';
  return badInput;
}
