//===- Driver.cpp - from programs to code ---------------------------------===//

#include "codegen/Driver.h"
#include "codegen/Decoder.h"
#include "codegen/kernel/TensorCoreCall.h"
#include "codegen/native/Emit.h"
#include "codegen/native/Lower.h"
#include "codegen/native/ObjectCache.h"
#include "codegen/native/Split.h"
#include "codegen/program/CheckAccesses.h"
#include "dialect/Precision.h"
#include "dialect/launch/LaunchDialect.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/analysis/Batch.h"
#include "runtime/TensorCore.h"
#include "runtime/device/Launch.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen;
using runtime::Status;

static Status failure(llvm::Error error) {
  return Status::error(llvm::toString(std::move(error)));
}

Driver::Driver(Location location, const DriverOptions &options,
               const Backend &backend, Target target)
    : options(options), backend(backend), module(ModuleOp::create(location)),
      schedules(ModuleOp::create(location)) {
  MLIRContext *context = location.getContext();
  emit.real = options.isDouble ? Type(Float64Type::get(context))
                               : Type(Float32Type::get(context));
  emit.target = std::move(target);
  emit.notes = options.notes;
  // Checks tell arrays by the slots that kernels read, and steps by their
  // marks.
  emit.keepsNames = options.keepsNames || options.notes || options.isChecked;
  emit.marksSteps = options.marksSteps || options.isChecked;
  emit.launches = *schedules;
}

