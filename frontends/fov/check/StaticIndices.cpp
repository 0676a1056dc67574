//===- StaticIndices.cpp - which indices select members of a family -------===//
//
// An index is static if it selects a member of a family (`cell[l](..)`) or
// occurs in a `length`. It is also static if an axis that it indexes is static
// in another equation. An axis is static if its places can only be ordered
// member by member. Finds static indices and their ranges by a fixed point over
// the syntax of one scope (GRAMMAR 4). Static indices are expanded before
// inference, so their ranges use only dims.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/elaborate/Elaborate.h"

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;
using ast::Statement;
using ast::StatementKind;

namespace {

/// An index of a statement, or of a reduction in it.
struct Candidate {
  std::string name;
  SMLoc loc;
  const void *owner; // the statement, or the binder
  const Expr *stated;
  bool isReduced = false; // of a reduction
  bool isStatic = false;
  std::optional<Extent> extent = {}; // has a value
  int strength = 9;
  SMLoc originLoc = {};    // of the use that gave the extent
  std::string origin = {}; // `cell[l]`
};

/// A candidate at an axis of a family.
struct Use {
  Candidate *candidate;
  Family *family;
  unsigned axis;
  int64_t shift;
  bool isAffine; // candidate + shift; otherwise anything that contains it
  bool isLeft;
  const Statement *statement;
  SMLoc loc;
};

struct Env {
  const Env *outer;
  Candidate *candidate;
};

} // namespace

namespace fovea::fov {

class StaticAnalysis {
public:
  StaticAnalysis(Elaborator &elaborator, Scope &scope)
      : elaborator(elaborator), scope(scope) {}

  void run(const std::vector<const Statement *> &statements) {
    for (const Statement *s : statements)
      collect(*s);
    do
      spread();
    while (makeMembers());
    if (!llvm::any_of(candidates, [](auto &c) { return c.isStatic; }))
      return;
    findRanges();
    findLabels();
    for (Candidate &candidate : candidates) {
      if (!candidate.isStatic)
        continue;
      if (!candidate.extent && candidate.isReduced && candidate.stated) {
        candidate.extent = 0;
      } else if (!candidate.extent) {
        elaborator.error(Code::noRange, candidate.loc,
                         "nothing gives index '" + candidate.name +
                             "' a range; help: write " + candidate.name +
                             " < ...");
        mistake(candidate);
        candidate.extent = 0;
      }
      elaborator.staticExtents[{candidate.owner, candidate.name}] =
          *candidate.extent;
    }
  }

private:
  void collect(const Statement &s);
  void makeStatic(StringRef name, SMLoc loc, const Statement &s,
                  const Env *&env);
  void walk(const Expr &expr, const Env *env, const Statement &s);
  void useAll(const Expr &expr, const Env *env);
  void usesAt(const Expr &arg, const Env *env, Family *family, unsigned axis,
              const Statement &s);
  Family *familyOf(const Expr &base, bool &isLength);
  void spread();
  bool makeMembers();
  bool dependsOn(Family *from, const Statement &on);
  void findRanges();
  void findLabels();
  void readStated(Candidate &candidate);
  /// Records a reported mistake in the families that the candidate selects
  /// from.
  void mistake(const Candidate &candidate) {
    for (Use &use : uses)
      if (use.candidate == &candidate && use.isLeft)
        use.family->hasMistake = true;
  }
  void disagreements();
  bool isSelf(const Use &use);
  bool offer(const Use &use, const Extent &extent, int strength);

  static Candidate *find(const Env *env, StringRef name) {
    for (; env; env = env->outer)
      if (env->candidate->name == name)
        return env->candidate;
    return nullptr;
  }

  Elaborator &elaborator;
  Scope &scope;
  std::deque<Candidate> candidates;
  std::deque<Env> envs;
  std::vector<Use> uses;
  /// The equations that each name reads, and the axes that some equation fixes
  /// to one place.
  std::map<Family *, std::set<Family *>> reads;
  std::set<std::pair<Family *, unsigned>> ownPlaces;
};

} // namespace fovea::fov

