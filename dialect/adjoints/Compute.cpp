//===- Compute.cpp - the adjoint of attn.compute --------------------------===//
//
// For each array that a body reads, one compute over the array's axes: the sum
// over the indices that visit a place of (adjoint of the body's value) times
// (derivative of the body with respect to the read). Reducers.cpp adds the
// reducer's part.
//
//===----------------------------------------------------------------------===//

#include "dialect/adjoints/Demand.h"
#include "dialect/adjoints/Names.h"
#include "dialect/adjoints/Reducers.h"
#include "dialect/adjoints/Scalars.h"
#include "dialect/conditions/IndexEquations.h"

using namespace mlir;
using namespace fovea::attn;

//===----------------------------------------------------------------------===//
// One contribution
//===----------------------------------------------------------------------===//

namespace {
/// One array that a read may access: the array itself or one of its cases.
struct Target {
  Value array;
  std::optional<unsigned> number;
};

class ComputeAdjoint {
public:
  ComputeAdjoint(ComputeOp op, OpBuilder &builder, ReducerAdjoint &reducer)
      : op(op), builder(builder), reducer(reducer), lengths(op) {}

  FailureOr<Value> contribution(BodyAdjoint &scalars, ReadOp read,
                                Target target);
  Value demand(BodyAdjoint &scalars, ReadOp read, Target target,
               Value ofReader);

private:
  ComputeOp visits(ReadOp read, Target target, const Twine &label,
                   Reducer reducer, Type elementType);
  SmallVector<Value> place(OpBuilder &body, ComputeOp sum);
  Value emitIndex(OpBuilder &body, ComputeOp sum, const LinearIndex &form,
                  ValueRange at);
  SmallVector<Value> conditions(OpBuilder &body, ComputeOp sum,
                                BodyAdjoint &scalars, ReadOp read,
                                Target target, Conjunction &condition);
  void requireQuotients(OpBuilder &body, ComputeOp sum, ValueRange at,
                        Conjunction &condition);
  void requireBounds(OpBuilder &body, ValueRange at, Conjunction &condition);
  void requireEquations(OpBuilder &body, ComputeOp sum, BodyAdjoint &scalars,
                        IRMapping &values, ValueRange at,
                        Conjunction &condition);
  void requireCase(OpBuilder &body, BodyAdjoint &scalars, IRMapping &values,
                   ReadOp read, Target target, Conjunction &condition);

  ComputeOp op;
  OpBuilder &builder;
  ReducerAdjoint &reducer;
  Lengths lengths;
  IndexSolution solution;
  /// The position of the op's index number i in the new op, if it is not
  /// determined.
  SmallVector<std::optional<unsigned>> summed;
};
} // namespace

static Value indexConstant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

static Value compare(OpBuilder &builder, Location loc,
                     arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, predicate, a, b);
}

/// The value of a form inside a region of `sum`. `at` are the values of the
/// op's indices that are not determined.
Value ComputeAdjoint::emitIndex(OpBuilder &body, ComputeOp sum,
                                const LinearIndex &form, ValueRange at) {
  Location loc = op.getLoc();
  Block *block = body.getInsertionBlock();
  while (block->getParentOp() != sum)
    block = block->getParentOp()->getBlock();
  Value result;
  auto add = [&](Value term, int64_t factor) {
    if (factor != 1 && factor != -1)
      term = arith::MulIOp::create(body, loc, term,
                                   indexConstant(body, loc, std::abs(factor)));
    if (!result && factor < 0)
      result = indexConstant(body, loc, 0);
    if (!result)
      result = term;
    else if (factor < 0)
      result = arith::SubIOp::create(body, loc, result, term);
    else
      result = arith::AddIOp::create(body, loc, result, term);
  };
  auto addTerms = [&](bool positive) {
    for (auto &[symbol, factor] : form.terms) {
      if ((factor > 0) != positive)
        continue;
      if (symbol.kind == IndexSymbol::Axis)
        add(block->getArgument(symbol.number), factor);
      else if (symbol.kind == IndexSymbol::Iterator)
        add(at[symbol.number], factor);
      else
        add(extentValue(body, loc, symbol.length, Value()), factor);
    }
  };
  addTerms(/*positive=*/true);
  if (!result)
    result = indexConstant(body, loc, form.constant);
  else if (form.constant != 0)
    add(indexConstant(body, loc, std::abs(form.constant)),
        form.constant < 0 ? -1 : 1);
  addTerms(/*positive=*/false);
  return result;
}

