//===- ElaborateUses.cpp - `use`, and what it replaces --------------------===//
//
// `use m` includes the statements of a file, and a later equation for the same
// place replaces one of them. `use n = m(..)` makes a scope of its own, whose
// data may be ours. `decode { set .. }` replaces equations in the same way.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Elaborate.h"

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;
using ast::Statement;
using ast::StatementKind;

//===----------------------------------------------------------------------===//
// Replacement
//===----------------------------------------------------------------------===//

static bool isEquation(const Statement &s) {
  return s.kind == StatementKind::Equation || s.kind == StatementKind::Choice;
}

/// The name to which a declaration gives a size, a number, symbols, data or
/// parameters; empty: another statement.
static StringRef declaredName(const Statement &s) {
  switch (s.kind) {
  case StatementKind::Dim:
  case StatementKind::Const:
  case StatementKind::Vocab:
    return s.name;
  case StatementKind::Data:
  case StatementKind::Param:
    return s.array.name;
  default:
    return {};
  }
}

static std::string textOf(llvm::SMRange range) {
  return std::string(range.Start.getPointer(), range.End.getPointer());
}

static bool isIndex(const ast::Place &place,
                    const std::set<std::string> &constants) {
  return place.value->kind == ExprKind::Name &&
         !constants.count(place.value->name.str());
}

/// `h[l,-1]` as `h[*,-1]`: what equations for the same place have in common.
static std::string signature(const ast::Left &left,
                             const std::set<std::string> &constants) {
  std::string result = left.name.str() + "[";
  for (const ast::Place &place : left.places)
    result +=
        isIndex(place, constants) ? "*," : textOf(place.value->range) + ",";
  return result;
}

/// Names that an equation gives at every place, so that they need not be data.
static std::map<StringRef, const Statement *>
computedNames(const std::vector<const Statement *> &statements,
              const std::set<std::string> &constants) {
  std::map<StringRef, const Statement *> names;
  for (const Statement *s : statements)
    if (s->kind == StatementKind::Equation && !s->guide)
      for (const ast::Left &left : s->lefts)
        if (llvm::all_of(left.places, [&](const ast::Place &place) {
              return isIndex(place, constants);
            }))
          names.try_emplace(left.name, s);
  return names;
}

/// Names that are places on the left side: dims, extents, labels.
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

/// The statements of a file after the statements of its includes, without the
/// replaced ones.
Elaborator::Statements Elaborator::flatten(const Program &program) {
  Statements included,
      own(program.file->statements.begin(), program.file->statements.end());
  std::map<const Statement *, std::string> files;
  for (const Program::Import &import : program.imports)
    if (import.name.empty() && import.program)
      for (const Statement *s : flatten(*import.program)) {
        included.push_back(s);
        files[s] = import.model + ".fov";
      }
  Statements all = included;
  llvm::append_range(all, own);
  std::set<std::string> constants = constantNames(all);
  std::map<std::string, SMLoc> given;
  for (const Statement *s : own)
    if (isEquation(*s) && !s->guide)
      for (const ast::Left &left : s->lefts)
        given.try_emplace(signature(left, constants), left.loc);
  std::map<std::pair<StatementKind, StringRef>, const Statement *> declared;
  for (const Statement *s : own)
    if (StringRef name = declaredName(*s); !name.empty())
      declared.try_emplace({s->kind, name}, s);
  std::map<StringRef, const Statement *> computed =
      computedNames(own, constants);
  Statements result;
  // A declaration takes the position of the one that it replaces, because data
  // and parameters have an order.
  std::set<const Statement *> moved;
  for (const Statement *s : included) {
    auto redeclared = declared.find({s->kind, declaredName(*s)});
    bool isRedeclared = redeclared != declared.end();
    if (isRedeclared && moved.insert(redeclared->second).second)
      result.push_back(redeclared->second);
    bool isReplaced =
        isEquation(*s) && llvm::all_of(s->lefts, [&](const ast::Left &left) {
          return given.count(signature(left, constants));
        });
    auto equation = computed.find(declaredName(*s));
    bool isComputed = s->kind == StatementKind::Data && !isRedeclared &&
                      equation != computed.end();
    if (!isReplaced && !isRedeclared && !isComputed) {
      result.push_back(s);
      continue;
    }
    StringRef name = isReplaced ? s->lefts[0].name : declaredName(*s);
    SMLoc by = isRedeclared ? redeclared->second->loc
               : isComputed ? equation->second->loc
                            : given[signature(s->lefts[0], constants)];
    std::string sentence = "'" + name.str() + "' of " + files[s] + " (line " +
                           std::to_string(diagnostics.lineOf(s->loc)) +
                           ") by line " +
                           std::to_string(diagnostics.lineOf(by));
    if (!llvm::is_contained(replacements, sentence))
      replacements.push_back(sentence);
  }
  for (const Statement *s : own)
    if (!moved.count(s))
      result.push_back(s);
  return model->decoding ? withReplacements(program, result) : result;
}

