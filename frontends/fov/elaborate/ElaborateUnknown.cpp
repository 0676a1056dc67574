//===- ElaborateUnknown.cpp - names that are not defined ------------------===//
//
// Suggests meanings for an undefined name: a name of the model that fits the
// use, a word of another system, a subscript. A suggestion has the required
// kind and number of arguments.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Options.h"
#include "frontends/fov/elaborate/Elaborate.h"
#include "llvm/ADT/StringExtras.h"

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;
using ast::Statement;
using ast::StatementKind;

/// With more names than these a full list does not help.
static constexpr size_t mostListed = 8;

static bool hasParameters(const Statement &def) {
  return llvm::any_of(def.body, [](const Statement *s) {
    return s->kind == StatementKind::Param;
  });
}

/// Returns the def of a module declared under a name, or null.
static const Statement *moduleOf(const Symbol &symbol) {
  if (symbol.kind != Symbol::Equations || !symbol.family ||
      symbol.family->members.empty())
    return nullptr;
  const Instance *instance = symbol.family->members.begin()->second.instance;
  return instance ? instance->def : nullptr;
}

/// Returns whether what `symbol` names can be used in this way.
static bool fits(const Symbol &symbol, const WordUse &use, bool isPrelude) {
  const Statement *module = moduleOf(symbol);
  bool isDef = symbol.kind == Symbol::Def;
  auto takes = [&](const Statement &def) {
    return !use.arguments || def.parameters.size() == *use.arguments;
  };
  switch (use.place) {
  case WordPlace::Function:
    return isDef ? takes(*symbol.statement) && !hasParameters(*symbol.statement)
                 : module && takes(*module);
  case WordPlace::Module:
    return isDef && (!isPrelude || hasParameters(*symbol.statement));
  default:
    return !isDef && !module;
  }
}

/// Returns whether a built-in function can be used in this way.
static bool builtinFits(StringRef name, const WordUse &use) {
  bool isValue = llvm::is_contained({"true", "false", "inf"}, name);
  bool isArray = llvm::is_contained({"vector", "matrix", "tensor"}, name);
  switch (use.place) {
  case WordPlace::Function:
    return !isValue && !isArray &&
           (!use.arguments || takesValues(name, *use.arguments));
  case WordPlace::Module:
    return isArray;
  default:
    return isValue;
  }
}

/// A def is closed: suggests how to pass it what the file calls `name`.
static std::string wayInto(const Statement &def, StringRef name,
                           const Symbol &symbol) {
  std::vector<std::string> sizes(def.sizes.begin(), def.sizes.end()), arguments;
  for (const ast::Parameter &parameter : def.parameters)
    arguments.push_back(parameter.name.str());
  if (llvm::is_contained(sizes, name) || llvm::is_contained(arguments, name))
    return "";
  if (moduleOf(symbol))
    return "; help: a module is declared where it is used: write 'param " +
           name.str() + " : ...' inside of the def";
  bool isRead = symbol.kind == Symbol::Unread && symbol.statement;
  bool isSize = symbol.kind == Symbol::Size || symbol.kind == Symbol::Number ||
                (isRead && (symbol.statement->kind == StatementKind::Dim ||
                            symbol.statement->kind == StatementKind::Const));
  (isSize ? sizes : arguments).push_back(name.str());
  std::string text = "; help: make it one of its " +
                     std::string(isSize ? "sizes" : "arguments") + ": def " +
                     def.name.str();
  if (!sizes.empty())
    text += "(" + llvm::join(sizes, ", ") + ")";
  return text + "(" + llvm::join(arguments, ", ") + ")";
}

/// `x_i` and `sum_j`: a subscript is an index in brackets.
std::string Elaborator::subscriptHelp(StringRef name, Scope &scope,
                                      const WordUse &use) {
  auto [base, subscript] = name.rsplit('_');
  if (subscript.empty() || subscript.size() > 2 || base.empty())
    return "";
  bool isReducer = reductionNamed(base) || base == "stack" || base == "concat";
  if (use.place == WordPlace::Function)
    return isReducer ? "; help: write the index in brackets: " + base.str() +
                           "[" + subscript.str() + "](...)"
                     : "";
  auto it = scope.symbols.find(base);
  bool isArray = use.place == WordPlace::Value && it != scope.symbols.end() &&
                 it->second.kind == Symbol::Equations && !moduleOf(it->second);
  return isArray ? "; help: write the index in brackets: " + base.str() + "[" +
                       subscript.str() + "]"
                 : "";
}

