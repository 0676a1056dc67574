//===- IndexEquations.cpp - solves the positions of a read ----------------===//

#include "dialect/conditions/IndexEquations.h"
#include "dialect/conditions/LinearForm.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;
using namespace fovea::attn;

//===----------------------------------------------------------------------===//
// Linear forms
//===----------------------------------------------------------------------===//

void LinearIndex::add(const LinearIndex &other, int64_t factor) {
  constant += factor * other.constant;
  for (auto &[symbol, times] : other.terms) {
    auto *mine = llvm::find_if(
        terms, [&](const auto &term) { return term.first == symbol; });
    if (mine == terms.end()) {
      if (times * factor != 0)
        terms.push_back({symbol, times * factor});
      continue;
    }
    mine->second += times * factor;
    if (mine->second == 0)
      terms.erase(mine);
  }
}

int64_t LinearIndex::factorOf(IndexSymbol symbol) const {
  for (auto &[mine, factor] : terms)
    if (mine == symbol)
      return factor;
  return 0;
}

void LinearIndex::scale(int64_t factor) {
  constant *= factor;
  for (auto &[symbol, times] : terms)
    times *= factor;
}

void LinearIndex::substitute(IndexSymbol symbol, const LinearIndex &value) {
  int64_t factor = factorOf(symbol);
  if (factor == 0)
    return;
  add(LinearIndex::of(symbol), -factor);
  add(value, factor);
}

/// Returns whether products of two such numbers, and sums of two of these, do
/// not overflow.
static bool isSmall(int64_t number) {
  return number < (int64_t(1) << 30) && number > -(int64_t(1) << 30);
}

static bool isSmall(const LinearIndex &form) {
  return isSmall(form.constant) && llvm::all_of(form.terms, [](auto &term) {
           return isSmall(term.second);
         });
}

/// `form` times the divisor of `value`, with `value` in the place of `symbol`;
/// nothing when its numbers are too large.
static std::optional<LinearIndex>
multiplied(LinearIndex form, IndexSymbol symbol, const IndexQuotient &value) {
  int64_t factor = form.factorOf(symbol);
  if (value.divisor != 1) {
    if (!isSmall(form) || !isSmall(value.dividend))
      return std::nullopt;
    form.add(LinearIndex::of(symbol), -factor);
    form.scale(value.divisor);
    form.add(value.dividend, factor);
    return form;
  }
  form.substitute(symbol, value.dividend);
  return form;
}

/// In lowest terms.
static IndexQuotient reduced(IndexQuotient value) {
  int64_t common = value.divisor;
  common = std::gcd(common, value.dividend.constant);
  for (auto &[symbol, factor] : value.dividend.terms)
    common = std::gcd(common, factor);
  value.divisor /= common;
  value.dividend.constant /= common;
  for (auto &[symbol, factor] : value.dividend.terms)
    factor /= common;
  return value;
}

