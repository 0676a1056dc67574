//===- Places.cpp - what is known of whole numbers in a model -------------===//

#include "frontends/fov/check/Places.h"

using namespace fovea;
using namespace fovea::fov;

/// The maximum number of alternatives of a condition; larger conditions are
/// ignored.
static constexpr size_t maxAlternatives = 16;

static bool isWhole(const Term *term) {
  switch (term->kind) {
  case TermKind::Number:
    return term->isInteger && std::abs(term->number) <= 1e15;
  case TermKind::Index:
  case TermKind::Size:
    return true;
  default:
    return term->kindOf && *term->kindOf != Kind::Real && term->shape &&
           term->shape->empty();
  }
}

void Places::equal(const WholeSum &a, const WholeSum &b) {
  Facts facts;
  facts.equal(a, b);
  system.know(facts);
}

/// A number from `first` to before `end`, or also 0.
WholeSum Places::between(const WholeSum &first, const WholeSum &end,
                         bool orZero) {
  WholeSum self = system.fresh();
  Facts inside;
  inside.atLeast(self, first);
  inside.below(self, end);
  if (!orZero) {
    system.know(inside);
    return self;
  }
  Facts zero;
  zero.equal(self, WholeSum::number(0));
  system.knowOneOf({inside, zero});
  return self;
}

Places::Key Places::keyOf(const WholeSum &sum) {
  Key key = {sum.constant};
  for (auto [variable, factor] : sum.factors)
    key.insert(key.end(), {int64_t(variable), factor});
  return key;
}

std::optional<WholeSum> Places::valueOf(const Extent &extent,
                                        const WholeSum *row) {
  std::optional<Extent::Linear> linear = extent.linear();
  if (!linear)
    return std::nullopt;
  WholeSum sum = WholeSum::number(linear->constant);
  for (auto &[atom, factor] : linear->coefficients) {
    bool isNested = atom->kind == Atom::Length && !atom->parent.empty();
    WholeSum of = isNested ? row ? *row : system.fresh() : WholeSum();
    auto [known, isNew] = sizes.try_emplace({atom, keyOf(of)});
    if (isNew) {
      WholeSum self = known->second = system.fresh();
      Facts facts;
      if (atom->kind == Atom::Length) {
        // Nested lengths and those of values may be 0; others are at least 1.
        facts.atLeast(self, WholeSum::number(isNested || atom->bound ? 0 : 1));
        if (auto most = atom->bound ? valueOf(*atom->bound) : std::nullopt)
          facts.atLeast(*most, self);
      } else {
        auto numerator = valueOf(atom->numerator, row);
        auto denominator = atom->denominator.value();
        if (numerator && denominator && *denominator > 0) {
          WholeSum rest = *numerator - self * *denominator;
          facts.atLeast(rest, WholeSum::number(0));
          facts.below(rest, WholeSum::number(*denominator));
        }
      }
      system.know(facts);
    }
    sum = sum + known->second * factor;
  }
  return sum;
}

WholeSum Places::indexOf(const IndexVar *var) {
  auto [known, isNew] = ranges.try_emplace(var);
  if (!isNew)
    return known->second;
  WholeSum self = known->second = system.fresh();
  Facts facts;
  facts.atLeast(self, WholeSum::number(var->lower));
  if (var->extent) {
    std::optional<WholeSum> row;
    if (var->parentIndex)
      row = valueOf(var->parentIndex);
    if (auto size = valueOf(*var->extent, row ? &*row : nullptr))
      facts.below(self, *size);
  }
  system.know(facts);
  return self;
}

