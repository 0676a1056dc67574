//===- Samples.cpp - what a training has learnt so far --------------------===//

#include "app/watch/Samples.h"
#include "app/data/Inputs.h"
#include "codegen/native/Link.h"
#include "runtime/data/OpenFile.h"
#include "runtime/data/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using nlohmann::json;

/// The number of decoded examples.
static constexpr size_t numSamples = 4;

static constexpr const char *noFolder = "cannot create a temporary folder";

namespace {

/// A temporary folder, removed with its content. Its name has the number of
/// this process: what a killed one has left, the next one removes.
class TemporaryFolder {
public:
  TemporaryFolder() {
    removeLeft();
    if (llvm::sys::fs::createUniqueDirectory(
            start.str() + std::to_string(getpid()), path))
      path.clear();
  }
  ~TemporaryFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  bool isMade() const { return !path.empty(); }
  std::string file(StringRef name) const { return (path + "/" + name).str(); }

private:
  static constexpr StringRef start = "fovea-watch-";

  /// Removes the folders of processes that are no more.
  static void removeLeft() {
    llvm::SmallString<128> parent;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, parent);
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(parent, error, false), end;
         it != end && !error; it.increment(error)) {
      StringRef name = llvm::sys::path::filename(it->path());
      pid_t owner;
      bool isLeft = name.consume_front(start) &&
                    !name.split('-').first.getAsInteger(10, owner) &&
                    owner > 0 && kill(owner, 0) && errno == ESRCH;
      if (isLeft)
        llvm::sys::fs::remove_directories(it->path());
    }
  }

  llvm::SmallString<128> path;
};

} // namespace

/// False, with a sentence in `why`, if that fails.
static bool readFile(const std::string &path, std::string &text,
                     std::string &why) {
  std::string reason;
  if (runtime::readWhole(path, text, reason))
    return true;
  why = fmt::format("cannot read '{}': {}", path, reason);
  return false;
}

static bool writeLines(const std::string &path,
                       const std::vector<std::string> &lines,
                       std::string &why) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  llvm::Error error = codegen::writeFile(path, text);
  bool failed = bool(error);
  why = llvm::toString(std::move(error));
  return !failed;
}

/// Runs `fovea` without input, and reads what it prints. False, with its
/// sentence in `why`, if it fails.
static bool runSelf(std::vector<std::string> arguments,
                    const TemporaryFolder &folder, std::string &printed,
                    std::string &why) {
  static int here;
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, &here);
  arguments.insert(arguments.begin(), "fovea");
  std::vector<StringRef> texts(arguments.begin(), arguments.end());
  std::string out = folder.file("out"), err = folder.file("err");
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(out),
                                          StringRef(err)};
  std::string failure, said;
  int code = llvm::sys::ExecuteAndWait(self, texts, std::nullopt, redirects, 0,
                                       0, &failure);
  if (code == 0)
    return readFile(out, printed, why);
  // What was not started has said nothing.
  if (failure.empty() && !readFile(err, said, why))
    return false;
  why = StringRef(said).rtrim().str();
  if (why.empty())
    why = fmt::format("'fovea {}' failed: {}", arguments[1],
                      failure.empty() ? fmt::format("exit code {}", code)
                                      : failure);
  return false;
}

/// An object of JSON, or an empty one.
static json parsed(const std::string &text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_object() ? value : json::object();
}

