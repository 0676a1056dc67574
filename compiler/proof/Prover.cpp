//===- Prover.cpp - trees before and after each phase ---------------------===//

#include "compiler/proof/Prover.h"
#include "dialect/AttnDialect.h"
#include "dialect/launch-reference/Interpreter.h"
#include "dialect/reference/Search.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::proof;
using attn::Phase;
using reference::Array;
using reference::Arrays;
using reference::Traced;
using reference::Trees;
using runtime::Status;

/// How often longer lengths are tried for a program that needs them.
static constexpr unsigned numAttempts = 4;

Prover::Prover(ProverOptions options) : options(std::move(options)) {}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Outputs that differentiation moves from the loss to its gradient.
static bool mayMove(StringRef output) {
  return output.starts_with("update") || output.starts_with("surrogate.") ||
         output.starts_with("estimate.");
}

/// Whether an output of the first program is one of the second as a sum over
/// the examples, or once instead of that.
bool Prover::isGivenOtherwise(StringRef output, const Arrays &before,
                              const Arrays &after) const {
  StringRef name = output;
  name.consume_front("sum of ");
  auto areSame = [&](const std::string &mine, const std::string &theirs) {
    auto was = before.find(mine), is = after.find(theirs);
    if (was == before.end() || is == after.end() ||
        was->second.shape != is->second.shape)
      return false;
    for (size_t i = 0; i < was->second.values.size(); ++i)
      if (!residues.areEqual(was->second.at(i), is->second.at(i)))
        return false;
    return true;
  };
  std::string own = name.str(), sum = "sum of " + own;
  return areSame(own, own) || areSame(sum, own) || areSame(own, sum) ||
         areSame(sum, sum);
}

Status Prover::compare(StringRef name, const Followed &followed,
                       StringRef phase, const Outputs &outputs) {
  for (auto [example, before] : llvm::enumerate(followed.outputs))
    for (const auto &[output, array] : before) {
      auto found = outputs[example].find(output);
      if (found == outputs[example].end()) {
        if (mayMove(output) ||
            isGivenOtherwise(output, before, outputs[example]))
          continue;
        return Status::error(
            fmt::format("phase '{}' drops the output '{}' of '@{}'",
                        phase.str(), output, name.str()));
      }
      const Array &after = found->second;
      if (array.shape != after.shape)
        return Status::error(fmt::format(
            "phase '{}' gives output '{}' of '@{}' the extents {}, "
            "which were {}",
            phase.str(), output, name.str(), runtime::shapeText(after.shape),
            runtime::shapeText(array.shape)));
      for (size_t offset = 0; offset < array.values.size(); ++offset) {
        Traced was = array.at(offset), is = after.at(offset);
        const Trees &table = followed.isExact ? residues : trees;
        if (table.areEqual(was, is))
          continue;
        Trees::Difference difference = table.firstDifference(was, is);
        std::string of =
            difference.equation.empty()
                ? ""
                : fmt::format(": element {} of '{}'", difference.element,
                              difference.equation);
        return Status::error(
            fmt::format("phase '{}' changes element {} of output '{}' of "
                        "'@{}'{} is {} and was {}",
                        phase.str(), offset, output, name.str(), of,
                        table.text(difference.after),
                        table.text(difference.before)),
            difference.where);
      }
    }
  return Status::success();
}

/// The first sample that the program can be executed on.
Status
Prover::begin(Operation *container, Followed &followed,
              llvm::function_ref<Status(const Sample &, Outputs &)> execute) {
  Status status = Status::success();
  for (unsigned attempt = 0; attempt < numAttempts; ++attempt) {
    status = drawSample(container, options.describe(container), attempt,
                        followed.sample);
    if (status.succeeded() && options.complete)
      status = options.complete(container->getParentOfType<ModuleOp>(),
                                followed.sample.parameters);
    for (reference::Inputs &inputs : followed.sample.examples)
      inputs.trees = followed.isExact ? &residues : &trees;
    if (status.succeeded())
      status = execute(followed.sample, followed.outputs);
    if (status.succeeded())
      break;
  }
  return status;
}

Status
Prover::check(Operation *container, StringRef phase, bool isExact,
              llvm::function_ref<Status(const Sample &, Outputs &)> execute) {
  std::string name = SymbolTable::getSymbolName(container).str();
  auto [found, isNew] =
      programs.try_emplace(name + (isExact ? " without roundings" : ""));
  Followed &followed = found->second;
  followed.isExact = isExact;
  Outputs outputs;
  Status status = isNew ? begin(container, followed, execute)
                        : execute(followed.sample, outputs);
  trees.endProgram();
  residues.endProgram();
  if (status.failed())
    return Status::error(fmt::format("'@{}' has no proof after phase '{}': {}",
                                     name, phase.str(), status.getMessage()),
                         status.getWhere());
  if (!isNew) {
    if (status = compare(name, followed, phase, outputs); status.failed())
      return status;
    followed.outputs = std::move(outputs);
  }
  for (const Arrays &own : followed.outputs)
    for (const auto &[output, array] : own)
      numCompared += isNew ? 0 : array.values.size();
  followed.phases.push_back(phase.str());
  return status;
}

