//===- Guards.cpp - under which conditions a term is evaluated ------------===//
//
// One walk along branches and conditions. The equations of a def are evaluated
// only where it is called: what holds at all reads of an array holds in its
// equations. A recursive def adds nothing to that, so its own reads can only
// take conditions away.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/check/Guards.h"

using namespace fovea;
using namespace fovea::fov;

/// Adds the parts of a conjunction.
static void require(Term *condition, bool holds, Conditions &path) {
  if (holds && condition->kind == TermKind::Map && condition->fn == Fn::And) {
    for (Term *part : condition->args)
      require(part, true, path);
    return;
  }
  if (!llvm::is_contained(path, std::pair(condition, holds)))
    path.push_back({condition, holds});
}

/// The conditions that involve only the indices of the caller of a def.
static Conditions ofCaller(const Array &array, const Conditions &path) {
  Conditions result;
  for (auto &condition : path)
    if (llvm::all_of(condition.first->free, [&](IndexVar *var) {
          return llvm::is_contained(array.context, var);
        }))
      result.push_back(condition);
  return result;
}

/// The terms that a choice is made from, and those of its treatment.
static SmallVector<Term *> termsOf(const Choice &choice) {
  SmallVector<Term *> terms;
  for (auto &[name, term] : choice.parameters)
    terms.push_back(term);
  terms.push_back(choice.weight);
  if (choice.treatment) {
    terms.append({choice.treatment->reward, choice.treatment->baseline});
    for (auto &[name, term] : choice.treatment->schedules)
      terms.push_back(term);
  }
  llvm::erase(terms, nullptr);
  return terms;
}

GuardedTerms::GuardedTerms(Elaborated &model, const ModelPart &part)
    : model(model), part(part) {
  std::vector<const Array *> open;
  auto meet = [&](Term *term, const Conditions &path) {
    const Array *array = term->array;
    if (term->kind != TermKind::Read || array->context.empty())
      return;
    auto [it, isNew] = found.try_emplace(array, ofCaller(*array, path));
    size_t before = it->second.size();
    if (!isNew)
      llvm::erase_if(it->second, [&](auto &condition) {
        return !llvm::is_contained(path, condition);
      });
    if (isNew || it->second.size() != before)
      open.push_back(array);
  };
  walkRoots(meet);
  while (!open.empty()) {
    const Array *array = open.back();
    open.pop_back();
    walkPieces(*array, meet);
  }
  visited.clear();
  visitedAlways.clear();
  for (Array *array : part.arraysOf(model))
    if (auto it = found.find(array); it != found.end())
      array->guards = it->second;
}

void GuardedTerms::visit(Visitor visitor) {
  walkRoots(visitor);
  for (const Array *array : part.arraysOf(model))
    if (!array->context.empty())
      walkPieces(*array, visitor);
  visited.clear();
  visitedAlways.clear();
}

void GuardedTerms::walkPieces(const Array &array, Visitor visitor) {
  auto it = found.find(&array);
  Conditions path = it == found.end() ? Conditions() : it->second;
  for (const Piece &piece : array.pieces)
    if (piece.value)
      walk(piece.value, path, visitor);
}

void GuardedTerms::walkRoots(Visitor visitor) {
  for (const Array *array : part.arraysOf(model))
    if (array->context.empty())
      walkPieces(*array, visitor);
  if (!part.isAll())
    return;
  for (const Choice &choice : model.choices)
    for (Term *term : termsOf(choice))
      walk(term, {}, visitor);
  for (auto &[term, loc] : model.penalties)
    walk(term, {}, visitor);
  for (const Mark &mark : model.marks)
    walk(mark.value, {}, visitor);
}

bool GuardedTerms::isFirst(Term *term, const Conditions &path) {
  return path.empty() ? visitedAlways.insert(term).second
                      : visited.insert({term, path}).second;
}

void GuardedTerms::walk(Term *term, const Conditions &path, Visitor visitor) {
  if (!isFirst(term, path))
    return;
  if (term->kind == TermKind::If) {
    walk(term->args[0], path, visitor);
    for (bool holds : {true, false}) {
      Conditions inner = path;
      require(term->args[0], holds, inner);
      walk(term->args[holds ? 1 : 2], inner, visitor);
    }
    return;
  }
  if (term->kind == TermKind::Map &&
      (term->fn == Fn::And || term->fn == Fn::Or)) {
    Conditions inner = path;
    require(term->args[0], term->fn == Fn::And, inner);
    walk(term->args[0], path, visitor);
    walk(term->args[1], inner, visitor);
    return;
  }
  if (term->kind == TermKind::Reduce && term->condition) {
    walk(term->condition, path, visitor);
    Conditions inner = path;
    require(term->condition, true, inner);
    for (Term *arg : term->args)
      walk(arg, inner, visitor);
  } else {
    for (Term *arg : term->args)
      walk(arg, path, visitor);
  }
  if (term->fallback)
    walk(term->fallback, path, visitor);
  visitor(term, path);
}
