//===- Infer.cpp - ranges, shapes and kinds -------------------------------===//
//
// One fixed point over all terms, arrays and indices of a model. Rules of the
// same strength run until nothing changes; weaker ones then fill what is left
// (GRAMMAR 4). Check.cpp looks at the result.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/Infer.h"
#include "frontends/fov/Check.h"

using namespace fovea;
using namespace fovea::fov;

std::optional<Extent> Array::axis(unsigned k) const {
  if (k >= numPlaces) {
    if (!valueShape || k - numPlaces >= valueShape->size())
      return std::nullopt;
    return (*valueShape)[k - numPlaces];
  }
  if (source == Data)
    return extents[k];
  for (const Piece &piece : pieces) {
    if (!piece.isGeneral() || !piece.places[k].var->extent)
      continue;
    return *piece.places[k].var->extent + Extent(piece.places[k].shift);
  }
  return std::nullopt;
}

std::optional<Shape> Array::shape() const {
  if (!valueShape)
    return std::nullopt;
  Shape result;
  for (unsigned k = 0; k < numPlaces; ++k) {
    std::optional<Extent> extent = axis(k);
    if (!extent)
      return std::nullopt;
    result.push_back(*extent);
  }
  result.append(valueShape->begin(), valueShape->end());
  return result;
}

namespace {

class Inference {
public:
  explicit Inference(Elaborated &model) : model(model) {
    for (Array *array : model.arrays)
      for (const Piece &piece : array->pieces)
        for (const PiecePlace &place : piece.places)
          if (place.var)
            owners[place.var].push_back(array);
  }

  void run() {
    for (int strength = 3; strength <= 5;) {
      changed = false;
      step(strength);
      if (changed)
        strength = 3;
      else
        ++strength;
    }
    kinds();
  }

private:
  void step(int strength);
  std::optional<Shape> shapeOf(const Term &term);
  void useIndex(const IndexUse &use, int strength);
  void bind(const SizeBinding &binding);
  void kinds();
  std::optional<Kind> kindOf(const Term &term);

  bool isSelfRead(const IndexUse &use) {
    auto it = owners.find(use.var);
    return it != owners.end() && use.read->kind == TermKind::Read &&
           llvm::is_contained(it->second, use.read->array);
  }
  void set(IndexVar *var, const Extent &extent, int strength,
           const IndexUse &use) {
    var->extent = extent;
    var->strength = strength;
    var->originLoc = use.loc;
    var->origin = termText(*use.read);
    changed = true;
    // A nested extent W[m] comes with the index of its parent.
    const Atom *length = extent.length();
    if (!length || length->parent.empty() || use.read->kind != TermKind::Read)
      return;
    for (unsigned k = 0; k < use.axis && k < use.read->args.size(); ++k)
      if (auto size = use.read->array->axis(k);
          size && size->text() == length->parent)
        var->parentIndex = use.read->args[k];
  }

  Elaborated &model;
  std::map<const IndexVar *, std::vector<Array *>> owners;
  bool changed = false;
};

} // namespace

void Inference::useIndex(const IndexUse &use, int strength) {
  if (use.read->fallback)
    return;
  std::optional<Extent> extent;
  if (use.read->kind == TermKind::Read)
    extent = use.read->array->axis(use.axis);
  else if (use.read->args[0]->shape &&
           use.axis < use.read->args[0]->shape->size())
    extent = (*use.read->args[0]->shape)[use.axis];
  if (!use.var->extent && extent) {
    bool self = isSelfRead(use);
    if (use.shift == 0 && !self)
      set(use.var, *extent, 3, use);
    else if (strength >= 4 && use.shift < 0 && !self)
      set(use.var, *extent, 4, use);
    return;
  }
  // What a reader demands of an array whose index nothing else bounds.
  if (strength >= 5 && !extent && use.var->extent && use.shift == 0 &&
      use.read->kind == TermKind::Read &&
      use.read->array->source == Array::Equation &&
      use.axis < use.read->array->numPlaces)
    for (Piece &piece : use.read->array->pieces)
      if (piece.isGeneral() && !piece.places[use.axis].var->extent)
        set(piece.places[use.axis].var,
            *use.var->extent - Extent(piece.places[use.axis].shift), 5, use);
}

