//===- ExportCommand.cpp - fovea export -----------------------------------===//

#include "app/data/Files.h"
#include "app/data/Inputs.h"
#include "app/data/WeightMap.h"

using namespace fovea;
using namespace fovea::cli;

int fovea::cli::runExport(const Arguments &arguments) {
  Session session(arguments);
  runtime::TensorFile weights, file;
  if (!readWeightsFile(session, arguments.weights, weights))
    return session.finish();
  std::unique_ptr<Model> model = session.open(&weights);
  if (!model || !checkParameters(session, arguments.weights, *model, weights) ||
      !giveForeignWeights(session, arguments, *model, weights, file))
    return session.finish();
  // The loader of Hugging Face asks for this entry.
  file.metadata["format"] = "pt";
  int code = session.finish();
  return code == done ? writeTensors(arguments.output, file) : code;
}