Family *StaticAnalysis::familyOf(const Expr &base, bool &isLength) {
  isLength = false;
  Scope *where = &scope;
  StringRef name = base.name;
  if (base.kind == ExprKind::Member && base.args[0]->kind == ExprKind::Name) {
    Symbol *import = elaborator.lookup(scope, base.args[0]->name);
    if (!import || import->kind != Symbol::Import)
      return nullptr;
    where = import->scope;
  } else if (base.kind != ExprKind::Name) {
    return nullptr;
  }
  Symbol *symbol = elaborator.lookup(*where, name);
  if (!symbol && scope.instance && scope.instance->parameters)
    symbol = elaborator.lookup(*scope.instance->parameters, name);
  if (!symbol)
    return nullptr;
  isLength = symbol->kind == Symbol::LengthFamily;
  return symbol->family;
}

/// Marks every candidate inside `expr` static, except for the index of a length
/// from the data: W[m].
void StaticAnalysis::useAll(const Expr &expr, const Env *env) {
  if (expr.kind == ExprKind::Name)
    if (Candidate *candidate = find(env, expr.name))
      candidate->isStatic = true;
  if (expr.kind == ExprKind::Index && expr.args[0]->kind == ExprKind::Name)
    if (Symbol *symbol = elaborator.lookup(scope, expr.args[0]->name);
        symbol && symbol->kind == Symbol::Size)
      return;
  for (const Expr *arg : expr.args)
    useAll(*arg, env);
}

void StaticAnalysis::usesAt(const Expr &arg, const Env *env, Family *family,
                            unsigned axis, const Statement &s) {
  auto add = [&](Candidate *candidate, int64_t shift, bool isAffine) {
    uses.push_back(
        {candidate, family, axis, shift, isAffine, false, &s, arg.loc});
  };
  if (arg.kind == ExprKind::Name) {
    if (Candidate *candidate = find(env, arg.name))
      add(candidate, 0, true);
    return;
  }
  bool sum = arg.kind == ExprKind::Binary &&
             (arg.op == ast::Op::Add || arg.op == ast::Op::Sub) &&
             arg.args[0]->kind == ExprKind::Name &&
             arg.args[1]->kind == ExprKind::Integer &&
             arg.args[1]->integer <= maxShift;
  if (sum)
    if (Candidate *candidate = find(env, arg.args[0]->name)) {
      int64_t shift = arg.args[1]->integer;
      add(candidate, arg.op == ast::Op::Add ? shift : -shift, true);
      return;
    }
  // Anything else: every candidate inside it.
  SmallVector<const Expr *> work(arg.args.begin(), arg.args.end());
  while (!work.empty()) {
    const Expr *part = work.pop_back_val();
    if (part->kind == ExprKind::Name)
      if (Candidate *candidate = find(env, part->name))
        add(candidate, 0, false);
    if (part->kind != ExprKind::Index)
      work.append(part->args.begin(), part->args.end());
  }
}

void StaticAnalysis::walk(const Expr &expr, const Env *env,
                          const Statement &s) {
  if (expr.kind == ExprKind::Name)
    if (Symbol *symbol = elaborator.lookup(scope, expr.name);
        symbol && symbol->family && symbol->family->isEquation)
      for (const ast::Left &left : s.lefts)
        if (Symbol *given = elaborator.lookup(scope, left.name);
            given && given->family)
          reads[given->family].insert(symbol->family);
  if (expr.kind == ExprKind::Index) {
    bool isLength;
    Family *family = familyOf(*expr.args[0], isLength);
    if (isLength)
      for (const Expr *arg : expr.args.drop_front())
        useAll(*arg, env);
    if (family)
      for (auto [k, arg] : llvm::enumerate(expr.args.drop_front()))
        usesAt(*arg, env, family, k, s);
  }
  if (expr.kind == ExprKind::Reduce) {
    const Env *inner = env;
    for (const ast::Binder &binder : expr.binders) {
      candidates.push_back(
          {binder.name.str(), binder.loc, &binder, binder.extent, true});
      envs.push_back({inner, &candidates.back()});
      inner = &envs.back();
      // An index in an extent is static: members differ in it.
      if (binder.extent) {
        useAll(*binder.extent, env);
        walk(*binder.extent, env, s);
      }
    }
    if (expr.condition)
      walk(*expr.condition, inner, s);
    for (const ast::Item &item : expr.items)
      walk(*item.value, inner, s);
    return;
  }
  for (const Expr *arg : expr.args)
    walk(*arg, env, s);
  for (const ast::Item &item : expr.items)
    walk(*item.value, env, s);
}

