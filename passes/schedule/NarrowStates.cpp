//===- NarrowStates.cpp - what a search need not keep ---------------------===//
//
// If a step reads every place so far of an array, the whole array must be kept.
// Two kinds of readers need less, and are rewritten as recurrences, for which
// the scheduler carries one row:
//
// * `sum[u where u <= t](f(u))`, where f does not look at t, is what it was one
//   step ago plus f(t): an accumulator.
// * a read at u where `t - k <= u <= t` needs the last k + 1 places: a window,
//   which each step shifts by one place.
//
// An array that another reader needs as a whole is kept as a whole.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Conditions.h"
#include "mlir/IR/IRMapping.h"
#include "passes/schedule/Plan.h"

#include <limits>

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

namespace {

/// A reduction over all places up to a step.
struct RunningReduction {
  ComputeOp op;
  unsigned time = 0, index = 0;
  /// index <= time + offset.
  int64_t offset = 0;
  /// The rest of the condition; none of it involves `time`.
  SmallVector<Value> rest;
};

/// The reads of one array that a window serves.
struct Window {
  Operation *target = nullptr;
  SmallVector<Edge> reads;
  int64_t places = 0;
};

class Narrower {
public:
  Narrower(const Graph &graph, const Loop &loop) : graph(graph), loop(loop) {}

  bool run();

private:
  std::optional<RunningReduction> findReduction(ComputeOp op) const;
  bool addCondition(RunningReduction &found, Value condition) const;
  void accumulate(const RunningReduction &found);
  ComputeOp createPart(OpBuilder &builder, const RunningReduction &found);
  ComputeOp createSum(OpBuilder &builder, const RunningReduction &found,
                      ComputeOp part);

  std::optional<Window> findWindow(Operation *target) const;
  void keepWindow(const Window &window);
  void redirect(const Edge &edge, ComputeOp window);

  /// Returns whether an array of these extents has the same size in every step.
  bool isFixed(ArrayRef<Attribute> extents) const;

  const Graph &graph;
  const Loop &loop;
};

} // namespace

bool Narrower::isFixed(ArrayRef<Attribute> extents) const {
  return llvm::none_of(extents, [&](Attribute extent) {
    return graph.derivesFrom(extent, loop.extent) || graph.getParent(extent);
  });
}

