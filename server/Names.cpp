//===- Names.cpp - which name means which declaration ---------------------===//
//
// One walk over each file: its declarations, then the names in them. A name
// without a meaning has no occurrence; the compiler reports the error.
//
//===----------------------------------------------------------------------===//

#include "server/Names.h"
#include "frontends/fov/Options.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace fovea;
using namespace fovea::editors;
using ast::Expr;
using ast::ExprKind;
using ast::Statement;
using ast::StatementKind;
using llvm::ArrayRef;
using llvm::StringRef;

namespace fovea::editors {

class Resolver {
public:
  explicit Resolver(Names &names) : names(names) {}

  void run() {
    names.scopes.resize(names.all.size());
    for (file = 0; file < names.all.size(); ++file)
      resolveFile();
    llvm::sort(names.written, [](const auto &a, const auto &b) {
      return std::pair(a.text.data(), a.declaration) <
             std::pair(b.text.data(), b.declaration);
    });
    // A shape that several names share is visited with each of them.
    auto isSame = [](const auto &a, const auto &b) {
      return a.text.data() == b.text.data();
    };
    names.written.erase(
        std::unique(names.written.begin(), names.written.end(), isSame),
        names.written.end());
  }

private:
  using Kind = Declaration::Kind;
  using Table = std::map<StringRef, unsigned>;

  struct Scope {
    Table *table;
    const Scope *outer;
    bool isDef = false; // of what lies outside only defs are seen
  };

  void resolveFile();
  void declareAll(ArrayRef<Statement *> statements, Scope &scope);
  void declare(Kind kind, StringRef name, const Statement *statement,
               Scope &scope);
  void declareAxes(const Statement &statement, Scope &scope);
  std::optional<unsigned> lookup(StringRef name, const Scope &scope) const;
  std::optional<unsigned> memberOf(unsigned declaration, StringRef name) const;
  std::optional<unsigned> use(StringRef name, const Scope &scope);
  void mark(StringRef text, unsigned declaration) {
    names.written.push_back({text, declaration});
  }

  void visitStatements(ArrayRef<Statement *> statements, Scope &scope);
  void visitStatement(const Statement &statement, Scope &scope);
  void visitArray(const Statement &statement, Scope &scope);
  void visitDef(const Statement &statement, Scope &scope);
  void visitUse(const Statement &statement, Scope &scope);
  void visitBlock(const Statement &statement, Scope &scope);
  void visitLeft(const ast::Left &left, Scope &scope);
  void visitPlace(const ast::Place &place, Scope &scope);
  std::optional<unsigned> visit(const Expr *expr, Scope &scope);
  void visitItems(ArrayRef<ast::Item> items, std::optional<unsigned> callee,
                  Scope &scope);

  Names &names;
  unsigned file = 0;
  const Statement *statement = nullptr; // that is visited
  const Statement *def = nullptr;
};

} // namespace fovea::editors

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Resolver::declare(Kind kind, StringRef name, const Statement *by,
                       Scope &scope) {
  auto [it, isNew] = scope.table->try_emplace(name, names.declared.size());
  if (isNew)
    names.declared.push_back({kind, name, file, by, def, {}});
  // The equations of a name, also where they replace what is included.
  Declaration &known = names.declared[it->second];
  bool defines =
      isNew || kind == Declaration::Equation || kind == Declaration::Length;
  if (defines && known.kind == kind) {
    // Where a file replaces an equation, its own place comes first.
    if (!isNew && known.file != file) {
      known.file = file;
      known.statement = by;
      known.places.insert(known.places.begin(), name);
    } else {
      known.places.push_back(name);
    }
  }
  mark(name, it->second);
}

/// The lengths that come with data, and labels.
void Resolver::declareAxes(const Statement &by, Scope &scope) {
  for (const ast::Axis &axis : by.array.axes) {
    for (StringRef label : axis.labels)
      declare(Declaration::Label, label, &by, scope);
    const Expr *length = axis.extent;
    if (length && length->kind == ExprKind::Index)
      length = length->args[0];
    if (by.kind == StatementKind::Data && length &&
        length->kind == ExprKind::Name && !lookup(length->name, scope))
      declare(Declaration::Length, length->name, &by, scope);
  }
}

