//===- RenderTemplate.cpp - executes templates of conversations -----------===//

#include "app/chat/ChatTemplate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>
#include <map>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using json = ChatValue;
using runtime::Status;

namespace {

/// What a template may do: more is a mistake of it.
constexpr int64_t mostWork = 1'000'000;
constexpr size_t mostText = 1 << 24;

class Renderer {
public:
  explicit Renderer(const json &variables) {
    scopes.emplace_back();
    for (const auto &[name, value] : variables.items())
      scopes.back()[name] = value;
  }
  void run(const std::vector<ChatStatement> &statements);

  std::string text, failure;

private:
  void run(const ChatStatement &statement);
  void loop(const ChatStatement &statement);
  void set(const ChatStatement &statement);
  json valueOf(const ChatExpression &expression);
  json operate(const ChatExpression &expression);
  json member(const json &of, const json &which);
  json slice(const ChatExpression &expression);
  json call(const ChatExpression &expression);
  json method(const ChatExpression &expression, const json &of,
              const std::string &name, std::vector<json> arguments);
  json filter(const ChatExpression &expression);
  json test(const ChatExpression &expression);
  std::string textOf(const json &value, int line);
  json fail(int line, const std::string &what) {
    if (failure.empty())
      failure = fmt::format("line {}: {}", line, what);
    return undefined();
  }
  static json undefined() { return json(json::value_t::discarded); }
  bool goesOn(int line) {
    if (++work > mostWork || text.size() > mostText)
      fail(line, "the template does not come to an end");
    return failure.empty();
  }

  std::vector<std::map<std::string, json>> scopes;
  /// Values that keep what loops assign; a value names one by its number.
  std::vector<json> namespaces;
  int64_t work = 0;
};

} // namespace

/// The member of a value that names a namespace.
static constexpr const char *namespaceKey = "\x01namespace";

static bool holds(const json &value) {
  if (value.is_discarded() || value.is_null())
    return false;
  if (value.is_boolean())
    return value.get<bool>();
  if (value.is_number())
    return value != json(0);
  return value.is_string() ? !value.get_ref<const std::string &>().empty()
                           : !value.empty();
}

std::string Renderer::textOf(const json &value, int line) {
  if (value.is_discarded())
    return "";
  if (value.is_string())
    return value.get<std::string>();
  if (value.is_null())
    return "None";
  if (value.is_boolean())
    return value.get<bool>() ? "True" : "False";
  if (value.is_number())
    return value.dump();
  fail(line, "a list or a map is no text; help: '| tojson'");
  return "";
}

