//===- ConfigFile.cpp - options of a command in a file --------------------===//

#include "tools/fovea/ConfigFile.h"
#include "app/data/Files.h"
#include "app/open/Errors.h"
#include "frontends/fov/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace fovea::cli;
using fovea::Code;
using fovea::quoted;
using llvm::StringRef;

static std::nullopt_t refuse(const std::string &place, Code code,
                             const std::string &text) {
  beginError() << (place.empty() ? "" : place + ": ") << text << " ["
               << fovea::idOf(code) << "]\n";
  return std::nullopt;
}

/// Takes `--config FILE` or `--config=FILE` out of `words`. Returns the files.
static std::vector<std::string> takeFiles(std::vector<std::string> &words) {
  std::vector<std::string> files;
  for (size_t at = 0; at < words.size();) {
    StringRef word = words[at];
    size_t count = 1;
    if (word == "--config" && at + 1 < words.size()) {
      files.push_back(words[at + 1]);
      count = 2;
    } else if (word.consume_front("--config=")) {
      files.push_back(word.str());
    } else {
      ++at;
      continue;
    }
    words.erase(words.begin() + at, words.begin() + at + count);
  }
  return files;
}

/// Returns a value without its comment and quotes. A comment begins with `#`
/// after white space. Returns nothing if a quote is not closed.
static std::optional<std::string> bareValue(StringRef text) {
  text = text.trim();
  if (text.starts_with("\"") || text.starts_with("'")) {
    size_t close = text.find(text.front(), 1);
    if (close == StringRef::npos)
      return std::nullopt;
    StringRef rest = text.drop_front(close + 1).ltrim();
    if (!rest.empty() && !rest.starts_with("#"))
      return std::nullopt;
    return text.slice(1, close).str();
  }
  for (size_t at = text.find('#'); at != StringRef::npos;
       at = text.find('#', at + 1))
    if (at == 0 || llvm::isSpace(text[at - 1]))
      return text.take_front(at).rtrim().str();
  return text.str();
}

static bool isName(StringRef name) {
  return !name.empty() && name != "config" && llvm::all_of(name, [](char c) {
    return llvm::isAlnum(c) || c == '-' || c == '_';
  });
}

std::optional<Config> fovea::cli::takeConfig(std::vector<std::string> &words) {
  Config config;
  std::vector<std::string> files = takeFiles(words);
  if (files.empty())
    return config;
  if (files.size() > 1)
    return refuse("", Code::argumentConflict,
                  "'--config' is given twice, as '" + files[0] + "' and '" +
                      files[1] + "'; help: join the files");
  config.path = files.front();
  if (config.path.empty())
    return refuse("", Code::argumentValue,
                  "'--config' has an empty value; help: name a file");
  std::optional<std::string> text = readInput(config.path);
  if (!text)
    return std::nullopt;
  StringRef content = *text;
  content.consume_front("\xEF\xBB\xBF"); // UTF-8's byte order mark
  int number = 0;
  for (StringRef line : llvm::split(content, '\n')) {
    line = line.trim();
    ConfigLine next;
    next.place = fmt::format("{}:{}", config.path, ++number);
    if (line.empty() || line.starts_with("#"))
      continue;
    size_t equals = line.find('=');
    bool hasValue = equals < line.find('#');
    std::optional<std::string> name = bareValue(line.take_front(equals));
    if (!hasValue)
      name = bareValue(line);
    if (!name || !isName(*name))
      return refuse(next.place, Code::configLine,
                    "expected 'OPTION = VALUE', found " + quoted(line));
    next.name = *name;
    if (StringRef(next.name).starts_with("-"))
      return refuse(next.place, Code::configLine,
                    fmt::format("unexpected dashes; help: write '{}'",
                                StringRef(next.name).ltrim('-').str()));
    if (hasValue) {
      next.value = bareValue(line.drop_front(equals + 1));
      if (!next.value)
        return refuse(next.place, Code::configLine,
                      fmt::format("the value of '{}' has an odd quote; help: "
                                  "begin and end it with the same quote, and "
                                  "put the other kind inside",
                                  next.name));
      if (next.value->empty())
        return refuse(next.place, Code::configLine,
                      fmt::format("'{}' has an empty value; help: write a "
                                  "value, or remove the line",
                                  next.name));
    }
    config.lines.push_back(next);
  }
  return config;
}
