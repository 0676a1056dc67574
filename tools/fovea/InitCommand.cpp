//===- InitCommand.cpp - fovea init ---------------------------------------===//

#include "app/data/Files.h"
#include "app/data/Inputs.h"
#include "app/data/Published.h"
#include "app/data/WeightMap.h"
#include "app/model/Unknown.h"

using namespace fovea;
using namespace fovea::cli;

/// Adds the sizes that a map takes from the config.json beside the weights.
/// What the command line gives comes first.
static bool addSizes(Arguments &arguments) {
  if (arguments.from.empty() || arguments.map.empty() || arguments.map == "-")
    return true;
  std::optional<std::string> map = readInput(arguments.map);
  Session session(arguments);
  std::vector<std::pair<std::string, std::string>> sets;
  if (!map || !readSizes(session, *map, arguments.from, sets)) {
    session.finish();
    return false;
  }
  llvm::erase_if(sets, [&](const auto &one) {
    return llvm::any_of(arguments.sets, [&](const auto &given) {
      return given.first == one.first;
    });
  });
  llvm::append_range(arguments.sets, sets);
  return true;
}

int fovea::cli::runInit(const Arguments &given) {
  Arguments arguments = given;
  if (!addSizes(arguments))
    return badInput;
  Session session(arguments);
  std::unique_ptr<Model> model = session.open();
  // A SentencePiece model of the spec determines the vocabulary's size, and is
  // stored with the weights.
  Vocabularies vocabularies;
  if (!model || !vocabularies.readModels(session, arguments, *model))
    return session.finish();
  if (auto sizes = vocabularies.sizes(); !sizes.empty()) {
    session.addSizes(sizes);
    model = session.open();
    if (!model)
      return session.finish();
  }
  for (const std::string &vocabulary : model->assumedVocabularies)
    session.diagnostics().warning(Code::none, {},
                                  "nothing gives '" + vocabulary +
                                      ".vocab' a size; help: add '--set " +
                                      vocabulary + ".vocab=N'");
  runtime::TensorFile file;
  if (!drawWeights(session, arguments, *model, arguments.seed.value_or(0),
                   file))
    return session.finish();
  if (!arguments.from.empty() &&
      !takeForeignWeights(session, arguments, *model, file)) {
    session.finish();
    return badInput;
  }
  storeDictionary(session, arguments, *model);
  session.source().store(file.metadata);
  vocabularies.store(file.metadata);
  file.metadata["model"] = model->name;
  int code = session.finish();
  return code == done ? writeTensors(arguments.output, file) : code;
}