void Inference::bind(const SizeBinding &binding) {
  if (!binding.term->shape)
    return;
  for (auto [k, size] : llvm::enumerate(binding.sizes)) {
    if (k >= binding.term->shape->size())
      return;
    // A size that is one open atom takes the extent of its first use.
    const Atom *atom = size.openAtom();
    if (!atom)
      continue;
    if (std::optional<Extent> known = (*binding.term->shape)[k].resolved()) {
      atom->solution = known;
      changed = true;
    }
  }
}

void Inference::step(int strength) {
  for (IndexVar &var : model.indices)
    if (var.like && !var.extent && var.like->extent) {
      var.extent = var.like->extent;
      var.strength = var.like->strength;
      var.origin = var.like->origin;
      var.originLoc = var.like->originLoc;
      changed = true;
    } else if (var.like && var.extent && !var.like->extent) {
      var.like->extent = var.extent;
      var.like->strength = var.strength;
      var.like->origin = var.origin;
      var.like->originLoc = var.originLoc;
      changed = true;
    }
  for (Term &term : model.terms)
    if (!term.shape)
      if (std::optional<Shape> shape = shapeOf(term)) {
        term.shape = shape;
        changed = true;
      }
  for (Term &term : model.terms) {
    const Vocabulary *vocabulary = nullptr;
    if (term.kind == TermKind::Read)
      vocabulary = term.array->vocabulary;
    else if (term.kind == TermKind::If)
      vocabulary = term.args[1]->vocabulary ? term.args[1]->vocabulary
                                            : term.args[2]->vocabulary;
    if (vocabulary && !term.vocabulary) {
      term.vocabulary = vocabulary;
      changed = true;
    }
  }
  for (const SizeBinding &binding : model.bindings)
    bind(binding);
  for (auto &[atom, term] : model.vocabularyBindings)
    if (!atom->solution && term->vocabulary) {
      atom->solution = term->vocabulary->size;
      changed = true;
    }
  for (Array *array : model.arrays) {
    for (const Piece &piece : array->pieces)
      if (!array->valueShape && piece.value && piece.value->shape) {
        array->valueShape = piece.value->shape;
        changed = true;
      }
    for (const Piece &piece : array->pieces)
      if (!array->vocabulary && piece.value && piece.value->vocabulary) {
        array->vocabulary = piece.value->vocabulary;
        changed = true;
      }
  }
  // The pieces of a name run over the same extents.
  for (Array *array : model.arrays)
    for (unsigned k = 0; k < array->numPlaces; ++k) {
      std::optional<Extent> extent = array->axis(k);
      const IndexVar *source = nullptr;
      for (const Piece &piece : array->pieces)
        if (const PiecePlace &place = piece.places[k];
            place.var && place.var->extent && !extent) {
          extent = *place.var->extent + Extent(place.shift);
          source = place.var;
        }
      if (!extent)
        continue;
      for (Piece &piece : array->pieces) {
        PiecePlace &place = piece.places[k];
        if (!place.var || place.var->extent)
          continue;
        place.var->extent = *extent - Extent(place.shift);
        place.var->strength = 3;
        place.var->originLoc = source ? source->originLoc : array->loc;
        place.var->origin = source ? source->origin : array->text;
        changed = true;
      }
    }
  // A categorical has the symbols of what it draws.
  if (strength >= 5)
    for (const Choice &choice : model.choices) {
      if (choice.distribution != "categorical" || !choice.target->vocabulary)
        continue;
      const Term &term = *choice.parameters[0].second;
      if (term.shape && term.shape->size() == 1 && !(*term.shape)[0].resolved())
        if (const Atom *open = (*term.shape)[0].openAtom()) {
          open->solution = choice.target->vocabulary->size;
          changed = true;
        }
    }
  for (const Choice &choice : model.choices) {
    if (!choice.latent || choice.target->valueShape)
      continue;
    for (auto &[name, term] : choice.parameters) {
      if (choice.distribution == "categorical" ||
          choice.distribution == "bernoulli") {
        choice.target->valueShape = Shape();
        changed = true;
      } else if (name == "size") {
        if (term->kind == TermKind::Number) {
          choice.target->valueShape = Shape{Extent(int64_t(term->number))};
          changed = true;
        }
      } else if (name == "mean" && term->shape) {
        choice.target->valueShape = term->shape;
        changed = true;
      }
    }
    // A categorical over a vocabulary's size gives its symbols.
  }
  for (const IndexUse &use : model.uses)
    useIndex(use, strength);
}