void Prover::fail(Status status) {
  if (first.succeeded() && status.failed())
    first = std::move(status);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// Whether the bits of a system or a program are decided after `phase`: all its
/// sums have orders.
static bool hasBits(Operation *container, Phase phase, bool roundsFactors) {
  if (roundsFactors && phase < Phase::kernels)
    return false;
  // Gradients get theirs last.
  if (SymbolTable::getSymbolName(container).getValue() == "grad")
    return phase >= Phase::fuse;
  return !container
              ->walk([](attn::ComputeOp op) {
                bool isOpen = op.getReducer() != attn::Reducer::none &&
                              !op.getOrderAttr() &&
                              op.getYielded().getType().isF64();
                return isOpen ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

Status Prover::execute(Operation *container, Phase phase, const Sample &sample,
                       Outputs &outputs) {
  if (phase >= Phase::batch)
    return reference::evaluateEach(container, sample.examples, outputs);
  Status status = Status::success();
  outputs.clear();
  for (const reference::Inputs &inputs : sample.examples)
    if (status.succeeded())
      status = reference::evaluate(container, inputs, outputs.emplace_back());
  return status;
}

/// How many steps a search takes.
static constexpr int64_t numSteps = 3;

/// Takes the most probable symbols for some steps. The outputs are the numbers
/// of all distributions on the way.
Status Prover::search(Operation *container, const Sample &sample,
                      Outputs &outputs) {
  reference::SearchOptions options;
  options.beam = 1;
  options.longest = numSteps;
  outputs.clear();
  for (const reference::Inputs &inputs : sample.examples) {
    trees.takeChoices();
    std::vector<reference::Hypothesis> hypotheses;
    if (Status status =
            reference::decode(container, inputs, options, hypotheses);
        status.failed())
      return status;
    Arrays &own = outputs.emplace_back();
    for (auto [number, numbers] : llvm::enumerate(trees.takeChoices())) {
      Array &array = own[fmt::format("choice {}", number)];
      array = Array::zeros({static_cast<int64_t>(numbers.size())});
      for (auto [offset, traced] : llvm::enumerate(numbers))
        array.set(offset, traced);
    }
  }
  return Status::success();
}

/// Gradients are added up over the examples, as `sum of grad/..`: before
/// `batch` each example has its own. What is the same in all examples is an
/// output, too: a batch may have it once.
Status Prover::executeExactly(Operation *container, Phase phase,
                              const Sample &sample, Outputs &outputs) {
  if (Status status = execute(container, phase, sample, outputs);
      status.failed())
    return status;
  for (auto output : container->getRegion(0).getOps<attn::OutputOp>()) {
    std::string name = output.getTarget().str();
    if (!output.getTarget().starts_with("grad/"))
      continue;
    bool isEach =
        phase < Phase::batch || launch::isPerExample(output.getValue());
    Array sum = outputs.front().at(name);
    bool isSame = true;
    for (Arrays &other : llvm::MutableArrayRef(outputs).drop_front()) {
      for (size_t i = 0; isEach && i < sum.values.size(); ++i) {
        Traced a = sum.at(i), b = other.at(name).at(i);
        isSame &= residues.areEqual(outputs.front().at(name).at(i), b);
        double value = a.value + b.value;
        sum.set(i, {value, residues.apply(Trees::Add, value, a, b, {}, 2)});
      }
      other.erase(name);
    }
    if (isEach && !isSame)
      outputs.front().erase(name);
    if (isEach)
      outputs.front()["sum of " + name] = std::move(sum);
  }
  return Status::success();
}

void Prover::checkPhase(ModuleOp module, Phase phase) {
  for (Operation &op : module.getOps()) {
    if (first.failed() || !isa<attn::SystemOp, attn::ProgramOp>(op))
      continue;
    std::string name = SymbolTable::getSymbolName(&op).str();
    bool isOrdered = hasBits(&op, phase, options.roundsFactors);
    // Later its parts take its place.
    if (name == "decode") {
      if (isOrdered && phase < Phase::batch)
        fail(check(&op, attn::phaseName(phase), /*isExact=*/false,
                   [&](const Sample &sample, Outputs &outputs) {
                     return search(&op, sample, outputs);
                   }));
      continue;
    }
    // The phase that decides the bits keeps what the numbers are.
    bool isFollowed = programs.contains(name);
    if (!isFollowed && phase < Phase::kernels)
      fail(check(&op, attn::phaseName(phase), /*isExact=*/true,
                 [&](const Sample &sample, Outputs &outputs) {
                   return executeExactly(&op, phase, sample, outputs);
                 }));
    if (isOrdered)
      fail(check(&op, attn::phaseName(phase), /*isExact=*/false,
                 [&](const Sample &sample, Outputs &outputs) {
                   return execute(&op, phase, sample, outputs);
                 }));
  }
}

void Prover::checkLaunches(ModuleOp module, ModuleOp schedules) {
  for (auto schedule : schedules.getOps<launch::ProgramOp>()) {
    auto program = module.lookupSymbol<attn::ProgramOp>(schedule.getProgram());
    if (first.failed() || !program)
      continue;
    Status status =
        check(program, "launches", /*isExact=*/false,
              [&](const Sample &sample, Outputs &outputs) {
                return launch::interpret(schedule, program, sample.examples, {},
                                         outputs);
              });
    fail(std::move(status));
  }
}

std::string Prover::summary() const {
  std::string text = fmt::format("proved {} numbers from {} operations",
                                 numCompared, trees.size());
  for (const auto &[name, program] : programs)
    text += fmt::format("; '@{}' is the same after {}", name,
                        llvm::join(program.phases, ", "));
  return text;
}

namespace {
/// Calls the prover after each check of a contract.
class Watcher : public PassInstrumentation {
public:
  explicit Watcher(Prover &prover) : prover(prover) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    if (pass->getArgument() == "attn-check-phase")
      prover.checkPhase(cast<ModuleOp>(op), static_cast<Phase>(numPhases++));
  }

private:
  Prover &prover;
  int numPhases = 0;
};
} // namespace

std::unique_ptr<PassInstrumentation> Prover::watcher() {
  return std::make_unique<Watcher>(*this);
}
