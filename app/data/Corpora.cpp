//===- Corpora.cpp - folders and files of examples with names -------------===//

#include "app/data/Corpora.h"
#include "app/data/FileData.h"
#include "app/data/Rows.h"
#include "app/open/JsonDepth.h"
#include "frontends/fov/Diagnostics.h"
#include "runtime/data/PackedFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;
namespace fs = llvm::sys::fs;
namespace paths = llvm::sys::path;

static std::string joined(StringRef folder, StringRef name) {
  llvm::SmallString<128> result(folder);
  paths::append(result, name);
  return result.str().str();
}

static Status readText(const std::string &file, std::string &text) {
  std::string why;
  if (!runtime::readUnpacked(file, text, why))
    return Status::error(fmt::format("cannot read '{}': {}", file, why));
  if (StringRef(text).contains('\0'))
    return Status::error("'" + file + "' has NUL bytes, so it is not text");
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Kaldi
//===----------------------------------------------------------------------===//

/// A table of Kaldi: keys and what follows them.
using Table = std::vector<std::pair<std::string, std::string>>;

static Status readTable(const std::string &file, Table &table) {
  std::string text;
  if (Status status = readText(file, text); status.failed())
    return status;
  StringRef rest = text;
  for (int64_t number = 1; !rest.empty(); ++number) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    line = line.rtrim();
    size_t end = line.find_first_of(" \t");
    if (end == 0 || line.empty())
      return Status::error("a line of Kaldi begins with a key",
                           fmt::format("{}:{}", file, number));
    table.push_back(
        {line.take_front(end).str(),
         end == line.npos ? "" : line.drop_front(end).trim().str()});
  }
  if (table.empty())
    return Status::error("'" + file + "' is empty");
  return Status::success();
}

/// A name as the list's folder has it. Kaldi's scripts write names from where
/// they run, or from the root.
static std::string below(StringRef folder, StringRef name) {
  llvm::SmallString<128> absolute(folder);
  fs::make_absolute(absolute);
  for (StringRef prefix : {folder, absolute.str()})
    if (StringRef rest = name; !prefix.empty() && rest.consume_front(prefix) &&
                               rest.consume_front("/"))
      return rest.str();
  return name.str();
}

static Status takeFiles(const std::string &file, const Table &table,
                        CorpusLines &lines) {
  StringRef folder = paths::parent_path(file);
  lines.folder = folder.empty() ? "." : folder.str();
  for (const auto &[number, row] : llvm::enumerate(table)) {
    std::string where = fmt::format("{}:{}", file, number + 1);
    StringRef name = row.second;
    if (name.ends_with("|"))
      return Status::error("this is a command, which Fovea does not run; help: "
                           "write its sounds to files, and list them",
                           where);
    if (name.ends_with("]"))
      return Status::error("ranges of features are not supported; help: "
                           "'copy-feats' writes them to an archive",
                           where);
    if (!isDataFile(name))
      return Status::error(
          fmt::format("'{}' is neither a sound nor a place in an archive "
                      "(FILE.ark:PLACE)",
                      name.str()),
          where);
    lines.text += below(lines.folder, name) + "\n";
  }
  return Status::success();
}

Status fovea::cli::readScp(const std::string &file, CorpusLines &lines) {
  Table table;
  Status status = readTable(file, table);
  return status.failed() ? status : takeFiles(file, table, lines);
}

/// The files of a folder, and what they have of each utterance.
static constexpr std::pair<const char *, const char *> kaldiParts[] = {
    {"text", "text"},
    {"sound", "wav.scp"},
    {"features", "feats.scp"},
    {"speaker", "utt2spk"}};

static bool isKaldi(StringRef folder) {
  return llvm::any_of(kaldiParts, [&](const auto &part) {
    return fs::is_regular_file(joined(folder, part.second));
  });
}

/// Checks that the files of a folder have the same utterances.
static Status compareKeys(const std::string &folder, const std::string &file,
                          const Table &table) {
  for (const auto &[part, name] : kaldiParts) {
    std::string other = joined(folder, name);
    if (other == file || !fs::is_regular_file(other))
      continue;
    Table others;
    if (Status status = readTable(other, others); status.failed())
      return status;
    size_t i = 0;
    while (i < table.size() && i < others.size() &&
           table[i].first == others[i].first)
      ++i;
    if (i == table.size() && i == others.size())
      continue;
    auto keyOf = [&](const Table &each) {
      return i < each.size() ? "'" + each[i].first + "'" : "nothing";
    };
    return Status::error(fmt::format(
        "line {} of '{}' is about {}, but that of '{}' about {}; help: "
        "'utils/fix_data_dir.sh {}' keeps what all of them have",
        i + 1, file, keyOf(table), other, keyOf(others), folder));
  }
  return Status::success();
}

