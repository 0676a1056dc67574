//===- Launched.cpp - programs by the interpreter of launches -------------===//

#include "app/model/Launched.h"
#include "dialect/reference/Program.h"

#include <cstring>
#include <fmt/format.h>

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
// Compiled code, launch by launch
//===----------------------------------------------------------------------===//

/// What each launch leaves, and the first one of compiled code that leaves
/// other numbers.
struct fovea::cli::Trace {
  struct Element {
    int slot;
    size_t example, row;
    int64_t offset;
    double value;
  };
  struct Launch {
    std::string text, place;
    std::vector<Element> elements;
  };
  std::vector<Launch> launches;
  std::map<int, std::string> names; // of memories, by slot
  size_t next = 0;
  const Program *program = nullptr;
  const int64_t *frame = nullptr;
  decltype(&fovea_parallel) parallel = nullptr;
  Status difference = Status::success();

  void add(launch::RunOp run, ArrayRef<launch::Written> written);
  void compare();
  void compare(const Launch &launch);
};

void Trace::add(launch::RunOp run, ArrayRef<launch::Written> written) {
  Launch &launch = launches.emplace_back();
  launch.text = textOf(run);
  launch.place = reference::placeOf(run);
  for (const launch::Written &each : written) {
    launch::MemoryOp memory = each.memory;
    auto slot = static_cast<int>(memory.getSlot());
    names.try_emplace(slot, memory.getName().str());
    launch.elements.push_back(
        {slot, each.example, each.row, each.offset, each.value});
  }
}

static Trace *trace = nullptr;

static void tracedParallel(FoveaPool *pool, FoveaWork work, void *frame,
                           int64_t units, int64_t atOnce) {
  trace->parallel(pool, work, frame, units, atOnce);
  if (trace->frame == frame)
    trace->compare();
}

void Trace::compare() {
  if (difference.failed())
    return;
  assert(next < launches.size() && "each call is a launch of the schedule");
  compare(launches[next++]);
}

/// An element of compiled code as a double.
static double elementAt(const void *array, Program::Element element,
                        int64_t at) {
  switch (element) {
  case Program::Element::F32:
    return static_cast<const float *>(array)[at];
  case Program::Element::F64:
    return static_cast<const double *>(array)[at];
  case Program::Element::I64:
    return static_cast<double>(static_cast<const int64_t *>(array)[at]);
  case Program::Element::Bit:
    return static_cast<const uint8_t *>(array)[at];
  }
  return 0;
}

void Trace::compare(const Launch &launch) {
  for (const Element &each : launch.elements) {
    auto array = llvm::find_if(program->arrays, [&](const Program::Array &own) {
      return own.slot == each.slot;
    });
    assert(array != program->arrays.end() && "a memory is one of the program");
    int64_t at = each.offset;
    if (array->layout == 0) {
      at += static_cast<int64_t>(each.row) * array->count;
    } else if (array->layout > 0) {
      int table = program->layouts[array->layout].slot;
      at += reinterpret_cast<const int64_t *>(frame[table])[each.example] *
            array->count;
    }
    double got = elementAt(reinterpret_cast<const void *>(frame[each.slot]),
                           array->element, at);
    if (std::memcmp(&got, &each.value, sizeof(double)) == 0 ||
        (std::isnan(got) && std::isnan(each.value)))
      continue;
    difference = Status::error(
        fmt::format("compiled code differs first in {}: element {} of '{}' of "
                    "example {} is {:.9g}, and should be {:.9g}",
                    launch.text, each.offset, names[each.slot], each.example,
                    got, each.value),
        launch.place);
    return;
  }
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
  Trace own;
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
                                  Trace &own) {
  CompiledOptions how = options;
  how.parallel = &tracedParallel;
  how.debugSeed.reset();
  own.parallel = options.parallel;
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
  own.program = &program->program();
  own.frame = static_cast<const int64_t *>(program->frame());
  trace = &own;
  program->compute();
  trace = nullptr;
  assert((own.difference.failed() || own.next == own.launches.size()) &&
         "each launch of the schedule is a call");
  return own.difference;
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
