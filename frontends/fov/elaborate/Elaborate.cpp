//===- Elaborate.cpp - the names of a model -------------------------------===//
//
// Declares what the statements of a file name and runs the other parts of
// elaboration over them. Right sides are elaborated when every name is known,
// so that the order of statements is free.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Elaborate.h"
#include "frontends/fov/Options.h"
#include "llvm/ADT/StringExtras.h"

using namespace fovea;
using namespace fovea::fov;
using ast::Statement;
using ast::StatementKind;

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

Symbol *Elaborator::declare(Scope &scope, StringRef name, Symbol symbol) {
  auto [it, inserted] = scope.symbols.try_emplace(name, symbol);
  if (inserted)
    return &it->second;
  error(symbol.loc, "'" + name.str() + "' is declared twice",
        {{it->second.loc, "it is first declared here"}});
  return nullptr;
}

Symbol *Elaborator::lookup(Scope &scope, StringRef name) {
  for (Scope *s = &scope; s; s = s->parent) {
    auto it = s->symbols.find(name);
    if (it == s->symbols.end())
      continue;
    Symbol &symbol = it->second;
    // A def is closed: outside it only other defs are seen.
    if (s != &scope && scope.isCall && symbol.kind != Symbol::Def)
      continue;
    if (symbol.kind == Symbol::Unread) {
      readName(*symbol.statement, symbol, *s);
    } else if (symbol.kind == Symbol::Reading) {
      error(symbol.loc, "'" + name.str() + "' is defined by itself");
      symbol.kind = Symbol::Mistake;
    }
    return &symbol;
  }
  return nullptr;
}

/// A def is closed: how it gets what the file calls `name`.
static std::string wayInto(const Statement &def, StringRef name,
                           const Symbol &symbol) {
  bool isRead = symbol.kind == Symbol::Unread && symbol.statement;
  bool isSize = symbol.kind == Symbol::Size || symbol.kind == Symbol::Number ||
                (isRead && (symbol.statement->kind == StatementKind::Dim ||
                            symbol.statement->kind == StatementKind::Const));
  std::vector<std::string> sizes(def.sizes.begin(), def.sizes.end()), arguments;
  for (const ast::Parameter &parameter : def.parameters)
    arguments.push_back(parameter.name.str());
  (isSize ? sizes : arguments).push_back(name.str());
  std::string text = "; make it one of its " +
                     std::string(isSize ? "sizes" : "arguments") + ": def " +
                     def.name.str();
  if (!sizes.empty())
    text += "(" + llvm::join(sizes, ", ") + ")";
  return text + "(" + llvm::join(arguments, ", ") + ")";
}

/// With more names than these a list of all helps nobody.
static constexpr size_t mostListed = 8;

void Elaborator::undefined(StringRef name, SMLoc loc, Scope &scope,
                           const Bindings *bindings, WordPlace place) {
  if (!missing.insert({&scope, name.str()}).second)
    return;
  std::string text = "'" + name.str() + "' is not defined";
  if (diagnostics.isFull())
    return error(loc, text);
  if (underTreatment &&
      llvm::any_of(underTreatment->places, [&](const PiecePlace &at) {
        return at.var && at.var->name == name;
      }))
    return error(loc,
                 "'" + name.str() + "' is an index of '" +
                     underTreatment->target->name +
                     "', and there is none here; give what is meant for all "
                     "places at once, as a name that an equation defines",
                 {{underTreatment->loc, "it is an index here"}});
  if (scope.def)
    for (Scope *s = scope.parent; s; s = s->parent) {
      auto it = s->symbols.find(name);
      if (it != s->symbols.end())
        return error(
            loc,
            text + " inside of a def" + wayInto(*scope.def, name, it->second),
            {{it->second.loc, "it is defined here, outside of the def"}});
    }
  std::vector<std::string> names;
  std::vector<SMLoc> locs;
  for (const Bindings *b = bindings; b; b = b->outer) {
    names.push_back(b->name.str());
    locs.push_back({});
  }
  size_t numOwn = 0;
  for (Scope *s = &scope; s; s = s->parent)
    for (auto &entry : s->symbols) {
      if (s != &scope && entry.second.kind != Symbol::Def)
        continue;
      numOwn += s == &scope;
      names.push_back(entry.first().str());
      locs.push_back(s == preludeScope ? SMLoc() : entry.second.loc);
    }
  std::vector<StringRef> candidates(names.begin(), names.end());
  llvm::append_range(candidates, builtinNames());
  StringRef near = nearest(name, candidates);
  std::string ours = ourWord(name, place);
  std::vector<Diagnostics::Note> notes;
  // A name of the model that is near is meant before a word of others.
  auto it = llvm::find(names, near);
  SMLoc found =
      near.empty() || it == names.end() ? SMLoc() : locs[it - names.begin()];
  if (!ours.empty() && !found.isValid()) {
    text += ours;
  } else if (!near.empty()) {
    text += "; did you mean '" + near.str() + "'";
    if (found.isValid()) {
      text += " (" + diagnostics.lineText(found, loc) + ")";
      notes.push_back({found, "'" + near.str() + "' is defined here"});
    }
    text += "?";
  } else if (place == WordPlace::Module) {
    text +=
        "; there are linear, embedding, gru, lstm, rnn, layer_norm, conv1d, "
        "conv2d, .. and what 'def' defines";
  } else if (numOwn > 0 && numOwn <= mostListed) {
    std::vector<std::string> own;
    for (auto &entry : scope.symbols)
      own.push_back(entry.first().str());
    llvm::sort(own);
    text += "; there " + std::string(numOwn == 1 ? "is " : "are ") +
            llvm::join(own, ", ");
  }
  error(loc, text, std::move(notes));
}

