//===- ParserImpl.h - the recursive-descent parser of .fov ----------------===//
//
// One method per rule of the grammar (docs/LANGUAGE.md). A failing method has
// reported the error, and returns null or false; then the statement loop skips
// to the likely start of the next one. Private to the parser's files.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_FOV_SYNTAX_PARSERIMPL_H
#define FOVEA_FRONTENDS_FOV_SYNTAX_PARSERIMPL_H

#include "frontends/fov/syntax/Ast.h"
#include "frontends/fov/syntax/Lexer.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/SaveAndRestore.h"

namespace fovea {

class Parser {
public:
  Parser(llvm::StringRef text, ast::File &file, Diagnostics &diagnostics);

  /// file = "model" NAME { statement }
  void parseFile();

private:
  using Kind = Token::Kind;
  using Expr = ast::Expr;
  using Statement = ast::Statement;
  using Statements = llvm::SmallVectorImpl<Statement *>;
  template <typename T> using List = llvm::SmallVector<T, 4>;

  //===--------------------------------------------------------------------===//
  // Tokens (Parser.cpp)
  //===--------------------------------------------------------------------===//

  /// Consumes the current token, and counts brackets that it opens or closes: a
  /// newline outside of ( and [ becomes a separate token.
  Token advance();
  bool at(Kind kind) const { return token.is(kind); }
  bool take(Kind kind);
  bool atStatementEnd() const;

  //===--------------------------------------------------------------------===//
  // Errors (Parser.cpp)
  //===--------------------------------------------------------------------===//

  /// Reports an error and returns null.
  std::nullptr_t fail(Code code, llvm::SMLoc loc, const llvm::Twine &text,
                      std::vector<Diagnostics::Note> notes = {});
  /// "expected WHAT, found TOKEN". For a name that resembles a grammar word
  /// that fits here, suggests that word. For a Bad token, explains it
  /// instead.
  std::nullptr_t expected(const llvm::Twine &what,
                          llvm::ArrayRef<llvm::StringRef> words = {});
  llvm::SMLoc gap() const;
  std::string found() const;
  std::string foreignHelp() const;
  bool expect(Kind kind, const llvm::Twine &what);
  /// The bracket that closes `open`.
  bool close(Kind kind, const Token &open);
  /// A NAME for `what`, for example "a name".
  bool name(llvm::StringRef &name, llvm::SMLoc &loc, const llvm::Twine &what);
  /// The same for a declared or defined name: not a reducer.
  bool newName(llvm::StringRef &name, llvm::SMLoc &loc,
               const llvm::Twine &what);
  bool isDefinable(llvm::StringRef name, llvm::SMLoc loc);

  /// The start of a statement or an entry, to find the start of the next one.
  struct Begin {
    size_t depth;    // open brackets
    size_t braces;   // of them, braces
    uint32_t column; // of its line
    const char *at;
  };
  Begin begin();
  /// Skips the rest of a wrong statement (`commaEnds`: of an entry of train or
  /// decode).
  void skip(const Begin &begin, bool commaEnds);

  //===--------------------------------------------------------------------===//
  // Nodes (Parser.cpp)
  //===--------------------------------------------------------------------===//

  /// Copies a list into the arena.
  template <typename T>
  llvm::ArrayRef<T> keep(const llvm::SmallVectorImpl<T> &list) {
    return llvm::ArrayRef<T>(list).copy(file.arena);
  }
  /// An expression from `begin` to the last consumed token.
  Expr *create(ast::ExprKind kind, llvm::SMLoc loc, const char *begin,
               llvm::ArrayRef<Expr *> args = {});
  /// Measures `expr`; reports and returns null if it is too high.
  Expr *finish(Expr *expr);
  /// Returns whether the parser may recurse once more; reports if not.
  bool nest();

  //===--------------------------------------------------------------------===//
  // Statements (ParseStatements.cpp, ParseDeclarations.cpp)
  //===--------------------------------------------------------------------===//

