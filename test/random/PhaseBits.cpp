//===- PhaseBits.cpp - the bits of a module after each phase --------------===//
//
// Up to `schedule` the interpreter generates by its own search. After `batch`
// the parts of a decoder are programs, which it runs in the frames of a search.
//
//===----------------------------------------------------------------------===//

#include "test/random/PhaseBits.h"
#include "app/interpret/InterpretedDecoder.h"
#include "dialect/AttnDialect.h"
#include "dialect/reference/Batch.h"
#include "dialect/reference/Choices.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cmath>
#include <fmt/format.h>

using namespace fovea;
using namespace fovea::random;
using namespace fovea::reference;
using attn::Phase;
using runtime::Generated;
using runtime::Program;
using runtime::Status;

static constexpr Phase allPhases[] = {
#define PHASE(name, promise) Phase::name,
#include "passes/Phases.def"
};

namespace {
/// Keeps the module after each phase.
class KeepPhases : public mlir::PassInstrumentation {
public:
  explicit KeepPhases(std::vector<mlir::OwningOpRef<mlir::ModuleOp>> &modules)
      : modules(modules) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override {
    if (pass->getArgument() == "attn-check-phase")
      modules.emplace_back(mlir::cast<mlir::ModuleOp>(op->clone()));
  }

private:
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> &modules;
};
} // namespace

mlir::LogicalResult PhaseModules::lower(mlir::ModuleOp original,
                                        llvm::StringRef other,
                                        attn::PipelineOptions &pipeline) {
  modules.clear();
  mlir::OwningOpRef<mlir::ModuleOp> module = original.clone();
  if (mlir::Operation *system = module->lookupSymbol(other))
    system->erase();
  auto target = codegen::describeTarget(
      "native", mlir::Float32Type::get(module->getContext()));
  if (!target) {
    llvm::consumeError(target.takeError());
    return mlir::failure();
  }
  target->setTo(*module);
  pipeline.stopAfter = Phase::memory;
  if (mlir::failed(compiler::lower(*module, pipeline,
                                   std::make_unique<KeepPhases>(modules))))
    return mlir::failure();
  return mlir::success(modules.size() == std::size(allPhases));
}

