//===- Hover.cpp - what is shown of a name --------------------------------===//
//
// The shape and kind of a name, how the decoder treats it, and the equations
// that define it, as written.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/syntax/Lexer.h"
#include "server/Answers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace fovea;
using namespace fovea::editors;
using ast::Statement;
using ast::StatementKind;
using llvm::StringRef;
namespace lsp = llvm::lsp;

/// More lines hide what one looks at.
static constexpr size_t mostLines = 24;
static constexpr size_t mostMembers = 12;

static StringRef wordOf(Declaration::Kind kind) {
  switch (kind) {
  case Declaration::Model:
    return "model";
  case Declaration::Dim:
    return "dim";
  case Declaration::Const:
    return "const";
  case Declaration::Vocabulary:
    return "vocabulary";
  case Declaration::Data:
    return "data";
  case Declaration::Length:
    return "length";
  case Declaration::Param:
    return "parameter";
  case Declaration::Def:
    return "def";
  case Declaration::Size:
    return "size of a def";
  case Declaration::Argument:
    return "argument of a def";
  case Declaration::Equation:
    return "equation";
  case Declaration::Index:
    return "index";
  case Declaration::Import:
    return "import";
  case Declaration::Label:
    return "label";
  }
  llvm_unreachable("every kind is listed");
}

static StringRef textOf(const Statement &statement) {
  const char *begin = statement.range.Start.getPointer();
  return StringRef(begin, statement.range.End.getPointer() - begin);
}

/// The lines of comment just above a place.
static std::string commentAbove(const Lines &lines, const char *place) {
  int line = lines.positionOf(place - lines.text().begin()).line;
  std::vector<std::string> comment;
  while (--line >= 0) {
    StringRef text = lines.line(line).trim();
    if (!text.consume_front("#"))
      break;
    text.consume_front(" ");
    comment.insert(comment.begin(), text.str());
  }
  return llvm::join(comment, "  \n");
}

/// The statements that give a name, each once, in the order of their file.
static std::vector<const Statement *> derivationOf(const Analysis &analysis,
                                                   const Declaration &name) {
  std::vector<const Statement *> result;
  auto add = [&](llvm::ArrayRef<Statement *> statements) {
    for (const Statement *s : statements) {
      bool gives = llvm::any_of(s->lefts, [&](const ast::Left &left) {
        return left.name == name.name;
      });
      if (gives && (s->kind == StatementKind::Equation ||
                    s->kind == StatementKind::Choice))
        result.push_back(s);
    }
  };
  if (name.def)
    add(name.def->body);
  else
    add(analysis.names().files()[name.file].ast->statements);
  return result;
}

static void addCode(std::string &out, StringRef code) {
  llvm::SmallVector<StringRef> lines;
  code.split(lines, '\n');
  out += "```fovea\n";
  for (StringRef line : llvm::ArrayRef(lines).take_front(mostLines))
    out += line.rtrim().str() + "\n";
  if (lines.size() > mostLines)
    out += "# ..\n";
  out += "```\n";
}

/// `align: [T, S] of real`
static void addFacts(std::string &out, const Analysis &analysis,
                     const Declaration &name) {
  auto facts = analysis.factsOf(name);
  size_t count = 0;
  for (const SpecFacts::ArrayFact *fact : facts) {
    if (count++ == mostMembers) {
      out += "and " + std::to_string(facts.size() - mostMembers) + " more  \n";
      break;
    }
    out += "`" + fact->name + "`: `" + fact->shape + "`";
    if (!fact->kind.empty() && fact->shape != "number")
      out += " of " + fact->kind;
    else if (!fact->kind.empty() && fact->kind != "real")
      out += ", " + fact->kind;
    out += "  \n";
  }
}

