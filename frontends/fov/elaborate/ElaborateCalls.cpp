//===- ElaborateCalls.cpp - calls of defs and of modules ------------------===//
//
// Inlines a call of a def: its equations without places become names for
// values. Its equations with places become arrays of their own, with the
// caller's indices as context.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Options.h"
#include "frontends/fov/elaborate/Elaborate.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;
using ast::Statement;
using ast::StatementKind;

//===----------------------------------------------------------------------===//
// Defs
//===----------------------------------------------------------------------===//

bool Elaborator::isInPrelude(SMLoc loc) const {
  const char *at = loc.getPointer();
  StringRef text = prelude.source;
  return at >= text.begin() && at < text.end();
}

/// An error inside the prelude belongs to its caller.
void Elaborator::error(Code code, SMLoc loc, const std::string &text,
                       std::vector<Diagnostics::Note> notes) {
  if (isInPrelude(loc) && !preludeCalls.empty()) {
    auto call = llvm::find_if(llvm::reverse(preludeCalls), [&](auto &each) {
      return !isInPrelude(each.first);
    });
    if (call != preludeCalls.rend()) {
      notes.push_back(
          {loc, "in '" + call->second->name.str() + "' of the prelude"});
      loc = call->first;
    }
  }
  if (!loc.isValid() || reported.insert(loc.getPointer()).second)
    diagnostics.error(code, loc, text, std::move(notes));
}

Elaborator::Terms Elaborator::letTerms(Symbol &symbol, Scope &scope) {
  const Statement *s = symbol.statement;
  auto it = scope.lets.find(s);
  if (it == scope.lets.end()) {
    if (!scope.letsInProgress.insert(s).second) {
      error(Code::definedByItself, symbol.loc,
            "'" + s->lefts[symbol.component].name.str() +
                "' is defined by itself");
      return {};
    }
    Terms values = tuple(*s->value, scope, nullptr);
    scope.letsInProgress.erase(s);
    if (!spread(*s, values))
      values.clear();
    it = scope.lets.try_emplace(s, values).first;
  }
  if (symbol.component >= it->second.size())
    return {};
  return {it->second[symbol.component]};
}

std::string fov::signatureOf(StringRef name, const Statement &def) {
  std::vector<std::string> arguments;
  for (const ast::Parameter &parameter : def.parameters) {
    std::vector<std::string> axes;
    for (const Expr *axis : parameter.shape)
      axes.push_back(
          {axis->range.Start.getPointer(), axis->range.End.getPointer()});
    arguments.push_back(
        parameter.name.str() +
        (axes.empty() ? "" : "[" + llvm::join(axes, ",") + "]"));
  }
  return name.str() + "(" + llvm::join(arguments, ", ") + ")";
}

