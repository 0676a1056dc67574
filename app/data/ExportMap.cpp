//===- ExportMap.cpp - parameters as tensors of another program -----------===//
//
// Each term of a map is inverted: what would be cut out of a tensor is put
// where it came from. A tensor is complete when its parts have all its places.
//
//===----------------------------------------------------------------------===//

#include "app/data/MapLines.h"
#include "app/data/WeightMap.h"

#include <fmt/format.h>
#include <functional>
#include <numeric>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

namespace {

/// Inverts the terms of a map: tensors of a file from the parameters.
class ExportMap : public MapLines {
public:
  ExportMap(Session &session, const Arguments &arguments, const Model &model,
            const runtime::TensorFile &weights)
      : MapLines(session, model, !arguments.map.empty()), weights(weights) {
    for (const auto &[name, tensor] : weights.tensors)
      total += tensor.numElements();
  }

  /// Moves the tensors to `file`. Returns false if one is incomplete
  /// (reported).
  bool finish(const std::string &map, runtime::TensorFile &file);

private:
  void carryOut(const ParameterInfo &parameter, const MapTerm &term) override;
  void give(const MapTerm &term, MapValues values);
  void giveTensor(const MapTerm &term, MapValues values);
  void giveJoined(const MapTerm &term, const MapValues &values);

  /// A tensor, and which of its places have a value; empty: all.
  struct Target {
    runtime::Tensor tensor;
    std::vector<bool> known;
  };

  /// Returns whether parameters can give `count` rows like those of `values`.
  bool haveRows(const MapTerm &term, const MapValues &values, int64_t count);

  const runtime::TensorFile &weights;
  int64_t total = 0; // elements of all parameters
  std::map<std::string, Target> targets;
  runtime::DType type = runtime::DType::F32; // of the line's parameter
};

} // namespace

static int64_t product(llvm::ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

/// The same values at the first places of a larger shape.
static MapValues embedded(const MapValues &from,
                          const std::vector<int64_t> &shape) {
  if (from.shape == shape)
    return from;
  size_t count = product(shape);
  MapValues result{shape, std::vector<double>(count), std::vector<bool>(count)};
  for (size_t i = 0; i < from.numbers.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), place = 0, stride = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
      place += rest % from.shape[axis] * stride;
      rest /= from.shape[axis];
      stride *= shape[axis];
    }
    result.numbers[place] = from.numbers[i];
    result.known[place] = from.known.empty() || from.known[i];
  }
  return result;
}

/// The values as rows `first`, .. of an array with `count` rows.
static MapValues asRows(const MapValues &from, int64_t first, int64_t count) {
  int64_t size = product(llvm::ArrayRef(from.shape).drop_front());
  MapValues result{from.shape, std::vector<double>(count * size),
                   std::vector<bool>(count * size)};
  result.shape.front() = count;
  llvm::copy(from.numbers, result.numbers.begin() + first * size);
  for (size_t i = 0; i < from.numbers.size(); ++i)
    result.known[first * size + i] = from.known.empty() || from.known[i];
  return result;
}

void ExportMap::carryOut(const ParameterInfo &parameter, const MapTerm &term) {
  const runtime::Tensor &own = weights.tensors.at(parameter.path);
  type = own.type;
  give(term, {own.shape, own.toDoubles(), {}});
}

bool ExportMap::haveRows(const MapTerm &term, const MapValues &values,
                         int64_t count) {
  int64_t size = product(llvm::ArrayRef(values.shape).drop_front());
  if (count <= total / size)
    return true;
  fail(term, fmt::format("no parameters give {} rows like those of {}", count,
                         runtime::shapeText(values.shape)));
  return false;
}