static std::string describeName(const Analysis &analysis,
                                const Declaration &name) {
  const Lines &lines = analysis.linesOf(name.file);
  std::string out = "**" + name.name.str() + "**: " + wordOf(name.kind).str();
  if (name.file == 0 && name.kind == Declaration::Def)
    out += " of the prelude";
  else if (name.file != analysis.file())
    out += " of " +
           (name.file == 0
                ? "the prelude"
                : llvm::sys::path::filename(analysis.pathOf(name.file)).str());
  out += "\n\n";
  switch (name.kind) {
  case Declaration::Model: {
    std::string comment = commentAbove(lines, name.name.begin());
    return out + comment;
  }
  case Declaration::Index: {
    if (const SpecFacts::IndexFact *fact = analysis.indexFactOf(name)) {
      out += "`" + fact->name + " < " + fact->extent + "`";
      if (!fact->origin.empty())
        out += ", from `" + fact->origin + "`";
    }
    return out;
  }
  case Declaration::Dim: {
    auto value = analysis.dims().find(name.name.str());
    if (!name.def && value != analysis.dims().end())
      out += "`" + name.name.str() + " = " + std::to_string(value->second) +
             "`\n\n";
    addCode(out, textOf(*name.statement));
    return out;
  }
  case Declaration::Def: {
    std::string comment = commentAbove(lines, name.statement->loc.getPointer());
    if (!comment.empty())
      out += comment + "\n\n";
    addCode(out, textOf(*name.statement));
    return out;
  }
  case Declaration::Length: {
    if (name.statement->kind == StatementKind::Data)
      out += "free: it differs between examples\n\n";
    addCode(out, textOf(*name.statement));
    return out;
  }
  case Declaration::Equation:
  case Declaration::Data: {
    addFacts(out, analysis, name);
    if (StringRef step = analysis.stepOf(name.name);
        !step.empty() && !name.def && name.file == analysis.file())
      out += "in decoding: " + step.str() + "\n";
    out += "\n";
    std::string code;
    if (name.kind == Declaration::Data)
      code = textOf(*name.statement).str();
    for (const Statement *s : derivationOf(analysis, name))
      code += (code.empty() ? "" : "\n") + textOf(*s).str();
    addCode(out, code);
    return out;
  }
  case Declaration::Param:
    addFacts(out, analysis, name);
    out += "\n";
    break;
  default:
    break;
  }
  if (name.statement && name.statement->kind != StatementKind::Def)
    addCode(out, textOf(*name.statement));
  else if (name.statement)
    addCode(out, textOf(*name.statement).split('{').first.rtrim());
  return out;
}

/// What a word of the language computes; empty where it is none.
static std::string describeBuiltin(StringRef word) {
  struct Builtin {
    StringRef word, form, formula;
  };
  static constexpr Builtin builtins[] = {
#define BUILTIN(word, form, formula) {word, form, formula},
#include "server/Builtins.def"
  };
  for (const Builtin &builtin : builtins)
    if (builtin.word == word)
      return ("**" + word + "**: builtin\n\n```fovea\n" + builtin.form +
              "\n```\n" + builtin.formula + "\n")
          .str();
  return "";
}

/// The word around a place; empty in a comment, in a string and after a dot.
static StringRef wordAround(const Lines &lines, size_t offset) {
  StringRef text = lines.text();
  size_t begin = text.take_front(offset).rfind('\n') + 1;
  Diagnostics silent(llvm::nulls());
  Lexer lexer(text.drop_front(begin).split('\n').first, silent);
  bool isMember = false;
  for (Token token = lexer.next(); !token.is(Token::EndOfFile);
       token = lexer.next()) {
    size_t at = token.text.begin() - text.begin();
    if (at <= offset && offset <= at + token.text.size() &&
        (token.is(Token::Name) || token.isKeyword()) && !isMember)
      return token.text;
    isMember = token.is(Token::Dot);
  }
  return "";
}

std::optional<lsp::Hover>
fovea::editors::hoverAt(const Analysis &analysis,
                        const lsp::Position &position) {
  const Lines &lines = analysis.lines();
  size_t offset = lines.offsetOf(position);
  const Occurrence *name = analysis.names().at(lines.text().begin() + offset);
  if (!name || !lines.contains(name->text.begin())) {
    StringRef word = wordAround(lines, offset);
    std::string text = describeBuiltin(word);
    if (text.empty())
      return std::nullopt;
    lsp::Hover hover(lines.rangeOf(word));
    hover.contents.kind = lsp::MarkupKind::Markdown;
    hover.contents.value = text;
    return hover;
  }
  lsp::Hover hover(lines.rangeOf(name->text));
  hover.contents.kind = lsp::MarkupKind::Markdown;
  hover.contents.value = llvm::json::fixUTF8(describeName(
      analysis, analysis.names().declarations()[name->declaration]));
  return hover;
}
