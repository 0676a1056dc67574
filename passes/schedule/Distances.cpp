//===- Distances.cpp - how far away a read can be -------------------------===//
//
// Collects the facts at a read: the ranges of the indices, the condition,
// the enclosing branches, and index arithmetic, through the equations that give
// a condition or an index a name. They determine the distance between the read
// place and an index, however the place is written.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/IndexEquations.h"
#include "dialect/conditions/Inequalities.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/Graph.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

namespace {

/// The limits: alternatives of a condition (with more, it is ignored), examined
/// values (shared ones count once), and reads of names.
constexpr size_t maxAlternatives = 16, maxValues = 256, maxNames = 32;

/// The facts inside of one compute.
class Surroundings {
public:
  explicit Surroundings(ComputeOp op) : op(op), lengths(op), here(op) {}

  /// Assumes the facts that hold at `inner`, a part of the compute. A
  /// failing condition hides its own reads too: whatever they return, it
  /// fails.
  void enter(Operation *inner);
  void assume(Value condition, bool holds);
  void assume(const Bound &bound);

  WholeSum valueOf(Value value);
  /// The number of the block that `place` is in.
  WholeSum blockOf(const WholeSum &place, int64_t size);
  WholeSum indexOf(unsigned number);
  /// Two indices, both minus their extents.
  std::pair<WholeSum, WholeSum> fromEnds(unsigned a, unsigned b);
  Distance difference(const WholeSum &place, const WholeSum &time) const;
  /// Returns whether the facts contradict each other.
  bool isImpossible() const {
    return difference(WholeSum::number(0), WholeSum::number(0)).max < 0;
  }

private:
  /// An equation, with its indices where another one reads it.
  struct Named {
    explicit Named(ComputeOp op) : op(op) {}
    ComputeOp op;
    SmallVector<WholeSum> indices; // none for the compute itself
    llvm::DenseMap<Value, WholeSum> values;
  };
  /// The equation whose elements `read` finds unchanged: one without
  /// reduction; null for any other.
  static ComputeOp equationOf(ReadOp read);
  /// Evaluates `inner` inside of what `read` finds.
  template <typename Result>
  Result within(ReadOp read, llvm::function_ref<Result(ComputeOp)> inner,
                const Result &unknown);

  WholeSum compute(Value value);
  WholeSum either(Value condition, Value whenTrue, Value whenFalse);
  std::optional<WholeSum> sizeOf(Attribute extent);
  std::vector<Facts> casesOf(Value condition, bool holds);
  std::vector<Facts> casesOf(arith::CmpIOp compare, bool holds);
  std::vector<Facts> casesOf(ReadOp read, bool holds);

