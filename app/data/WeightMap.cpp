//===- WeightMap.cpp - weights of another program, by name ----------------===//

#include "app/data/WeightMap.h"
#include "app/data/MapLines.h"
#include "app/data/Published.h"
#include "runtime/data/Printable.h"
#include "runtime/train/OptimiserState.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <numeric>
#include <set>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;

namespace {

/// Evaluates the terms of a map: parameters from the tensors of a file.
class WeightMap : public MapLines {
public:
  WeightMap(Session &session, const Arguments &arguments, const Model &model,
            const runtime::TensorFile &file, runtime::TensorFile &weights)
      : MapLines(session, model, !arguments.map.empty()), from(arguments.from),
        file(file), weights(weights) {}

  /// Parameters without a line, and unused tensors.
  bool finish(const std::string &map);

private:
  void carryOut(const ParameterInfo &parameter, const MapTerm &term) override;
  std::optional<MapValues> evaluate(const MapTerm &term) {
    return !term.isCall          ? tensorNamed(term)
           : term.name == "join" ? join(term)
                                 : call(term);
  }
  std::optional<MapValues> tensorNamed(const MapTerm &term);
  std::optional<MapValues> join(const MapTerm &term);
  std::optional<MapValues> call(const MapTerm &term);
  std::optional<MapValues> refuse(const MapTerm &term,
                                  const std::string &text) {
    fail(term, text);
    return std::nullopt;
  }

  const std::string &from;
  const runtime::TensorFile &file;
  runtime::TensorFile &weights;
  std::set<std::string> used;
};

} // namespace

/// Suggests how to convert the given shape to the required one.
static std::string remedy(const std::vector<int64_t> &have,
                          const std::vector<int64_t> &want) {
  if (have.size() == 2 && want.size() == 2 && have[0] == want[1] &&
      have[1] == want[0])
    return "; did you mean 'transpose(..)'?";
  if (have.size() == want.size() + 1 && have.front() == 1 &&
      std::equal(want.begin(), want.end(), have.begin() + 1))
    return "; did you mean 'row(.., 0)'?";
  return "";
}

