//===- Elaborate.cpp - declarations ---------------------------------------===//
//
// Dims, constants, vocabularies, data, parameters and the names of equations,
// in the order of the file. Right sides are elaborated later, so that the order
// of equations is free.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Elaborate.h"
#include "frontends/fov/Options.h"
#include "llvm/ADT/StringSwitch.h"

using namespace fovea;
using namespace fovea::fov;
using ast::ExprKind;
using ast::Statement;
using ast::StatementKind;

/// The size of a vocabulary that no file and no --set has fixed yet.
static constexpr int64_t assumedVocabulary = 10000;

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

Symbol *Elaborator::declare(Scope &scope, StringRef name, Symbol symbol) {
  auto [it, inserted] = scope.symbols.try_emplace(name, symbol);
  if (!inserted) {
    error(symbol.loc, "'" + name.str() + "' is declared twice",
          {{it->second.loc, "it is first declared here"}});
    return nullptr;
  }
  scope.order.push_back(name.str());
  return &it->second;
}

Symbol *Elaborator::lookup(Scope &scope, StringRef name) {
  for (Scope *s = &scope; s; s = s->parent) {
    auto it = s->symbols.find(name);
    // A def is closed: outside it only other defs are seen.
    if (it != s->symbols.end() &&
        (s == &scope || it->second.kind == Symbol::Def || !scope.isCall))
      return &it->second;
  }
  return nullptr;
}

const std::string *Elaborator::overrideOf(const std::string &name) {
  const std::string *value = nullptr;
  for (const auto &[key, text] : overrides)
    if (key == name) {
      value = &text;
      usedOverrides.insert(key);
    }
  return value;
}

static bool parseNumber(const std::string &text, double &number,
                        bool &isInteger) {
  int64_t whole;
  isInteger = !StringRef(text).getAsInteger(10, whole);
  if (isInteger) {
    number = whole;
    return true;
  }
  if (text == "inf" || text == "-inf") {
    number = text == "inf" ? INFINITY : -INFINITY;
    return true;
  }
  if (text == "true" || text == "false") {
    number = text == "true";
    isInteger = true;
    return true;
  }
  return !StringRef(text).getAsDouble(number);
}

void Elaborator::undefined(StringRef name, SMLoc loc, Scope &scope,
                           const Bindings *bindings) {
  std::vector<std::string> names;
  std::vector<SMLoc> locs;
  for (const Bindings *b = bindings; b; b = b->outer) {
    names.push_back(b->name.str());
    locs.push_back({});
  }
  for (Scope *s = &scope; s; s = s->parent)
    for (auto &entry : s->symbols) {
      if (s != &scope && entry.second.kind != Symbol::Def)
        continue;
      names.push_back(entry.first().str());
      locs.push_back(s == preludeScope ? SMLoc() : entry.second.loc);
    }
  std::vector<StringRef> candidates(names.begin(), names.end());
  llvm::append_range(candidates, builtinNames());
  StringRef near = nearest(name, candidates);
  std::string text = "'" + name.str() + "' is not defined";
  std::vector<Diagnostics::Note> notes;
  if (!near.empty()) {
    text += "; did you mean '" + near.str() + "'";
    auto it = llvm::find(names, near);
    SMLoc place = it == names.end() ? SMLoc() : locs[it - names.begin()];
    if (place.isValid()) {
      text += " (line " + std::to_string(diagnostics.lineOf(place)) + ")";
      notes.push_back({place, "'" + near.str() + "' is defined here"});
    }
    text += "?";
  }
  error(loc, text, std::move(notes));
}

//===----------------------------------------------------------------------===//
// Inclusions
//===----------------------------------------------------------------------===//

/// `h[l,-1]` as `h[*,-1]`: what an equation for the same place has in common.
static std::string signature(const ast::Left &left,
                             const std::set<std::string> &constants) {
  std::string result = left.name.str() + "[";
  for (const ast::Place &place : left.places) {
    bool isIndex = place.value->kind == ExprKind::Name &&
                   !constants.count(place.value->name.str());
    const char *begin = place.value->range.Start.getPointer();
    const char *end = place.value->range.End.getPointer();
    result += isIndex ? "*," : std::string(begin, end) + ",";
  }
  return result;
}