  ComputeOp op;
  Lengths lengths;
  Inequalities system;
  Named here;
  unsigned numNames = 0, numValues = 0;
  llvm::DenseMap<unsigned, WholeSum> indices;
  llvm::DenseMap<Attribute, WholeSum> sizes;
  /// By dividend and divisor: what is written twice is one number.
  std::map<std::tuple<std::map<unsigned, int64_t>, int64_t, int64_t>, WholeSum>
      quotients;
};

/// All combinations of `first` and `second`.
std::vector<Facts> both(const std::vector<Facts> &first,
                        const std::vector<Facts> &second) {
  std::vector<Facts> result;
  for (const Facts &a : first)
    for (const Facts &b : second)
      result.emplace_back(a).append(b);
  return result;
}

std::vector<Facts> joined(std::vector<Facts> first,
                          const std::vector<Facts> &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

} // namespace

std::optional<WholeSum> Surroundings::sizeOf(Attribute extent) {
  // Every row has its own value of a nested length.
  std::optional<LinearIndex> form = lengths.formOf(extent);
  if (!form)
    return std::nullopt;
  WholeSum sum = WholeSum::number(form->constant);
  for (auto &[symbol, factor] : form->terms) {
    auto [known, isNew] = sizes.try_emplace(symbol.length);
    if (isNew) {
      known->second = system.fresh();
      Facts facts;
      facts.atLeast(known->second, WholeSum::number(0));
      system.know(facts);
    }
    sum = sum + known->second * factor;
  }
  return sum;
}

std::pair<WholeSum, WholeSum> Surroundings::fromEnds(unsigned a, unsigned b) {
  ArrayAttr extents = op.getExtents();
  if (extents[a] == extents[b])
    return {indexOf(a), indexOf(b)};
  auto first = sizeOf(extents[a]), second = sizeOf(extents[b]);
  if (!first || !second)
    return {system.fresh(), system.fresh()};
  return {indexOf(a) - *first, indexOf(b) - *second};
}

WholeSum Surroundings::indexOf(unsigned number) {
  auto [known, isNew] = indices.try_emplace(number);
  if (!isNew)
    return known->second;
  WholeSum self = known->second = system.fresh();
  Facts facts;
  facts.atLeast(self, WholeSum::number(op.getLower()[number]));
  if (auto size = sizeOf(op.getExtents()[number]))
    facts.below(self, *size);
  system.know(facts);
  return self;
}

void Surroundings::assume(const Bound &bound) {
  WholeSum block = blockOf(indexOf(bound.index), bound.size),
           last = blockOf(indexOf(bound.of), bound.size);
  Facts facts;
  facts.atLeast(last + WholeSum::number(bound.offset), block);
  system.know(facts);
}

ComputeOp Surroundings::equationOf(ReadOp read) {
  auto source = read.getArray().getDefiningOp<ComputeOp>();
  bool isPlain = source && source.getReducer() == Reducer::none &&
                 startsAtZero(source) && read.getAlternatives().empty() &&
                 !read.getOtherwise();
  return isPlain ? source : ComputeOp();
}

template <typename Result>
Result Surroundings::within(ReadOp read,
                            llvm::function_ref<Result(ComputeOp)> inner,
                            const Result &unknown) {
  ComputeOp source = equationOf(read);
  if (!source || numNames++ == maxNames)
    return unknown;
  Named named(source);
  for (Value index : read.getIndices())
    named.indices.push_back(valueOf(index));
  std::swap(here, named);
  Result result = inner(source);
  std::swap(here, named);
  return result;
}

WholeSum Surroundings::valueOf(Value value) {
  if (auto known = here.values.find(value); known != here.values.end())
    return known->second;
  WholeSum sum = numValues++ < maxValues ? compute(value) : system.fresh();
  here.values[value] = sum;
  return sum;
}

/// Expressions are as deep as the parser allows.
WholeSum Surroundings::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner()->getParentOp() != here.op)
      return system.fresh();
    return here.indices.empty() ? indexOf(argument.getArgNumber())
                                : here.indices[argument.getArgNumber()];
  }
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)) &&
      number.getSignificantBits() <= 48)
    return WholeSum::number(number.getSExtValue());
  Operation *def = value.getDefiningOp();
  auto arg = [&](unsigned i) { return valueOf(def->getOperand(i)); };
  if (isa<arith::AddIOp>(def))
    return arg(0) + arg(1);
  if (isa<arith::SubIOp>(def))
    return arg(0) - arg(1);
  if (isa<arith::MulIOp>(def)) {
    for (unsigned i : {0, 1})
      if (auto factor = arg(i).value())
        return arg(1 - i) * *factor;
    return system.fresh();
  }
  if (isa<arith::IndexCastOp>(def))
    return arg(0);
  if (auto extent = dyn_cast<ExtentOp>(def);
      extent && !extent.getParent() && !extent.getLargest())
    if (auto size = sizeOf(extent.getLengthAttr()))
      return *size;
  if (isa<arith::FloorDivSIOp>(def)) {
    auto divisor = arg(1).value();
    return divisor && *divisor > 0 ? blockOf(arg(0), *divisor) : system.fresh();
  }
  if (isa<arith::MinSIOp, arith::MaxSIOp>(def)) {
    bool isMin = isa<arith::MinSIOp>(def);
    WholeSum a = arg(0), b = arg(1), self = system.fresh();
    Facts first, second;
    first.equal(self, a);
    first.atLeast(isMin ? b : a, isMin ? a : b);
    second.equal(self, b);
    second.atLeast(isMin ? a : b, isMin ? b : a);
    system.knowOneOf({first, second});
    return self;
  }
  if (!value.getType().isIntOrIndex() || value.getType().isInteger(1))
    return system.fresh();
  if (auto read = dyn_cast<ReadOp>(def); read && !value.getType().isIndex())
    return within<WholeSum>(
        read,
        [&](ComputeOp source) {
          return source.hasCondition() ? system.fresh()
                                       : valueOf(source.getYielded());
        },
        system.fresh());
  if (auto choose = dyn_cast<arith::SelectOp>(def))
    return either(choose.getCondition(), choose.getTrueValue(),
                  choose.getFalseValue());
  if (auto branch = dyn_cast<scf::IfOp>(def)) {
    unsigned i = cast<OpResult>(value).getResultNumber();
    return either(branch.getCondition(), branch.thenYield().getOperand(i),
                  branch.elseYield().getOperand(i));
  }
  return system.fresh();
}

WholeSum Surroundings::either(Value condition, Value whenTrue,
                              Value whenFalse) {
  WholeSum self = system.fresh();
  std::vector<Facts> alternatives;
  for (bool holds : {true, false}) {
    WholeSum branch = valueOf(holds ? whenTrue : whenFalse);
    for (Facts &facts : casesOf(condition, holds)) {
      facts.equal(self, branch);
      alternatives.push_back(std::move(facts));
    }
  }
  system.knowOneOf(std::move(alternatives));
  return self;
}

