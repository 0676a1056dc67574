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
static constexpr int64_t maxMembers = 4096;

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

Instance *Elaborator::instantiate(const ast::Expr &call,
                                  const std::string &path, Scope &scope,
                                  const Bindings *bindings) {
  // `name` or `name(sizes)`.
  const ast::Expr *callee = call.kind == ExprKind::Call ? call.args[0] : &call;
  ArrayRef<ast::Item> items =
      call.kind == ExprKind::Call ? call.items : ArrayRef<ast::Item>();
  if (callee->kind != ExprKind::Name) {
    error(callee->loc, "expected the name of a module");
    return nullptr;
  }
  std::string name = callee->name.str();
  SmallVector<ast::Item, 4> given;
  std::string variant;
  for (const ast::Item &item : items) {
    // A flag picks another def of the prelude: linear(n, bias = false).
    StringRef value =
        item.value->kind == ExprKind::Name ? item.value->name : StringRef();
    if (item.name == "bias" && (value == "false" || value == "true"))
      variant += value == "false" ? "_unbiased" : "";
    else if (item.name == "peephole" && (value == "true" || value == "false"))
      variant += value == "true" ? "_peephole" : "";
    else if (item.name == "form" && !value.empty())
      variant += value == "pytorch" ? "" : "_" + value.str();
    else
      given.push_back(item);
  }
  bool scalar = name == "linear" && given.size() == 1 &&
                given[0].value->kind == ExprKind::Integer &&
                given[0].value->integer == 1;
  if (scalar) {
    name += "_scalar";
    given.clear();
  }
  name += variant;
  Symbol *symbol = lookup(scope, name);
  if (!symbol || symbol->kind != Symbol::Def) {
    if (symbol)
      error(callee->loc, "'" + name + "' is no module",
            {{symbol->loc, "it is declared here"}});
    else
      undefined(name, callee->loc, scope, bindings);
    return nullptr;
  }
  const Statement *def = symbol->statement;
  instances.emplace_back();
  Instance *instance = &instances.back();
  instance->def = def;
  instance->path = path;
  instance->loc = call.loc;
  for (auto [k, item] : llvm::enumerate(given)) {
    StringRef sizeName = item.name;
    if (sizeName.empty()) {
      if (k >= def->sizes.size()) {
        error(item.loc, "'" + name + "' takes " +
                            std::to_string(def->sizes.size()) +
                            " sizes but gets " + std::to_string(given.size()));
        return nullptr;
      }
      sizeName = def->sizes[k];
    } else if (!llvm::is_contained(def->sizes, sizeName)) {
      StringRef near = nearest(sizeName, def->sizes);
      error(item.loc,
            "'" + name + "' has no size '" + sizeName.str() + "'" +
                (near.empty() ? "" : "; did you mean '" + near.str() + "'?"));
      return nullptr;
    }
    std::optional<Symbol> argument = sizeArgument(*item.value, scope, bindings);
    if (!argument)
      return nullptr;
    if (std::optional<int64_t> value = argument->kind == Symbol::Size
                                           ? argument->size.value()
                                           : std::nullopt;
        value && *value < (sizeName == "pad" ? 0 : 1)) {
      error(item.loc, "size '" + sizeName.str() + "' of '" + name + "' is " +
                          std::to_string(*value) +
                          ", but a size is at least 1");
      return nullptr;
    }
    instance->sizes[sizeName] = *argument;
  }
  for (StringRef sizeName : def->sizes) {
    if (instance->sizes.count(sizeName))
      continue;
    if (sizeName == "pad" || sizeName == "stride") {
      instance->sizes[sizeName] = {Symbol::Size, call.loc,
                                   Extent(sizeName == "stride")};
      continue;
    }
    error(call.loc, "'" + name + "' needs its size '" + sizeName.str() + "'",
          {{def->nameLoc, "'" + name + "' is defined here"}});
    return nullptr;
  }
  for (const Statement *s : def->body)
    if (s->kind == StatementKind::Param)
      instance->params.push_back(s);
  // Sizes that a call binds: the axis names of the arguments.
  for (const ast::Parameter &parameter : def->parameters)
    for (const ast::Expr *axis : parameter.shape)
      if (axis->kind == ExprKind::Name && !instance->sizes.count(axis->name) &&
          !instance->firstUse.count(axis->name))
        instance->firstUse[axis->name] = model->sizes.open(axis->name);

  // The parameters of the instance.
  scopes.emplace_back();
  Scope *own = &scopes.back();
  own->parent = preludeScope;
  for (Scope *s = &scope; s; s = s->parent)
    if (!s->isCall) {
      own->parent = s;
      break;
    }
  own->isCall = true;
  own->prefix = path + ".";
  own->instance = instance;
  for (auto &entry : instance->sizes)
    own->symbols[entry.first()] = entry.second;
  for (auto &entry : instance->firstUse)
    own->symbols[entry.first()] = {Symbol::Size, call.loc,
                                   Extent(entry.second)};
  instance->parameters = own;
  for (const Statement *s : instance->params)
    declareParam(*s, *own);
  return instance;
}