static std::set<std::string>
constantNames(const std::vector<const Statement *> &statements) {
  std::set<std::string> names;
  for (const Statement *s : statements) {
    if (s->kind == StatementKind::Dim || s->kind == StatementKind::Const)
      names.insert(s->name.str());
    if (s->kind == StatementKind::Data || s->kind == StatementKind::Param)
      for (const ast::Axis &axis : s->array.axes) {
        if (axis.extent && axis.extent->kind == ExprKind::Name)
          names.insert(axis.extent->name.str());
        for (StringRef label : axis.labels)
          names.insert(label.str());
      }
  }
  return names;
}

Elaborator::Statements Elaborator::flatten(const Program &program) {
  Statements included, own;
  for (const Program::Import &import : program.imports)
    if (import.name.empty() && import.program)
      llvm::append_range(included, flatten(*import.program));
  for (const Statement *s : program.file->statements)
    own.push_back(s);
  Statements all = included;
  llvm::append_range(all, own);
  std::set<std::string> constants = constantNames(all);
  std::set<std::string> given;
  auto isEquation = [](const Statement *s) {
    return s->kind == StatementKind::Equation ||
           s->kind == StatementKind::Choice;
  };
  for (const Statement *s : own)
    if (isEquation(s) && !s->guide)
      for (const ast::Left &left : s->lefts)
        given.insert(signature(left, constants));
  Statements result;
  for (const Statement *s : included) {
    bool covered = isEquation(s) && llvm::all_of(s->lefts, [&](auto &left) {
                     return given.count(signature(left, constants));
                   });
    if (!covered)
      result.push_back(s);
  }
  llvm::append_range(result, own);
  if (!model->decoding)
    return result;

  // `decode { set x[t] = .. }` replaces every equation for the same places.
  std::set<std::string> names;
  for (const Statement *s : result)
    if (isEquation(s))
      for (const ast::Left &left : s->lefts)
        names.insert(left.name.str());
  Statements decoding;
  std::set<std::string> set;
  for (const Statement *s : result) {
    if (s->kind != StatementKind::Block || s->name != "decode")
      continue;
    for (const ast::Entry &entry : s->entries) {
      if (entry.kind != ast::Entry::Set || !names.count(entry.left.name.str()))
        continue;
      set.insert(signature(entry.left, constants));
      auto *equation =
          new (program.file->arena.Allocate<Statement>()) Statement();
      equation->kind = StatementKind::Equation;
      equation->loc = entry.left.loc;
      equation->range = entry.value->range;
      equation->value = entry.value;
      equation->lefts = ArrayRef(&entry.left, 1);
      decoding.push_back(equation);
    }
  }
  for (const Statement *s : result)
    if (!(isEquation(s) && llvm::all_of(s->lefts, [&](auto &left) {
            return set.count(signature(left, constants));
          })))
      decoding.push_back(s);
  return decoding;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

Vocabulary *Elaborator::makeVocabulary(const std::string &name, SMLoc loc,
                                       const ast::Expr *call) {
  model->vocabularies.emplace_back();
  Vocabulary *vocabulary = &model->vocabularies.back();
  vocabulary->name = name;
  vocabulary->loc = loc;
  int64_t count = assumedVocabulary;
  vocabulary->isAssumed = !call && !overrideOf(name + ".vocab");
  if (call && call->kind == ExprKind::Call && call->items.size() == 1 &&
      call->items[0].value->kind == ExprKind::Integer)
    count = call->items[0].value->integer;
  if (const std::string *text = overrideOf(name + ".vocab")) {
    double number;
    bool isInteger;
    if (!parseNumber(*text, number, isInteger) || !isInteger || number < 1)
      error({}, "--set " + name + ".vocab=" + *text +
                    ": a vocabulary has a whole number of symbols, at least 1");
    else
      count = number;
  }
  vocabulary->size = Extent(model->sizes.dim(name + ".vocab", count));
  return vocabulary;
}

void Elaborator::declareData(const Statement &s, Scope &scope) {
  // A name that the importing model gives is bound already.
  if (scope.symbols.count(s.array.name))
    return;
  model->storage.emplace_back();
  Array *array = &model->storage.back();
  array->source = Array::Data;
  array->name = scope.prefix + s.array.name.str();
  array->text = array->name;
  array->loc = s.array.loc;
  array->numPlaces = s.array.axes.size();
  array->observed = true;
  std::string parent;
  for (const ast::Axis &axis : s.array.axes) {
    const ast::Expr *extent = axis.extent;
    if (!extent) {
      error(axis.loc, "an axis of data has an extent, not labels");
      return;
    }
    if (extent->kind == ExprKind::Name && !lookup(scope, extent->name)) {
      std::string name = scope.prefix + extent->name.str();
      Extent length(model->sizes.length(name));
      declare(scope, extent->name, {Symbol::Size, extent->loc, length});
      array->extents.push_back(length);
      parent = name;
      continue;
    }
    // `W[m]` behind `m < M`: nested in the axis that m names.
    if (extent->kind == ExprKind::Index && extent->args.size() == 2 &&
        extent->args[0]->kind == ExprKind::Name &&
        extent->args[1]->kind == ExprKind::Name) {
      std::string name = scope.prefix + extent->args[0]->name.str();
      std::string within;
      for (auto [k, other] : llvm::enumerate(s.array.axes))
        if (!other.binder.empty() && other.binder == extent->args[1]->name &&
            k < array->extents.size())
          within = array->extents[k].text();
      if (within.empty()) {
        error(extent->args[1]->loc,
              "'" + extent->args[1]->name.str() +
                  "' names no axis before this one; write '" +
                  extent->args[1]->name.str() + " < ...' at that axis");
        return;
      }
      Extent length(model->sizes.length(name, within));
      declare(scope, extent->args[0]->name,
              {Symbol::Size, extent->loc, length});
      array->extents.push_back(length);
      continue;
    }
    std::optional<Extent> known = size(*extent, scope, nullptr);
    if (!known)
      return;
    array->extents.push_back(*known);
  }

  array->kind = Kind::Real;
  array->valueShape = Shape();
  StringRef type = s.type.name;
  if (type == "token" || type == "sentence") {
    array->kind = Kind::Token;
    array->isSentence = type == "sentence";
    if (array->isSentence && array->numPlaces != 1) {
      error(s.type.loc, "a sentence has one axis, but '" + array->name +
                            "' has " + std::to_string(array->numPlaces));
      return;
    }
    if (s.type.of) {
      array->vocabulary = vocabularyOf(*s.type.of, scope, nullptr, true);
      if (!array->vocabulary)
        return;
    } else {
      array->vocabulary = makeVocabulary(array->name, s.array.loc, nullptr);
    }
  } else if (type == "class") {
    array->kind = Kind::Token;
    model->vocabularies.emplace_back();
    Vocabulary *classes = &model->vocabularies.back();
    classes->name = array->name;
    classes->loc = s.type.loc;
    classes->isClass = true;
    if (s.type.args.size() == 1 && s.type.args[0]->kind != ExprKind::String) {
      std::optional<Extent> count = size(*s.type.args[0], scope, nullptr);
      if (!count)
        return;
      classes->size = *count;
    } else {
      for (const ast::Expr *label : s.type.args)
        classes->labels.push_back(label->name.str());
      classes->size = Extent(int64_t(classes->labels.size()));
    }
    array->vocabulary = classes;
  } else if (type == "real") {
    for (const ast::Expr *axis : s.type.args) {
      std::optional<Extent> extent = size(*axis, scope, nullptr);
      if (!extent)
        return;
      array->valueShape->push_back(*extent);
    }
  } else if (type == "bit") {
    array->kind = Kind::Bit;
  } else if (type == "int") {
    array->kind = Kind::Int;
  } else if (type == "position") {
    array->kind = Kind::Int;
    const ast::Expr *of = s.type.args.empty() ? nullptr : s.type.args[0];
    Symbol *symbol = of ? lookup(scope, of->name) : nullptr;
    if (symbol && symbol->family && symbol->family->members.size() == 1)
      array->positionOf = symbol->family->members.begin()->second.array;
    if (!array->positionOf) {
      undefined(of ? of->name : s.type.name, of ? of->loc : s.type.loc, scope,
                nullptr);
      return;
    }
  }
  array->ends = s.type.ends;

  families.emplace_back();
  Family *family = &families.back();
  family->name = array->name;
  family->loc = array->loc;
  family->members[{}].array = array;
  Symbol symbol{Symbol::Equations, s.array.loc};
  symbol.family = family;
  if (declare(scope, s.array.name, symbol)) {
    model->data.push_back(array);
  }
}

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
        bool isEquation = family && family->isEquation;
        bool isData = family && !isEquation && family->isStatic.empty();
        if (it->second.kind != Symbol::Equations || (!isEquation && !isData)) {
          error(left.loc, "'" + left.name.str() + "' is declared twice",
                {{it->second.loc, "it is first declared here"}});
          continue;
        }
        if (isEquation && family->isStatic.size() != left.places.size()) {
          error(left.loc,
                "'" + left.name.str() + "' has " +
                    std::to_string(left.places.size()) + " indices here but " +
                    std::to_string(family->isStatic.size()) + " elsewhere",
                {{family->loc, "its first equation stands here"}});
          continue;
        }
        family->statements.push_back(s);
        continue;
      }
      families.emplace_back();
      Family *family = &families.back();
      family->name = scope.prefix + left.name.str();
      family->loc = left.loc;
      family->isEquation = true;
      family->isStatic.resize(left.places.size());
      family->extents.resize(left.places.size());
      family->extentLocs.resize(left.places.size());
      family->statements.push_back(s);
      Symbol symbol{Symbol::Equations, left.loc};
      symbol.family = family;
      declare(scope, left.name, symbol);
    }
  }
}