/// The values of the op's indices inside a region of `sum`.
SmallVector<Value> ComputeAdjoint::place(OpBuilder &body, ComputeOp sum) {
  Block *block = body.getInsertionBlock();
  SmallVector<Value> at(op.getNumIndices());
  for (unsigned i = 0; i < at.size(); ++i)
    if (summed[i])
      at[i] = block->getArgument(*summed[i]);
  Location loc = op.getLoc();
  for (unsigned i = 0; i < at.size(); ++i)
    if (const std::optional<IndexQuotient> &value = solution.determined[i]) {
      at[i] = emitIndex(body, sum, value->dividend, at);
      if (value->divisor != 1)
        at[i] = arith::FloorDivSIOp::create(
            body, loc, at[i], indexConstant(body, loc, value->divisor));
      if (value->modulus) {
        Value count = extentValue(body, loc, value->modulus, Value());
        Value times = arith::FloorDivSIOp::create(body, loc, at[i], count);
        times = arith::MulIOp::create(body, loc, times, count);
        at[i] = arith::SubIOp::create(body, loc, at[i], times);
      }
    }
  return at;
}

/// Determined indices are whole numbers.
void ComputeAdjoint::requireQuotients(OpBuilder &body, ComputeOp sum,
                                      ValueRange at, Conjunction &condition) {
  Location loc = op.getLoc();
  for (auto [i, value] : llvm::enumerate(solution.determined)) {
    if (!value || value->divisor == 1)
      continue;
    Value product = arith::MulIOp::create(
        body, loc, at[i], indexConstant(body, loc, value->divisor));
    condition.require(compare(body, loc, arith::CmpIPredicate::eq,
                              emitIndex(body, sum, value->dividend, at),
                              product));
  }
}

/// Determined indices stay within their ranges.
void ComputeAdjoint::requireBounds(OpBuilder &body, ValueRange at,
                                   Conjunction &condition) {
  Location loc = op.getLoc();
  ArrayRef<Attribute> extents = op.getExtents().getValue();
  for (unsigned i : solution.checkLower)
    condition.require(compare(body, loc, arith::CmpIPredicate::sge, at[i],
                              indexConstant(body, loc, op.getLower()[i])));
  // The bound of a nested index exists only where its parent's index does, and
  // a parent comes before its children.
  for (unsigned i : solution.checkUpper) {
    std::optional<unsigned> parent = lengths.parentIndex(extents, i);
    if (parent)
      condition.guardRest();
    condition.require(compare(
        body, loc, arith::CmpIPredicate::slt, at[i],
        extentValue(body, loc, extents[i], parent ? at[*parent] : Value())));
  }
}

/// The equations that determine no index.
void ComputeAdjoint::requireEquations(OpBuilder &body, ComputeOp sum,
                                      BodyAdjoint &scalars, IRMapping &values,
                                      ValueRange at, Conjunction &condition) {
  for (const IndexEquation &equation : solution.computed) {
    if (scalars.isFragile(equation.index))
      condition.guardRest();
    Value index = scalars.emit(body, values, equation.index);
    Value wanted = emitIndex(body, sum, equation.place, at);
    condition.require(
        compare(body, op.getLoc(), arith::CmpIPredicate::eq, index, wanted));
  }
}

