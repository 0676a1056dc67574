//===- Elaborate.cpp - the names of a model -------------------------------===//
//
// Declares the names of a file's statements and runs the other parts of
// elaboration. Right sides are elaborated once every name is known, so
// statements may come in any order.
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
  error(Code::declaredTwice, symbol.loc,
        "'" + name.str() + "' is declared twice",
        {{it->second.loc, "it is first declared here"}});
  return nullptr;
}

Symbol *Elaborator::lookup(Scope &scope, StringRef name) {
  for (Scope *s = &scope; s; s = s->parent) {
    auto it = s->symbols.find(name);
    if (it == s->symbols.end())
      continue;
    Symbol &symbol = it->second;
    // A def is closed: from outside it sees only other defs.
    if (s != &scope && scope.isCall && symbol.kind != Symbol::Def)
      continue;
    if (symbol.kind == Symbol::Unread) {
      readName(*symbol.statement, symbol, *s);
    } else if (symbol.kind == Symbol::Reading) {
      error(Code::definedByItself, symbol.loc,
            "'" + name.str() + "' is defined by itself");
      symbol.kind = Symbol::Mistake;
    }
    return &symbol;
  }
  return nullptr;
}

/// A letter that is not a name here.
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

/// An index with the name of another object (GRAMMAR 8.21).
void Elaborator::indexNamed(StringRef name, SMLoc loc, const Symbol &symbol,
                            Scope &scope, const Bindings *bindings) {
  if (symbol.kind == Symbol::Mistake)
    return;
  bool isEquation = symbol.kind == Symbol::Let ||
                    (symbol.family && symbol.family->isEquation);
  error(Code::indexName, loc,
        "index '" + name.str() + "' has the name of the " +
            (isEquation                               ? "equation "
             : symbol.family && symbol.family->isData ? "data "
             : symbol.family                          ? "param "
             : symbol.kind == Symbol::Value           ? "argument "
                                                      : "declaration ") +
            name.str() + " (" + diagnostics.lineText(symbol.loc, loc) +
            "); help: use another letter, for example '" +
            freeLetter(scope, bindings).str() + "'",
        {{symbol.loc, "'" + name.str() + "' is defined here"}});
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

static std::string textBetween(SMLoc begin, SMLoc end) {
  return {begin.getPointer(), end.getPointer()};
}

/// The left side with fewer places, and the further places of the other one:
/// `S[-1,i,j]` for `S[-1]` and `S[t,i,j]`.
static std::string withMorePlaces(const ast::Left &a, const ast::Left &b) {
  const ast::Left &less = a.places.size() < b.places.size() ? a : b;
  const ast::Left &more = &less == &a ? b : a;
  std::string text;
  for (size_t k = 0; k < more.places.size(); ++k) {
    const ast::Place &place = (k < less.places.size() ? less : more).places[k];
    const ast::Expr &last = place.bound ? *place.bound : *place.value;
    text += (k == 0 ? "" : ",") +
            textBetween(place.value->range.Start, last.range.End);
  }
  return less.name.str() + "[" + text + "]";
}

/// Returns the left side at `loc`.
static const ast::Left *leftAt(ArrayRef<const Statement *> statements,
                               SMLoc loc) {
  for (const Statement *s : statements)
    for (const ast::Left &left : s->lefts)
      if (left.loc == loc)
        return &left;
  return nullptr;
}

void Elaborator::declareEquations(const Statements &statements, Scope &scope) {
  for (const Statement *s : statements) {
    if (s->kind != StatementKind::Equation && s->kind != StatementKind::Choice)
      continue;
    for (auto [component, left] : llvm::enumerate(s->lefts)) {
      // Inside a call, an equation without places names its value.
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
          error(Code::declaredTwice, left.loc,
                "'" + left.name.str() + "' is declared twice",
                {{it->second.loc, "it is first declared here"}});
          continue;
        }
        if (family->isStatic.size() != left.places.size()) {
          const ast::Left *first = leftAt(statements, family->loc);
          error(Code::numberOfIndices, left.loc,
                "'" + left.name.str() + "' has " +
                    counted(left.places.size(), "index") + " here but " +
                    std::to_string(family->isStatic.size()) + " elsewhere" +
                    (first ? "; help: write " + withMorePlaces(*first, left) +
                                 " = .."
                           : ""),
                {{family->loc, "its first equation is here"}});
        }
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

/// Declares every name; the declarations are elaborated on demand.
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
      // A name that the importing model provides is already bound.
      if (auto it = scope.symbols.find(s->array.name);
          it != scope.symbols.end() && it->second.isBound)
        continue;
      name = s->array.name;
      symbol.loc = s->array.loc;
      break;
    case StatementKind::Length:
      if (!s->place.value)
        break;
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
  // Data first: its axes are the lengths that others refer to.
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
    // Data first: imports bind to it. Data whose vocabulary belongs to an
    // import (`sentence of lm.word.vocab`) have a temporary one until then.
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

/// The vocabulary that a --set means which names it without `.vocab`, or names
/// data that has it.
std::string Elaborator::vocabularyMeantBy(StringRef key) const {
  auto [base, part] = key.rsplit('.');
  StringRef name = part == "size" || part == "vocab" ? base : key;
  if (keys.count(name.str() + ".vocab"))
    return name.str();
  for (const Array *data : model->data)
    if (data->name == name && data->vocabulary &&
        keys.count(data->vocabulary->name + ".vocab"))
      return data->vocabulary->name;
  return "";
}

/// The nearest name that --set can override, or all if they are few.
static std::string overrideHelp(StringRef key, ArrayRef<StringRef> known) {
  constexpr size_t most = 12;
  return known.size() > most ? suggestion(key, known)
                             : existing(key, {known.begin(), known.end()});
}

void Elaborator::checkOverrides() {
  std::vector<StringRef> known(keys.begin(), keys.end());
  for (const auto &[key, text] : ArrayRef(overrides).take_front(numGiven)) {
    if (keys.count(key))
      continue;
    std::string vocabulary = vocabularyMeantBy(key);
    for (StringRef block : {"train", "decode"})
      if (llvm::is_contained(optionNames(block), key))
        return error(Code::override, {},
                     "--set " + key + ": '" + key + "' is an option of " +
                         block.str() + "; help: write --set " + block.str() +
                         "." + key + "=" + text);
    error(Code::override, {},
          "--set " + key +
              ": the spec has no dim, const or vocabulary of this name" +
              (vocabulary.empty()
                   ? overrideHelp(key, known)
                   : "; help: write --set " + vocabulary + ".vocab=" + text +
                         " for the size of vocabulary '" + vocabulary + "'"));
  }
}

std::unique_ptr<Elaborated> Elaborator::run(const Program &program) {
  model->name = program.file->model.str();
  preludeScope = &scopes.emplace_back();
  Statements preludeStatements(prelude.file->statements.begin(),
                               prelude.file->statements.end());
  registerNames(preludeStatements, *preludeScope);

  Scope *top = topScope = &scopes.emplace_back();
  top->parent = preludeScope;
  declareModel(program, flatten(program), *top);
  elaborateMarks(*top);
  for (const Choice &choice : model->choices) {
    choice.target->generated = !choice.latent;
    bool isAlone = llvm::none_of(model->choices, [&](const Choice &other) {
      return other.target == choice.target && !other.ahead;
    });
    if (choice.ahead && isAlone)
      error(Code::choicePlace, choice.loc,
            "'" + choice.target->text +
                "' has a distribution of later places alone; help: "
                "write one for every place as well: " +
                choice.target->text + "[..] ~ ...");
  }
  elaborateTreatments(*top);
  joinUpdates();
  checkLatents();
  if (!model->decoding) {
    checkOverrides();
    warnOfSlips(program);
  }
  return std::move(model);
}