/// What to write in a treatment instead of the argument at `loc`, which has an
/// index of the choice: `m` for `m[t]`.
static std::string wholeArgument(const Expr *treatment, SMLoc loc,
                                 const Choice &choice) {
  const Expr *argument = nullptr;
  if (treatment && treatment->kind == ExprKind::Call)
    for (const ast::Item &item : treatment->items)
      if (item.value->range.Start.getPointer() <= loc.getPointer() &&
          loc.getPointer() < item.value->range.End.getPointer())
        argument = item.value;
  std::string places;
  for (const PiecePlace &place : choice.places)
    places += (places.empty() ? "" : ",") +
              (place.var ? place.var->name : std::string(".."));
  bool isWhole = argument && argument->kind == ExprKind::Index &&
                 argument->args[0]->kind == ExprKind::Name &&
                 argument->args.size() == choice.places.size() + 1;
  for (auto [k, place] : llvm::enumerate(choice.places))
    isWhole &= isWhole && place.var &&
               argument->args[k + 1]->kind == ExprKind::Name &&
               argument->args[k + 1]->name == place.var->name;
  if (isWhole)
    return "write " + argument->args[0]->name.str() + " without [" + places +
           "], for all places at once";
  return "give it a name, a[" + places +
         "] = .., and write a, for all "
         "places at once";
}

