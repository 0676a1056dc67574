//===- Rows.cpp - whose row a nested length is of -------------------------===//
//
// A nested length W[m] differs for each m. An index that runs over it needs its
// m: stated in the spec, taken from the read array, or, inside a def, from the
// def's argument.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/check/Infer.h"

using namespace fovea;
using namespace fovea::fov;

Term *fovea::fov::rowOf(Elaborated &model, Term &whole, unsigned axis,
                        StringRef parent) {
  Term *term = &whole;
  auto hasShape = [](const Term *arg) {
    return arg->shape && !arg->shape->empty();
  };
  // The terms with the shape of an operand.
  while (term->kind == TermKind::Map || term->kind == TermKind::If ||
         term->kind == TermKind::Vector || term->kind == TermKind::Dropout) {
    auto *arg = llvm::find_if(term->args, hasShape);
    if (arg == term->args.end())
      break;
    term = *arg;
  }
  for (unsigned k = 0; k < axis && k < whole.shape->size(); ++k)
    if ((*whole.shape)[k].text() == parent)
      return nullptr;
  if (term->kind == TermKind::Read)
    for (unsigned k = 0; k < term->args.size(); ++k)
      if (auto size = term->array->axis(k); size && size->text() == parent)
        return term->args[k];
  IndexVar *row = nullptr;
  for (IndexVar *var : whole.free) {
    if (!var->extent || var->extent->text() != parent)
      continue;
    if (row)
      return nullptr;
    row = var;
  }
  return row ? indexTerm(model, row, whole.loc) : nullptr;
}

void fovea::fov::findRows(Elaborated &model, const Rows &rows) {
  auto isOpen = [](const IndexVar &var) {
    const Atom *length = var.extent ? var.extent->length() : nullptr;
    return length && !length->parent.empty() && !var.parentIndex;
  };
  auto find = [&](IndexVar &var, ArrayRef<IndexVar *> around) {
    if (!isOpen(var))
      return;
    for (const auto &[monomial, c] : var.extent->terms())
      for (const auto &[atom, exponent] : monomial)
        if (Term *row = rows.lookup(atom))
          var.parentIndex = row;
    IndexVar *row = nullptr;
    for (IndexVar *other : around) {
      if (!other || !other->extent ||
          other->extent->text() != var.extent->length()->parent)
        continue;
      if (row)
        return;
      row = other;
    }
    if (row && !var.parentIndex)
      var.parentIndex = indexTerm(model, row, var.loc);
  };
  for (Array *array : model.arrays)
    for (Piece &piece : array->pieces) {
      SmallVector<IndexVar *> places;
      for (const PiecePlace &place : piece.places)
        places.push_back(place.var);
      for (IndexVar *var : places)
        if (var) {
          find(*var, places);
          find(*var, array->context);
        }
    }
  for (size_t k = 0, end = model.terms.size(); k < end; ++k)
    for (IndexVar *var : model.terms[k].vars) {
      find(*var, model.terms[k].vars);
      find(*var, model.terms[k].free);
    }
}