  /// Statements up to the end of the file, or to the } of a def.
  void parseStatements(Statements &out, bool inDef);
  bool parseStatement(Statements &out, bool inDef);
  bool parseConstants(Statements &out, ast::StatementKind kind);
  bool parseVocab(Statements &out);
  bool parseData(Statements &out);
  bool parseParam(Statements &out, bool isState);
  bool parseUpdate(Statements &out);
  bool parseLength(Statements &out);
  bool parseDef(Statements &out);
  bool parseUse(Statements &out);
  bool parseMetric(Statements &out);
  bool parseBlock(Statements &out);
  bool parseEquation(Statements &out, bool guide);
  Statement *create(ast::StatementKind kind, llvm::SMLoc loc);

  /// `example` shows a whole declaration.
  bool parseArrays(llvm::SmallVectorImpl<ast::Array> &arrays,
                   llvm::StringRef example);
  bool parseArray(ast::Array &array);
  bool parseAxis(ast::Axis &axis);
  bool parseType(ast::Type &type);
  bool parseParameters(llvm::SmallVectorImpl<ast::Parameter> &parameters);
  std::string equationHelp(const Token &first, const ast::Left &left) const;
  bool parseLeft(ast::Left &left);
  /// [ "[" place { "," place } "]" ]
  bool parsePlaces(ast::Left &left);
  bool parsePlace(ast::Place &place);
  ast::Entry *parseEntry();
  /// path { call_tail }
  Expr *parseCall(const llvm::Twine &what);
  Expr *parsePath(const llvm::Twine &what);

  //===--------------------------------------------------------------------===//
  // Expressions (ParseExpressions.cpp)
  //===--------------------------------------------------------------------===//

  Expr *parseExpr();
  Expr *parseIf();
  Expr *parseDisjunction();
  Expr *parseConjunction();
  Expr *parseNegation();
  Expr *parseComparison();
  Expr *parseJoined();
  Expr *parseArith();
  Expr *parseTerm();
  Expr *parseUnary();
  Expr *parsePower();
  Expr *parsePostfix();
  Expr *parsePrimary();
  Expr *parseNumber();
  Expr *parseReduce(const Token &name);
  Expr *parseDefault(Expr *read);
  bool parseItems(llvm::ArrayRef<ast::Item> &items);
  bool parseBinder(ast::Binder &binder);
  /// item { "," item }, each parsed by `parseItem` into an element of its own.
  template <typename T, typename ParseItem>
  bool parseList(llvm::SmallVectorImpl<T> &list, ParseItem parseItem) {
    do {
      if (!parseItem(list.emplace_back()))
        return false;
    } while (take(Token::Comma));
    return true;
  }
  /// [ "[" item { "," item } "]" ]
  template <typename T, typename ParseItem>
  bool parseBrackets(llvm::ArrayRef<T> &items, ParseItem parseItem) {
    if (!at(Token::BracketOpen))
      return true;
    Token opening = advance();
    List<T> list;
    if (!parseList(list, parseItem))
      return false;
    items = keep(list);
    return close(Token::BracketClose, opening);
  }
  /// expr { "," expr }
  bool parseExprs(llvm::SmallVectorImpl<Expr *> &list);
  Expr *parseName(const llvm::Twine &what);
  Expr *parseString();

  /// operator operand, from the operator on.
  template <typename Operand>
  Expr *parsePrefix(ast::Op op, Operand parseOperand);
  /// operand { operator operand }, to the left.
  template <typename Operand>
  Expr *parseChain(Operand operand,
                   llvm::ArrayRef<std::pair<Kind, ast::Op>> operators);

  ast::File &file;
  Diagnostics &diagnostics;
  llvm::StringRef text;
  Lexer lexer;
  Token token;         // the current one
  Token following;     // the one after it
  Token previous;      // the last one taken that was no Newline
  const char *lastEnd; // of the last token taken that was no Newline
  uint32_t lineColumn = 0;
  llvm::SmallVector<char> open; // brackets, innermost last
  size_t openBraces = 0;        // of them, braces
  unsigned depth = 0;           // of the parser's own recursion
  size_t taken = 0;             // tokens
};

} // namespace fovea

#endif // FOVEA_FRONTENDS_FOV_SYNTAX_PARSERIMPL_H
