//===- Lexer.cpp - .fov text to tokens, one at a time ---------------------===//
//
// Decides where a token ends. Every call of next() consumes a byte or is at the
// end, so lexing takes linear time.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/syntax/Lexer.h"

#include "frontends/fov/ForeignWords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"

using namespace fovea;
using namespace llvm;

static constexpr const char *notUtf8 = "the file is not UTF-8 here";
static constexpr const char *nulByte = "the file holds a NUL byte";

static bool isWordByte(char c) { return isAlnum(c) || c == '_'; }

SMLoc Token::loc() const {
  return SMLoc::getFromPointer(kind == String ? text.data() - 1 : text.data());
}

const char *Token::end() const {
  return kind == String ? text.end() + 1 : text.end();
}

bool Token::isKeyword() const {
  switch (kind) {
#define KEYWORD(word) case keyword_##word:
#include "frontends/fov/syntax/Tokens.def"
    return true;
  default:
    return false;
  }
}

bool Token::beginsStatement() const {
  switch (kind) {
#define STATEMENT(word) case keyword_##word:
#include "frontends/fov/syntax/Tokens.def"
    return true;
  default:
    return false;
  }
}

bool Token::isBinaryOperator() const {
  return isAny(Plus, Minus, Star, Slash, SlashSlash, keyword_mod, At, Caret,
               PlusPlus, Default, keyword_and, keyword_or) ||
         isAny(Less, LessEqual, Greater, GreaterEqual, EqualEqual, NotEqual);
}

bool fovea::isReducer(StringRef name) {
  return StringSwitch<bool>(name)
#define REDUCER(word) .Case(#word, true)
#include "frontends/fov/syntax/Tokens.def"
      .Default(false);
}

bool fovea::isNormaliser(StringRef name) {
  return StringSwitch<bool>(name)
#define NORMALISER(word) .Case(#word, true)
#include "frontends/fov/syntax/Tokens.def"
      .Default(false);
}

Lexer::Lexer(StringRef text, Diagnostics &diagnostics, bool keepComments)
    : at(text.begin()), end(text.end()), lineBegin(at),
      keepComments(keepComments) {
  if (text.starts_with("\xef\xbb\xbf"))
    lineBegin = at += 3;

  auto *bytes = reinterpret_cast<const UTF8 *>(at);
  auto *last = reinterpret_cast<const UTF8 *>(end);
  if (!isLegalUTF8String(&bytes, last))
    diagnostics.error(
        Code::notUtf8,
        SMLoc::getFromPointer(reinterpret_cast<const char *>(bytes)), notUtf8);
  size_t nul = text.find('\0');
  if (nul != StringRef::npos)
    diagnostics.error(Code::notUtf8, SMLoc::getFromPointer(text.begin() + nul),
                      nulByte);
}

Token Lexer::make(Token::Kind kind, const char *begin) {
  Token token;
  token.kind = kind;
  token.newlineBefore = newlineBefore;
  token.column = begin - lineBegin;
  token.text = StringRef(begin, at - begin);
  newlineBefore = false;
  afterDot = kind == Token::Dot;
  return token;
}

Token Lexer::next() {
  for (; at != end; ++at) {
    if (*at == '\n') {
      newlineBefore = true;
      lineBegin = at + 1;
    } else if (*at == '#') {
      const char *begin = at;
      at = std::find(at, end, '\n');
      if (keepComments)
        return make(Token::Comment, begin);
      if (at == end)
        break;
      --at;
    } else if (*at != ' ' && *at != '\t' && *at != '\r') {
      break;
    }
  }
  if (at == end)
    return make(Token::EndOfFile, at);
  if (isAlpha(*at))
    return word();
  if (isDigit(*at))
    return number();
  if (*at == '"')
    return string();
  return other();
}

Token Lexer::word() {
  const char *begin = at;
  at = std::find_if_not(at, end, isWordByte);
  StringRef text(begin, at - begin);
  if (afterDot)
    return make(Token::Name, begin);
  return make(StringSwitch<Token::Kind>(text)
#define KEYWORD(word) .Case(#word, Token::keyword_##word)
#include "frontends/fov/syntax/Tokens.def"
                  .Default(Token::Name),
              begin);
}