static Status readKaldi(const std::string &folder, StringRef part,
                        CorpusLines &lines) {
  auto known = llvm::find_if(
      kaldiParts, [&](const auto &each) { return part == each.first; });
  std::string file = joined(folder, known->second);
  bool isSound = part == "sound";
  if (!fs::is_regular_file(file))
    return Status::error(fmt::format("'{}' has no file '{}', which has the {} "
                                     "of a Kaldi folder",
                                     folder, known->second, part.str()));
  if (isSound && fs::is_regular_file(joined(folder, "segments")))
    return Status::error(fmt::format(
        "'{}' cuts recordings by 'segments'; help: 'extract-segments' writes a "
        "sound for each of them",
        folder));
  Table table;
  Status status = readTable(file, table);
  if (status.succeeded())
    status = compareKeys(folder, file, table);
  if (status.failed())
    return status;
  if (isSound || part == "features")
    return takeFiles(file, table, lines);
  for (const auto &[key, value] : table)
    lines.text += value + "\n";
  return Status::success();
}

//===----------------------------------------------------------------------===//
// LibriSpeech
//===----------------------------------------------------------------------===//

static constexpr StringRef transcripts = ".trans.txt";

/// Returns whether a folder has transcripts, or its first folder has.
static bool hasTranscripts(StringRef folder, unsigned depth) {
  std::error_code failure;
  std::string first;
  for (fs::directory_iterator file(folder, failure), end;
       file != end && !failure; file.increment(failure)) {
    if (StringRef(file->path()).ends_with(transcripts))
      return true;
    if (first.empty() && fs::is_directory(file->path()))
      first = file->path();
  }
  return depth > 0 && !first.empty() && hasTranscripts(first, depth - 1);
}

static Status readTranscript(const std::string &folder, const std::string &file,
                             StringRef part, CorpusLines &lines) {
  Table table;
  if (Status status = readTable(file, table); status.failed())
    return status;
  for (const auto &[key, text] : table) {
    if (part == "text") {
      lines.text += text + "\n";
      continue;
    }
    if (part == "speaker") {
      lines.text += StringRef(key).split('-').first.str() + "\n";
      continue;
    }
    std::string own = joined(paths::parent_path(file), key), found;
    for (StringRef ending : {".flac", ".wav", ".ogg", ".opus", ".mp3"})
      if (found.empty() && fs::is_regular_file(own + ending))
        found = own + ending.str();
    if (found.empty())
      return Status::error(fmt::format(
          "'{}' has the text of '{}', but there is no sound '{}.flac'", file,
          key, own));
    lines.text += below(folder, found) + "\n";
  }
  return Status::success();
}

static Status readLibriSpeech(const std::string &folder, StringRef part,
                              CorpusLines &lines) {
  if (part == "features")
    return Status::error(
        fmt::format("'{}' has sounds and texts, but no features; help: declare "
                    "data 'from sound(rate = 16000)'",
                    folder));
  lines.folder = folder;
  std::vector<std::string> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator
           file(folder, failure, /*follow_symlinks=*/false),
       end;
       file != end && !failure; file.increment(failure))
    if (StringRef(file->path()).ends_with(transcripts))
      files.push_back(file->path());
  if (failure)
    return Status::error(
        fmt::format("cannot read '{}': {}", folder, failure.message()));
  if (files.empty())
    return Status::error(fmt::format(
        "'{}' is a folder without text; help: give a file with one "
        "example per line, a folder of Kaldi ('text', 'wav.scp') or "
        "one as LibriSpeech ('*.trans.txt')",
        folder));
  llvm::sort(files);
  for (const std::string &file : files)
    if (Status status = readTranscript(folder, file, part, lines);
        status.failed())
      return status;
  return Status::success();
}

bool fovea::cli::isCorpus(const std::string &folder) {
  // A part, a speaker, a chapter.
  constexpr unsigned depth = 3;
  return isKaldi(folder) || hasTranscripts(folder, depth);
}

