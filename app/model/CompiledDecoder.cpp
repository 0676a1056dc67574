//===- CompiledDecoder.cpp - a decoder as compiled code -------------------===//

#include "app/model/CompiledDecoder.h"
#include "app/model/QuantisedWeights.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::cli;
using runtime::Program;
using runtime::Status;

/// The parameters in order, in the element type of the code.
runtime::OwnedMemory
CompiledDecoder::store(const runtime::ParameterValues &parameters,
                       bool isDouble, runtime::Arena &memory) {
  runtime::OwnedMemory result;
  int64_t element = isDouble ? sizeof(double) : sizeof(float), bytes = 0;
  auto sizeOf = [&](const std::vector<double> &values) {
    return llvm::alignTo(int64_t(values.size()) * element,
                         runtime::arrayAlignment);
  };
  for (const auto &[path, values] : parameters)
    bytes += sizeOf(values);
  if (memory.reserve(bytes).failed())
    return result;
  std::byte *at = memory.data();
  for (const auto &[path, values] : parameters) {
    result[path] = at;
    for (auto [i, value] : llvm::enumerate(values)) {
      if (isDouble)
        reinterpret_cast<double *>(at)[i] = value;
      else
        reinterpret_cast<float *>(at)[i] = static_cast<float>(value);
    }
    at += sizeOf(values);
  }
  return result;
}

Status CompiledDecoder::setParameters(
    const std::vector<runtime::ParameterValues> &parameters, bool isDouble) {
  std::vector<runtime::OwnedMemory> members;
  memories.clear();
  for (runtime::ParameterValues own : parameters) {
    if (Status status = addQuantised(decoder.programs, own); status.failed())
      return status;
    auto &memory = memories.emplace_back(std::make_unique<runtime::Arena>());
    members.push_back(store(own, isDouble, *memory));
  }
  setParameters(std::move(members));
  return Status::success();
}

void CompiledDecoder::setParameters(std::vector<runtime::OwnedMemory> members) {
  searcher = std::make_unique<runtime::Search>(decoder, code,
                                               std::move(members), pool.get());
}

Status CompiledDecoder::create(
    ModuleOp module, const std::vector<runtime::ParameterValues> &parameters,
    const CompiledOptions &options, std::unique_ptr<CompiledDecoder> &result) {
  if (Status status = create(module, options, result); status.failed())
    return status;
  return result->setParameters(parameters, options.isDouble);
}

Status CompiledDecoder::create(ModuleOp module, const CompiledOptions &options,
                               std::unique_ptr<CompiledDecoder> &result) {
  codegen::Code code;
  if (Status status = compileDecoder(module, options, code); status.failed())
    return status;
  return create(std::move(code), options, result);
}

Status CompiledDecoder::create(codegen::Code code,
                               const CompiledOptions &options,
                               std::unique_ptr<CompiledDecoder> &result) {
  std::unique_ptr<CompiledDecoder> made(new CompiledDecoder(options));
  made->decoder = std::move(code.description.decoder);
  if (Status status = load(std::move(code.objects), options, made->jit);
      status.failed())
    return status;
  for (const Program &program : made->decoder.programs)
    if (Status status =
            findFunctions(*made->jit, program, made->code.emplace_back());
        status.failed())
      return status;
  result = std::move(made);
  return Status::success();
}
