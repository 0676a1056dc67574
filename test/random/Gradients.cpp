//===- Gradients.cpp - gradients against central differences --------------===//
//
// A derivative along a random direction of all parameters checks every entry at
// once: an error of one shows unless it happens to be orthogonal. Single
// entries follow, so that small gradients are seen too. If two step widths
// disagree, the function has a kink or a jump near by, and the direction is
// left out; a spec with nothing but kinks is a failure. The argument of a
// `stop` keeps its value at the weights: it is data to the differences.
//
//===----------------------------------------------------------------------===//

#include "dialect/AttnDialect.h"
#include "dialect/reference/Compare.h"
#include "test/random/Checks.h"
#include "test/random/Data.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace fovea::random;
using namespace fovea::reference;
using fovea::runtime::Status;

namespace {
struct Line {
  const Subject &subject;
  mlir::ModuleOp oracle;
  const Inputs &example;
  Arrays direction;
  bool failed = false;

  /// The objective at `weights + step * direction`.
  double at(double step) {
    Arrays moved = subject.parameters;
    for (auto &[path, array] : direction)
      for (size_t i = 0; i < array.values.size(); ++i)
        moved[path].values[i] += step * array.values[i];
    Inputs inputs = example;
    inputs.parameters = &moved;
    Arrays outputs;
    Status status = objective(oracle, inputs, outputs, false);
    failed |= status.failed();
    if (failed)
      return 0;
    auto advantage = example.data.find(policyName);
    double likelihood =
        advantage == example.data.end()
            ? 0
            : advantage->second.values[0] * outputs.at("logp").values[0];
    return nllSeed * termOf(outputs, "nll") +
           penaltySeed * termOf(outputs, "penalty") - likelihood;
  }
  /// What an estimator differentiates is not what is reported.
  static double termOf(const Arrays &outputs, const std::string &name) {
    auto surrogate = outputs.find("surrogate." + name);
    return (surrogate == outputs.end() ? outputs.at(name) : surrogate->second)
        .values[0];
  }
  double slope(double step) { return (at(step) - at(-step)) / (2 * step); }
};
} // namespace

/// The oracle with the results of its stops as data, which are added to
/// `inputs`. Null if a stop is part of a larger expression, as in
/// `straight_through`: its gradient is not a difference of anything.
static mlir::OwningOpRef<mlir::ModuleOp>
withFrozenStops(const Subject &subject, Inputs &inputs, Failures &failures) {
  mlir::ModuleOp oracle = subject.oracle.get();
  mlir::OwningOpRef<mlir::ModuleOp> module(
      cast<mlir::ModuleOp>(oracle->clone()));
  mlir::Operation *system = systemOf(*module);
  llvm::SmallVector<fovea::attn::ComputeOp> stops;
  size_t numStops = 0;
  system->walk([&](fovea::attn::StopOp) { ++numStops; });
  system->walk([&](fovea::attn::ComputeOp op) {
    if (op.getYielded().getDefiningOp<fovea::attn::StopOp>())
      stops.push_back(op);
  });
  if (stops.size() < numStops)
    return nullptr;
  if (stops.empty())
    return module;
  auto builder = mlir::OpBuilder::atBlockEnd(&system->getRegion(0).front());
  llvm::SmallVector<fovea::attn::EquationOp> equations;
  auto nameOf = [&](size_t number) {
    return builder.getStringAttr("stop." + std::to_string(number));
  };
  for (auto [number, stop] : llvm::enumerate(stops))
    equations.push_back(fovea::attn::EquationOp::create(
        builder, stop.getLoc(), nameOf(number), stop.getResult()));
  Arrays values;
  Status status = objective(*module, subject.example, values, true);
  if (status.failed()) {
    failures.push_back("stops as data: " + status.text());
    return module;
  }
  for (auto [number, stop] : llvm::enumerate(stops)) {
    equations[number].erase();
    builder.setInsertionPoint(stop);
    auto data = fovea::attn::DataOp::create(
        builder, stop.getLoc(), stop.getResult().getType(), nameOf(number));
    stop.getResult().replaceAllUsesWith(data.getResult());
    inputs.data[nameOf(number).str()] = values[nameOf(number).str()];
  }
  return module;
}