std::optional<LinearIndex> fovea::attn::linearIndex(Value value, ComputeOp op) {
  std::optional<LinearForm> sum = LinearForm::of(value);
  if (!sum)
    return std::nullopt;
  LinearIndex form = LinearIndex::of(sum->constant);
  for (auto [term, factor] : sum->terms) {
    IndexSymbol symbol{IndexSymbol::Iterator, 0, StringAttr()};
    auto index = dyn_cast<BlockArgument>(term);
    auto extent = term.getDefiningOp<ExtentOp>();
    if (index && index.getOwner()->getParentOp() == op)
      symbol.number = index.getArgNumber();
    else if (extent && !extent.getParent())
      symbol = {IndexSymbol::Length, 0, extent.getLengthAttr()};
    else
      return std::nullopt;
    form.add(LinearIndex::of(symbol), factor);
  }
  return form;
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// The limit for lengths defined in terms of each other.
static constexpr unsigned maxSteps = 64;

Lengths::Lengths(Operation *op)
    : system(op->hasTrait<OpTrait::IsIsolatedFromAbove>()
                 ? op
                 : op->getParentWithTrait<OpTrait::IsIsolatedFromAbove>()) {}

LengthOp Lengths::find(StringAttr name) {
  auto [known, inserted] = this->known.try_emplace(name);
  if (!inserted)
    return known->second;
  // Lengths stand at the front of a system, so the search is short.
  for (Operation &other : system->getRegion(0).front())
    if (auto length = dyn_cast<LengthOp>(other);
        length && length.getLengthAttr() == name) {
      known->second = length;
      break;
    }
  return known->second;
}

StringAttr Lengths::parentOf(Attribute extent) {
  // A length computed from a nested one is nested too.
  llvm::SmallSetVector<StringAttr, 4> lengths;
  if (auto name = dyn_cast<StringAttr>(extent))
    lengths.insert(name);
  for (unsigned i = 0; i < lengths.size(); ++i) {
    LengthOp length = find(lengths[i]);
    if (!length)
      continue;
    if (StringAttr parent = length.getParentAttr())
      return parent;
    if (length.getOf())
      for (auto name : length.getOf()->getAsRange<StringAttr>())
        lengths.insert(name);
  }
  return StringAttr();
}

std::optional<LinearIndex> Lengths::formOf(Attribute extent) {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return LinearIndex::of(number.getInt());
  LinearIndex form =
      LinearIndex::of({IndexSymbol::Length, 0, cast<StringAttr>(extent)});
  // A computed length is replaced by its formula.
  for (unsigned i = 0, steps = 0; i < form.terms.size() && steps < maxSteps;) {
    IndexSymbol symbol = form.terms[i].first;
    LengthOp length = find(symbol.length);
    if (!length || parentOf(symbol.length))
      return std::nullopt;
    std::optional<AffineMap> map = length.getMap();
    SmallVector<int64_t> factors;
    if (!map || !length.getOf() || map->getNumResults() != 1 ||
        map->getNumSymbols() != length.getOf()->size() ||
        failed(getFlattenedAffineExpr(map->getResult(0), 0,
                                      map->getNumSymbols(), &factors)) ||
        factors.size() != map->getNumSymbols() + 1) {
      ++i;
      continue;
    }
    LinearIndex value = LinearIndex::of(factors.back());
    for (auto [name, factor] :
         llvm::zip(length.getOf()->getAsRange<StringAttr>(), factors))
      value.add(LinearIndex::of({IndexSymbol::Length, 0, name}), factor);
    form.substitute(symbol, value);
    i = 0;
    ++steps;
  }
  return form;
}

std::optional<unsigned> Lengths::parentIndex(ArrayRef<Attribute> extents,
                                             unsigned i) {
  StringAttr parent = parentOf(extents[i]);
  if (parent)
    while (i-- > 0)
      if (extentText(extents[i]) == parent.getValue())
        return i;
  return std::nullopt;
}

Value fovea::attn::extentValue(OpBuilder &builder, Location loc,
                               Attribute extent, Value parent) {
  if (auto name = dyn_cast<StringAttr>(extent))
    return ExtentOp::create(builder, loc, name, parent);
  return arith::ConstantIndexOp::create(builder, loc,
                                        cast<IntegerAttr>(extent).getInt());
}

//===----------------------------------------------------------------------===//
// Elimination
//===----------------------------------------------------------------------===//

namespace {
class IndexSolver {
public:
  IndexSolver(ComputeOp op, ArrayRef<IndexEquation> equations,
              ArrayRef<Attribute> axes, Lengths &lengths)
      : op(op), equations(equations), axes(axes), lengths(lengths),
        extents(op.getExtents().getValue()), fixed(op.getNumIndices(), false) {}

  IndexSolution solve() {
    // An index stays undetermined if a nested, summed index would lose its
    // parent; each round fixes one more.
    do
      eliminate();
    while (!keepParents());
    bound();
    return std::move(solution);
  }

private:
  static IndexSymbol iterator(unsigned i) {
    return {IndexSymbol::Iterator, i, StringAttr()};
  }
  static IndexSymbol axis(unsigned i) {
    return {IndexSymbol::Axis, i, StringAttr()};
  }

  void eliminate();
  std::optional<unsigned> unknownOf(const LinearIndex &form) const;
  bool determine(unsigned index, const IndexQuotient &value);
  bool determineTurned(const IndexEquation &equation);
  bool keepParents();
  void bound();
  std::optional<LinearIndex> lowest(LinearIndex form);
  bool isNonNegative(const LinearIndex &form);
  bool isAtLeast(LinearIndex form, LinearIndex bound, int64_t times);
  bool isAtMost(LinearIndex form, LinearIndex bound, int64_t times);
  bool sharesNestedExtent(unsigned index);

  ComputeOp op;
  ArrayRef<IndexEquation> equations;
  ArrayRef<Attribute> axes;
  Lengths &lengths;
  ArrayRef<Attribute> extents;
  SmallVector<bool> fixed;
  IndexSolution solution;
};
} // namespace

/// Returns false if the numbers get too large.
bool IndexSolver::determine(unsigned index, const IndexQuotient &value) {
  SmallVector<std::optional<IndexQuotient>> determined(solution.determined);
  for (std::optional<IndexQuotient> &other : determined) {
    if (!other || other->dividend.factorOf(iterator(index)) == 0)
      continue;
    if (value.modulus)
      return false;
    std::optional<LinearIndex> dividend =
        multiplied(other->dividend, iterator(index), value);
    if (!dividend)
      return false;
    other = reduced({*dividend, other->divisor * value.divisor});
    if (!isSmall(other->divisor))
      return false;
  }
  determined[index] = value;
  solution.determined = std::move(determined);
  return true;
}

/// e, where `value` is the floored remainder of e over `extent`; else null.
static Value turnedBy(Value value, Attribute extent) {
  auto difference = value.getDefiningOp<arith::SubIOp>();
  auto product =
      difference ? difference.getRhs().getDefiningOp<arith::MulIOp>() : nullptr;
  auto quotient =
      product ? product.getLhs().getDefiningOp<arith::FloorDivSIOp>() : nullptr;
  if (!quotient || quotient.getLhs() != difference.getLhs())
    return {};
  auto isExtent = [&](Value divisor) {
    APInt number;
    if (matchPattern(divisor, m_ConstantInt(&number)))
      return isa<IntegerAttr>(extent) &&
             cast<IntegerAttr>(extent).getInt() == number.getSExtValue();
    auto length = divisor.getDefiningOp<ExtentOp>();
    return length && !length.getParent() && length.getLengthAttr() == extent;
  };
  return isExtent(quotient.getRhs()) && isExtent(product.getRhs())
             ? difference.getLhs()
             : Value();
}

/// Solves e(I) mod n = p, where n are the places along the axis, for an index
/// of n places with coefficient one in e.
bool IndexSolver::determineTurned(const IndexEquation &equation) {
  const auto &terms = equation.place.terms;
  if (terms.size() != 1 || equation.place.constant != 0 ||
      terms[0].first.kind != IndexSymbol::Axis || terms[0].second != 1)
    return false;
  Attribute extent = axes[terms[0].first.number];
  Value turned = turnedBy(equation.index, extent);
  std::optional<LinearIndex> form;
  if (turned)
    form = linearIndex(turned, op);
  if (!form)
    return false;
  for (auto [i, value] : llvm::enumerate(solution.determined)) {
    if (!value || form->factorOf(iterator(i)) == 0)
      continue;
    if (value->divisor != 1 || value->modulus)
      return false;
    form->substitute(iterator(i), value->dividend);
  }
  for (auto [symbol, factor] : form->terms) {
    unsigned index = symbol.number;
    if (symbol.kind != IndexSymbol::Iterator || std::abs(factor) != 1 ||
        fixed[index] || extents[index] != extent || op.getLower()[index] != 0)
      continue;
    LinearIndex rest = *form;
    rest.add(LinearIndex::of(symbol), -factor);
    IndexQuotient value;
    value.dividend.add(equation.place, factor);
    value.dividend.add(rest, -factor);
    value.modulus = extent;
    return determine(index, value);
  }
  return false;
}

/// The index to solve an equation for: the one with the longest range, because
/// the rest is summed over. Among two such, the one without a division.
std::optional<unsigned> IndexSolver::unknownOf(const LinearIndex &form) const {
  using Rank = std::tuple<bool, int64_t, bool>;
  std::optional<std::pair<Rank, unsigned>> best;
  for (auto &[symbol, factor] : form.terms) {
    bool isUnit = factor == 1 || factor == -1;
    if (symbol.kind != IndexSymbol::Iterator || fixed[symbol.number] ||
        (!isUnit && !isSmall(form)))
      continue;
    auto number = dyn_cast<IntegerAttr>(extents[symbol.number]);
    Rank rank = {!number, number ? number.getInt() : 0, isUnit};
    if (!best || rank > best->first)
      best = {rank, symbol.number};
  }
  return best ? std::optional(best->second) : std::nullopt;
}

void IndexSolver::eliminate() {
  solution = IndexSolution();
  solution.determined.resize(op.getNumIndices());
  // e(I) - place
  SmallVector<std::pair<LinearIndex, const IndexEquation *>> open;
  SmallVector<const IndexEquation *> others;
  for (const IndexEquation &equation : equations) {
    std::optional<LinearIndex> form = linearIndex(equation.index, op);
    if (!form) {
      others.push_back(&equation);
      continue;
    }
    form->add(equation.place, -1);
    open.push_back({*form, &equation});
  }
  // Equations in one index first: they give the simplest solutions.
  SmallVector<std::pair<unsigned, unsigned>> sequence;
  for (auto [i, entry] : llvm::enumerate(open))
    sequence.push_back({llvm::count_if(entry.first.terms,
                                       [](const auto &term) {
                                         return term.first.kind ==
                                                IndexSymbol::Iterator;
                                       }),
                        i});
  llvm::sort(sequence);
  for (auto [count, position] : sequence) {
    const auto &[given, equation] = open[position];
    std::optional<LinearIndex> form = given;
    for (auto [i, value] : llvm::enumerate(solution.determined))
      if (form && value && form->factorOf(iterator(i)) != 0)
        form = multiplied(*form, iterator(i), *value);
    std::optional<unsigned> unknown;
    if (form)
      unknown = unknownOf(*form);
    if (!unknown) {
      if (form)
        solution.zero.push_back(*form);
      else
        solution.computed.push_back(*equation);
      continue;
    }
    // factor * unknown + rest = 0
    int64_t factor = form->factorOf(iterator(*unknown));
    form->add(LinearIndex::of(iterator(*unknown)), -factor);
    IndexQuotient value;
    value.dividend.add(*form, factor > 0 ? -1 : 1);
    value.divisor = std::abs(factor);
    if (!determine(*unknown, reduced(value)))
      solution.computed.push_back(*equation);
  }
  for (const IndexEquation *equation : others)
    if (!determineTurned(*equation))
      solution.computed.push_back(*equation);
}

bool IndexSolver::keepParents() {
  for (unsigned i = 0; i < extents.size(); ++i) {
    if (solution.determined[i])
      continue;
    std::optional<unsigned> parent = lengths.parentIndex(extents, i);
    if (!parent || !solution.determined[*parent])
      continue;
    // The parent must be the last index over its extent before index i in the
    // new list: axes first, then undetermined indices.
    bool hidden = false;
    for (unsigned j = 0; j < i; ++j)
      hidden |= !solution.determined[j] && extents[j] == extents[*parent];
    std::optional<unsigned> last;
    for (auto [k, extent] : llvm::enumerate(axes))
      if (extent == extents[*parent])
        last = k;
    if (!hidden && last && solution.determined[*parent]->is(axis(*last)))
      continue;
    fixed[*parent] = true;
    return false;
  }
  return true;
}

/// A lower bound of `form` that holds for every place and index, as a number
/// plus lengths (which are at least 0).
std::optional<LinearIndex> IndexSolver::lowest(LinearIndex form) {
  SmallVector<std::pair<IndexSymbol, int64_t>> terms(form.terms);
  for (auto [symbol, factor] : terms) {
    if (symbol.kind == IndexSymbol::Length)
      continue;
    bool isAxis = symbol.kind == IndexSymbol::Axis;
    int64_t low =
        isAxis ? solution.lower[symbol.number] : op.getLower()[symbol.number];
    if (factor > 0) {
      form.substitute(symbol, LinearIndex::of(low));
      continue;
    }
    std::optional<LinearIndex> high =
        lengths.formOf(isAxis ? axes[symbol.number] : extents[symbol.number]);
    if (!high)
      return std::nullopt;
    high->constant -= 1;
    form.substitute(symbol, *high);
  }
  return form;
}

bool IndexSolver::isNonNegative(const LinearIndex &form) {
  std::optional<LinearIndex> low = lowest(form);
  return low && low->constant >= 0 &&
         llvm::all_of(low->terms,
                      [](const auto &term) { return term.second >= 0; });
}

/// Returns whether `form` is provably at least `times` times `bound`.
bool IndexSolver::isAtLeast(LinearIndex form, LinearIndex bound,
                            int64_t times) {
  if (times != 1 && !isSmall(bound))
    return false;
  form.add(bound, -times);
  return isNonNegative(form);
}

bool IndexSolver::isAtMost(LinearIndex form, LinearIndex bound, int64_t times) {
  form.scale(-1);
  bound.scale(-1);
  return isAtLeast(std::move(form), std::move(bound), times);
}

/// Returns whether index `index`, which is nested, equals a place of an axis
/// with the same length.
bool IndexSolver::sharesNestedExtent(unsigned index) {
  const LinearIndex &value = solution.determined[index]->dividend;
  if (solution.determined[index]->divisor != 1 ||
      solution.determined[index]->modulus || value.terms.size() != 1 ||
      value.constant > 0 || value.terms[0].first.kind != IndexSymbol::Axis ||
      value.terms[0].second != 1)
    return false;
  unsigned k = value.terms[0].first.number;
  std::optional<unsigned> parent = lengths.parentIndex(extents, index);
  std::optional<unsigned> axisParent = lengths.parentIndex(axes, k);
  if (axes[k] != extents[index] || !parent || !axisParent ||
      !solution.determined[*parent])
    return false;
  return solution.determined[*parent]->is(axis(*axisParent));
}

/// Computes which bounds of determined indices the places must respect.
void IndexSolver::bound() {
  solution.lower.assign(axes.size(), 0);
  // lower <= p + d is a lower bound of p.
  for (auto [i, value] : llvm::enumerate(solution.determined)) {
    if (!value || value->divisor != 1 || value->modulus ||
        value->dividend.terms.size() != 1)
      continue;
    auto [symbol, factor] = value->dividend.terms[0];
    if (symbol.kind != IndexSymbol::Axis || factor != 1)
      continue;
    int64_t &low = solution.lower[symbol.number];
    low = std::max(low, op.getLower()[i] - value->dividend.constant);
  }
  for (auto [i, value] : llvm::enumerate(solution.determined)) {
    if (!value || value->modulus)
      continue;
    // lower <= dividend / divisor < extent
    LinearIndex low = LinearIndex::of(op.getLower()[i]);
    if (!isAtLeast(value->dividend, low, value->divisor))
      solution.checkLower.push_back(i);
    if (sharesNestedExtent(i))
      continue;
    std::optional<LinearIndex> last = lengths.formOf(extents[i]);
    if (last)
      last->constant -= 1;
    if (!last || !isAtMost(value->dividend, *last, value->divisor))
      solution.checkUpper.push_back(i);
  }
}

IndexSolution fovea::attn::solveIndices(ComputeOp op,
                                        ArrayRef<IndexEquation> equations,
                                        ArrayRef<Attribute> axes,
                                        Lengths &lengths) {
  return IndexSolver(op, equations, axes, lengths).solve();
}
