//===- IndexEquations.cpp - solves the positions of a read ----------------===//

#include "dialect/adjoints/IndexEquations.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/IR/AffineMap.h"

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

void LinearIndex::substitute(IndexSymbol symbol, const LinearIndex &value) {
  int64_t factor = factorOf(symbol);
  if (factor == 0)
    return;
  add(LinearIndex::of(symbol), -factor);
  add(value, factor);
}

std::optional<LinearIndex> fovea::attn::linearIndex(Value value, ComputeOp op) {
  // Shared subexpressions are visited once per path; who doubles a value many
  // times over gets a condition instead of a solution.
  constexpr unsigned maxSteps = 256;
  LinearIndex form;
  SmallVector<std::pair<Value, int64_t>> worklist = {{value, 1}};
  for (unsigned steps = 0; !worklist.empty(); ++steps) {
    if (steps == maxSteps)
      return std::nullopt;
    auto [next, factor] = worklist.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner()->getParentOp() != op)
        return std::nullopt;
      form.add(LinearIndex::of({IndexSymbol::Iterator, argument.getArgNumber(),
                                StringAttr()}),
               factor);
      continue;
    }
    Operation *def = next.getDefiningOp();
    if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
      auto number = dyn_cast<IntegerAttr>(constant.getValue());
      if (!number)
        return std::nullopt;
      form.constant += factor * number.getInt();
    } else if (auto sum = dyn_cast<arith::AddIOp>(def)) {
      worklist.push_back({sum.getRhs(), factor});
      worklist.push_back({sum.getLhs(), factor});
    } else if (auto difference = dyn_cast<arith::SubIOp>(def)) {
      worklist.push_back({difference.getRhs(), -factor});
      worklist.push_back({difference.getLhs(), factor});
    } else if (auto product = dyn_cast<arith::MulIOp>(def)) {
      APInt times;
      if (matchPattern(product.getRhs(), m_ConstantInt(&times)))
        worklist.push_back({product.getLhs(), factor * times.getSExtValue()});
      else if (matchPattern(product.getLhs(), m_ConstantInt(&times)))
        worklist.push_back({product.getRhs(), factor * times.getSExtValue()});
      else
        return std::nullopt;
    } else if (auto cast = dyn_cast<arith::IndexCastOp>(def)) {
      worklist.push_back({cast.getIn(), factor});
    } else if (auto extent = dyn_cast<ExtentOp>(def);
               extent && !extent.getParent()) {
      form.add(
          LinearIndex::of({IndexSymbol::Length, 0, extent.getLengthAttr()}),
          factor);
    } else {
      return std::nullopt;
    }
  }
  return form;
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// The bound is for lengths that are given by each other.
static constexpr unsigned maxSteps = 64;

LengthOp Lengths::find(StringAttr name) {
  auto [known, inserted] = this->known.try_emplace(name);
  if (!inserted)
    return known->second;
  // Lengths stand at the front of a system, so the search is short.
  Operation *system = op->getParentWithTrait<OpTrait::IsIsolatedFromAbove>();
  for (Operation &other : system->getRegion(0).front())
    if (auto length = dyn_cast<LengthOp>(other);
        length && length.getLengthAttr() == name) {
      known->second = length;
      break;
    }
  return known->second;
}

StringAttr Lengths::parentOf(Attribute extent) {
  // A length that is given by a nested one is nested too.
  SmallVector<StringAttr> worklist;
  if (auto name = dyn_cast<StringAttr>(extent))
    worklist.push_back(name);
  for (unsigned i = 0; i < worklist.size() && i < maxSteps; ++i) {
    LengthOp length = find(worklist[i]);
    if (!length)
      continue;
    if (StringAttr parent = length.getParentAttr())
      return parent;
    if (length.getOf())
      llvm::append_range(worklist, length.getOf()->getAsRange<StringAttr>());
  }
  return StringAttr();
}

