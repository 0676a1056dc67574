//===- TrainBlock.cpp - the train block of a spec as texts ----------------===//

#include "app/train/TrainBlock.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

/// An entry of a block as its text.
static std::string optionText(mlir::Attribute value) {
  if (auto whole = dyn_cast<mlir::IntegerAttr>(value))
    return std::to_string(whole.getInt());
  if (auto real = dyn_cast<mlir::FloatAttr>(value))
    return fmt::format("{}", real.getValueAsDouble());
  return cast<mlir::StringAttr>(value).str();
}

TrainBlock fovea::cli::readTrainBlock(Model &model) {
  TrainBlock block;
  if (auto train =
          (*model.module)->getAttrOfType<mlir::DictionaryAttr>("attn.train"))
    for (mlir::NamedAttribute entry : train)
      block.entries[entry.getName().str()] = optionText(entry.getValue());
  auto average = block.entries.find("average");
  block.averagesExamples =
      average != block.entries.end() && average->second == "example";
  return block;
}

/// Reports an error in the value of `train { NAME = .. }`.
static void entryError(Session &session, const Arguments &arguments,
                       const Model &model, const std::string &name,
                       const std::string &rest) {
  std::string text = "train { " + name + " = .. }: " + rest;
  auto entry = model.trainPlaces.find(name);
  if (entry == model.trainPlaces.end())
    return session.error(arguments.spec() + ": " + text);
  session.diagnostics().error(Code::optionValue, entry->second, text);
}

void fovea::cli::reportTrainOption(Session &session, const Arguments &arguments,
                                   const Model &model,
                                   const runtime::Status &status) {
  const std::string text = status.text();
  auto [name, rest] = StringRef(text).split(" = .. }: ");
  if (!name.consume_front("train { "))
    return session.error(arguments.spec() + ": " + text);
  for (const auto &[key, value] : llvm::reverse(arguments.sets))
    if (key == "train." + name.str())
      return session.diagnostics().error(
          Code::override, {}, "--set " + key + "=" + value + ": " + rest.str());
  if (arguments.batch && name == "batch")
    return session.error("'--batch " + std::to_string(*arguments.batch) +
                         "': " + rest.str());
  entryError(session, arguments, model, name.str(), rest.str());
}

bool fovea::cli::readFrozen(Session &session, const Arguments &arguments,
                            const Model &model,
                            std::vector<std::string> &frozen) {
  for (const UseInfo &use : model.uses) {
    if (!use.frozen)
      continue;
    if (use.prefix.empty()) {
      session.error(arguments.spec() +
                    ": a model that is included cannot be "
                    "frozen; help: give it a name: use n = m(..)");
      return false;
    }
    frozen.push_back(use.prefix.substr(0, use.prefix.size() - 1));
  }
  return true;
}

std::map<std::string, bool> fovea::cli::readStates(const Model &model) {
  std::map<std::string, bool> states;
  for (const ParameterInfo &parameter : model.parameters)
    if (parameter.change != ParameterInfo::gradient)
      states[parameter.path] = parameter.change == ParameterInfo::once;
  return states;
}

bool fovea::cli::checkNames(Session &session, const Arguments &arguments,
                            const Model &model,
                            const runtime::TrainOptions &options) {
  const std::string &length = options.bucketLength;
  if (!length.empty() && !llvm::is_contained(model.lengths, length)) {
    std::string lengths = llvm::join(model.lengths, ", ");
    entryError(session, arguments, model, "bucket",
               "'" + length +
                   "' is not a length of the data; help: write none, all" +
                   (lengths.empty() ? "" : " or one of " + lengths));
    return false;
  }
  for (const auto &[name, limit] : options.clipValue)
    if (!name.empty() &&
        llvm::none_of(model.parameters, [&](const ParameterInfo &parameter) {
          return parameter.path == name ||
                 StringRef(parameter.path).starts_with(name + ".");
        })) {
      entryError(session, arguments, model, "clip_value[" + name + "]",
                 "no parameter is called '" + name + "'");
      return false;
    }
  return true;
}
