//===- Sample.cpp - draws small inputs of a program -----------------------===//

#include "compiler/proof/Sample.h"
#include "dialect/AttnDialect.h"
#include "dialect/reference/Lengths.h"

#include <random>

using namespace mlir;
using namespace fovea;
using namespace fovea::proof;
using reference::Array;
using reference::Inputs;
using runtime::DataKind;
using runtime::DataSpec;
using runtime::Status;

namespace {
class Drawer {
public:
  Drawer(Operation *container, unsigned attempt)
      : container(container), attempt(attempt) {}

  Status drawExample(size_t number, const std::vector<DataSpec> &data,
                     runtime::Example &example);
  Array drawReals(std::vector<int64_t> shape);

private:
  void drawLengths(size_t number, runtime::Example &example);

  Operation *container;
  unsigned attempt;
  std::mt19937_64 random{1};
};
} // namespace

/// The least lengths of the examples.
static constexpr int64_t leastLengths[] = {3, 2, 6};

/// Every free length, and every length that a search has found so far. Parents
/// stand before what is nested in them.
void Drawer::drawLengths(size_t number, runtime::Example &example) {
  for (auto length : container->getRegion(0).getOps<attn::LengthOp>()) {
    if (length.getMap())
      continue;
    auto draw = [&] {
      return leastLengths[number] + static_cast<int64_t>(random() % 2) +
             2 * static_cast<int64_t>(attempt);
    };
    runtime::LengthValues &values = example.lengths[length.getLength().str()];
    std::optional<StringRef> parent = length.getParent();
    if (!parent) {
      values = runtime::LengthValues::of(draw());
      continue;
    }
    auto outer = example.lengths.find(parent->str());
    int64_t rows =
        outer == example.lengths.end() ? 1 : outer->second.values.front();
    values.nested = true;
    // One row is empty.
    for (int64_t row = 0; row < rows; ++row)
      values.values.push_back(row == 1 && attempt == 0 ? 0 : draw() - 1);
  }
}

Array Drawer::drawReals(std::vector<int64_t> shape) {
  Array array = Array::zeros(std::move(shape));
  std::uniform_real_distribution<float> real(-1, 1);
  for (double &value : array.values)
    value = real(random);
  return array;
}

Status Drawer::drawExample(size_t number, const std::vector<DataSpec> &data,
                           runtime::Example &example) {
  example.id = static_cast<int64_t>(number);
  drawLengths(number, example);
  // Some lengths are computed.
  Inputs inputs;
  inputs.lengths = example.lengths;
  reference::LengthTable lengths;
  if (Status status = lengths.build(container, inputs); status.failed())
    return status;
  for (const DataSpec &spec : data) {
    std::vector<int64_t> shape;
    for (const runtime::DataAxis &axis : spec.axes) {
      int id = axis.length.empty() ? -1 : lengths.find(axis.length);
      shape.push_back(id < 0 ? axis.size : lengths.value(id));
    }
    Array array = drawReals(std::move(shape));
    // What has no limit here is a symbol or a place of a decoder.
    uint64_t limit =
        spec.kind == DataKind::Bit
            ? 2
            : std::max<int64_t>(1, runtime::limitOf(spec, example).value_or(2));
    if (spec.kind != DataKind::Real)
      for (double &value : array.values)
        value = static_cast<double>(random() % limit);
    example.data[spec.name] = {array.shape, std::move(array.values)};
  }
  return Status::success();
}

Status proof::drawSample(Operation *container,
                         const std::vector<DataSpec> &data, unsigned attempt,
                         Sample &sample) {
  Drawer drawer(container, attempt);
  sample.parameters.clear();
  sample.examples.clear();
  for (const auto &[path, shape] : reference::describeParameters(container)) {
    if (llvm::any_of(shape, [](int64_t extent) { return extent < 0; }))
      return Status::error("parameter '" + path + "' has no fixed size");
    sample.parameters[path] = drawer.drawReals(shape);
  }
  for (size_t number = 0; number < std::size(leastLengths); ++number) {
    runtime::Example example;
    if (Status status = drawer.drawExample(number, data, example);
        status.failed())
      return status;
    Inputs &inputs = sample.examples.emplace_back(
        reference::inputsOf(example, sample.parameters));
    inputs.seed = 7;
    inputs.single = true;
    for (auto own : container->getRegion(0).getOps<attn::DataOp>())
      if (own.getSource().starts_with("seed."))
        inputs.data[own.getSource().str()] = Array::scalar(0.5);
    for (auto step : container->getRegion(0).getOps<attn::StepOp>()) {
      // The step that the length of the steps so far is of.
      auto found = inputs.lengths.find(attn::extentText(step.getExtent()));
      int64_t at =
          found == inputs.lengths.end() ? 1 : found->second.values.front() - 1;
      (step->hasAttr("attn.inside") ? inputs.inside : inputs.step) = at;
    }
  }
  return Status::success();
}
