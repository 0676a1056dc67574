//===- Checks.h - what must hold of every random spec ---------------------===//
//
// Each check returns one sentence per mistake, none when the spec is right.
// The oracle is the interpreter on the front end's own systems; every pass is
// judged against it, and gradients against central differences of it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TEST_RANDOM_CHECKS_H
#define FOVEA_TEST_RANDOM_CHECKS_H

#include "compiler/Compiler.h"
#include "dialect/reference/Search.h"
#include "test/random/Generator.h"

#include <map>
#include <memory>

namespace fovea::random {

struct Statistics {
  int64_t specs = 0, directions = 0, kinks = 0, steps = 0, bruteForced = 0,
          states = 0, unnecessary = 0, passes = 0, compiled = 0;
  /// Log p of choices whose bits were compared with a score.
  int64_t logps = 0;
  /// Runs of the interpreter on a phase that have the bits of compiled code.
  int64_t phases = 0;
  /// Systems with an ordered sum, and products of each example in loops.
  int64_t ordered = 0, inLoops = 0;
  /// Hypotheses of compiled searches, and specs that cannot be decoded.
  int64_t hypotheses = 0, refused = 0;
  /// Mistakes that were put into programs, and how many of them were found.
  int64_t planted = 0, foundInDouble = 0, foundInSingle = 0;
  /// Live ranges that were cut short, and how many of them were found.
  int64_t shortened = 0, noticed = 0;
  /// Launches of compiled code that were left out, and how many were named.
  int64_t leftOut = 0, named = 0;
  /// Products by attn::ProductKind, kernels by attn::Schedule, and what is
  /// launched by attn::Units.
  int64_t products[4] = {}, kernels[attn::getMaxEnumValForSchedule() + 1] = {},
          units[attn::getMaxEnumValForUnits() + 1] = {};
  /// Those of products that are gathered: rows, and sums over the examples.
  int64_t convolutions[2] = {};

  void operator+=(const Statistics &other) {
    specs += other.specs;
    directions += other.directions;
    kinks += other.kinks;
    steps += other.steps;
    bruteForced += other.bruteForced;
    states += other.states;
    unnecessary += other.unnecessary;
    passes += other.passes;
    compiled += other.compiled;
    logps += other.logps;
    phases += other.phases;
    ordered += other.ordered;
    inLoops += other.inLoops;
    hypotheses += other.hypotheses;
    refused += other.refused;
    planted += other.planted;
    foundInDouble += other.foundInDouble;
    foundInSingle += other.foundInSingle;
    shortened += other.shortened;
    noticed += other.noticed;
    leftOut += other.leftOut;
    named += other.named;
    for (size_t kind = 0; kind < std::size(products); ++kind)
      products[kind] += other.products[kind];
    for (size_t kind = 0; kind < std::size(convolutions); ++kind)
      convolutions[kind] += other.convolutions[kind];
    for (size_t kind = 0; kind < std::size(kernels); ++kind)
      kernels[kind] += other.kernels[kind];
    for (size_t kind = 0; kind < std::size(units); ++kind)
      units[kind] += other.units[kind];
  }
};

/// What `checkSpec` looks at.
struct CheckOptions {
  bool everyPass = true, gradients = true, decoding = true, compiled = true,
       renaming = true, formatting = true, bits = true;
  /// The bits of several examples, instead of one.
  bool thoroughBits = false;
  /// Compares compiled searches with the interpreter's.
  bool beams = false;
  /// The spec may have no decoder; it is then diagnosed.
  bool mayBeRefused = false;
  /// Compiles every program in each precision, instead of one by turns.
  bool everyProgram = false;
  /// Instead: puts so many mistakes into the gradients of a spec, one at a
  /// time, and counts which are found.
  int64_t mistakes = 0;
  /// Instead: runs each program through the debug pool, with the same bits, and
  /// with live ranges cut short, one at a time.
  bool debugPool = false;
  /// Instead: runs each program as checked code, with the same bits, and with
  /// arrays that are one element shorter, or end one step earlier.
  bool checked = false;
  /// Instead: interprets the launches of each program, on a CPU and a GPU.
  bool launches = false;
  Scale scale = Scale::Small;
  /// What it compiles for, as `fovea --cpu` names it.
  std::string cpu = "native";
  /// Another CPU, or `cuda`, that has to give the same bits; empty: none.
  std::string otherCpu;
  /// That one rounds factors to bf16: it has to give its own bits, whatever the
  /// batch.
  bool roundsFactors = false;
};

using Failures = std::vector<std::string>;

/// All checks of the spec that `seed` gives.
Failures checkSeed(uint64_t seed, const CheckOptions &options,
                   Statistics &statistics);

/// The same for a text that was changed by hand or by the shrinker: `spec`
/// describes the data of the text. `renamed` is the same text with other names,
/// or empty.
Failures checkSpec(const Spec &spec, const Spec *renamed, uint64_t seed,
                   const CheckOptions &options, Statistics &statistics);

//===----------------------------------------------------------------------===//
// The parts
//===----------------------------------------------------------------------===//

/// A compiled spec with its weights and one example.
struct Subject {
  /// How a training changes a parameter.
  ParameterInfo::Change changeOf(const std::string &path) const {
    for (const ParameterInfo &info : model->parameters)
      if (info.path == path)
        return info.change;
    return ParameterInfo::gradient;
  }

