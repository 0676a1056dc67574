//===- WatchedCode.cpp - compiled code that is watched as it runs ---------===//
//
// Code whose units run in any order, whose free memory holds NaN, whose
// accesses are checked, or whose launches are compared one by one. Planted
// mistakes show what that finds.
//
//===----------------------------------------------------------------------===//

#include "app/interpret/Launched.h"
#include "runtime/Element.h"
#include "test/random/Compiled.h"
#include "test/random/Data.h"
#include "test/random/Mistakes.h"

using namespace fovea;
using namespace fovea::random;
using namespace fovea::reference;
using fovea::runtime::Program;
using fovea::runtime::Status;

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
  runtime::Batch batch = wholeBatch(examples);
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
  runtime::Batch batch = wholeBatch(examples);
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