/// An entry of decode { } as a statement.
static Statement *asStatement(const ast::Entry &entry, StatementKind kind,
                              llvm::BumpPtrAllocator &arena) {
  auto *statement = new (arena.Allocate<Statement>()) Statement();
  statement->kind = kind;
  statement->loc = entry.left.loc;
  statement->range = entry.value->range;
  statement->value = entry.value;
  statement->lefts = ArrayRef(&entry.left, 1);
  return statement;
}

/// `decode { set x[t] = .. }` replaces every equation for the same places, and
/// `generate x[t] = ..` adds a choice.
Elaborator::Statements Elaborator::withReplacements(const Program &program,
                                                    const Statements &all) {
  std::set<std::string> names, set, generated, constants = constantNames(all);
  for (const Statement *s : all)
    if (isEquation(*s))
      for (const ast::Left &left : s->lefts)
        names.insert(left.name.str());
  Statements decoding;
  for (const Statement *s : all) {
    if (s->kind != StatementKind::Block || s->name != "decode")
      continue;
    for (const ast::Entry &entry : s->entries) {
      // Those of an included file are choices in `all`.
      if (entry.kind == ast::Entry::Generate &&
          llvm::is_contained(program.file->statements, s)) {
        generated.insert(signature(entry.left, constants));
        Statement *choice =
            asStatement(entry, StatementKind::Choice, program.file->arena);
        choice->isGenerated = true;
        decoding.push_back(choice);
      }
      if (entry.kind != ast::Entry::Set || !names.count(entry.left.name.str()))
        continue;
      set.insert(signature(entry.left, constants));
      decoding.push_back(
          asStatement(entry, StatementKind::Equation, program.file->arena));
    }
  }
  for (const Statement *s : all) {
    const std::set<std::string> &replaced = s->isGenerated ? generated : set;
    if (!isEquation(*s) || !llvm::all_of(s->lefts, [&](const ast::Left &left) {
          return replaced.count(signature(left, constants));
        }))
      decoding.push_back(s);
  }
  return decoding;
}

//===----------------------------------------------------------------------===//
// Slips
//===----------------------------------------------------------------------===//

/// Adds every name in an expression.
static void collectNames(const Expr *expr, std::set<StringRef> &names) {
  SmallVector<const Expr *> work{expr};
  while (!work.empty()) {
    const Expr *part = work.pop_back_val();
    if (!part)
      continue;
    if (part->kind == ExprKind::Name)
      names.insert(part->name);
    work.append(part->args.begin(), part->args.end());
    work.push_back(part->condition);
    for (const ast::Item &item : part->items)
      work.push_back(item.value);
    for (const ast::Binder &binder : part->binders)
      work.push_back(binder.extent);
  }
}

