//===- WeightMap.cpp - weights of another program, by name ----------------===//

#include "app/data/WeightMap.h"
#include "app/data/Files.h"
#include "app/data/Published.h"
#include "runtime/data/Printable.h"
#include "runtime/train/OptimiserState.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <set>

using namespace fovea;
using namespace fovea::cli;
using llvm::SMLoc;
using llvm::StringRef;

namespace {

/// A tensor on its way into a parameter.
struct Values {
  std::vector<int64_t> shape;
  std::vector<double> numbers;
};

/// A name in the file, or a function of terms.
struct Term {
  StringRef name; // where there is a function, that of it
  bool isCall = false;
  std::vector<Term> arguments;
  /// Alternative names: the first one in the file is used.
  std::vector<StringRef> others;

  SMLoc place() const { return SMLoc::getFromPointer(name.data()); }
};

/// Reads the lines of one map, and executes them.
class WeightMap {
public:
  WeightMap(Session &session, const Arguments &arguments, const Model &model,
            const runtime::TensorFile &file, runtime::TensorFile &weights)
      : session(session), from(arguments.from), hasMap(!arguments.map.empty()),
        model(model), file(file), weights(weights) {}

  bool read(StringRef text);
  /// Parameters without a line, and unused tensors.
  bool finish(const std::string &map);

private:
  void readLine(StringRef line);
  std::optional<StringRef> readName(StringRef &rest);
  std::optional<Term> readTerm(StringRef &rest, int depth);
  void assign(StringRef path, const ParameterInfo &parameter, const Term &term);
  std::optional<Values> evaluate(const Term &term);
  std::optional<Values> tensorNamed(const Term &term);
  std::optional<Values> call(const Term &term);
  std::optional<int64_t> number(const Term &term);
  std::optional<std::string> withStars(StringRef pattern);
  std::optional<Values> fail(SMLoc place, const std::string &text) {
    // Without a map there are no lines.
    session.diagnostics().error(Code::weightMap, hasMap ? place : SMLoc(),
                                text);
    return std::nullopt;
  }
  std::optional<Values> fail(const Term &term, const std::string &text) {
    return fail(term.place(), text);
  }

  Session &session;
  const std::string &from;
  bool hasMap;
  const Model &model;
  const runtime::TensorFile &file;
  runtime::TensorFile &weights;
  llvm::StringMap<SMLoc> given; // by parameter
  std::set<std::string> used;
  /// An optional prefix of every name in the file.
  std::string prefix;
  /// The text that the parameter's stars match in this line.
  std::vector<std::string> stars;
};

} // namespace

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// The characters that end a name.
static constexpr llvm::StringLiteral signs = " \t\r,()=#|\"";
static constexpr int deepest = 32;

static std::string meant(StringRef name, std::vector<StringRef> candidates) {
  StringRef found = nearest(name, candidates);
  return found.empty() ? "" : "; did you mean '" + found.str() + "'?";
}

/// Returns whether `path` matches `pattern`, in which each star is a part
/// between two dots.
static bool matches(StringRef pattern, StringRef path,
                    std::vector<std::string> &stars) {
  stars.clear();
  while (!pattern.empty()) {
    if (pattern.front() != '*') {
      if (path.empty() || path.front() != pattern.front())
        return false;
      pattern = pattern.drop_front();
      path = path.drop_front();
      continue;
    }
    pattern = pattern.drop_front();
    StringRef part = path.take_until([&](char c) {
      return c == '.' || pattern.starts_with(StringRef(&c, 1));
    });
    if (part.empty())
      return false;
    stars.push_back(part.str());
    path = path.drop_front(part.size());
  }
  return path.empty();
}

