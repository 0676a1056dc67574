//===- Gradients.cpp - what gradients inside a model go through -----------===//

#include "frontends/fov/lower/Gradients.h"
#include "frontends/fov/lower/Reach.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace fovea;
using namespace fovea::fov;

namespace {
/// Indices, and the places that they stand for.
using Substitution = std::map<IndexVar *, Term *>;

/// A copy of an array that has its places, but not yet its equations.
struct Pending {
  Array *array;
  std::vector<Substitution> places; // of each piece
};

/// One gradient: its target, and what was made for it.
struct Gradient {
  Gradient(GradientTarget given, SmallVector<IndexVar *, 2> context)
      : target(std::move(given)), reach(target), context(std::move(context)) {}
  GradientTarget target;
  Reach reach;
  SmallVector<IndexVar *, 2> context; // F
  Array *element = nullptr;           // y
  /// What an array is read with: its place on each axis and its context's
  /// indices, null where they are kept; and the conditions around the read.
  using Key = std::tuple<const Array *, std::vector<const void *>, Conditions>;
  std::map<Key, Array *> copies;

  /// The copies whose equations are not yet there.
  std::vector<Pending> pending;
  bool isRead = false; // y, by an equation
};

/// Whether a place is known from some indices.
bool followsFrom(const Term &place, ArrayRef<IndexVar *> indices) {
  return isPlaceTerm(place) && llvm::all_of(place.free, [&](IndexVar *var) {
           return llvm::is_contained(indices, var);
         });
}

/// The equations of one array, over the indices of a gradient.
struct Copy {
  Gradient &gradient;
  Substitution places;
  Conditions guards;
  std::map<std::pair<const Term *, bool>, Term *> terms;
  /// Inside of `stop`: nothing counts as the target.
  bool isStopped = false;
};

/// A read at the places that the indices of a copy stand for.
struct MovedRead {
  Term &term;
  Copy &into;
  SmallVector<Term *, 4> args;
  Term *fallback;
  SmallVector<Term *, 2> contexts; // null: unchanged
  Conditions guards;

  bool isOfAnotherCall() const {
    return llvm::any_of(contexts, [](Term *place) { return place; });
  }
};

class Gradients {
public:
  Gradients(Elaborated &model, Diagnostics &diagnostics)
      : model(model), diagnostics(diagnostics) {}

  bool run();

private:
  bool refuse(const Term &term, const std::string &why);

  /// x[p] with an index at each place that is kept, those indices, and where
  /// they are read.
  struct Element {
    Term term;
    GradientTarget target;
    SmallVector<IndexVar *, 2> indices;
    SmallVector<Term *, 4> places;
  };

  bool prepare(Term &term);
  Conditions guardsOf(ArrayRef<const Term *> roots,
                      ArrayRef<IndexVar *> context);
  Element elementOf(Term &by, ArrayRef<IndexVar *> context);
  void define(Array &array, const Element &element, Term *value);
  bool makeElement(Gradient &gradient, const Element &element, Term &by,
                   const Conditions &guards);
  Array *newArray(const Term &of, ArrayRef<IndexVar *> context);
  Term *newTerm(TermKind kind, const Term &like, ArrayRef<Term *> args);
  Term *unique(Term *place);
  Term *readElement(Gradient &gradient, const Term &like,
                    ArrayRef<Term *> keptPlaces);

  Term *copy(Term *term, Copy &into);
  Term *copyRead(Term *term, Copy &into);
  Term *copyTargetRead(MovedRead &moved);
  SmallVector<Term *, 2> contextPlaces(const MovedRead &moved);
  Term *rebuilt(const MovedRead &moved, Array *array, ArrayRef<Term *> args);
  Term *readCopy(const MovedRead &moved);
  Array *copyOf(Array *array, Copy &from, ArrayRef<Term *> fixed,
                ArrayRef<Term *> contexts, const Conditions &guards,
                Array **element = nullptr);
  void copyPending(Gradient &gradient);

