//===- Compiled.cpp - compiled code against the interpreter ---------------===//
//
// A ragged batch goes through code, in every company and on several threads.
// The oracle is the interpreter: of `@training` as the front end gave it, and
// of the gradients that central differences judged. Weights and data are
// floats, so that both precisions mean the same.
//
//===----------------------------------------------------------------------===//

#include "app/model/Compiled.h"
#include "app/model/Launched.h"
#include "app/open/ChooseTarget.h"
#include "dialect/reference/Compare.h"
#include "passes/Passes.h"
#include "passes/analysis/Product.h"
#include "passes/kernels/DivideWork.h"
#include "runtime/Element.h"
#include "test/random/Checks.h"
#include "test/random/Data.h"
#include "test/random/Mistakes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace fovea;
using namespace fovea::random;
using namespace fovea::reference;
using fovea::cli::CompiledProgram;
using fovea::runtime::Program;
using fovea::runtime::Status;

namespace {

struct DestroyPool {
  void operator()(FoveaPool *pool) const { fovea_pool_destroy(pool); }
};

class CompiledCheck {
public:
  CompiledCheck(const Subject &subject, mlir::ModuleOp original,
                mlir::ModuleOp scheduled, const CheckOptions &options,
                Failures &failures, Statistics &statistics)
      : subject(subject), original(original), scheduled(scheduled),
        options(options), failures(failures), statistics(statistics) {}

  void run(const std::vector<std::string> &gets);

private:
  void drawBatch();
  bool interpret();
  bool lower(const std::vector<std::string> &gets);
  bool formKernels();
  /// Evaluates the first example, and compares it with what it was before.
  void judgeExample(mlir::ModuleOp module, const std::string &after);
  void judge(llvm::StringRef entry, bool isDouble);
  void judgeValues(const CompiledProgram &program, const std::string &what,
                   bool isDouble);
  bool judgePrecision(const CompiledProgram &program, llvm::StringRef entry,
                      const std::string &what, bool isDouble);
  bool judgeBits(const CompiledProgram &program, llvm::StringRef entry,
                 const std::string &what);
  void plantMistakes();
  void judgeCompany(CompiledProgram &program, const std::string &what);
  cli::CompiledOptions watchedOptions(bool isDouble) const;
  bool compileWatched(llvm::StringRef entry, const cli::CompiledOptions &how,
                      const std::string &what, codegen::Code &code);
  void judgeDebugged(llvm::StringRef entry, bool isDouble,
                     const std::string &what);
  void judgeChecked(llvm::StringRef entry, bool isDouble,
                    const std::string &what);
  void judgeLaunches(llvm::StringRef entry, const std::string &what);
  void compareLaunches(const std::string &what);
  void judgeMachines(CompiledProgram &program, CompiledProgram &other,
                     const std::string &what);
  std::unique_ptr<CompiledProgram> compile(llvm::StringRef entry, bool isDouble,
                                           const std::string &cpu,
                                           const std::string &what,
                                           std::optional<size_t> mistake = {});
  bool measureErrors(llvm::StringRef entry);
  bool isClose(const std::string &key, const Array &want,
               const runtime::DataValues &got, bool isDouble) const;
  /// Runs over `batch`, on one thread or on those of the pool.
  bool compute(CompiledProgram &program, const runtime::Batch &batch,
               FoveaPool *pool);
  void fail(const std::string &text) { failures.push_back(text); }

  const Subject &subject;
  mlir::ModuleOp original, scheduled;
  const CheckOptions &options;
  Failures &failures;
  Statistics &statistics;

