//===- Compiled.cpp - compiled code against the interpreter ---------------===//
//
// What goes through code, which code it is, and who judges it.
//
//===----------------------------------------------------------------------===//

#include "test/random/Compiled.h"
#include "app/open/ChooseTarget.h"
#include "dialect/reference/Compare.h"
#include "passes/Passes.h"
#include "passes/analysis/Product.h"
#include "passes/kernels/DivideWork.h"
#include "test/random/Data.h"
#include "test/random/Mistakes.h"

using namespace fovea;
using namespace fovea::random;
using namespace fovea::reference;
using fovea::runtime::Program;
using fovea::runtime::Status;

namespace {

struct DestroyPool {
  void operator()(FoveaPool *pool) const { fovea_pool_destroy(pool); }
};

/// Looks at the module after every pass that knows of a batch.
class AfterBatch : public mlir::PassInstrumentation {
public:
  explicit AfterBatch(
      std::function<void(mlir::ModuleOp, const std::string &)> judge)
      : judge(std::move(judge)) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override {
    llvm::StringRef name = pass->getArgument();
    isBatched |= name == "attn-batch";
    if (auto program = mlir::dyn_cast<attn::ProgramOp>(op))
      op = program->getParentOp();
    auto module = mlir::dyn_cast<mlir::ModuleOp>(op);
    if (module && isBatched && name != "attn-check-phase")
      judge(module, "after " + name.str());
  }

private:
  std::function<void(mlir::ModuleOp, const std::string &)> judge;
  bool isBatched = false;
};

} // namespace

static void roundToFloats(Array &array) {
  for (double &value : array.values)
    value = static_cast<float>(value);
}

//===----------------------------------------------------------------------===//
// The batch and what it gives
//===----------------------------------------------------------------------===//

void CompiledCheck::drawBatch() {
  parameters = subject.parameters;
  for (auto &[path, array] : parameters)
    roundToFloats(array);
  // Lengths of one place, of a few, and of more than a vector has lanes.
  const int64_t longest[] = {4, 1, 19, 3, 9};
  for (auto [number, limit] : llvm::enumerate(longest)) {
    Rng random(subject.seed, 20 + number);
    Inputs one = randomExample(*subject.spec, random, limit);
    one.parameters = &parameters;
    one.seed = subject.example.seed;
    one.update = subject.example.update;
    one.example = 7 * number;
    runtime::Example &example = examples.emplace_back();
    example.id = static_cast<int64_t>(one.example);
    example.lengths = one.lengths;
    for (auto &[name, array] : one.data) {
      roundToFloats(array);
      example.data[name] = {array.shape, array.values};
    }
    inputs.push_back(std::move(one));
  }
}

bool CompiledCheck::interpret() {
  mlir::Operation *grad = findContainer(scheduled, "grad");
  for (Inputs &one : inputs) {
    Status status = objective(*subject.oracle, one, values.emplace_back(),
                              /*equations=*/true);
    if (status.failed()) {
      fail("an example of the batch: " + status.text());
      return false;
    }
    Inputs seeded = one;
    seeded.data["seed.nll"] = Array::scalar(nllSeed);
    seeded.data["seed.penalty"] = Array::scalar(penaltySeed);
    Arrays own;
    status = grad ? evaluate(grad, seeded, own) : Status::success();
    if (status.failed()) {
      fail("an example of the batch, @grad: " + status.text());
      return false;
    }
    for (const auto &[name, array] : own) {
      if (!llvm::StringRef(name).starts_with("grad/"))
        continue;
      auto [sum, isNew] = gradients.try_emplace(name, array);
      if (subject.changeOf(name.substr(5)) == ParameterInfo::once)
        continue; // it is the same for all examples
      for (size_t i = 0; !isNew && i < array.values.size(); ++i)
        sum->second.values[i] += array.values[i];
    }
  }
  return true;
}

bool CompiledCheck::lower(const std::vector<std::string> &gets) {
  batched = mlir::cast<mlir::ModuleOp>(original->clone());
  if (mlir::Operation *decoding = batched->lookupSymbol("decoding"))
    decoding->erase();
  attn::PipelineOptions pipeline;
  pipeline.stopAfter = attn::Phase::fuse;
  for (const std::string &name : gets)
    pipeline.get.push_back(name);
  std::unique_ptr<mlir::PassInstrumentation> watcher;
  if (options.everyPass)
    watcher = std::make_unique<AfterBatch>(
        [&](mlir::ModuleOp module, const std::string &after) {
          judgeExample(module, after);
        });
  if (mlir::succeeded(compiler::lower(*batched, pipeline, std::move(watcher))))
    return formKernels();
  fail("the pipeline fails up to 'fuse'");
  return false;
}

