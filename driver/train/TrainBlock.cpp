//===- TrainBlock.cpp - the train block of a spec as texts ----------------===//

#include "driver/train/TrainBlock.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;

/// An entry of a block as its text.
static std::string textOf(mlir::Attribute value) {
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
      block.entries[entry.getName().str()] = textOf(entry.getValue());
  auto average = block.entries.find("average");
  block.averagesExamples =
      average != block.entries.end() && average->second == "example";
  return block;
}

bool fovea::cli::readFrozen(Session &session, const Arguments &arguments,
                            const Model &model,
                            std::vector<std::string> &frozen) {
  for (const UseInfo &use : model.uses) {
    if (!use.frozen)
      continue;
    if (use.prefix.empty()) {
      session.error(arguments.spec() + ": a model that is included cannot be "
                                       "frozen; give it a name: use n = m(..)");
      return false;
    }
    frozen.push_back(use.prefix.substr(0, use.prefix.size() - 1));
  }
  return true;
}