void WeightMap::carryOut(const ParameterInfo &parameter, const MapTerm &term) {
  std::optional<MapValues> values = evaluate(term);
  if (!values)
    return;
  std::vector<int64_t> shape(parameter.shape.begin(), parameter.shape.end());
  if (values->shape != shape) {
    fail(term, fmt::format("'{}' is {} but the assigned value is {}{}",
                           parameter.path, runtime::shapeText(shape),
                           runtime::shapeText(values->shape),
                           remedy(values->shape, shape)));
    return;
  }
  runtime::Tensor &own = weights.tensors.at(parameter.path);
  own = runtime::Tensor::of(own.type, shape, values->numbers);
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

std::optional<MapValues> WeightMap::tensorNamed(const MapTerm &term) {
  std::vector<StringRef> patterns = {term.name};
  llvm::append_range(patterns, term.others);
  std::vector<std::string> names;
  for (StringRef pattern : patterns) {
    std::optional<std::string> name = withStars(pattern);
    if (!name)
      return std::nullopt;
    for (const std::string &before : {std::string(), prefix}) {
      auto found = file.tensors.find(before + *name);
      if (found == file.tensors.end())
        continue;
      used.insert(found->first);
      return MapValues{found->second.shape, found->second.toDoubles(), {}};
    }
    names.push_back(std::move(*name));
  }
  std::vector<StringRef> candidates;
  for (const auto &[other, tensor] : file.tensors)
    candidates.push_back(other);
  return refuse(term, fmt::format("'{}' has no tensor '{}'{}", from,
                                  llvm::join(names, "' or '"),
                                  meant(names.front(), candidates)));
}

std::optional<MapValues> WeightMap::join(const MapTerm &term) {
  if (term.arguments.empty())
    return refuse(term, "'join' takes tensors");
  std::optional<MapValues> result;
  for (const MapTerm &argument : term.arguments) {
    std::optional<MapValues> next = evaluate(argument);
    if (!next)
      return std::nullopt;
    if (!result) {
      result = std::move(next);
    } else if (next->shape.size() != result->shape.size() ||
               next->shape.empty() ||
               !std::equal(next->shape.begin() + 1, next->shape.end(),
                           result->shape.begin() + 1)) {
      return refuse(
          argument,
          fmt::format(
              "cannot join {} to {}: they differ in more than the first axis",
              runtime::shapeText(next->shape),
              runtime::shapeText(result->shape)));
    } else {
      result->shape.front() += next->shape.front();
      llvm::append_range(result->numbers, next->numbers);
    }
  }
  return result;
}

std::optional<MapValues> WeightMap::call(const MapTerm &term) {
  std::optional<std::vector<int64_t>> given = numbersOf(term);
  if (!given)
    return std::nullopt;
  const std::vector<int64_t> &numbers = *given;
  std::optional<MapValues> values = evaluate(term.arguments.front());
  if (!values)
    return std::nullopt;
  auto rank = static_cast<int64_t>(values->shape.size());
  std::string shape = runtime::shapeText(values->shape);
  if (term.name == "transpose") {
    if (rank != 2)
      return refuse(term,
                    fmt::format("'transpose' takes two axes, not {}; help: "
                                "use 'permute' for more",
                                shape));
    return permuted(*values, {1, 0});
  }
  if (term.name == "permute") {
    std::vector<int64_t> sorted = numbers, all(rank);
    llvm::sort(sorted);
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all)
      return refuse(term, fmt::format("the axes of {} are 0 to {}, each once",
                                      shape, rank - 1));
    return permuted(*values, numbers);
  }
  int64_t first = rank == 0 ? 0 : values->shape.front();
  if (term.name == "row") {
    if (numbers[0] >= first)
      return refuse(term, fmt::format("{} has no row {}", shape, numbers[0]));
    MapValues row = rowsOf(*values, numbers[0], 1);
    row.shape.erase(row.shape.begin());
    return row;
  }
  if (term.name == "roll") {
    if (rank == 0 || numbers[0] > first)
      return refuse(term,
                    fmt::format("{} has no {} places along its first axis",
                                shape, numbers[0]));
    return rolled(*values, numbers[0]);
  }
  if (term.name == "first") {
    std::vector<int64_t> order = orderOf(numbers, first);
    if (order.empty())
      return refuse(term, fmt::format("{} does not have these places, each "
                                      "once, along its first axis",
                                      shape));
    return rowsInOrder(*values, order);
  }
  if (numbers[1] == 0 || first % numbers[1] != 0 || numbers[0] >= numbers[1])
    return refuse(term, fmt::format("{} has no part {} of {} along its first "
                                    "axis",
                                    shape, numbers[0], numbers[1]));
  int64_t each = first / numbers[1];
  return rowsOf(*values, numbers[0] * each, each);
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// `a, b, c and 5 more`.
static std::string firstOf(const std::vector<std::string> &names) {
  constexpr size_t most = 3;
  std::string text = llvm::join(llvm::ArrayRef(names).take_front(most), ", ");
  return names.size() <= most
             ? text
             : text + fmt::format(" and {} more", names.size() - most);
}

bool WeightMap::finish(const std::string &map) {
  if (!eachHasLine(map, "gives"))
    return false;
  std::vector<std::string> unused;
  for (const auto &[name, tensor] : file.tensors)
    if (!used.contains(name))
      unused.push_back(name);
  if (!unused.empty())
    llvm::errs() << fmt::format("not used of '{}': {}\n", from,
                                runtime::printable(firstOf(unused)));
  return true;
}

bool fovea::cli::takeForeignWeights(Session &session,
                                    const Arguments &arguments,
                                    const Model &model,
                                    runtime::TensorFile &weights) {
  runtime::TensorFile file;
  runtime::OptimiserState unused;
  runtime::Status status = readPublished(arguments.from, file);
  if (status.succeeded())
    status = takeOptimiser(file, arguments.from, unused);
  if (status.failed()) {
    session.fail(status);
    return false;
  }
  WeightMap map(session, arguments, model, file, weights);
  std::string name, text;
  return readMap(arguments.map, arguments.from, model, name, text) &&
         map.read(session.diagnostics().addSource(name, std::move(text))) &&
         map.finish(name);
}
