//===- QuantisedWeights.cpp - the parameters of models in fewer bits ------===//

#include "app/model/QuantisedWeights.h"
#include "compiler/Contents.h"
#include "runtime/data/Quantise.h"

using namespace mlir;
using namespace fovea;
using runtime::DType;
using runtime::Status;
using runtime::Tensor;

/// Computes the array called `name`, of this shape. `find` gives the values of
/// a parameter, or null; `add` takes the results.
static Status addOne(
    const std::string &name, const std::vector<int64_t> &shape,
    llvm::function_ref<const std::vector<double> *(const std::string &)> find,
    llvm::function_ref<void(const std::string &, const Tensor &)> add) {
  runtime::QuantisedName own;
  if (!runtime::readQuantisedName(name, own) || own.isScale || find(name))
    return Status::success();
  const std::vector<double> *weights = find(own.path);
  if (!weights)
    return Status::success();
  std::map<std::string, Tensor> parts;
  Status status =
      runtime::quantise(own, Tensor::of(DType::F32, shape, *weights), parts);
  for (const auto &[path, tensor] : parts)
    if (status.succeeded())
      add(path, runtime::widened(path, tensor, DType::F32));
  return status;
}

Status fovea::cli::addQuantised(ModuleOp module,
                                reference::Arrays &parameters) {
  Status status = Status::success();
  for (const auto &[name, shape] : compiler::parametersIn(module)) {
    Status own = addOne(
        name, shape,
        [&](const std::string &path) -> const std::vector<double> * {
          auto found = parameters.find(path);
          return found == parameters.end() ? nullptr : &found->second.values;
        },
        [&](const std::string &path, const Tensor &tensor) {
          parameters[path] = {tensor.shape, tensor.toDoubles(), false};
        });
    if (own.failed())
      status = own;
  }
  return status;
}

Status fovea::cli::addQuantised(const std::vector<runtime::Program> &programs,
                                runtime::ParameterValues &parameters) {
  for (const runtime::Program &program : programs)
    for (const runtime::Program::Array &array : program.arrays) {
      if (array.role != runtime::Program::Role::Parameter)
        continue;
      Status status = addOne(
          array.name, array.shape,
          [&](const std::string &path) -> const std::vector<double> * {
            auto found = parameters.find(path);
            return found == parameters.end() ? nullptr : &found->second;
          },
          [&](const std::string &path, const Tensor &tensor) {
            parameters[path] = tensor.toDoubles();
          });
      if (status.failed())
        return status;
    }
  return Status::success();
}