WholeSum Places::valueOf(const Term *term, const Indices *indices) {
  if (!isWhole(term))
    return system.fresh();
  if (!indices)
    if (auto known = terms.find(term); known != terms.end())
      return known->second;
  bool isSymbol = term->kindOf == Kind::Token;
  WholeSum value;
  switch (term->kind) {
  case TermKind::Number:
    return WholeSum::number(int64_t(term->number));
  case TermKind::Index:
    if (indices)
      if (auto given = indices->find(term->index); given != indices->end())
        return given->second;
    return indexOf(term->index);
  case TermKind::Size: {
    std::optional<WholeSum> row;
    if (!term->args.empty())
      row = valueOf(term->args[0], indices);
    std::optional<WholeSum> size = valueOf(term->extent, row ? &*row : nullptr);
    value = size ? *size : system.fresh();
    break;
  }
  case TermKind::Read:
    value = valueOfRead(term, indices);
    break;
  case TermKind::Map:
    value = valueOfMap(term, indices);
    break;
  case TermKind::If: {
    value = system.fresh();
    std::vector<Facts> alternatives;
    for (bool holds : {true, false}) {
      WholeSum branch = valueOf(term->args[holds ? 1 : 2], indices);
      for (Facts &facts : casesOf(term->args[0], holds, indices)) {
        facts.equal(value, branch);
        facts.name = branches.size();
        alternatives.push_back(std::move(facts));
      }
      branches.push_back({term->args[0], holds});
    }
    system.knowOneOf(std::move(alternatives));
    break;
  }
  case TermKind::Reduce:
  case TermKind::OverAxis:
    value = valueOfReduction(term, indices);
    break;
  default:
    value = system.fresh();
  }
  if (isSymbol)
    symbolOf(term->vocabulary, value);
  if (!indices)
    terms[term] = value;
  return value;
}

/// A token is one of its vocabulary.
void Places::symbolOf(const Vocabulary *vocabulary, const WholeSum &value) {
  Facts facts;
  facts.atLeast(value, WholeSum::number(0));
  if (auto size = vocabulary ? valueOf(vocabulary->size) : std::nullopt)
    facts.below(value, *size);
  system.know(facts);
}

/// The integer part of a / b.
WholeSum Places::quotient(const WholeSum &a, const WholeSum &b) {
  auto divisor = b.value();
  if (auto number = a.value(); number && divisor && *divisor > 0) {
    int64_t rest = (*number % *divisor + *divisor) % *divisor;
    return WholeSum::number((*number - rest) / *divisor);
  }
  WholeSum self = system.fresh(), zero = WholeSum::number(0);
  Facts facts;
  if (divisor && *divisor > 0) {
    WholeSum rest = a - self * *divisor;
    facts.atLeast(rest, zero);
    facts.below(rest, b);
    system.know(facts);
  } else if (!divisor) {
    // For two nonnegative numbers, at most the first.
    Facts negative, notPositive;
    facts.atLeast(a, zero);
    facts.below(zero, b);
    facts.atLeast(self, zero);
    facts.atLeast(a, self);
    negative.below(a, zero);
    notPositive.atLeast(zero, b);
    system.knowOneOf({facts, negative, notPositive});
  }
  return self;
}

WholeSum Places::valueOfMap(const Term *term, const Indices *indices) {
  SmallVector<WholeSum> args;
  for (const Term *arg : term->args)
    args.push_back(valueOf(arg, indices));
  WholeSum zero = WholeSum::number(0);
  /// The first argument under some facts, or the other one.
  auto either = [&](const WholeSum &a, Facts isFirst, const WholeSum &b,
                    Facts isSecond) {
    WholeSum self = system.fresh();
    isFirst.equal(self, a);
    isSecond.equal(self, b);
    system.knowOneOf({isFirst, isSecond});
    return self;
  };
  switch (term->fn) {
  case Fn::ToInt:
    return args[0];
  case Fn::Add:
    return args[0] + args[1];
  case Fn::Sub:
    return args[0] - args[1];
  case Fn::Negate:
    return args[0] * -1;
  case Fn::Mul:
    for (auto [a, b] : {std::pair(0, 1), std::pair(1, 0)})
      if (auto factor = args[a].value())
        return args[b] * *factor;
    return system.fresh();
  case Fn::Min:
  case Fn::Max: {
    WholeSum least = args[0];
    for (const WholeSum &arg : llvm::drop_begin(args)) {
      Facts first, second;
      bool isMin = term->fn == Fn::Min;
      first.atLeast(isMin ? arg : least, isMin ? least : arg);
      second.below(isMin ? arg : least, isMin ? least : arg);
      least = either(least, first, arg, second);
    }
    return least;
  }
  case Fn::Abs: {
    Facts positive, negative;
    positive.atLeast(args[0], zero);
    negative.below(args[0], zero);
    return either(args[0], positive, args[0] * -1, negative);
  }
  case Fn::Mod: {
    if (auto divisor = args[1].value(); divisor && *divisor > 0)
      return args[0] - quotient(args[0], args[1]) * *divisor;
    WholeSum self = system.fresh();
    Facts facts, notPositive;
    facts.atLeast(self, zero);
    facts.below(self, args[1]);
    notPositive.atLeast(zero, args[1]);
    system.knowOneOf({facts, notPositive});
    return self;
  }
  case Fn::FloorDiv:
    return quotient(args[0], args[1]);
  default:
    if (term->kindOf == Kind::Bit)
      return between(zero, WholeSum::number(2), /*orZero=*/false);
    return system.fresh();
  }
}

