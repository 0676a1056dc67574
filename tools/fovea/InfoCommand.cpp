//===- InfoCommand.cpp - fovea info ---------------------------------------===//
//
// Describes a trained model by its files alone: the spec and vocabularies in
// its weights, the state of its training, the command line and the log.
//
//===----------------------------------------------------------------------===//

#include "app/data/Files.h"
#include "app/open/Errors.h"
#include "app/open/Session.h"
#include "app/train/Checkpoint.h"
#include "app/train/Progress.h"
#include "runtime/data/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
namespace json = llvm::json;

namespace {

/// One `fovea info`: prints lines of a name and a text.
class InfoCommand {
public:
  explicit InfoCommand(const Arguments &arguments) : arguments(arguments) {}

  int run();

private:
  bool readWeights();
  void printModel();
  void printVocabularies();
  void printTraining();
  void printCommandLine();
  void printLog();
  void line(StringRef name, const std::string &text) {
    llvm::outs() << fmt::format("{:<13} {}\n", name.str(), text);
  }
  std::string pathOf(StringRef name) const {
    return (StringRef(arguments.stored).rsplit('/').first + "/" + name).str();
  }
  /// Returns whether there is a file beside the weights of a training folder.
  bool hasBeside(StringRef name) const;
  /// Returns the text of such a file, or nothing.
  std::optional<std::string> besideWeights(StringRef name);

  const Arguments &arguments;
  int code = done; // of what could not be read
  runtime::TensorFile weights;
  StoredSpec spec;
};

} // namespace

bool InfoCommand::readWeights() {
  auto sets = arguments.sets;
  runtime::Status status = readModel(arguments.stored, sets, weights);
  if (status.failed() || !spec.take(weights.metadata)) {
    beginError() << (status.failed()
                         ? status.text()
                         : "'" + arguments.stored + "' contains no spec")
                 << '\n';
    return false;
  }
  return true;
}

bool InfoCommand::hasBeside(StringRef name) const {
  llvm::sys::fs::file_status status;
  return StringRef(arguments.stored).ends_with("/model.safetensors") &&
         llvm::sys::fs::status(pathOf(name), status) !=
             std::errc::no_such_file_or_directory;
}

std::optional<std::string> InfoCommand::besideWeights(StringRef name) {
  if (!hasBeside(name))
    return std::nullopt;
  std::optional<std::string> text = readInput(pathOf(name));
  if (!text)
    code = badInput;
  return text;
}

void InfoCommand::printModel() {
  int64_t values = 0;
  std::string type;
  for (const auto &[name, tensor] : weights.tensors) {
    values += tensor.numElements();
    type = runtime::nameOf(tensor.type);
  }
  auto name = weights.metadata.find("model");
  line("model",
       fmt::format("{} ({})",
                   name == weights.metadata.end() ? "unnamed" : name->second,
                   spec.name));
  line("parameters",
       fmt::format("{}, {} values, {}", weights.tensors.size(), values, type));
  std::vector<std::string> dims;
  for (const auto &[dim, size] : spec.dims)
    if (dim.find('.') == std::string::npos)
      dims.push_back(fmt::format("{} = {}", dim, size));
  if (!dims.empty())
    line("dims", llvm::join(dims, ", "));
  for (const auto &[key, value] : spec.sets)
    line("set", key + "=" + value);
}

void InfoCommand::printVocabularies() {
  runtime::Vocabularies vocabularies;
  for (const auto &[key, text] : weights.metadata)
    if (runtime::Vocabularies::isKey(key) &&
        vocabularies.take(key, text, runtime::Vocabularies::nameIn(key))
            .failed())
      line("vocabulary", runtime::Vocabularies::nameIn(key) + ": damaged");
  for (const auto &[name, vocabulary] : vocabularies.all())
    line("vocabulary",
         fmt::format("{}: {} {}", name, vocabulary.byId.size(),
                     vocabulary.isChars ? "characters" : "symbols"));
}