/// The phases `kernels` and `memory` of a copy: what is compiled has its own,
/// for the machine that it is compiled for.
bool CompiledCheck::formKernels() {
  mlir::OwningOpRef<mlir::ModuleOp> copy =
      mlir::cast<mlir::ModuleOp>((*batched)->clone());
  if (mlir::failed(attn::runPasses(*copy, [](mlir::OpPassManager &manager) {
        mlir::OpPassManager &programs = manager.nest<attn::ProgramOp>();
        attn::formKernels(programs);
        attn::placeArrays(programs);
        manager.addPass(attn::createCheckPhase({attn::Phase::memory}));
      }))) {
    fail("the phase 'memory' fails");
    return false;
  }
  judgeExample(*copy, "after the phase 'memory'");
  copy->walk([&](attn::ComputeOp op) {
    attn::ProductAttr product = attn::productOf(op);
    if (!product)
      return;
    ++statistics.products[static_cast<size_t>(product.getKind())];
    statistics.inLoops += product.getKind() == attn::ProductKind::each &&
                          mlir::isa<attn::ScanOp>(op->getParentOp());
    if (product.getRun())
      ++statistics
            .convolutions[product.getKind() == attn::ProductKind::examples];
  });
  copy->walk([&](attn::KernelOp op) {
    ++statistics.kernels[static_cast<size_t>(op.getSchedule())];
  });
  copy->walk([&](mlir::Operation *op) {
    if (std::optional<attn::Units> units = attn::unitsOf(op))
      ++statistics.units[static_cast<size_t>(*units)];
  });
  return true;
}

void CompiledCheck::judgeExample(mlir::ModuleOp module,
                                 const std::string &after) {
  Inputs one = inputs.front();
  one.data["seed.nll"] = Array::scalar(nllSeed);
  one.data["seed.penalty"] = Array::scalar(penaltySeed);
  for (const char *entry : {"loss", "grad"}) {
    mlir::Operation *program = findContainer(module, entry);
    if (!program || !failures.empty())
      continue;
    Arrays got;
    if (Status status = evaluate(program, one, got); status.failed())
      return fail(after + ", @" + entry + ": " + status.text());
    Arrays before, now;
    for (auto &[name, array] : got) {
      std::string key = std::string(entry) + " " + name;
      auto [seen, isNew] = first.try_emplace(key, array);
      before[key] = seen->second;
      now[key] = array;
    }
    std::string difference = explainDifference(before, now, tolerance);
    if (!difference.empty())
      fail(after + ", @" + entry + ": " + difference);
  }
}

//===----------------------------------------------------------------------===//
// Compiled code
//===----------------------------------------------------------------------===//

bool CompiledCheck::compute(CompiledProgram &program,
                            const runtime::Batch &batch, FoveaPool *pool) {
  runtime::ParameterValues weights;
  for (const auto &[path, array] : parameters)
    weights[path] = array.values;
  runtime::Binding binding;
  binding.values = &weights;
  binding.numbers = {{"seed.nll", nllSeed}, {"seed.penalty", penaltySeed}};
  binding.seed = subject.example.seed;
  binding.update = subject.example.update;
  binding.pool = pool;
  Status status = program.run(batch, binding);
  if (status.failed())
    fail("compiled: " + status.text());
  return status.succeeded();
}

void CompiledCheck::judgeCompany(CompiledProgram &program,
                                 const std::string &what) {
  runtime::Batch batch = wholeBatch(examples);
  auto together = resultsOf(program, batch.size(), /*gradients=*/true);
  for (int threads = 2; threads <= 3; ++threads) {
    std::unique_ptr<FoveaPool, DestroyPool> pool(fovea_pool_create(threads));
    if (!compute(program, batch, pool.get()))
      return;
    for (const auto &[name, got] :
         resultsOf(program, batch.size(), /*gradients=*/true))
      if (got != together[name])
        return fail(what + " depends on the number of threads in " + name);
  }
  for (size_t number = 0; number < batch.size(); ++number) {
    if (!compute(program, {batch[number]}, nullptr))
      return;
    for (const auto &[name, got] : resultsOf(program, 1, /*gradients=*/false)) {
      std::string inBatch = name.substr(0, name.rfind(' ') + 1);
      if (got != together[inBatch + std::to_string(number)])
        return fail(what + " depends on the batch in " + inBatch +
                    std::to_string(number));
    }
  }
}

