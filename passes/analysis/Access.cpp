//===- Access.cpp - what an op reads, index by index ----------------------===//
//
// Classifies the index values of reads and collects the affine conditions of
// computes. Makes no decisions. A value that is not an index of the op plus a
// constant is `Computed`. A condition that does not compare two indices of the
// op is not a guard.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Access.h"
#include "dialect/conditions/IndexEquations.h"
#include "dialect/conditions/LinearForm.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fovea::attn;

namespace {

/// The limit on the examined part of a condition: shared subexpressions are
/// visited once per use.
constexpr unsigned maxTerms = 256;

/// Collects the guards that follow from conditions on the indices of one op.
class GuardCollector {
public:
  GuardCollector(ComputeOp op, SmallVectorImpl<Guard> &guards)
      : op(op), guards(guards) {}

  /// Adds the facts that hold if `condition` is `holds`.
  void add(Value condition, bool holds);

private:
  void addComparison(arith::CmpIPredicate predicate, Value lhs, Value rhs);
  void addAtMost(const AccessIndex &lhs, const AccessIndex &rhs,
                 int64_t offset);

  ComputeOp op;
  SmallVectorImpl<Guard> &guards;
  unsigned visited = 0;
};

void GuardCollector::addAtMost(const AccessIndex &lhs, const AccessIndex &rhs,
                               int64_t offset) {
  if (lhs.kind == AccessIndex::Iterator && rhs.kind == AccessIndex::Iterator &&
      lhs.iterator != rhs.iterator)
    guards.push_back(
        {lhs.iterator, rhs.iterator, rhs.offset - lhs.offset + offset});
}

void GuardCollector::addComparison(arith::CmpIPredicate predicate, Value lhs,
                                   Value rhs) {
  AccessIndex a = classify(lhs, op), b = classify(rhs, op);
  switch (predicate) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return addAtMost(a, b, -1);
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return addAtMost(a, b, 0);
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return addAtMost(b, a, -1);
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return addAtMost(b, a, 0);
  case arith::CmpIPredicate::eq:
    addAtMost(a, b, 0);
    return addAtMost(b, a, 0);
  case arith::CmpIPredicate::ne:
    return;
  }
}

void GuardCollector::add(Value condition, bool holds) {
  if (++visited > maxTerms)
    return;
  Operation *def = condition.getDefiningOp();
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(def)) {
    auto predicate = compare.getPredicate();
    return addComparison(holds ? predicate : arith::invertPredicate(predicate),
                         compare.getLhs(), compare.getRhs());
  }
  // a and b holds: both hold; a or b fails: both fail.
  if (holds ? isa_and_nonnull<arith::AndIOp>(def)
            : isa_and_nonnull<arith::OrIOp>(def)) {
    add(def->getOperand(0), holds);
    add(def->getOperand(1), holds);
    return;
  }
  if (auto flip = dyn_cast_or_null<arith::XOrIOp>(def)) {
    for (unsigned i : {0, 1})
      if (matchPattern(flip->getOperand(i), m_One()))
        add(flip->getOperand(1 - i), !holds);
    return;
  }
  // if c then a else false (a short-circuit conjunction) and similar: a branch
  // whose value is known to be the other one was not taken.
  auto branches = [&](Value test, Value whenTrue, Value whenFalse) {
    APInt known;
    bool notElse = matchPattern(whenFalse, m_ConstantInt(&known)) &&
                   known.isZero() == holds;
    bool notThen = matchPattern(whenTrue, m_ConstantInt(&known)) &&
                   known.isZero() == holds;
    if (notElse) {
      add(test, true);
      add(whenTrue, holds);
    } else if (notThen) {
      add(test, false);
      add(whenFalse, holds);
    }
  };
  if (auto choose = dyn_cast_or_null<arith::SelectOp>(def))
    return branches(choose.getCondition(), choose.getTrueValue(),
                    choose.getFalseValue());
  if (auto branch = dyn_cast_or_null<scf::IfOp>(def)) {
    unsigned i = cast<OpResult>(condition).getResultNumber();
    branches(branch.getCondition(), branch.thenYield().getOperand(i),
             branch.elseYield().getOperand(i));
  }
}

} // namespace