Elaborator::Terms Elaborator::callDef(const Statement &def, Instance *instance,
                                      ArrayRef<Term *> arguments,
                                      const llvm::StringMap<Symbol> &sizes,
                                      const Expr &expr, StringRef shownName) {
  SMLoc loc = expr.loc, callee = expr.range.Start;
  if (arguments.size() != def.parameters.size()) {
    error(Code::numberOfArguments, loc,
          "'" + shownName.str() + "' takes " +
              counted(def.parameters.size(), "value") + " but gets " +
              std::to_string(arguments.size()) + "; help: its arguments are " +
              signatureOf(shownName, def),
          {{def.nameLoc, "'" + def.name.str() + "' is defined here"}});
    return {};
  }
  llvm::SaveAndRestore level(depth, depth + 16);
  if (isTooDeep(loc) || isTooMuch(loc))
    return {};
  size_t firstTerm = model->terms.size(), firstIndex = model->indices.size(),
         firstBinding = model->bindings.size(), firstUse = model->uses.size(),
         firstArray = model->storage.size();
  bool isPrelude = isInPrelude(def.nameLoc);
  if (isPrelude)
    preludeCalls.push_back({callee, &def});
  llvm::scope_exit popCall([&] {
    if (isPrelude)
      preludeCalls.pop_back();
  });
  Scope *own = &scopes.emplace_back();
  own->isCall = true;
  own->instance = instance;
  own->def = &def;
  own->parent = instance ? instance->parameters->parent : preludeScope;
  if (!instance)
    for (Scope &s : scopes)
      if (s.symbols.count(def.name) && s.symbols[def.name].statement == &def) {
        own->parent = &s;
        break;
      }
  unsigned &count = callCounts[instance ? instance->path : def.name.str()];
  own->prefix = (instance ? instance->path : def.name.str()) +
                (count == 0 ? "." : "#" + std::to_string(count + 1) + ".");
  ++count;
  for (auto &entry : sizes)
    own->symbols[entry.first()] = entry.second;
  if (instance) {
    if (!instance->firstCall.isValid())
      instance->firstCall = loc;
    for (auto &entry : instance->parameters->symbols)
      own->symbols[entry.first()] = entry.second;
  }
  for (auto [k, parameter] : llvm::enumerate(def.parameters)) {
    Term *argument = arguments[k];
    for (IndexVar *var : argument->free)
      if (!llvm::is_contained(own->context, var))
        own->context.push_back(var);
    if (parameter.hasShape) {
      // A number is a vector of one. What has axes remains the array itself: a
      // sentence with its symbols.
      bool hasAxes = argument->kind == TermKind::Read && !argument->fallback &&
                     argument->args.size() < argument->array->numPlaces;
      if (parameter.shape.size() == 1 && !hasAxes) {
        Term *vector = make(TermKind::Vector, argument->loc, {argument});
        vector->range = argument->range;
        argument = vector;
      }
      SizeBinding binding;
      binding.term = argument;
      binding.loc = loc;
      binding.callee = shownName.str();
      binding.def = &def;
      binding.argument = k;
      binding.calleeLoc = instance && instance->firstCall != loc
                              ? instance->firstCall
                              : def.nameLoc;
      for (const Expr *axis : parameter.shape) {
        if (axis->kind == ExprKind::Integer) {
          binding.sizes.push_back(Extent(axis->integer));
          continue;
        }
        auto it = own->symbols.find(axis->name);
        // Sizes that no parameter's shape uses may differ from call to call.
        bool isShared = instance && instance->firstUse.count(axis->name) &&
                        usedByParameters(*instance, axis->name);
        if (it == own->symbols.end() ||
            (instance && instance->firstUse.count(axis->name) && !isShared &&
             !freshSizes.count({own, axis->name.str()}))) {
          freshSizes.insert({own, axis->name.str()});
          own->symbols[axis->name] = {Symbol::Size, loc,
                                      Extent(model->sizes.open(axis->name))};
          it = own->symbols.find(axis->name);
        }
        if (it->second.kind != Symbol::Size) {
          error(Code::notASize, axis->loc,
                "'" + axis->name.str() + "' is not a size");
          return {};
        }
        binding.sizes.push_back(it->second.size);
      }
      model->bindings.push_back(std::move(binding));
    }
    Symbol value{Symbol::Value, parameter.loc};
    value.value = argument;
    own->symbols[parameter.name] = value;
    // The argument's vocabulary, whose size the parameters have.
    if (instance) {
      auto it = instance->firstUse.find((parameter.name + ".vocab").str());
      if (it != instance->firstUse.end())
        model->vocabularyBindings.push_back({it->second, argument});
    }
  }
  Terms results;
  if (def.value) {
    results = tuple(*def.value, *own, nullptr);
  } else {
    Statements body;
    for (const Statement *s : def.body)
      if (s->kind != StatementKind::Param)
        body.push_back(s);
    registerNames(body, *own);
    declareAll(body, *own);
    findStaticIndices(body, *own);
    elaborateAll(body, *own);
    bool returned = false;
    for (const Statement *s : body)
      if (s->kind == StatementKind::Return) {
        returned = true;
        for (const Expr *value : s->values) {
          Term *term = expression(*value, *own, nullptr);
          if (!term) {
            return {};
          }
          results.push_back(term);
        }
        break;
      }
    if (!returned)
      error(Code::noReturn, def.nameLoc,
            "'" + def.name.str() + "' returns nothing");
  }
  if (!isPrelude)
    return results;
  // Report computations of the prelude at the call.
  diagnostics.addOrigin(callee, {def.nameLoc, "'" + def.name.str() +
                                                  "' of the prelude is "
                                                  "defined here"});
  for (Term &term : llvm::drop_begin(model->terms, firstTerm))
    term.loc = callee;
  for (IndexVar &var : llvm::drop_begin(model->indices, firstIndex))
    var.loc = var.originLoc = callee;
  for (SizeBinding &binding : llvm::drop_begin(model->bindings, firstBinding))
    if (isInPrelude(binding.loc))
      binding.loc = callee;
  for (IndexUse &use : llvm::drop_begin(model->uses, firstUse))
    use.loc = callee;
  for (Array &array : llvm::drop_begin(model->storage, firstArray)) {
    array.loc = callee;
    if (array.firstRead.isValid())
      array.firstRead = callee;
    for (Piece &piece : array.pieces) {
      piece.loc = callee;
      for (PiecePlace &place : piece.places)
        place.loc = callee;
    }
  }
  for (Term *result : results)
    if (isInPrelude(result->range.Start) || !result->range.isValid()) {
      result->loc = loc;
      result->range = expr.range;
    }
  return results;
}

