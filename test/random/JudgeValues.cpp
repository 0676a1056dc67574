//===- JudgeValues.cpp - whether results are what is interpreted ----------===//
//
// In double precision results are close. In single precision they have the bits
// of the interpreter in f32, and are as close as drawn errors let them be.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Compare.h"
#include "test/random/Compiled.h"
#include "test/random/PhaseBits.h"

#include <cmath>

using namespace fovea;
using namespace fovea::random;
using namespace fovea::reference;
using fovea::runtime::Program;
using fovea::runtime::Status;

/// Tolerances of code in single precision: a share of the largest value,
/// whatever it computes, and a multiple of the largest effect of so many drawn
/// errors.
static constexpr double fewRoundings = 0x1p-20, mostErrors = 64;
static constexpr uint64_t numDraws = 4;

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

std::map<std::string, std::vector<double>>
fovea::random::resultsOf(const CompiledProgram &program, size_t examples,
                         bool gradients) {
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
