//===- Infer.cpp - ranges, shapes, sizes of calls -------------------------===//
//
// One fixed point over all terms, arrays and indices of a model: each new fact
// wakes the rules that depend on it. Rules of equal strength run until nothing
// changes; then weaker ones fill the gaps (GRAMMAR 4). Check.cpp examines the
// result.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/check/Infer.h"
#include "frontends/fov/check/Check.h"
#include "llvm/ADT/DenseSet.h"

#include <deque>

using namespace fovea;
using namespace fovea::fov;

namespace {

/// An item that a rule re-examines when its dependencies are known.
struct Item {
  enum Kind {
    ofTerm,
    ofBinding,
    ofVocabulary,
    ofArray,
    ofChoice,
    ofUse,
    ofIndex
  };
  Kind kind;
  void *object;
};

class Inference {
public:
  Inference(Elaborated &model, const ModelPart &part)
      : model(model), part(part) {
    collect();
  }

  void run();

private:
  void collect();
  void add(Item item, std::initializer_list<const void *> keys);
  void push(std::deque<Item> &queue, Item item);
  Item pop(std::deque<Item> &queue);
  void wake(const void *key);
  void look(Item item);

  void lookAtTerm(Term &term);
  void lookAtBinding(const SizeBinding &binding, Item item);
  void lookAtVocabulary(const std::pair<const Atom *, Term *> &binding);
  void lookAtArray(Array &array);
  void lookAtChoice(const Choice &choice);
  void lookAtUse(const IndexUse &use, int strength);
  void lookAtIndex(IndexVar &var);
  void findSymbols(const Choice &choice);
  void demandSymbols(const Choice &choice);
  bool rangeOfOptional();
  bool guessShape();
  void setNested(const IndexUse &use, const Extent &extent);

  bool isSelfRead(const IndexUse &use) {
    auto it = owners.find(use.var);
    return it != owners.end() && use.read->kind == TermKind::Read &&
           llvm::is_contained(it->second, use.read->array);
  }
  void set(IndexVar *var, const Extent &extent, int strength,
           const IndexUse &use);
  void solve(const Atom *atom, const Extent &extent) {
    atom->solution = extent;
    wake(atom);
  }

  /// Each guess examines the whole model.
  static constexpr unsigned maxGuesses = 256;
  unsigned numGuesses = 0;

  Elaborated &model;
  ModelPart part;
  std::map<const IndexVar *, std::vector<Array *>> owners;
  llvm::DenseMap<const void *, SmallVector<Item, 2>> dependents;
  /// The items of the rules of strength 3, 4 and 5.
  std::deque<Item> strong, weak, weakest;
  llvm::DenseSet<std::tuple<const std::deque<Item> *, int, void *>> queued;
  /// For a size bound to a nested length W[m]: m.
  Rows rows;
  /// How much of an array was known at the last visit.
  llvm::DenseMap<Array *, unsigned> known;
};

} // namespace

void Inference::add(Item item, std::initializer_list<const void *> keys) {
  for (const void *key : keys)
    dependents[key].push_back(item);
  push(strong, item);
}

void Inference::push(std::deque<Item> &queue, Item item) {
  if (queued.insert({&queue, item.kind, item.object}).second)
    queue.push_back(item);
}

Item Inference::pop(std::deque<Item> &queue) {
  Item item = queue.front();
  queue.pop_front();
  queued.erase({&queue, item.kind, item.object});
  return item;
}

void Inference::wake(const void *key) {
  auto it = dependents.find(key);
  if (it == dependents.end())
    return;
  for (const Item &item : it->second)
    push(strong, item);
}

void Inference::collect() {
  const std::vector<Array *> &arrays = part.arraysOf(model);
  size_t numKeys = model.terms.size() - part.terms + model.indices.size() -
                   part.indices + arrays.size();
  dependents.reserve(numKeys);
  queued.reserve(numKeys + model.uses.size() - part.uses);
  for (Array *array : arrays)
    for (const Piece &piece : array->pieces)
      for (const PiecePlace &place : piece.places)
        if (place.var)
          owners[place.var].push_back(array);
  for (IndexVar &var : llvm::drop_begin(model.indices, part.indices))
    if (var.like)
      add({Item::ofIndex, &var}, {&var, var.like});
  for (Term &term : llvm::drop_begin(model.terms, part.terms)) {
    Item item{Item::ofTerm, &term};
    add(item, {});
    for (Term *arg : term.args)
      dependents[arg].push_back(item);
    for (IndexVar *var : term.vars)
      dependents[var].push_back(item);
    if (term.array)
      dependents[term.array].push_back(item);
  }
  for (SizeBinding &binding : llvm::drop_begin(model.bindings, part.bindings))
    add({Item::ofBinding, &binding}, {binding.term});
  for (auto &binding :
       llvm::drop_begin(model.vocabularyBindings, part.vocabularies))
    add({Item::ofVocabulary, &binding}, {binding.second});
  for (Array *array : arrays) {
    Item item{Item::ofArray, array};
    add(item, {});
    for (const Piece &piece : array->pieces) {
      dependents[piece.value].push_back(item);
      for (const PiecePlace &place : piece.places)
        dependents[place.var].push_back(item);
    }
  }
  for (Choice &choice : model.choices) {
    if (!part.isAll())
      break;
    Item item{Item::ofChoice, &choice};
    add(item, {choice.target});
    for (auto &[name, term] : choice.parameters)
      dependents[term].push_back(item);
  }
  for (IndexUse &use : llvm::drop_begin(model.uses, part.uses)) {
    bool isRead = use.read->kind == TermKind::Read;
    add({Item::ofUse, &use},
        {use.var, isRead ? static_cast<const void *>(use.read->array)
                         : use.read->args[0]});
  }
}

