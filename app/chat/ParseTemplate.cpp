//===- ParseTemplate.cpp - parses templates of conversations --------------===//

#include "app/chat/ChatTemplate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;

namespace {

constexpr int deepest = 64;

/// A word, a number, a string or a sign of an expression.
struct Token {
  enum Kind { End, Word, Number, String, Sign } kind = End;
  std::string text;
};

/// Parses the inside of `{{ .. }}` and `{% .. %}`.
class ExpressionParser {
public:
  ExpressionParser(StringRef text, int line) : rest(text), line(line) {
    next();
  }

  ChatExpression expression();
  bool take(StringRef text);
  bool takeWord(StringRef text);
  std::string name();
  bool isAtEnd() const { return token.kind == Token::End; }
  void fail(const std::string &text) {
    if (failure.empty())
      failure = fmt::format("line {}: {}", line, text);
  }

  std::string failure;

private:
  using Level = ChatExpression (ExpressionParser::*)();
  void next();
  ChatExpression make(ChatExpression::Kind kind, std::string text,
                      std::vector<ChatExpression> operands);
  ChatExpression binary(Level level, std::initializer_list<StringRef> signs);
  ChatExpression either() { return binary(&ExpressionParser::both, {"or"}); }
  ChatExpression both() { return binary(&ExpressionParser::negation, {"and"}); }
  ChatExpression negation();
  ChatExpression comparison();
  ChatExpression joined() { return binary(&ExpressionParser::sum, {"~"}); }
  ChatExpression sum() {
    return binary(&ExpressionParser::product, {"+", "-"});
  }
  ChatExpression product() {
    return binary(&ExpressionParser::filtered, {"*", "//", "/", "%"});
  }
  ChatExpression filtered();
  ChatExpression postfix();
  ChatExpression bracket(ChatExpression of);
  ChatExpression primary();
  void arguments(ChatExpression &call);

  StringRef rest;
  int line;
  int depth = 0;
  Token token;
};

} // namespace

