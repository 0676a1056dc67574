//===- Compiled.cpp - a batch by compiled code ----------------------------===//

#include "driver/model/Compiled.h"
#include "codegen/cpu/program/EmitProgram.h"
#include "codegen/native/Lower.h"
#include "codegen/native/ObjectCache.h"
#include "codegen/native/Split.h"

#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::cli;
using runtime::Program;
using runtime::Status;

static Status failure(llvm::Error error) {
  return Status::error(llvm::toString(std::move(error)));
}

//===----------------------------------------------------------------------===//
// One program
//===----------------------------------------------------------------------===//

Status fovea::cli::beginKernels(ModuleOp module, const CompiledOptions &options,
                                codegen::EmitOptions &emit,
                                OwningOpRef<ModuleOp> &kernels) {
  llvm::Expected<codegen::Target> target = codegen::Target::parse(options.cpu);
  if (!target)
    return failure(target.takeError());
  MLIRContext &context = *module.getContext();
  codegen::loadKernelDialects(context);
  emit.real = options.isDouble ? Type(Float64Type::get(&context))
                               : Type(Float32Type::get(&context));
  emit.target = *target;
  emit.notes = options.notes;
  emit.keepsNames = options.notes != nullptr || options.perf;
  kernels = ModuleOp::create(module.getLoc());
  return Status::success();
}

Status fovea::cli::compileKernels(
    OwningOpRef<ModuleOp> kernels, const codegen::Target &target,
    const CompiledOptions &options,
    std::vector<std::unique_ptr<llvm::MemoryBuffer>> &objects) {
  codegen::CompileOptions compile;
  compile.optimisation = options.optimisation;
  compile.codegen = options.codegen;
  if (options.isCached)
    compile.cache = std::make_shared<codegen::ObjectCache>(
        codegen::ObjectCache::defaultFolder());
  auto made = codegen::compileObjects(codegen::splitModule(std::move(kernels)),
                                      target, compile);
  if (!made)
    return failure(made.takeError());
  objects = std::move(*made);
  return Status::success();
}

Status fovea::cli::linkObjects(
    std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects,
    const CompiledOptions &options, std::unique_ptr<codegen::Jit> &jit) {
  llvm::Expected<codegen::Target> target = codegen::Target::parse(options.cpu);
  if (!target)
    return failure(target.takeError());
  codegen::JitOptions jitOptions;
  jitOptions.symbols.push_back({codegen::parallelName.str(),
                                reinterpret_cast<void *>(options.parallel)});
  jitOptions.symbols.push_back({codegen::threadName.str(),
                                reinterpret_cast<void *>(&fovea_pool_thread)});
  jitOptions.perf = options.perf;
  auto made = codegen::Jit::create(*target, std::move(jitOptions));
  if (!made)
    return failure(made.takeError());
  jit = std::move(*made);
  for (std::unique_ptr<llvm::MemoryBuffer> &object : objects)
    if (llvm::Error error = jit->add(std::move(object)))
      return failure(std::move(error));
  return Status::success();
}

Status fovea::cli::compileKernels(OwningOpRef<ModuleOp> kernels,
                                  const codegen::Target &target,
                                  const CompiledOptions &options,
                                  std::unique_ptr<codegen::Jit> &jit) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  if (Status status =
          compileKernels(std::move(kernels), target, options, objects);
      status.failed())
    return status;
  return linkObjects(std::move(objects), options, jit);
}

/// Lets a program keep the limit of its memory.
static Status keepLimit(attn::ProgramOp program,
                        const codegen::EmitOptions &emit,
                        const codegen::MemoryLimit &limit) {
  int64_t bytes = codegen::recompute(program, emit.real, emit.target, limit);
  if (bytes <= limit.bytes)
    return Status::success();
  if (bytes == std::numeric_limits<int64_t>::max())
    return Status::machine(
        fmt::format("the arrays of '@{}' for a batch of {} fit into no machine",
                    program.getSymName().str(), limit.batch));
  constexpr int64_t megabyte = 1 << 20;
  return Status::error(fmt::format(
      "the arrays of '@{}' take {} MB for a batch of {}, though all is "
      "computed "
      "again that can be, and '--max-activation-mb' allows {}; a smaller batch "
      "needs less",
      program.getSymName().str(), llvm::divideCeil(bytes, megabyte),
      limit.batch, limit.bytes / megabyte));
}

Status fovea::cli::compileProgram(ModuleOp module, StringRef entry,
                                  const CompiledOptions &options, Code &code) {
  auto op = module.lookupSymbol<attn::ProgramOp>(entry);
  if (!op)
    return Status::error("the module has no '@" + entry.str() + "'");
  codegen::EmitOptions emit;
  OwningOpRef<ModuleOp> kernels;
  if (Status status = beginKernels(module, options, emit, kernels);
      status.failed())
    return status;
  emit.prepares = options.prepares;
  if (options.memory)
    if (Status status = keepLimit(op, emit, *options.memory); status.failed())
      return status;
  if (failed(codegen::emitProgram(op, *kernels, emit,
                                  code.description.programs.emplace_back())))
    return Status::error("'@" + entry.str() + "' cannot be compiled");
  return compileKernels(std::move(kernels), emit.target, options, code.objects);
}