/// Weaker rules fill the gaps of stronger ones (GRAMMAR 4), one at a time.
void Inference::run() {
  while (!model.isStopped()) {
    if (!strong.empty()) {
      look(pop(strong));
      continue;
    }
    std::deque<Item> &queue = weak.empty() ? weakest : weak;
    if (queue.empty()) {
      // The whole model alone shows what has no other facts.
      if (!part.isAll())
        return;
      if (!rangeOfOptional() && !guessShape())
        return findRows(model, rows);
      model.hasGuesses = true;
      continue;
    }
    Item item = pop(queue);
    if (item.kind == Item::ofUse)
      lookAtUse(*static_cast<IndexUse *>(item.object), &queue == &weak ? 4 : 5);
    else
      demandSymbols(*static_cast<Choice *>(item.object));
  }
}

/// An index without any other range gets the range of a read under `??`.
bool Inference::rangeOfOptional() {
  for (const IndexUse &use : model.uses) {
    if (use.var->extent || !use.read->fallback || use.shift != 0)
      continue;
    if (std::optional<Extent> extent = extentOf(use)) {
      set(use.var, *extent, 5, use);
      setNested(use, *extent);
      return true;
    }
  }
  return false;
}

/// a[t] = a[t-1] / 2 + x[t] has the shape of x[t] if nothing else defines one.
/// `if i == j then x[i] else f(a[i])` has the shape of the known branch.
/// Returns false if there is nothing to guess from.
bool Inference::guessShape() {
  Term *best = nullptr;
  const Shape *shape = nullptr;
  for (Term &term : model.terms) {
    bool isIf = term.kind == TermKind::If;
    if (term.shape || (term.kind != TermKind::Map && !isIf))
      continue;
    for (const Term *arg : ArrayRef(term.args).drop_front(isIf ? 1 : 0))
      if (arg->shape && (!best || arg->shape->size() > shape->size())) {
        best = &term;
        shape = &*arg->shape;
      }
  }
  if (!best || ++numGuesses > maxGuesses)
    return false;
  best->shape = *shape;
  wake(best);
  return true;
}