  Elaborated &model;
  Diagnostics &diagnostics;
  llvm::DenseSet<Term *> busy;
  std::map<std::pair<IndexVar *, int64_t>, Term *> affinePlaces;
  std::map<int64_t, Term *> constantPlaces;
  std::deque<Gradient> gradients;
  bool isRight = true;
};
} // namespace

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// A scalar term at the place of `like`.
Term *Gradients::newTerm(TermKind kind, const Term &like,
                         ArrayRef<Term *> args) {
  Term &term = model.terms.emplace_back();
  term.kind = kind;
  term.loc = like.loc;
  term.range = like.range;
  term.args.assign(args.begin(), args.end());
  term.shape = Shape();
  term.kindOf = Kind::Real;
  findFree(term);
  return &term;
}

/// One term for all that are the same place.
Term *Gradients::unique(Term *place) {
  if (auto affine = affineIndex(*place))
    return affinePlaces.try_emplace(*affine, place).first->second;
  if (place->kind == TermKind::Number)
    return constantPlaces.try_emplace(int64_t(place->number), place)
        .first->second;
  return place;
}

/// Whether two places are the same or different; nothing if it depends.
static std::optional<bool> areSame(const Term &a, const Term &b) {
  if (&a == &b)
    return true;
  auto x = affineIndex(a), y = affineIndex(b);
  if (x && y && x->first == y->first)
    return x->second == y->second;
  if (a.kind == TermKind::Number && b.kind == TermKind::Number)
    return a.number == b.number;
  if (a.kind == TermKind::Size && b.kind == TermKind::Size &&
      a.extent == b.extent && a.args.empty() && b.args.empty())
    return true;
  return std::nullopt;
}

bool Gradients::refuse(const Term &term, const std::string &why) {
  diagnostics.error(Code::gradient,
                    term.range.isValid() ? term.range.Start : term.loc,
                    "a gradient inside the model " + why);
  return isRight = false;
}

//===----------------------------------------------------------------------===//
// Copies of equations
//===----------------------------------------------------------------------===//

Array *Gradients::newArray(const Term &of, ArrayRef<IndexVar *> context) {
  Array &array = model.storage.emplace_back();
  array.source = Array::Equation;
  array.text = termText(of);
  array.loc = of.loc;
  array.context.assign(context.begin(), context.end());
  array.kind = Kind::Real;
  model.arrays.push_back(&array);
  return &array;
}

/// The equations of `array` at the `fixed` places, which follow from the
/// indices of the gradient; null: the place is kept. `element`: where its own
/// equations find the result.
Array *Gradients::copyOf(Array *array, Copy &from, ArrayRef<Term *> fixed,
                         ArrayRef<Term *> contexts, const Conditions &guards,
                         Array **element) {
  Gradient &gradient = from.gradient;
  std::vector<const void *> key(fixed.begin(), fixed.end());
  key.insert(key.end(), contexts.begin(), contexts.end());
  auto [it, isNew] = gradient.copies.try_emplace({array, key, guards});
  if (!isNew)
    return it->second;
  Array &made = model.storage.emplace_back(*array);
  it->second = &made;
  model.arrays.push_back(&made);
  if (element)
    *element = &made;
  made.name.clear();
  made.guards = guards;
  made.context = gradient.context;
  Copy into{gradient, {}, guards, {}};
  for (auto [var, place] : llvm::zip(array->context, contexts)) {
    if (place)
      into.places[var] = place;
    else if (!llvm::is_contained(made.context, var))
      made.context.push_back(var);
  }
  for (auto &condition : array->guards)
    made.guards.push_back({copy(condition.first, into), condition.second});
  llvm::erase_if(made.guards, [&](auto &condition) {
    return llvm::any_of(condition.first->free, [&](IndexVar *var) {
      return !llvm::is_contained(made.context, var);
    });
  });
  made.numPlaces = llvm::count(fixed, nullptr);
  for (const Piece &piece : array->pieces)
    for (auto [place, value] : llvm::zip(piece.places, fixed))
      if (!value && llvm::is_contained(gradient.context, place.var))
        refuse(*piece.value, "goes through " + array->text +
                                 " at other places of '" + place.var->name +
                                 "'; help: write stop(" + array->text +
                                 "[..]) where it counts as given");
  Pending pending{&made, {}};
  for (Piece &piece : made.pieces) {
    Substitution &places = pending.places.emplace_back(into.places);
    SmallVector<PiecePlace, 2> kept;
    for (auto [place, value] : llvm::zip(piece.places, fixed)) {
      if (value)
        places[place.var] = value;
      else
        kept.push_back(place);
    }
    piece.places = kept;
  }
  gradient.pending.push_back(std::move(pending));
  return &made;
}

