//===- ElaborateNames.cpp - names, paths and indices ---------------------===//
//
// Resolves a name with indices: to a member of a family, to a part of a module
// or of an import, and to the read that it becomes.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Elaborate.h"

#include <cmath>

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;

/// Splits the indices of a family into the member and the rest.
bool Elaborator::resolveMember(Family &family, ArrayRef<const Expr *> given,
                               Scope &scope, const Bindings *bindings,
                               SMLoc loc, Member &member,
                               SmallVector<const Expr *, 2> &rest) {
  StaticIndices at;
  for (auto [k, isStatic] : llvm::enumerate(family.isStatic)) {
    if (k >= given.size()) {
      if (!isStatic)
        continue;
      std::string size = std::to_string(family.members.size());
      bool isStackable = family.isEquation && family.isStatic.size() == 1;
      error(Code::memberIndex, loc,
            "'" + family.name + "' is a family of " + size +
                " members; help: select one with an index" +
                (isStackable ? ", or join all: stack[k < " + size + "](" +
                                   family.name + "[k])"
                             : ""),
            {{family.loc, "it is declared here"}});
      return false;
    }
    if (!isStatic) {
      rest.push_back(given[k]);
      continue;
    }
    std::optional<int64_t> value = staticValue(*given[k], scope, bindings);
    if (!value && family.hasMistake)
      return false;
    if (!value) {
      error(Code::memberIndex, given[k]->loc,
            "index of '" + family.name +
                "' selects a member, so it is a number known "
                "before anything runs",
            {{family.loc, "'" + family.name + "' is declared here"}});
      return false;
    }
    at.push_back(*value);
  }
  for (const Expr *expr :
       given.drop_front(std::min<size_t>(given.size(), family.isStatic.size())))
    rest.push_back(expr);
  if (family.isEquation) {
    member.array = memberArray(family, at, scope);
    if (!member.array->firstRead.isValid())
      member.array->firstRead = loc;
    return true;
  }
  auto it = family.members.find(at);
  if (it == family.members.end()) {
    std::string shown;
    for (int64_t k : at)
      shown += (shown.empty() ? "" : ",") + std::to_string(k);
    std::string extents;
    for (const std::optional<Extent> &extent : family.extents)
      extents += (extents.empty() ? "" : ",") +
                 std::to_string(extent ? extent->value().value_or(0) : 0);
    error(Code::memberIndex, loc,
          "'" + family.name + "[" + shown +
              "]' is outside the family, "
              "which has " +
              extents + " members",
          {{family.loc, "it is declared here"}});
    return false;
  }
  member = it->second;
  return true;
}

bool Elaborator::resolvePath(const Expr &expr, Scope &scope,
                             const Bindings *bindings, Path &path) {
  switch (expr.kind) {
  case ExprKind::Name:
    path.scope = &scope;
    path.symbol = lookup(scope, expr.name);
    if (!path.symbol) {
      undefined(expr.name, expr.loc, scope, bindings);
      return false;
    }
    return path.symbol->kind != Symbol::Mistake;
  case ExprKind::Index:
    if (!resolvePath(*expr.args[0], scope, bindings, path))
      return false;
    path.indices.append(expr.args.begin() + 1, expr.args.end());
    return true;
  case ExprKind::Member: {
    if (isOfLibrary(expr, scope, bindings))
      return false;
    bool isPath =
        llvm::is_contained({ExprKind::Name, ExprKind::Index, ExprKind::Member},
                           expr.args[0]->kind);
    if (!isPath)
      return noPart(expr, scope), false;
    if (!resolvePath(*expr.args[0], scope, bindings, path))
      return false;
    Scope *inside = nullptr;
    if (path.symbol->kind == Symbol::Import && path.indices.empty()) {
      inside = path.symbol->scope;
    } else if (path.symbol->kind == Symbol::Equations) {
      Member member;
      SmallVector<const Expr *, 2> rest;
      if (!resolveMember(*path.symbol->family, path.indices, scope, bindings,
                         expr.loc, member, rest))
        return false;
      if (member.instance && rest.empty())
        inside = member.instance->parameters;
    }
    if (!inside)
      return noPart(expr, scope), false;
    if (!inside->symbols.count(expr.name)) {
      undefined(expr.name, expr.loc, *inside, nullptr);
      return false;
    }
    path.scope = inside;
    path.symbol = lookup(*inside, expr.name);
    path.indices.clear();
    return path.symbol->kind != Symbol::Mistake;
  }
  default:
    error(Code::notAValue, expr.loc, "expected a name");
    return false;
  }
}