void Elaborator::declareAll(const Statements &statements, Scope &scope) {
  for (const Statement *s : statements)
    if (s->kind == StatementKind::Def) {
      Symbol def{Symbol::Def, s->nameLoc};
      def.statement = s;
      declare(scope, s->name, def);
    }
  for (const Statement *s : statements) {
    switch (s->kind) {
    case StatementKind::Dim: {
      std::optional<int64_t> value;
      if (const std::string *text = overrideOf(scope.prefix + s->name.str())) {
        double number;
        bool isInteger;
        if (!parseNumber(*text, number, isInteger) || !isInteger) {
          error(s->nameLoc, "--set " + s->name.str() + "=" + *text +
                                ": a dim is a whole number");
          break;
        }
        value = number;
      } else if (std::optional<Extent> extent =
                     size(*s->value, scope, nullptr)) {
        value = extent->value();
        if (!value)
          error(s->value->loc, "dim '" + s->name.str() + "' is " +
                                   extent->text() +
                                   ", which is not a whole number");
      }
      if (!value)
        value = 1; // reported; what follows is still checked
      if (*value < 1 || *value > (int64_t(1) << 31)) {
        error(s->nameLoc, "dim '" + s->name.str() + "' is " +
                              std::to_string(*value) +
                              ", but a dim is at least 1 and at most 2^31");
        value = 1;
      }
      declare(scope, s->name,
              {Symbol::Size, s->nameLoc,
               Extent(model->sizes.dim(s->name, *value))});
      break;
    }
    case StatementKind::Const: {
      Symbol constant{Symbol::Number, s->nameLoc};
      if (const std::string *text = overrideOf(scope.prefix + s->name.str())) {
        double value;
        bool isInteger;
        if (!parseNumber(*text, value, isInteger)) {
          error(s->nameLoc, "--set " + s->name.str() + "=" + *text +
                                ": a const is a number");
          break;
        }
        constant.value = number(value, s->nameLoc, isInteger);
      } else {
        constant.value = expression(*s->value, scope, nullptr);
      }
      declare(scope, s->name, constant);
      break;
    }
    case StatementKind::Vocab: {
      Symbol vocab{Symbol::Vocab, s->nameLoc};
      vocab.vocabulary =
          makeVocabulary(scope.prefix + s->name.str(), s->nameLoc, s->value);
      declare(scope, s->name, vocab);
      break;
    }
    case StatementKind::Data:
      declareData(*s, scope);
      break;
    case StatementKind::Length: {
      auto it = scope.symbols.find(s->name);
      if (it != scope.symbols.end() &&
          it->second.kind == Symbol::LengthFamily) {
        it->second.lengths.push_back(s);
        break;
      }
      Symbol lengths{Symbol::LengthFamily, s->nameLoc};
      lengths.lengths.push_back(s);
      declare(scope, s->name, lengths);
      break;
    }
    case StatementKind::Param:
      if (!scope.instance)
        declareParam(*s, scope);
      break;
    default:
      break;
    }
  }
  declareEquations(statements, scope);
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

void Elaborator::declareImport(const Program::Import &import, Scope &scope) {
  scopes.emplace_back();
  Scope *own = &scopes.back();
  own->parent = preludeScope;
  own->prefix = import.name + ".";
  const Statement &use = *import.statement;
  for (const ast::Item &binding : use.bindings) {
    Symbol *given = binding.value->kind == ExprKind::Name
                        ? lookup(scope, binding.value->name)
                        : nullptr;
    if (!given) {
      undefined(binding.value->name, binding.value->loc, scope, nullptr);
      continue;
    }
    own->symbols[binding.name] = *given;
    // Its extents are ours as well, under its own names.
    Statements theirs = flatten(*import.program);
    for (const Statement *s : theirs) {
      if (s->kind != StatementKind::Data || s->array.name != binding.name ||
          !given->family || given->family->members.size() != 1)
        continue;
      Array *ours = given->family->members.begin()->second.array;
      for (auto [k, axis] : llvm::enumerate(s->array.axes))
        if (axis.extent && axis.extent->kind == ExprKind::Name &&
            k < ours->extents.size())
          own->symbols[axis.extent->name] = {Symbol::Size, axis.loc,
                                             ours->extents[k]};
    }
  }
  Statements statements = flatten(*import.program);
  declareAll(statements, *own);
  Symbol symbol{Symbol::Import, use.nameLoc};
  symbol.scope = own;
  declare(scope, import.name, symbol);
  findStaticIndices(statements, *own);
  size_t choices = model->choices.size();
  elaborateAll(statements, *own);
  // Its own objective on data that we bind is not ours.
  model->choices.resize(choices);
}

std::unique_ptr<Elaborated> Elaborator::run(const Program &program) {
  model->name = program.file->model.str();
  scopes.emplace_back();
  preludeScope = &scopes.back();
  Statements preludeStatements;
  for (const Statement *s : prelude.file->statements)
    preludeStatements.push_back(s);
  declareAll(preludeStatements, *preludeScope);

  scopes.emplace_back();
  Scope *top = &scopes.back();
  top->parent = preludeScope;
  Statements statements = flatten(program);
  // Data first: imports bind to it. An import's names are used by data types
  // (`sentence of lm.word.vocab`), so data that needs one comes after.
  auto needsImport = [](const Statement *s) {
    return s->kind == StatementKind::Data && s->type.of &&
           s->type.of->kind == ExprKind::Member;
  };
  Statements early, late;
  bool hasImports = llvm::any_of(
      program.imports, [](const auto &import) { return !import.name.empty(); });
  if (hasImports) {
    for (const Statement *s : statements)
      if (s->kind == StatementKind::Data)
        (needsImport(s) ? late : early).push_back(s);
    for (const Statement *s : early)
      declareData(*s, *top);
    // A vocabulary that an import owns is made under our name first.
    for (const Statement *s : late) {
      Statement copy = *s;
      copy.type.of = nullptr;
      declareData(copy, *top);
    }
    for (const Program::Import &import : program.imports)
      if (!import.name.empty() && import.program)
        declareImport(import, *top);
  }
  declareAll(statements, *top);
  readBlocks(statements, *top);
  findStaticIndices(statements, *top);
  elaborateAll(statements, *top);
  elaborateMarks(*top);
  for (const Choice &choice : model->choices)
    if (choice.latent) {
      const std::string &name = choice.target->name;
      if (!treated.count(name) && !choice.guide && !model->decoding)
        error(choice.loc,
              "latent '" + name +
                  "' needs an estimator in train { }: reinforce, enumerate, "
                  "straight_through, gumbel, expected (for example: " +
                  name + " ~ reinforce(baseline = moving_average(0.9)))");
      std::string refusal = "'" + name +
                            "' is a latent choice, and drawing latents cannot "
                            "be executed yet";
      if (!llvm::is_contained(model->refusals, refusal))
        model->refusals.push_back(refusal);
    }
  for (const auto &[key, text] : overrides)
    if (!usedOverrides.count(key))
      unusedOverrides.push_back(key);
  return std::move(model);
}