/// An index that counts how far ahead a place is.
void StaticAnalysis::makeStatic(StringRef name, SMLoc loc, const Statement &s,
                                const Env *&env) {
  Candidate *candidate = find(env, name);
  if (!candidate && !elaborator.lookup(scope, name)) {
    candidates.push_back({name.str(), loc, &s, nullptr});
    candidate = &candidates.back();
    envs.push_back({env, candidate});
    env = &envs.back();
  }
  if (candidate)
    candidate->isStatic = true;
}

void StaticAnalysis::collect(const Statement &s) {
  bool isEquation = s.kind == StatementKind::Equation ||
                    s.kind == StatementKind::Choice ||
                    s.kind == StatementKind::Update;
  if (!isEquation && s.kind != StatementKind::Penalty &&
      s.kind != StatementKind::Return)
    return;
  const Env *env = nullptr;
  for (const ast::Left &left : s.lefts) {
    Symbol *symbol = elaborator.lookup(scope, left.name);
    Family *family = symbol ? symbol->family : nullptr;
    for (auto [k, place] : llvm::enumerate(left.places)) {
      const Expr *value = place.value;
      int64_t shift = 0;
      if (value->kind == ExprKind::Binary && value->op == ast::Op::Add &&
          value->args[0]->kind == ExprKind::Name &&
          value->args[1]->kind == ExprKind::Integer &&
          value->args[1]->integer <= maxShift) {
        shift = value->args[1]->integer;
        value = value->args[0];
      }
      // word[t+n+1]: n is known before anything runs.
      SmallVector<const Expr *, 2> addends;
      const Expr *first = value;
      for (; first->kind == ExprKind::Binary && first->op == ast::Op::Add;
           first = first->args[0])
        addends.push_back(first->args[1]);
      auto isName = [](const Expr *each) {
        return each->kind == ExprKind::Name;
      };
      bool isSum = isName(first) && llvm::any_of(addends, isName) &&
                   llvm::all_of(addends, [&](const Expr *each) {
                     return isName(each) || each->kind == ExprKind::Integer;
                   });
      if (isSum) {
        for (const Expr *addend : addends)
          if (isName(addend))
            makeStatic(addend->name, place.loc, s, env);
        value = first;
      }
      if (value->kind == ExprKind::Integer && family)
        ownPlaces.insert({family, unsigned(k)});
      if (value->kind != ExprKind::Name)
        continue;
      Symbol *known = elaborator.lookup(scope, value->name);
      if (known && known->kind != Symbol::Def &&
          known->kind != Symbol::Equations && known->kind != Symbol::Let)
        continue;
      Candidate *candidate = find(env, value->name);
      if (!candidate) {
        candidates.push_back({value->name.str(), place.loc, &s, place.bound});
        candidate = &candidates.back();
        envs.push_back({env, candidate});
        env = &envs.back();
      }
      if (place.bound) {
        useAll(*place.bound, env);
        walk(*place.bound, env, s);
      }
      if (family && k < family->isStatic.size())
        uses.push_back({candidate, family, unsigned(k), shift, !isSum, true, &s,
                        place.loc});
    }
  }
  if (s.value)
    walk(*s.value, env, s);
  for (const Expr *value : s.values)
    walk(*value, env, s);
}

