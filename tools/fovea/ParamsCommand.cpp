//===- ParamsCommand.cpp - fovea params -----------------------------------===//

#include "app/open/Session.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/JSON.h"

using namespace fovea;
using namespace fovea::cli;

int fovea::cli::runParams(const Arguments &arguments) {
  Session session(arguments);
  std::unique_ptr<Model> model = session.open();
  if (!model)
    return session.finish();
  if (arguments.asJson) {
    llvm::json::Array list;
    for (const ParameterInfo &parameter : model->parameters)
      list.push_back(
          llvm::json::Object{{"name", parameter.path},
                             {"dtype", "f32"},
                             {"shape", llvm::json::Array(parameter.shape)}});
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(list)))
                 << '\n';
    return session.finish();
  }
  for (const ParameterInfo &parameter : model->parameters)
    llvm::outs() << parameter.path << "\tf32\t["
                 << llvm::interleaved(parameter.shape) << "]\n";
  return session.finish();
}