/// A case applies if the read is outside the array and no earlier case holds.
/// The array itself is read at places inside it.
void ComputeAdjoint::requireCase(OpBuilder &body, BodyAdjoint &scalars,
                                 IRMapping &values, ReadOp read, Target target,
                                 Conjunction &condition) {
  if (!target.number)
    return;
  Location loc = op.getLoc();
  unsigned mine = *target.number;
  auto pairsOf = [&](unsigned number) {
    return cast<ArrayAttr>((*read.getPlaces())[number]).getAsRange<ArrayAttr>();
  };
  // One axis cannot be at two numbers.
  auto isExcluded = [&](unsigned number) {
    return llvm::any_of(pairsOf(number), [&](ArrayAttr pair) {
      return llvm::any_of(pairsOf(mine), [&](ArrayAttr own) {
        return own[0] == pair[0] && isa<IntegerAttr>(own[1]) &&
               isa<IntegerAttr>(pair[1]) && own[1] != pair[1];
      });
    });
  };
  SmallVector<unsigned> before;
  for (unsigned number = 0; number < mine; ++number)
    if (!isExcluded(number))
      before.push_back(number);
  if (before.empty() && isOutside(read, mine))
    return;
  if (llvm::any_of(read.getIndices(),
                   [&](Value index) { return scalars.isFragile(index); }))
    condition.guardRest();
  SmallVector<Value> indices;
  for (Value index : read.getIndices())
    indices.push_back(scalars.emit(body, values, index));
  auto exclude = [&](Value other) {
    Value truth = arith::ConstantOp::create(body, loc, body.getBoolAttr(true));
    condition.require(arith::XOrIOp::create(body, loc, other, truth));
  };
  for (unsigned number : before)
    exclude(atPlaces(body, read, number, indices));
  if (isOutside(read, mine))
    return;
  Conjunction inside(body, loc);
  requireInside(body, loc, op, read.getArrayType().getShape().getValue(),
                indices, inside);
  exclude(inside.finish());
}

/// All conditions under which the place contributes, the simplest first;
/// conditions that read arrays are evaluated only if the earlier ones hold.
/// Returns the values of the op's indices there.
SmallVector<Value> ComputeAdjoint::conditions(OpBuilder &body, ComputeOp sum,
                                              BodyAdjoint &scalars, ReadOp read,
                                              Target target,
                                              Conjunction &condition) {
  Location loc = op.getLoc();
  SmallVector<Value> at = place(body, sum);
  IRMapping values;
  values.map(op.getBody().getArguments(), at);
  for (const LinearIndex &form : solution.zero) {
    // One side is added, the other subtracted.
    LinearIndex sides[2];
    for (auto &[symbol, factor] : form.terms)
      sides[factor < 0].add(LinearIndex::of(symbol), std::abs(factor));
    sides[form.constant < 0].constant = std::abs(form.constant);
    condition.require(compare(body, loc, arith::CmpIPredicate::eq,
                              emitIndex(body, sum, sides[1], at),
                              emitIndex(body, sum, sides[0], at)));
  }
  requireQuotients(body, sum, at, condition);
  requireBounds(body, at, condition);
  if (op.hasCondition()) {
    if (readsArrays(op.getCondition()))
      condition.guardRest();
    condition.require(inlineRegion(body, op.getCondition(), at));
  }
  for (const Branch &branch : scalars.getBranches()) {
    Value choice = const_cast<Branch &>(branch).choice.getCondition();
    if (scalars.isFragile(choice))
      condition.guardRest();
    Value taken = scalars.emit(body, values, choice);
    if (!branch.taken)
      taken = arith::XOrIOp::create(
          body, loc, taken,
          arith::ConstantOp::create(body, loc, body.getBoolAttr(true)));
    condition.require(taken);
  }
  requireEquations(body, sum, scalars, values, at, condition);
  requireCase(body, scalars, values, read, target, condition);
  return at;
}