/// A static axis makes its indices static, and a static index its axes.
void StaticAnalysis::spread() {
  for (bool changed = true; changed;) {
    changed = false;
    for (Use &use : uses) {
      if (use.axis >= use.family->isStatic.size())
        continue;
      if (use.family->isStatic[use.axis] && !use.candidate->isStatic)
        use.candidate->isStatic = changed = true;
      if (use.isLeft && use.candidate->isStatic &&
          !use.family->isStatic[use.axis] && use.family->isEquation) {
        use.family->isStatic[use.axis] = true;
        changed = true;
      }
    }
  }
}

/// Returns whether an equation depends on `on`, directly or
/// indirectly.
bool StaticAnalysis::dependsOn(Family *from, const Statement &on) {
  std::set<Family *> seen{from};
  SmallVector<Family *> work{from};
  while (!work.empty())
    for (Family *next : reads[work.pop_back_val()])
      if (seen.insert(next).second)
        work.push_back(next);
  return llvm::any_of(on.lefts, [&](const ast::Left &left) {
    Symbol *symbol = elaborator.lookup(scope, left.name);
    return symbol && symbol->family && seen.count(symbol->family);
  });
}

/// v[0] = .., v[l < L] = f(y[0]), y[l] = g(cell[l](v[l])): v is computed from
/// the members of y. These depend on v's places, and one place has its own
/// equation. Only a member-by-member order exists, so v is a family as well.
/// Returns true if one was found.
bool StaticAnalysis::makeMembers() {
  bool found = false;
  for (const Use &use : uses) {
    Family &family = *use.family;
    if (use.isLeft || !use.isAffine || !use.candidate->isStatic ||
        !family.isEquation || use.axis >= family.isStatic.size() ||
        family.isStatic[use.axis] || !ownPlaces.count({&family, use.axis}) ||
        !dependsOn(&family, *use.statement))
      continue;
    family.isStatic[use.axis] = found = true;
  }
  return found;
}

bool StaticAnalysis::offer(const Use &use, const Extent &extent, int strength) {
  Candidate &candidate = *use.candidate;
  if (candidate.extent && candidate.strength <= strength)
    return false;
  bool same = candidate.extent && *candidate.extent->value() == *extent.value();
  candidate.extent = extent;
  candidate.strength = strength;
  candidate.originLoc = use.loc;
  candidate.origin = use.family->name + "[" + candidate.name + "]";
  return !same;
}

/// Returns whether a statement reads its own result.
bool StaticAnalysis::isSelf(const Use &use) {
  return llvm::any_of(use.statement->lefts, [&](const ast::Left &left) {
    Symbol *symbol = elaborator.lookup(scope, left.name);
    return symbol && symbol->family == use.family;
  });
}

/// `l < L`; the range of `sum[l < m + 1]` differs for each m.
void StaticAnalysis::readStated(Candidate &candidate) {
  if (candidate.isReduced &&
      !elaborator.size(*candidate.stated, scope, nullptr, /*report=*/false))
    return;
  std::optional<Extent> extent =
      elaborator.size(*candidate.stated, scope, nullptr);
  std::optional<int64_t> value = extent ? extent->value() : std::nullopt;
  if (extent && (!value || *value < 0)) {
    elaborator.error(Code::memberIndex, candidate.stated->loc,
                     "index '" + candidate.name +
                         "' selects members, so its range cannot be " +
                         extent->text() +
                         (value ? "" : ", which differs between examples"));
    mistake(candidate);
  }
  candidate.extent = value.value_or(0) < 0 || !value ? Extent(0) : *extent;
  candidate.strength = 1;
}