/// Code for two machines gives the same bits.
void CompiledCheck::judgeMachines(CompiledProgram &program,
                                  CompiledProgram &other,
                                  const std::string &what) {
  runtime::Batch batch = wholeBatch(examples);
  if (!compute(program, batch, nullptr) || !compute(other, batch, nullptr))
    return;
  auto wanted = resultsOf(program, batch.size(), /*gradients=*/true);
  for (const auto &[name, got] :
       resultsOf(other, batch.size(), /*gradients=*/true))
    if (got != wanted[name])
      return fail(what + " depends on the machine in " + name);
}

std::unique_ptr<CompiledProgram>
CompiledCheck::compile(llvm::StringRef entry, bool isDouble,
                       const std::string &cpu, const std::string &what,
                       std::optional<size_t> mistake) {
  // Opens the GPU where it is one.
  cli::Arguments machine;
  machine.cpu = cpu;
  if (cli::chooseTarget(machine) != cli::done) {
    fail(what + ": there is no " + cpu);
    return nullptr;
  }
  cli::CompiledOptions how;
  how.isDouble = isDouble;
  how.target = machine.cpu;
  how.roundsFactors = options.roundsFactors && cpu == options.otherCpu;
  how.optimisation = how.codegen = 0;
  how.isCached = false;
  std::unique_ptr<CompiledProgram> program;
  // A program gets the kernels of one machine, so each has its own copy.
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::cast<mlir::ModuleOp>((*batched)->clone());
  if (mistake)
    plantMistake(findContainer(*module, entry), *mistake);
  Status status = CompiledProgram::create(*module, entry, how, program);
  if (status.failed())
    fail(what + ": " + status.text());
  else
    ++statistics.compiled;
  return program;
}

void CompiledCheck::judge(llvm::StringRef entry, bool isDouble) {
  std::string what =
      "compiled @" + entry.str() + (isDouble ? ", f64" : ", f32");
  std::unique_ptr<CompiledProgram> program =
      compile(entry, isDouble, options.cpu, what);
  if (!program)
    return;
  runtime::Batch batch = wholeBatch(examples);
  if (!compute(*program, batch, nullptr) ||
      !judgePrecision(*program, entry, what, isDouble))
    return;
  if (!isDouble && !judgeBits(*program, entry, what))
    return;
  if (failures.empty())
    judgeCompany(*program, what);
  if (!failures.empty() || options.otherCpu.empty())
    return;
  if (options.roundsFactors && isDouble)
    return;
  auto other = compile(entry, isDouble, options.otherCpu, what);
  if (!other)
    return;
  if (!options.roundsFactors)
    return judgeMachines(*program, *other, what);
  if (compute(*other, batch, nullptr))
    judgeCompany(*other, what + ", bf16");
}

/// Counts of how many mistakes each precision tells.
void CompiledCheck::plantMistakes() {
  runtime::Batch batch = wholeBatch(examples);
  for (int64_t number = 0; number < options.mistakes; ++number) {
    bool isFound[2] = {};
    for (bool isDouble : {false, true}) {
      std::unique_ptr<CompiledProgram> program =
          compile("grad", isDouble, options.cpu, "a mistake", number);
      isFound[isDouble] =
          !program || !compute(*program, batch, nullptr) ||
          !judgePrecision(*program, "grad", "a mistake", isDouble);
      failures.clear();
    }
    ++statistics.planted;
    statistics.foundInDouble += isFound[1];
    statistics.foundInSingle += isFound[0] && isFound[1];
  }
}

void CompiledCheck::run(const std::vector<std::string> &gets) {
  drawBatch();
  if (!lower(gets) || !interpret())
    return;
  if (options.mistakes > 0)
    return plantMistakes();
  // Gradients compute the loss too; alone it is fused otherwise.
  const std::pair<const char *, bool> programs[] = {
      {"grad", true}, {"grad", false}, {"loss", true}, {"loss", false}};
  for (auto [number, program] : llvm::enumerate(programs))
    if (options.everyProgram || subject.seed % std::size(programs) == number)
      options.launches
          ? judgeLaunches(program.first, "@" + std::string(program.first))
      : options.checked ? judgeChecked(program.first, program.second,
                                       "checked @" + std::string(program.first))
      : options.debugPool
          ? judgeDebugged(program.first, program.second,
                          "compiled @" + std::string(program.first))
          : judge(program.first, program.second);
}

void fovea::random::checkCompiled(const Subject &subject,
                                  mlir::ModuleOp original,
                                  mlir::ModuleOp scheduled,
                                  const std::vector<std::string> &gets,
                                  const CheckOptions &options,
                                  Failures &failures, Statistics &statistics) {
  CompiledCheck(subject, original, scheduled, options, failures, statistics)
      .run(gets);
}