WholeSum Places::valueOfRead(const Term *term, const Indices *indices) {
  const Array &array = *term->array;
  SmallVector<WholeSum> at;
  std::vector<Key> key;
  for (const Term *arg : term->args) {
    at.push_back(valueOf(arg, indices));
    key.push_back(keyOf(at.back()));
  }
  // Facts from outside one read do not apply to another, nor do the equations
  // of a def at other indices of its caller.
  bool isPlain = !term->fallback && !(indices && !array.context.empty());
  if (isPlain)
    if (auto known = reads.find({&array, key}); known != reads.end())
      return known->second;
  WholeSum zero = WholeSum::number(0), value = system.fresh();
  std::vector<Facts> alternatives;
  if (array.positionOf && array.positionOf->axis(0)) {
    // The end symbol is last: all symbols before it are positions.
    std::optional<WholeSum> end = valueOf(*array.positionOf->axis(0));
    std::optional<Extent> length = array.axis(0);
    Facts &position = alternatives.emplace_back();
    position.atLeast(value, zero);
    if (end)
      position.below(value, *end);
    if (array.ends) {
      Facts &last = alternatives.emplace_back();
      if (end)
        last.equal(value, *end);
      if (auto size = length ? valueOf(*length) : std::nullopt;
          size && at.size() == 1)
        last.atLeast(at[0] + WholeSum::number(1), *size);
    }
  } else if (array.kind == Kind::Bit) {
    Facts &bit = alternatives.emplace_back();
    bit.atLeast(value, zero);
    bit.below(value, WholeSum::number(2));
  } else if (array.latent && array.kind == Kind::Int) {
    for (const Choice &choice : model.choices)
      if (choice.target == &array && !choice.parameters.empty()) {
        const Term &parameter = *choice.parameters[0].second;
        if (!parameter.shape || parameter.shape->empty())
          continue;
        Facts &place = alternatives.emplace_back();
        place.atLeast(value, zero);
        if (auto size = valueOf(parameter.shape->front()))
          place.below(value, *size);
        break;
      }
  } else if (array.source == Array::Equation && array.kind == Kind::Int) {
    alternatives = casesOfEquation(array, at, value, indices);
  }
  if (!alternatives.empty()) {
    if (term->fallback)
      alternatives.emplace_back().equal(value,
                                        valueOf(term->fallback, indices));
    if (alternatives.size() == 1)
      system.know(alternatives.front());
    else
      system.knowOneOf(std::move(alternatives));
  }
  if (isPlain)
    reads[{&array, key}] = value;
  return value;
}

std::vector<Facts> Places::casesOfEquation(const Array &array,
                                           ArrayRef<WholeSum> at,
                                           const WholeSum &value,
                                           const Indices *indices) {
  if (array.pieces.empty() || !open.insert(&array).second)
    return {};
  std::vector<Facts> alternatives;
  for (const Piece &piece : array.pieces) {
    Facts &facts = alternatives.emplace_back();
    if (!piece.value || piece.places.size() != at.size())
      continue;
    Indices own;
    if (indices)
      for (const IndexVar *var : array.context)
        if (auto given = indices->find(var); given != indices->end())
          own.insert(*given);
    for (auto [place, index] : llvm::zip_equal(piece.places, at))
      if (place.var)
        own[place.var] = index - WholeSum::number(place.shift);
      else if (auto fixed = valueOf(place.constant))
        facts.equal(index, *fixed);
    facts.equal(value, valueOf(piece.value, &own));
  }
  open.erase(&array);
  return alternatives;
}