void StaticAnalysis::findRanges() {
  for (Candidate &candidate : candidates)
    if (candidate.isStatic && candidate.stated)
      readStated(candidate);
  // A rule is tried only when the stronger ones find nothing more.
  for (int strength = 2; strength <= 5;) {
    bool changed = false;
    // The left side of a general equation determines an axis's range.
    for (Use &use : uses)
      if (use.isLeft && use.candidate->isStatic && use.candidate->extent &&
          use.family->isEquation) {
        auto &extent = use.family->extents[use.axis];
        Extent size = *use.candidate->extent + Extent(use.shift);
        if (!extent || *extent->value() < *size.value()) {
          extent = size;
          changed = true;
        }
      }
    for (Use &use : uses) {
      Candidate &candidate = *use.candidate;
      if (!candidate.isStatic || !use.isAffine ||
          use.axis >= use.family->isStatic.size() ||
          !use.family->isStatic[use.axis])
        continue;
      std::optional<Extent> extent = use.family->extents[use.axis];
      if (extent && use.shift == 0 && !use.family->isEquation && !use.isLeft)
        changed |= offer(use, *extent, 2);
      else if (strength >= 3 && extent && use.shift == 0 && !use.isLeft &&
               !isSelf(use))
        changed |= offer(use, *extent, 3);
      else if (strength >= 4 && extent && use.shift < 0 && !use.isLeft &&
               !isSelf(use))
        changed |= offer(use, *extent, 4);
      else if (strength >= 4 && extent && use.isLeft && use.shift == 0 &&
               !candidate.extent)
        changed |= offer(use, *extent, 5);
      else if (strength >= 5 && extent && use.shift > 0 && !use.isLeft &&
               !candidate.extent && *extent->value() > use.shift)
        changed |= offer(use, *extent - Extent(use.shift), 5);
      // The requirements of a reader.
      if (strength >= 5 && !extent && candidate.extent && use.shift == 0 &&
          !use.isLeft) {
        use.family->extents[use.axis] = candidate.extent;
        changed = true;
      }
    }
    if (!changed)
      ++strength;
  }
  disagreements();
}

/// An index over labels passes them to its axes on the left:
/// `w[p,t] = f(head[p](..))` with `head[p in {read, write}]`.
void StaticAnalysis::findLabels() {
  for (bool changed = true; changed;) {
    changed = false;
    std::map<Candidate *, const std::vector<std::string> *> known;
    for (const Use &use : uses)
      if (auto it = use.family->labels.find(use.axis);
          it != use.family->labels.end() && use.isAffine && use.shift == 0)
        known.try_emplace(use.candidate, &it->second);
    for (const Use &use : uses) {
      auto it = known.find(use.candidate);
      if (it != known.end() && use.isLeft && use.shift == 0 &&
          use.candidate->isStatic && use.family->isEquation &&
          use.family->extents[use.axis] == Extent(it->second->size()))
        changed |= use.family->labels.try_emplace(use.axis, *it->second).second;
    }
  }
}

/// GRAMMAR 8.2, for members: two declared families of different sizes.
void StaticAnalysis::disagreements() {
  for (Use &use : uses) {
    Candidate &candidate = *use.candidate;
    if (!candidate.isStatic || !use.isAffine || use.shift != 0 || use.isLeft ||
        candidate.strength == 1 || candidate.strength > 3 ||
        use.axis >= use.family->extents.size() || use.family->isEquation)
      continue;
    const std::optional<Extent> &given = use.family->extents[use.axis];
    std::optional<int64_t> extent = given ? given->value() : std::nullopt,
                           own = candidate.extent->value();
    if (!extent || extent == own)
      continue;
    std::string stated = candidate.name + " < " + std::to_string(*own);
    for (const Use &left : uses)
      if (left.isLeft && left.candidate == &candidate) {
        stated = left.family->name + "[" + stated + "]";
        break;
      }
    elaborator.error(
        Code::twoRanges, use.loc,
        "index '" + candidate.name + "' has two ranges: " +
            std::to_string(*own) + " from " + candidate.origin + " (" +
            elaborator.diagnostics.lineText(candidate.originLoc, use.loc) +
            ") and " + std::to_string(*extent) + " from " + use.family->name +
            "[" + candidate.name + "] here; help: state one: " + stated,
        {{candidate.originLoc, "the other range comes from here"}});
  }
}

void Elaborator::findStaticIndices(const Statements &statements, Scope &scope) {
  StaticAnalysis(*this, scope).run(statements);
}