Token Lexer::number() {
  const char *begin = at;
  Token::Kind kind = Token::Integer;
  auto digits = [&] { at = std::find_if_not(at, end, isDigit); };
  digits();
  if (end - at > 1 && at[0] == '.' && isDigit(at[1])) {
    kind = Token::Real;
    ++at;
    digits();
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    const char *exponent = at + 1;
    if (exponent != end && (*exponent == '+' || *exponent == '-'))
      ++exponent;
    if (exponent != end && isDigit(*exponent)) {
      kind = Token::Real;
      at = exponent;
      digits();
    }
  }
  if (at != end && isWordByte(*at)) {
    at = std::find_if_not(at, end, isWordByte);
    kind = Token::Bad;
  }
  return make(kind, begin);
}

Token Lexer::string() {
  const char *begin = at++;
  at = std::find_if(at, end, [](char c) { return c == '"' || c == '\n'; });
  if (at == end || *at == '\n') {
    if (at[-1] == '\r')
      --at;
    return make(Token::Bad, begin);
  }
  ++at;
  Token token = make(Token::String, begin);
  token.text = token.text.drop_front().drop_back();
  return token;
}

Token Lexer::other() {
  const char *begin = at;
  StringRef rest(at, end - at);
#define SIGN(name, sign)                                                       \
  if (rest.starts_with(sign)) {                                                \
    at += sizeof(sign) - 1;                                                    \
    return make(Token::name, begin);                                           \
  }
#include "frontends/fov/syntax/Tokens.def"
  // A run of non-ASCII bytes is one error, and so are a LaTeX command, `&&` and
  // `||`.
  ++at;
  if (!isASCII(*begin))
    at = std::find_if(at, end, [](char c) { return isASCII(c); });
  else if (*begin == '\\')
    at = std::find_if_not(at, end, isAlpha);
  else if (at != end && *at == *begin && (*at == '&' || *at == '|'))
    ++at;
  return make(Token::Bad, begin);
}

std::string fovea::explain(const Token &bad, char before) {
  StringRef text = bad.text;
  if (text.starts_with("\""))
    return "the string " + quoted(text) + " does not end on its line";
  if (isDigit(text.front())) {
    StringRef digits = text.take_while(isDigit);
    StringRef rest = text.drop_front(digits.size());
    return quoted(text) + " is neither a number nor a name" +
           (all_of(rest, isAlpha) && text.size() < 24
                ? "; did you mean '" + (digits + "*" + rest).str() + "'?"
                : "");
  }
  if (text.front() == '_')
    return "a name starts with a letter";
  auto *bytes = reinterpret_cast<const UTF8 *>(text.begin());
  if (!isLegalUTF8String(&bytes, reinterpret_cast<const UTF8 *>(text.end())))
    return notUtf8;
  if (text.front() == '\0')
    return nulByte;
  if (std::string help = fov::ourSign(text, before); !help.empty())
    return (text.front() == '\\' ? quoted(text) + " is LaTeX"
                                 : "unknown character " + quoted(text)) +
           help;
  // Only signs with the same meaning.
  StringRef meant = StringSwitch<StringRef>(text)
                        .Cases({"&", "&&"}, "and")
                        .Case("||", "or")
                        .Case("!", "not")
                        .Case("%", "mod")
                        .Case("'", "\"")
                        .Cases({"“", "”", "„"}, "\"")
                        .Cases({"×", "∗"}, "*")
                        .Cases({"−", "–", "—"}, "-")
                        .Case("÷", "/")
                        .Case("≤", "<=")
                        .Case("≥", ">=")
                        .Case("≠", "!=")
                        .Case("∼", "~")
                        .Default("");
  bool printable = isPrint(text.front()) || !isASCII(text.front());
  return (printable ? "unknown character " : "unknown byte ") + quoted(text) +
         (meant.empty() ? "" : "; did you mean '" + meant.str() + "'?");
}

std::string fovea::describe(const Token &token) {
  switch (token.kind) {
  case Token::EndOfFile:
    return "the end of the file";
  case Token::Newline:
    return "the end of the line";
  case Token::String:
    return "a string";
  default:
    return quoted(token.text);
  }
}