std::optional<StringRef> WeightMap::readName(StringRef &rest) {
  rest = rest.ltrim(" \t\r");
  SMLoc place = SMLoc::getFromPointer(rest.data());
  bool isQuoted = rest.consume_front("\"");
  StringRef name = rest.take_until(
      [&](char c) { return isQuoted ? c == '"' : signs.contains(c); });
  rest = rest.drop_front(name.size());
  if (isQuoted && !rest.consume_front("\"")) {
    fail(place, "unterminated name: expected '\"'");
    return std::nullopt;
  }
  if (name.empty()) {
    fail(place, "expected a tensor name");
    return std::nullopt;
  }
  rest = rest.ltrim(" \t\r");
  return name;
}

std::optional<Term> WeightMap::readTerm(StringRef &rest, int depth) {
  std::optional<StringRef> name = readName(rest);
  if (!name)
    return std::nullopt;
  Term term;
  term.name = *name;
  while (rest.consume_front("|")) {
    std::optional<StringRef> other = readName(rest);
    if (!other)
      return std::nullopt;
    term.others.push_back(*other);
  }
  if (!term.others.empty() || !rest.consume_front("("))
    return term;
  term.isCall = true;
  if (depth == deepest) {
    fail(term, fmt::format("functions are nested deeper than {}", deepest));
    return std::nullopt;
  }
  rest = rest.ltrim(" \t\r");
  while (!rest.consume_front(")")) {
    if (!term.arguments.empty() && !rest.consume_front(",")) {
      fail(SMLoc::getFromPointer(rest.data()),
           "expected ',' or ')' to close '('");
      return std::nullopt;
    }
    std::optional<Term> argument = readTerm(rest, depth + 1);
    if (!argument)
      return std::nullopt;
    term.arguments.push_back(std::move(*argument));
    rest = rest.ltrim(" \t\r");
  }
  return term;
}

void WeightMap::readLine(StringRef line) {
  StringRef rest = line.ltrim(" \t\r");
  if (rest.empty() || rest.front() == '#')
    return;
  if (StringRef size, key; splitSize(line, size, key))
    return; // read before the model: Published.h
  StringRef path = rest.take_until([](char c) { return signs.contains(c); });
  rest = rest.drop_front(path.size()).ltrim(" \t\r");
  if (path == "prefix" && !rest.starts_with("=")) {
    prefix = rest.split('#').first.rtrim(" \t\r").str();
    return;
  }
  if (path.empty() || !rest.consume_front("=")) {
    fail(SMLoc::getFromPointer(rest.data()),
         "expected '='; help: write 'PARAMETER = TENSOR'");
    return;
  }
  std::optional<Term> term = readTerm(rest, 0);
  if (!term)
    return;
  rest = rest.ltrim(" \t\r");
  if (!rest.empty() && rest.front() != '#') {
    fail(SMLoc::getFromPointer(rest.data()), "expected the end of the line");
    return;
  }
  bool isFound = false;
  for (const ParameterInfo &parameter : model.parameters)
    if (matches(path, parameter.path, stars)) {
      isFound = true;
      assign(path, parameter, *term);
    }
  if (isFound)
    return;
  std::vector<StringRef> names;
  for (const ParameterInfo &parameter : model.parameters)
    names.push_back(parameter.path);
  fail(SMLoc::getFromPointer(path.data()),
       fmt::format("'{}' has no parameter '{}'{}", model.name, path.str(),
                   meant(path, names)));
}

bool WeightMap::read(StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    readLine(line);
    text = rest;
  }
  return !session.diagnostics().failed();
}

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