/// GRAMMAR 8.19: an unused equation whose name nearly equals an included one
/// was most likely meant to replace it.
void Elaborator::warnOfSlips(const Program &program) {
  struct Given {
    std::string file;
    SMLoc loc;
  };
  std::map<StringRef, Given> included; // equations
  for (const Program::Import &import : program.imports)
    if (import.name.empty() && import.program)
      for (const Statement *s : flatten(*import.program))
        if (isEquation(*s))
          for (const ast::Left &left : s->lefts)
            included.try_emplace(left.name,
                                 Given{import.model + ".fov", left.loc});
  if (included.empty())
    return;
  std::set<StringRef> used, own;
  for (const Statement *s : flatten(program)) {
    std::set<StringRef> names;
    collectNames(s->value, names);
    for (const Expr *value : s->values)
      collectNames(value, names);
    for (const ast::Entry &entry : s->entries) {
      names.insert(entry.left.name);
      collectNames(entry.value, names);
    }
    // Reading itself is not a use.
    for (const ast::Left &left : s->lefts)
      names.erase(left.name);
    used.insert(names.begin(), names.end());
  }
  for (const Statement *s : program.file->statements)
    for (const ast::Left &left : s->lefts)
      own.insert(left.name);
  std::vector<StringRef> candidates;
  for (auto &[name, given] : included)
    if (!own.count(name))
      candidates.push_back(name);
  for (const Statement *s : program.file->statements) {
    if (s->kind != StatementKind::Equation)
      continue;
    for (const ast::Left &left : s->lefts) {
      if (used.count(left.name) || included.count(left.name))
        continue;
      StringRef near = nearest(left.name, candidates);
      if (!near.empty())
        diagnostics.warning(
            Code::replacesNothing, left.loc,
            "'" + left.name.str() + "' (line " +
                std::to_string(diagnostics.lineOf(left.loc)) +
                ") is used by nothing and '" + near.str() + "' of " +
                included[near].file + " was not replaced; did you mean '" +
                near.str() + "'?",
            {{included[near].loc, "'" + near.str() + "' is given here"}});
    }
  }
}

//===----------------------------------------------------------------------===//
// Imports
//===----------------------------------------------------------------------===//

void Elaborator::findImports(const Program &program,
                             SmallVector<const Program::Import *> &imports) {
  for (const Program::Import &import : program.imports) {
    if (!import.program)
      continue;
    if (import.name.empty())
      findImports(*import.program, imports);
    else
      imports.push_back(&import);
  }
}