  const Spec *spec = nullptr;
  uint64_t seed = 0;
  std::unique_ptr<Model> model;
  reference::Arrays parameters;
  reference::Inputs example;
  /// What is right: `@training` as the front end gave it; where choices are not
  /// observed, the objective that is made of it, `@loss`.
  mlir::OwningOpRef<mlir::ModuleOp> oracle;
};

/// Empty, with a sentence in `failures`, when the front end refuses the text.
std::unique_ptr<Model> compileText(const std::string &text, const Spec &spec,
                                   compiler::Context &context,
                                   Failures &failures);

/// `nll`, `logp`, `choices`, `penalty` and every equation of `@training`, or
/// all outputs of `@loss`.
runtime::Status objective(mlir::ModuleOp module,
                          const reference::Inputs &inputs,
                          reference::Arrays &outputs, bool equations);

/// The system that `objective` evaluates.
mlir::Operation *systemOf(mlir::ModuleOp module);

/// The derivative of the objective along random directions, by central
/// differences of the oracle and by `gradients`.
void checkGradients(const Subject &subject, const reference::Arrays &gradients,
                    Failures &failures, Statistics &statistics);

/// The updates of states in `gradients` against those of the oracle.
void checkUpdates(const Subject &subject, const reference::Arrays &gradients,
                  Failures &failures);

/// The scheduled `@decode` against full evaluations of the oracle: every greedy
/// step, the beam, the necessity of each state.
void checkDecoder(const Subject &subject, mlir::ModuleOp scheduled,
                  Failures &failures, Statistics &statistics);

/// Compiled searches of `@decode` over a ragged batch against the interpreter.
/// With `launches` every launch of the searches is interpreted instead.
void checkBeams(const Subject &subject, mlir::ModuleOp original,
                mlir::ModuleOp scheduled, bool launches, Failures &failures,
                Statistics &statistics);

/// Compiled searches, scores of what they find and gradients, in f32: the same
/// bits, and those of the interpreter after each phase. If it is thorough, of
/// several examples, greedily as well, and each alone.
void checkBits(const Subject &subject, mlir::ModuleOp original, bool isThorough,
               Failures &failures, Statistics &statistics);

/// Compiled `@loss` and `@grad` over a ragged batch, with the equations `gets`
/// as outputs. `original` is what the front end gave, `scheduled` has the
/// gradients to agree with.
void checkCompiled(const Subject &subject, mlir::ModuleOp original,
                   mlir::ModuleOp scheduled,
                   const std::vector<std::string> &gets,
                   const CheckOptions &options, Failures &failures,
                   Statistics &statistics);

/// How the two terms of the objective are weighed in gradients.
inline constexpr double nllSeed = 1.3, penaltySeed = 0.7;
inline constexpr double tolerance = 1e-10;

} // namespace fovea::random

#endif // FOVEA_TEST_RANDOM_CHECKS_H