void WeightMap::assign(StringRef path, const ParameterInfo &parameter,
                       const Term &term) {
  SMLoc place = SMLoc::getFromPointer(path.data());
  auto [earlier, isNew] = given.try_emplace(parameter.path, place);
  if (!isNew) {
    session.diagnostics().error(
        Code::weightMap, place,
        fmt::format("'{}' is given twice", parameter.path),
        {{earlier->second, "first assignment"}});
    return;
  }
  std::optional<Values> values = evaluate(term);
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

/// A name. In it, `*` is replaced by the text that the parameter's star
/// matches, and `*+1` by the number after it.
std::optional<std::string> WeightMap::withStars(StringRef pattern) {
  std::string name;
  size_t next = 0;
  for (StringRef rest = pattern; !rest.empty();) {
    if (rest.front() != '*') {
      name += rest.front();
      rest = rest.drop_front();
      continue;
    }
    if (next == stars.size()) {
      fail(SMLoc::getFromPointer(pattern.data()),
           fmt::format("'{}' has more '*' than the parameter", pattern.str()));
      return std::nullopt;
    }
    std::string star = stars[next++];
    rest = rest.drop_front();
    StringRef offset = rest.take_front(1);
    StringRef digits = rest.drop_front(offset.size()).take_while(llvm::isDigit);
    int64_t number = 0, more = 0;
    if ((offset == "+" || offset == "-") && llvm::to_integer(star, number) &&
        llvm::to_integer(digits, more) && more < 1000000) {
      star = std::to_string(offset == "+" ? number + more : number - more);
      rest = rest.drop_front(1 + digits.size());
    }
    name += star;
  }
  return name;
}

std::optional<Values> WeightMap::tensorNamed(const Term &term) {
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
      return Values{found->second.shape, found->second.toDoubles()};
    }
    names.push_back(std::move(*name));
  }
  std::vector<StringRef> candidates;
  for (const auto &[other, tensor] : file.tensors)
    candidates.push_back(other);
  return fail(term, fmt::format("'{}' has no tensor '{}'{}", from,
                                llvm::join(names, "' or '"),
                                meant(names.front(), candidates)));
}

std::optional<int64_t> WeightMap::number(const Term &term) {
  int64_t value = 0;
  if (!term.isCall && llvm::to_integer(term.name, value) && value >= 0)
    return value;
  fail(term, fmt::format("'{}' is not a number", term.name.str()));
  return std::nullopt;
}