static bool usesArgument(Region &region, unsigned number) {
  return !region.empty() && !region.getArgument(number).use_empty();
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

/// Splits a conjunction. Returns false if a part uses the time in another way
/// than `index <= time + offset`.
bool Narrower::addCondition(RunningReduction &found, Value condition) const {
  // Conditions are as deep as expressions, which the parser limits.
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return addCondition(found, both.getLhs()) &&
           addCondition(found, both.getRhs());
  llvm::SetVector<Value> needed;
  needed.insert(condition);
  bool usesTime = false;
  for (unsigned i = 0; i < needed.size(); ++i) {
    if (needed[i] == found.op.getCondition().getArgument(found.time))
      usesTime = true;
    if (Operation *def = needed[i].getDefiningOp())
      def->walk(
          [&](Operation *inner) { needed.insert_range(inner->getOperands()); });
  }
  if (!usesTime) {
    found.rest.push_back(condition);
    return true;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return false;
  AccessIndex small = classify(compare.getLhs(), found.op);
  AccessIndex large = classify(compare.getRhs(), found.op);
  int64_t strict = 0;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
    strict = 1;
    break;
  case arith::CmpIPredicate::sle:
    break;
  case arith::CmpIPredicate::sgt:
    strict = 1;
    [[fallthrough]];
  case arith::CmpIPredicate::sge:
    std::swap(small, large);
    break;
  default:
    return false;
  }
  if (small.kind != AccessIndex::Iterator || small.iterator != found.index ||
      large.kind != AccessIndex::Iterator || large.iterator != found.time)
    return false;
  int64_t offset = large.offset - small.offset - strict;
  found.offset = std::min(found.offset, offset);
  return offset <= 0;
}

std::optional<RunningReduction> Narrower::findReduction(ComputeOp op) const {
  switch (op.getReducer()) {
  case Reducer::sum:
  case Reducer::prod:
  case Reducer::max:
  case Reducer::min:
  case Reducer::any:
  case Reducer::all:
  case Reducer::mean:
    break;
  default:
    return std::nullopt;
  }
  RunningReduction found{op, loop.getTime(op), 0, 0, {}};
  unsigned numRunning = 0;
  SmallVector<Attribute> others;
  for (auto [i, extent] : llvm::enumerate(op.getExtents()))
    if (i >= op.getNumParallel() && extent == loop.extent) {
      found.index = i;
      ++numRunning;
    } else if (i != found.time) {
      others.push_back(extent);
    }
  if (numRunning != 1 || !op.hasCondition() || !isFixed(others) ||
      op.getLower()[found.time] != 0 || op.getLower()[found.index] != 0 ||
      usesArgument(op.getBody(), found.time))
    return std::nullopt;
  // Without a condition on the time `offset` stays unchanged, and the plan has
  // no such reduction.
  found.offset = std::numeric_limits<int64_t>::max();
  if (!addCondition(found,
                    op.getCondition().front().getTerminator()->getOperand(0)) ||
      found.offset == std::numeric_limits<int64_t>::max())
    return std::nullopt;
  // Only sums have the same value for an empty range as for excluded terms.
  bool isSum =
      op.getReducer() == Reducer::sum || op.getReducer() == Reducer::any;
  if (!isSum && (!found.rest.empty() || op.getNumReduction() > 1))
    return std::nullopt;
  if (op.getReducer() == Reducer::mean && found.offset != 0)
    return std::nullopt;
  // The inputs of the last place exist by then, also after the rewriting.
  for (const Edge &edge : graph.getReads(op)) {
    if (!loop.contains(edge.target))
      continue;
    const AccessIndex &at = edge.access->indices[loop.getTime(edge.target)];
    if (at.kind != AccessIndex::Iterator || at.iterator != found.index ||
        at.offset > 0)
      return std::nullopt;
  }
  return found;
}

/// The contribution of one place: the reduction over the other indices, with
/// the time in place of the running index.
ComputeOp Narrower::createPart(OpBuilder &builder,
                               const RunningReduction &found) {
  ComputeOp op = found.op;
  SmallVector<Attribute> names, extents;
  SmallVector<int64_t> lower;
  SmallVector<unsigned> indices;
  for (unsigned i = 0; i < op.getNumIndices(); ++i) {
    if (i == found.index)
      continue;
    indices.push_back(i);
    names.push_back(op.getIndices()[i]);
    extents.push_back(op.getExtents()[i]);
    lower.push_back(op.getLower()[i]);
  }
  Reducer reducer = op.getNumReduction() > 1 ? op.getReducer() : Reducer::none;
  auto part = ComputeOp::create(builder, op.getLoc(), "", names, extents, lower,
                                op.getNumParallel(), reducer,
                                op.getElementType(), !found.rest.empty());
  auto evaluate = [&](Region &from, Region &to, ArrayRef<Value> wanted) {
    auto inside = OpBuilder::atBlockEnd(&to.front());
    IRMapping values;
    for (auto [number, index] : llvm::enumerate(indices))
      values.map(from.getArgument(index), to.getArgument(number));
    values.map(from.getArgument(found.index), to.getArgument(found.time));
    for (Operation &scalar : from.front().without_terminator())
      inside.clone(scalar, values);
    Value all;
    for (Value one : wanted) {
      Value copy = values.lookupOrDefault(one);
      all = all ? arith::AndIOp::create(inside, op.getLoc(), all, copy)
                      .getResult()
                : copy;
    }
    YieldOp::create(inside, op.getLoc(), all);
  };
  if (part.hasCondition())
    evaluate(op.getCondition(), part.getCondition(), found.rest);
  evaluate(op.getBody(), part.getBody(), {op.getYielded()});
  return part;
}

/// The neutral element of a reduction.
static TypedAttr neutralOf(Builder &builder, Reducer reducer, Type type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  bool isReal = isa<FloatType>(type);
  switch (reducer) {
  case Reducer::prod:
  case Reducer::all:
    return builder.getOneAttr(type);
  case Reducer::max:
    return isReal ? TypedAttr(builder.getFloatAttr(type, -infinity))
                  : builder.getIntegerAttr(type,
                                           std::numeric_limits<int64_t>::min());
  case Reducer::min:
    return isReal ? TypedAttr(builder.getFloatAttr(type, infinity))
                  : builder.getIntegerAttr(type,
                                           std::numeric_limits<int64_t>::max());
  default:
    return builder.getZeroAttr(type);
  }
}

static Value combine(OpBuilder &builder, Location loc, Reducer reducer, Value a,
                     Value b) {
  bool isReal = isa<FloatType>(a.getType());
  switch (reducer) {
  case Reducer::prod:
    return isReal ? arith::MulFOp::create(builder, loc, a, b).getResult()
                  : arith::MulIOp::create(builder, loc, a, b).getResult();
  case Reducer::max:
    return isReal ? arith::MaximumFOp::create(builder, loc, a, b).getResult()
                  : arith::MaxSIOp::create(builder, loc, a, b).getResult();
  case Reducer::min:
    return isReal ? arith::MinimumFOp::create(builder, loc, a, b).getResult()
                  : arith::MinSIOp::create(builder, loc, a, b).getResult();
  case Reducer::any:
    return arith::OrIOp::create(builder, loc, a, b);
  case Reducer::all:
    return arith::AndIOp::create(builder, loc, a, b);
  default:
    return isReal ? arith::AddFOp::create(builder, loc, a, b).getResult()
                  : arith::AddIOp::create(builder, loc, a, b).getResult();
  }
}

/// A compute over the result's axes of `op`.
static ComputeOp createLike(OpBuilder &builder, ComputeOp op, StringRef label) {
  unsigned count = op.getNumParallel();
  return ComputeOp::create(
      builder, op.getLoc(), label,
      llvm::to_vector(op.getIndices().getValue().take_front(count)),
      llvm::to_vector(op.getExtents().getValue().take_front(count)),
      op.getLower().take_front(count), count, Reducer::none,
      op.getElementType());
}

/// total[t] = total[t-1] + part[t].
ComputeOp Narrower::createSum(OpBuilder &builder, const RunningReduction &found,
                              ComputeOp part) {
  ComputeOp op = found.op;
  bool isResult = found.offset == 0 && op.getReducer() != Reducer::mean;
  ComputeOp total =
      createLike(builder, op, isResult ? op.getLabel().value_or("") : "");
  total->setAttr("attn.state", builder.getStringAttr("accumulator"));
  Block &body = total.getBody().front();
  auto inside = OpBuilder::atBlockEnd(&body);
  Location loc = op.getLoc();
  Value one = arith::ConstantIndexOp::create(inside, loc, 1);
  SmallVector<Value> before(body.getArguments());
  before[found.time] =
      arith::SubIOp::create(inside, loc, before[found.time], one);
  Value nothing = arith::ConstantOp::create(
      inside, loc, neutralOf(builder, op.getReducer(), op.getElementType()));
  Value sofar =
      ReadOp::create(inside, loc, op.getElementType(), total.getResult(),
                     before, ValueRange(), nothing, ArrayAttr());
  Value now =
      ReadOp::create(inside, loc, part.getResult(), body.getArguments());
  YieldOp::create(inside, loc,
                  combine(inside, loc, op.getReducer(), sofar, now));
  return total;
}

void Narrower::accumulate(const RunningReduction &found) {
  ComputeOp op = found.op;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  ComputeOp result = createSum(builder, found, createPart(builder, found));
  if (found.offset < 0 || op.getReducer() == Reducer::mean) {
    ComputeOp total = result;
    result = createLike(builder, op, op.getLabel().value_or(""));
    Block &body = result.getBody().front();
    auto inside = OpBuilder::atBlockEnd(&body);
    Value time = body.getArgument(found.time), value;
    if (op.getReducer() == Reducer::mean) {
      value =
          ReadOp::create(inside, loc, total.getResult(), body.getArguments());
      Value one = arith::ConstantIndexOp::create(inside, loc, 1);
      Value count = arith::AddIOp::create(inside, loc, time, one);
      Value whole =
          arith::IndexCastOp::create(inside, loc, inside.getI64Type(), count);
      Value real =
          arith::SIToFPOp::create(inside, loc, inside.getF64Type(), whole);
      value = arith::DivFOp::create(inside, loc, value, real);
    } else {
      // Over nothing the extrema are 0.
      bool isExtremum =
          op.getReducer() == Reducer::max || op.getReducer() == Reducer::min;
      Value nothing = arith::ConstantOp::create(
          inside, loc,
          isExtremum
              ? inside.getZeroAttr(op.getElementType())
              : neutralOf(builder, op.getReducer(), op.getElementType()));
      Value back = arith::ConstantIndexOp::create(inside, loc, -found.offset);
      SmallVector<Value> at(body.getArguments());
      at[found.time] = arith::SubIOp::create(inside, loc, time, back);
      value =
          ReadOp::create(inside, loc, op.getElementType(), total.getResult(),
                         at, ValueRange(), nothing, ArrayAttr());
    }
    YieldOp::create(inside, loc, value);
  }
  op.getResult().replaceAllUsesWith(result.getResult());
  op.erase();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// A window is stored and shifted as a whole in each step.
static constexpr int64_t maxPlaces = 1 << 16;

std::optional<Window> Narrower::findWindow(Operation *target) const {
  if (target->getNumResults() != 1)
    return std::nullopt;
  unsigned axis = loop.getTime(target);
  auto type = cast<ArrayType>(target->getResult(0).getType());
  SmallVector<Attribute> others(type.getShape().getValue());
  others.erase(others.begin() + axis);
  if (!isFixed(others))
    return std::nullopt;
  Window window;
  window.target = target;
  for (const Edge &edge : graph.getReaders(target)) {
    if (!loop.contains(edge.reader))
      continue;
    const AccessIndex &index = edge.access->indices[axis];
    if (index.kind == AccessIndex::Iterator &&
        index.iterator == loop.getTime(edge.reader))
      continue;
    Distance distance = loop.distance(edge);
    auto read = dyn_cast<ReadOp>(edge.access->read);
    if (!read || read.getPlaces() || distance.max > 0 ||
        distance.min < -maxPlaces)
      return std::nullopt;
    // Reads of the past only use the window of the previous step.
    window.places = std::max(
        window.places, distance.max < 0 ? -distance.min : 1 - distance.min);
    window.reads.push_back(edge);
  }
  // A window of all places is the array itself.
  auto steps = dyn_cast<IntegerAttr>(loop.extent);
  if (window.reads.empty() || (steps && window.places >= steps.getInt()))
    return std::nullopt;
  return window;
}

/// window[t, w] = target[t - w]: what it was one step ago, shifted.
void Narrower::keepWindow(const Window &window) {
  unsigned axis = loop.getTime(window.target);
  Value target = window.target->getResult(0);
  auto type = cast<ArrayType>(target.getType());
  OpBuilder builder(window.target);
  builder.setInsertionPointAfter(window.target);
  Location loc = window.target->getLoc();
  SmallVector<Attribute> names, extents(type.getShape().getValue());
  for (unsigned i = 0; i < extents.size(); ++i)
    names.push_back(builder.getStringAttr(indexName(window.target, i)));
  extents.insert(extents.begin() + axis + 1,
                 builder.getI64IntegerAttr(window.places));
  names.insert(names.begin() + axis + 1, builder.getStringAttr("back"));
  auto kept = ComputeOp::create(builder, loc, graph.getName(window.target),
                                names, extents, /*lower=*/{}, extents.size(),
                                Reducer::none, type.getElementType());
  kept->setAttr("attn.state", builder.getStringAttr("window"));

  Block &body = kept.getBody().front();
  auto inside = OpBuilder::atBlockEnd(&body);
  Value zero = arith::ConstantIndexOp::create(inside, loc, 0);
  Value isNow = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::eq,
                                      body.getArgument(axis + 1), zero);
  auto branch = scf::IfOp::create(inside, loc, type.getElementType(), isNow,
                                  /*withElseRegion=*/true);
  OpBuilder then = branch.getThenBodyBuilder();
  SmallVector<Value> at(body.getArguments());
  at.erase(at.begin() + axis + 1);
  Value now = ReadOp::create(then, loc, target, at);
  scf::YieldOp::create(then, loc, now);
  OpBuilder otherwise = branch.getElseBodyBuilder();
  SmallVector<Value> before(body.getArguments());
  Value one = arith::ConstantIndexOp::create(otherwise, loc, 1);
  for (unsigned i : {axis, axis + 1})
    before[i] = arith::SubIOp::create(otherwise, loc, before[i], one);
  Value nothing = arith::ConstantOp::create(
      otherwise, loc, otherwise.getZeroAttr(type.getElementType()));
  Value last =
      ReadOp::create(otherwise, loc, type.getElementType(), kept.getResult(),
                     before, ValueRange(), nothing, ArrayAttr());
  scf::YieldOp::create(otherwise, loc, last);
  YieldOp::create(inside, loc, branch.getResult(0));

  for (const Edge &edge : window.reads)
    redirect(edge, kept);
}

/// Redirects a read to the window. Reads of the past only use the window of the
/// previous step, which exists when this step begins.
void Narrower::redirect(const Edge &edge, ComputeOp window) {
  auto read = cast<ReadOp>(edge.access->read);
  auto reader = cast<ComputeOp>(edge.reader);
  unsigned axis = loop.getTime(edge.target);
  Region *region = read->getParentRegion();
  while (region->getParentOp() != reader)
    region = region->getParentRegion();
  OpBuilder builder(read);
  Location loc = read.getLoc();
  Value time = region->getArgument(loop.getTime(reader));
  if (loop.distance(edge).max < 0) {
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    time = arith::SubIOp::create(builder, loc, time, one);
  }
  SmallVector<Value> indices(read.getIndices());
  Value place = indices[axis];
  indices[axis] = time;
  Type type = read.getType();
  auto readWindow = [&](OpBuilder &at) -> Value {
    SmallVector<Value> all = indices;
    Value back = arith::SubIOp::create(at, loc, time, place);
    all.insert(all.begin() + axis + 1, back);
    return ReadOp::create(at, loc, type, window.getResult(), all, ValueRange(),
                          read.getOtherwise(), ArrayAttr());
  };
  Value element;
  if (!read.getOtherwise()) {
    element = readWindow(builder);
  } else {
    // Outside is before the first place, not past the end of the window.
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value isInside = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge, place, zero);
    auto branch = scf::IfOp::create(builder, loc, type, isInside,
                                    /*withElseRegion=*/true);
    OpBuilder then = branch.getThenBodyBuilder();
    scf::YieldOp::create(then, loc, readWindow(then));
    OpBuilder outside = branch.getElseBodyBuilder();
    scf::YieldOp::create(outside, loc, read.getOtherwise());
    element = branch.getResult(0);
  }
  read.replaceAllUsesWith(element);
  read.erase();
}

