//===- ElaborateParams.cpp - parameters and modules ----------------------===//
//
// `param`: arrays of numbers, instances of defs with their own parameters, and
// families of both.
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

/// How many members a family may have (docs/LANGUAGE.md).
static constexpr int64_t maxMembers = 4096;

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
