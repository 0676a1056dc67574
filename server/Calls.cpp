//===- Calls.cpp - the call that is being typed ---------------------------===//
//
// The sizes and arguments of the def that a call is of. The call has no end
// yet, so that the parser has no tree of it: its brackets are found in the
// words before the place.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/syntax/Lexer.h"
#include "server/Answers.h"

#include "llvm/ADT/StringExtras.h"

using namespace fovea;
using namespace fovea::editors;
using ast::Statement;
using llvm::StringRef;
namespace lsp = llvm::lsp;

namespace {

/// What is called, and which of its lists in parentheses comes next:
/// `f(sizes)(arguments)`.
struct Callee {
  StringRef name; // empty: nothing that can be called
  unsigned list = 0;
};

/// A bracket without its end.
struct Open {
  Token::Kind bracket;
  Callee callee;
  unsigned commas = 0;
  const char *last; // where the last argument begins
};

/// The text of a signature, and the places of its parameters in it.
struct Head {
  std::string text;
  std::vector<std::pair<StringRef, lsp::ParameterInformation>> parameters;
};

} // namespace

/// The brackets that are open at the end of `text`.
static std::vector<Open> openIn(StringRef text) {
  std::vector<Open> open;
  Diagnostics silent(llvm::nulls());
  Lexer lexer(text, silent);
  Callee callee;
  bool isMember = false;
  for (Token token = lexer.next(); !token.is(Token::EndOfFile);
       token = lexer.next()) {
    if (token.newlineBefore && token.beginsStatement())
      open.clear();
    Callee before = std::exchange(callee, Callee());
    if (token.is(Token::Name) && !isMember)
      callee = {token.text};
    isMember = token.is(Token::Dot);
    if (token.isAny(Token::ParenOpen, Token::BracketOpen, Token::BraceOpen)) {
      open.push_back({token.kind, before, 0, token.end()});
    } else if (token.isAny(Token::ParenClose, Token::BracketClose,
                           Token::BraceClose)) {
      if (open.empty())
        continue;
      Open closed = open.back();
      open.pop_back();
      callee = closed.callee;
      callee.list += closed.bracket == Token::ParenOpen;
    } else if (token.is(Token::Comma) && !open.empty()) {
      ++open.back().commas;
      open.back().last = token.end();
    }
  }
  return open;
}

/// The name in `NAME = ..`, or nothing.
static StringRef nameOf(StringRef argument) {
  Diagnostics silent(llvm::nulls());
  Lexer lexer(argument, silent);
  Token name = lexer.next();
  return name.is(Token::Name) && lexer.next().is(Token::Equal) ? name.text
                                                               : StringRef();
}

static StringRef textOf(const ast::Expr &expr) {
  const char *begin = expr.range.Start.getPointer();
  return StringRef(begin, expr.range.End.getPointer() - begin);
}

static void add(Head &head, StringRef name, const std::string &text) {
  if (head.text.back() != '(')
    head.text += ", ";
  lsp::ParameterInformation parameter;
  unsigned begin = head.text.size();
  head.text += text;
  parameter.labelOffsets = {begin, unsigned(head.text.size())};
  head.parameters.emplace_back(name, std::move(parameter));
}

/// `conv1d(C, H, pad = 0)(x[m])`
static Head headOf(const Statement &def) {
  Head head;
  head.text = def.name.str();
  if (def.hasSizes) {
    head.text += "(";
    for (size_t i = 0; i < def.sizes.size(); ++i) {
      const ast::Expr *value = def.sizeValues[i];
      add(head, def.sizes[i],
          def.sizes[i].str() + (value ? " = " + textOf(*value).str() : ""));
    }
    head.text += ")";
  }
  head.text += "(";
  for (const ast::Parameter &parameter : def.parameters) {
    std::vector<StringRef> shape;
    for (const ast::Expr *size : parameter.shape)
      shape.push_back(textOf(*size));
    add(head, parameter.name,
        parameter.name.str() +
            (parameter.hasShape ? "[" + llvm::join(shape, ", ") + "]" : ""));
  }
  head.text += ")";
  return head;
}

/// The place of an argument among all parameters; nothing where the call has
/// more arguments than the def.
static std::optional<unsigned> placeIn(const Head &head, const Statement &def,
                                       bool isArgument, const Open &call,
                                       StringRef argument) {
  unsigned sizes = def.hasSizes ? def.sizes.size() : 0;
  unsigned begin = isArgument ? sizes : 0;
  unsigned end = isArgument ? head.parameters.size() : sizes;
  StringRef name = nameOf(argument);
  for (unsigned i = begin; i < end; ++i)
    if (head.parameters[i].first == name)
      return i;
  unsigned place = begin + call.commas;
  return place < end ? std::optional(place) : std::nullopt;
}

std::optional<lsp::SignatureHelp>
fovea::editors::signatureAt(const Analysis &analysis,
                            const lsp::Position &position) {
  const Lines &lines = analysis.lines();
  StringRef before = lines.text().take_front(lines.offsetOf(position));
  std::vector<Open> open = openIn(before);
  while (!open.empty() && (open.back().bracket != Token::ParenOpen ||
                           open.back().callee.name.empty()))
    open.pop_back();
  if (open.empty())
    return std::nullopt;
  const Open &call = open.back();
  const Names &names = analysis.names();
  for (unsigned i : names.visibleAt(analysis.file(), before.end())) {
    const Declaration &callee = names.declarations()[i];
    const Statement *def =
        callee.name == call.callee.name ? names.defOf(i) : nullptr;
    if (!def)
      continue;
    // An instance has its sizes.
    bool hasSizes = def->hasSizes && callee.kind == Declaration::Def;
    Head head = headOf(*def);
    std::optional<unsigned> place =
        placeIn(head, *def, call.callee.list == hasSizes, call,
                StringRef(call.last, before.end() - call.last));
    if (!place || call.callee.list > hasSizes)
      return std::nullopt;
    lsp::SignatureHelp help;
    lsp::SignatureInformation &signature = help.signatures.emplace_back();
    signature.label = head.text;
    for (auto &[name, parameter] : head.parameters)
      signature.parameters.push_back(parameter);
    help.activeParameter = *place;
    return help;
  }
  return std::nullopt;
}
