//===- Pattern.cpp - regular expressions of tokenisers --------------------===//
//
// A pattern becomes steps. A search follows them, with a list of alternatives
// to try. A fork is tried only once at a place (as in RE2's search by bits), so
// that no pattern takes exponential time.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Pattern.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>

using namespace fovea::runtime;

/// The longest pattern, in steps, and the deepest nest of groups.
static constexpr size_t maxSteps = 1000;
static constexpr int maxDepth = 50;

/// The case of letters without a difference.
static char32_t folded(char32_t c) {
  if (c == 0x17F) // a long s
    return 's';
  std::u32string lower;
  addLower(lower, c);
  return lower.size() == 1 ? lower[0] : c;
}

bool Pattern::Set::contains(char32_t c) const {
  auto has = [&](char32_t one) {
    return std::any_of(items.begin(), items.end(), [&](const Item &item) {
      bool is = false;
      switch (item.kind) {
      case Item::Range:
        is = item.low <= one && one <= item.high;
        break;
      case Item::InCategories:
        is = isIn(one, item.categories);
        break;
      case Item::Space:
        is = isSpace(one);
        break;
      case Item::Word:
        is = isWordChar(one);
        break;
      }
      return is != item.isNegated;
    });
  };
  return (has(c) || (ignoresCase && has(folded(c)))) != isNegated;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace fovea::runtime {
class PatternReader {
public:
  PatternReader(std::string_view text, Pattern &result)
      : rest(text), result(result) {}

  Status read();

private:
  using Steps = Pattern::Steps;
  using Step = Pattern::Step;
  using Item = Pattern::Item;
  using Set = Pattern::Set;

  bool fail(const std::string &why) {
    if (mistake.empty())
      mistake = why;
    return false;
  }
  bool take(std::string_view text) {
    if (!rest.starts_with(text))
      return false;
    rest.remove_prefix(text.size());
    return true;
  }
  bool readAlternatives(Steps &steps);
  bool readSequence(Steps &steps);
  bool readAtom(Steps &steps);
  bool readGroup(Steps &steps);
  bool readRepeats(Steps &steps);
  bool readCount(int &low, int &high);
  bool repeat(Steps &steps, int low, int high, bool isLazy);
  bool readSet(Set &set);
  bool readEscape(Item &item);
  bool readProperty(Item &item, bool isNegated);
  bool readCode(Item &item, size_t minDigits, size_t maxDigits);
  void addSet(Steps &steps, Set set);
  bool append(Steps &steps, const Steps &other);

  std::string_view rest;
  Pattern &result;
  std::string mistake;
  bool ignoresCase = false;
  int depth = 0;
};
} // namespace fovea::runtime

bool PatternReader::append(Steps &steps, const Steps &other) {
  steps.insert(steps.end(), other.begin(), other.end());
  return steps.size() <= maxSteps || fail("it is too long");
}

void PatternReader::addSet(Steps &steps, Set set) {
  set.ignoresCase = ignoresCase;
  if (ignoresCase)
    for (Item &item : set.items)
      if (item.kind == Item::Range && item.low == item.high)
        item.low = item.high = folded(item.low);
  steps.push_back({Step::OneOf, static_cast<int>(result.sets.size())});
  result.sets.push_back(std::move(set));
}

/// `a|b|c`, up to a closing parenthesis.
bool PatternReader::readAlternatives(Steps &steps) {
  if (++depth > maxDepth)
    return fail("its groups nest too deep");
  bool before = ignoresCase;
  std::vector<Steps> all(1);
  do {
    if (!readSequence(all.back()))
      return false;
    if (!take("|"))
      break;
    all.emplace_back();
  } while (true);
  ignoresCase = before;
  --depth;
  // The last is without a fork; the others jump behind it.
  Steps joined = std::move(all.back());
  for (size_t i = all.size() - 1; i-- > 0;) {
    Steps own = {{Step::Fork, 1, static_cast<int>(all[i].size()) + 2}};
    if (!append(own, all[i]))
      return false;
    own.push_back({Step::Jump, static_cast<int>(joined.size()) + 1});
    if (!append(own, joined))
      return false;
    joined = std::move(own);
  }
  return append(steps, joined);
}

bool PatternReader::readSequence(Steps &steps) {
  while (!rest.empty() && rest[0] != '|' && rest[0] != ')') {
    Steps atom;
    if (!readAtom(atom) || !readRepeats(atom) || !append(steps, atom))
      return false;
  }
  return true;
}

bool PatternReader::readGroup(Steps &steps) {
  bool before = ignoresCase;
  std::optional<Step::Kind> inner;
  if (take("?=")) {
    inner = Step::Look;
  } else if (take("?!")) {
    inner = Step::NotLook;
  } else if (take("?>")) {
    inner = Step::Atomic;
  } else if (take("?i)")) {
    ignoresCase = true; // to the end of this group
    return true;
  } else if (take("?i:")) {
    ignoresCase = true;
  } else if (take("?-i:")) {
    ignoresCase = false;
  } else if (!take("?:") && rest.starts_with('?')) {
    return fail(fmt::format("'(?{}' is not supported",
                            rest.size() > 1 ? rest.substr(1, 1) : ""));
  }
  Steps body;
  if (!readAlternatives(body))
    return false;
  ignoresCase = before;
  if (!take(")"))
    return fail("a ')' is missing");
  if (!inner)
    return append(steps, body);
  steps.push_back({*inner, static_cast<int>(body.size()) + 2});
  body.push_back({Step::Done});
  return append(steps, body);
}

bool PatternReader::readAtom(Steps &steps) {
  if (take("("))
    return readGroup(steps);
  Set set;
  if (take("[")) {
    if (!readSet(set))
      return false;
  } else if (take(".")) {
    set.items.push_back({Item::Range, '\n', '\n'});
    set.isNegated = true;
  } else if (take("^")) {
    steps.push_back({Step::LineStart});
    return true;
  } else if (take("$")) {
    steps.push_back({Step::LineEnd});
    return true;
  } else if (take("\\A")) {
    steps.push_back({Step::TextStart});
    return true;
  } else if (take("\\z")) {
    steps.push_back({Step::TextEnd});
    return true;
  } else if (rest[0] == '*' || rest[0] == '+' || rest[0] == '?') {
    return fail(fmt::format("'{}' repeats nothing", rest.substr(0, 1)));
  } else if (take("\\")) {
    if (!readEscape(set.items.emplace_back()))
      return false;
  } else {
    char32_t c = takeChar(rest);
    set.items.push_back({Item::Range, c, c});
  }
  addSet(steps, std::move(set));
  return true;
}

/// `{2}`, `{2,}`, `{,3}` or `{2,3}`; a brace that begins none of them is a
/// character.
bool PatternReader::readCount(int &low, int &high) {
  size_t end = rest.find('}');
  if (!rest.starts_with('{') || end == rest.npos)
    return false;
  std::string_view text = rest.substr(1, end - 1);
  size_t comma = text.find(',');
  auto read = [](std::string_view digits, int &value) {
    auto [last, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && last == digits.data() + digits.size() &&
           value >= 0;
  };
  std::string_view first = text.substr(0, comma);
  std::string_view second = comma == text.npos ? first : text.substr(comma + 1);
  if (text.empty() || text == ",")
    return false;
  low = 0;
  high = -1;
  if ((!first.empty() && !read(first, low)) ||
      (!second.empty() && !read(second, high)))
    return false;
  rest.remove_prefix(end + 1);
  return true;
}

bool PatternReader::readRepeats(Steps &steps) {
  for (;;) {
    int low = 0, high = -1;
    bool isCount = false;
    if (take("+"))
      low = 1;
    else if (take("?"))
      high = 1;
    else if (!take("*")) {
      isCount = readCount(low, high);
      if (!isCount)
        return true;
    }
    if (high >= 0 && high < low)
      return fail("a count ends before it begins");
    bool isLazy = !isCount && take("?");
    // `{2,3}+` repeats what is counted.
    bool isAtomic = !isCount && !isLazy && take("+");
    if (!repeat(steps, low, high, isLazy))
      return false;
    if (!isAtomic)
      continue;
    Steps body = {{Step::Atomic, static_cast<int>(steps.size()) + 2}};
    if (!append(body, steps))
      return false;
    body.push_back({Step::Done});
    steps = std::move(body);
  }
}

/// Repeats `steps` from `low` to `high` (-1: any) times.
bool PatternReader::repeat(Steps &steps, int low, int high, bool isLazy) {
  Steps body = std::move(steps);
  auto size = static_cast<int>(body.size());
  auto fork = [&](int body, int behind) {
    return isLazy ? Step{Step::Fork, behind, body}
                  : Step{Step::Fork, body, behind};
  };
  steps.clear();
  for (int i = 0; i < low; ++i)
    if (!append(steps, body))
      return false;
  if (high < 0) {
    steps.push_back(fork(1, size + 2));
    append(steps, body);
    steps.push_back({Step::Jump, -size - 1});
    return append(steps, {});
  }
  for (int i = low; i < high; ++i) {
    steps.push_back(fork(1, size + 1));
    if (!append(steps, body))
      return false;
  }
  return true;
}

/// `[^a-z\s]`, behind its bracket.
bool PatternReader::readSet(Set &set) {
  set.isNegated = take("^");
  bool isFirst = true;
  while (!rest.empty() && (isFirst || rest[0] != ']')) {
    isFirst = false;
    if (rest.starts_with('[') || rest.starts_with("&&"))
      return fail("sets in sets are not supported");
    auto readOne = [&](Item &item) {
      if (take("\\"))
        return readEscape(item);
      item.low = item.high = takeChar(rest);
      return true;
    };
    Item item, last;
    if (!readOne(item))
      return false;
    if (item.kind == Item::Range && !item.isNegated && rest.size() > 1 &&
        rest[0] == '-' && rest[1] != ']') {
      rest.remove_prefix(1);
      if (!readOne(last))
        return false;
      if (last.kind != Item::Range || last.low < item.low)
        return fail("a range ends before it begins");
      item.high = last.low;
    }
    set.items.push_back(item);
  }
  return take("]") || fail("a ']' is missing");
}

bool PatternReader::readProperty(Item &item, bool isNegated) {
  size_t end = rest.find('}');
  if (!take("{") || end == rest.npos)
    return fail("a property has no name");
  std::string_view name = rest.substr(0, end - 1);
  rest.remove_prefix(end);
  if (name.starts_with('^')) {
    isNegated = !isNegated;
    name.remove_prefix(1);
  }
  item = {Item::InCategories, 0, 0, categoriesOf(name), isNegated};
  return item.categories != 0 ||
         fail(fmt::format("the property '{}' is not supported", name));
}

bool PatternReader::readCode(Item &item, size_t minDigits, size_t maxDigits) {
  bool hasBrace = take("{");
  uint32_t code = 0;
  auto [end, error] = std::from_chars(
      rest.data(),
      rest.data() + std::min(rest.size(), hasBrace ? 8 : maxDigits), code, 16);
  size_t count = end - rest.data();
  if (error != std::errc() || count < (hasBrace ? 1 : minDigits) ||
      code >= 0x110000)
    return fail("a code is no character");
  rest.remove_prefix(count);
  item.low = item.high = code;
  return !hasBrace || take("}") || fail("a '}' is missing");
}

/// What follows a backslash.
bool PatternReader::readEscape(Item &item) {
  if (rest.empty())
    return fail("an escape has no character");
  char32_t c = takeChar(rest);
  constexpr std::string_view named = "nrtfvae", codes = "\n\r\t\f\v\a\033";
  if (size_t found = c < 0x80 ? named.find(static_cast<char>(c)) : named.npos;
      found != named.npos) {
    item.low = item.high = static_cast<char32_t>(codes[found]);
    return true;
  }
  switch (c) {
  case 's':
  case 'S':
    item = {Item::Space, 0, 0, 0, c == 'S'};
    return true;
  case 'w':
  case 'W':
    item = {Item::Word, 0, 0, 0, c == 'W'};
    return true;
  case 'd':
  case 'D':
    item = {Item::InCategories, 0, 0, setOf(Category::Nd), c == 'D'};
    return true;
  case 'p':
  case 'P':
    return readProperty(item, c == 'P');
  case 'x':
    return readCode(item, 1, 2);
  case 'u':
    return readCode(item, 4, 4);
  default:
    break;
  }
  if (isWordChar(c))
    return fail(fmt::format("'\\{}' is not supported",
                            textOf(std::u32string_view(&c, 1))));
  item.low = item.high = c;
  return true;
}

Status PatternReader::read() {
  Steps steps;
  bool good = readAlternatives(steps);
  if (good && !rest.empty())
    good = fail("a '(' is missing");
  if (!good)
    return Status::error(mistake);
  steps.push_back({Step::Done});
  for (const Step &step : steps)
    result.forkOf.push_back(step.kind == Step::Fork ? result.numForks++ : -1);
  result.steps = std::move(steps);
  return Status::success();
}

Status Pattern::read(std::string_view text, Pattern &result) {
  result = {};
  return PatternReader(text, result).read();
}

Pattern Pattern::literal(std::string_view text) {
  Pattern result;
  while (!text.empty()) {
    char32_t c = takeChar(text);
    result.steps.push_back({Step::OneOf, static_cast<int>(result.sets.size())});
    result.sets.push_back({{{Item::Range, c, c}}});
  }
  result.steps.push_back({Step::Done});
  result.forkOf.assign(result.steps.size(), -1);
  return result;
}

//===----------------------------------------------------------------------===//
// Searching
//===----------------------------------------------------------------------===//

namespace fovea::runtime {
/// The search for a pattern in one text.
class PatternSearch {
public:
  PatternSearch(const Pattern &pattern, std::string_view text)
      : pattern(pattern), text(text),
        tried(pattern.numForks * (text.size() + 1)) {}

  /// Follows the steps from `step` on; returns where a match ends.
  std::optional<size_t> follow(int step, size_t place);

private:
  using Step = Pattern::Step;

  /// Follows the steps to their end, or to a fork that has been tried.
  bool advance(int &step, size_t &place);
  bool isLineStart(size_t place) const {
    return place == 0 || text[place - 1] == '\n';
  }
  bool isLineEnd(size_t place) const {
    return place == text.size() || text[place] == '\n';
  }

  const Pattern &pattern;
  std::string_view text;
  /// Forks that led to nothing, or are being tried.
  std::vector<bool> tried;
  std::vector<size_t> marked; // by the current search
  std::vector<std::pair<int, size_t>> others;
};
} // namespace fovea::runtime

bool PatternSearch::advance(int &step, size_t &place) {
  for (;;) {
    const Step &now = pattern.steps[step];
    switch (now.kind) {
    case Step::OneOf: {
      std::string_view rest = text.substr(place);
      if (rest.empty() || !pattern.sets[now.first].contains(takeChar(rest)))
        return false;
      place = text.size() - rest.size();
      ++step;
      break;
    }
    case Step::Fork: {
      size_t bit = pattern.forkOf[step] * (text.size() + 1) + place;
      if (tried[bit])
        return false;
      tried[bit] = true;
      marked.push_back(bit);
      others.push_back({step + now.second, place});
      step += now.first;
      break;
    }
    case Step::Jump:
      step += now.first;
      break;
    case Step::Look:
    case Step::NotLook:
      if (follow(step + 1, place).has_value() != (now.kind == Step::Look))
        return false;
      step += now.first;
      break;
    case Step::Atomic: {
      std::optional<size_t> end = follow(step + 1, place);
      if (!end)
        return false;
      place = *end;
      step += now.first;
      break;
    }
    case Step::LineStart:
    case Step::LineEnd:
      if (now.kind == Step::LineStart ? !isLineStart(place) : !isLineEnd(place))
        return false;
      ++step;
      break;
    case Step::TextStart:
    case Step::TextEnd:
      if (place != (now.kind == Step::TextStart ? 0 : text.size()))
        return false;
      ++step;
      break;
    case Step::Done:
      return true;
    }
  }
}

std::optional<size_t> PatternSearch::follow(int step, size_t place) {
  size_t numOthers = others.size(), numMarked = marked.size();
  std::optional<size_t> end;
  for (;;) {
    if (advance(step, place)) {
      end = place;
      break;
    }
    if (others.size() == numOthers)
      break;
    std::tie(step, place) = others.back();
    others.pop_back();
  }
  others.resize(numOthers);
  // What was tried for a match may be tried again; what failed, never.
  for (size_t i = numMarked; end && i < marked.size(); ++i)
    tried[marked[i]] = false;
  marked.resize(numMarked);
  return end;
}

void Pattern::split(
    std::string_view text,
    const std::function<void(std::string_view, bool)> &take) const {
  PatternSearch search(*this, text);
  size_t last = 0;
  for (size_t place = 0; place < text.size();) {
    std::optional<size_t> end = search.follow(0, place);
    if (end && *end > place) {
      if (place > last)
        take(text.substr(last, place - last), false);
      take(text.substr(place, *end - place), true);
      last = place = *end;
      continue;
    }
    std::string_view rest = text.substr(place);
    takeChar(rest);
    place = text.size() - rest.size();
  }
  if (last < text.size())
    take(text.substr(last), false);
}
