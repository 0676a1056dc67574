//===- ElaborateBlocks.cpp - train { } and decode { } ---------------------===//
//
// Options, the treatment of choices, replacements by `set`, and the equations
// that steer the search.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Options.h"
#include "frontends/fov/elaborate/Elaborate.h"

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;
using ast::Statement;
using ast::StatementKind;

/// The equations of `decode { }`: `stop[t] = ..`, `longest = ..`.
static bool isMark(StringRef name) {
  return name == "stop" || name == "valid" || name == "score" ||
         name == "longest";
}

void Elaborator::readBlocks(const Statements &statements, Scope &scope) {
  for (const Statement *s : statements) {
    if (s->kind != StatementKind::Block)
      continue;
    for (const ast::Entry &entry : s->entries) {
      if (entry.kind == ast::Entry::Treatment) {
        readTreatment(*s, entry, scope);
      } else if (entry.kind != ast::Entry::Option && s->name == "train") {
        StringRef word = entry.kind == ast::Entry::Set ? "set" : "generate";
        error(Code::misplacedStatement, entry.left.loc,
              "'" + word.str() + "' belongs in decode { }, not in train { }");
      } else if (entry.kind == ast::Entry::Set) {
        readSet(entry, scope);
      } else if (entry.kind == ast::Entry::Generate) {
        continue; // a statement of the decoder (ElaborateUses.cpp)
      } else {
        readOption(*s, entry, scope);
      }
    }
  }
  // The value of a fixed length is known before the search begins.
  for (auto &[length, value] : model->setLengths)
    for (const auto &[monomial, c] : value.first.terms())
      for (const auto &[atom, exponent] : monomial)
        for (auto &[other, unused] : model->setLengths)
          if (atom == other)
            error(Code::decodeSet, value.second,
                  "'" + length->name + "' cannot be set to " +
                      value.first.text() + ", since '" + atom->name +
                      "' is set as well");
  if (!model->decoding)
    model->setLengths.clear();
}

/// Returns whether a name is declared by `param`.
static bool isParameter(const Symbol *symbol) {
  return symbol && symbol->statement &&
         symbol->statement->kind == StatementKind::Param;
}

void Elaborator::readOption(const Statement &block, const ast::Entry &entry,
                            Scope &scope) {
  StringRef name = entry.left.name;
  const Expr &value = entry.value->kind == ExprKind::Call
                          ? *entry.value->args[0]
                          : *entry.value;
  if (value.kind == ExprKind::String)
    return error(Code::optionValue, value.loc,
                 "the value of an option has no quotes; help: write " +
                     name.str() + " = " + value.name.str());
  std::string mistake =
      optionMistake(block.name, name,
                    value.kind == ExprKind::Name ? value.name : StringRef());
  bool isOfValue = llvm::is_contained(optionNames(block.name), name);
  if (!isOfValue && block.name == "train" && isParameter(lookup(scope, name)))
    mistake = "'" + name.str() +
              "' is a parameter, and no option of train; help: to change it "
              "without a gradient, declare it by state, and write update " +
              name.str() + " = .. as a statement";
  if (!mistake.empty())
    return error(Code::optionValue, isOfValue ? value.loc : entry.left.loc,
                 mistake);
  if (block.name != "decode" || !isMark(name))
    return;
  for (const ast::Place &place : entry.left.places)
    if (place.value->kind != ExprKind::Name || place.bound)
      return error(Code::decodeSet, place.loc,
                   "'" + name.str() +
                       "' is given for every step: its place is "
                       "an index, for example " +
                       name.str() + "[t]");
  // A later one replaces an earlier one.
  pendingMarks[name] = &entry;
}

/// `set X = 28` and `set x[t] = ..` in decoding.
void Elaborator::readSet(const ast::Entry &entry, Scope &scope) {
  StringRef name = entry.left.name;
  Symbol *symbol = lookup(scope, name);
  if (!symbol)
    return undefined(name, entry.left.loc, scope, nullptr);
  bool isReplaced =
      symbol->family && (symbol->family->isEquation || symbol->family->isData);
  if (symbol->kind != Symbol::Size)
    replacedInDecoding.push_back(&entry);
  if (symbol->kind == Symbol::Mistake || isReplaced)
    return; // flatten puts it in the place of what it replaces
  switch (symbol->kind) {
  case Symbol::Number:
    if (Term *value = expression(*entry.value, scope, nullptr)) {
      if (!isConstant(*value))
        error(Code::notConstant, entry.value->loc,
              "const '" + name.str() +
                  "' is set to something that is not known "
                  "before anything runs");
      else if (model->decoding && !overrideOf(name.str()))
        symbol->value = value;
    }
    return;
  case Symbol::Size: {
    const Atom *length = symbol->size.length();
    if (length && length->bound)
      return error(Code::decodeSet, entry.left.loc,
                   "'" + name.str() +
                       "' follows from values and cannot be set; help: set "
                       "what its equation reads");
    if (!length || !length->parent.empty())
      return error(
          Code::decodeSet, entry.left.loc,
          "'" + name.str() +
              (length ? "' has a length for each place of " + length->parent
                      : std::string("' is a dim, which has one value "
                                    "in training and decoding")) +
              "; only a const, a length or an equation can be set");
    std::optional<Extent> value = size(*entry.value, scope, nullptr);
    if (!value)
      return;
    const Atom *nested = value->length();
    if (value->value().value_or(1) < 1 || !value->isSum() ||
        (nested && !nested->parent.empty()))
      return error(Code::decodeSet, entry.value->loc,
                   "'" + name.str() + "' is set to " + value->textWithValue() +
                       ", but a length is at least 1 and a sum of multiples "
                       "of lengths");
    model->setLengths.push_back({length, {*value, entry.left.loc}});
    return;
  }
  default:
    error(Code::decodeSet, entry.left.loc,
          "'" + name.str() +
              "' cannot be set; only a const, a length or an equation can",
          {{symbol->loc, "it is declared here"}});
  }
}

void Elaborator::elaborateMarks(Scope &scope) {
  if (!model->decoding)
    return;
  SmallVector<const Array *> steps; // one for each length that is generated
  for (const Choice &choice : model->choices)
    if (!choice.latent && choice.target->numPlaces == 1 &&
        llvm::none_of(steps, [&](const Array *other) {
          return other->extents.front() == choice.target->extents.front();
        }))
      steps.push_back(choice.target);
  for (auto &[name, entry] : pendingMarks) {
    const Bindings *bindings = nullptr;
    Mark mark{name.str(), nullptr, {}};
    for (const ast::Place &place : entry->left.places) {
      IndexVar *var = newIndex(place.value->name, place.loc);
      // A step generates one place of the output.
      if (steps.size() == 1 && entry->left.places.size() == 1) {
        var->extent = steps.front()->extents.front();
        var->strength = 2;
        var->originLoc = steps.front()->loc;
        var->origin = steps.front()->name;
      }
      bindingStorage.push_back(
          {bindings, place.value->name, var, std::nullopt, true});
      bindings = &bindingStorage.back();
      mark.indices.push_back(var);
    }
    mark.value = expression(*entry->value, scope, bindings);
    if (mark.value)
      model->marks.push_back(mark);
  }
}