/// Binds our data to the data of an import, with its extents. Returns false
/// after an error.
bool Elaborator::bindData(const Program::Import &import,
                          const Statements &theirs, const ast::Item &binding,
                          const Statements &statements, Scope &scope,
                          Scope &own) {
  const Expr &value = *binding.value;
  Symbol *given =
      value.kind == ExprKind::Name ? lookup(scope, value.name) : nullptr;
  if (given && given->kind == Symbol::Mistake)
    return false;
  if (!given || !given->family || !given->family->isData) {
    // Parameters and equations are declared after the imports.
    SMLoc loc = given ? given->loc : SMLoc();
    for (const Statement *s : statements) {
      if (s->kind == StatementKind::Param && s->array.name == value.name)
        loc = s->array.loc;
      for (const ast::Left &left : s->lefts)
        if (left.name == value.name && !loc.isValid())
          loc = left.loc;
    }
    if (!loc.isValid())
      undefined(value.name, value.loc, scope, nullptr);
    else
      error(Code::bindingName, value.loc,
            "'" + value.name.str() +
                "' is not data, so it cannot be bound to '" +
                binding.name.str() + "' of " + import.model,
            {{loc, "it is declared here"}});
    return false;
  }
  const Statement *data = nullptr;
  std::vector<StringRef> names;
  for (const Statement *s : theirs)
    if (s->kind == StatementKind::Data) {
      names.push_back(s->array.name);
      if (s->array.name == binding.name)
        data = s;
    }
  if (!data) {
    error(Code::bindingName, binding.loc,
          "'" + import.model + "' has no data '" + binding.name.str() + "'" +
              suggestion(binding.name, names));
    return false;
  }
  const Array &ours = *given->family->members.begin()->second.array;
  StringRef type = typeName(ours), wanted = data->type.name;
  bool isSame = ours.numPlaces == data->array.axes.size() &&
                ours.ends == data->type.ends &&
                (type == wanted || (type == "sentence" && wanted == "token"));
  if (!isSame) {
    auto shown = [](const std::string &name, StringRef type, size_t axes) {
      return "'" + name + "' is " + type.str() + " with " +
             counted(axes, "axis");
    };
    error(Code::bindingMisfit, value.loc,
          shown(ours.name, type, ours.numPlaces) + ", but " +
              shown(own.prefix + binding.name.str(), wanted,
                    data->array.axes.size()),
          {{ours.loc, "'" + ours.name + "' is declared here"},
           {data->array.loc, "the other is declared here"}});
    return false;
  }
  Symbol symbol = *given;
  symbol.isBound = true;
  own.symbols[binding.name] = symbol;
  // The lengths of its axes are ours.
  for (auto [axis, extent] : llvm::zip(data->array.axes, ours.extents)) {
    const Expr *length = axis.extent;
    if (length && length->kind == ExprKind::Index)
      length = length->args[0]; // W[m]
    if (!length || length->kind != ExprKind::Name)
      continue;
    StringRef name = length->name;
    bool isDim = llvm::any_of(theirs, [&](const Statement *s) {
      return s->kind != StatementKind::Data && s->name == name;
    });
    if (!isDim)
      own.symbols.try_emplace(name, Symbol{Symbol::Size, axis.loc, extent});
  }
  return !ours.vocabulary || ours.vocabulary->isClass ||
         bindVocabulary(ours, *data, theirs, value.loc, own);
}

/// The symbols of our data are those of the import's. Returns false after an
/// error.
bool Elaborator::bindVocabulary(const Array &ours, const Statement &data,
                                const Statements &theirs, SMLoc loc,
                                Scope &own) {
  std::string name = own.prefix + data.array.name.str();
  auto *vocabulary = const_cast<Vocabulary *>(ours.vocabulary);
  auto report = [&](const Vocabulary &other) {
    error(Code::vocabulariesDiffer, loc,
          differenceOf(other, name, *vocabulary, ours.name),
          {{data.array.loc, "'" + name + "' is declared here"},
           {ours.loc, "'" + ours.name + "' is declared here"}});
    return false;
  };
  const Expr *call = nullptr, *of = data.type.of;
  std::string key = of ? own.prefix + textOf(of->range) : name;
  if (of && of->kind == ExprKind::Name) {
    for (const Statement *s : theirs)
      if (s->kind == StatementKind::Vocab && s->name == of->name)
        call = s->value;
    Symbol symbol{Symbol::Vocab, data.loc};
    symbol.vocabulary = vocabulary;
    symbol.isBound = true;
    auto [known, isNew] = own.symbols.try_emplace(of->name, symbol);
    if (!isNew && known->second.vocabulary != vocabulary)
      return report(*known->second.vocabulary);
  }
  // The names of the import are declared after its bindings.
  if (call && call->kind == ExprKind::Call && call->items.size() == 1 &&
      call->items[0].value->kind != ExprKind::String &&
      !size(*call->items[0].value, own, nullptr, /*report=*/false)) {
    error(Code::vocabularySize, call->items[0].loc,
          "the size of a vocabulary whose data is bound is a number");
    return false;
  }
  std::optional<int64_t> count = symbolCount(key, call, own);
  if (!count || vocabulary->size.value() == count)
    return true;
  if (vocabulary->isAssumed) {
    vocabulary->size =
        Extent(model->sizes.dim(vocabulary->name + ".vocab", *count));
    vocabulary->isAssumed = false;
    return true;
  }
  Vocabulary other;
  other.size = Extent(*count);
  return report(other);
}