void ExpressionParser::next() {
  while (!rest.empty() && llvm::isSpace(rest.front())) {
    line += rest.front() == '\n';
    rest = rest.drop_front();
  }
  token = {};
  if (rest.empty())
    return;
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  char first = rest.front();
  if (first == '"' || first == '\'') {
    token.kind = Token::String;
    size_t i = 1;
    for (; i < rest.size() && rest[i] != first; ++i) {
      if (rest[i] != '\\' || i + 1 == rest.size()) {
        token.text += rest[i];
        continue;
      }
      char c = rest[++i];
      token.text += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
    assert(i < rest.size() && "a tag has whole strings");
    rest = rest.drop_front(i + 1);
    return;
  }
  if (isWord(first)) {
    token.kind = llvm::isDigit(first) ? Token::Number : Token::Word;
    StringRef word = rest.take_while(isWord);
    token.text = word.str();
    rest = rest.drop_front(word.size());
    return;
  }
  token.kind = Token::Sign;
  for (StringRef sign : {"==", "!=", "<=", ">=", "//"})
    if (rest.starts_with(sign))
      token.text = sign.str();
  if (token.text.empty())
    token.text = first;
  rest = rest.drop_front(token.text.size());
}

bool ExpressionParser::take(StringRef text) {
  if (token.kind != Token::Sign || token.text != text)
    return false;
  next();
  return true;
}

bool ExpressionParser::takeWord(StringRef text) {
  if (token.kind != Token::Word || token.text != text)
    return false;
  next();
  return true;
}

std::string ExpressionParser::name() {
  std::string text = token.text;
  if (token.kind != Token::Word)
    fail(fmt::format("expected a name, found '{}'", text));
  next();
  return text;
}

ChatExpression ExpressionParser::make(ChatExpression::Kind kind,
                                      std::string text,
                                      std::vector<ChatExpression> operands) {
  ChatExpression result;
  result.kind = kind;
  result.text = std::move(text);
  result.operands = std::move(operands);
  result.line = line;
  return result;
}

/// `a`, or `a if b else c`.
ChatExpression ExpressionParser::expression() {
  if (++depth > deepest) {
    fail(fmt::format("expressions are nested deeper than {}", deepest));
    token = {};
    rest = {};
  }
  ChatExpression result = either();
  if (takeWord("if")) {
    ChatExpression condition = either();
    ChatExpression otherwise;
    otherwise.value = "";
    if (takeWord("else"))
      otherwise = expression();
    result =
        make(ChatExpression::Choose, "",
             {std::move(condition), std::move(result), std::move(otherwise)});
  }
  --depth;
  return result;
}

ChatExpression
ExpressionParser::binary(Level level, std::initializer_list<StringRef> signs) {
  ChatExpression result = (this->*level)();
  while (failure.empty()) {
    std::string found;
    for (StringRef sign : signs)
      if (found.empty() && (take(sign) || takeWord(sign)))
        found = sign.str();
    if (found.empty())
      break;
    ChatExpression right = (this->*level)();
    result = make(ChatExpression::Operator, found,
                  {std::move(result), std::move(right)});
  }
  return result;
}

ChatExpression ExpressionParser::negation() {
  size_t count = 0;
  while (takeWord("not"))
    ++count;
  ChatExpression result = comparison();
  for (; count > 0 && count <= deepest; --count)
    result = make(ChatExpression::Operator, "not", {std::move(result)});
  return result;
}

ChatExpression ExpressionParser::comparison() {
  ChatExpression result = joined();
  while (failure.empty()) {
    if (takeWord("is")) {
      bool isNot = takeWord("not");
      result = make(ChatExpression::Test, name(), {std::move(result)});
      if (isNot)
        result = make(ChatExpression::Operator, "not", {std::move(result)});
      continue;
    }
    std::string found;
    bool isNot = takeWord("not");
    for (StringRef sign : {"==", "!=", "<=", ">=", "<", ">", "in"})
      if (found.empty() && (take(sign) || takeWord(sign)))
        found = sign.str();
    if (isNot && found != "in")
      fail("expected 'in' after 'not'");
    if (found.empty())
      break;
    ChatExpression right = joined();
    result = make(ChatExpression::Operator, found,
                  {std::move(result), std::move(right)});
    if (isNot)
      result = make(ChatExpression::Operator, "not", {std::move(result)});
  }
  return result;
}

ChatExpression ExpressionParser::filtered() {
  bool isNegative = take("-");
  ChatExpression result = postfix();
  while (failure.empty() && take("|")) {
    ChatExpression filter = make(ChatExpression::Filter, name(), {});
    filter.operands.push_back(std::move(result));
    if (take("("))
      arguments(filter);
    result = std::move(filter);
  }
  return isNegative
             ? make(ChatExpression::Operator, "negative", {std::move(result)})
             : result;
}

/// The rest of `(a, b = c)`.
void ExpressionParser::arguments(ChatExpression &call) {
  while (failure.empty() && !take(")")) {
    ChatExpression argument = expression();
    if (argument.kind == ChatExpression::Name && take("=")) {
      call.names.push_back(argument.text);
      argument = expression();
    } else if (!call.names.empty()) {
      fail("an argument without a name follows one with a name");
    }
    call.operands.push_back(std::move(argument));
    if (!take(",") && !(token.kind == Token::Sign && token.text == ")"))
      fail("expected ',' or ')'");
  }
}

/// The rest of `x[i]`, `x[a:b]`.
ChatExpression ExpressionParser::bracket(ChatExpression of) {
  ChatExpression first, last;
  bool hasFirst = !take(":");
  if (hasFirst)
    first = expression();
  if (hasFirst && !take(":")) {
    if (!take("]"))
      fail("expected ']'");
    return make(ChatExpression::Element, "", {std::move(of), std::move(first)});
  }
  if (!take("]")) {
    last = expression();
    if (!take("]"))
      fail("expected ']'; slices have no step here");
  }
  return make(ChatExpression::Slice, "",
              {std::move(of), std::move(first), std::move(last)});
}

ChatExpression ExpressionParser::postfix() {
  ChatExpression result = primary();
  for (int count = 0; failure.empty(); ++count) {
    if (count > deepest)
      fail(fmt::format("expressions are nested deeper than {}", deepest));
    if (take(".")) {
      result = make(ChatExpression::Member, name(), {std::move(result)});
    } else if (take("[")) {
      result = bracket(std::move(result));
    } else if (take("(")) {
      result = make(ChatExpression::Call, "", {std::move(result)});
      arguments(result);
    } else {
      break;
    }
  }
  return result;
}

ChatExpression ExpressionParser::primary() {
  ChatExpression result = make(ChatExpression::Literal, token.text, {});
  if (token.kind == Token::String) {
    result.value = token.text;
    next();
  } else if (token.kind == Token::Number) {
    int64_t number = 0;
    if (!llvm::to_integer(token.text, number, 10))
      fail(fmt::format("'{}' is not a whole number", token.text));
    result.value = number;
    next();
  } else if (token.kind == Token::Word) {
    std::string word = llvm::StringRef(token.text).lower();
    if (word == "true" || word == "false")
      result.value = word == "true";
    else if (word != "none")
      result.kind = ChatExpression::Name;
    next();
  } else if (take("(")) {
    result = expression();
    if (!take(")"))
      fail("expected ')'");
  } else if (take("[")) {
    result.kind = ChatExpression::List;
    while (failure.empty() && !take("]")) {
      result.operands.push_back(expression());
      if (!take(",") && token.text != "]")
        fail("expected ',' or ']'");
    }
  } else if (take("{")) {
    result.kind = ChatExpression::Map;
    while (failure.empty() && !take("}")) {
      result.operands.push_back(expression());
      if (!take(":"))
        fail("expected ':'");
      result.operands.push_back(expression());
      if (!take(",") && token.text != "}")
        fail("expected ',' or '}'");
    }
  } else {
    fail(isAtEnd() ? "the expression ends too early"
                   : fmt::format("'{}' is not understood", token.text));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

namespace {

/// Parses the text around tags, and the tags.
class TemplateParser {
public:
  explicit TemplateParser(StringRef text) : rest(text) {}

  /// Statements up to one of the tags `ends`, whose words are left in `tag`.
  std::vector<ChatStatement> block(llvm::ArrayRef<StringRef> ends);

  std::string failure;

private:
  bool nextTag(std::vector<ChatStatement> &statements, char &kind);
  void addText(std::vector<ChatStatement> &statements, StringRef text,
               bool trimsRight);
  ChatStatement statement(StringRef word, StringRef inside);
  ChatStatement forOf(ExpressionParser &parser);
  ChatStatement ifOf(ExpressionParser &parser);
  ChatStatement setOf(ExpressionParser &parser);
  void fail(int at, const std::string &text) {
    if (failure.empty())
      failure = fmt::format("line {}: {}", at, text);
  }
  void finish(ExpressionParser &parser, const char *tag) {
    if (!parser.isAtEnd())
      parser.fail(fmt::format("this form of '{}' is not supported", tag));
    if (failure.empty())
      failure = parser.failure;
  }

  StringRef rest;
  int line = 1, depth = 0;
  bool trimsLeft = false;  // the text that follows
  bool isLineStart = true; // where it begins
  StringRef inside;        // the tag
  StringRef tag;           // its first word
};

} // namespace

/// As transformers sets Jinja: the line end after a tag belongs to it, and so
/// do spaces before it on its line.
void TemplateParser::addText(std::vector<ChatStatement> &statements,
                             StringRef text, bool trimsRight) {
  if (trimsLeft)
    text = text.ltrim();
  if (trimsRight)
    text = text.rtrim();
  trimsLeft = false;
  if (text.empty())
    return;
  ChatStatement &made = statements.emplace_back();
  made.text = text.str();
  made.line = line;
}

/// Where a tag ends: a string in it may have the sign that does so.
static size_t endOfTag(StringRef text, StringRef close) {
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quote && text[i] == '\\')
      ++i;
    else if (quote ? text[i] == quote : text[i] == '"' || text[i] == '\'')
      quote = quote ? 0 : text[i];
    else if (!quote && text.drop_front(i).starts_with(close))
      return i;
  }
  return StringRef::npos;
}

/// Reads up to the next tag of `{{` or `{%` and through it. False: the end.
bool TemplateParser::nextTag(std::vector<ChatStatement> &statements,
                             char &kind) {
  while (true) {
    size_t at = 0;
    while ((at = rest.find('{', at)) != StringRef::npos &&
           !(at + 1 < rest.size() && StringRef("{%#").contains(rest[at + 1])))
      ++at;
    StringRef before = rest.take_front(at);
    if (at == StringRef::npos) {
      addText(statements, rest, false);
      return false;
    }
    kind = rest[at + 1];
    StringRef tagText = rest.drop_front(at + 2);
    bool trims = tagText.consume_front("-");
    if (kind != '{' && !trims && !tagText.consume_front("+")) {
      StringRef spaces =
          before.take_back(before.size() - before.rtrim(" \t").size());
      StringRef ahead = before.drop_back(spaces.size());
      if (ahead.empty() ? isLineStart : ahead.ends_with("\n"))
        before = ahead;
    }
    addText(statements, before, trims);
    line += static_cast<int>(rest.take_front(at).count('\n'));
    StringRef close = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
    size_t end = kind == '#' ? tagText.find(close) : endOfTag(tagText, close);
    if (end == StringRef::npos) {
      fail(line, "unterminated tag");
      return false;
    }
    inside = tagText.take_front(end);
    rest = tagText.drop_front(end + 2);
    trimsLeft = inside.consume_back("-");
    isLineStart = !trimsLeft && kind != '{' && rest.consume_front("\n");
    if (kind != '#')
      return true;
    line += static_cast<int>(inside.count('\n')) + isLineStart;
  }
}

std::vector<ChatStatement>
TemplateParser::block(llvm::ArrayRef<StringRef> ends) {
  std::vector<ChatStatement> statements;
  if (++depth > deepest)
    fail(line, fmt::format("statements are nested deeper than {}", deepest));
  char kind = 0;
  while (failure.empty() && nextTag(statements, kind)) {
    if (kind == '{') {
      ExpressionParser parser(inside, line);
      ChatStatement made;
      made.kind = ChatStatement::Print;
      made.line = line;
      made.of.push_back(parser.expression());
      finish(parser, "{{");
      statements.push_back(std::move(made));
      line += static_cast<int>(inside.count('\n'));
      continue;
    }
    line += static_cast<int>(inside.count('\n')) + isLineStart;
    StringRef words = inside.trim();
    tag = words.take_while([](char c) { return llvm::isAlnum(c); });
    if (llvm::is_contained(ends, tag)) {
      --depth;
      return statements;
    }
    // What marks the model's words for training changes no text.
    if (tag == "generation" || tag == "endgeneration")
      continue;
    statements.push_back(statement(tag, words.drop_front(tag.size())));
  }
  --depth;
  if (!ends.empty())
    fail(line, fmt::format("expected '{}'", ends.back().str()));
  return statements;
}

ChatStatement TemplateParser::statement(StringRef word, StringRef text) {
  ExpressionParser parser(text, line);
  if (word == "for")
    return forOf(parser);
  if (word == "if")
    return ifOf(parser);
  if (word == "set")
    return setOf(parser);
  fail(line, fmt::format("the tag '{}' is not supported; the tags are for, if, "
                         "set and generation",
                         word.str()));
  return {};
}

ChatStatement TemplateParser::forOf(ExpressionParser &parser) {
  ChatStatement result;
  result.kind = ChatStatement::For;
  result.line = line;
  result.text = parser.name();
  if (parser.take(","))
    result.second = parser.name();
  if (!parser.takeWord("in"))
    parser.fail("expected 'in'");
  result.of.push_back(parser.expression());
  finish(parser, "for");
  result.body = block({"else", "endfor"});
  if (tag == "else")
    result.otherwise = block({"endfor"});
  return result;
}

ChatStatement TemplateParser::ifOf(ExpressionParser &parser) {
  ChatStatement result;
  result.kind = ChatStatement::If;
  result.line = line;
  result.of.push_back(parser.expression());
  finish(parser, "if");
  result.body = block({"elif", "else", "endif"});
  if (tag == "elif" && failure.empty()) {
    ExpressionParser next(inside.trim().drop_front(tag.size()), line);
    ++depth;
    if (depth > deepest)
      fail(line, fmt::format("statements are nested deeper than {}", deepest));
    else
      result.otherwise.push_back(ifOf(next));
    --depth;
  } else if (tag == "else" && failure.empty()) {
    result.otherwise = block({"endif"});
  }
  return result;
}

ChatStatement TemplateParser::setOf(ExpressionParser &parser) {
  ChatStatement result;
  result.kind = ChatStatement::Set;
  result.line = line;
  result.text = parser.name();
  if (parser.take("."))
    result.second = parser.name();
  if (!parser.take("="))
    parser.fail("this form of 'set' is not supported");
  else
    result.of.push_back(parser.expression());
  finish(parser, "set");
  return result;
}

Status ChatTemplate::parse(std::string_view text, ChatTemplate &result) {
  TemplateParser parser(text);
  result.body = parser.block({});
  return parser.failure.empty() ? Status::success()
                                : Status::error(parser.failure);
}