/// A letter that is no name here.
StringRef Elaborator::freeLetter(Scope &scope, const Bindings *bindings) {
  static constexpr StringRef letters[] = {"j", "k", "u", "v", "m", "n",
                                          "p", "q", "r", "a", "b", "c"};
  for (StringRef letter : letters) {
    bool bound = false;
    for (const Bindings *b = bindings; b; b = b->outer)
      bound |= b->name == letter;
    if (!bound && !scope.symbols.count(letter))
      return letter;
  }
  return "j";
}

/// An index with the name of something else (GRAMMAR 8.21).
void Elaborator::indexNamed(StringRef name, SMLoc loc, const Symbol &symbol,
                            Scope &scope, const Bindings *bindings) {
  if (symbol.kind == Symbol::Mistake)
    return;
  bool isEquation = symbol.kind == Symbol::Let ||
                    (symbol.family && symbol.family->isEquation);
  error(loc,
        "index '" + name.str() + "' has the name of the " +
            (isEquation                               ? "equation "
             : symbol.family && symbol.family->isData ? "data "
             : symbol.family                          ? "param "
             : symbol.kind == Symbol::Value           ? "argument "
                                                      : "declaration ") +
            name.str() + " (" + diagnostics.lineText(symbol.loc, loc) +
            "); use another letter, for example '" +
            freeLetter(scope, bindings).str() + "'",
        {{symbol.loc, "'" + name.str() + "' is defined here"}});
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Elaborator::declareEquations(const Statements &statements, Scope &scope) {
  for (const Statement *s : statements) {
    if (s->kind != StatementKind::Equation && s->kind != StatementKind::Choice)
      continue;
    for (auto [component, left] : llvm::enumerate(s->lefts)) {
      // Inside a call an equation without places is a name for its value.
      if (scope.isCall && left.places.empty()) {
        Symbol let{Symbol::Let, left.loc};
        let.statement = s;
        let.component = component;
        declare(scope, left.name, let);
        continue;
      }
      auto it = scope.symbols.find(left.name);
      if (it != scope.symbols.end()) {
        Family *family = it->second.family;
        if (it->second.kind == Symbol::Mistake || (family && family->isData))
          continue;
        if (!family || !family->isEquation) {
          error(left.loc, "'" + left.name.str() + "' is declared twice",
                {{it->second.loc, "it is first declared here"}});
          continue;
        }
        if (family->isStatic.size() != left.places.size())
          error(left.loc,
                "'" + left.name.str() + "' has " +
                    counted(left.places.size(), "index") + " here but " +
                    std::to_string(family->isStatic.size()) + " elsewhere",
                {{family->loc, "its first equation stands here"}});
        continue;
      }
      Family *family = &families.emplace_back();
      family->name = scope.prefix + left.name.str();
      family->loc = left.loc;
      family->isEquation = true;
      family->isStatic.resize(left.places.size());
      family->extents.resize(left.places.size());
      Symbol symbol{Symbol::Equations, left.loc};
      symbol.family = family;
      declare(scope, left.name, symbol);
    }
  }
}

/// Makes every name of the declarations known; they are read when needed.
void Elaborator::registerNames(const Statements &statements, Scope &scope) {
  for (const Statement *s : statements) {
    StringRef name = s->name;
    Symbol symbol{Symbol::Unread, s->nameLoc};
    symbol.statement = s;
    switch (s->kind) {
    case StatementKind::Def:
      symbol.kind = Symbol::Def;
      break;
    case StatementKind::Data:
      // A name that the importing model gives is bound already.
      if (auto it = scope.symbols.find(s->array.name);
          it != scope.symbols.end() && it->second.isBound)
        continue;
      name = s->array.name;
      symbol.loc = s->array.loc;
      break;
    case StatementKind::Length:
      symbol.kind = Symbol::LengthFamily;
      if (auto it = scope.symbols.find(name);
          it != scope.symbols.end() &&
          it->second.kind == Symbol::LengthFamily) {
        it->second.lengths.push_back(s);
        continue;
      }
      symbol.lengths.push_back(s);
      break;
    case StatementKind::Vocab:
      if (auto it = scope.symbols.find(name);
          it != scope.symbols.end() && it->second.isBound)
        continue;
      break;
    case StatementKind::Dim:
    case StatementKind::Const:
      break;
    default:
      continue;
    }
    declare(scope, name, symbol);
  }
}

void Elaborator::declareAll(const Statements &statements, Scope &scope) {
  // Data first: its axes are the lengths that others speak of.
  for (bool isData : {true, false})
    for (const Statement *s : statements) {
      if ((s->kind == StatementKind::Data) != isData)
        continue;
      auto it = scope.symbols.find(isData ? s->array.name : s->name);
      if (it != scope.symbols.end() && it->second.kind == Symbol::Unread &&
          it->second.statement == s)
        readName(*s, it->second, scope);
    }
  if (!scope.instance)
    for (const Statement *s : statements)
      if (s->kind == StatementKind::Param)
        declareParam(*s, scope);
  declareEquations(statements, scope);
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Declares and elaborates the statements of a model or of an import.
void Elaborator::declareModel(const Program &program,
                              const Statements &statements, Scope &scope) {
  registerNames(statements, scope);
  SmallVector<const Program::Import *> imports;
  findImports(program, imports);
  if (!imports.empty()) {
    // Data first: imports bind to it. Data whose vocabulary an import owns
    // (`sentence of lm.word.vocab`) has one of its own until then.
    for (const Statement *s : statements) {
      if (s->kind != StatementKind::Data)
        continue;
      auto it = scope.symbols.find(s->array.name);
      if (it != scope.symbols.end() && it->second.kind == Symbol::Unread &&
          it->second.statement == s)
        readData(*s, it->second, scope,
                 s->type.of && s->type.of->kind == ast::ExprKind::Member);
    }
    for (const Program::Import *import : imports)
      declareImport(*import, statements, scope);
    for (const Statement *s : statements)
      if (s->kind == StatementKind::Data && s->type.of &&
          s->type.of->kind == ast::ExprKind::Member)
        adoptVocabulary(program, *s, scope);
  }
  declareAll(statements, scope);
  if (scope.prefix.empty())
    readBlocks(statements, scope);
  findStaticIndices(statements, scope);
  elaborateAll(statements, scope);
}

void Elaborator::checkOverrides() {
  std::vector<StringRef> known(keys.begin(), keys.end());
  for (const auto &[key, text] : overrides)
    if (!keys.count(key))
      error({}, "--set " + key +
                    ": the spec has no dim, const or vocabulary of this name" +
                    suggestion(key, known));
}

std::unique_ptr<Elaborated> Elaborator::run(const Program &program) {
  model->name = program.file->model.str();
  preludeScope = &scopes.emplace_back();
  Statements preludeStatements(prelude.file->statements.begin(),
                               prelude.file->statements.end());
  registerNames(preludeStatements, *preludeScope);

  Scope *top = &scopes.emplace_back();
  top->parent = preludeScope;
  declareModel(program, flatten(program), *top);
  elaborateMarks(*top);
  for (const Choice &choice : model->choices)
    choice.target->generated = !choice.latent;
  elaborateTreatments(*top);
  checkLatents();
  if (!model->decoding) {
    checkOverrides();
    warnOfSlips(program);
  }
  return std::move(model);
}