void Resolver::declareAll(ArrayRef<Statement *> statements, Scope &scope) {
  for (const Statement *s : statements)
    switch (s->kind) {
    case StatementKind::Dim:
      declare(Declaration::Dim, s->name, s, scope);
      break;
    case StatementKind::Const:
      declare(Declaration::Const, s->name, s, scope);
      break;
    case StatementKind::Vocab:
      declare(Declaration::Vocabulary, s->name, s, scope);
      break;
    case StatementKind::Length:
      declare(Declaration::Length, s->name, s, scope);
      break;
    case StatementKind::Data:
      declare(Declaration::Data, s->array.name, s, scope);
      break;
    case StatementKind::Param:
      declare(Declaration::Param, s->array.name, s, scope);
      break;
    case StatementKind::Def:
      declare(Declaration::Def, s->name, s, scope);
      break;
    case StatementKind::Use:
      if (!s->name.empty())
        declare(Declaration::Import, s->name, s, scope);
      break;
    default:
      break;
    }
  for (const Statement *s : statements)
    if (s->kind == StatementKind::Data || s->kind == StatementKind::Param)
      declareAxes(*s, scope);
  for (const Statement *s : statements)
    if (s->kind == StatementKind::Equation || s->kind == StatementKind::Choice)
      for (const ast::Left &left : s->lefts)
        declare(Declaration::Equation, left.name, s, scope);
}

void Resolver::resolveFile() {
  Names::File &own = names.all[file];
  Table &table = names.scopes[file];
  // What is included is here under its own name.
  for (const Statement *s : own.ast->statements) {
    auto used = own.used.find(s->model.str());
    bool isInclusion = s->kind == StatementKind::Use && s->name.empty();
    if (isInclusion && used != own.used.end() && used->second >= 0)
      table.insert(names.scopes[used->second].begin(),
                   names.scopes[used->second].end());
  }
  // Defs of the prelude, which declarations here hide.
  Table prelude = file > 0 ? names.scopes[0] : Table();
  Scope outer{&prelude, nullptr};
  Scope scope{&table, &outer};
  if (!own.ast->model.empty()) {
    names.declared.push_back(
        {Declaration::Model, own.ast->model, file, nullptr, nullptr, {}});
    names.declared.back().places.push_back(own.ast->model);
    mark(own.ast->model, names.declared.size() - 1);
  }
  declareAll(own.ast->statements, scope);
  visitStatements(own.ast->statements, scope);
}

std::optional<unsigned> Resolver::lookup(StringRef name,
                                         const Scope &scope) const {
  bool isOutside = false;
  for (const Scope *s = &scope; s; s = s->outer) {
    auto it = s->table->find(name);
    if (it != s->table->end() &&
        (!isOutside || names.declared[it->second].kind == Declaration::Def))
      return it->second;
    isOutside |= s->isDef;
  }
  return std::nullopt;
}

std::optional<unsigned> Resolver::use(StringRef name, const Scope &scope) {
  std::optional<unsigned> found = lookup(name, scope);
  if (found)
    mark(name, *found);
  return found;
}