Status Driver::create(Location location, const DriverOptions &options,
                      std::unique_ptr<Driver> &result) {
  llvm::Expected<const Backend *> backend = backendFor(options.target);
  if (!backend)
    return failure(backend.takeError());
  llvm::Expected<Target> target = (*backend)->target(options.target);
  if (!target)
    return failure(target.takeError());
  if (options.isChecked && (*backend)->host(*target) != *target)
    return Status::error("the target '" + options.target +
                         "' has no checked code; help: leave out '--checked', "
                         "or use a CPU");
  MLIRContext *context = location.getContext();
  loadKernelDialects(*context);
  DialectRegistry targets;
  registerTargets(targets);
  context->appendDialectRegistry(targets);
  Type single = Float32Type::get(context);
  if (options.roundsFactors &&
      !(*backend)
           ->describe(*target, single)
           .multiplies(BFloat16Type::get(context), single))
    return Status::error("the target '" + options.target +
                         "' has no matrix products in bf16; help: use "
                         "'--target cuda' or '--precision f32'");
  result.reset(new Driver(location, options, **backend, std::move(*target)));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Status Driver::keepLimit(attn::ProgramOp program, const MemoryLimit &limit) {
  backend.describe(emit.target, emit.real).setTo(program);
  attn::RecomputeForMemoryOptions recompute;
  recompute.program = program.getSymName().str();
  recompute.bytes = limit.bytes;
  recompute.batch = limit.batch;
  recompute.threads = limit.threads;
  recompute.isDouble = emit.real.isF64();
  for (const auto &[name, length] : limit.lengths)
    recompute.lengths.push_back(name + "=" + std::to_string(length));
  if (failed(
          attn::runPasses(program->getParentOp(), [&](OpPassManager &manager) {
            manager.addPass(attn::createRecomputeForMemory(recompute));
          })))
    return Status::error("'@" + program.getSymName().str() +
                         "' cannot be compiled");
  int64_t bytes = program->getAttrOfType<IntegerAttr>("attn.bytes").getInt();
  if (bytes <= limit.bytes)
    return Status::success();
  if (bytes == std::numeric_limits<int64_t>::max())
    return Status::machine(fmt::format(
        "'@{}' needs more memory than any machine can address (batch {})",
        program.getSymName().str(), limit.batch));
  constexpr int64_t megabyte = 1 << 20;
  return Status::error(
      fmt::format("'@{}' needs {} MB for a batch of {} even with all possible "
                  "recomputation, but '--max-activation-mb' allows {}; help: "
                  "use a smaller batch",
                  program.getSymName().str(), llvm::divideCeil(bytes, megabyte),
                  limit.batch, limit.bytes / megabyte));
}

bool Driver::multiplies(Type factor) const {
  return backend.describe(emit.target, emit.real).multiplies(factor, emit.real);
}

/// Checks that the target multiplies the rounded factors of the program.
LogicalResult Driver::verifyPrecision(attn::ProgramOp program) const {
  WalkResult walk = program.walk([&](attn::ComputeOp op) {
    Type factor = attn::precisionOf(op);
    // Whole numbers are exact in any type.
    if (!factor || factor.isInteger() || multiplies(factor))
      return WalkResult::advance();
    op.emitError() << "has factors in " << factor
                   << ", which this machine cannot multiply"
                   << " in " << emit.real;
    return WalkResult::interrupt();
  });
  return mlir::failure(walk.wasInterrupted());
}

/// Gives temporary arrays the names of their equations, for messages.
static void nameArrays(ModuleOp schedules, StringRef entry,
                       runtime::Program &description) {
  llvm::DenseMap<int64_t, StringRef> names;
  for (auto schedule : schedules.getOps<launch::ProgramOp>())
    if (schedule.getProgram() == entry)
      schedule.walk([&](launch::MemoryOp memory) {
        names[static_cast<int64_t>(memory.getSlot())] = memory.getName();
      });
  for (runtime::Program::Array &array : description.arrays)
    if (array.name.empty())
      array.name =
          std::string(runtime::checkedPrefix) + names.lookup(array.slot).str();
}

LogicalResult Driver::emitProgram(attn::ProgramOp program,
                                  runtime::Program &description) {
  if (options.roundsFactors)
    attn::setPrecision(program, BFloat16Type::get(program.getContext()));
  if (failed(attn::placeArrays(program,
                               backend.describe(emit.target, emit.real))) ||
      failed(verifyPrecision(program)))
    return mlir::failure();
  if (options.isChecked)
    nameLocations(program);
  if (failed(backend.emitProgram(program, *module, emit, description)))
    return mlir::failure();
  if (options.isChecked)
    nameArrays(*schedules, program.getSymName(), description);
  for (StringRef name : {description.entry, description.prepare})
    if (auto host = module->lookupSymbol<func::FuncOp>(name))
      hosts.push_back(host);
  return mlir::success();
}

Status Driver::add(ModuleOp source, StringRef entry) {
  auto program = source.lookupSymbol<attn::ProgramOp>(entry);
  if (!program)
    return Status::error("the module has no '@" + entry.str() + "'");
  if (options.memory)
    if (Status status = keepLimit(program, *options.memory); status.failed())
      return status;
  // The parameters of gradients change with each update.
  if (options.prepares && entry != "grad")
    program->setAttr(attn::preparesName, UnitAttr::get(program.getContext()));
  if (failed(emitProgram(program, programs.programs.emplace_back())))
    return Status::error("'@" + entry.str() + "' cannot be compiled");
  return Status::success();
}

Status Driver::addDecoder(ModuleOp source) {
  programs.hasDecoder = true;
  auto emitOne = [&](attn::ProgramOp program, runtime::Program &description) {
    return emitProgram(program, description);
  };
  if (failed(emitDecoder(source, emit.real, emitOne, programs.decoder)))
    return Status::error("the decoder cannot be compiled");
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Numbers that the runs of a schedule share are computed once.
static void shareNumbers(ModuleOp schedules) {
  LogicalResult done = attn::runPasses(schedules, [](OpPassManager &manager) {
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  });
  assert(succeeded(done) && "nothing in a schedule prevents that");
  (void)done;
}

Status Driver::addChecks() {
  if (options.isChecked && failed(checkAccesses(*module, sites)))
    return Status::error("the kernels cannot be checked");
  return Status::success();
}

Status Driver::print(Text text, llvm::raw_ostream &stream) {
  if (text != Text::Launches)
    if (Status status = addChecks(); status.failed())
      return status;
  if (text == Text::Launches || text == Text::Kernels) {
    if (text == Text::Launches)
      shareNumbers(*schedules);
    (text == Text::Launches ? schedules : module)->print(stream);
    stream << '\n';
    return Status::success();
  }
  if (backend.host(emit.target) != emit.target) {
    auto code = backend.textOfDevice(*module, emit.target,
                                     text == Text::LLVM ? DeviceText::LLVM
                                     : text == Text::Assembly
                                         ? DeviceText::Assembly
                                         : DeviceText::MachineCode);
    // The machine lacks the tools for it.
    if (!code && text == Text::MachineCode)
      return Status::machine(llvm::toString(code.takeError()));
    if (!code)
      return failure(code.takeError());
    stream << *code;
    return Status::success();
  }
  auto machine = emit.target.createMachine();
  if (!machine)
    return failure(machine.takeError());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code;
  if (succeeded(lowerToLLVM(*module, emit.target)))
    code = translateToLLVM(*module, context, **machine, emit.target);
  if (!code)
    return Status::error("the kernels cannot be compiled");
  optimise(*code, **machine, options.optimisation);
  if (text == Text::LLVM) {
    code->print(stream, nullptr);
    return Status::success();
  }
  auto bytes = emitFile(*code, **machine, llvm::CodeGenFileType::AssemblyFile);
  if (!bytes)
    return failure(bytes.takeError());
  stream << StringRef(bytes->data(), bytes->size());
  return Status::success();
}

Status Driver::compile(Objects &objects) {
  llvm::StringSet<> hostNames;
  for (func::FuncOp host : hosts)
    hostNames.insert(host.getSymName());
  if (Status status = addChecks(); status.failed())
    return status;
  if (llvm::Error error =
          backend.finish(*module, emit.target, options.isShipped))
    return failure(std::move(error));
  CompileOptions compile;
  compile.optimisation = options.optimisation;
  compile.codegen = options.codegen;
  std::string folder = ObjectCache::defaultFolder();
  if (options.isCached && !folder.empty())
    compile.cache = std::make_shared<ObjectCache>(folder);
  constexpr unsigned opsOfModule = 1000;
  auto made = compileObjects(
      splitModule(std::move(module), opsOfModule,
                  [&](StringRef symbol) { return hostNames.contains(symbol); }),
      backend.host(emit.target), compile);
  if (!made)
    return failure(made.takeError());
  objects = std::move(*made);
  return Status::success();
}

Status Driver::finish(Code &code) {
  code.description = std::move(programs);
  Status status = compile(code.objects);
  code.sites = std::move(sites);
  return status;
}

Status fovea::codegen::load(Objects objects, StringRef target,
                            decltype(&fovea_parallel) parallel, StepHook step,
                            bool perf, std::unique_ptr<Jit> &jit) {
  llvm::Expected<Target> parsed = hostOf(target);
  if (!parsed)
    return failure(parsed.takeError());
  JitOptions options;
  options.symbols = {
      {parallelName.str(), reinterpret_cast<void *>(parallel)},
      {stepName.str(), reinterpret_cast<void *>(step)},
      {threadName.str(), reinterpret_cast<void *>(&fovea_pool_thread)},
      {poolThreadsName.str(), reinterpret_cast<void *>(&fovea_pool_threads)},
      {tensorCoreName.str(), reinterpret_cast<void *>(&fovea_tensor_core)},
      {launchName.str(), reinterpret_cast<void *>(&fovea_launch)},
      {launchLoopName.str(), reinterpret_cast<void *>(&fovea_launch_loop)},
      {sendName.str(), reinterpret_cast<void *>(&fovea_launch_send)},
      {waitName.str(), reinterpret_cast<void *>(&fovea_launch_wait)},
      {"fovea_check_access", reinterpret_cast<void *>(&fovea_check_access)},
      {"fovea_check_gather", reinterpret_cast<void *>(&fovea_check_gather)},
      {"fovea_check_clear", reinterpret_cast<void *>(&fovea_check_clear)},
      {"fovea_check_copy", reinterpret_cast<void *>(&fovea_check_copy)},
      {"fovea_check_scratch", reinterpret_cast<void *>(&fovea_check_scratch)},
      {"fovea_check_pointer", reinterpret_cast<void *>(&fovea_check_pointer)}};
  options.perf = perf;
  auto made = Jit::create(*parsed, std::move(options));
  if (!made)
    return failure(made.takeError());
  jit = std::move(*made);
  for (std::unique_ptr<llvm::MemoryBuffer> &object : objects)
    if (llvm::Error error = jit->add(std::move(object)))
      return failure(std::move(error));
  return Status::success();
}