static int64_t product(llvm::ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

/// Axis i of the result is axis order[i].
static Values permuted(const Values &from, llvm::ArrayRef<int64_t> order) {
  size_t rank = order.size();
  std::vector<int64_t> strides(rank, 1), shape, steps;
  for (size_t axis = rank; axis-- > 1;)
    strides[axis - 1] = strides[axis] * from.shape[axis];
  for (int64_t axis : order) {
    shape.push_back(from.shape[axis]);
    steps.push_back(strides[axis]);
  }
  Values result{shape, {}};
  result.numbers.reserve(from.numbers.size());
  std::vector<int64_t> at(rank, 0);
  int64_t place = 0;
  while (result.numbers.size() < from.numbers.size()) {
    result.numbers.push_back(from.numbers[place]);
    for (size_t axis = rank; axis-- > 0;) {
      place += steps[axis];
      if (++at[axis] < shape[axis])
        break;
      place -= steps[axis] * shape[axis];
      at[axis] = 0;
    }
  }
  return result;
}

/// `count` of the places of the first axis, from `first` on.
static Values rowsOf(const Values &from, int64_t first, int64_t count) {
  int64_t size = product(llvm::ArrayRef(from.shape).drop_front());
  Values result{from.shape, {}};
  result.shape.front() = count;
  result.numbers.assign(from.numbers.begin() + first * size,
                        from.numbers.begin() + (first + count) * size);
  return result;
}

std::optional<Values> WeightMap::call(const Term &term) {
  size_t count = term.arguments.size();
  auto takes = [&](const char *what) {
    return fail(term, fmt::format("'{}' takes {}", term.name.str(), what));
  };
  if (term.name == "join") {
    if (count == 0)
      return takes("tensors");
    std::optional<Values> result;
    for (const Term &argument : term.arguments) {
      std::optional<Values> next = evaluate(argument);
      if (!next)
        return std::nullopt;
      if (!result) {
        result = std::move(next);
      } else if (next->shape.size() != result->shape.size() ||
                 next->shape.empty() ||
                 !std::equal(next->shape.begin() + 1, next->shape.end(),
                             result->shape.begin() + 1)) {
        return fail(
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
  if (!llvm::is_contained({"transpose", "permute", "part", "row", "roll"},
                          term.name)) {
    return fail(term,
                fmt::format("unknown function '{}'; the functions are "
                            "transpose, permute, join, part, row and roll{}",
                            term.name.str(),
                            meant(term.name, {"transpose", "permute", "join",
                                              "part", "row", "roll"})));
  }
  size_t wanted = term.name == "transpose" ? 1
                  : term.name == "part"    ? 3
                  : term.name == "row"     ? 2
                  : term.name == "roll"    ? 2
                                           : std::max<size_t>(count, 1);
  if (count != wanted)
    return takes(term.name == "transpose" ? "one tensor"
                 : term.name == "part"
                     ? "a tensor, the number of the part, the count of parts"
                 : term.name == "row"  ? "a tensor and a place"
                 : term.name == "roll" ? "a tensor and a number of places"
                                       : "a tensor and its axes");
  std::optional<Values> values = evaluate(term.arguments.front());
  if (!values)
    return std::nullopt;
  auto rank = static_cast<int64_t>(values->shape.size());
  std::vector<int64_t> numbers;
  for (const Term &argument : llvm::ArrayRef(term.arguments).drop_front()) {
    std::optional<int64_t> value = number(argument);
    if (!value)
      return std::nullopt;
    numbers.push_back(*value);
  }
  std::string shape = runtime::shapeText(values->shape);
  if (term.name == "transpose") {
    if (rank != 2)
      return fail(term, fmt::format("'transpose' takes two axes, not {}; help: "
                                    "use 'permute' for more",
                                    shape));
    return permuted(*values, {1, 0});
  }
  if (term.name == "permute") {
    std::vector<int64_t> sorted = numbers, all(rank);
    llvm::sort(sorted);
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all)
      return fail(term, fmt::format("the axes of {} are 0 to {}, each once",
                                    shape, rank - 1));
    return permuted(*values, numbers);
  }
  int64_t first = rank == 0 ? 0 : values->shape.front();
  if (term.name == "row") {
    if (numbers[0] >= first)
      return fail(term, fmt::format("{} has no row {}", shape, numbers[0]));
    Values row = rowsOf(*values, numbers[0], 1);
    row.shape.erase(row.shape.begin());
    return row;
  }
  if (term.name == "roll") {
    if (rank == 0 || numbers[0] > first)
      return fail(term, fmt::format("{} has no {} places along its first axis",
                                    shape, numbers[0]));
    Values rolled = rowsOf(*values, first - numbers[0], numbers[0]);
    Values rest = rowsOf(*values, 0, first - numbers[0]);
    llvm::append_range(rolled.numbers, rest.numbers);
    rolled.shape = values->shape;
    return rolled;
  }
  if (numbers[1] == 0 || first % numbers[1] != 0 || numbers[0] >= numbers[1])
    return fail(term, fmt::format("{} has no part {} of {} along its first "
                                  "axis",
                                  shape, numbers[0], numbers[1]));
  int64_t each = first / numbers[1];
  return rowsOf(*values, numbers[0] * each, each);
}

std::optional<Values> WeightMap::evaluate(const Term &term) {
  return term.isCall ? call(term) : tensorNamed(term);
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
  for (const ParameterInfo &parameter : model.parameters)
    if (!given.contains(parameter.path))
      session.error(fmt::format("{}: nothing gives '{}' {}", map,
                                parameter.path,
                                runtime::shapeText({parameter.shape.begin(),
                                                    parameter.shape.end()})));
  if (session.diagnostics().failed())
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
  std::string text;
  if (arguments.map.empty()) {
    // Every name maps to itself.
    for (const ParameterInfo &parameter : model.parameters)
      text += parameter.path + " = \"" + parameter.path + "\"\n";
  } else {
    std::optional<std::string> read = readInput(arguments.map);
    if (!read)
      return false;
    text = std::move(*read);
  }
  const std::string &name =
      arguments.map.empty() ? arguments.from : arguments.map;
  return map.read(session.diagnostics().addSource(name, std::move(text))) &&
         map.finish(name);
}