WholeSum Surroundings::blockOf(const WholeSum &place, int64_t size) {
  if (size == 1)
    return place;
  auto [known, isNew] =
      quotients.try_emplace({place.factors, place.constant, size});
  if (!isNew)
    return known->second;
  WholeSum self = known->second = system.fresh();
  Facts facts;
  WholeSum rest = place - self * size;
  facts.atLeast(rest, WholeSum::number(0));
  facts.below(rest, WholeSum::number(size));
  system.know(facts);
  return self;
}

std::vector<Facts> Surroundings::casesOf(arith::CmpIOp compare, bool holds) {
  Type type = compare.getLhs().getType();
  if (!type.isIndex() && !type.isInteger(64))
    return std::vector<Facts>(1);
  WholeSum a = valueOf(compare.getLhs()), b = valueOf(compare.getRhs());
  Facts facts, other;
  auto predicate = compare.getPredicate();
  switch (holds ? predicate : arith::invertPredicate(predicate)) {
  case arith::CmpIPredicate::slt:
    facts.below(a, b);
    break;
  case arith::CmpIPredicate::sle:
    facts.atLeast(b, a);
    break;
  case arith::CmpIPredicate::sgt:
    facts.below(b, a);
    break;
  case arith::CmpIPredicate::sge:
    facts.atLeast(a, b);
    break;
  case arith::CmpIPredicate::eq:
    facts.equal(a, b);
    break;
  case arith::CmpIPredicate::ne:
    facts.below(a, b);
    other.below(b, a);
    return {facts, other};
  default:
    break;
  }
  return {facts};
}

/// Where the condition of an equation fails, its elements are false.
std::vector<Facts> Surroundings::casesOf(ReadOp read, bool holds) {
  std::vector<Facts> unknown(1);
  return within<std::vector<Facts>>(
      read,
      [&](ComputeOp source) {
        std::vector<Facts> result = casesOf(source.getYielded(), holds);
        if (!source.hasCondition())
          return result;
        Value condition =
            source.getCondition().front().getTerminator()->getOperand(0);
        result = holds ? both(casesOf(condition, true), result)
                       : joined(casesOf(condition, false), result);
        return result.size() <= maxAlternatives ? result : unknown;
      },
      unknown);
}

std::vector<Facts> Surroundings::casesOf(Value condition, bool holds) {
  std::vector<Facts> unknown(1), result;
  Operation *def = condition.getDefiningOp();
  APInt number;
  if (matchPattern(condition, m_ConstantInt(&number)))
    return number.isZero() == holds ? std::vector<Facts>() : unknown;
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(def))
    return casesOf(compare, holds);
  if (auto read = dyn_cast_or_null<ReadOp>(def))
    return casesOf(read, holds);
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(def)) {
    auto first = casesOf(def->getOperand(0), holds),
         second = casesOf(def->getOperand(1), holds);
    result = isa<arith::AndIOp>(def) == holds
                 ? both(first, second)
                 : joined(std::move(first), second);
  } else if (auto flip = dyn_cast_or_null<arith::XOrIOp>(def)) {
    for (unsigned i : {0, 1})
      if (matchPattern(flip->getOperand(i), m_One()))
        return casesOf(flip->getOperand(1 - i), !holds);
    return unknown;
  } else {
    Value test, whenTrue, whenFalse;
    if (auto choose = dyn_cast_or_null<arith::SelectOp>(def)) {
      test = choose.getCondition();
      whenTrue = choose.getTrueValue();
      whenFalse = choose.getFalseValue();
    } else if (auto branch = dyn_cast_or_null<scf::IfOp>(def)) {
      unsigned i = cast<OpResult>(condition).getResultNumber();
      test = branch.getCondition();
      whenTrue = branch.thenYield().getOperand(i);
      whenFalse = branch.elseYield().getOperand(i);
    } else {
      return unknown;
    }
    result = joined(both(casesOf(test, true), casesOf(whenTrue, holds)),
                    both(casesOf(test, false), casesOf(whenFalse, holds)));
  }
  return result.size() <= maxAlternatives ? result : unknown;
}

void Surroundings::assume(Value condition, bool holds) {
  std::vector<Facts> cases = casesOf(condition, holds);
  if (cases.size() == 1)
    system.know(cases.front());
  else
    system.knowOneOf(std::move(cases));
}