std::optional<unsigned> Resolver::memberOf(unsigned declaration,
                                           StringRef name) const {
  for (unsigned member : names.membersOf(declaration))
    if (names.declared[member].name == name)
      return member;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Names in statements
//===----------------------------------------------------------------------===//

void Resolver::visitStatements(ArrayRef<Statement *> statements, Scope &scope) {
  for (const Statement *s : statements) {
    llvm::SaveAndRestore saved(statement, s);
    visitStatement(*s, scope);
  }
}

void Resolver::visitStatement(const Statement &s, Scope &scope) {
  Table own;
  Scope inner{&own, &scope};
  switch (s.kind) {
  case StatementKind::Data:
  case StatementKind::Param:
    return visitArray(s, inner);
  case StatementKind::Def:
    return visitDef(s, scope);
  case StatementKind::Use:
    return visitUse(s, scope);
  case StatementKind::Block:
    return visitBlock(s, scope);
  case StatementKind::Length:
    visitPlace(s.place, inner);
    break;
  case StatementKind::Equation:
  case StatementKind::Choice:
  case StatementKind::Update:
    for (const ast::Left &left : s.lefts)
      visitLeft(left, inner);
    break;
  case StatementKind::Metric:
    // `metric bleu(tgt)`: the callee is a word of the language.
    if (s.name.empty() && s.value && s.value->kind == ExprKind::Call) {
      if (!llvm::is_contained(fov::metrics(), s.value->args[0]->name))
        visit(s.value->args[0], scope);
      visitItems(s.value->items, std::nullopt, scope);
      return;
    }
    break;
  default:
    break;
  }
  visit(s.value, inner);
  for (const Expr *value : s.values)
    visit(value, inner);
}

void Resolver::visitArray(const Statement &s, Scope &scope) {
  for (const ast::Axis &axis : s.array.axes) {
    visit(axis.extent, scope);
    if (!axis.binder.empty())
      declare(Declaration::Index, axis.binder, &s, scope);
  }
  visit(s.type.of, scope);
  for (const Expr *argument : s.type.args)
    visit(argument, scope);
  visit(s.module, scope);
}

void Resolver::visitDef(const Statement &s, Scope &outer) {
  Table &table = names.defs[&s];
  Scope scope{&table, &outer, /*isDef=*/true};
  llvm::SaveAndRestore saved(def, &s);
  for (StringRef size : s.sizes)
    declare(Declaration::Size, size, &s, scope);
  for (const Expr *value : s.sizeValues)
    visit(value, scope);
  for (const ast::Parameter &parameter : s.parameters)
    declare(Declaration::Argument, parameter.name, &s, scope);
  for (const ast::Parameter &parameter : s.parameters)
    for (const Expr *size : parameter.shape)
      if (size->kind == ExprKind::Name) {
        if (auto known = lookup(size->name, scope))
          mark(size->name, *known);
        else
          declare(Declaration::Size, size->name, &s, scope);
      }
  declareAll(s.body, scope);
  visitStatements(s.body, scope);
  visit(s.value, scope);
}

void Resolver::visitUse(const Statement &s, Scope &scope) {
  const Names::File &own = names.all[file];
  auto it = own.used.find(s.model.str());
  int used = it == own.used.end() ? -1 : it->second;
  if (used >= 0)
    for (unsigned i = 0; i < names.declared.size(); ++i)
      if (names.declared[i].kind == Declaration::Model &&
          int(names.declared[i].file) == used)
        mark(s.model, i);
  for (const ast::Item &binding : s.bindings) {
    if (used >= 0) {
      auto theirs = names.scopes[used].find(binding.name);
      if (theirs != names.scopes[used].end())
        mark(binding.name, theirs->second);
    }
    visit(binding.value, scope);
  }
}

void Resolver::visitBlock(const Statement &s, Scope &scope) {
  for (const ast::Entry &entry : s.entries) {
    Table own;
    Scope inner{&own, &scope};
    bool isOption = entry.kind == ast::Entry::Option;
    if (!isOption)
      use(entry.left.name, scope);
    for (const ast::Place &place : entry.left.places)
      visitPlace(place, inner);
    // Words such as `adam` and `token` are no names.
    bool isMark = isOption && !entry.left.places.empty();
    bool isSet = entry.kind == ast::Entry::Set;
    if (isMark || isSet || entry.left.name == "score")
      visit(entry.value, inner);
    else if (entry.value && entry.value->kind == ExprKind::Call)
      visitItems(entry.value->items, std::nullopt, inner);
  }
}

void Resolver::visitLeft(const ast::Left &left, Scope &scope) {
  use(left.name, scope);
  for (const ast::Place &place : left.places)
    visitPlace(place, scope);
}

/// A bare name is an index, unless it is a size or a label.
void Resolver::visitPlace(const ast::Place &place, Scope &scope) {
  visit(place.bound, scope);
  if (!place.value || place.value->kind != ExprKind::Name) {
    // The index of x[k + 1] = ..
    if (place.value && place.value->kind == ExprKind::Binary &&
        place.value->args[0]->kind == ExprKind::Name)
      visitPlace({place.loc, place.value->args[0], nullptr}, scope);
    else
      visit(place.value, scope);
    return;
  }
  StringRef name = place.value->name;
  std::optional<unsigned> known = lookup(name, scope);
  if (!known) {
    declare(Declaration::Index, name, statement, scope);
    return;
  }
  mark(name, *known);
}

//===----------------------------------------------------------------------===//
// Names in expressions
//===----------------------------------------------------------------------===//

void Resolver::visitItems(ArrayRef<ast::Item> items,
                          std::optional<unsigned> callee, Scope &scope) {
  const Statement *of = callee ? names.defOf(*callee) : nullptr;
  for (const ast::Item &item : items) {
    auto table = of ? names.defs.find(of) : names.defs.end();
    if (!item.name.empty() && table != names.defs.end()) {
      auto it = table->second.find(item.name);
      if (it != table->second.end())
        mark(item.name, it->second);
    }
    visit(item.value, scope);
  }
}

/// Returns what the expression names, when it is a name. The parser allows 256
/// levels.
std::optional<unsigned> Resolver::visit(const Expr *expr, Scope &scope) {
  if (!expr)
    return std::nullopt;
  switch (expr->kind) {
  case ExprKind::Name:
    return use(expr->name, scope);
  case ExprKind::Member: {
    std::optional<unsigned> base = visit(expr->args[0], scope);
    std::optional<unsigned> member =
        base ? memberOf(*base, expr->name) : std::nullopt;
    if (member)
      mark(expr->name, *member);
    return member;
  }
  case ExprKind::Call: {
    std::optional<unsigned> callee = visit(expr->args[0], scope);
    visitItems(expr->items, callee, scope);
    return std::nullopt;
  }
  case ExprKind::Index: {
    // A member of a family has the members of each: cell[l].weight.
    std::optional<unsigned> base = visit(expr->args[0], scope);
    for (const Expr *index : expr->args.drop_front())
      visit(index, scope);
    return base;
  }
  case ExprKind::Reduce: {
    Table own;
    Scope inner{&own, &scope};
    for (const ast::Binder &binder : expr->binders) {
      visit(binder.extent, scope);
      // `softmax[i]` over an index of the left side is that index.
      std::optional<unsigned> known = lookup(binder.name, scope);
      if (known && names.declared[*known].kind == Declaration::Index)
        mark(binder.name, *known);
      else
        declare(Declaration::Index, binder.name, statement, inner);
    }
    visit(expr->condition, inner);
    visitItems(expr->items, std::nullopt, inner);
    return std::nullopt;
  }
  default:
    for (const Expr *argument : expr->args)
      visit(argument, scope);
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

Names::Names(std::vector<File> files) : all(std::move(files)) {
  Resolver(*this).run();
}

const Occurrence *Names::at(const char *place) const {
  auto next = llvm::upper_bound(
      written, place, [](const char *at, const Occurrence &occurrence) {
        return std::less<>()(at, occurrence.text.data());
      });
  // The name that begins here, or else the one that ends here.
  if (next == written.begin())
    return nullptr;
  const Occurrence &before = *std::prev(next);
  return place <= before.text.end() ? &before : nullptr;
}

std::vector<unsigned> Names::visibleAt(unsigned file, const char *place) const {
  std::vector<unsigned> result;
  const std::map<StringRef, unsigned> *local = nullptr;
  const Statement *inside = nullptr;
  for (const Statement *s : all[file].ast->statements)
    if (s->range.Start.getPointer() <= place &&
        place <= s->range.End.getPointer()) {
      inside = s;
      auto it = s->kind == StatementKind::Def ? defs.find(s) : defs.end();
      if (it != defs.end())
        local = &it->second;
    }
  if (local)
    for (auto [name, declaration] : *local)
      result.push_back(declaration);
  for (auto [name, declaration] : scopes[file])
    if (!local || declared[declaration].kind == Declaration::Def)
      result.push_back(declaration);
  if (file > 0)
    for (auto [name, declaration] : scopes[0])
      result.push_back(declaration);
  for (unsigned i = 0; i < declared.size(); ++i)
    if (inside && declared[i].kind == Declaration::Index &&
        declared[i].statement == inside)
      result.push_back(i);
  return result;
}

std::vector<unsigned> Names::membersOf(unsigned declaration) const {
  std::vector<unsigned> result;
  const Declaration &of = declared[declaration];
  if (of.kind == Declaration::Import) {
    auto used = all[of.file].used.find(of.statement->model.str());
    if (used != all[of.file].used.end() && used->second >= 0)
      for (auto [name, member] : scopes[used->second])
        result.push_back(member);
    return result;
  }
  if (of.kind != Declaration::Param)
    return result;
  auto table = defs.find(defOf(declaration));
  if (table != defs.end())
    for (auto [name, member] : table->second)
      if (declared[member].kind == Declaration::Param)
        result.push_back(member);
  return result;
}

const Statement *Names::defOf(unsigned declaration) const {
  const Declaration &of = declared[declaration];
  if (of.kind == Declaration::Def)
    return of.statement;
  const Expr *module =
      of.kind == Declaration::Param ? of.statement->module : nullptr;
  if (module && module->kind == ExprKind::Call)
    module = module->args[0];
  if (!module || module->kind != ExprKind::Name)
    return nullptr;
  for (unsigned scope : {of.file, 0u}) {
    auto it = scopes[scope].find(module->name);
    if (it != scopes[scope].end() &&
        declared[it->second].kind == Declaration::Def)
      return declared[it->second].statement;
  }
  return nullptr;
}