Status fovea::cli::readCorpus(const std::string &given, StringRef part,
                              CorpusLines &lines) {
  std::string folder = StringRef(given).rtrim('/').str();
  std::vector<StringRef> parts;
  for (const auto &each : kaldiParts)
    parts.push_back(each.first);
  if (!llvm::is_contained(parts, part))
    return Status::error(fmt::format("'{}' has no part '{}'{}", folder,
                                     part.str(), existing(part, parts)));
  return isKaldi(folder) ? readKaldi(folder, part, lines)
                         : readLibriSpeech(folder, part, lines);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// An object, its lists, their objects, and what COCO has of those.
static constexpr unsigned deepestFile = 16;

/// Where COCO's pictures are: `annotations/captions_train2017.json` names those
/// of the folder `train2017` beside its own. Otherwise beside the file.
static std::string pictureFolder(const std::string &file) {
  StringRef own = paths::parent_path(file);
  StringRef split =
      paths::stem(runtime::withoutPacking(file)).rsplit('_').second;
  llvm::SmallString<128> outer(own.empty() ? "." : own);
  paths::append(outer, "..", split);
  if (!split.empty() && fs::is_directory(outer))
    return outer.str().str();
  return own.empty() ? "." : own.str();
}

/// Adds the value of an object as a line.
static Status addLine(const std::string &file, size_t number,
                      const llvm::json::Value *object, StringRef key,
                      CorpusLines &lines) {
  std::string text;
  Status status = object && object->getAsObject()
                      ? valueAsLine(*object->getAsObject(), key, text)
                      : Status::error("it is not an object");
  if (status.failed())
    return Status::error(
        fmt::format("object {} of '{}': {}", number + 1, file, status.text()));
  lines.text += text + "\n";
  return Status::success();
}

/// A line for each annotation: its own value, or its picture's.
static Status readCoco(const std::string &file, const llvm::json::Array &images,
                       const llvm::json::Array &annotations, StringRef key,
                       CorpusLines &lines) {
  lines.folder = pictureFolder(file);
  llvm::StringMap<const llvm::json::Value *> byId;
  auto idOf = [](const llvm::json::Value &value, StringRef name) {
    const llvm::json::Object *object = value.getAsObject();
    std::string id;
    if (object && valueAsLine(*object, name, id).failed())
      id.clear();
    return id;
  };
  for (const llvm::json::Value &image : images)
    byId[idOf(image, "id")] = &image;
  bool isOfPicture = key == "file_name";
  for (auto [number, annotation] : llvm::enumerate(annotations)) {
    const llvm::json::Value *object = &annotation;
    if (isOfPicture) {
      std::string id = idOf(annotation, "image_id");
      object = id.empty() ? nullptr : byId.lookup(id);
      if (!object)
        return Status::error(
            fmt::format("annotation {} of '{}' has the image_id '{}', which no "
                        "image has",
                        number + 1, file, id));
    }
    if (Status status = addLine(file, number, object, key, lines);
        status.failed())
      return status;
  }
  return Status::success();
}

Status fovea::cli::readObjects(const std::string &file, StringRef key,
                               CorpusLines &lines) {
  std::string text;
  if (Status status = readText(file, text); status.failed())
    return status;
  if (nestsDeeper(text, deepestFile))
    return Status::error("'" + file + "' nests its JSON too deep");
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    std::string why = llvm::toString(value.takeError());
    return Status::error(fmt::format("'{}' is not JSON: {}", file, why));
  }
  StringRef folder = paths::parent_path(file);
  lines.folder = folder.empty() ? "." : folder.str();
  Status status;
  if (const llvm::json::Array *list = value->getAsArray()) {
    for (auto [number, object] : llvm::enumerate(*list))
      if (status = addLine(file, number, &object, key, lines); status.failed())
        return status;
  } else {
    const llvm::json::Object *object = value->getAsObject();
    const llvm::json::Array *images =
                                object ? object->getArray("images") : nullptr,
                            *annotations = object
                                               ? object->getArray("annotations")
                                               : nullptr;
    if (!images || !annotations)
      return Status::error(
          "'" + file +
          "' is neither a list of objects nor captions of COCO ('images' and "
          "'annotations'); help: write an object per line into a file "
          "FILE.jsonl");
    status = readCoco(file, *images, *annotations, key, lines);
  }
  if (status.succeeded() && lines.text.empty())
    return Status::error("'" + file + "' has no examples");
  return status;
}