/// Returns whether the axes of bound data match the import's declaration.
void Elaborator::checkBoundAxes(const Statements &theirs,
                                const ast::Item &binding, Scope &own) {
  const Array &ours =
      *own.symbols[binding.name].family->members.begin()->second.array;
  for (const Statement *s : theirs) {
    if (s->kind != StatementKind::Data || s->array.name != binding.name)
      continue;
    SmallVector<const Expr *> wanted;
    for (const ast::Axis &axis : s->array.axes)
      wanted.push_back(axis.extent);
    if (s->type.name == "real")
      wanted.append(s->type.args.begin(), s->type.args.end());
    Shape have(ours.extents.begin(), ours.extents.end());
    llvm::append_range(have, *ours.valueShape);
    bool isSame = wanted.size() == have.size();
    std::string text = "number";
    if (!wanted.empty()) {
      text = "[";
      for (auto [k, expr] : llvm::enumerate(wanted)) {
        std::optional<Extent> size =
            expr ? this->size(*expr, own, nullptr, /*report=*/false)
                 : std::nullopt;
        isSame &= size && k < have.size() && *size == have[k];
        text += (k == 0 ? "" : ", ") +
                (size ? size->textWithValue() : textOf(expr->range));
      }
      text += "]";
    }
    if (!isSame)
      error(Code::bindingMisfit, binding.value->loc,
            "'" + ours.name + "' is " + shapeText(have) + ", but '" +
                own.prefix + binding.name.str() + "' is " + text,
            {{ours.loc, "'" + ours.name + "' is declared here"},
             {s->array.loc, "the other is declared here"}});
  }
}

/// Data `of lm.word`, whose vocabulary was unknown before the imports.
void Elaborator::adoptVocabulary(const Program &program, const Statement &data,
                                 Scope &scope) {
  Symbol *symbol = lookup(scope, data.array.name);
  if (!symbol || !symbol->family || symbol->family->members.empty())
    return;
  Array &array = *symbol->family->members.begin()->second.array;
  const Vocabulary *wanted = vocabularyOf(*data.type.of, scope, nullptr, true);
  if (!wanted || wanted == array.vocabulary)
    return;
  SmallVector<const Program::Import *> imports;
  findImports(program, imports);
  bool isBound = llvm::any_of(imports, [&](const Program::Import *import) {
    return llvm::any_of(import->statement->bindings, [&](const auto &binding) {
      return binding.value->name == data.array.name;
    });
  });
  if (!isBound)
    array.vocabulary = wanted;
  else
    error(Code::vocabulariesDiffer, data.type.of->loc,
          differenceOf(*wanted, textOf(data.type.of->range), *array.vocabulary,
                       array.name),
          {{array.loc, "'" + array.name + "' is declared here"}});
}

void Elaborator::declareImport(const Program::Import &import,
                               const Statements &ours, Scope &scope) {
  const Statement &use = *import.statement;
  Scope *own = &scopes.emplace_back();
  own->parent = preludeScope;
  own->prefix = scope.prefix + import.name + ".";
  Symbol symbol{Symbol::Import, use.nameLoc};
  symbol.scope = own;
  if (!declare(scope, import.name, symbol))
    return;
  Statements statements = flatten(*import.program);
  bool isBound = true;
  for (const ast::Item &binding : use.bindings)
    isBound &= bindData(import, statements, binding, ours, scope, *own);
  if (!isBound) {
    scope.symbols[import.name].kind = Symbol::Mistake;
    return;
  }
  size_t before = model->choices.size(), penalties = model->penalties.size();
  declareModel(*import.program, statements, *own);
  for (const ast::Item &binding : use.bindings)
    checkBoundAxes(statements, binding, *own);
  // Its objective is not ours. Its states are.
  model->penalties.resize(penalties);
  model->choices.erase(
      std::remove_if(model->choices.begin() + before, model->choices.end(),
                     [](const Choice &choice) { return !choice.latent; }),
      model->choices.end());
  std::erase_if(given, [](const auto &place) {
    return place.first.first->source == Array::Data;
  });
}