Member Elaborator::makeParam(const Statement &s, const std::string &path,
                             Scope &scope, const Bindings *bindings) {
  const ast::Expr &call = *s.module;
  const ast::Expr *callee = call.kind == ExprKind::Call ? call.args[0] : &call;
  StringRef kind = callee->kind == ExprKind::Name ? callee->name : StringRef();
  Member member;
  if (kind != "vector" && kind != "matrix" && kind != "tensor") {
    if (++callDepth > 64) {
      error(call.loc, "modules are nested more than 64 deep");
      --callDepth;
      return member;
    }
    member.instance = instantiate(call, path, scope, bindings);
    --callDepth;
    return member;
  }
  size_t rank = kind == "vector" ? 1 : kind == "matrix" ? 2 : call.items.size();
  if (call.kind != ExprKind::Call || call.items.size() != rank) {
    error(call.loc, "'" + kind.str() + "' takes " + std::to_string(rank) +
                        (rank == 1 ? " size" : " sizes") + " but gets " +
                        std::to_string(call.items.size()));
    return member;
  }
  model->storage.emplace_back();
  Array *array = &model->storage.back();
  array->source = Array::Param;
  array->name = array->text = path;
  array->loc = s.array.loc;
  array->kind = Kind::Real;
  array->valueShape = Shape();
  for (const ast::Item &item : call.items) {
    // `matrix(word.vocab, n)`: the vocabulary comes with the first call.
    if (item.value->kind == ExprKind::Member && item.value->name == "vocab" &&
        item.value->args[0]->kind == ExprKind::Name && scope.instance) {
      const Atom *&open =
          scope.instance
              ->firstUse[(item.value->args[0]->name + ".vocab").str()];
      if (!open)
        open = model->sizes.open("vocab");
      array->declared.push_back(Extent(open));
      continue;
    }
    std::optional<Extent> extent = size(*item.value, scope, bindings);
    if (!extent)
      return member;
    if (std::optional<int64_t> value = extent->value(); value && *value < 1) {
      error(item.loc, "a parameter has at least 1 value along each axis, not " +
                          std::to_string(*value));
      return member;
    }
    array->declared.push_back(*extent);
  }
  array->numPlaces = 0;
  array->valueShape = array->declared;
  StringRef defName =
      scope.instance ? scope.instance->def->name : StringRef("");
  array->initial = (defName + ":" + s.array.name).str();
  model->params.push_back(array);
  member.array = array;
  return member;
}

void Elaborator::declareParam(const Statement &s, Scope &scope) {
  families.emplace_back();
  Family *family = &families.back();
  family->name = s.array.name.str();
  family->loc = s.array.loc;
  Symbol symbol{Symbol::Equations, s.array.loc};
  symbol.family = family;
  // Each axis is bound by a static index: `cell[l < L]`.
  std::vector<StaticIndices> members(1);
  for (const ast::Axis &axis : s.array.axes) {
    int64_t extent = 0;
    if (!axis.labels.empty()) {
      extent = axis.labels.size();
      for (auto [k, label] : llvm::enumerate(axis.labels)) {
        Symbol constant{Symbol::Label, axis.loc};
        constant.label = k;
        if (!scope.symbols.count(label))
          declare(scope, label, constant);
        family->labels.push_back(label);
      }
    } else {
      std::optional<Extent> size_ =
          axis.extent ? size(*axis.extent, scope, nullptr) : std::nullopt;
      if (!size_)
        return;
      std::optional<int64_t> value = size_->value();
      if (!value) {
        error(axis.loc, "a family has a fixed number of members, but " +
                            size_->text() + " differs between examples");
        return;
      }
      extent = *value;
    }
    if (extent < 0 || extent * int64_t(members.size()) > maxMembers) {
      error(axis.loc, "'" + family->name + "' would have " +
                          std::to_string(extent * int64_t(members.size())) +
                          " members, but a family has at most 4096");
      return;
    }
    family->isStatic.push_back(true);
    family->extents.push_back(extent);
    family->extentLocs.push_back(axis.loc);
    std::vector<StaticIndices> longer;
    for (const StaticIndices &prefix : members)
      for (int64_t k = 0; k < extent; ++k) {
        longer.push_back(prefix);
        longer.back().push_back(k);
      }
    members = std::move(longer);
  }
  if (!declare(scope, s.array.name, symbol))
    return;
  for (const StaticIndices &at : members) {
    std::string path = scope.prefix + s.array.name.str();
    const Bindings *bindings = nullptr;
    for (auto [k, index] : llvm::enumerate(at)) {
      path += "." + (family->labels.empty() ? std::to_string(index)
                                            : family->labels[index].str());
      if (!s.array.axes[k].binder.empty()) {
        bindingStorage.push_back(
            {bindings, s.array.axes[k].binder, nullptr, index, true});
        bindings = &bindingStorage.back();
      }
    }
    Member member = makeParam(s, path, scope, bindings);
    if (!member.array && !member.instance)
      return;
    family->members[at] = member;
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
        bool isData = family && !family->isEquation && family->isStatic.empty();
        if (it->second.kind != Symbol::Equations ||
            (!family->isEquation && !isData)) {
          error(left.loc, "'" + left.name.str() + "' is declared twice",
                {{it->second.loc, "it is first declared here"}});
          continue;
        }
        if (family->isEquation &&
            family->isStatic.size() != left.places.size()) {
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