/// The equations between the indices of a read and the places of a target.
static SmallVector<IndexEquation> equationsOf(ReadOp read, Target target) {
  SmallVector<std::optional<LinearIndex>> places(read.getIndices().size());
  if (target.number)
    for (ArrayAttr pair : cast<ArrayAttr>((*read.getPlaces())[*target.number])
                              .getAsRange<ArrayAttr>()) {
      LinearIndex place;
      if (auto name = dyn_cast<StringAttr>(pair[1]))
        place = LinearIndex::of({IndexSymbol::Length, 0, name});
      else
        place = LinearIndex::of(cast<IntegerAttr>(pair[1]).getInt());
      places[cast<IntegerAttr>(pair[0]).getInt()] = place;
    }
  SmallVector<IndexEquation> equations;
  unsigned axis = 0;
  for (auto [index, place] : llvm::zip_equal(read.getIndices(), places))
    equations.push_back(
        {index,
         place ? *place
               : LinearIndex::of({IndexSymbol::Axis, axis++, StringAttr()})});
  return equations;
}

/// Returns whether the body ends in a function whose derivative depends on its
/// value.
static bool slopeFollowsFromValue(ComputeOp op) {
  return op.getReducer() == Reducer::none &&
         isa_and_present<math::ExpOp, math::TanhOp, math::SqrtOp, SigmoidOp>(
             op.getYielded().getDefiningOp());
}

/// Erases unused indices.
static void eraseDeadScalars(ComputeOp op) {
  for (Region &region : op->getRegions())
    if (!region.empty())
      for (Operation &scalar :
           llvm::make_early_inc_range(llvm::reverse(region.front())))
        if (isOpTriviallyDead(&scalar))
          scalar.erase();
}

/// An equation over the places of the target that reduces over the op's free
/// indices; `none` if there are none.
ComputeOp ComputeAdjoint::visits(ReadOp read, Target target, const Twine &label,
                                 Reducer reducer, Type elementType) {
  ArrayRef<Attribute> axes =
      cast<ArrayType>(target.array.getType()).getShape().getValue();
  solution = solveIndices(op, equationsOf(read, target), axes, lengths);

  // An axis has the name of the index that it determines, if that is unique.
  SmallVector<Attribute> names = axisNames(target.array);
  for (auto [i, value] : llvm::enumerate(solution.determined))
    if (value && value->divisor == 1)
      for (auto &[symbol, factor] : value->dividend.terms)
        if (symbol.kind == IndexSymbol::Axis &&
            !llvm::is_contained(names, op.getIndices()[i]))
          names[symbol.number] = op.getIndices()[i];
  SmallVector<Attribute> extents(axes);
  SmallVector<int64_t> lower(solution.lower);
  summed.assign(op.getNumIndices(), std::nullopt);
  for (unsigned i = 0; i < op.getNumIndices(); ++i)
    if (!solution.determined[i]) {
      summed[i] = extents.size();
      names.push_back(op.getIndices()[i]);
      extents.push_back(op.getExtents()[i]);
      lower.push_back(op.getLower()[i]);
    }
  bool isReduced = extents.size() > axes.size();
  return ComputeOp::create(builder, op.getLoc(), label.str(), names, extents,
                           lower, axes.size(),
                           isReduced ? reducer : Reducer::none, elementType,
                           /*withCondition=*/true);
}

FailureOr<Value> ComputeAdjoint::contribution(BodyAdjoint &scalars, ReadOp read,
                                              Target target) {
  Location loc = op.getLoc();
  ComputeOp sum = visits(read, target, labelFor("d ", target.array),
                         Reducer::sum, builder.getF64Type());

  OpBuilder where = OpBuilder::atBlockBegin(&sum.getCondition().front());
  Conjunction condition(where, loc);
  reducer.require(where,
                  conditions(where, sum, scalars, read, target, condition),
                  condition);
  if (condition.isTrivial()) {
    sum.getCondition().getBlocks().clear();
  } else {
    Value holds = condition.finish();
    YieldOp::create(where, loc, holds);
  }

  OpBuilder body = OpBuilder::atBlockBegin(&sum.getBody().front());
  SmallVector<Value> at = place(body, sum);
  IRMapping values;
  values.map(op.getBody().getArguments(), at);
  // tanh' = 1 - tanh^2: it uses the value, so the argument need not be kept.
  if (slopeFollowsFromValue(op))
    values.map(op.getYielded(),
               ReadOp::create(body, loc, op.getResult(), at).getResult());
  Value seed = reducer.seed(
      body, at, [&] { return scalars.emit(body, values, op.getYielded()); });
  FailureOr<Value> adjoint = scalars.build(body, values, seed);
  if (failed(adjoint)) {
    sum.erase();
    return failure();
  }
  YieldOp::create(body, loc, *adjoint);
  eraseDeadScalars(sum);
  return sum.getResult();
}

