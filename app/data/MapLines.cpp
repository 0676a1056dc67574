//===- MapLines.cpp - the lines of a map of weights -----------------------===//

#include "app/data/MapLines.h"
#include "app/data/Files.h"
#include "app/data/Published.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>
#include <functional>
#include <numeric>

using namespace fovea;
using namespace fovea::cli;
using llvm::SMLoc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// The characters that end a name.
static constexpr llvm::StringLiteral signs = " \t\r,()=#|\"";
static constexpr int deepest = 32;

std::string fovea::cli::meant(StringRef name,
                              std::vector<StringRef> candidates) {
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

std::optional<StringRef> MapLines::readName(StringRef &rest) {
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

std::optional<MapTerm> MapLines::readTerm(StringRef &rest, int depth) {
  std::optional<StringRef> name = readName(rest);
  if (!name)
    return std::nullopt;
  MapTerm term;
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
    std::optional<MapTerm> argument = readTerm(rest, depth + 1);
    if (!argument)
      return std::nullopt;
    term.arguments.push_back(std::move(*argument));
    rest = rest.ltrim(" \t\r");
  }
  return term;
}

void MapLines::readLine(StringRef line) {
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
  std::optional<MapTerm> term = readTerm(rest, 0);
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

bool MapLines::read(StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    readLine(line);
    text = rest;
  }
  return !session.diagnostics().failed();
}

void MapLines::fail(SMLoc place, const std::string &text) {
  // Without a map there are no lines.
  session.diagnostics().error(Code::weightMap, hasMap ? place : SMLoc(), text);
}

void MapLines::assign(StringRef path, const ParameterInfo &parameter,
                      const MapTerm &term) {
  SMLoc place = SMLoc::getFromPointer(path.data());
  auto [earlier, isNew] = given.try_emplace(parameter.path, place);
  if (isNew)
    return carryOut(parameter, term);
  session.diagnostics().error(
      Code::weightMap, place,
      fmt::format("'{}' is given twice", parameter.path),
      {{earlier->second, "first assignment"}});
}

bool MapLines::eachHasLine(const std::string &map, StringRef verb) {
  for (const ParameterInfo &parameter : model.parameters)
    if (!given.contains(parameter.path))
      session.error(fmt::format("{}: nothing {} '{}' {}", map, verb.str(),
                                parameter.path,
                                runtime::shapeText({parameter.shape.begin(),
                                                    parameter.shape.end()})));
  return !session.diagnostics().failed();
}

bool fovea::cli::readMap(const std::string &map, const std::string &other,
                         const Model &model, std::string &name,
                         std::string &text) {
  name = map.empty() ? other : map;
  if (map.empty()) {
    // Every name maps to itself.
    for (const ParameterInfo &parameter : model.parameters)
      text += parameter.path + " = \"" + parameter.path + "\"\n";
    return true;
  }
  std::optional<std::string> read = readInput(map);
  if (read)
    text = std::move(*read);
  return read.has_value();
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

std::optional<std::string> MapLines::withStars(StringRef pattern) {
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

/// What a function takes, in words.
static const char *takenBy(StringRef function) {
  return function == "transpose" ? "one tensor"
         : function == "part"
             ? "a tensor, the number of the part, the count of parts"
         : function == "row"   ? "a tensor and a place"
         : function == "roll"  ? "a tensor and a number of places"
         : function == "first" ? "a tensor and places"
                               : "a tensor and its axes";
}

std::optional<std::vector<int64_t>> MapLines::numbersOf(const MapTerm &call) {
  static const std::vector<StringRef> functions = {
      "transpose", "permute", "part", "row", "roll", "first", "join"};
  if (!llvm::is_contained(functions, call.name)) {
    fail(call,
         fmt::format("unknown function '{}'; the functions are transpose, "
                     "permute, join, part, row, roll and first{}",
                     call.name.str(), meant(call.name, functions)));
    return std::nullopt;
  }
  size_t count = call.arguments.size();
  size_t wanted = call.name == "transpose" ? 1
                  : call.name == "part"    ? 3
                  : call.name == "row" || call.name == "roll"
                      ? 2
                      : std::max<size_t>(count, 1);
  if (count != wanted) {
    fail(call,
         fmt::format("'{}' takes {}", call.name.str(), takenBy(call.name)));
    return std::nullopt;
  }
  std::vector<int64_t> numbers;
  for (const MapTerm &argument : llvm::ArrayRef(call.arguments).drop_front()) {
    int64_t value = 0;
    if (argument.isCall || !llvm::to_integer(argument.name, value) ||
        value < 0) {
      fail(argument, fmt::format("'{}' is not a number", argument.name.str()));
      return std::nullopt;
    }
    numbers.push_back(value);
  }
  return numbers;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static int64_t product(llvm::ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

MapValues fovea::cli::permuted(const MapValues &from,
                               llvm::ArrayRef<int64_t> order) {
  size_t rank = order.size();
  std::vector<int64_t> strides(rank, 1), shape, steps;
  for (size_t axis = rank; axis-- > 1;)
    strides[axis - 1] = strides[axis] * from.shape[axis];
  for (int64_t axis : order) {
    shape.push_back(from.shape[axis]);
    steps.push_back(strides[axis]);
  }
  MapValues result{shape, {}, {}};
  result.numbers.reserve(from.numbers.size());
  result.known.reserve(from.known.size());
  std::vector<int64_t> at(rank, 0);
  int64_t place = 0;
  while (result.numbers.size() < from.numbers.size()) {
    result.numbers.push_back(from.numbers[place]);
    if (!from.known.empty())
      result.known.push_back(from.known[place]);
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

MapValues fovea::cli::rowsOf(const MapValues &from, int64_t first,
                             int64_t count) {
  int64_t size = product(llvm::ArrayRef(from.shape).drop_front());
  MapValues result{from.shape, {}, {}};
  result.shape.front() = count;
  auto cut = [&](const auto &whole, auto &part) {
    part.assign(whole.begin() + first * size,
                whole.begin() + (first + count) * size);
  };
  cut(from.numbers, result.numbers);
  if (!from.known.empty())
    cut(from.known, result.known);
  return result;
}

MapValues fovea::cli::rowsInOrder(const MapValues &from,
                                  llvm::ArrayRef<int64_t> order) {
  MapValues result{from.shape, {}, {}};
  for (int64_t place : order) {
    MapValues row = rowsOf(from, place, 1);
    llvm::append_range(result.numbers, row.numbers);
    result.known.insert(result.known.end(), row.known.begin(), row.known.end());
  }
  return result;
}

std::vector<int64_t> fovea::cli::orderOf(llvm::ArrayRef<int64_t> first,
                                         int64_t count) {
  std::vector<int64_t> order(first.begin(), first.end());
  std::vector<bool> isTaken(count);
  for (int64_t place : first) {
    if (place >= count || isTaken[place])
      return {};
    isTaken[place] = true;
  }
  for (int64_t place = 0; place < count; ++place)
    if (!isTaken[place])
      order.push_back(place);
  return order;
}

MapValues fovea::cli::rolled(const MapValues &from, int64_t count) {
  int64_t first = from.shape.front();
  MapValues result = rowsOf(from, first - count, count);
  MapValues rest = rowsOf(from, 0, first - count);
  llvm::append_range(result.numbers, rest.numbers);
  result.known.insert(result.known.end(), rest.known.begin(), rest.known.end());
  result.shape = from.shape;
  return result;
}
