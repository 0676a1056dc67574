//===- Format.cpp - a .fov file in the project's layout -------------------===//
//
// Formats tokens, not the tree, so comments and the author's line breaks stay.
// Decides the indentation of a line and the spaces between two tokens. Authors
// align columns (before '=', '~', ':', '{' and comments, after ';', between
// words): a gap of two or more columns keeps its column.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/syntax/Lexer.h"
#include "frontends/fov/syntax/Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace fovea;
using namespace llvm;

namespace {

/// A token, and its original position.
struct Piece {
  Token token;
  unsigned column;  // tabs expanded, in characters
  unsigned gap;     // columns between it and the token before on its line
  bool blankBefore; // an empty line above
};

/// The enclosing bracket of a token: `(`, `[`, or one of three kinds of braces.
enum class Bracket { Paren, Square, Labels, Def, Options };

class Formatter {
public:
  explicit Formatter(StringRef text, Diagnostics &diagnostics);

  std::string run();

private:
  void beginLine(size_t i);
  void place(size_t i);
  unsigned gapBefore(size_t i) const;
  bool isAlignable(size_t i) const;
  bool isUnary(size_t i) const;
  bool isSpaced(size_t i) const;
  bool isContinued() const;
  void count(const Token &token);
  bool in(Bracket bracket) const {
    return !open.empty() && open.back() == bracket;
  }
  /// Whether it is inside `(`, `[` or the braces of labels.
  bool inBrackets() const {
    return in(Bracket::Paren) || in(Bracket::Square) || in(Bracket::Labels);
  }

  std::vector<Piece> pieces;
  std::string out, line;
  unsigned width = 0; // of `line`, in characters
  SmallVector<Bracket> open;
  Token last;                      // that is no comment
  Token::Kind block = Token::Name; // of the last statement with braces
  // Original and new columns: of this line, of the statement's line and of the
  // comment at the end of the previous line.
  unsigned lineColumn = 0, lineIndent = 0;
  unsigned statementColumn = 0, statementIndent = 0;
  int commentColumn = -1, commentIndent = -1;
};

} // namespace

static unsigned characters(StringRef text) {
  return count_if(text, [](char c) { return (c & 0xc0) != 0x80; });
}

static bool endsOperand(const Token &token) {
  return token.isAny(Token::Name, Token::Integer, Token::Real, Token::String) ||
         token.isAny(Token::ParenClose, Token::BracketClose) ||
         token.isAny(Token::keyword_true, Token::keyword_false,
                     Token::keyword_inf);
}

static StringRef textOf(const Token &token) {
  return StringRef(token.loc().getPointer(),
                   token.end() - token.loc().getPointer());
}

Formatter::Formatter(StringRef text, Diagnostics &diagnostics) {
  Lexer lexer(text, diagnostics, /*keepComments=*/true);
  const char *at = text.begin();
  unsigned column = 0, newlines = 0;
  while (true) {
    Token token = lexer.next();
    unsigned endOfLast = column;
    for (const char *begin = token.loc().getPointer(); at != begin; ++at)
      if (*at == '\n') {
        column = 0;
        ++newlines;
      } else if (*at == '\t') {
        column += 8 - column % 8;
      } else {
        ++column;
      }
    if (token.is(Token::EndOfFile))
      return;
    pieces.push_back({token, column, column - (newlines ? 0 : endOfLast),
                      newlines > 1 && !pieces.empty()});
    newlines = 0;
    column += characters(textOf(token));
    at = token.end();
  }
}

std::string Formatter::run() {
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i == 0 || pieces[i].token.newlineBefore)
      beginLine(i);
    else
      place(i);
    count(pieces[i].token);
  }
  out += line;
  out += '\n';
  return std::move(out);
}

/// Returns whether the last token continues the statement on the next line.
bool Formatter::isContinued() const {
  if (inBrackets())
    return true;
  return last.isBinaryOperator() ||
         (last.is(Token::Comma) && !in(Bracket::Options));
}

void Formatter::beginLine(size_t i) {
  const Piece &piece = pieces[i];
  bool isComment = piece.token.is(Token::Comment);
  if (i > 0)
    out += line + (piece.blankBefore ? "\n\n" : "\n");
  line.clear();

  unsigned depth = count_if(open, [](Bracket bracket) {
    return bracket == Bracket::Def || bracket == Bracket::Options;
  });
  if (piece.token.is(Token::BraceClose) && !inBrackets())
    --depth;
  lineColumn = piece.column;
  lineIndent = 2 * depth;
  if (isComment && int(piece.column) == commentColumn && !piece.blankBefore) {
    lineIndent = commentIndent;
  } else if (isContinued()) {
    int shifted = int(piece.column) - int(statementColumn);
    lineIndent = statementIndent + std::max(2, shifted);
  } else if (!isComment) {
    statementColumn = lineColumn;
    statementIndent = lineIndent;
  }
  if (!isComment)
    commentColumn = -1;
  line.assign(lineIndent, ' ');
  width = lineIndent;
  StringRef text = textOf(piece.token);
  line += isComment ? text.rtrim() : text;
  width += characters(text);
}