/// Copies the equations of what copies read, however long the way is.
void Gradients::copyPending(Gradient &gradient) {
  while (!gradient.pending.empty()) {
    Pending next = std::move(gradient.pending.back());
    gradient.pending.pop_back();
    for (auto [piece, places] : llvm::zip(next.array->pieces, next.places)) {
      Copy own{gradient, places, next.array->guards, {}};
      if (piece.value)
        piece.value = copy(piece.value, own);
    }
  }
}

/// A read of the element x[p].
Term *Gradients::readElement(Gradient &gradient, const Term &like,
                             ArrayRef<Term *> keptPlaces) {
  gradient.isRead = true;
  Term *read = newTerm(TermKind::Read, like, keptPlaces);
  read->array = gradient.element;
  read->shape = like.shape;
  read->kindOf = like.kindOf;
  findFree(*read);
  return read;
}

/// A read of the target's array: of the element, or of others. A comparison of
/// places decides where it depends on them.
Term *Gradients::copyTargetRead(MovedRead &moved) {
  Gradient &gradient = moved.into.gradient;
  Term &read = moved.term;
  ArrayRef<Term *> places = gradient.target.places;
  SmallVector<Term *, 4> &args = moved.args;
  // A whole axis with a fixed place is read element by element.
  SmallVector<IndexVar *, 1> stacked;
  size_t numFixed = places.size();
  while (numFixed > 0 && !places[numFixed - 1])
    --numFixed;
  size_t numWritten = args.size();
  while (args.size() < numFixed) {
    IndexVar &var = model.indices.emplace_back();
    var.name = "k";
    var.extent = gradient.target.array->axis(args.size());
    stacked.push_back(&var);
    args.push_back(indexTerm(model, &var, read.loc));
  }
  Term *condition = nullptr;
  bool isOther = false;
  auto compare = [&](Term *place, Term *wanted) {
    std::optional<bool> isSame = areSame(*place, *wanted);
    isOther |= isSame == false;
    if (isSame)
      return;
    Term *equal = newTerm(TermKind::Map, read, {place, wanted});
    equal->fn = Fn::Equal;
    equal->kindOf = Kind::Bit;
    if (condition) {
      equal = newTerm(TermKind::Map, read, {condition, equal});
      equal->fn = Fn::And;
      equal->kindOf = Kind::Bit;
    }
    condition = equal;
  };
  SmallVector<Term *, 4> kept;
  for (auto [k, arg] : llvm::enumerate(args)) {
    if (k < places.size() && places[k])
      compare(arg, places[k]);
    else
      kept.push_back(arg);
  }
  SmallVector<Term *, 2> contexts = contextPlaces(moved);
  for (auto [place, var] : llvm::zip(contexts, gradient.target.array->context))
    compare(place, indexTerm(model, var, read.loc));
  bool isBetween = gradient.reach.reachesOther(args, contexts);
  auto readOther = [&] {
    return isBetween ? readCopy(moved)
                     : rebuilt(moved, gradient.target.array, args);
  };
  if (isOther) {
    args.truncate(numWritten);
    return readOther();
  }
  Term like = read;
  like.shape = Shape(llvm::drop_begin(*read.shape, stacked.size()));
  Term *element = readElement(gradient, like, kept);
  if (!kept.empty()) {
    element->fallback = moved.fallback;
    findFree(*element);
  }
  if (!condition)
    return element;
  Term *result = newTerm(TermKind::If, like, {condition, element, readOther()});
  result->shape = like.shape;
  result->kindOf = like.kindOf;
  if (stacked.empty())
    return result;
  Term *stack = newTerm(TermKind::Stack, read, {result});
  stack->vars = stacked;
  stack->shape = read.shape;
  stack->kindOf = read.kindOf;
  findFree(*stack);
  return stack;
}