AccessIndex fovea::attn::classify(Value value, ComputeOp op) {
  AccessIndex result;
  result.expression = value;
  std::optional<LinearForm> form = LinearForm::of(value);
  if (!form)
    return result;
  result.offset = form->constant;
  if (form->terms.empty()) {
    result.kind = AccessIndex::Constant;
    return result;
  }
  auto [base, factor] = form->terms.front();
  if (form->terms.size() > 1 || factor != 1) {
    result.offset = 0;
    return result;
  }
  if (auto argument = dyn_cast<BlockArgument>(base)) {
    Region *region = argument.getOwner()->getParent();
    if (region->getParentOp() == op) {
      result.kind = AccessIndex::Iterator;
      result.iterator = argument.getArgNumber();
      return result;
    }
    if (argument.getType().isIndex()) {
      result.kind = AccessIndex::Outer;
      result.value = argument;
      return result;
    }
  }
  auto extent = base.getDefiningOp<ExtentOp>();
  if (extent && !extent.getParent() && !extent.getLargest()) {
    result.kind = AccessIndex::End;
    result.length = extent.getLengthAttr();
    return result;
  }
  result.offset = 0;
  return result;
}

static void addEqualities(Value condition, Block &block,
                          SmallVectorImpl<Equality> &result) {
  Operation *op = condition.getDefiningOp();
  if (!op || op->getBlock() != &block)
    return;
  if (auto both = dyn_cast<arith::AndIOp>(op)) {
    addEqualities(both.getLhs(), block, result);
    addEqualities(both.getRhs(), block, result);
    return;
  }
  if (auto later = dyn_cast<scf::IfOp>(op)) {
    // `if (a) { b } else { false }`: a holds, whatever b is.
    APInt value;
    Operation *yield =
        later.elseBlock() ? later.elseBlock()->getTerminator() : nullptr;
    if (yield && matchPattern(yield->getOperand(0), m_ConstantInt(&value)) &&
        value.isZero())
      addEqualities(later.getCondition(), block, result);
    return;
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return;
  for (auto [a, b] : {std::pair(compare.getLhs(), compare.getRhs()),
                      std::pair(compare.getRhs(), compare.getLhs())}) {
    auto index = dyn_cast<BlockArgument>(a);
    if (index && index.getOwner() == &block &&
        !(dependence(b) >> index.getArgNumber() & 1))
      result.push_back({index.getArgNumber(), b});
  }
}

SmallVector<Equality> fovea::attn::equalitiesOf(ComputeOp op) {
  SmallVector<Equality> result;
  if (op.hasCondition()) {
    Block &block = op.getCondition().front();
    addEqualities(block.getTerminator()->getOperand(0), block, result);
  }
  return result;
}

std::optional<Equality> fovea::attn::scatteredBy(ComputeOp op) {
  if (op.getReducer() != Reducer::sum)
    return std::nullopt;
  // Rows, or the elements of an array that a batch has once, such as a vector's
  // gradient.
  auto batch = op->getAttrOfType<StringAttr>("attn.batch");
  bool isOfBatch = op.getNumParallel() == 1 && batch &&
                   batch.getValue() != "each" &&
                   isa<IntegerAttr>(op.getExtents()[0]);
  for (const Equality &equality : equalitiesOf(op))
    if (equality.index < op.getNumParallel() &&
        (isOfBatch || equality.index + 1 < op.getNumParallel()) &&
        (dependence(equality.value) &
         ((uint64_t(1) << op.getNumParallel()) - 1)) == 0)
      return equality;
  return std::nullopt;
}

unsigned fovea::attn::numIndices(Operation *op) {
  if (auto compute = dyn_cast<ComputeOp>(op))
    return compute.getNumIndices();
  Value shaped;
  if (auto choice = dyn_cast<ChoiceOp>(op); choice && choice.getObserved())
    shaped = choice.getObserved();
  else if (op->getNumResults() == 1)
    shaped = op->getResult(0);
  else if (op->getNumOperands() == 1)
    shaped = op->getOperand(0);
  auto type = shaped ? dyn_cast<ArrayType>(shaped.getType()) : ArrayType();
  return type ? type.getRank() : 0;
}

SmallVector<Guard> fovea::attn::guardsOf(Value condition, ComputeOp op) {
  SmallVector<Guard> guards;
  GuardCollector(op, guards).add(condition, true);
  return guards;
}

void fovea::attn::forArrays(
    Operation &op, llvm::function_ref<void(Operation *, Value)> visit) {
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<ArrayType>(operand.getType()))
        visit(inner, operand);
  });
}

Value fovea::attn::throughViews(Value array) {
  while (auto reshape = array.getDefiningOp<ReshapeOp>())
    array = reshape.getOperand();
  return array;
}

Value fovea::attn::insideKernel(Value array) {
  while (auto kernel = array.getDefiningOp<KernelOp>())
    array = kernel.getYielded(cast<OpResult>(array));
  return array;
}

bool fovea::attn::variesInside(Attribute extent, Operation *model) {
  return Lengths(model).parentOf(extent) != nullptr;
}