Status CompiledProgram::create(ModuleOp module, StringRef entry,
                               const CompiledOptions &options,
                               std::unique_ptr<CompiledProgram> &result) {
  Code code;
  if (Status status = compileProgram(module, entry, options, code);
      status.failed())
    return status;
  return create(std::move(code), options, result);
}

Status CompiledProgram::create(Code code, const CompiledOptions &options,
                               std::unique_ptr<CompiledProgram> &result) {
  std::unique_ptr<CompiledProgram> compiled(new CompiledProgram);
  compiled->description = std::move(code.description.programs.front());
  if (Status status =
          linkObjects(std::move(code.objects), options, compiled->jit);
      status.failed())
    return status;
  const Program &program = compiled->description;
  for (auto [name, function] :
       {std::pair(&program.entry, &compiled->function),
        std::pair(&program.prepare, &compiled->packing)}) {
    if (name->empty())
      continue;
    llvm::Expected<void *> address = compiled->jit->lookup(*name);
    if (!address)
      return failure(address.takeError());
    *function = reinterpret_cast<void (*)(void *)>(*address);
  }
  result = std::move(compiled);
  return Status::success();
}

void *fovea::cli::addressIn(codegen::Jit &jit, const std::string &symbol) {
  llvm::Expected<void *> address = jit.lookup(symbol);
  if (address)
    return *address;
  llvm::consumeError(address.takeError());
  return nullptr;
}

Status CompiledProgram::run(const runtime::Batch &batch,
                            const runtime::Binding &binding) {
  if (Status status = memory.bind(batch, binding); status.failed())
    return status;
  function(memory.frame());
  return Status::success();
}

//===----------------------------------------------------------------------===//
// One batch
//===----------------------------------------------------------------------===//

CompiledBatch::CompiledBatch(ModuleOp module,
                             const reference::Arrays &parameters,
                             const std::vector<runtime::Example> &examples,
                             const CompiledOptions &options)
    : module(module), options(options),
      pool(fovea_pool_create(options.threads), &fovea_pool_destroy) {
  for (const runtime::Example &example : examples)
    this->examples.push_back(&example);
  for (const auto &[path, array] : parameters)
    this->parameters[path] = array.values;
}

Status CompiledBatch::run(StringRef entry,
                          const std::map<std::string, double> &numbers,
                          std::unique_ptr<CompiledProgram> &program) {
  if (Status status = CompiledProgram::create(module, entry, options, program);
      status.failed())
    return status;
  runtime::Binding binding;
  binding.values = &parameters;
  binding.numbers = numbers;
  binding.seed = options.seed;
  binding.pool = pool.get();
  return program->run(examples, binding);
}

static reference::Array arrayOf(const Program::Array &description,
                                runtime::DataValues values) {
  bool isInteger = description.element == Program::Element::I64 ||
                   description.element == Program::Element::Bit;
  return {std::move(values.shape), std::move(values.values), isInteger};
}

Status CompiledBatch::evaluateLoss(const std::vector<std::string> &,
                                   std::vector<reference::Arrays> &outputs) {
  std::unique_ptr<CompiledProgram> compiled;
  if (Status status = run("loss", {}, compiled); status.failed())
    return status;
  for (size_t example = 0; example < examples.size(); ++example) {
    reference::Arrays &own = outputs.emplace_back();
    for (const Program::Array &array : compiled->program().arrays)
      if (array.role == Program::Role::Output)
        own[array.name] =
            arrayOf(array, compiled->workspace().output(array.name, example));
  }
  return Status::success();
}

Status CompiledBatch::evaluateGradients(double seedNll, double seedPenalty,
                                        reference::Arrays &sums) {
  std::unique_ptr<CompiledProgram> compiled;
  if (Status status =
          run("grad", {{"seed.nll", seedNll}, {"seed.penalty", seedPenalty}},
              compiled);
      status.failed())
    return status;
  for (const Program::Array &array : compiled->program().arrays) {
    if (array.role != Program::Role::Output || !array.name.starts_with("grad/"))
      continue;
    reference::Array sum =
        arrayOf(array, compiled->workspace().output(array.name, 0));
    // What does not depend on the examples counts once for each.
    bool isSum = array.layout < 0;
    for (size_t example = 1; !isSum && example < examples.size(); ++example) {
      runtime::DataValues next =
          compiled->workspace().output(array.name, example);
      for (size_t i = 0; i < sum.values.size(); ++i)
        sum.values[i] += next.values[i];
    }
    sums[array.name] = std::move(sum);
  }
  return Status::success();
}
