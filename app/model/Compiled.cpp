//===- Compiled.cpp - a batch by compiled code ----------------------------===//

#include "app/model/Compiled.h"
#include "app/Arguments.h"
#include "app/open/ChooseTarget.h"
#include "compiler/Compiler.h"
#include "runtime/Element.h"
#include "runtime/device/Device.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::cli;
using runtime::Program;
using runtime::Status;

//===----------------------------------------------------------------------===//
// One program
//===----------------------------------------------------------------------===//

/// What the compiler needs to know.
static codegen::DriverOptions driverOptionsOf(const CompiledOptions &options) {
  codegen::DriverOptions own = options;
  own.keepsNames |= options.perf || options.debugSeed;
  own.marksSteps |= options.debugSeed.has_value();
  return own;
}

CompiledOptions fovea::cli::compiledOptionsOf(const Arguments &arguments) {
  CompiledOptions options;
  options.isDouble = arguments.dtype == "f64";
  options.roundsFactors = roundsFactors(arguments);
  options.core = tensorCore(arguments);
  options.weights = weightFormat(arguments);
  options.roundsProducts = roundsProducts(arguments);
  options.roundsRows = arguments.cache == "bf16";
  options.target = arguments.cpu;
  options.threads = arguments.threads;
  options.isChecked = arguments.isChecked;
  return options;
}

Status fovea::cli::compileProgram(ModuleOp module, StringRef entry,
                                  const CompiledOptions &options,
                                  codegen::Code &code) {
  return compiler::compile(module, entry, driverOptionsOf(options), code);
}

Status fovea::cli::compileDecoder(ModuleOp module,
                                  const CompiledOptions &options,
                                  codegen::Code &code) {
  return compiler::compileDecoder(module, driverOptionsOf(options), code);
}

Status fovea::cli::load(codegen::Objects objects,
                        const CompiledOptions &options,
                        std::unique_ptr<codegen::Jit> &jit) {
  // What is examined on the way.
  if (runtime::Device *device = runtime::Device::current();
      device && (options.isChecked || options.debugSeed))
    device->shareMemory();
  if (options.isChecked)
    return codegen::load(std::move(objects), options.target,
                         &runtime::CheckedRun::parallel,
                         &runtime::CheckedRun::step, options.perf, jit);
  if (options.debugSeed)
    DebugPool::start(*options.debugSeed);
  return codegen::load(std::move(objects), options.target,
                       options.debugSeed ? &DebugPool::parallel
                                         : options.parallel,
                       &DebugPool::step, options.perf, jit);
}

void fovea::cli::watchChecks(const Program &program,
                             std::vector<runtime::CheckedSite> sites,
                             runtime::ProgramCode &functions) {
  auto checks = std::make_shared<runtime::Checks>(std::move(sites));
  auto watch = [&](std::function<void(void *)> &function, bool prepares) {
    if (!function)
      return;
    function = [own = function, checks, &program, prepares](void *frame) {
      runtime::CheckedRun run(*checks, program, frame, prepares);
      own(frame);
    };
  };
  watch(functions.run, /*prepares=*/false);
  watch(functions.prepare, /*prepares=*/true);
  functions.found = [checks] { return checks->take(); };
}

Status fovea::cli::findFunctions(codegen::Jit &jit, const Program &program,
                                 runtime::ProgramCode &functions) {
  for (auto [name, function] :
       {std::pair(&program.entry, &functions.run),
        std::pair(&program.prepare, &functions.prepare)}) {
    if (name->empty())
      continue;
    llvm::Expected<void *> address = jit.lookup(*name);
    if (!address)
      return Status::error(llvm::toString(address.takeError()));
    *function = reinterpret_cast<void (*)(void *)>(*address);
  }
  return Status::success();
}

Status CompiledProgram::create(ModuleOp module, StringRef entry,
                               const CompiledOptions &options,
                               std::unique_ptr<CompiledProgram> &result) {
  codegen::Code code;
  if (Status status = compileProgram(module, entry, options, code);
      status.failed())
    return status;
  return create(std::move(code), options, result);
}

Status CompiledProgram::create(codegen::Code code,
                               const CompiledOptions &options,
                               std::unique_ptr<CompiledProgram> &result) {
  std::unique_ptr<CompiledProgram> compiled(new CompiledProgram);
  compiled->description = std::move(code.description.programs.front());
  compiled->isDebugged = options.debugSeed.has_value();
  if (Status status = load(std::move(code.objects), options, compiled->jit);
      status.failed())
    return status;
  if (Status status = findFunctions(*compiled->jit, compiled->description,
                                    compiled->functions);
      status.failed())
    return status;
  if (options.isChecked)
    watchChecks(compiled->description, std::move(code.sites),
                compiled->functions);
  result = std::move(compiled);
  return Status::success();
}

void CompiledProgram::compute() {
  DebugPool::watch(isDebugged ? &memory : nullptr);
  memory.willRun();
  functions.run(memory.frame());
  DebugPool::watch(nullptr);
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
  compute();
  return functions.found ? functions.found() : Status::success();
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
  return {std::move(values.shape), std::move(values.values),
          /*isInteger=*/!runtime::isReal(description.element)};
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
    // Values that do not depend on the examples count once for each.
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