void Elaborator::undefined(StringRef name, SMLoc loc, Scope &scope,
                           const Bindings *bindings, WordUse use) {
  if (!missing.insert({&scope, name.str()}).second)
    return;
  std::string text =
      quoted(use.written.empty() ? name : use.written) + " is not defined";
  if (diagnostics.isFull())
    return error(Code::undefinedName, loc, text);
  if (underTreatment &&
      llvm::any_of(underTreatment->places, [&](const PiecePlace &at) {
        return at.var && at.var->name == name;
      }))
    return error(Code::undefinedName, loc,
                 "'" + name.str() + "' is an index of '" +
                     underTreatment->target->name +
                     "', which 'train' does not repeat; help: " +
                     wholeArgument(treatmentValue, loc, *underTreatment),
                 {{underTreatment->loc, "it is an index here"}});
  if (scope.def)
    for (Scope *s = scope.parent; s; s = s->parent) {
      auto it = s->symbols.find(name);
      if (it != s->symbols.end())
        return error(
            Code::outsideOfDef, loc,
            text + " inside of a def" + wayInto(*scope.def, name, it->second),
            {{it->second.loc, "it is defined here, outside of the def"}});
    }
  std::vector<std::string> names;
  std::vector<SMLoc> locs;
  if (use.place == WordPlace::Value)
    for (const Bindings *b = bindings; b; b = b->outer) {
      names.push_back(b->name.str());
      locs.push_back({});
    }
  std::vector<std::string> own;
  for (Scope *s = &scope; s; s = s->parent)
    for (auto &entry : s->symbols) {
      bool isPrelude = s == preludeScope;
      if ((s != &scope && entry.second.kind != Symbol::Def) ||
          !fits(entry.second, use, isPrelude))
        continue;
      if (s == &scope)
        own.push_back(entry.first().str());
      names.push_back(entry.first().str());
      locs.push_back(isPrelude ? SMLoc() : entry.second.loc);
    }
  std::vector<StringRef> candidates(names.begin(), names.end());
  for (StringRef builtin : builtinNames())
    if (builtinFits(builtin, use))
      candidates.push_back(builtin);
  StringRef near = nearest(name, candidates);
  auto it = llvm::find(names, near);
  SMLoc found =
      near.empty() || it == names.end() ? SMLoc() : locs[it - names.begin()];
  std::string foreign = ourWord(name, use.place);
  std::string subscript = subscriptHelp(name, scope, use);
  // A similar value of the model precedes words of other systems; an exact word
  // of another system precedes it.
  bool isSame = near.equals_insensitive(name);
  bool isSlip = use.place == WordPlace::Value    ? isSame || found.isValid()
                : use.place == WordPlace::Module ? isSame && found.isValid()
                                                 : isSame;
  std::vector<Diagnostics::Note> notes;
  if (!foreign.empty() && !isSlip) {
    text += foreign;
  } else if (!subscript.empty()) {
    text += subscript;
  } else if (!near.empty()) {
    text += "; did you mean '" + near.str() + "'";
    if (found.isValid()) {
      text += " (" + diagnostics.lineText(found, loc) + ")";
      notes.push_back({found, "'" + near.str() + "' is defined here"});
    }
    text += "?";
  } else if (use.place == WordPlace::Module) {
    text +=
        "; there are linear, embedding, gru, lstm, rnn, layer_norm, conv1d, "
        "conv2d, .. and what 'def' defines";
  } else if (use.place == WordPlace::Value && name.size() == 1 &&
             llvm::isLower(name.front())) {
    text += "; help: an index belongs on the left, " +
            std::string(name == "y" ? "z" : "y") + "[" + name.str() +
            "] = ..., or in a reduction, sum[" + name.str() + "](...)";
  } else if (!own.empty() && own.size() <= mostListed) {
    llvm::sort(own);
    text += "; there " + std::string(own.size() == 1 ? "is " : "are ") +
            llvm::join(own, ", ");
  }
  error(Code::undefinedName, loc, text, std::move(notes));
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

static const Expr &rootOf(const Expr &path) {
  const Expr *root = &path;
  while (root->kind == ExprKind::Member)
    root = root->args[0];
  return *root;
}

static std::string writtenAs(const Expr &expr) {
  return {expr.range.Start.getPointer(), expr.range.End.getPointer()};
}

/// `torch.exp`, `self.cell`: reports a name that is written with the name of a
/// library before it.
bool Elaborator::isOfLibrary(const Expr &expr, Scope &scope,
                             const Bindings *bindings, WordUse use) {
  const Expr &root = rootOf(expr);
  if (expr.kind != ExprKind::Member || root.kind != ExprKind::Name ||
      !isLibrary(root.name) || lookup(scope, root.name))
    return false;
  std::string written = writtenAs(expr);
  // First a word of other systems with another meaning here, then a name of the
  // spec.
  std::string foreign = ourWord(expr.name, use.place);
  Symbol *symbol = lookup(scope, expr.name);
  bool isKnown = symbol ? fits(*symbol, {use.place, {}, {}}, false)
                        : llvm::is_contained(builtinNames(), expr.name);
  bool isOwn = symbol && symbol->kind != Symbol::Def;
  if (isKnown && (foreign.empty() || isOwn)) {
    error(Code::undefinedName, root.loc,
          quoted(written) + " is not defined; help: write " + expr.name.str() +
              " without a prefix");
    return true;
  }
  if (!foreign.empty()) {
    error(Code::undefinedName, root.loc,
          quoted(written) + " is not defined" + foreign);
    return true;
  }
  use.written = written;
  undefined(expr.name, root.loc, scope, bindings, use);
  return true;
}

/// `x[i].softmax(-1)`, `W.T`: what is asked of a value that has no parts.
void Elaborator::noPart(const Expr &expr, Scope &scope) {
  std::string base = quoted(writtenAs(*expr.args[0]));
  StringRef name = expr.name;
  std::string text = base + " has no part '" + name.str() + "'";
  if (llvm::is_contained({"T", "t", "mT", "transpose", "permute"}, name))
    text += transpositionHelp();
  else if (llvm::is_contained({"sum", "mean", "prod", "max", "min"}, name))
    text += "; help: write " + name.str() + "[i](x[i]) over an index, or " +
            name.str() + "(v) over a vector";
  else if (llvm::is_contained(builtinNames(), name) || lookup(scope, name))
    text +=
        "; help: write the function before its value: " + name.str() + "(...)";
  else
    text += ourWord(name, WordPlace::Function);
  error(Code::unknownPart, expr.loc, text);
}

/// Returns whether an undefined callee, or one that takes its values elsewhere,
/// has been reported. Called before the arguments are elaborated: they may be
/// foreign because the callee is.
bool Elaborator::isForeignCall(const Expr &expr, Scope &scope,
                               const Bindings *bindings) {
  const Expr *callee = expr.args[0];
  WordUse use{WordPlace::Function, expr.items.size(), {}};
  for (; callee->kind == ExprKind::Call; callee = callee->args[0])
    use.arguments = std::nullopt;
  if (isOfLibrary(*callee, scope, bindings, use))
    return true;
  if (callee->kind != ExprKind::Name || lookup(scope, callee->name))
    return false;
  bool isBuiltin = llvm::is_contained(builtinNames(), callee->name);
  if (!isBuiltin)
    undefined(callee->name, callee->loc, scope, bindings, use);
  else if (callee != expr.args[0])
    error(Code::numberOfArguments, callee->loc,
          "'" + callee->name.str() +
              "' takes all of its values at once; help: write " +
              formOf(callee->name));
  return !isBuiltin || callee != expr.args[0];
}
