//===- ElaborateBlocks.cpp - train { } and decode { } --------------------===//
//
// Options, the treatment of choices, what `set` replaces, and the equations
// that steer the search.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Elaborate.h"
#include "frontends/fov/Options.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace fovea;
using namespace fovea::fov;
using ast::Expr;
using ast::ExprKind;
using ast::Statement;
using ast::StatementKind;

void Elaborator::readBlocks(const Statements &statements, Scope &scope) {
  for (const Statement *s : statements) {
    if (s->kind != StatementKind::Block)
      continue;
    bool isTrain = s->name == "train";
    for (const ast::Entry &entry : s->entries) {
      StringRef name = entry.left.name;
      if (entry.kind == ast::Entry::Option) {
        auto known = isTrain ? trainOptions() : decodeOptions();
        if (!llvm::is_contained(known, name)) {
          StringRef near = nearest(name, known);
          error(entry.left.loc,
                "'" + name.str() + "' is no option of " + s->name.str() +
                    (near.empty() ? std::string("")
                                  : "; did you mean '" + near.str() + "'?"));
        } else if (!isTrain && model->decoding) {
          readMark(entry, scope);
        }
        continue;
      }
      if (entry.kind == ast::Entry::Treatment) {
        readTreatment(*s, entry, scope);
        continue;
      }
      if (isTrain) {
        error(entry.left.loc, "'set' stands in decode { }, not in train { }");
        continue;
      }
      readSet(entry, scope);
    }
  }
}

/// `stop[t] = ..`, `valid[t] = ..`, `score[t] = ..`, `longest = ..`.
void Elaborator::readMark(const ast::Entry &entry, Scope &scope) {
  StringRef name = entry.left.name;
  if (name != "stop" && name != "valid" && name != "score" && name != "longest")
    return;
  pendingMarks.push_back(&entry);
}

void Elaborator::readTreatment(const Statement &block, const ast::Entry &entry,
                               Scope &scope) {
  StringRef name = entry.left.name;
  Symbol *symbol = lookup(scope, name);
  if (!symbol || !symbol->family) {
    undefined(name, entry.left.loc, scope, nullptr);
    return;
  }
  const Expr *callee =
      entry.value->kind == ExprKind::Call ? entry.value->args[0] : entry.value;
  StringRef treatment =
      callee->kind == ExprKind::Name ? callee->name : StringRef();
  auto known = block.name == "train" ? estimators() : decodeTreatments();
  if (!llvm::is_contained(known, treatment)) {
    StringRef near = nearest(treatment, known);
    error(callee->loc,
          "'" + treatment.str() + "' is no treatment of a choice in " +
              block.name.str() +
              (near.empty() ? std::string("")
                            : "; did you mean '" + near.str() + "'?"));
    return;
  }
  if (block.name == "train") {
    treated.insert(name.str());
    if (treatment == "sampled" || treatment == "margin")
      model->refusals.push_back("'" + name.str() + " ~ " + treatment.str() +
                                "(...)' trains by another objective than "
                                "-log p, which cannot be executed yet");
  } else if (treatment == "candidates" || treatment == "marginal") {
    model->refusals.push_back("'" + name.str() + " ~ " + treatment.str() +
                              "' in decode { } cannot be executed yet");
  }
}

/// `set X = 28` and `set x[t] = ..` in decoding.
void Elaborator::readSet(const ast::Entry &entry, Scope &scope) {
  StringRef name = entry.left.name;
  Symbol *symbol = lookup(scope, name);
  if (!symbol) {
    undefined(name, entry.left.loc, scope, nullptr);
    return;
  }
  if (!model->decoding)
    return;
  if (symbol->kind == Symbol::Number) {
    if (Term *value = expression(*entry.value, scope, nullptr))
      if (!overrideOf(name.str()))
        symbol->value = value;
    return;
  }
  if (symbol->kind == Symbol::Size) {
    const Atom *length = symbol->size.length();
    if (!length) {
      error(entry.left.loc, "'" + name.str() +
                                "' is a dim, which has one value in training "
                                "and decoding; only a const, a length or an "
                                "equation can be set");
      return;
    }
    if (Term *value = expression(*entry.value, scope, nullptr))
      model->setLengths.push_back({length, value});
    return;
  }
  if (symbol->kind != Symbol::Equations)
    error(entry.left.loc,
          "'" + name.str() +
              "' cannot be set; only a const, a length or an "
              "equation can",
          {{symbol->loc, "it is declared here"}});
}

void Elaborator::elaborateMarks(Scope &scope) {
  for (const ast::Entry *entry : pendingMarks) {
    const Bindings *bindings = nullptr;
    SmallVector<IndexVar *, 2> vars;
    for (const ast::Place &place : entry->left.places) {
      if (place.value->kind != ExprKind::Name)
        continue;
      IndexVar *var = newIndex(place.value->name, place.loc);
      bindingStorage.push_back(
          {bindings, place.value->name, var, std::nullopt, true});
      bindings = &bindingStorage.back();
      vars.push_back(var);
    }
    if (Term *value = expression(*entry->value, scope, bindings)) {
      model->marks.push_back({entry->left.name.str(), value});
      model->markIndices.push_back(vars);
    }
  }
}