/// The settings, and how far the training is.
void InfoCommand::printTraining() {
  if (!hasBeside("last/state.safetensors"))
    return;
  runtime::TensorFile state;
  Position position;
  runtime::Status status =
      runtime::readSafeTensors(pathOf("last/state.safetensors"), state);
  if (status.failed()) {
    beginError() << status.text() << '\n';
    code = badInput;
    return;
  }
  if (!TrainingFolder::takePosition(state, position))
    return;
  line("updates", fmt::format("{}, {} epochs, seed {}", position.update,
                              position.epoch, position.seed));
  for (const auto &[name, text] : position.identity) {
    bool isHash = name == "data" || name == "validation" || name == "equations";
    if (!text.empty())
      line(isHash ? name + " hash" : name, text);
  }
}

/// The text of an entry, or of the entries of a list.
static std::string textOf(const json::Object &object, StringRef key) {
  if (std::optional<StringRef> text = object.getString(key))
    return text->str();
  std::vector<std::string> parts;
  if (const json::Array *list = object.getArray(key))
    for (const json::Value &part : *list)
      if (std::optional<StringRef> text = part.getAsString())
        parts.push_back(text->str());
  return llvm::join(parts, " ");
}

void InfoCommand::printCommandLine() {
  std::optional<std::string> text = besideWeights("last/given.json");
  llvm::Expected<json::Value> given = json::parse(text.value_or("{}"));
  if (!given)
    return llvm::consumeError(given.takeError());
  const json::Object *object = given->getAsObject();
  if (!object)
    return;
  for (StringRef key : {"version", "command", "data", "valid"})
    if (std::string value = textOf(*object, key); !value.empty())
      line(key == "version" ? "made by" : key, value);
  if (const json::Object *hashes = object->getObject("sha256")) {
    // The entries of an object have no order.
    std::map<std::string, std::string> byPath;
    for (const auto &[path, hash] : *hashes)
      if (std::optional<StringRef> text = hash.getAsString())
        byPath[StringRef(path).str()] = text->str();
    for (const auto &[path, hash] : byPath)
      line("sha256", hash + "  " + path);
  }
}

/// The best validation, and the last report.
void InfoCommand::printLog() {
  std::string best, last;
  double seconds = 0;
  std::string text = besideWeights("log.jsonl").value_or("");
  for (StringRef row : llvm::split(text, '\n')) {
    llvm::Expected<json::Value> value = json::parse(row);
    if (!value) {
      llvm::consumeError(value.takeError());
      continue;
    }
    const json::Object *entry = value->getAsObject();
    if (!entry)
      continue;
    seconds = entry->getNumber("seconds").value_or(seconds);
    // The entries of an object have no order.
    std::map<std::string, double> numbers;
    for (const auto &[key, figure] : *entry)
      if (StringRef name = key; name.consume_front("valid_"))
        if (std::optional<double> number = figure.getAsNumber())
          numbers[name.str()] = *number;
    std::string figures;
    for (const auto &[name, number] : numbers)
      figures += fmt::format(", {} {:.4g}", name, number);
    if (!figures.empty() && entry->getBoolean("best").value_or(false))
      best = fmt::format("update {}{}", entry->getInteger("step").value_or(0),
                         figures);
    if (std::optional<double> loss = entry->getNumber("loss"))
      last = fmt::format("update {}, loss {:.4g}",
                         entry->getInteger("step").value_or(0), *loss);
  }
  if (seconds > 0)
    line("time", clockText(seconds));
  if (!last.empty())
    line("last report", last);
  if (!best.empty())
    line("best", best);
}

int InfoCommand::run() {
  if (!readWeights())
    return badInput;
  printModel();
  printVocabularies();
  printCommandLine();
  printTraining();
  printLog();
  llvm::outs() << "\n" << StringRef(spec.text).rtrim() << '\n';
  for (const auto &[name, text] : spec.used)
    llvm::outs() << "\n" << StringRef(text).rtrim() << '\n';
  return code;
}

int fovea::cli::runInfo(const Arguments &arguments) {
  if (arguments.stored.empty())
    return wrongUsage("'" + arguments.spec() +
                      "' is not a training folder or a weights file; help: "
                      "'fovea check' describes a spec");
  return InfoCommand(arguments).run();
}