std::optional<LinearIndex> Lengths::formOf(Attribute extent) {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return LinearIndex::of(number.getInt());
  LinearIndex form =
      LinearIndex::of({IndexSymbol::Length, 0, cast<StringAttr>(extent)});
  // A length that is given by others is replaced by them.
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
    // An index stays undetermined when a nested index that is summed over
    // would lose its parent; each round fixes one more.
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
  void determine(unsigned index, const LinearIndex &value);
  bool keepParents();
  void bound();
  std::optional<LinearIndex> lowest(LinearIndex form);
  bool isNonNegative(const LinearIndex &form);
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

void IndexSolver::determine(unsigned index, const LinearIndex &value) {
  for (std::optional<LinearIndex> &other : solution.determined)
    if (other)
      other->substitute(iterator(index), value);
  solution.determined[index] = value;
}

void IndexSolver::eliminate() {
  solution = IndexSolution();
  solution.determined.resize(op.getNumIndices());
  // e(I) - place, equations in one index first: they give the plainest
  // solutions.
  SmallVector<LinearIndex> open;
  for (const IndexEquation &equation : equations) {
    std::optional<LinearIndex> form = linearIndex(equation.index, op);
    if (!form) {
      solution.computed.push_back(equation);
      continue;
    }
    form->add(equation.place, -1);
    open.push_back(*form);
  }
  auto numIterators = [](const LinearIndex &form) -> unsigned {
    return llvm::count_if(form.terms, [](const auto &term) {
      return term.first.kind == IndexSymbol::Iterator;
    });
  };
  SmallVector<std::pair<unsigned, unsigned>> sequence;
  for (auto [i, form] : llvm::enumerate(open))
    sequence.push_back({numIterators(form), i});
  llvm::sort(sequence);
  // Of several indices the longest range is solved for: what remains is
  // summed over.
  auto rank = [&](unsigned i) -> std::pair<int64_t, int64_t> {
    if (auto number = dyn_cast<IntegerAttr>(extents[i]))
      return {0, number.getInt()};
    return {1, 0};
  };
  for (auto [count, position] : sequence) {
    LinearIndex form = open[position];
    for (auto [i, value] : llvm::enumerate(solution.determined))
      if (value)
        form.substitute(iterator(i), *value);
    std::optional<unsigned> best;
    for (auto &[symbol, factor] : form.terms)
      if (symbol.kind == IndexSymbol::Iterator && !fixed[symbol.number] &&
          (factor == 1 || factor == -1) &&
          (!best || rank(symbol.number) > rank(*best)))
        best = symbol.number;
    if (!best) {
      solution.zero.push_back(form);
      continue;
    }
    int64_t factor = form.factorOf(iterator(*best));
    form.add(LinearIndex::of(iterator(*best)), -factor);
    LinearIndex value;
    value.add(form, -factor);
    determine(*best, value);
  }
}

bool IndexSolver::keepParents() {
  for (unsigned i = 0; i < extents.size(); ++i) {
    if (solution.determined[i])
      continue;
    std::optional<unsigned> parent = lengths.parentIndex(extents, i);
    if (!parent || !solution.determined[*parent])
      continue;
    // The parent must be the last index over its extent that stands before
    // index i in the new list: axes first, then undetermined indices.
    bool hidden = false;
    for (unsigned j = 0; j < i; ++j)
      hidden |= !solution.determined[j] && extents[j] == extents[*parent];
    std::optional<unsigned> last;
    for (auto [k, extent] : llvm::enumerate(axes))
      if (extent == extents[*parent])
        last = k;
    const LinearIndex &value = *solution.determined[*parent];
    if (!hidden && last && value.constant == 0 && value.terms.size() == 1 &&
        value.factorOf(axis(*last)) == 1)
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

/// Whether index `index`, which is nested, equals a place of an axis with the
/// very same length.
bool IndexSolver::sharesNestedExtent(unsigned index) {
  const LinearIndex &value = *solution.determined[index];
  if (value.terms.size() != 1 || value.constant > 0 ||
      value.terms[0].first.kind != IndexSymbol::Axis ||
      value.terms[0].second != 1)
    return false;
  unsigned k = value.terms[0].first.number;
  std::optional<unsigned> parent = lengths.parentIndex(extents, index);
  std::optional<unsigned> axisParent = lengths.parentIndex(axes, k);
  if (axes[k] != extents[index] || !parent || !axisParent ||
      !solution.determined[*parent])
    return false;
  const LinearIndex &parentValue = *solution.determined[*parent];
  return parentValue.constant == 0 && parentValue.terms.size() == 1 &&
         parentValue.factorOf(axis(*axisParent)) == 1;
}

/// Says which bounds of determined indices the places must respect.
void IndexSolver::bound() {
  solution.lower.assign(axes.size(), 0);
  // lower <= p + d is a lower bound of p.
  for (auto [i, value] : llvm::enumerate(solution.determined)) {
    if (!value || value->terms.size() != 1 ||
        value->terms[0].first.kind != IndexSymbol::Axis ||
        value->terms[0].second != 1)
      continue;
    int64_t &low = solution.lower[value->terms[0].first.number];
    low = std::max(low, op.getLower()[i] - value->constant);
  }
  for (auto [i, value] : llvm::enumerate(solution.determined)) {
    if (!value)
      continue;
    LinearIndex above = *value;
    above.constant -= op.getLower()[i];
    if (!isNonNegative(above))
      solution.checkLower.push_back(i);
    if (sharesNestedExtent(i))
      continue;
    std::optional<LinearIndex> below = lengths.formOf(extents[i]);
    if (below) {
      below->add(*value, -1);
      below->constant -= 1;
    }
    if (!below || !isNonNegative(*below))
      solution.checkUpper.push_back(i);
  }
}

IndexSolution fovea::attn::solveIndices(ComputeOp op,
                                        ArrayRef<IndexEquation> equations,
                                        ArrayRef<Attribute> axes,
                                        Lengths &lengths) {
  return IndexSolver(op, equations, axes, lengths).solve();
}
