//===- Lexer.h - .fov text to tokens, one at a time -----------------------===//
//
// Splits any bytes into tokens. A token outside the language has kind Bad, and
// explain() describes its error: the lexer reports only errors of the whole
// file. A newline is a flag on the token after it; the parser decides which of
// them end a statement.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_SYNTAX_LEXER_H
#define FOVEA_FRONTENDS_FOV_SYNTAX_LEXER_H

#include "frontends/fov/Diagnostics.h"

namespace fovea {

struct Token {
  enum Kind : uint8_t {
    EndOfFile,
    Newline, // made by the parser where a line end matters
    Bad,
    Comment,
    Name,
    Integer,
    Real,
    String, // text without the quotes
#define KEYWORD(word) keyword_##word,
#define SIGN(name, text) name,
#include "frontends/fov/syntax/Tokens.def"
  };

  Kind kind = EndOfFile;
  bool newlineBefore = false;
  uint32_t column = 0; // bytes from the begin of the line
  llvm::StringRef text;

  bool is(Kind other) const { return kind == other; }
  template <typename... Kinds> bool isAny(Kinds... kinds) const {
    return ((kind == kinds) || ...);
  }
  llvm::SMLoc loc() const;
  const char *end() const;
  bool isKeyword() const;
  /// Returns whether the word begins a statement (`dim`, `param`, ..).
  bool beginsStatement() const;
  /// Returns whether an operand must follow, on this line or a later one.
  bool isBinaryOperator() const;
};

class Lexer {
public:
  /// Reports text that is not UTF-8 or contains NUL bytes, once each.
  Lexer(llvm::StringRef text, Diagnostics &diagnostics,
        bool keepComments = false);

  Token next();

private:
  Token make(Token::Kind kind, const char *begin);
  Token word();
  Token number();
  Token string();
  Token other();

  const char *at, *end;
  const char *lineBegin;
  bool keepComments;
  bool afterDot = false;
  bool newlineBefore = false;
};

/// Describes the error in a token of kind Bad. `before` is the character
/// directly before it, or 0.
std::string explain(const Token &bad, char before);

/// A token as a message names it: `'x'`, `end of line`, `a string`.
std::string describe(const Token &token);

bool isReducer(llvm::StringRef name);
bool isNormaliser(llvm::StringRef name);

} // namespace fovea

#endif // FOVEA_FRONTENDS_FOV_SYNTAX_LEXER_H
