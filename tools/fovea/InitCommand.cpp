//===- InitCommand.cpp - fovea init ---------------------------------------===//

#include "runtime/Initialise.h"
#include "tools/fovea/Files.h"
#include "tools/fovea/Session.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace fovea;
using namespace fovea::cli;

/// `train { init = .. }`, empty where the spec says nothing.
static std::string schemeOf(Model &model) {
  if (!model.module)
    return "";
  auto train =
      (*model.module)->getAttrOfType<mlir::DictionaryAttr>("attn.train");
  auto scheme = train ? train.getAs<mlir::StringAttr>("init") : nullptr;
  return scheme ? scheme.str() : "";
}

int fovea::cli::runInit(const Arguments &arguments) {
  Session session(arguments);
  std::unique_ptr<Model> model = session.open();
  if (!model)
    return session.finish();
  std::vector<runtime::InitialParameter> parameters;
  for (const ParameterInfo &parameter : model->parameters)
    parameters.push_back({parameter.path,
                          {parameter.shape.begin(), parameter.shape.end()},
                          parameter.role});
  for (const std::string &vocabulary : model->assumedVocabularies)
    session.diagnostics().warning({}, "nothing gives '" + vocabulary +
                                          ".vocab' a size; add '--set " +
                                          vocabulary + ".vocab=N'");
  auto type =
      arguments.dtype == "f64" ? runtime::DType::F64 : runtime::DType::F32;
  runtime::TensorFile file;
  runtime::Status status = runtime::initialise(
      parameters, schemeOf(*model), arguments.seed.value_or(0), type, file);
  if (status.failed()) {
    session.error(arguments.spec() + ": " + status.text());
    return session.finish();
  }
  int code = session.finish();
  return code == done ? writeTensors(arguments.output, file) : code;
}