Term *Elaborator::nameTerm(const Expr &expr, Scope &scope,
                           const Bindings *bindings) {
  StringRef name = expr.name;
  for (const Bindings *b = bindings; b; b = b->outer)
    if (b->name == name) {
      if (b->number)
        return number(*b->number, expr.loc, true);
      return boundIndex(b->var, expr.loc);
    }
  if (name == "true" || name == "false") {
    Term *term = number(name == "true", expr.loc, true);
    term->kindOf = Kind::Bit;
    return term;
  }
  if (name == "inf")
    return number(INFINITY, expr.loc, false);
  Symbol *symbol = lookup(scope, name);
  if (!symbol) {
    undefined(name, expr.loc, scope, bindings);
    return nullptr;
  }
  switch (symbol->kind) {
  case Symbol::Mistake:
    return nullptr;
  case Symbol::Size:
    if (const Atom *length = symbol->size.length();
        length && !length->parent.empty()) {
      error(Code::nestedLength, expr.loc,
            "'" + name.str() + "' differs for each place of " + length->parent +
                "; help: write " + name.str() + "[...] with one of them",
            {{symbol->loc, "it is declared here"}});
      return nullptr;
    }
    return sizeTerm(symbol->size, expr.loc);
  case Symbol::Label:
    return number(symbol->label, expr.loc, true);
  case Symbol::Number:
  case Symbol::Value:
    return symbol->value;
  case Symbol::Let: {
    Terms values = letTerms(*symbol, scope);
    return values.empty() ? nullptr : values[0];
  }
  case Symbol::Equations: {
    Member member;
    SmallVector<const Expr *, 2> rest;
    if (!resolveMember(*symbol->family, {}, scope, bindings, expr.loc, member,
                       rest))
      return nullptr;
    if (member.instance && partOfModules)
      return partOf(*member.instance, expr.loc);
    if (member.instance) {
      error(Code::moduleAsValue, expr.loc,
            "'" + name.str() + "' is a module; help: apply it: " + name.str() +
                "(...)",
            {{symbol->loc, "it is declared here"}});
      return nullptr;
    }
    Term *term = make(TermKind::Read, expr.loc);
    term->array = member.array;
    findFree(*term);
    return term;
  }
  default:
    error(Code::notAValue, expr.loc,
          "'" + name.str() + "' is not a value" +
              (symbol->kind == Symbol::Vocab
                   ? "; help: write " + name.str() +
                         ".size for its number of symbols"
                   : ""),
          {{symbol->loc, "it is declared here"}});
    return nullptr;
  }
}

Term *Elaborator::indexTerm(const Expr &expr, Scope &scope,
                            const Bindings *bindings) {
  const Expr &base = *expr.args[0];
  Term *value = nullptr;
  SmallVector<const Expr *, 2> rest(expr.args.begin() + 1, expr.args.end());
  bool isPath = base.kind == ExprKind::Name || base.kind == ExprKind::Member;
  bool isBound = false;
  if (base.kind == ExprKind::Name)
    for (const Bindings *b = bindings; b; b = b->outer)
      isBound |= b->name == base.name;
  if (isPath && !isBound) {
    Path path;
    if (!resolvePath(base, scope, bindings, path))
      return nullptr;
    Symbol &symbol = *path.symbol;
    if (symbol.kind == Symbol::LengthFamily || symbol.kind == Symbol::Size) {
      std::optional<Extent> extent = size(expr, scope, bindings);
      if (!extent)
        return nullptr;
      Term *term = sizeTerm(*extent, expr.loc);
      // A nested length as a number: W[m].
      if (symbol.kind == Symbol::Size) {
        Term *parent = expression(*rest[0], scope, bindings);
        if (!parent)
          return nullptr;
        term->args.push_back(parent);
        findFree(*term);
      }
      return term;
    }
    if (symbol.kind == Symbol::Equations) {
      Member member;
      SmallVector<const Expr *, 2> unused;
      if (!resolveMember(*symbol.family, rest, scope, bindings, expr.loc,
                         member, unused))
        return nullptr;
      if (member.instance && partOfModules && unused.empty())
        return partOf(*member.instance, expr.loc);
      if (member.instance) {
        error(Code::moduleAsValue, expr.loc,
              "'" + symbol.family->name + "' is a module; help: apply it: " +
                  symbol.family->name + "(...)",
              {{symbol.loc, "it is declared here"}});
        return nullptr;
      }
      value = make(TermKind::Read, base.loc);
      value->array = member.array;
      value->range = expr.range;
      findFree(*value);
      rest = unused;
    }
  }
  if (!value)
    value = expression(base, scope, bindings);
  if (!value)
    return nullptr;
  if (rest.empty())
    return value;
  SmallVector<Term *, 2> indices;
  for (const Expr *arg : rest) {
    Term *term = expression(*arg, scope, bindings);
    if (!term)
      return nullptr;
    indices.push_back(term);
  }
  Term *result = index(value, indices, expr.loc);
  result->range = expr.range;
  result->loc = base.loc;
  return result;
}

Term *Elaborator::memberTerm(const Expr &expr, Scope &scope,
                             const Bindings *bindings) {
  if (expr.name == "vocab" || expr.name == "classes" || expr.name == "size") {
    std::optional<Extent> extent = size(expr, scope, bindings);
    return extent ? sizeTerm(*extent, expr.loc) : nullptr;
  }
  Path path;
  if (!resolvePath(expr, scope, bindings, path))
    return nullptr;
  Expr name = expr;
  name.kind = ExprKind::Name;
  return nameTerm(name, *path.scope, nullptr);
}
