//===- StoredSpec.cpp - a spec that its weights carry ---------------------===//

#include "app/open/StoredSpec.h"
#include "app/open/JsonDepth.h"
#include "frontends/onnx/Onnx.h"
#include "runtime/train/OptimiserState.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace fovea::cli;
using llvm::StringRef;
namespace json = llvm::json;

/// The key of the metadata entry.
static constexpr const char *specKey = "spec";

/// JSON requires UTF-8; another spec is rejected before it is stored.
static json::Value jsonText(const std::string &text) {
  return json::isUTF8(text) ? text : json::fixUTF8(text);
}

static json::Object objectOf(const std::map<std::string, std::string> &texts) {
  json::Object result;
  for (const auto &[name, text] : texts)
    result[jsonText(name).getAsString()->str()] = jsonText(text);
  return result;
}

void StoredSpec::store(std::map<std::string, std::string> &metadata) const {
  json::Array pairs;
  for (const auto &[name, value] : sets)
    pairs.push_back(json::Array{jsonText(name), jsonText(value)});
  json::Object sizes;
  for (const auto &[dim, value] : dims)
    sizes[dim] = value;
  json::Value entry =
      json::Object{{"name", jsonText(name)},   {"text", jsonText(text)},
                   {"used", objectOf(used)},   {"files", objectOf(files)},
                   {"sets", std::move(pairs)}, {"dims", std::move(sizes)}};
  llvm::raw_string_ostream(metadata[specKey]) << entry;
}

static bool takeTexts(const json::Object *object,
                      std::map<std::string, std::string> &texts) {
  if (!object)
    return false;
  for (const auto &[name, value] : *object) {
    std::optional<StringRef> text = value.getAsString();
    if (!text)
      return false;
    texts[name.str()] = text->str();
  }
  return true;
}

bool StoredSpec::take(const std::map<std::string, std::string> &metadata) {
  auto entry = metadata.find(specKey);
  // An object of objects and lists of texts: deeper nesting is invalid.
  if (entry == metadata.end() || nestsDeeper(entry->second, 3))
    return false;
  llvm::Expected<json::Value> value = json::parse(entry->second);
  if (!value) {
    llvm::consumeError(value.takeError());
    return false;
  }
  const json::Object *object = value->getAsObject();
  if (!object)
    return false;
  std::optional<StringRef> givenName = object->getString("name");
  std::optional<StringRef> givenText = object->getString("text");
  const json::Array *pairs = object->getArray("sets");
  const json::Object *sizes = object->getObject("dims");
  if (!givenName || !givenText || !pairs || !sizes ||
      !takeTexts(object->getObject("used"), used) ||
      !takeTexts(object->getObject("files"), files))
    return false;
  name = givenName->str();
  text = givenText->str();
  for (const json::Value &pair : *pairs) {
    const json::Array *both = pair.getAsArray();
    if (!both || both->size() != 2 || !(*both)[0].getAsString() ||
        !(*both)[1].getAsString())
      return false;
    sets.push_back(
        {(*both)[0].getAsString()->str(), (*both)[1].getAsString()->str()});
  }
  for (const auto &[dim, size] : *sizes)
    if (std::optional<int64_t> number = size.getAsInteger())
      dims[dim.str()] = *number;
  return true;
}

fovea::runtime::Status
fovea::cli::readModel(const std::string &path,
                      std::vector<std::pair<std::string, std::string>> &sets,
                      runtime::TensorFile &file) {
  if (!StringRef(path).ends_with(".onnx")) {
    runtime::OptimiserState unused;
    runtime::Status status = runtime::readSafeTensors(path, file);
    return status.failed() ? status
                           : runtime::takeOptimiser(file, path, unused);
  }
  onnx::ImportedModel model;
  if (runtime::Status status = onnx::importModel(path, sets, model);
      status.failed())
    return status;
  llvm::erase_if(sets, [&](const auto &set) {
    return llvm::is_contained(model.usedSets, set.first);
  });
  StoredSpec spec;
  spec.name = "equations";
  spec.text = std::move(model.text);
  file = std::move(model.weights);
  spec.store(file.metadata);
  return runtime::Status::success();
}

void fovea::cli::findStored(Arguments &arguments) {
  if (arguments.specs.size() != 1 || arguments.command == "fmt")
    return;
  const std::string &given = arguments.spec();
  bool isFolder = llvm::sys::fs::is_directory(given);
  if (!isFolder && !StringRef(given).ends_with(".safetensors") &&
      !StringRef(given).ends_with(".onnx"))
    return;
  StringRef folder = StringRef(given).rtrim('/');
  arguments.stored = isFolder ? folder.str() + "/model.safetensors" : given;
  if (arguments.command == "train" && arguments.resume && isFolder) {
    arguments.stored = folder.str() + "/last/state.safetensors";
    if (arguments.folder.empty())
      arguments.folder = folder.str();
  } else if (arguments.command != "init" && arguments.weights.empty()) {
    arguments.weights = arguments.stored;
  }
}
