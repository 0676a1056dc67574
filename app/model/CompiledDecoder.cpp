//===- CompiledDecoder.cpp - a decoder as compiled code -------------------===//

#include "app/model/CompiledDecoder.h"
#include "app/model/QuantisedWeights.h"
#include "runtime/data/Quantise.h"
#include "runtime/device/SharedMemory.h"

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
  auto type = isDouble ? runtime::DType::F64 : runtime::DType::F32;
  std::map<std::string, std::vector<std::byte>> all;
  int64_t bytes = 0;
  for (const auto &[path, values] : parameters) {
    std::vector<std::byte> &own = all[path];
    own =
        runtime::isNarrow(path)
            ? runtime::narrowed(path, values)
            : runtime::Tensor::of(type, {int64_t(values.size())}, values).bytes;
    bytes += llvm::alignTo(own.size(), runtime::arrayAlignment);
  }
  if (memory.reserve(bytes).failed())
    return result;
  std::byte *at = memory.data();
  for (const auto &[path, own] : all) {
    result[path] = at;
    runtime::copyBytes(at, own.data(), own.size());
    at += llvm::alignTo(own.size(), runtime::arrayAlignment);
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

/// The parameters that programs read.
static std::map<std::string, const Program::Array *>
parametersOf(const std::vector<Program> &programs) {
  std::map<std::string, const Program::Array *> result;
  for (const Program &program : programs)
    for (const Program::Array &array : program.arrays)
      if (array.role == Program::Role::Parameter)
        result[array.name] = &array;
  return result;
}

/// The bytes of a parameter, in fewer bits if it has them.
static int64_t bytesOf(const Program::Array &array) {
  const runtime::StorageFormat *format = runtime::narrowFormat(array.name);
  return format ? runtime::narrowBytes(*format, array.shape)
                : array.count * sizeOf(array.element);
}

/// A parameter as programs read it, in memory that a device may have alone.
static void storeParameter(const std::string &path,
                           const runtime::Tensor &tensor,
                           const Program::Array &array, bool isDouble,
                           std::byte *to) {
  if (runtime::isNarrow(path))
    return runtime::copyBytes(to, tensor.bytes.data(), tensor.bytes.size());
  auto type = isDouble ? runtime::DType::F64 : runtime::DType::F32;
  if (!runtime::isOwn(to))
    return runtime::widenInto(path, tensor, type, to);
  std::vector<std::byte> wide(bytesOf(array));
  runtime::widenInto(path, tensor, type, wide.data());
  runtime::copyBytes(to, wide.data(), wide.size());
}

Status CompiledDecoder::setWeights(std::vector<runtime::TensorFile> files,
                                   bool isDouble) {
  std::map<std::string, const Program::Array *> read =
      parametersOf(decoder.programs);
  std::vector<std::string> names;
  int64_t bytes = 0;
  for (const auto &[name, array] : read) {
    names.push_back(name);
    bytes += llvm::alignTo(bytesOf(*array), runtime::arrayAlignment);
  }
  std::vector<runtime::OwnedMemory> members;
  memories.clear();
  for (runtime::TensorFile &file : files) {
    if (Status status = runtime::quantise(file, names); status.failed())
      return status;
    auto &memory = memories.emplace_back(std::make_unique<runtime::Arena>());
    if (Status status = memory->reserve(bytes); status.failed())
      return status;
    std::byte *at = memory->data();
    runtime::OwnedMemory &own = members.emplace_back();
    for (auto &[path, tensor] : file.tensors) {
      auto found = read.find(path);
      if (found != read.end()) {
        storeParameter(path, tensor, *found->second, isDouble, at);
        own[path] = at;
        at += llvm::alignTo(bytesOf(*found->second), runtime::arrayAlignment);
      }
      tensor = runtime::Tensor();
    }
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
  made->code.resize(made->decoder.programs.size());
  if (code.objects.empty()) {
    result = std::move(made);
    return Status::success();
  }
  if (Status status = load(std::move(code.objects), options, made->jit);
      status.failed())
    return status;
  for (auto [program, functions] :
       llvm::zip_equal(made->decoder.programs, made->code)) {
    if (Status status = findFunctions(*made->jit, program, functions);
        status.failed())
      return status;
    if (options.isChecked)
      watchChecks(program, code.sites, functions);
  }
  result = std::move(made);
  return Status::success();
}

void CompiledDecoder::replaceFunctions(
    llvm::function_ref<runtime::ProgramCode(size_t,
                                            const runtime::ProgramCode &)>
        replace) {
  for (auto [number, own] : llvm::enumerate(code))
    own = replace(number, own);
}