//===----------------------------------------------------------------------===//
// One search
//===----------------------------------------------------------------------===//

bool Narrower::run() {
  // Arrays that grow only for a sum stop growing here.
  bool changed = false;
  for (auto [op, time] : loop.time)
    if (auto compute = dyn_cast<ComputeOp>(op))
      if (auto found = findReduction(compute)) {
        accumulate(*found);
        changed = true;
      }
  if (changed)
    return true;
  for (auto [op, time] : loop.time)
    if (auto window = findWindow(op)) {
      keepWindow(*window);
      changed = true;
    }
  return changed;
}

bool schedule::narrowStates(const Graph &graph, const Plan &plan) {
  bool changed = false;
  for (const Step &step : plan.steps)
    if (step.loop && step.loop->search)
      changed |= Narrower(graph, *step.loop).run();
  return changed;
}

/// Only equations show which arrays depend on which. An op with a scalar
/// operand, such as an append at a place, belongs to a loop, and so do loops
/// themselves.
static LogicalResult checkEquations(SystemOp system) {
  for (Operation &op : system.getBody().front()) {
    if (isa<ScanOp, SearchOp>(op))
      return op.emitOpError("is a loop, which has no place among equations");
    if (op.getNumResults() == 1 && isa<ArrayType>(op.getResult(0).getType()))
      for (Value operand : op.getOperands())
        if (!isa<ArrayType>(operand.getType()))
          return op.emitOpError("takes a number of type ")
                 << operand.getType() << ", which has no place among equations";
  }
  return success();
}

static FailureOr<Plan> planOf(const Graph &graph, bool report) {
  if (report)
    return makePlan(graph);
  SystemOp system = graph.getSystem();
  ScopedDiagnosticHandler silence(system.getContext(),
                                  [](Diagnostic &) { return success(); });
  return makePlan(graph);
}

FailureOr<std::pair<std::unique_ptr<Graph>, Plan>>
schedule::planSystem(SystemOp system) {
  if (failed(checkEquations(system)))
    return failure();
  alignRanges(system);
  // A search whose equations, as they stand, reach beyond the step is planned
  // again by what is read of them.
  bool isLast = generatedNames(system).empty();
  while (true) {
    auto graph = std::make_unique<Graph>(system);
    FailureOr<Plan> plan = planOf(*graph, /*report=*/isLast);
    if (failed(plan)) {
      if (isLast)
        return failure();
      isLast = true;
      expandBlocks(system);
      restrictToDemand(Graph(system));
      splitPrefixes(system);
      continue;
    }
    if (!narrowStates(*graph, *plan))
      return std::pair(std::move(graph), std::move(*plan));
  }
}