  std::vector<Inputs> inputs; // of the examples, for the interpreter
  std::vector<runtime::Example> examples;
  Arrays parameters;
  std::vector<Arrays> values; // by example
  Arrays gradients;           // summed over the examples
  mlir::OwningOpRef<mlir::ModuleOp> batched;
  Arrays first; // of the first example, by program and output
  /// How far errors of single precision move each result of an entry.
  std::map<std::string, double> moved;
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

/// Tolerances of code in single precision: a share of the largest value,
/// whatever it computes, and a multiple of the largest effect of so many drawn
/// errors.
static constexpr double fewRoundings = 0x1p-20, mostErrors = 64;
static constexpr uint64_t numDraws = 4;

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

/// A name that each example has a value of its own of.
static bool isPerExample(const Program::Array &array) {
  return array.role == Program::Role::Output &&
         !llvm::StringRef(array.name).starts_with("grad/");
}

/// What a result is called: `grad/w`, summed over the examples, or `nll of
/// example 2`.
static std::string keyOf(llvm::StringRef name, size_t example) {
  return name.starts_with("grad/")
             ? name.str()
             : (name + " of example " + llvm::Twine(example)).str();
}

/// Interprets the program that is compiled, exactly and with errors of single
/// precision drawn for each operation: how far these move a result is what code
/// in single precision may be off by, whatever cancels out in it or multiplies.
bool CompiledCheck::measureErrors(llvm::StringRef entry) {
  moved.clear();
  std::map<std::string, std::vector<double>> exact;
  for (uint64_t draw = 0; draw <= numDraws; ++draw) {
    std::map<std::string, std::vector<double>> results;
    for (auto [number, one] : llvm::enumerate(inputs)) {
      Inputs seeded = one;
      seeded.data["seed.nll"] = Array::scalar(nllSeed);
      seeded.data["seed.penalty"] = Array::scalar(penaltySeed);
      EvaluateOptions how;
      if (draw > 0)
        how.rounding =
            (subject.seed * numDraws + draw) * inputs.size() + number;
      Arrays got;
      Status status =
          evaluate(findContainer(*batched, entry), seeded, got, how);
      if (status.failed()) {
        fail("@" + entry.str() + " with errors: " + status.text());
        return false;
      }
      for (const auto &[name, array] : got) {
        std::vector<double> &sum = results[keyOf(name, number)];
        sum.resize(array.values.size());
        for (auto [total, value] : llvm::zip_equal(sum, array.values))
          total += value;
      }
    }
    if (draw == 0)
      exact = std::move(results);
    for (const auto &[key, values] : results)
      for (auto [before, value] : llvm::zip_equal(exact.at(key), values))
        if (value != before) {
          double distance = std::fabs(value - before);
          moved[key] =
              std::max(moved[key], std::isnan(distance) ? HUGE_VAL : distance);
        }
  }
  return true;
}

/// Whether `got` is what code of a precision may give for `want`: a NaN never
/// is.
bool CompiledCheck::isClose(const std::string &key, const Array &want,
                            const runtime::DataValues &got,
                            bool isDouble) const {
  if (want.shape != got.shape)
    return false;
  double largest = 1;
  if (!isDouble || options.scale == Scale::Large)
    for (double value : want.values)
      if (std::isfinite(value))
        largest = std::max(largest, std::fabs(value));
  double allowed = largest * tolerance;
  if (isDouble && options.scale == Scale::Large)
    allowed *= 10;
  if (!isDouble) {
    auto found = moved.find(key);
    allowed = largest * fewRoundings +
              (found == moved.end() ? 0 : mostErrors * found->second);
  }
  // What is infinite is so in both.
  for (auto [expected, value] : llvm::zip_equal(want.values, got.values))
    if (expected != value && !(std::fabs(expected - value) <= allowed))
      return false;
  return true;
}

void CompiledCheck::judgeValues(const CompiledProgram &program,
                                const std::string &what, bool isDouble) {
  for (const Program::Array &array : program.program().arrays) {
    if (array.role != Program::Role::Output)
      continue;
    if (!isPerExample(array)) {
      auto want = gradients.find(array.name);
      if (want == gradients.end()) {
        fail(what + " gives '" + array.name + "', the interpreter does not");
        continue;
      }
      runtime::DataValues sum{want->second.shape, {}};
      sum.values.resize(want->second.values.size());
      program.workspace().addOutput(array.name, sum.values.data());
      if (!isClose(array.name, want->second, sum, isDouble))
        fail(what + " is wrong in '" + array.name + "': " +
             explainDifference({{"the sum", want->second}},
                               {{"the sum", {sum.shape, sum.values}}},
                               isDouble ? tolerance : fewRoundings));
      continue;
    }
    for (size_t number = 0; number < values.size(); ++number) {
      auto want = values[number].find(array.name);
      if (want == values[number].end())
        continue;
      runtime::DataValues got = program.workspace().output(array.name, number);
      if (isClose(keyOf(array.name, number), want->second, got, isDouble))
        continue;
      fail(what + " is wrong in '" + array.name + "' of example " +
           std::to_string(number) + ": " +
           explainDifference({{"it", want->second}},
                             {{"it", {got.shape, got.values}}},
                             isDouble ? tolerance : fewRoundings));
      break;
    }
  }
}

/// What is off by more than a few roundings is measured against what errors do
/// to it.
bool CompiledCheck::judgePrecision(const CompiledProgram &program,
                                   llvm::StringRef entry,
                                   const std::string &what, bool isDouble) {
  size_t before = failures.size();
  moved.clear();
  judgeValues(program, what, isDouble);
  if (isDouble || failures.size() == before)
    return failures.size() == before;
  failures.resize(before);
  if (measureErrors(entry))
    judgeValues(program, what, isDouble);
  return failures.size() == before;
}

/// Says where the first number with other bits is; empty when there is none. A
/// sum that is zero has either sign: tiles of products add the zeros of
/// padding.
static std::string differingBits(const Array &want,
                                 const std::vector<double> &got) {
  if (want.values.size() != got.size())
    return "has another shape";
  for (auto [place, value] : llvm::enumerate(got)) {
    double expected = want.values[place];
    bool isSame =
        expected == value || (std::isnan(expected) && std::isnan(value));
    if (!isSame)
      return fmt::format("is {:a}, interpreted in f32 {:a}, at element {}",
                         value, expected, place);
  }
  return "";
}

/// In single precision the interpreter has the bits of compiled code.
bool CompiledCheck::judgeBits(const CompiledProgram &program,
                              llvm::StringRef entry, const std::string &what) {
  mlir::Operation *container = findContainer(*batched, entry);
  std::vector<Inputs> seeded = inputs;
  std::vector<Arrays> own(inputs.size());
  for (auto [one, arrays] : llvm::zip_equal(seeded, own)) {
    one.single = true;
    one.data["seed.nll"] = Array::scalar(nllSeed);
    one.data["seed.penalty"] = Array::scalar(penaltySeed);
    if (Status status = evaluate(container, one, arrays); status.failed()) {
      fail(what + ", interpreted in f32: " + status.text());
      return false;
    }
  }
  Arrays sums;
  if (Status status = evaluateTogether(container, seeded, sums);
      status.failed()) {
    fail(what + ", the batch interpreted in f32: " + status.text());
    return false;
  }
  for (const Program::Array &array : program.program().arrays) {
    if (array.role != Program::Role::Output)
      continue;
    std::string difference;
    if (!isPerExample(array)) {
      const Array &want = sums.at(array.name);
      std::vector<double> sum(want.values.size());
      program.workspace().addOutput(array.name, sum.data());
      difference = differingBits(want, sum);
    }
    for (size_t number = 0; isPerExample(array) && number < own.size();
         ++number)
      if (difference.empty())
        difference = differingBits(
            own[number].at(array.name),
            program.workspace().output(array.name, number).values);
    if (difference.empty())
      continue;
    fail(what + ": '" + array.name + "' " + difference);
    return false;
  }
  return true;
}

/// All that a run gave, by name and example.
static std::map<std::string, std::vector<double>>
resultsOf(const CompiledProgram &program, size_t examples, bool gradients) {
  std::map<std::string, std::vector<double>> results;
  for (const Program::Array &array : program.program().arrays) {
    if (array.role != Program::Role::Output ||
        (!gradients && !isPerExample(array)))
      continue;
    for (size_t number = 0; number < examples; ++number)
      results[array.name + " of example " + std::to_string(number)] =
          program.workspace().output(array.name, number).values;
  }
  return results;
}

void CompiledCheck::judgeCompany(CompiledProgram &program,
                                 const std::string &what) {
  runtime::Batch batch;
  for (const runtime::Example &example : examples)
    batch.push_back(&example);
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

/// A program of its own from code that others are made of, too.
static std::unique_ptr<CompiledProgram>
programOf(const codegen::Code &code, const cli::CompiledOptions &how) {
  codegen::Code copy;
  copy.description = code.description;
  copy.sites = code.sites;
  for (const auto &object : code.objects)
    copy.objects.push_back(
        llvm::MemoryBuffer::getMemBufferCopy(object->getBuffer()));
  std::unique_ptr<CompiledProgram> program;
  Status status = CompiledProgram::create(std::move(copy), how, program);
  assert(status.succeeded() && "the code is that of another program");
  (void)status;
  return program;
}

/// Code that is watched as it runs: of this element type, not optimised, and
/// not from the cache.
cli::CompiledOptions CompiledCheck::watchedOptions(bool isDouble) const {
  cli::CompiledOptions how;
  how.isDouble = isDouble;
  how.target = options.cpu;
  how.optimisation = how.codegen = 0;
  how.isCached = false;
  return how;
}

/// Compiles the program of an entry. False: it failed (reported).
bool CompiledCheck::compileWatched(llvm::StringRef entry,
                                   const cli::CompiledOptions &how,
                                   const std::string &what,
                                   codegen::Code &code) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::cast<mlir::ModuleOp>((*batched)->clone());
  Status status = cli::compileProgram(*module, entry, how, code);
  if (status.failed())
    fail(what + ": " + status.text());
  return status.succeeded();
}

/// Bits: NaN is equal to itself.
static bool haveSameBits(const std::vector<double> &a,
                         const std::vector<double> &b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// Units in any order, and NaN in memory that is free, change no bits. Where an
/// array ends before its last reader, they do.
void CompiledCheck::judgeDebugged(llvm::StringRef entry, bool isDouble,
                                  const std::string &what) {
  cli::CompiledOptions how = watchedOptions(isDouble);
  how.debugSeed = subject.seed;
  codegen::Code code;
  if (!compileWatched(entry, how, what, code))
    return;
  runtime::Batch batch;
  for (const runtime::Example &example : examples)
    batch.push_back(&example);
  std::unique_ptr<CompiledProgram> program =
      compile(entry, isDouble, options.cpu, what);
  if (!program || !compute(*program, batch, nullptr))
    return;
  auto wanted = resultsOf(*program, batch.size(), /*gradients=*/true);
  auto isSame = [&](CompiledProgram &other) {
    if (!compute(other, batch, nullptr))
      return false;
    for (const auto &[name, got] :
         resultsOf(other, batch.size(), /*gradients=*/true))
      if (!haveSameBits(got, wanted[name]))
        return false;
    return true;
  };
  for (int run = 0; run < 3; ++run)
    if (!isSame(*programOf(code, how)))
      return fail(what + " depends on the order of units, or on free memory");
  size_t before = failures.size();
  std::vector<Program::Array> &arrays =
      code.description.programs.front().arrays;
  // A sample: each takes a link and a run.
  for (size_t i = 0; i < arrays.size(); i += arrays.size() / 32 + 1) {
    Program::Array &array = arrays[i];
    if (array.role != Program::Role::Temporary ||
        !runtime::isReal(array.element) || !array.part.empty() ||
        array.lastUse <= array.firstUse)
      continue;
    --array.lastUse;
    ++statistics.shortened;
    statistics.noticed += !isSame(*programOf(code, how));
    ++array.lastUse;
  }
  failures.resize(before);
}

/// Checked code finds nothing, and has the bits of code without checks. Where
/// the runtime believes that an array is shorter, or ends earlier, it finds the
/// access beyond. Some have none: rows are padded to whole vectors.
void CompiledCheck::judgeChecked(llvm::StringRef entry, bool isDouble,
                                 const std::string &what) {
  cli::CompiledOptions how = watchedOptions(isDouble);
  how.isChecked = true;
  codegen::Code code;
  if (!compileWatched(entry, how, what, code))
    return;
  runtime::Batch batch;
  for (const runtime::Example &example : examples)
    batch.push_back(&example);
  std::unique_ptr<CompiledProgram> plain =
      compile(entry, isDouble, options.cpu, what);
  std::unique_ptr<CompiledProgram> checked = programOf(code, how);
  if (!plain || !compute(*plain, batch, nullptr) ||
      !compute(*checked, batch, nullptr))
    return;
  auto wanted = resultsOf(*plain, batch.size(), /*gradients=*/true);
  for (const auto &[name, got] :
       resultsOf(*checked, batch.size(), /*gradients=*/true))
    if (!haveSameBits(got, wanted[name]))
      return fail(what + " has other bits in " + name);
  std::vector<Program::Array> &arrays =
      code.description.programs.front().arrays;
  size_t before = failures.size();
  auto isNamed = [&] {
    ++statistics.shortened;
    bool isGood = compute(*programOf(code, how), batch, nullptr);
    statistics.noticed +=
        !isGood && failures.back().find("equation '") != std::string::npos;
    failures.resize(before);
  };
  // A sample: each takes a link and a run.
  for (size_t i = 0; i < arrays.size(); i += arrays.size() / 8 + 1) {
    Program::Array &array = arrays[i];
    if (array.role != Program::Role::Temporary || !array.part.empty())
      continue;
    const Program::Array own = array;
    if (array.lastUse > array.firstUse) {
      --array.lastUse;
      isNamed();
      array = own;
    }
    if (array.count > 1) {
      --array.count;
      isNamed();
      array = own;
    }
  }
}

/// Compiled code is compared after each launch. One that does nothing is named,
/// unless its memory has the right numbers already.
void CompiledCheck::compareLaunches(const std::string &what) {
  cli::CompiledOptions how;
  how.optimisation = how.codegen = 0;
  how.isCached = false;
  how.threads = 1;
  auto compared = [&] {
    Arrays sums;
    return cli::LaunchedBatch(*batched, parameters, examples, how,
                              /*compares=*/true)
        .evaluateGradients(nllSeed, penaltySeed, sums);
  };
  if (Status status = compared(); status.failed())
    return fail(what + ": " + status.text());
  for (int64_t number : {3, 8, 13}) {
    how.parallel = leavingOut(number);
    Status status = compared();
    if (!wasLeftOut())
      break; // there are fewer
    ++statistics.leftOut;
    statistics.named += status.text().find("compiled code differs first in") !=
                        std::string::npos;
  }
}

/// The launches for a CPU and a GPU give the bits of the program, in any order.
void CompiledCheck::judgeLaunches(llvm::StringRef entry,
                                  const std::string &what) {
  for (const char *target : {"x86-64-v3", "cuda", "cuda:sm_90a"}) {
    cli::CompiledOptions how;
    how.target = target;
    how.isDouble = subject.seed % 2 == 0;
    // In f32 one of them rounds factors, which it copies.
    how.roundsFactors = !how.isDouble && how.target == "cuda:sm_90a";
    std::vector<Inputs> given = inputs;
    for (Inputs &own : given) {
      own.single = !how.isDouble;
      own.data["seed.nll"] = Array::scalar(nllSeed);
      own.data["seed.penalty"] = Array::scalar(penaltySeed);
    }
    cli::LaunchResults results;
    if (Status status = cli::interpretLaunches(*batched, entry, given, how,
                                               subject.seed, results);
        status.failed())
      return fail("launches of " + what + " for " + target + ": " +
                  status.text());
    ++statistics.compiled;
  }
  if (entry == "grad")
    compareLaunches(what);
}

/// Code for two machines gives the same bits.
void CompiledCheck::judgeMachines(CompiledProgram &program,
                                  CompiledProgram &other,
                                  const std::string &what) {
  runtime::Batch batch;
  for (const runtime::Example &example : examples)
    batch.push_back(&example);
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
  runtime::Batch batch;
  for (const runtime::Example &example : examples)
    batch.push_back(&example);
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
  runtime::Batch batch;
  for (const runtime::Example &example : examples)
    batch.push_back(&example);
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