static Arrays randomDirection(const Arrays &parameters, int64_t number,
                              Rng &random, std::string &name) {
  Arrays direction;
  if (number < 3) {
    for (const auto &[path, array] : parameters)
      direction[path] = randomWeights(array.shape, random);
    name = "a random direction";
    return direction;
  }
  int64_t total = 0;
  for (const auto &[path, array] : parameters)
    total += array.values.size();
  int64_t chosen = total ? random.below(total) : 0;
  for (const auto &[path, array] : parameters) {
    int64_t size = array.values.size();
    if (chosen >= 0 && chosen < size) {
      direction[path] = Array::zeros(array.shape);
      direction[path].values[chosen] = 1;
      name = path + "[" + std::to_string(chosen) + "]";
    }
    chosen -= size;
  }
  return direction;
}

void fovea::random::checkUpdates(const Subject &subject,
                                 const Arrays &gradients, Failures &failures) {
  Arrays want, expected, got;
  Status status = objective(*subject.oracle, subject.example, want, true);
  for (const ParameterInfo &info : subject.model->parameters) {
    if (status.failed() || info.change == ParameterInfo::gradient)
      continue;
    bool isOnce = info.change == ParameterInfo::once;
    Array next = want.at((isOnce ? "update.once/" : "update/") + info.path);
    for (double &value : next.values)
      value *= isOnce ? 1 : penaltySeed;
    expected[info.path] = next;
    if (auto found = gradients.find("grad/" + info.path);
        found != gradients.end())
      got[info.path] = found->second;
  }
  std::string difference = explainDifference(expected, got, tolerance);
  if (!difference.empty())
    failures.push_back("the update of a state: " + difference);
}

void fovea::random::checkGradients(const Subject &subject,
                                   const Arrays &gradients, Failures &failures,
                                   Statistics &statistics) {
  // States have no gradient.
  Arrays trained;
  for (const auto &[path, array] : subject.parameters)
    if (subject.changeOf(path) == ParameterInfo::gradient)
      trained[path] = array;
  if (trained.empty())
    return;
  Inputs example = subject.example;
  mlir::OwningOpRef<mlir::ModuleOp> frozen =
      withFrozenStops(subject, example, failures);
  if (!frozen)
    return;
  Rng random(subject.seed, 4);
  int64_t judged = 0;
  for (int64_t number = 0; number < 6; ++number) {
    std::string name;
    Line line{subject, *frozen, example, {}};
    line.direction = randomDirection(trained, number, random, name);
    double expected = 0;
    for (auto &[path, array] : line.direction) {
      auto gradient = gradients.find("grad/" + path);
      if (gradient == gradients.end())
        continue; // the objective does not use it
      if (gradient->second.shape != array.shape) {
        failures.push_back("the gradient of " + path + " has another shape");
        return;
      }
      for (size_t i = 0; i < array.values.size(); ++i)
        expected += array.values[i] * gradient->second.values[i];
    }
    double wide = line.slope(2e-5), narrow = line.slope(1e-5);
    ++statistics.directions;
    if (line.failed) {
      failures.push_back("@training fails near the weights");
      return;
    }
    double scale = std::max({1.0, std::fabs(wide), std::fabs(expected)});
    // Written so that a NaN is neither smooth nor right.
    if (!(std::fabs(wide - narrow) <= 1e-7 * scale)) {
      ++statistics.kinks;
      if (std::isfinite(wide) && std::isfinite(narrow))
        continue;
    }
    ++judged;
    if (!(std::fabs(narrow - expected) <= 1e-6 * scale))
      failures.push_back(
          "the gradient along " + name + " is " + std::to_string(expected) +
          ", central differences give " + std::to_string(narrow));
  }
  if (judged == 0)
    failures.push_back("every direction has a kink");
}