void Inference::look(Item item) {
  switch (item.kind) {
  case Item::ofTerm:
    return lookAtTerm(*static_cast<Term *>(item.object));
  case Item::ofBinding:
    return lookAtBinding(*static_cast<SizeBinding *>(item.object), item);
  case Item::ofVocabulary:
    return lookAtVocabulary(
        *static_cast<std::pair<const Atom *, Term *> *>(item.object));
  case Item::ofArray:
    return lookAtArray(*static_cast<Array *>(item.object));
  case Item::ofChoice:
    push(weakest, item);
    return lookAtChoice(*static_cast<Choice *>(item.object));
  case Item::ofUse:
    push(weak, item);
    push(weakest, item);
    return lookAtUse(*static_cast<IndexUse *>(item.object), 3);
  case Item::ofIndex:
    return lookAtIndex(*static_cast<IndexVar *>(item.object));
  }
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

void Inference::set(IndexVar *var, const Extent &extent, int strength,
                    const IndexUse &use) {
  var->extent = extent;
  var->strength = strength;
  var->originLoc = use.loc;
  var->origin = termText(*use.read);
  bool isRead = use.read->kind == TermKind::Read;
  var->giver = isRead ? use.read->array : nullptr;
  var->giverAxis = use.axis;
  const Piece *piece = isRead && var->giver->source == Array::Equation &&
                               use.axis < var->giver->numPlaces
                           ? var->giver->general()
                           : nullptr;
  var->isDemanded =
      strength == 5 || (piece && piece->places[use.axis].var->isDemanded);
  wake(var);
}

/// A nested extent W[m] comes with the index of its parent.
void Inference::setNested(const IndexUse &use, const Extent &extent) {
  const Atom *length = extent.length();
  if (!length || length->parent.empty() || use.read->kind != TermKind::Read)
    return;
  for (unsigned k = 0; k < use.axis && k < use.read->args.size(); ++k)
    if (auto size = use.read->array->axis(k);
        size && size->text() == length->parent)
      use.var->parentIndex = use.read->args[k];
}

void Inference::lookAtUse(const IndexUse &use, int strength) {
  if (use.read->fallback)
    return;
  std::optional<Extent> extent = extentOf(use);
  if (!use.var->extent && extent) {
    if (isSelfRead(use) || use.shift > 0 || (use.shift < 0 && strength < 4))
      return;
    set(use.var, *extent, use.shift == 0 ? 3 : 4, use);
    setNested(use, *extent);
    return;
  }
  // The requirements of a reader on an array whose index has no other bound.
  if (strength >= 5 && !extent && use.var->extent && use.shift == 0 &&
      use.read->kind == TermKind::Read &&
      use.read->array->source == Array::Equation &&
      use.axis < use.read->array->numPlaces)
    for (Piece &piece : use.read->array->pieces)
      if (piece.isGeneral() && !piece.places[use.axis].var->extent)
        set(piece.places[use.axis].var,
            *use.var->extent - Extent(piece.places[use.axis].shift), 5, use);
}

/// softmax[t] of a bound t: both have the same range.
void Inference::lookAtIndex(IndexVar &var) {
  IndexVar *from = var.extent ? &var : var.like;
  IndexVar *to = var.extent ? var.like : &var;
  if (!from->extent || to->extent)
    return;
  to->extent = from->extent;
  to->strength = from->strength;
  to->origin = from->origin;
  to->originLoc = from->originLoc;
  to->parentIndex = from->parentIndex;
  to->giver = from->giver;
  to->giverAxis = from->giverAxis;
  to->isDemanded = from->isDemanded;
  wake(to);
}

//===----------------------------------------------------------------------===//
// Arrays, calls, choices
//===----------------------------------------------------------------------===//

void Inference::lookAtBinding(const SizeBinding &binding, Item item) {
  if (!binding.term->shape)
    return;
  for (auto [axis, sizes] :
       llvm::enumerate(llvm::zip(binding.sizes, *binding.term->shape))) {
    auto &[size, given] = sizes;
    // An open size of a single atom takes the extent of its first use.
    const Atom *atom = size.openAtom();
    if (!atom)
      continue;
    // A floor may still contain an open size, even this one: a size that its
    // own value defines stays open.
    const Atom *open = given.unresolved();
    if (open && open != atom)
      dependents[open].push_back(item);
    else if (std::optional<Extent> all = given.resolved()) {
      if (const Atom *length = all->length(); length && !length->parent.empty())
        rows[atom] = rowOf(model, *binding.term, axis, length->parent);
      solve(atom, *all);
    }
  }
}

void Inference::lookAtVocabulary(
    const std::pair<const Atom *, Term *> &binding) {
  auto [atom, term] = binding;
  if (!term->vocabulary || atom->solution)
    return;
  model.vocabularyOf[atom] = term->vocabulary;
  solve(atom, term->vocabulary->size);
}

/// The pieces of a name have one shape and one range.
void Inference::lookAtArray(Array &array) {
  for (const Piece &piece : array.pieces) {
    if (!piece.value)
      continue;
    if (!array.valueShape && piece.value->shape)
      array.valueShape = piece.value->shape;
    if (!array.vocabulary)
      array.vocabulary = piece.value->vocabulary;
  }
  unsigned count = array.valueShape.has_value() + (array.vocabulary != nullptr);
  for (unsigned k = 0; k < array.numPlaces; ++k) {
    std::optional<Extent> extent = array.axis(k);
    const IndexVar *source = nullptr;
    for (const Piece &piece : array.pieces)
      if (const PiecePlace &place = piece.places[k];
          place.var && place.var->extent && !extent) {
        extent = place.var->extent;
        source = place.var;
      }
    if (!extent)
      continue;
    ++count;
    for (Piece &piece : array.pieces) {
      IndexVar *var = piece.places[k].var;
      if (!var || var->extent)
        continue;
      var->extent = *extent - Extent(piece.places[k].shift);
      var->strength = 3;
      var->originLoc = source ? source->originLoc : array.loc;
      var->origin = source ? source->origin : array.text;
      var->giver = source ? source->giver : &array;
      var->giverAxis = source ? source->giverAxis : k;
      var->isDemanded = source && source->isDemanded;
      wake(var);
    }
  }
  if (std::exchange(known[&array], count) != count)
    wake(&array);
}

/// The distribution determines the shape of a latent's value.
void Inference::lookAtChoice(const Choice &choice) {
  Array &target = *choice.target;
  // A guide proposes values for all drawn places.
  for (auto [k, place] : llvm::enumerate(choice.places)) {
    std::optional<Extent> extent = target.axis(k);
    if (!choice.guide || !place.var || place.var->extent || !extent)
      continue;
    place.var->extent = *extent - Extent(place.shift);
    place.var->strength = 2;
    place.var->originLoc = target.loc;
    place.var->origin = target.text;
    wake(place.var);
  }
  if (choice.latent)
    findSymbols(choice);
  if (!choice.latent || target.valueShape)
    return;
  bool isOne = choice.distribution == "categorical" ||
               choice.distribution == "bernoulli";
  if (isOne)
    target.valueShape = Shape();
  for (auto &[name, term] : choice.parameters) {
    if (target.valueShape)
      break;
    if (name == "size" && term->kind == TermKind::Number)
      target.valueShape = Shape{Extent(int64_t(term->number))};
    else if (name == "mean" && choice.distribution != "mixture")
      target.valueShape = term->shape;
    else if (name == "mean" && term->shape && !term->shape->empty())
      // Of each component.
      target.valueShape = Shape(term->shape->begin() + 1, term->shape->end());
  }
  // Without a size, the size of its bounds.
  bool hasSize = llvm::any_of(choice.parameters, [](auto &parameter) {
    return parameter.first == "size";
  });
  if (choice.distribution == "uniform" && !hasSize)
    for (auto &[name, term] : choice.parameters)
      if (term->shape && (!target.valueShape || target.valueShape->empty()))
        target.valueShape = term->shape;
  if (target.valueShape)
    wake(&target);
}

/// The size of a vocabulary by its own name, such as `word.vocab`.
static const Atom *nameOf(const Extent &size) {
  std::optional<Extent> resolved = size.resolved();
  if (!resolved || resolved->terms().size() != 1)
    return nullptr;
  const auto &[monomial, factor] = *resolved->terms().begin();
  bool isName = monomial.size() == 1 && monomial.front().second == 1 &&
                factor.num == 1 && factor.den == 1;
  return isName ? monomial.front().first : nullptr;
}

/// A latent with a logit per symbol of a vocabulary is one of its symbols.
void Inference::findSymbols(const Choice &choice) {
  Array &target = *choice.target;
  if (choice.distribution != "categorical" || target.vocabulary)
    return;
  const Term &logits = *choice.parameters[0].second;
  const Atom *size = logits.shape && logits.shape->size() == 1
                         ? nameOf(logits.shape->front())
                         : nullptr;
  if (!size)
    return;
  for (const Vocabulary &vocabulary : model.vocabularies)
    if (nameOf(vocabulary.size) == size) {
      target.vocabulary = &vocabulary;
      target.kind = Kind::Token;
      return wake(&target);
    }
}

/// A categorical has the symbols of its target.
void Inference::demandSymbols(const Choice &choice) {
  if (choice.distribution != "categorical" || !choice.target->vocabulary)
    return;
  const Term &term = *choice.parameters[0].second;
  if (!term.shape || term.shape->size() != 1)
    return;
  if (const Atom *open = (*term.shape)[0].openAtom())
    solve(open, choice.target->vocabulary->size);
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

void Inference::lookAtTerm(Term &term) {
  bool changed = false;
  if (!term.shape) {
    term.shape = shapeOf(term, model.sizes);
    changed |= term.shape.has_value();
    if (!term.shape && term.kind == TermKind::Fold && term.args[0]->shape &&
        !term.args[0]->shape->empty()) {
      Shape sizes = term.sizes;
      sizes.append(*term.args[0]->shape);
      for (const Extent &size : sizes)
        if (const Atom *open = size.unresolved())
          dependents[open].push_back({Item::ofTerm, &term});
    }
    if (!term.shape && term.kind == TermKind::Join)
      for (const Term *part : term.args)
        if (part->shape && !part->shape->empty())
          if (const Atom *open = part->shape->back().unresolved())
            dependents[open].push_back({Item::ofTerm, &term});
  }
  if (!term.vocabulary) {
    if (term.kind == TermKind::Read)
      term.vocabulary = term.array->vocabulary;
    else if (term.kind == TermKind::If)
      term.vocabulary = term.args[1]->vocabulary ? term.args[1]->vocabulary
                                                 : term.args[2]->vocabulary;
    else if (term.kind == TermKind::Vector || term.kind == TermKind::Stack ||
             term.kind == TermKind::Select)
      term.vocabulary = term.args[0]->vocabulary;
    changed |= term.vocabulary != nullptr;
  }
  if (changed)
    wake(&term);
}

void fovea::fov::inferShapes(Elaborated &model, const ModelPart &part) {
  Inference(model, part).run();
}

bool fovea::fov::infer(Elaborated &model, Diagnostics &diagnostics) {
  inferShapes(model);
  if (model.isStopped())
    return false;
  inferKinds(model);
  return checkModel(model, diagnostics);
}
