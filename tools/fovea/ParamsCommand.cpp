//===- ParamsCommand.cpp - fovea params -----------------------------------===//

#include "driver/model/Session.h"
#include "llvm/Support/InterleavedRange.h"

using namespace fovea;
using namespace fovea::cli;

int fovea::cli::runParams(const Arguments &arguments) {
  Session session(arguments);
  std::unique_ptr<Model> model = session.open();
  if (!model)
    return session.finish();
  for (const ParameterInfo &parameter : model->parameters)
    llvm::outs() << parameter.path << "\tf32\t["
                 << llvm::interleaved(parameter.shape) << "]\n";
  return session.finish();
}
