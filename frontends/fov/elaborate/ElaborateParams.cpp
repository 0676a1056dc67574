//===- ElaborateParams.cpp - parameters and modules ----------------------===//
//
// `param`: arrays of numbers, instances of defs with their own parameters, and
// families of both.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Elaborate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace fovea;
using namespace fovea::fov;
using ast::ExprKind;
using ast::Statement;
using ast::StatementKind;

/// `false`, as well as other languages have it.
static bool isTruth(const ast::Expr &value) {
  return value.kind == ExprKind::Name &&
         (value.name.equals_insensitive("true") ||
          value.name.equals_insensitive("false"));
}

/// The sizes that a call has to give: those without a value.
static ArrayRef<StringRef> wantedSizes(const Statement &def) {
  size_t count = llvm::count(def.sizeValues, nullptr);
  return def.sizes.take_front(count);
}

/// "; help: .." for more sizes than a module has: other libraries also pass the
/// input size, first.
static std::string sizesHelp(StringRef name, ArrayRef<ast::Item> given,
                             const Statement &def) {
  bool isModule = llvm::any_of(def.body, [](const Statement *s) {
    return s->kind == StatementKind::Param;
  });
  if (!isModule)
    return "";
  ArrayRef<StringRef> wanted = wantedSizes(def);
  if (wanted.empty())
    return "; help: its sizes follow from the first use: write " + name.str();
  if (wanted.size() > 1 || given.size() != 2 ||
      !llvm::all_of(given, [](auto &item) { return item.name.empty(); }))
    return "";
  const ast::Expr &last = *given.back().value;
  std::string size(last.range.Start.getPointer(), last.range.End.getPointer());
  return "; help: the size of the input follows from the first use; write " +
         name.str() + "(" + size + ") for an output of " + size;
}

/// `nn.LSTM(.., num_layers = 2)`: what no module can be asked for, which a
/// suggestion for its name would drop.
static const ast::Item *structureIn(ArrayRef<ast::Item> items) {
  const ast::Item *found = llvm::find_if(items, [](const ast::Item &item) {
    return StringRef(ourWord(item.name, WordPlace::Size))
        .starts_with("; help: declare");
  });
  return found == items.end() ? nullptr : found;
}

/// Binds the sizes of a def: first the given ones, in order or by name, then
/// the values of the others, which may use the sizes before them. Returns false
/// after an error.
bool Elaborator::bindSizes(const Statement &def, StringRef name,
                           ArrayRef<ast::Item> given, SMLoc loc, Scope &scope,
                           const Bindings *bindings,
                           llvm::StringMap<Symbol> &sizes) {
  ArrayRef<StringRef> wanted = wantedSizes(def);
  for (auto [k, item] : llvm::enumerate(given)) {
    StringRef size = item.name;
    if (size.empty() && k >= wanted.size()) {
      bool isNamed = !wanted.empty() && k < def.sizes.size();
      std::string value(item.value->range.Start.getPointer(),
                        item.value->range.End.getPointer());
      error(Code::numberOfSizes, item.loc,
            "'" + name.str() + "' takes " + counted(wanted.size(), "size") +
                " but gets " + std::to_string(given.size()) +
                (isNamed
                     ? "; help: a size that has a value is given by name: " +
                           def.sizes[k].str() + " = " + value
                     : sizesHelp(name, given, def)),
            {{def.nameLoc, "'" + name.str() + "' is defined here"}});
      return false;
    }
    if (size.empty()) {
      size = wanted[k];
    } else if (!llvm::is_contained(def.sizes, size)) {
      std::string foreign = ourWord(size, WordPlace::Size);
      error(Code::numberOfSizes, item.loc,
            "'" + name.str() + "' has no size '" + size.str() + "'" +
                (foreign.empty() ? suggestion(size, def.sizes) : foreign));
      return false;
    }
    std::optional<Symbol> argument = sizeArgument(*item.value, scope, bindings);
    if (!argument)
      return false;
    if (!sizes.try_emplace(size, *argument).second) {
      error(Code::numberOfSizes, item.loc,
            "size '" + size.str() + "' is given twice");
      return false;
    }
  }
  for (StringRef size : wanted)
    if (!sizes.count(size)) {
      error(Code::numberOfSizes, loc,
            "'" + name.str() + "' needs its size '" + size.str() +
                "'; help: write " + name.str() + "(" +
                llvm::join(wanted, ", ") + ")",
            {{def.nameLoc, "'" + name.str() + "' is defined here"}});
      return false;
    }
  Scope &own = scopes.emplace_back();
  own.parent = preludeScope;
  own.isCall = true;
  own.def = &def;
  for (auto [size, value] : llvm::zip(def.sizes, def.sizeValues)) {
    if (!sizes.count(size)) {
      std::optional<Symbol> standard = sizeArgument(*value, own, nullptr);
      if (!standard)
        return false;
      sizes[size] = *standard;
    }
    own.symbols[size] = sizes[size];
  }
  return true;
}