std::string fovea::random::differingBits(const Array &want,
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

//===----------------------------------------------------------------------===//
// Loss, log p and gradients
//===----------------------------------------------------------------------===//

/// The results of one phase, by example, and summed over the batch.
static Status interpret(mlir::Operation *container, Phase phase,
                        const std::vector<Inputs> &batch,
                        std::vector<Arrays> &own, Arrays &sums) {
  own.resize(batch.size());
  for (auto [inputs, arrays] : llvm::zip_equal(batch, own))
    if (Status status = evaluate(container, inputs, arrays); status.failed())
      return status;
  if (phase < Phase::fuse)
    return Status::success();
  return evaluateTogether(container, batch, sums);
}

/// What differs in one phase; empty: nothing.
static std::string difference(const cli::CompiledProgram &program,
                              const std::vector<Arrays> &own,
                              const Arrays &sums) {
  for (const Program::Array &array : program.program().arrays) {
    if (array.role != Program::Role::Output)
      continue;
    std::string text;
    if (llvm::StringRef(array.name).starts_with("grad/")) {
      auto want = sums.find(array.name);
      if (want == sums.end())
        continue;
      std::vector<double> sum(want->second.values.size());
      program.workspace().addOutput(array.name, sum.data());
      text = differingBits(want->second, sum);
    } else {
      for (size_t number = 0; number < own.size() && text.empty(); ++number) {
        auto want = own[number].find(array.name);
        text = want == own[number].end()
                   ? "is not there"
                   : differingBits(
                         want->second,
                         program.workspace().output(array.name, number).values);
      }
    }
    if (!text.empty())
      return "'" + array.name + "' " + text;
  }
  return "";
}

void fovea::random::compareWithPhases(const cli::CompiledProgram &program,
                                      llvm::StringRef entry,
                                      const PhaseModules &phases,
                                      std::vector<Inputs> batch,
                                      Failures &failures,
                                      Statistics &statistics) {
  for (Inputs &inputs : batch) {
    inputs.single = true;
    inputs.data["seed.nll"] = Array::scalar(nllSeed);
    inputs.data["seed.penalty"] = Array::scalar(penaltySeed);
  }
  for (Phase phase : allPhases) {
    mlir::Operation *container = findContainer(phases.at(phase), entry);
    if (!container)
      continue; // '@grad' before it is derived
    std::vector<Arrays> own;
    Arrays sums;
    Status status = interpret(container, phase, batch, own, sums);
    std::string text =
        status.failed() ? status.text() : difference(program, own, sums);
    ++statistics.phases;
    if (!text.empty())
      return failures.push_back("bits: @" + entry.str() + " after '" +
                                attn::phaseName(phase).str() + "': " + text);
  }
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static Generated generatedOf(Hypothesis &&hypothesis) {
  Generated result;
  result.logp = hypothesis.logp;
  result.ended = hypothesis.ended;
  result.stepLogp = std::move(hypothesis.stepLogp);
  for (auto &[name, array] : hypothesis.outputs)
    result.outputs[name] = {array.shape, std::move(array.values)};
  return result;
}

/// What the interpreter generates from a system, or a program with a search.
static Status search(mlir::ModuleOp module, const runtime::Batch &batch,
                     const Arrays &weights,
                     const runtime::SearchOptions &options,
                     std::vector<std::vector<Generated>> &results) {
  SearchOptions how;
  static_cast<runtime::SearchOptions &>(how) = options;
  for (const runtime::Example *example : batch) {
    Inputs inputs = inputsOf(*example, weights);
    inputs.single = true;
    std::vector<Hypothesis> hypotheses;
    if (Status status =
            decode(findContainer(module, "decode"), inputs, how, hypotheses);
        status.failed())
      return status;
    std::vector<Generated> &own = results.emplace_back();
    for (Hypothesis &hypothesis : hypotheses)
      own.push_back(generatedOf(std::move(hypothesis)));
  }
  return Status::success();
}

static std::string difference(const Generated &got, const Generated &want) {
  if (got.logp != want.logp || got.ended != want.ended)
    return fmt::format("has log p {:a}, interpreted in f32 {:a}", got.logp,
                       want.logp);
  if (got.stepLogp != want.stepLogp)
    return "has other log p of its choices";
  for (const auto &[name, values] : got.outputs) {
    auto found = want.outputs.find(name);
    if (found == want.outputs.end())
      return "has '" + name + "', which is not interpreted";
    std::string text = differingBits(
        {found->second.shape, found->second.values}, values.values);
    if (!text.empty())
      return "'" + name + "' " + text;
  }
  return "";
}

static std::string difference(const std::vector<std::vector<Generated>> &got,
                              const std::vector<std::vector<Generated>> &want) {
  for (auto [example, pair] : llvm::enumerate(llvm::zip_equal(got, want))) {
    const auto &[own, expected] = pair;
    if (own.size() != expected.size())
      return fmt::format("finds {} hypotheses, interpreted in f32 {}",
                         own.size(), expected.size());
    for (size_t i = 0; i < own.size(); ++i)
      if (std::string text = difference(own[i], expected[i]); !text.empty())
        return fmt::format("hypothesis {} of example {} {}", i, example, text);
  }
  return "";
}

/// Whether scores are for all places until the schedule, so that a system reads
/// what is generated later.
static bool readsAhead(const Spec &spec) {
  return llvm::any_of(
      std::initializer_list<const char *>{"named", "sparse", "blocks",
                                          "prefix"},
      [&](const char *feature) { return spec.features.count(feature) > 0; });
}

/// Returns whether the unscheduled system finds the hypotheses of the decoder.
/// The system makes all choices of places in one search. In a decoder,
/// independent choices are several searches, or need none; each search
/// continues with the best of the one before.
static bool searchesAlike(const PhaseModules &phases) {
  int64_t searches = 0;
  bool choosesOutside = false;
  mlir::Operation *decoder =
      findContainer(phases.at(Phase::schedule), "decode");
  decoder->walk([&](attn::SearchOp) { ++searches; });
  decoder->walk([&](attn::ChoiceOp op) {
    choosesOutside |= op.getResult() && !op.getLatent() &&
                      numChoiceAxes(op) > 0 &&
                      !op->getParentOfType<attn::SearchOp>();
  });
  return searches <= 1 && !choosesOutside;
}

void fovea::random::compareWithPhases(const std::vector<Searched> &searches,
                                      const Spec &spec,
                                      const PhaseModules &phases,
                                      const runtime::Batch &batch,
                                      const Arrays &weights, Failures &failures,
                                      Statistics &statistics) {
  std::unique_ptr<cli::InterpretedDecoder> programs;
  Status status = cli::InterpretedDecoder::create(
      phases.at(Phase::fuse), cli::CompiledOptions(), programs);
  runtime::ParameterValues values;
  for (const auto &[path, array] : weights)
    values[path] = array.values;
  if (status.succeeded())
    status = programs->decoder().setParameters({values}, /*isDouble=*/false);
  if (status.failed())
    return failures.push_back("bits: the interpreted decoder: " +
                              status.text());
  bool isSystemAlike = !readsAhead(spec) && searchesAlike(phases);
  for (Phase phase : allPhases) {
    if (phase < Phase::schedule && !isSystemAlike)
      continue;
    programs->interpret(phases.at(phase));
    for (const auto &[options, found] : searches) {
      std::vector<std::vector<Generated>> want;
      if (phase < Phase::batch)
        status = search(phases.at(phase), batch, weights, options, want);
      else
        status = programs->decoder().search().decode(batch, options, want);
      if (programs->status().failed())
        status = programs->status();
      std::string text =
          status.failed() ? status.text() : difference(found, want);
      ++statistics.phases;
      if (!text.empty())
        return failures.push_back("bits: @decode after '" +
                                  attn::phaseName(phase).str() + "': " + text);
    }
  }
}