/// The places of the array's context.
SmallVector<Term *, 2> Gradients::contextPlaces(const MovedRead &moved) {
  SmallVector<Term *, 2> places;
  for (auto [var, place] : llvm::zip(moved.term.array->context, moved.contexts))
    places.push_back(place ? place : indexTerm(model, var, moved.term.loc));
  return places;
}

Term *Gradients::copyRead(Term *term, Copy &into) {
  Gradient &gradient = into.gradient;
  Array *array = term->array;
  MovedRead moved{*term, into, {}, nullptr, {}, into.guards};
  for (Term *arg : term->args)
    moved.args.push_back(copy(arg, into));
  moved.fallback = term->fallback ? copy(term->fallback, into) : nullptr;
  for (IndexVar *var : array->context) {
    auto it = into.places.find(var);
    moved.contexts.push_back(it == into.places.end() ? nullptr : it->second);
  }
  // What its place needs holds around the equations that it is now in.
  if (auto it = model.guards.find(term); it != model.guards.end())
    for (auto &[condition, holds] : Conditions(it->second))
      if (std::pair own(copy(condition, into), holds);
          !llvm::is_contained(moved.guards, own))
        moved.guards.push_back(own);
  if (array == gradient.target.array && !into.isStopped)
    return copyTargetRead(moved);
  bool isBetween =
      !into.isStopped &&
      gradient.reach.reaches(array, moved.args, contextPlaces(moved));
  if (array->pieces.empty() || (!isBetween && !moved.isOfAnotherCall()))
    return rebuilt(moved, array, moved.args);
  return readCopy(moved);
}

/// A read of another array, or of others of its elements.
Term *Gradients::rebuilt(const MovedRead &moved, Array *array,
                         ArrayRef<Term *> args) {
  if (array == moved.term.array && ArrayRef(moved.term.args) == args &&
      moved.fallback == moved.term.fallback)
    return &moved.term;
  Term *read = &model.terms.emplace_back(moved.term);
  read->array = array;
  read->args.assign(args.begin(), args.end());
  read->fallback = moved.fallback;
  findFree(*read);
  if (!moved.guards.empty())
    model.guards[read] = moved.guards;
  return read;
}

/// A read of the array's equations over the indices of the gradient.
Term *Gradients::readCopy(const MovedRead &moved) {
  Gradient &gradient = moved.into.gradient;
  Array *array = moved.term.array;
  // A place that follows from the indices of the gradient becomes part of the
  // equation. A recurrence keeps its places, unless they lead to the target.
  bool isPlain = array->pieces.size() == 1 && array->pieces[0].isGeneral() &&
                 !moved.fallback;
  bool isRecurrent = gradient.reach.isRecurrent(array);
  auto follows = [&](unsigned axis, const Term &place) {
    return isPlain && axis < array->numPlaces && array->shift(axis) == 0 &&
           followsFrom(place, gradient.context) &&
           (!isRecurrent || gradient.reach.isFollowed(array, axis, place));
  };
  SmallVector<Term *, 4> fixed(array->numPlaces), kept;
  for (auto [k, arg] : llvm::enumerate(moved.args)) {
    if (follows(k, *arg))
      fixed[k] = unique(arg);
    else
      kept.push_back(arg);
  }
  SmallVector<Term *, 2> contexts;
  for (Term *place : moved.contexts)
    contexts.push_back(place ? unique(place) : nullptr);
  return rebuilt(
      moved, copyOf(array, moved.into, fixed, contexts, moved.guards), kept);
}

