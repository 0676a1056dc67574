//===- ConfigFile.cpp - options of a command in a file --------------------===//

#include "tools/fovea/ConfigFile.h"
#include "app/data/Files.h"
#include "frontends/fov/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using llvm::StringRef;

/// Takes `--config FILE` or `--config=FILE` out of `words`. Returns the place
/// where its options belong, or `words.size()` if there is none.
static size_t takeFile(std::vector<std::string> &words, std::string &path) {
  for (size_t at = 0; at < words.size(); ++at) {
    StringRef word = words[at];
    size_t count = 1;
    if (word == "--config" && at + 1 < words.size()) {
      path = words[at + 1];
      count = 2;
    } else if (word.consume_front("--config=")) {
      path = word.str();
    } else {
      continue;
    }
    words.erase(words.begin() + at, words.begin() + at + count);
    return at;
  }
  return words.size();
}

/// Returns whether the command line has the option `name`.
static bool has(llvm::ArrayRef<std::string> words, StringRef name) {
  return llvm::any_of(words, [&](StringRef word) {
    return word.consume_front("--") && word.split('=').first == name;
  });
}

bool fovea::cli::expandConfig(std::vector<std::string> &words) {
  std::string path;
  size_t at = takeFile(words, path);
  if (path.empty())
    return true;
  std::optional<std::string> text = readInput(path);
  if (!text)
    return false;
  std::vector<std::string> options;
  int number = 0;
  for (StringRef line : llvm::split(*text, '\n')) {
    ++number;
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    auto [name, value] = line.split('=');
    name = name.trim();
    value = value.trim();
    bool isName = !name.empty() && llvm::all_of(name, [](char letter) {
      return llvm::isAlnum(letter) || letter == '-' || letter == '_';
    });
    if (!isName || name == "config") {
      llvm::errs() << fmt::format(
          "error: {}:{}: expected 'OPTION = VALUE', found {} [{}]\n", path,
          number, quoted(line), idOf(Code::configLine).str());
      return false;
    }
    if (name == "spec")
      options.push_back(value.str());
    else if (name == "set" || !has(words, name))
      options.push_back(
          ("--" + name + (value.empty() ? "" : "=" + value)).str());
  }
  words.insert(words.begin() + at, options.begin(), options.end());
  return true;
}