/// As Python writes it, with spaces after commas and colons.
static std::string jsonOf(const json &value) {
  std::string result;
  if (value.is_object()) {
    for (const auto &[key, one] : value.items())
      result +=
          (result.empty() ? "" : ", ") + json(key).dump() + ": " + jsonOf(one);
    return "{" + result + "}";
  }
  if (value.is_array()) {
    for (const json &one : value)
      result += (result.empty() ? "" : ", ") + jsonOf(one);
    return "[" + result + "]";
  }
  return value.is_discarded()
             ? "null"
             : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Where each character of a text begins, and its end.
static std::vector<size_t> charactersOf(const std::string &text) {
  std::vector<size_t> places;
  for (size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80)
      places.push_back(i);
  places.push_back(text.size());
  return places;
}

static int64_t wholeOf(const json &value, int64_t otherwise) {
  return value.is_number_integer() ? value.get<int64_t>() : otherwise;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Renderer::run(const std::vector<ChatStatement> &statements) {
  for (const ChatStatement &statement : statements)
    if (goesOn(statement.line))
      run(statement);
}

void Renderer::run(const ChatStatement &statement) {
  switch (statement.kind) {
  case ChatStatement::Text:
    text += statement.text;
    return;
  case ChatStatement::Print:
    text += textOf(valueOf(statement.of.front()), statement.line);
    return;
  case ChatStatement::If:
    return run(holds(valueOf(statement.of.front())) ? statement.body
                                                    : statement.otherwise);
  case ChatStatement::For:
    return loop(statement);
  case ChatStatement::Set:
    return set(statement);
  }
}

void Renderer::loop(const ChatStatement &statement) {
  json over = valueOf(statement.of.front());
  std::vector<json> items;
  if (over.is_array())
    items.assign(over.begin(), over.end());
  else if (over.is_object())
    for (const auto &[key, value] : over.items())
      items.push_back(key);
  else if (!over.is_discarded() && !over.is_null())
    fail(statement.line, "'for' needs a list");
  if (items.empty())
    return run(statement.otherwise);
  for (size_t i = 0; i < items.size() && goesOn(statement.line); ++i) {
    scopes.emplace_back();
    scopes.back()["loop"] = {{"index", i + 1},
                             {"index0", i},
                             {"first", i == 0},
                             {"last", i + 1 == items.size()},
                             {"length", items.size()}};
    if (i > 0)
      scopes.back()["loop"]["previtem"] = items[i - 1];
    if (i + 1 < items.size())
      scopes.back()["loop"]["nextitem"] = items[i + 1];
    if (statement.second.empty()) {
      scopes.back()[statement.text] = items[i];
    } else if (items[i].is_array() && items[i].size() == 2) {
      scopes.back()[statement.text] = items[i][0];
      scopes.back()[statement.second] = items[i][1];
    } else {
      fail(statement.line, "'for' needs pairs");
    }
    run(statement.body);
    scopes.pop_back();
  }
}

void Renderer::set(const ChatStatement &statement) {
  json value = valueOf(statement.of.front());
  if (statement.second.empty()) {
    scopes.back()[statement.text] = std::move(value);
    return;
  }
  ChatExpression name;
  name.kind = ChatExpression::Name;
  name.text = statement.text;
  json of = valueOf(name);
  if (!of.is_object() || !of.contains(namespaceKey))
    fail(statement.line,
         fmt::format("'{}' is not a namespace", statement.text));
  else
    namespaces[of[namespaceKey].get<size_t>()][statement.second] =
        std::move(value);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

json Renderer::valueOf(const ChatExpression &expression) {
  if (!goesOn(expression.line))
    return undefined();
  switch (expression.kind) {
  case ChatExpression::Literal:
    return expression.value;
  case ChatExpression::Name:
    for (const auto &scope : llvm::reverse(scopes))
      if (auto found = scope.find(expression.text); found != scope.end())
        return found->second;
    return undefined();
  case ChatExpression::List: {
    json list = json::array();
    for (const ChatExpression &one : expression.operands)
      list.push_back(valueOf(one));
    return list;
  }
  case ChatExpression::Map: {
    json map = json::object();
    for (size_t i = 0; i + 1 < expression.operands.size(); i += 2)
      map[textOf(valueOf(expression.operands[i]), expression.line)] =
          valueOf(expression.operands[i + 1]);
    return map;
  }
  case ChatExpression::Operator:
    return operate(expression);
  case ChatExpression::Choose:
    return valueOf(
        expression.operands[holds(valueOf(expression.operands[0])) ? 1 : 2]);
  case ChatExpression::Member:
    return member(valueOf(expression.operands[0]), expression.text);
  case ChatExpression::Element:
    return member(valueOf(expression.operands[0]),
                  valueOf(expression.operands[1]));
  case ChatExpression::Slice:
    return slice(expression);
  case ChatExpression::Call:
    return call(expression);
  case ChatExpression::Filter:
    return filter(expression);
  case ChatExpression::Test:
    return test(expression);
  }
  return undefined();
}

json Renderer::operate(const ChatExpression &expression) {
  const std::string &sign = expression.text;
  json left = valueOf(expression.operands[0]);
  if (sign == "not")
    return !holds(left);
  if (sign == "and" || sign == "or")
    return holds(left) == (sign == "or") ? left
                                         : valueOf(expression.operands[1]);
  if (sign == "negative")
    return left.is_number_integer()
               ? json(-left.get<int64_t>())
               : fail(expression.line, "'-' needs a whole number");
  json right = valueOf(expression.operands[1]);
  if (sign == "==" || sign == "!=") {
    bool isSame = left.is_discarded() == right.is_discarded() &&
                  (left.is_discarded() || left == right);
    return isSame == (sign == "==");
  }
  if (sign == "~")
    return textOf(left, expression.line) + textOf(right, expression.line);
  if (sign == "in") {
    if (right.is_string() && left.is_string())
      return StringRef(right.get_ref<const std::string &>())
          .contains(left.get_ref<const std::string &>());
    if (right.is_array())
      return llvm::is_contained(right, left);
    return right.is_object() && left.is_string() &&
           right.contains(left.get_ref<const std::string &>());
  }
  bool areTexts = left.is_string() && right.is_string();
  if (sign == "+" && areTexts)
    return left.get<std::string>() + right.get<std::string>();
  if (sign == "+" && left.is_array() && right.is_array()) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
  }
  bool areNumbers = left.is_number_integer() && right.is_number_integer();
  if (!areNumbers && !areTexts)
    return fail(expression.line,
                fmt::format("'{}' does not take these values", sign));
  if (sign == "<" || sign == ">")
    return sign == "<" ? left < right : right < left;
  if (sign == "<=" || sign == ">=")
    return sign == "<=" ? left <= right : right <= left;
  constexpr int64_t most = 1'000'000'000;
  auto a = wholeOf(left, most + 1), b = wholeOf(right, most + 1);
  bool divides = sign == "//" || sign == "%";
  if (std::abs(a) > most || std::abs(b) > most || (divides && b == 0))
    return fail(expression.line, fmt::format("'{}' of these values", sign));
  int64_t rest = divides ? ((a % b) + b) % b : 0;
  if (divides)
    return sign == "%" ? rest : (a - rest) / b;
  if (sign == "/")
    return fail(expression.line, "'/' is not supported; '//' is");
  return sign == "+" ? a + b : sign == "-" ? a - b : a * b;
}

json Renderer::member(const json &of, const json &which) {
  if (of.is_object() && of.contains(namespaceKey))
    return member(namespaces[of[namespaceKey].get<size_t>()], which);
  if (of.is_object() && which.is_string()) {
    auto found = of.find(which.get_ref<const std::string &>());
    return found == of.end() ? undefined() : json(*found);
  }
  bool isText = of.is_string();
  if ((!of.is_array() && !isText) || !which.is_number_integer())
    return undefined();
  std::vector<size_t> places;
  if (isText)
    places = charactersOf(of.get_ref<const std::string &>());
  int64_t size = isText ? places.size() - 1 : of.size();
  int64_t at = which.get<int64_t>();
  if (at < 0)
    at += size;
  if (at < 0 || at >= size)
    return undefined();
  return isText ? json(of.get_ref<const std::string &>().substr(
                      places[at], places[at + 1] - places[at]))
                : json(of[at]);
}

json Renderer::slice(const ChatExpression &expression) {
  json of = valueOf(expression.operands[0]);
  if (!of.is_array() && !of.is_string())
    return fail(expression.line, "only lists and texts have slices");
  std::vector<size_t> places;
  if (of.is_string())
    places = charactersOf(of.get_ref<const std::string &>());
  int64_t size = of.is_array() ? of.size() : places.size() - 1;
  auto bound = [&](const json &value, int64_t otherwise) {
    int64_t at = wholeOf(value, otherwise);
    return std::clamp(at < 0 ? at + size : at, int64_t(0), size);
  };
  int64_t first = bound(valueOf(expression.operands[1]), 0);
  int64_t last = std::max(first, bound(valueOf(expression.operands[2]), size));
  if (of.is_string())
    return of.get_ref<const std::string &>().substr(
        places[first], places[last] - places[first]);
  return json(std::vector<json>(of.begin() + first, of.begin() + last));
}

json Renderer::call(const ChatExpression &expression) {
  const ChatExpression &what = expression.operands.front();
  std::vector<json> arguments;
  for (const ChatExpression &one : llvm::drop_begin(expression.operands))
    arguments.push_back(valueOf(one));
  size_t named = expression.names.size();
  if (what.kind == ChatExpression::Name && what.text == "namespace") {
    json made = json::object();
    for (size_t i = 0; i < named; ++i)
      made[expression.names[i]] = arguments[arguments.size() - named + i];
    namespaces.push_back(std::move(made));
    return {{namespaceKey, namespaces.size() - 1}};
  }
  if (what.kind == ChatExpression::Name && what.text == "raise_exception")
    return fail(expression.line,
                "the template refuses this conversation: " +
                    (arguments.empty()
                         ? ""
                         : textOf(arguments.front(), expression.line)));
  if (what.kind == ChatExpression::Name && what.text == "range" &&
      arguments.size() == 1) {
    json list = json::array();
    int64_t count = std::min(wholeOf(arguments.front(), 0), mostWork);
    for (int64_t i = 0; i < count; ++i)
      list.push_back(i);
    return list;
  }
  if (what.kind == ChatExpression::Member && named == 0)
    return method(expression, valueOf(what.operands.front()), what.text,
                  std::move(arguments));
  return fail(expression.line,
              fmt::format("the function '{}' is not supported", what.text));
}

/// Methods of texts and maps, as Python has them.
json Renderer::method(const ChatExpression &expression, const json &of,
                      const std::string &name, std::vector<json> arguments) {
  if (of.is_object() && name == "items") {
    json list = json::array();
    for (const auto &[key, value] : of.items())
      list.push_back({key, value});
    return list;
  }
  if (of.is_object() && name == "get" && !arguments.empty()) {
    json found = member(of, arguments.front());
    return !found.is_discarded()  ? found
           : arguments.size() > 1 ? arguments[1]
                                  : json();
  }
  bool takesTexts =
      llvm::all_of(arguments, [](const json &one) { return one.is_string(); });
  if (!of.is_string() || !takesTexts)
    return fail(expression.line,
                fmt::format("the method '{}' is not supported", name));
  std::string text = of.get<std::string>();
  StringRef all = text;
  std::string first =
      arguments.empty() ? " \t\n\r\v\f" : arguments.front().get<std::string>();
  if (name == "strip")
    return all.trim(first).str();
  if (name == "lstrip")
    return all.ltrim(first).str();
  if (name == "rstrip")
    return all.rtrim(first).str();
  if (name == "upper")
    return all.upper();
  if (name == "lower")
    return all.lower();
  if (name == "startswith")
    return all.starts_with(first);
  if (name == "endswith")
    return all.ends_with(first);
  if (name == "split" && !arguments.empty() && !first.empty()) {
    llvm::SmallVector<StringRef> parts;
    all.split(parts, first);
    json list = json::array();
    for (StringRef part : parts)
      list.push_back(part.str());
    return list;
  }
  if (name == "replace" && arguments.size() == 2 && !first.empty()) {
    std::string with = arguments[1].get<std::string>(), result;
    for (size_t at = 0;;) {
      size_t found = text.find(first, at);
      result += text.substr(at, found - at);
      if (found == std::string::npos || result.size() > mostText)
        return result;
      result += with;
      at = found + first.size();
    }
  }
  return fail(expression.line,
              fmt::format("the method '{}' is not supported", name));
}

json Renderer::filter(const ChatExpression &expression) {
  const std::string &name = expression.text;
  json of = valueOf(expression.operands.front());
  std::vector<json> arguments;
  for (const ChatExpression &one : llvm::drop_begin(expression.operands))
    arguments.push_back(valueOf(one));
  if (name == "trim")
    return method(expression, textOf(of, expression.line), "strip",
                  std::move(arguments));
  if (name == "upper" || name == "lower" || name == "replace")
    return method(expression, textOf(of, expression.line), name,
                  std::move(arguments));
  if (name == "length" || name == "count")
    return of.is_string()
               ? charactersOf(of.get_ref<const std::string &>()).size() - 1
               : of.size();
  if (name == "string")
    return textOf(of, expression.line);
  if (name == "safe" || name == "list")
    return of;
  if (name == "tojson" && arguments.empty())
    return jsonOf(of);
  if (name == "default" && !arguments.empty())
    return of.is_discarded() ? arguments.front() : of;
  if (name == "first" || name == "last")
    return member(of, name == "first" ? 0 : -1);
  if (name == "items")
    return method(expression, of, name, {});
  if (name == "join" && of.is_array()) {
    std::string between =
        arguments.empty() ? "" : textOf(arguments.front(), expression.line);
    std::string joined;
    for (size_t i = 0; i < of.size(); ++i)
      joined += (i > 0 ? between : "") + textOf(of[i], expression.line);
    return joined;
  }
  return fail(expression.line,
              fmt::format("the filter '{}' is not supported", name));
}

json Renderer::test(const ChatExpression &expression) {
  const std::string &name = expression.text;
  json of = valueOf(expression.operands.front());
  if (name == "defined" || name == "undefined")
    return of.is_discarded() == (name == "undefined");
  if (name == "none")
    return of.is_null();
  if (name == "string")
    return of.is_string();
  if (name == "mapping")
    return of.is_object();
  if (name == "iterable" || name == "sequence")
    return of.is_array() || of.is_string() || of.is_object();
  if (name == "number")
    return of.is_number();
  if (name == "boolean")
    return of.is_boolean();
  if (name == "true" || name == "false")
    return of.is_boolean() && of.get<bool>() == (name == "true");
  if ((name == "odd" || name == "even") && of.is_number_integer())
    return (of.get<int64_t>() % 2 != 0) == (name == "odd");
  return fail(expression.line,
              fmt::format("the test '{}' is not supported", name));
}

Status ChatTemplate::render(const json &variables, std::string &text) const {
  Renderer renderer(variables);
  renderer.run(body);
  if (!renderer.failure.empty())
    return Status::error(renderer.failure);
  text = std::move(renderer.text);
  return Status::success();
}