std::optional<Shape> Inference::shapeOf(const Term &term) {
  for (const Term *arg : term.args)
    if (!arg->shape && term.kind != TermKind::Map &&
        term.kind != TermKind::If && term.kind != TermKind::Read)
      return std::nullopt;
  auto arg = [&](unsigned k) -> const Shape & { return *term.args[k]->shape; };
  auto extentsOf = [&](ArrayRef<IndexVar *> vars) -> std::optional<Shape> {
    Shape result;
    for (IndexVar *var : vars) {
      if (!var->extent)
        return std::nullopt;
      result.push_back(*var->extent);
    }
    return result;
  };
  switch (term.kind) {
  case TermKind::Number:
  case TermKind::Index:
  case TermKind::Size:
    return Shape();
  case TermKind::Read: {
    const Array &array = *term.array;
    if (term.args.size() >= array.numPlaces) {
      if (!array.valueShape)
        return std::nullopt;
      unsigned given = term.args.size() - array.numPlaces;
      if (given > array.valueShape->size())
        return Shape(); // reported by the check
      return Shape(array.valueShape->begin() + given, array.valueShape->end());
    }
    std::optional<Shape> whole = array.shape();
    if (!whole)
      return std::nullopt;
    return Shape(whole->begin() + term.args.size(), whole->end());
  }
  case TermKind::Select: {
    size_t given = term.args.size() - 1;
    if (given > arg(0).size())
      return Shape();
    return Shape(arg(0).begin() + given, arg(0).end());
  }
  case TermKind::Map: {
    bool all = true;
    for (const Term *part : term.args) {
      if (part->shape && !part->shape->empty())
        return part->shape;
      all &= part->shape.has_value();
    }
    return all ? std::optional<Shape>(Shape()) : std::nullopt;
  }
  case TermKind::If:
    for (unsigned k : {1u, 2u})
      if (term.args[k]->shape && !term.args[k]->shape->empty())
        return term.args[k]->shape;
    if (term.args[1]->shape && term.args[2]->shape)
      return Shape();
    return std::nullopt;
  case TermKind::Reduce: {
    if (!isNormaliser(term.reduction))
      return term.reduction == Reduction::Argmax ||
                     term.reduction == Reduction::Argmin
                 ? Shape()
                 : arg(0);
    std::optional<Shape> result = extentsOf(term.vars);
    if (result)
      result->append(arg(0).begin(), arg(0).end());
    return result;
  }
  case TermKind::Stack: {
    std::optional<Shape> result = extentsOf(term.vars);
    if (result)
      result->append(arg(0).begin(), arg(0).end());
    return result;
  }
  case TermKind::Join: {
    Shape result;
    for (const Term *part : term.args)
      if (part->shape->size() > result.size())
        result = *part->shape;
    Extent total(0);
    for (const Term *part : term.args)
      total = total + (part->shape->empty() ? Extent(1) : part->shape->back());
    if (result.empty())
      return Shape{total};
    result.back() = total;
    return result;
  }
  case TermKind::Contract: {
    Shape result;
    if (arg(0).empty() || arg(1).empty())
      return Shape();
    result.append(arg(0).begin(), arg(0).end() - 1);
    result.append(arg(1).begin() + 1, arg(1).end());
    return result;
  }
  case TermKind::OverAxis: {
    if (isNormaliser(term.reduction) || arg(0).empty())
      return arg(0);
    return Shape(arg(0).begin(), arg(0).end() - 1);
  }
  case TermKind::Fold: {
    if (arg(0).empty())
      return Shape();
    Shape result(term.sizes);
    Extent product(1);
    for (const Extent &size : term.sizes)
      product = product * size;
    std::optional<Extent> whole = arg(0)[0].resolved(),
                          part = product.resolved();
    if (!whole || !part || part->value() == 0)
      return std::nullopt;
    result.push_back(model.sizes.floorDiv(*whole, *part));
    result.append(arg(0).begin() + 1, arg(0).end());
    return result;
  }
  case TermKind::Flatten: {
    size_t axes = term.vars.size();
    Extent product(1);
    size_t merged = std::min(arg(0).size(), axes + 1);
    for (size_t k = 0; k < merged; ++k)
      product = product * arg(0)[k];
    Shape result{product};
    result.append(arg(0).begin() + merged, arg(0).end());
    return result;
  }
  case TermKind::Slice:
  case TermKind::Fill:
    return Shape(term.sizes);
  case TermKind::Onehot: {
    const Term *token = term.args[0];
    const Vocabulary *vocabulary =
        token->kind == TermKind::Read ? token->array->vocabulary : nullptr;
    if (!vocabulary)
      return std::nullopt;
    return Shape{vocabulary->size};
  }
  case TermKind::Vector:
    return arg(0).empty() ? Shape{Extent(1)} : arg(0);
  case TermKind::Dropout:
    return arg(0);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Kinds: the least solution, bit < int < real
//===----------------------------------------------------------------------===//

static std::optional<Kind> join(std::optional<Kind> a, std::optional<Kind> b) {
  if (!a || !b)
    return a ? a : b;
  if (*a == Kind::Token || *b == Kind::Token)
    return Kind::Token;
  return std::max(*a, *b);
}

std::optional<Kind> Inference::kindOf(const Term &term) {
  auto arg = [&](unsigned k) { return term.args[k]->kindOf; };
  switch (term.kind) {
  case TermKind::Number:
    if (term.kindOf == Kind::Bit)
      return Kind::Bit;
    return term.isSymbol    ? Kind::Token
           : term.isInteger ? Kind::Int
                            : Kind::Real;
  case TermKind::Index:
  case TermKind::Size:
  case TermKind::Fill:
    return Kind::Int;
  case TermKind::Read:
    return term.array->kind;
  case TermKind::Map:
    switch (term.fn) {
    case Fn::And:
    case Fn::Or:
    case Fn::Not:
    case Fn::Less:
    case Fn::LessEqual:
    case Fn::Greater:
    case Fn::GreaterEqual:
    case Fn::Equal:
    case Fn::NotEqual:
      return Kind::Bit;
    case Fn::ToInt:
      return Kind::Int;
    case Fn::Add:
    case Fn::Sub:
    case Fn::Mul:
    case Fn::FloorDiv:
    case Fn::Mod:
    case Fn::Min:
    case Fn::Max:
    case Fn::Negate:
    case Fn::Abs:
    case Fn::Stop:
    case Fn::Pow: {
      std::optional<Kind> all;
      for (const Term *part : term.args)
        all = join(all, part->kindOf);
      if (all == Kind::Bit)
        all = Kind::Int;
      if (term.fn == Fn::Pow && all == Kind::Int)
        all = Kind::Real;
      return all;
    }
    default:
      return Kind::Real;
    }
  case TermKind::If:
    return join(arg(1), arg(2));
  case TermKind::Reduce:
  case TermKind::OverAxis:
    switch (term.reduction) {
    case Reduction::Argmax:
    case Reduction::Argmin:
      return Kind::Int;
    case Reduction::Any:
    case Reduction::All:
      return Kind::Bit;
    case Reduction::Sum:
    case Reduction::Prod:
    case Reduction::Cumsum:
      return arg(0) == Kind::Bit ? Kind::Int : arg(0);
    case Reduction::Max:
    case Reduction::Min:
      return arg(0);
    default:
      return Kind::Real;
    }
  case TermKind::Join: {
    std::optional<Kind> all;
    for (const Term *part : term.args)
      all = join(all, part->kindOf);
    return all;
  }
  case TermKind::Contract:
    return Kind::Real;
  case TermKind::Onehot:
    return Kind::Int;
  case TermKind::Dropout:
    return Kind::Real;
  default:
    return arg(0);
  }
}

void Inference::kinds() {
  for (bool again = true; again;) {
    again = false;
    for (Term &term : model.terms) {
      std::optional<Kind> kind = join(term.kindOf, kindOf(term));
      if (term.fallback)
        kind = join(kind, term.fallback->kindOf);
      if (kind != term.kindOf) {
        term.kindOf = kind;
        again = true;
      }
    }
    for (Array *array : model.arrays)
      for (const Piece &piece : array->pieces) {
        if (!piece.value)
          continue;
        std::optional<Kind> kind = join(array->kind, piece.value->kindOf);
        if (kind != array->kind) {
          array->kind = kind;
          again = true;
        }
      }
  }
  for (Array *array : model.arrays)
    if (!array->kind)
      array->kind = Kind::Real;
  for (Term &term : model.terms)
    if (!term.kindOf)
      term.kindOf = Kind::Real;
}

std::string fovea::fov::termText(const Term &term) {
  if (term.range.isValid())
    return std::string(term.range.Start.getPointer(),
                       term.range.End.getPointer());
  if (term.kind == TermKind::Read)
    return term.array->text;
  return "this value";
}

bool fovea::fov::infer(Elaborated &model, Diagnostics &diagnostics) {
  Inference(model).run();
  return checkModel(model, diagnostics);
}