/// Conditions that hold wherever the result of `inner` matters: the left
/// operand of an `and` or an `or` decides alone, or else the right one does.
static SmallVector<std::pair<Value, bool>> guardsOnLeft(Operation *inner) {
  SmallVector<std::pair<Value, bool>> guards;
  while (inner->getNumResults() == 1 && inner->hasOneUse()) {
    OpOperand &use = *inner->getResult(0).use_begin();
    inner = use.getOwner();
    bool isBit = use.get().getType().isInteger(1);
    if (isBit && isa<arith::AndIOp, arith::OrIOp>(inner) &&
        use.getOperandNumber() == 1)
      guards.push_back({inner->getOperand(0), isa<arith::AndIOp>(inner)});
  }
  return guards;
}

void Surroundings::enter(Operation *inner) {
  if (op.hasCondition())
    assume(op.getCondition().front().getTerminator()->getOperand(0), true);
  for (Region *region = inner->getParentRegion(); region->getParentOp() != op;
       region = region->getParentRegion())
    if (auto branch = dyn_cast<scf::IfOp>(region->getParentOp()))
      assume(branch.getCondition(), region == &branch.getThenRegion());
  if (isa<ReadOp>(inner))
    for (auto [condition, holds] : guardsOnLeft(inner))
      assume(condition, holds);
}

Distance Surroundings::difference(const WholeSum &place,
                                  const WholeSum &time) const {
  auto limited = [](std::optional<int64_t> most) {
    return most ? std::clamp(*most, -Distance::infinity, Distance::infinity)
                : Distance::infinity;
  };
  return {-limited(system.largest(time - place)),
          limited(system.largest(place - time))};
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

/// Returns whether anything beyond ranges is known about the indices at
/// `read`.
static bool isPlain(ComputeOp op, Operation *read) {
  return !op.hasCondition() && read->getParentOp() == op &&
         guardsOnLeft(read).empty();
}

Distance schedule::distanceOf(const Access &access, unsigned time,
                              unsigned axis) {
  if (axis >= access.indices.size())
    return {};
  const AccessIndex &index = access.indices[axis];
  bool isIndex = index.kind == AccessIndex::Iterator;
  if (isIndex && index.iterator == time)
    return {index.offset, index.offset};
  auto op = dyn_cast<ComputeOp>(access.reader);
  if (!op || !index.expression || (isIndex && isPlain(op, access.read)))
    return {};
  for (const Access::Known &known : access.distances)
    if (known.time == time && known.axis == axis)
      return {known.min, known.max};
  Surroundings here(op);
  WholeSum place = here.valueOf(index.expression), now = here.indexOf(time);
  here.enter(access.read);
  Distance distance = here.difference(place, now);
  access.distances.push_back({time, axis, distance.min, distance.max});
  return distance;
}

int64_t schedule::largestBetween(const Access &access, unsigned a, unsigned b,
                                 int64_t size, ArrayRef<Bound> known) {
  const AccessIndex &first = access.indices[a], &second = access.indices[b];
  if (auto op = dyn_cast<ComputeOp>(access.reader)) {
    Surroundings here(op);
    WholeSum x = here.valueOf(first.expression),
             y = here.valueOf(second.expression);
    for (const Bound &bound : known)
      here.assume(bound);
    here.enter(access.read);
    return here.difference(here.blockOf(x, size), here.blockOf(y, size)).max;
  }
  for (const Bound &bound : known)
    if (bound.size == size && first.kind == AccessIndex::Iterator &&
        first.iterator == bound.index && second.kind == AccessIndex::Iterator &&
        second.iterator == bound.of)
      return bound.offset;
  return Distance::infinity;
}

int64_t schedule::largestDifference(ComputeOp op, unsigned a, unsigned b,
                                    int64_t size) {
  Surroundings here(op);
  auto [first, second] = here.fromEnds(a, b);
  if (!op.hasCondition())
    return Distance::infinity;
  here.enter(op.getCondition().front().getTerminator());
  return here.difference(here.blockOf(first, size), here.blockOf(second, size))
      .max;
}

int64_t schedule::largestDifference(const Access &access, unsigned a,
                                    unsigned b) {
  Surroundings here(cast<ComputeOp>(access.reader));
  auto [first, second] = here.fromEnds(a, b);
  here.enter(access.read);
  return here.difference(first, second).max;
}

std::optional<bool> schedule::valueOfCondition(Value condition, ComputeOp op) {
  Operation *def = condition.getDefiningOp();
  for (bool holds : {true, false}) {
    Surroundings here(op);
    for (unsigned i = 0; i < op.getNumIndices(); ++i)
      (void)here.indexOf(i);
    if (def && op.getBody().isAncestor(def->getParentRegion()))
      here.enter(def);
    here.assume(condition, !holds);
    if (here.isImpossible())
      return holds;
  }
  return std::nullopt;
}