/// The sizes of a module are at least 1; those with the value 0, at least 0.
/// Returns false after an error.
bool Elaborator::areSizes(const Statement &def, StringRef name,
                          ArrayRef<ast::Item> given,
                          const llvm::StringMap<Symbol> &sizes) {
  for (auto [k, item] : llvm::enumerate(given)) {
    StringRef size = item.name.empty() ? def.sizes[k] : item.name;
    const Symbol &symbol = sizes.find(size)->second;
    std::optional<int64_t> value =
        symbol.kind == Symbol::Size ? symbol.size.value() : std::nullopt;
    const ast::Expr *standard =
        def.sizeValues[llvm::find(def.sizes, size) - def.sizes.begin()];
    bool mayBeZero = standard && standard->kind == ExprKind::Integer &&
                     standard->integer == 0;
    if (!value || *value >= (mayBeZero ? 0 : 1))
      continue;
    error(Code::sizeTooSmall, item.loc,
          "size '" + size.str() + "' of '" + name.str() + "' is " +
              std::to_string(*value) + ", but a size is at least " +
              (mayBeZero ? "0" : "1"));
    return false;
  }
  return true;
}

Instance *Elaborator::instantiate(const ast::Expr &call,
                                  const std::string &path, Scope &scope,
                                  const Bindings *bindings) {
  // `name` or `name(sizes)`.
  const ast::Expr *callee = call.kind == ExprKind::Call ? call.args[0] : &call;
  ArrayRef<ast::Item> items =
      call.kind == ExprKind::Call ? call.items : ArrayRef<ast::Item>();
  bool isKnown = callee->kind == ExprKind::Name && lookup(scope, callee->name);
  if (const ast::Item *item = isKnown ? nullptr : structureIn(items)) {
    error(Code::moduleOption, item->loc,
          "a module is one layer in one direction" +
              ourWord(item->name, WordPlace::Size));
    return nullptr;
  }
  if (callee->kind != ExprKind::Name) {
    std::string written(callee->range.Start.getPointer(),
                        callee->range.End.getPointer());
    WordUse use{WordPlace::Module, std::nullopt, written};
    if (!isOfLibrary(*callee, scope, bindings, use))
      error(Code::unknownModule, callee->loc,
            "expected the name of a module" +
                ourWord(written, WordPlace::Module));
    return nullptr;
  }
  std::string name = callee->name.str();
  SmallVector<ast::Item, 4> given;
  std::string variant;
  for (const ast::Item &item : items) {
    // A flag selects another def of the prelude: linear(n, bias = false).
    StringRef value =
        item.value->kind == ExprKind::Name ? item.value->name : StringRef();
    bool isFlag = item.name == "bias" || item.name == "peephole";
    if (isFlag && value != "false" && value != "true") {
      error(Code::moduleOption, item.value->loc,
            "'" + item.name.str() + "' is true or false; help: write " +
                item.name.str() + " = " +
                (value.equals_insensitive("true") ? "true"
                 : value.equals_insensitive("false")
                     ? "false"
                     : "true or " + item.name.str() + " = false"));
      return nullptr;
    }
    if (item.name == "bias")
      variant += value == "false" ? "_unbiased" : "";
    else if (item.name == "peephole")
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
  if (given.size() > 1 && given.back().name.empty() &&
      isTruth(*given.back().value)) {
    error(Code::moduleOption, given.back().loc,
          "a flag of a module has a name; help: write bias = " +
              given.back().value->name.lower());
    return nullptr;
  }
  Symbol *symbol = lookup(scope, name);
  if (!symbol && !variant.empty() && lookup(scope, callee->name)) {
    error(Code::unknownModule, callee->loc,
          "there is no '" + name + "': '" + callee->name.str() +
              "' has no such variant");
    return nullptr;
  }
  if (!symbol) {
    undefined(callee->name, callee->loc, scope, bindings,
              {WordPlace::Module, std::nullopt, {}});
    return nullptr;
  }
  if (symbol->kind == Symbol::Mistake)
    return nullptr;
  if (symbol->kind != Symbol::Def) {
    error(Code::unknownModule, callee->loc, "'" + name + "' is not a module",
          {{symbol->loc, "it is declared here"}});
    return nullptr;
  }
  const Statement *def = symbol->statement;
  Instance *instance = &instances.emplace_back();
  instance->def = def;
  instance->path = path;
  if (!bindSizes(*def, name, given, call.loc, scope, bindings,
                 instance->sizes) ||
      !areSizes(*def, name, given, instance->sizes))
    return nullptr;
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
  own->def = def;
  for (auto &entry : instance->sizes)
    own->symbols[entry.first()] = entry.second;
  for (auto &entry : instance->firstUse)
    own->symbols[entry.first()] = {Symbol::Size, call.loc,
                                   Extent(entry.second)};
  instance->parameters = own;
  // Errors in its sizes are reported at the call.
  bool isPrelude = isInPrelude(def->nameLoc);
  if (isPrelude)
    preludeCalls.push_back({callee->loc, def});
  for (const Statement *s : instance->params) {
    declareParam(*s, *own);
    bool isUpdated = llvm::any_of(def->body, [&](const Statement *other) {
      return other->kind == StatementKind::Update &&
             other->lefts.front().name == s->array.name;
    });
    if (s->isState && !isUpdated)
      error(Code::state, s->array.loc,
            "state '" + s->array.name.str() +
                "' is never updated; help: write update " +
                s->array.name.str() + " = .. in '" + def->name.str() + "'");
  }
  if (isPrelude)
    preludeCalls.pop_back();
  return instance;
}

Member Elaborator::makeParam(const Statement &s, const std::string &path,
                             Scope &scope, const Bindings *bindings) {
  const ast::Expr &call = *s.module;
  const ast::Expr *callee = call.kind == ExprKind::Call ? call.args[0] : &call;
  StringRef kind = callee->kind == ExprKind::Name ? callee->name : StringRef();
  Member member;
  if (isTooMuch(s.array.loc))
    return member;
  if (kind != "vector" && kind != "matrix" && kind != "tensor") {
    llvm::SaveAndRestore level(depth, depth + 16);
    if (!isTooDeep(call.loc))
      member.instance = instantiate(call, path, scope, bindings);
    return member;
  }
  size_t rank = kind == "vector" ? 1 : kind == "matrix" ? 2 : call.items.size();
  if (call.kind != ExprKind::Call || call.items.size() != rank) {
    error(Code::numberOfSizes, call.loc,
          "'" + kind.str() + "' takes " + counted(rank, "size") + " but gets " +
              std::to_string(call.items.size()) +
              "; help: write vector(n), matrix(n, m) or tensor(n, "
              "m, k)");
    return member;
  }
  Array *array = &model->storage.emplace_back();
  array->source = Array::Param;
  array->name = array->text = path;
  array->loc = root.loc;
  array->root = root.text;
  array->kind = Kind::Real;
  for (const ast::Item &item : call.items) {
    std::optional<Extent> extent = size(*item.value, scope, bindings);
    if (!extent)
      return member;
    if (std::optional<int64_t> value = extent->value(); value && *value < 1) {
      error(Code::sizeTooSmall, item.loc,
            "a parameter has at least 1 value along each axis, not " +
                std::to_string(*value));
      return member;
    }
    if (extent->differs()) {
      error(Code::sizeOfExample, item.loc,
            "'" + s.array.name.str() +
                "' is a parameter, which has one size, but " + extent->text() +
                " differs between examples");
      return member;
    }
    array->declared.push_back(*extent);
  }
  array->valueShape = array->declared;
  StringRef defName =
      scope.instance ? scope.instance->def->name : StringRef("");
  array->initial = (defName + ":" + s.array.name).str();
  model->params.push_back(array);
  member.array = array;
  return member;
}

/// The members along one axis of a family, `l < L` or `p in {read, write}`.
/// Empty after an error.
std::vector<std::string> Elaborator::membersOf(const ast::Axis &axis,
                                               Family &family, Scope &scope) {
  std::vector<std::string> members;
  for (auto [k, label] : llvm::enumerate(axis.labels)) {
    Symbol constant{Symbol::Label, axis.loc};
    constant.label = k;
    Symbol *known = lookup(scope, label);
    if (!known)
      declare(scope, label, constant);
    else if (known->kind != Symbol::Label || known->label != int64_t(k)) {
      error(Code::declaredTwice, axis.loc,
            "label '" + label.str() + "' has another meaning",
            {{known->loc, "it is declared here"}});
      return {};
    }
    members.push_back(label.str());
  }
  if (!axis.extent)
    return members;
  std::optional<Extent> extent = size(*axis.extent, scope, nullptr);
  if (!extent)
    return {};
  std::optional<int64_t> value = extent->value();
  if (!value)
    error(Code::familySize, axis.loc,
          "a family has a fixed number of members, but " + extent->text() +
              " differs between examples");
  else if (*value < 1 || *value > maxMembers)
    error(Code::familySize, axis.loc,
          "'" + family.name + "' would have " + std::to_string(*value) +
              " members, but a family has at least 1 and at most "
              "4096");
  else
    for (int64_t k = 0; k < *value; ++k)
      members.push_back(std::to_string(k));
  return members;
}

/// Returns what an array of a state begins with, as Array::initial: a number,
/// or a parameter or state that is declared before. Empty after an error.
std::string Elaborator::beginningOf(const Statement &s, Array *array,
                                    StringRef path, Scope &scope,
                                    const Bindings *bindings) {
  // The name of a module means its array of the same name.
  llvm::SaveAndRestore<std::optional<Part>> inside(
      partOfModules, Part{array, array->name.substr(path.size())});
  Term *value = expression(*s.value, scope, bindings);
  if (!value)
    return "";
  if (value->kind == TermKind::Number) {
    std::string text = "= ";
    llvm::raw_string_ostream(text) << llvm::format("%.17g", value->number);
    return text;
  }
  Array *other = value->array;
  if (value->kind != TermKind::Read || !value->args.empty() || !other ||
      other->source != Array::Param || other == array) {
    error(Code::state, s.value->loc,
          "a state begins with a number that is known before anything runs, "
          "with a parameter that is declared before it, or, without either, as "
          "a parameter does");
    return "";
  }
  Shape mine(array->declared.begin(), array->declared.end()),
      theirs(other->declared.begin(), other->declared.end());
  auto areEqual = [](const Extent &a, const Extent &b) {
    return !a.value() || !b.value() || a.value() == b.value();
  };
  if (!llvm::equal(mine, theirs, areEqual)) {
    error(Code::state, s.value->loc,
          "'" + array->text + "' is " + shapeText(mine) + ", but '" +
              other->text + "', which it begins with, is " + shapeText(theirs));
    return "";
  }
  // The array of a module already has these sizes (partOf).
  if (model->bindings.empty() || model->bindings.back().term != value)
    model->bindings.push_back({value,
                               {array->declared.begin(), array->declared.end()},
                               s.value->loc,
                               "",
                               {}});
  bool isCopied = StringRef(other->initial).starts_with("= ") ||
                  StringRef(other->initial).starts_with("as ");
  return isCopied ? other->initial : "as " + other->name;
}

void Elaborator::beginState(const Statement &s, ArrayRef<Array *> arrays,
                            StringRef path, Scope &scope,
                            const Bindings *bindings) {
  for (Array *array : arrays) {
    array->isState = true;
    array->isOfModule = scope.instance;
    if (!s.value)
      continue;
    std::string initial = beginningOf(s, array, path, scope, bindings);
    if (initial.empty())
      return;
    array->initial = std::move(initial);
  }
}

void Elaborator::declareParam(const Statement &s, Scope &scope) {
  Symbol symbol{Symbol::Mistake, s.array.loc};
  symbol.statement = &s;
  Family *family = symbol.family = &families.emplace_back();
  family->name = s.array.name.str();
  family->loc = s.array.loc;
  Symbol *declared = declare(scope, s.array.name, symbol);
  if (!declared) {
    // Its callers mean this one.
    Symbol &other = scope.symbols[s.array.name];
    if (!other.family)
      other.kind = Symbol::Mistake;
    return;
  }
  // Each axis is bound by a static index: `cell[l < L]`.
  struct Path {
    StaticIndices at;
    std::string text;
    const Bindings *bindings = nullptr;
  };
  std::vector<Path> members(1);
  members[0].text = scope.prefix + family->name;
  for (const ast::Axis &axis : s.array.axes) {
    std::vector<std::string> names = membersOf(axis, *family, scope);
    if (names.empty())
      return;
    size_t total = members.size() * names.size();
    if (total > size_t(maxMembers))
      return error(Code::familySize, axis.loc,
                   "'" + family->name + "' would have " +
                       std::to_string(total) +
                       " members, but a family has at least 1 and at "
                       "most 4096");
    family->isStatic.push_back(true);
    if (!axis.labels.empty())
      family->labels[family->extents.size()] = names;
    std::optional<Extent> extent =
        axis.extent ? size(*axis.extent, scope, nullptr) : Extent(names.size());
    family->extents.push_back(extent);
    std::vector<Path> longer;
    for (const Path &prefix : members)
      for (auto [k, name] : llvm::enumerate(names)) {
        Path &path = longer.emplace_back(prefix);
        path.at.push_back(k);
        path.text += "." + name;
        if (axis.binder.empty())
          continue;
        bindingStorage.push_back(
            {prefix.bindings, axis.binder, nullptr, int64_t(k), true});
        path.bindings = &bindingStorage.back();
      }
    members = std::move(longer);
  }
  for (const Path &path : members) {
    // Declarations inside a module belong to the model's declaration.
    llvm::SaveAndRestore<Root> outer(root);
    if (!scope.instance)
      root = {s.array.loc, scope.prefix.empty() ? path.text : ""};
    size_t first = model->params.size(), firstModule = instances.size();
    Member member = makeParam(s, path.text, scope, path.bindings);
    if (s.isState) {
      SmallVector<Array *> arrays(llvm::drop_begin(model->params, first));
      beginState(s, arrays, path.text, scope, path.bindings);
      for (Instance &module : llvm::drop_begin(instances, firstModule))
        module.isState = true;
    }
    if (!member.array && !member.instance)
      return;
    family->members[path.at] = member;
  }
  declared->kind = Symbol::Equations;
}