/// An argmax is a place of its range, and 0 over nothing.
WholeSum Places::valueOfReduction(const Term *term, const Indices *indices) {
  WholeSum zero = WholeSum::number(0);
  switch (term->reduction) {
  case Reduction::Argmax:
  case Reduction::Argmin:
    break;
  case Reduction::Any:
  case Reduction::All:
    return between(zero, WholeSum::number(2), /*orZero=*/false);
  default:
    return system.fresh();
  }
  std::optional<Extent> size;
  std::optional<WholeSum> row;
  if (term->kind == TermKind::OverAxis) {
    if (term->args[0]->shape && !term->args[0]->shape->empty())
      size = term->args[0]->shape->back();
  } else {
    // With several indices, the number among all combinations of their values.
    for (const IndexVar *var : term->vars) {
      if (!var->extent)
        return system.fresh();
      size = size ? *size * *var->extent : *var->extent;
    }
    if (const Term *parent = term->vars.front()->parentIndex;
        parent && term->vars.size() == 1)
      row = valueOf(parent, indices);
  }
  std::optional<WholeSum> end =
      size ? valueOf(*size, row ? &*row : nullptr) : std::nullopt;
  if (!end)
    return system.fresh();
  return between(zero, *end, /*orZero=*/true);
}

std::vector<Facts> Places::casesOf(const Term *condition, bool holds,
                                   const Indices *indices) {
  std::vector<Facts> unknown(1);
  if (condition->kind != TermKind::Map)
    return unknown;
  Fn fn = condition->fn;
  if (fn == Fn::Not)
    return casesOf(condition->args[0], !holds, indices);
  if (fn == Fn::And || fn == Fn::Or) {
    std::vector<Facts> first = casesOf(condition->args[0], holds, indices),
                       second = casesOf(condition->args[1], holds, indices);
    std::vector<Facts> result;
    if ((fn == Fn::And) == holds) {
      for (const Facts &a : first)
        for (const Facts &b : second)
          result.emplace_back(a).append(b);
    } else {
      result = std::move(first);
      result.insert(result.end(), second.begin(), second.end());
    }
    return result.size() <= maxAlternatives ? result : unknown;
  }
  if (fn < Fn::Less || fn > Fn::NotEqual || !isWhole(condition->args[0]) ||
      !isWhole(condition->args[1]))
    return unknown;
  if (!holds) {
    static const std::map<Fn, Fn> opposite = {
        {Fn::Less, Fn::GreaterEqual}, {Fn::LessEqual, Fn::Greater},
        {Fn::Greater, Fn::LessEqual}, {Fn::GreaterEqual, Fn::Less},
        {Fn::Equal, Fn::NotEqual},    {Fn::NotEqual, Fn::Equal}};
    fn = opposite.at(fn);
  }
  WholeSum a = valueOf(condition->args[0], indices),
           b = valueOf(condition->args[1], indices);
  Facts facts;
  switch (fn) {
  case Fn::Less:
    facts.below(a, b);
    break;
  case Fn::LessEqual:
    facts.atLeast(b, a);
    break;
  case Fn::Greater:
    facts.below(b, a);
    break;
  case Fn::GreaterEqual:
    facts.atLeast(a, b);
    break;
  case Fn::Equal:
    facts.equal(a, b);
    break;
  default: {
    Facts above;
    facts.below(a, b);
    above.below(b, a);
    return {facts, above};
  }
  }
  return {facts};
}

void Places::assume(const Term *condition, bool holds) {
  std::vector<Facts> cases = casesOf(condition, holds, nullptr);
  if (cases.size() == 1)
    system.know(cases.front());
  else
    system.knowOneOf(std::move(cases));
}

bool Places::proves(const WholeSum &sum, Branches *failing) const {
  std::vector<int> names;
  if (system.proves(sum, &names))
    return true;
  if (failing) {
    failing->clear();
    for (int name : names)
      failing->push_back(branches[name]);
  }
  return false;
}