static std::string weightsIn(const std::string &folder) {
  return folder + "/model.safetensors";
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// A family's `look.5` becomes `look`: all members are drawn together.
static std::string familyOf(StringRef name) {
  while (true) {
    auto [before, member] = name.rsplit('.');
    if (before.empty() || member.empty() ||
        !llvm::all_of(member, llvm::isDigit))
      return name.str();
    name = before;
  }
}

bool fovea::cli::readWatchedModel(const std::string &folder,
                                  WatchedModel &model, std::string &why) {
  model = {};
  if (!llvm::sys::fs::exists(weightsIn(folder)))
    return true;
  TemporaryFolder temporary;
  std::string printed;
  if (!temporary.isMade()) {
    why = noFolder;
    return false;
  }
  if (!runSelf({"check", weightsIn(folder), "--json"}, temporary, printed, why))
    return false;
  json about = parsed(printed);
  model.name = about.value("model", "");
  auto isLength = [&](const json &extent) {
    return llvm::any_of(about["lengths"],
                        [&](const json &length) { return length == extent; });
  };
  for (const json &data : about["data"])
    (data.value("chosen", false) ? model.chosen : model.given)
        .push_back(data.value("name", ""));
  for (const json &equation : about["equations"]) {
    const json &extents = equation["extents"];
    size_t rank = extents.size();
    std::string name = familyOf(equation.value("name", ""));
    if (rank >= 2 && isLength(extents[rank - 1]) &&
        isLength(extents[rank - 2]) && !llvm::is_contained(model.shows, name))
      model.shows.push_back(name);
  }
  // The latest computed first: attention weights before their scores.
  std::reverse(model.shows.begin(), model.shows.end());
  return true;
}

//===----------------------------------------------------------------------===//
// Examples
//===----------------------------------------------------------------------===//

/// Reads the first lines of a file, or of its column, compressed or not. False,
/// with a sentence in `why`, if that fails.
static bool firstLines(const std::string &given,
                       std::vector<std::string> &lines, std::string &why) {
  TextSource source = sourceOf(given);
  std::string line, reason;
  auto file = runtime::PackedFile::open(source.path, reason);
  if (!file) {
    why = fmt::format("cannot read '{}': {}", source.path, reason);
    return false;
  }
  std::string part(1 << 16, '\0');
  ptrdiff_t count = 0, next = 0; // in the part
  while (lines.size() < numSamples && line.size() <= runtime::longestLine) {
    if (next == count) {
      next = 0;
      if ((count = file->read(part.data(), part.size())) <= 0)
        break;
    }
    if (char c = part[next++]; c != '\n') {
      line += c;
      continue;
    }
    StringRef text = line;
    for (unsigned column = 1; column < source.column; ++column)
      text = text.split('\t').second;
    lines.push_back(
        (source.column > 0 ? text.split('\t').first : text).rtrim('\r').str());
    line.clear();
  }
  if (count >= 0)
    return true;
  why = fmt::format("cannot read '{}': {}", source.path, file->problem());
  return false;
}

static std::string error(const std::string &text) {
  return json{{"error", text}}.dump(-1, ' ', false,
                                    json::error_handler_t::replace);
}

std::string fovea::cli::samplesOf(const std::string &folder,
                                  const WatchedModel &model,
                                  const std::string &show) {
  if (model.name.empty())
    return error("no weights saved yet");
  if (model.chosen.empty())
    return error("'" + model.name + "' generates nothing");
  if (!show.empty() && !llvm::is_contained(model.shows, show))
    return error("no picture of '" + show + "'");
  TemporaryFolder temporary;
  if (!temporary.isMade())
    return error(noFolder);
  std::string text, why;
  if (!readFile(folder + "/last/given.json", text, why))
    return error(why);
  json called = parsed(text);
  json given = called.value("valid", json::array());
  if (given.empty())
    given = called.value("data", json::array());
  nlohmann::ordered_json examples = nlohmann::ordered_json::array();
  std::vector<std::string> arguments = {"decode", weightsIn(folder), "--quiet",
                                        "--threads", "1"};
  for (const json &entry : given) {
    std::string name, path;
    if (!entry.is_string() ||
        !splitPair(entry.get<std::string>(), name, path) ||
        GivenData{name, path}.form() != GivenData::Text)
      return error("these data are not lines of text");
    std::vector<std::string> lines;
    if (!firstLines(path, lines, why))
      return error(why);
    for (size_t i = 0; i < lines.size(); ++i)
      examples[i][name] = lines[i];
    if (!llvm::is_contained(model.given, name))
      continue;
    std::string file = temporary.file(name);
    if (!writeLines(file, lines, why))
      return error(why);
    llvm::append_values(arguments, "--data", name + "=" + file);
  }
  std::string picture = temporary.file("picture.svg");
  if (!show.empty())
    llvm::append_values(arguments, "--show", show + "=" + picture);
  std::string out;
  if (!runSelf(arguments, temporary, out, why))
    return error(why);
  llvm::SmallVector<StringRef> lines;
  StringRef(out).rtrim('\n').split(lines, '\n');
  for (size_t i = 0; i < lines.size() && i < numSamples; ++i)
    examples[i]["generated"] = lines[i].str();
  nlohmann::ordered_json result = {{"examples", examples}};
  if (!show.empty()) {
    if (!readFile(picture, text, why))
      return error(why);
    result["picture"] = text;
  }
  return result.dump(-1, ' ', false, json::error_handler_t::replace);
}