/// Returns whether a parameter of the module has this size.
bool Elaborator::usedByParameters(const Instance &instance, StringRef size) {
  SmallVector<const Expr *> work;
  for (const Statement *s : instance.params) {
    work.push_back(s->module);
    for (const ast::Axis &axis : s->array.axes)
      if (axis.extent)
        work.push_back(axis.extent);
  }
  while (!work.empty()) {
    const Expr *expr = work.pop_back_val();
    if (expr->kind == ExprKind::Name && expr->name == size)
      return true;
    work.append(expr->args.begin(), expr->args.end());
    for (const ast::Item &item : expr->items)
      work.push_back(item.value);
  }
  return false;
}

/// Returns the def that a callee names, or null.
Symbol *Elaborator::knownDef(const Expr &callee, Scope &scope,
                             const Bindings *bindings) {
  if (callee.kind != ExprKind::Name)
    return nullptr;
  for (const Bindings *b = bindings; b; b = b->outer)
    if (b->name == callee.name)
      return nullptr;
  Symbol *symbol = lookup(scope, callee.name);
  return symbol && symbol->kind == Symbol::Def ? symbol : nullptr;
}

Elaborator::Terms Elaborator::call(const Expr &expr, Scope &scope,
                                   const Bindings *bindings) {
  const Expr &callee = *expr.args[0];
  if (isForeignCall(expr, scope, bindings))
    return {};
  if (callee.kind == ExprKind::Name && !lookup(scope, callee.name))
    return builtin(expr, callee.name, scope, bindings);
  // `x.sum(axis = 0)`: its arguments mean nothing.
  if (Path path; callee.kind == ExprKind::Member &&
                 !resolvePath(callee, scope, bindings, path))
    return {};
  SmallVector<Term *, 4> args;
  for (const ast::Item &item : expr.items) {
    if (!item.name.empty()) {
      error(Code::unknownArgument, item.loc,
            "the arguments of a call have no names; help: give the "
            "values alone, in the order of the definition");
      return {};
    }
    args.push_back(expression(*item.value, scope, bindings));
  }
  // An error in one argument does not hide errors in others.
  if (llvm::is_contained(args, nullptr))
    return {};

  // name(args) or name(sizes)(args): a def without parameters.
  bool withSizes = callee.kind == ExprKind::Call;
  const Expr &name = withSizes ? *callee.args[0] : callee;
  if (Symbol *symbol = knownDef(name, scope, bindings)) {
    const Statement &def = *symbol->statement;
    ArrayRef<ast::Item> given =
        withSizes ? callee.items : ArrayRef<ast::Item>();
    if (!callable(def, callee.loc))
      return {};
    // Sizes without a value cannot be left out.
    if (!withSizes && llvm::is_contained(def.sizeValues, nullptr)) {
      error(Code::numberOfSizes, callee.loc,
            "'" + def.name.str() + "' takes " +
                counted(llvm::count(def.sizeValues, nullptr), "size") +
                " but gets 0: write " + def.name.str() + "(...)(...)",
            {{def.nameLoc, "it is defined here"}});
      return {};
    }
    llvm::StringMap<Symbol> sizes;
    if (!bindSizes(def, def.name, given, callee.loc, scope, bindings, sizes))
      return {};
    return callDef(def, nullptr, args, sizes, expr, def.name);
  }

  // A module: name, family member, or a part of an import.
  SmallVector<const Expr *, 2> indices;
  const Expr *base = &callee;
  if (base->kind == ExprKind::Index) {
    indices.append(base->args.begin() + 1, base->args.end());
    base = base->args[0];
  }
  if (base->kind != ExprKind::Name && base->kind != ExprKind::Member) {
    error(Code::notCallable, callee.loc, "this cannot be called");
    return {};
  }
  Path path;
  if (!resolvePath(*base, scope, bindings, path))
    return {};
  std::string shown(callee.range.Start.getPointer(),
                    callee.range.End.getPointer());
  if (path.symbol->kind != Symbol::Equations) {
    error(Code::notCallable, callee.loc, "'" + shown + "' cannot be called",
          {{path.symbol->loc, "it is declared here"}});
    return {};
  }
  Member member;
  SmallVector<const Expr *, 2> rest;
  if (!resolveMember(*path.symbol->family, indices, scope, bindings, callee.loc,
                     member, rest))
    return {};
  if (!member.instance || !rest.empty()) {
    error(Code::notCallable, callee.loc,
          "'" + shown + "' is not a module and cannot be called",
          {{path.symbol->loc, "it is declared here"}});
    return {};
  }
  return callDef(*member.instance->def, member.instance, args,
                 member.instance->sizes, expr, shown);
}

/// A def with parameters is instantiated by `param`, never called directly.
bool Elaborator::callable(const Statement &def, SMLoc loc) {
  for (const Statement *s : def.body)
    if (s->kind == StatementKind::Param) {
      error(Code::defWithParameters, loc,
            "'" + def.name.str() +
                "' has parameters; help: declare one, param m : " +
                def.name.str() + (def.sizes.empty() ? "" : "(...)") +
                ", and apply it: m(x)",
            {{def.nameLoc, "it is defined here"}});
      return false;
    }
  return true;
}