void Formatter::place(size_t i) {
  const Piece &piece = pieces[i];
  bool isComment = piece.token.is(Token::Comment);
  unsigned gap = gapBefore(i);
  if (isComment || (piece.gap > 1 && isAlignable(i))) {
    // The original position, relative to the start of the line.
    int column = int(lineIndent) + int(piece.column) - int(lineColumn);
    gap = std::max(gap, unsigned(std::max(column - int(width), 0)));
  }
  line.append(gap, ' ');
  width += gap;
  if (isComment) {
    commentColumn = piece.column;
    commentIndent = width;
  }
  StringRef text = textOf(piece.token);
  line += isComment ? text.rtrim() : text;
  width += characters(text);
}

bool Formatter::isUnary(size_t i) const {
  if (!pieces[i].token.is(Token::Minus))
    return false;
  while (i > 0 && pieces[i - 1].token.is(Token::Comment))
    --i;
  return i == 0 || !endsOperand(pieces[i - 1].token);
}

/// Returns whether an arithmetic operator has spaces around it: the author's
/// choice, the same on both sides.
bool Formatter::isSpaced(size_t i) const {
  return pieces[i].gap > 0 || i + 1 == pieces.size() || pieces[i + 1].gap > 0 ||
         pieces[i + 1].token.newlineBefore || pieces[i].token.newlineBefore;
}

/// The spaces between a token and the one before it on its line.
unsigned Formatter::gapBefore(size_t i) const {
  const Token &before = pieces[i - 1].token, &token = pieces[i].token;
  auto isArithmetic = [](const Token &token) {
    return token.isAny(Token::Plus, Token::Minus, Token::Star, Token::Slash,
                       Token::SlashSlash);
  };
  if (token.is(Token::Comment))
    return pieces[i].gap == 1 ? 1 : 2;
  if (token.isAny(Token::Comma, Token::Semicolon, Token::Dot, Token::ParenClose,
                  Token::BracketClose) ||
      before.isAny(Token::Dot, Token::ParenOpen, Token::BracketOpen) ||
      token.is(Token::Caret) || before.is(Token::Caret))
    return 0;
  if (in(Bracket::Labels) &&
      (token.is(Token::BraceClose) || before.is(Token::BraceOpen)))
    return 0;
  if (token.isAny(Token::ParenOpen, Token::BracketOpen) && endsOperand(before))
    return 0;
  if (token.is(Token::BraceClose) && before.is(Token::BraceOpen))
    return 0;
  if (isUnary(i - 1))
    return 0;
  if (isArithmetic(before))
    return isSpaced(i - 1);
  if (isArithmetic(token) && !isUnary(i))
    return isSpaced(i);
  if (before.is(Token::Comma) && in(Bracket::Square))
    return pieces[i].gap > 0;
  return 1;
}

bool Formatter::isAlignable(size_t i) const {
  if (inBrackets())
    return false;
  const Token &before = pieces[i - 1].token, &token = pieces[i].token;
  auto isWord = [](const Token &token) {
    return token.is(Token::Name) || token.isKeyword();
  };
  return token.isAny(Token::Equal, Token::Tilde, Token::Colon,
                     Token::BraceOpen) ||
         before.is(Token::Semicolon) ||
         (isWord(token) &&
          !before.isAny(Token::Equal, Token::Tilde, Token::Colon,
                        Token::Comma) &&
          gapBefore(i) > 0 && !before.isBinaryOperator());
}

/// Tracks the brackets.
void Formatter::count(const Token &token) {
  switch (token.kind) {
  case Token::Comment:
    return;
  case Token::keyword_def:
  case Token::keyword_train:
  case Token::keyword_decode:
    block = token.kind;
    break;
  case Token::ParenOpen:
    open.push_back(Bracket::Paren);
    break;
  case Token::BracketOpen:
    open.push_back(Bracket::Square);
    break;
  case Token::BraceOpen:
    open.push_back(last.is(Token::keyword_in)    ? Bracket::Labels
                   : block == Token::keyword_def ? Bracket::Def
                                                 : Bracket::Options);
    break;
  case Token::ParenClose:
  case Token::BracketClose:
  case Token::BraceClose:
    open.pop_back();
    break;
  default:
    break;
  }
  last = token;
}

std::string fovea::formatSource(StringRef text, Diagnostics &diagnostics) {
  unsigned before = diagnostics.numErrors();
  for (StringRef rest = text; !rest.empty();)
    rest = parse(rest, diagnostics)->rest;
  if (diagnostics.numErrors() != before)
    return "";
  return Formatter(text, diagnostics).run();
}
