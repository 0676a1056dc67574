//===- Launched.cpp - programs by the interpreter of launches -------------===//

#include "app/interpret/Launched.h"
#include "app/interpret/LaunchTrace.h"
#include "dialect/AttnDialect.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::cli;
using reference::Array;
using reference::Arrays;
using reference::Inputs;
using runtime::Program;
using runtime::Status;

namespace {
/// A program placed for a target, and its schedule.
struct Scheduled {
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<codegen::Driver> driver;
  attn::ProgramOp program;
  launch::ProgramOp launches;

  Status create(ModuleOp source, StringRef entry,
                const CompiledOptions &options);
};
} // namespace

Status Scheduled::create(ModuleOp source, StringRef entry,
                         const CompiledOptions &options) {
  module = source.clone();
  if (Status status =
          codegen::Driver::create(module->getLoc(), options, driver);
      status.failed())
    return status;
  if (Status status = driver->add(*module, entry); status.failed())
    return status;
  program = module->lookupSymbol<attn::ProgramOp>(entry);
  launches = *driver->launches().getOps<launch::ProgramOp>().begin();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// LaunchedBatch
//===----------------------------------------------------------------------===//

Status fovea::cli::interpretLaunches(ModuleOp module, StringRef entry,
                                     ArrayRef<Inputs> inputs,
                                     const CompiledOptions &options,
                                     uint64_t order, LaunchResults &results) {
  if (inputs.empty())
    return Status::success();
  Scheduled scheduled;
  if (Status status = scheduled.create(module, entry, options); status.failed())
    return status;
  launch::InterpretOptions how;
  how.order = order;
  if (results.trace)
    how.onRun = [&](launch::RunOp run, ArrayRef<launch::Written> written) {
      results.trace->add(run, written);
    };
  if (Status status = launch::interpret(scheduled.launches, scheduled.program,
                                        inputs, how, results.outputs);
      status.failed())
    return status;
  results.sums = launch::sumsOf(scheduled.program, results.outputs);
  return launch::compareWithProgram(scheduled.program, inputs, results.outputs);
}

Status LaunchedBatch::run(StringRef entry,
                          const std::map<std::string, double> &numbers,
                          LaunchResults &results) {
  std::vector<Inputs> inputs;
  for (const runtime::Example &example : examples) {
    Inputs &own = inputs.emplace_back(inputsOf(example, parameters));
    own.seed = options.seed;
    own.single = !options.isDouble;
    for (const auto &[name, number] : numbers)
      own.data[name] = Array::scalar(number);
  }
  LaunchTrace own;
  if (compares)
    results.trace = &own;
  if (Status status = interpretLaunches(module, entry, inputs, options,
                                        /*order=*/0, results);
      status.failed())
    return status;
  return compares && !inputs.empty() ? compareCode(entry, numbers, own)
                                     : Status::success();
}

Status LaunchedBatch::compareCode(StringRef entry,
                                  const std::map<std::string, double> &numbers,
                                  LaunchTrace &own) {
  LaunchTrace::shareMemory();
  CompiledOptions how = options;
  how.parallel = &LaunchTrace::parallel;
  how.debugSeed.reset();
  // Kernels that share code have frames of their own.
  how.keepsNames = true;
  std::unique_ptr<CompiledProgram> program;
  OwningOpRef<ModuleOp> copy = module.clone();
  if (Status status = CompiledProgram::create(*copy, entry, how, program);
      status.failed())
    return status;
  runtime::ParameterValues values;
  for (const auto &[path, array] : parameters)
    values[path] = array.values;
  runtime::Batch batch;
  for (const runtime::Example &example : examples)
    batch.push_back(&example);
  std::unique_ptr<FoveaPool, void (*)(FoveaPool *)> pool(
      fovea_pool_create(options.threads), &fovea_pool_destroy);
  runtime::Binding binding;
  binding.values = &values;
  binding.numbers = numbers;
  binding.seed = options.seed;
  binding.pool = pool.get();
  if (Status status = program->bind(batch, binding); status.failed())
    return status;
  return own.compare({program->program(), program->frame()}, options.parallel,
                     [&] { program->compute(); });
}

Status LaunchedBatch::evaluateLoss(const std::vector<std::string> &,
                                   std::vector<Arrays> &outputs) {
  LaunchResults results;
  Status status = run("loss", {}, results);
  outputs = std::move(results.outputs);
  return status;
}

Status LaunchedBatch::evaluateGradients(double seedNll, double seedPenalty,
                                        Arrays &sums) {
  LaunchResults results;
  Status status = run(
      "grad", {{"seed.nll", seedNll}, {"seed.penalty", seedPenalty}}, results);
  for (auto &[name, sum] : results.sums)
    if (StringRef(name).starts_with("grad/"))
      sums[name] = std::move(sum);
  return status;
}
