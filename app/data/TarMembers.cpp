//===- TarMembers.cpp - the examples of WebDataset's archives -------------===//

#include "app/data/TarMembers.h"
#include "frontends/fov/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::TarFile;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The end of the archive's name in `FILE.tar.gz:txt`; npos: there is none.
static size_t endOfTar(StringRef path) {
  for (StringRef ending : {".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.zst"}) {
    if (path.ends_with(ending))
      return path.size();
    if (size_t found = path.find((ending + ":").str()); found != path.npos)
      return found + ending.size();
  }
  return StringRef::npos;
}

bool fovea::cli::isTar(StringRef path) {
  return endOfTar(path) != StringRef::npos;
}

TarName fovea::cli::splitTar(StringRef path) {
  size_t end = endOfTar(path);
  auto [ending, key] = path.drop_front(end).ltrim(':').split(':');
  return {path.take_front(end).str(), ending.lower(), key.str()};
}

/// `{000..099}` in a name means each of these numbers, with as many digits.
static std::vector<std::string> expanded(StringRef name) {
  constexpr unsigned most = 1 << 20;
  auto [before, rest] = name.split('{');
  auto [range, after] = rest.split('}');
  auto [first, last] = range.split("..");
  unsigned from = 0, to = 0;
  if (first.getAsInteger(10, from) || last.getAsInteger(10, to) || from > to ||
      to > most)
    return {name.str()};
  std::vector<std::string> result;
  for (unsigned number = from; number <= to; ++number)
    result.push_back(fmt::format("{}{:0{}}{}", before.str(), number,
                                 first.size(), after.str()));
  return result;
}

/// The name of an example and the ending of its file: up to the first dot after
/// the last slash, and from there.
static std::pair<StringRef, StringRef> splitExample(StringRef name) {
  size_t slash = name.rfind('/');
  size_t begin = slash == name.npos ? 0 : slash + 1;
  size_t dot = name.find('.', begin);
  if (dot == name.npos)
    return {name, ""};
  return {name.take_front(dot), name.drop_front(dot + 1)};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

TarMembers::TarMembers(const TarName &name)
    : wanted(name), paths(expanded(name.files)) {}

TarMembers::Found TarMembers::fail(const std::string &text) {
  why = text;
  return Failed;
}

/// Checks, after the last file of an example, that one of them was wanted.
bool TarMembers::isGroupGood() {
  if (example.empty() || isFound)
    return true;
  std::vector<StringRef> known(endings.begin(), endings.end());
  why = fmt::format("'{}': example '{}' has no file '.{}'{}", paths[number - 1],
                    example, wanted.ending, existing(wanted.ending, known));
  return false;
}

TarMembers::Found TarMembers::next(std::string &name, std::string &bytes) {
  if (wanted.ending.empty())
    return fail(fmt::format("'{0}' has several files for each example; help: "
                            "name one by its ending, such as {0}:txt",
                            wanted.files));
  for (;;) {
    if (!file) {
      if (!isGroupGood())
        return Failed;
      example.clear();
      if (number == paths.size())
        return End;
      std::string reason;
      file = TarFile::open(paths[number], reason);
      if (!file)
        return fail(fmt::format("cannot read '{}': {}", paths[number], reason));
      ++number;
    }
    std::string member;
    switch (file->next(member)) {
    case TarFile::Failed:
      return fail(fmt::format("cannot read '{}': {}", paths[number - 1],
                              file->problem()));
    case TarFile::End:
      file.reset();
      continue;
    case TarFile::File:
      break;
    }
    auto [own, ending] = splitExample(member);
    StringRef last = own.substr(own.rfind('/') + 1);
    // Hidden files, and what WebDataset says of the whole archive.
    if (ending.empty() || last.empty() || last.starts_with("__"))
      continue;
    if (own != example) {
      if (!isGroupGood())
        return Failed;
      example = own.str();
      endings.clear();
      isFound = false;
    }
    endings.push_back(ending.lower());
    llvm::SmallVector<StringRef> alternatives;
    StringRef(wanted.ending).split(alternatives, ';');
    if (!llvm::is_contained(alternatives, endings.back()))
      continue;
    if (std::exchange(isFound, true))
      return fail(fmt::format("'{}': example '{}' has two files '.{}'",
                              paths[number - 1], example, wanted.ending));
    if (!file->read(bytes))
      return fail(fmt::format("cannot read '{}': {}", paths[number - 1],
                              file->problem()));
    name = paths[number - 1] + ":" + member;
    return Good;
  }
}
