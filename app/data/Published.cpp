//===- Published.cpp - the files of a published model ---------------------===//

#include "app/data/Published.h"
#include "app/open/JsonDepth.h"
#include "runtime/data/OpenFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>
#include <map>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;

/// Reads a file with a JSON object.
static Status readObject(const std::string &path, llvm::json::Object &result) {
  std::string text, why;
  if (!runtime::readWhole(path, text, why))
    return Status::error("cannot read '" + path + "': " + why);
  constexpr unsigned deepest = 100;
  if (nestsDeeper(text, deepest))
    return Status::error("'" + path + "' nests too deep");
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return Status::error("'" + path + "' is not a JSON file");
  }
  llvm::json::Object *object = value->getAsObject();
  if (!object)
    return Status::error("'" + path + "' is not a JSON object");
  result = std::move(*object);
  return Status::success();
}

static std::string folderOf(const std::string &path) {
  return llvm::sys::fs::is_directory(path)
             ? path
             : llvm::sys::path::parent_path(path).str();
}

static std::string inFolder(const std::string &folder, StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Moves the tensors that the index has in one file.
static Status takeShard(const std::string &index, const std::string &shard,
                        const std::vector<std::string> &names,
                        runtime::TensorFile &file) {
  std::string path, why;
  if (!runtime::findBeside(folderOf(index), shard, path, why))
    return Status::error(
        fmt::format("{}: cannot read '{}': {}", index, shard, why));
  runtime::TensorFile part;
  if (Status status = runtime::readSafeTensors(path, part); status.failed())
    return status;
  for (const std::string &name : names) {
    auto found = part.tensors.find(name);
    if (found == part.tensors.end())
      return Status::error(fmt::format(
          "'{}' has no '{}', which '{}' says it has", shard, name, index));
    file.tensors[name] = std::move(found->second);
  }
  return Status::success();
}

static Status readShards(const std::string &index, runtime::TensorFile &file) {
  llvm::json::Object object;
  if (Status status = readObject(index, object); status.failed())
    return status;
  const llvm::json::Object *map = object.getObject("weight_map");
  if (!map)
    return Status::error("'" + index + "' has no 'weight_map'");
  std::map<std::string, std::vector<std::string>> shards;
  for (const auto &[name, shard] : *map) {
    std::optional<StringRef> text = shard.getAsString();
    if (!text)
      return Status::error(fmt::format("'{}' does not name the file of '{}'",
                                       index, name.str()));
    shards[text->str()].push_back(name.str());
  }
  for (const auto &[shard, names] : shards)
    if (Status status = takeShard(index, shard, names, file); status.failed()) {
      file = {};
      return status;
    }
  return Status::success();
}

Status fovea::cli::readPublished(const std::string &path,
                                 runtime::TensorFile &file) {
  constexpr StringRef whole = "model.safetensors";
  if (llvm::sys::fs::is_directory(path)) {
    std::string index = inFolder(path, (whole + ".index.json").str());
    return llvm::sys::fs::exists(index)
               ? readShards(index, file)
               : runtime::readSafeTensors(inFolder(path, whole), file);
  }
  return StringRef(path).ends_with(".index.json")
             ? readShards(path, file)
             : runtime::readSafeTensors(path, file);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

bool fovea::cli::splitSize(StringRef line, StringRef &size, StringRef &key) {
  StringRef rest = line.split('#').first.trim(" \t\r");
  if (!rest.consume_front("size ") && !rest.consume_front("size\t"))
    return false;
  std::tie(size, key) = rest.split('=');
  size = size.trim(" \t");
  key = key.trim(" \t");
  return !size.empty() && rest.contains('=');
}

bool fovea::cli::readSizes(
    Session &session, StringRef map, const std::string &path,
    std::vector<std::pair<std::string, std::string>> &sets) {
  llvm::json::Object config;
  std::string file = inFolder(folderOf(path), "config.json");
  bool isRead = false;
  while (!map.empty()) {
    auto [line, rest] = map.split('\n');
    map = rest;
    StringRef size, key;
    if (!splitSize(line, size, key))
      continue;
    // Without the file, --set gives the sizes.
    if (!isRead && !llvm::sys::fs::exists(file))
      return true;
    if (!isRead)
      if (Status status = readObject(file, config); status.failed()) {
        session.fail(status);
        return false;
      }
    isRead = true;
    std::optional<int64_t> value = config.getInteger(key);
    if (!value) {
      session.error(fmt::format("'{}' has no whole number '{}', the size '{}'",
                                file, key.str(), size.str()));
      return false;
    }
    sets.push_back({size.str(), std::to_string(*value)});
  }
  return true;
}
