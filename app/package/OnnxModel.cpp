//===- OnnxModel.cpp - a model as an ONNX file ----------------------------===//
//
// Opens the model and its weights, and writes the files. What the equations
// become is decided by codegen/onnx.
//
//===----------------------------------------------------------------------===//

#include "app/package/OnnxModel.h"
#include "app/data/Files.h"
#include "app/model/Execution.h"
#include "app/open/ChooseTarget.h"
#include "codegen/onnx/EmitOnnx.h"

#include "llvm/Support/Path.h"

using namespace fovea;
using namespace fovea::cli;

int fovea::cli::runOnnx(const Arguments &arguments) {
  if (!arguments.moreWeights.empty())
    return wrongUsage("an ensemble needs '--emit so', obj, exe or web",
                      Code::argumentConflict);
  for (const std::string &entry : arguments.entries)
    if (entry != "loss" && entry != "get")
      return wrongUsage("'" + entry +
                        "' is not an entry of '--emit onnx'; there are loss "
                        "and get");
  if (weightFormat(arguments) || roundsProducts(arguments))
    return wrongUsage("'--emit onnx' writes weights in f32 or f64; help: leave "
                      "out '--precision'",
                      Code::argumentConflict);
  Session session(arguments);
  Execution execution;
  execution.keepsFiles = true;
  if (!openExecution(session, arguments, "training", execution))
    return session.finish();
  Model &model = *execution.model;
  codegen::OnnxOptions options;
  options.isDouble = arguments.dtype == "f64";
  options.data = describeAllData(model);
  options.weights = &execution.files.front().tensors;
  Request request;
  for (const std::string &name : arguments.gets)
    llvm::append_range(request.gets,
                       equationsNamed(session, model, "training", name));
  if (session.diagnostics().failed() || !session.lower(model, request))
    return session.finish();
  std::string outside = arguments.output + ".data";
  options.outsideName = llvm::sys::path::filename(outside).str();
  codegen::OnnxFiles files;
  if (failed(codegen::emitOnnx(*model.module, "loss", options, files)))
    return session.finish();
  bool isStream = arguments.output.empty() || arguments.output == "-";
  if (!files.outside.empty() && isStream) {
    session.error("weights of more than 2 GiB need a file beside the model; "
                  "help: add '-o FILE.onnx'");
    return session.finish();
  }
  int code = session.finish();
  if (code == done && !files.outside.empty())
    code = writeText(outside, files.outside);
  return code == done ? writeText(arguments.output, files.model) : code;
}