/// The term over the indices of a gradient; the same term if nothing changes.
Term *Gradients::copy(Term *term, Copy &into) {
  std::pair<const Term *, bool> key(term, into.isStopped);
  auto it = into.terms.find(key);
  if (it != into.terms.end())
    return it->second;
  Gradient &gradient = into.gradient;
  if (term->kind == TermKind::Grad && term->args.size() == 2 && !prepare(*term))
    return term;
  auto remember = [&](Term *result) { return into.terms[key] = result; };
  bool isMoved = llvm::any_of(
      term->free, [&](IndexVar *var) { return into.places.count(var); });
  if (term == gradient.target.value && !isMoved && !into.isStopped)
    return remember(readElement(gradient, *term, {}));
  if (term->kind == TermKind::Index) {
    auto place = into.places.find(term->index);
    return remember(place == into.places.end() ? term : place->second);
  }
  if (term->kind == TermKind::Read)
    return remember(copyRead(term, into));
  // A gradient over an element: all between is over the new indices, too.
  if (term->kind == TermKind::GradOver)
    gradient.reach.force(term->args[1]->array);
  bool isStop = term->kind == TermKind::Map && term->fn == Fn::Stop;
  llvm::SaveAndRestore stopped(into.isStopped, into.isStopped || isStop);
  Term changed = *term;
  for (Term *&arg : changed.args)
    arg = copy(arg, into);
  if (term->condition)
    changed.condition = copy(term->condition, into);
  if (changed.args == term->args && changed.condition == term->condition)
    return remember(term);
  if (term->kind == TermKind::Dropout)
    refuse(*term, "goes through dropout; help: apply dropout to its result");
  // x + 1 - 1 is x.
  if (term->kind == TermKind::Map)
    if (auto affine = affineIndex(changed))
      if (auto known = affinePlaces.find(*affine); known != affinePlaces.end())
        return remember(known->second);
  Term *result = &model.terms.emplace_back(changed);
  findFree(*result);
  return remember(result);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// The free indices of a term, and the indices that their extents depend on.
static SmallVector<IndexVar *, 2> contextOf(const Term &term) {
  llvm::SetVector<IndexVar *> context;
  std::function<void(IndexVar *)> add = [&](IndexVar *var) {
    if (var->parentIndex)
      llvm::for_each(var->parentIndex->free, add);
    context.insert(var);
  };
  llvm::for_each(term.free, add);
  return {context.begin(), context.end()};
}

/// The conditions around `roots` that their reads need.
Conditions Gradients::guardsOf(ArrayRef<const Term *> roots,
                               ArrayRef<IndexVar *> context) {
  Conditions guards;
  auto isOfContext = [&](IndexVar *var) {
    return llvm::is_contained(context, var);
  };
  for (const Term *root : roots)
    forEachPart(root, [&](const Term *part) {
      auto it = model.guards.find(part);
      if (it == model.guards.end())
        return;
      for (auto &condition : it->second)
        if (!llvm::is_contained(guards, condition) &&
            llvm::all_of(condition.first->free, isOfContext))
          guards.push_back(condition);
    });
  return guards;
}

/// The places of x that follow from F are fixed. The others are kept: an index
/// in the element, and read afterwards.
Gradients::Element Gradients::elementOf(Term &by,
                                        ArrayRef<IndexVar *> context) {
  Element element{by, {}, {}, {}};
  if (by.kind != TermKind::Read) {
    element.target.value = &by;
    return element;
  }
  Array *array = by.array;
  element.target.array = array;
  size_t count = std::max<size_t>(by.args.size(), array->numPlaces);
  element.term.args.resize(count);
  for (size_t k = 0; k < count; ++k) {
    Term *place = k < by.args.size() ? by.args[k] : nullptr;
    bool isFixed = place && followsFrom(*place, context);
    element.target.places.push_back(isFixed ? unique(place) : nullptr);
    if (isFixed)
      continue;
    IndexVar &var = model.indices.emplace_back();
    auto affine = place ? affineIndex(*place) : std::nullopt;
    var.name = affine ? affine->first->name : "k" + std::to_string(k);
    var.extent = array->axis(k);
    element.indices.push_back(&var);
    element.term.args[k] = indexTerm(model, &var, by.loc);
    if (place)
      element.places.push_back(place);
    else
      element.term.shape->erase(element.term.shape->begin());
  }
  return element;
}

/// Gives an array of the indices of a gradient its equation.
void Gradients::define(Array &array, const Element &element, Term *value) {
  array.numPlaces = element.indices.size();
  array.valueShape = element.term.shape;
  Piece &piece = array.pieces.emplace_back();
  piece.loc = array.loc;
  piece.value = value;
  for (IndexVar *var : element.indices)
    piece.places.push_back({var, 0, Extent(0), array.loc});
}

/// Makes the array of the elements x[p]. What depends on itself is copied as a
/// whole: a change of an element reaches later ones.
bool Gradients::makeElement(Gradient &gradient, const Element &element,
                            Term &by, const Conditions &guards) {
  bool isWhole = llvm::none_of(gradient.target.places,
                               [](const Term *place) { return place; });
  Array *array = gradient.target.array;
  if (!array || gradient.reach.areIndependent() ||
      (!isWhole && element.indices.empty())) {
    Term *read = &by;
    if (array) {
      read = &model.terms.emplace_back(element.term);
      findFree(*read);
      if (auto it = model.guards.find(&by); it != model.guards.end())
        model.guards[read] = it->second;
    }
    gradient.element = newArray(by, gradient.context);
    gradient.element->guards = guards;
    define(*gradient.element, element, read);
    return true;
  }
  if (!isWhole || gradient.target.places.size() > array->numPlaces)
    return refuse(by, "is by " + termText(by) +
                          ", whose elements depend on each other; help: give "
                          "all of its places, or none");
  Copy into{gradient, {}, guards, {}};
  SmallVector<Term *, 4> fixed(array->numPlaces);
  SmallVector<Term *, 2> contexts(array->context.size());
  copyOf(array, into, fixed, contexts, guards, &gradient.element);
  return isRight;
}

/// Replaces `grad(e, x[p])` by a read of the gradient's array.
bool Gradients::prepare(Term &term) {
  if (!busy.insert(&term).second)
    return refuse(term, "depends on itself through " + termText(*term.args[0]));
  Term &value = *term.args[0], &by = *term.args[1];
  SmallVector<IndexVar *, 2> context = contextOf(value);
  for (IndexVar *var : by.kind == TermKind::Read
                           ? ArrayRef<IndexVar *>(by.array->context)
                           : ArrayRef<IndexVar *>(by.free))
    if (!llvm::is_contained(context, var))
      return refuse(term, "is by a value that depends on '" + var->name +
                              "', but " + termText(value) + " does not");
  Element element = elementOf(by, context);
  Gradient &gradient = gradients.emplace_back(element.target, context);
  Conditions guards = guardsOf({&value, &by}, context);
  if (!makeElement(gradient, element, by, guards))
    return false;

  Copy into{gradient, {}, guards, {}};
  Term *over = newTerm(TermKind::GradOver, term, {copy(&value, into)});
  copyPending(gradient);
  if (!gradient.isRead && isRight)
    return refuse(term, "is zero: " + termText(value) + " does not depend on " +
                            termText(by));
  SmallVector<Term *, 4> indices;
  for (IndexVar *var : element.indices)
    indices.push_back(indexTerm(model, var, term.loc));
  over->args.push_back(readElement(gradient, element.term, indices));
  over->shape = element.term.shape;
  findFree(*over);
  Array *result = newArray(term, context);
  result->guards = guards;
  define(*result, element, over);

  term.kind = TermKind::Read;
  term.array = result;
  term.args.assign(element.places.begin(), element.places.end());
  findFree(term);
  if (!guards.empty())
    model.guards[&term] = guards;
  return isRight;
}

bool Gradients::run() {
  for (size_t i = 0, e = model.terms.size(); i < e; ++i)
    if (model.terms[i].kind == TermKind::Grad && !prepare(model.terms[i]))
      return false;
  return isRight;
}

bool fovea::fov::prepareGradients(Elaborated &model, Diagnostics &diagnostics) {
  return Gradients(model, diagnostics).run();
}