void ExportMap::give(const MapTerm &term, MapValues values) {
  if (!term.isCall)
    return giveTensor(term, std::move(values));
  if (term.name == "join")
    return giveJoined(term, values);
  std::optional<std::vector<int64_t>> numbers = numbersOf(term);
  if (!numbers)
    return;
  const MapTerm &inner = term.arguments.front();
  size_t rank = values.shape.size();
  if (term.name == "row") {
    values.shape.insert(values.shape.begin(), 1);
    int64_t place = numbers->front();
    if (haveRows(term, values, place))
      give(inner, asRows(values, place, place + 1));
    return;
  }
  std::string shape = runtime::shapeText(values.shape);
  if (term.name == "transpose")
    numbers = {1, 0};
  if (term.name == "transpose" || term.name == "permute") {
    std::vector<int64_t> inverse(rank, -1);
    for (size_t axis = 0; axis < std::min(rank, numbers->size()); ++axis)
      if ((*numbers)[axis] < static_cast<int64_t>(rank))
        inverse[(*numbers)[axis]] = static_cast<int64_t>(axis);
    if (numbers->size() != rank || llvm::is_contained(inverse, -1))
      return fail(term,
                  fmt::format("'{}' does not give {}", term.name.str(), shape));
    return give(inner, permuted(values, inverse));
  }
  int64_t first = rank == 0 ? 0 : values.shape.front();
  if (term.name == "roll") {
    if (rank == 0 || numbers->front() > first)
      return fail(term, fmt::format("{} has no {} places along its first axis",
                                    shape, numbers->front()));
    return give(inner, rolled(values, first - numbers->front()));
  }
  if (term.name == "first") {
    std::vector<int64_t> order = orderOf(*numbers, first);
    std::vector<int64_t> inverse(order.size());
    for (size_t i = 0; i < order.size(); ++i)
      inverse[order[i]] = static_cast<int64_t>(i);
    if (order.empty())
      return fail(term, fmt::format("{} does not have these places, each "
                                    "once, along its first axis",
                                    shape));
    return give(inner, rowsInOrder(values, inverse));
  }
  int64_t part = (*numbers)[0], count = (*numbers)[1];
  if (rank == 0 || part >= count)
    return fail(term, fmt::format("{} is no part {} of {} of a first axis",
                                  shape, part, count));
  if (haveRows(term, values, count) && haveRows(term, values, count * first))
    give(inner, asRows(values, part * first, count * first));
}

void ExportMap::giveJoined(const MapTerm &term, const MapValues &values) {
  auto count = static_cast<int64_t>(term.arguments.size());
  int64_t first = values.shape.empty() ? 0 : values.shape.front();
  if (count == 0 || first % count != 0)
    return fail(
        term,
        fmt::format("{} is not {} equal parts; help: a join of different "
                    "extents has no inverse, so give each part a parameter",
                    runtime::shapeText(values.shape), count));
  for (int64_t i = 0; i < count; ++i)
    give(term.arguments[i], rowsOf(values, i * (first / count), first / count));
}

void ExportMap::giveTensor(const MapTerm &term, MapValues values) {
  std::optional<std::string> name = withStars(term.name);
  if (!name)
    return;
  if (llvm::all_of(values.known, [](bool known) { return known; }))
    values.known.clear();
  auto found = targets.find(*name);
  if (found == targets.end()) {
    targets[*name] = {runtime::Tensor::of(type, values.shape, values.numbers),
                      std::move(values.known)};
    return;
  }
  Target &target = found->second;
  MapValues have{target.tensor.shape, target.tensor.toDoubles(),
                 std::move(target.known)};
  std::vector<int64_t> shape = have.shape;
  if (shape.size() != values.shape.size())
    return fail(term, fmt::format("'{}' is {} and {}", *name,
                                  runtime::shapeText(shape),
                                  runtime::shapeText(values.shape)));
  for (size_t axis = 0; axis < shape.size(); ++axis)
    shape[axis] = std::max(shape[axis], values.shape[axis]);
  if (product(shape) > total)
    return fail(term, fmt::format("no parameters give all of '{}' {}", *name,
                                  runtime::shapeText(shape)));
  have = embedded(have, shape);
  values = embedded(values, shape);
  auto knows = [](const MapValues &one, size_t i) {
    return one.known.empty() || one.known[i];
  };
  for (size_t i = 0; i < have.numbers.size(); ++i) {
    if (!knows(values, i))
      continue;
    if (knows(have, i) && have.numbers[i] != values.numbers[i])
      return fail(term, fmt::format("two parameters give '{}' different values",
                                    *name));
    have.numbers[i] = values.numbers[i];
    if (!have.known.empty())
      have.known[i] = true;
  }
  if (llvm::all_of(have.known, [](bool known) { return known; }))
    have.known.clear();
  target = {runtime::Tensor::of(type, shape, have.numbers),
            std::move(have.known)};
}

bool ExportMap::finish(const std::string &map, runtime::TensorFile &file) {
  if (!eachHasLine(map, "takes"))
    return false;
  for (auto &[name, target] : targets) {
    if (!target.known.empty())
      session.error(fmt::format("{}: no parameter gives a part of '{}' {}", map,
                                name, runtime::shapeText(target.tensor.shape)));
    file.tensors[name] = std::move(target.tensor);
  }
  return !session.diagnostics().failed();
}

bool fovea::cli::giveForeignWeights(Session &session,
                                    const Arguments &arguments,
                                    const Model &model,
                                    const runtime::TensorFile &weights,
                                    runtime::TensorFile &file) {
  ExportMap map(session, arguments, model, weights);
  std::string name, text;
  return readMap(arguments.map, arguments.weights, model, name, text) &&
         map.read(session.diagnostics().addSource(name, std::move(text))) &&
         map.finish(name, file);
}