Value ComputeAdjoint::demand(BodyAdjoint &scalars, ReadOp read, Target target,
                             Value ofReader) {
  Location loc = op.getLoc();
  ComputeOp bits = visits(read, target, "", Reducer::any, builder.getI1Type());
  // A separate element is a body, which can be inlined; with several indices
  // those count for which the condition holds.
  bool isReduced = bits.getReducer() != Reducer::none;
  Region &region = isReduced ? bits.getCondition() : bits.getBody();
  OpBuilder inside = OpBuilder::atBlockBegin(&region.front());
  Conjunction condition(inside, loc);
  SmallVector<Value> at =
      conditions(inside, bits, scalars, read, target, condition);
  if (ofReader) {
    condition.guardRest();
    condition.require(
        ReadOp::create(inside, loc, ofReader,
                       ArrayRef(at).take_front(
                           cast<ArrayType>(ofReader.getType()).getRank())));
  }
  bool isEverywhere = condition.isTrivial();
  Value holds = condition.finish();
  YieldOp::create(inside, loc, holds);
  if (isReduced) {
    OpBuilder body = OpBuilder::atBlockBegin(&bits.getBody().front());
    Value truth = arith::ConstantOp::create(body, loc, body.getBoolAttr(true));
    YieldOp::create(body, loc, truth);
  } else {
    bits.getCondition().getBlocks().clear();
  }
  eraseDeadScalars(bits);
  // Contributions of several index places justify a separate array only if data
  // decide them.
  if (isEverywhere || (isReduced && !readsArrays(region))) {
    bits.erase();
    return {};
  }
  return bits.getResult();
}

Value fovea::attn::demandThrough(OpBuilder &builder, ReadOp read,
                                 std::optional<unsigned> number,
                                 Value ofReader) {
  auto op = read->getParentOfType<ComputeOp>();
  ReducerAdjoint none(op, builder, Value());
  BodyAdjoint scalars(op, read);
  Value array = number ? read.getAlternatives()[*number] : read.getArray();
  return ComputeAdjoint(op, builder, none)
      .demand(scalars, read, {array, number}, ofReader);
}

LogicalResult
ComputeOp::buildAdjoint(OpBuilder &builder, Value adjoint,
                        llvm::function_ref<bool(Value)> active,
                        llvm::function_ref<void(Value, Value)> add) {
  ReducerAdjoint reducer(*this, builder, adjoint);
  bool isPrepared = false;
  SmallVector<ReadOp> reads;
  getBody().walk([&](ReadOp read) {
    if (read.getResult().getType().isF64())
      reads.push_back(read);
  });
  for (ReadOp read : reads) {
    SmallVector<Target> targets = {{read.getArray(), std::nullopt}};
    for (auto [i, alternative] : llvm::enumerate(read.getAlternatives()))
      targets.push_back({alternative, static_cast<unsigned>(i)});
    llvm::erase_if(targets,
                   [&](const Target &target) { return !active(target.array); });
    if (targets.empty())
      continue;
    BodyAdjoint scalars(*this, read);
    if (!scalars.reachesYield())
      continue;
    if (!isPrepared)
      reducer.prepare();
    isPrepared = true;
    for (const Target &target : targets) {
      FailureOr<Value> part = ComputeAdjoint(*this, builder, reducer)
                                  .contribution(scalars, read, target);
      if (failed(part))
        return failure();
      add(target.array, *part);
    }
  }
  return success();
}