std::optional<int64_t> fovea::attn::numberOf(Attribute extent) {
  auto number = dyn_cast<IntegerAttr>(extent);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

bool fovea::attn::startsAtZero(ComputeOp op, std::optional<unsigned> except) {
  for (auto [number, lower] : llvm::enumerate(op.getLower()))
    if (number != except && lower != 0)
      return false;
  return true;
}

ReadOp fovea::attn::plainRead(Operation *user, Value array) {
  auto read = dyn_cast<ReadOp>(user);
  return read && read.getArray() == array && read.getAlternatives().empty()
             ? read
             : nullptr;
}

bool fovea::attn::staysInside(const AccessIndex &index, Attribute extent,
                              ComputeOp op) {
  if (index.kind == AccessIndex::Constant) {
    std::optional<int64_t> size = numberOf(extent);
    return size && index.offset >= 0 && index.offset < *size;
  }
  return index.kind == AccessIndex::Iterator && index.offset == 0 &&
         op.getExtents()[index.iterator] == extent;
}

SmallVector<Guard> fovea::attn::guardsOf(ComputeOp op) {
  if (!op.hasCondition())
    return {};
  return guardsOf(op.getCondition().front().getTerminator()->getOperand(0), op);
}

SmallVector<Value> fovea::attn::conjunctsOf(Value condition) {
  SmallVector<Value> parts = {condition}, conjuncts;
  while (!parts.empty()) {
    Value part = parts.pop_back_val();
    if (auto both = part.getDefiningOp<arith::AndIOp>())
      parts.append({both.getLhs(), both.getRhs()});
    else
      conjuncts.push_back(part);
  }
  return conjuncts;
}

bool fovea::attn::follows(Value condition, ComputeOp op,
                          ArrayRef<Guard> known) {
  return llvm::all_of(conjunctsOf(condition), [&](Value part) {
    SmallVector<Guard> guards = guardsOf(part, op);
    return part.getDefiningOp<arith::CmpIOp>() && !guards.empty() &&
           llvm::all_of(guards, [&](const Guard &guard) {
             return llvm::any_of(known, [&](const Guard &other) {
               return other.lhs == guard.lhs && other.rhs == guard.rhs &&
                      other.offset <= guard.offset;
             });
           });
  });
}

/// The reads of a compute.
static void readsOf(ComputeOp op, SmallVectorImpl<Access> &accesses) {
  op->walk([&](ReadOp read) {
    Access access{op, read, read.getArray(), {}};
    for (Value index : read.getIndices())
      access.indices.push_back(classify(index, op));
    accesses.push_back(access);
    if (!read.getPlaces())
      return;
    for (auto [alternative, places] :
         llvm::zip_equal(read.getAlternatives(),
                         read.getPlaces()->getAsRange<ArrayAttr>())) {
      Access other{op, read, alternative, {}, places};
      for (auto [axis, index] : llvm::enumerate(access.indices))
        if (llvm::none_of(places.getAsRange<ArrayAttr>(), [&](ArrayAttr pair) {
              return cast<IntegerAttr>(pair[0]).getInt() ==
                     static_cast<int64_t>(axis);
            }))
          other.indices.push_back(index);
      accesses.push_back(other);
    }
  });
}

SmallVector<Access> fovea::attn::accessesOf(Operation *op) {
  SmallVector<Access> accesses;
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    readsOf(compute, accesses);
    return accesses;
  }
  // The array's first `numSame` axes are those of the reader.
  auto readsWhole = [&](Value array, unsigned numSame) {
    auto type = dyn_cast<ArrayType>(array.getType());
    if (!type)
      return;
    Access access{op, op, array, {}};
    for (unsigned axis = 0; axis < type.getRank(); ++axis) {
      AccessIndex index;
      if (axis < numSame) {
        index.kind = AccessIndex::Iterator;
        index.iterator = axis;
      }
      access.indices.push_back(index);
    }
    accesses.push_back(access);
  };
  unsigned rank = numIndices(op);
  if (auto append = dyn_cast<AppendOp>(op)) {
    readsWhole(append.getArray(), rank);
    readsWhole(append.getRow(), rank);
    for (unsigned axis = append.getAxis(); axis + 1 < rank; ++axis)
      accesses.back().indices[axis].iterator = axis + 1;
    return accesses;
  }
  unsigned numSame = rank;
  if (isa<ConcatOp>(op))
    numSame = rank - 1;
  else if (auto reshape = dyn_cast<ReshapeOp>(op))
    numSame = reshape.getKeep();
  else if (isa<ScanOp, SearchOp>(op))
    numSame = 0;
  for (Value operand : op->getOperands())
    readsWhole(operand, numSame);
  return accesses;
}
