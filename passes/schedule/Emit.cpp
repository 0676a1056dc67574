//===- Emit.cpp - from a plan to a program --------------------------------===//
//
// Writes the ops of a plan in order. An op in a loop loses the indices that the
// loops run. A loop carries the rows that reads in its body request, and stacks
// the arrays that are read outside.
//
//===----------------------------------------------------------------------===//

#include "passes/schedule/Emit.h"
#include "dialect/Precision.h"
#include "passes/analysis/Equations.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

Emitter::Emitter(const Graph &graph, const Plan &plan, ProgramOp program)
    : graph(graph), plan(plan), program(program) {
  Path path;
  findPaths(plan.steps, path);
}

void Emitter::findPaths(ArrayRef<Step> steps, Path &path) {
  for (const Step &step : steps) {
    if (!step.loop) {
      paths[step.op] = path;
      continue;
    }
    path.push_back(step.loop.get());
    findPaths(step.loop->body, path);
    path.pop_back();
  }
}

void Emitter::run() {
  Scope &scope = scopes.emplace_back();
  scope.block = &program.getBody().front();
  OpBuilder builder = OpBuilder::atBlockEnd(scope.block);
  for (Operation &op : graph.getSystem().getBody().front())
    if (isa<LengthOp>(op))
      builder.clone(op);
  emitSteps(plan.steps);
  // Results come last, in the order of the requests.
  for (Operation *op : graph.getNodes())
    if (isa<OutputOp>(op))
      emitOp(op);
}

void Emitter::emitSteps(ArrayRef<Step> steps) {
  for (const Step &step : steps)
    if (step.loop)
      emitLoop(*step.loop);
    else if (!isa<OutputOp>(step.op))
      emitOp(step.op);
}

OpBuilder Emitter::builderOf(unsigned scope) {
  if (scope + 1 == scopes.size() && current)
    return OpBuilder(current);
  // The body of a loop has no parent op until the loop is complete.
  OpBuilder builder(program.getContext());
  builder.setInsertionPointToEnd(scopes[scope].block);
  return builder;
}

SmallVector<unsigned> Emitter::runIndices(Operation *op) const {
  SmallVector<unsigned> result;
  for (const Scope &scope : llvm::drop_begin(scopes))
    result.push_back(scope.loop->getTime(op));
  return result;
}

ArrayType Emitter::typeOf(Value array, ArrayRef<unsigned> axes) const {
  auto type = cast<ArrayType>(array.getType());
  SmallVector<Attribute> shape;
  for (unsigned axis : axes)
    shape.push_back(type.getExtent(axis));
  return type.withShape(shape);
}

Value Emitter::fill(unsigned scope, ArrayType type, TypedAttr value) {
  for (unsigned i = 0; i <= scope; ++i)
    if (Value known = scopes[i].fills.lookup({type, value}))
      return known;
  OpBuilder builder = builderOf(scope);
  Location loc = program.getLoc();
  SmallVector<Attribute> names;
  for (int64_t i = 0; i < type.getRank(); ++i)
    names.push_back(builder.getStringAttr("k" + std::to_string(i)));
  auto compute =
      ComputeOp::create(builder, loc, "", names, type.getShape().getValue(), {},
                        type.getRank(), Reducer::none, type.getElementType());
  auto inside = OpBuilder::atBlockEnd(&compute.getBody().front());
  Value number = arith::ConstantOp::create(inside, loc, value);
  YieldOp::create(inside, loc, number);
  return scopes[scope].fills[{type, value}] = compute.getResult();
}

Value Emitter::zeros(unsigned scope, ArrayType type) {
  return fill(scope, type,
              Builder(type.getContext()).getZeroAttr(type.getElementType()));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Emitter::emitOp(Operation *op) {
  Value result;
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    result = emitCompute(compute);
  } else {
    Operation *clone = emitWhole(op);
    if (clone->getNumResults() == 1)
      result = clone->getResult(0);
  }
  current = nullptr;
  if (result)
    scopes.back().arrays[op] = result;
}

/// An op that reads whole arrays, each axis at its own index.
Operation *Emitter::emitWhole(Operation *op) {
  SmallVector<unsigned> run = runIndices(op);
  IRMapping mapping;
  for (const Access &access : graph.getAccesses(op)) {
    SmallVector<unsigned> wanted;
    for (auto [axis, index] : llvm::enumerate(access.indices))
      if (index.kind != AccessIndex::Iterator ||
          !llvm::is_contained(run, index.iterator))
        wanted.push_back(axis);
    mapping.map(access.array, materialise(access, wanted));
  }
  OpBuilder builder = builderOf(scopes.size() - 1);
  if (run.empty())
    return builder.clone(*op, mapping);

  ArrayType type;
  if (op->getNumResults() == 1) {
    Value array = op->getResult(0);
    SmallVector<unsigned> axes;
    for (unsigned axis = 0; axis < cast<ArrayType>(array.getType()).getRank();
         ++axis)
      if (!llvm::is_contained(run, axis))
        axes.push_back(axis);
    type = typeOf(array, axes);
  }
  Operation *clone = builder.clone(*op, mapping);
  if (type)
    clone->getResult(0).setType(type);
  if (auto reshape = dyn_cast<ReshapeOp>(clone))
    reshape.setKeep(reshape.getKeep() - run.size());
  return clone;
}

/// Maps a compute block's captured values: its indices, and constants that
/// canonicalisation keeps beside the equations.
void Emitter::mapOutside(ComputeOp op, Block &from, Block &to,
                         IRMapping &mapping) {
  auto start = OpBuilder::atBlockBegin(&to);
  from.walk([&](Operation *nested) {
    for (Value operand : nested->getOperands()) {
      Operation *outside = operand.getDefiningOp();
      if (outside && outside->getParentOp() == graph.getSystem() &&
          !isa<ArrayType>(operand.getType()) && !mapping.contains(operand))
        mapping.map(operand, start.clone(*outside)->getResult(0));
    }
  });
  SmallVector<unsigned> run = runIndices(op);
  unsigned next = 0;
  for (unsigned i = 0; i < op.getNumIndices(); ++i) {
    auto *level = llvm::find(run, i);
    mapping.map(from.getArgument(i),
                level == run.end() ? Value(to.getArgument(next++))
                                   : scopes[1 + (level - run.begin())].index);
  }
}

bool Emitter::hasRunLower(ComputeOp op) const {
  return llvm::any_of(runIndices(op),
                      [&](unsigned i) { return op.getLower()[i] > 0; });
}

/// Whether the loop indices have reached the lower bounds of a compute.
Value Emitter::atLeastLower(OpBuilder &builder, ComputeOp op) {
  Value all;
  for (auto [level, index] : llvm::enumerate(runIndices(op))) {
    if (op.getLower()[index] == 0)
      continue;
    Value lower = arith::ConstantIndexOp::create(builder, op.getLoc(),
                                                 op.getLower()[index]);
    Value reached =
        arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::sge,
                              scopes[level + 1].index, lower);
    all = all ? arith::AndIOp::create(builder, op.getLoc(), all, reached)
                    .getResult()
              : reached;
  }
  return all;
}

Value Emitter::emitCompute(ComputeOp op) {
  SmallVector<unsigned> run = runIndices(op);
  SmallVector<Attribute> names, extents;
  SmallVector<int64_t> lower;
  SmallVector<unsigned> kept;
  for (unsigned i = 0; i < op.getNumIndices(); ++i) {
    if (llvm::is_contained(run, i))
      continue;
    kept.push_back(i);
    names.push_back(op.getIndices()[i]);
    extents.push_back(op.getExtents()[i]);
    lower.push_back(op.getLower()[i]);
  }
  bool below = hasRunLower(op);
  // An empty reduction yields 1 (or true) here, not 0.
  bool needsMask = below && (op.getReducer() == Reducer::prod ||
                             op.getReducer() == Reducer::all);
  OpBuilder builder = builderOf(scopes.size() - 1);
  auto result = ComputeOp::create(
      builder, op.getLoc(), needsMask ? "" : op.getLabel().value_or(""), names,
      extents, lower, op.getNumParallel() - run.size(), op.getReducer(),
      op.getElementType(), op.hasCondition() || below);
  result.setOrderAttr(orderOver(op, kept, result.getNumParallel()));
  keepPrecision(op, result);
  current = result;

  if (result.hasCondition()) {
    Block &block = result.getCondition().front();
    auto inside = OpBuilder::atBlockEnd(&block);
    IRMapping mapping;
    Value reached = atLeastLower(inside, op);
    Value holds = reached;
    if (op.hasCondition()) {
      Block &from = op.getCondition().front();
      mapOutside(op, from, block, mapping);
      if (!reached) {
        cloneBlock(from, inside, mapping);
      } else {
        // The inputs of the condition exist nowhere below the lower bound.
        auto branch =
            scf::IfOp::create(inside, op.getLoc(), inside.getI1Type(), reached,
                              /*withElseRegion=*/true);
        OpBuilder then = branch.getThenBodyBuilder();
        cloneBlock(from, then, mapping);
        scf::YieldOp::create(
            then, op.getLoc(),
            mapping.lookup(from.getTerminator()->getOperand(0)));
        OpBuilder otherwise = branch.getElseBodyBuilder();
        Value no = arith::ConstantOp::create(otherwise, op.getLoc(),
                                             otherwise.getBoolAttr(false));
        scf::YieldOp::create(otherwise, op.getLoc(), no);
        holds = branch.getResult(0);
      }
      if (!holds)
        holds = mapping.lookup(from.getTerminator()->getOperand(0));
    }
    YieldOp::create(inside, op.getLoc(), holds);
  }

  Block &from = op.getBody().front(), &to = result.getBody().front();
  auto inside = OpBuilder::atBlockEnd(&to);
  IRMapping mapping;
  mapOutside(op, from, to, mapping);
  cloneBlock(from, inside, mapping);
  YieldOp::create(inside, op.getLoc(), mapping.lookup(op.getYielded()));

  // Arithmetic on an index that a loop runs is unused now.
  SmallVector<Operation *> order;
  result->walk<WalkOrder::PreOrder>(
      [&](Operation *nested) { order.push_back(nested); });
  for (Operation *nested : llvm::reverse(order))
    if (nested != result && isOpTriviallyDead(nested))
      nested->erase();
  return needsMask ? maskBelow(op, result.getResult()) : result.getResult();
}

/// `array`, and zero below the lower bounds of the indices that loops run.
Value Emitter::maskBelow(ComputeOp op, Value array) {
  auto type = cast<ArrayType>(array.getType());
  SmallVector<unsigned> run = runIndices(op);
  SmallVector<Attribute> names;
  for (unsigned i = 0; i < op.getNumParallel(); ++i)
    if (!llvm::is_contained(run, i))
      names.push_back(op.getIndices()[i]);
  current = nullptr;
  OpBuilder builder = builderOf(scopes.size() - 1);
  auto result = ComputeOp::create(
      builder, op.getLoc(), op.getLabel().value_or(""), names,
      type.getShape().getValue(), {}, type.getRank(), Reducer::none,
      type.getElementType(), /*withCondition=*/true);
  auto condition = OpBuilder::atBlockEnd(&result.getCondition().front());
  YieldOp::create(condition, op.getLoc(), atLeastLower(condition, op));
  Block &body = result.getBody().front();
  auto inside = OpBuilder::atBlockEnd(&body);
  Value element =
      ReadOp::create(inside, op.getLoc(), array, body.getArguments());
  YieldOp::create(inside, op.getLoc(), element);
  return result.getResult();
}

/// Clones the ops of a block except its terminator. Nesting is as deep as an
/// expression, which the parser limits.
void Emitter::cloneBlock(Block &from, OpBuilder &builder, IRMapping &mapping) {
  for (Operation &op : from.without_terminator()) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      emitRead(read, builder, mapping);
      continue;
    }
    Operation *clone = builder.cloneWithoutRegions(op, mapping);
    for (auto [region, copy] :
         llvm::zip_equal(op.getRegions(), clone->getRegions())) {
      if (region.empty())
        continue;
      Block *block = new Block();
      copy.push_back(block);
      auto inside = OpBuilder::atBlockEnd(block);
      cloneBlock(region.front(), inside, mapping);
      inside.clone(*region.front().getTerminator(), mapping);
    }
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool Emitter::escapes(const Loop &loop, Operation *op) {
  unsigned depth = scopes.size() - 1; // the scope of the loop's body
  return llvm::any_of(graph.getReaders(op), [&](const Edge &edge) {
    if (!loop.contains(edge.reader))
      return true;
    Route route = routeOf(*edge.access);
    return route.kind != Route::Row && route.scope < depth;
  });
}

void Emitter::emitLoop(const Loop &loop) {
  MLIRContext *context = program.getContext();
  Location loc = loop.time.front().first->getLoc();
  Region region;
  {
    Scope scope;
    scope.loop = &loop;
    scope.block = new Block();
    region.push_back(scope.block);
    scope.index = scope.block->addArgument(IndexType::get(context), loc);
    scopes.push_back(std::move(scope));
  }
  emitSteps(loop.body);

  Scope &scope = scopes.back();
  unsigned depth = scopes.size() - 1;
  SmallVector<Value> inits, yields;
  SmallVector<Type> types;
  for (Carry &carry : scope.carries) {
    inits.push_back(carry.init);
    types.push_back(carry.init.getType());
    yields.push_back(carry.growing ? appendedOf(scope, carry)
                     : carry.previous < 0
                         ? scope.arrays.lookup(carry.target)
                         : scope.carries[carry.previous].argument);
  }
  SmallVector<Operation *> stacked;
  SmallVector<std::pair<Operation *, unsigned>> grown;
  SmallVector<int64_t> axes;
  for (auto [op, time] : loop.time) {
    if (op->getNumResults() != 1 || !escapes(loop, op))
      continue;
    // A scan that carries all rows has them at the end.
    auto all = llvm::find_if(scope.carries, [op = op](const Carry &carry) {
      return carry.growing && carry.target == op;
    });
    if (!loop.search && all != scope.carries.end()) {
      grown.push_back({op, all - scope.carries.begin()});
      continue;
    }
    // The row's axes, with the loop's reinserted.
    auto full = cast<ArrayType>(op->getResult(0).getType());
    SmallVector<unsigned> left;
    for (unsigned axis = 0; axis < full.getRank(); ++axis) {
      bool outer = false;
      for (unsigned level = 1; level < depth; ++level)
        outer |= scopes[level].loop->getTime(op) == axis;
      if (axis == time)
        axes.push_back(left.size());
      if (!outer)
        left.push_back(axis);
    }
    stacked.push_back(op);
    types.push_back(typeOf(op->getResult(0), left));
    yields.push_back(scope.arrays.lookup(op));
  }
  OpBuilder end = builderOf(depth);
  YieldOp::create(end, loc, yields);

  Scope done = std::move(scope);
  scopes.pop_back();
  Operation *op = createLoop(done, loc, inits, types, axes);
  op->getRegion(0).takeBody(region);
  for (auto [i, array] : llvm::enumerate(stacked))
    scopes.back().arrays[array] = op->getResult(inits.size() + i);
  for (auto [array, carry] : grown)
    scopes.back().arrays[array] = op->getResult(carry);
}

Operation *Emitter::createLoop(const Scope &scope, Location loc,
                               ArrayRef<Value> inits, ArrayRef<Type> types,
                               ArrayRef<int64_t> axes) {
  const Loop &loop = *scope.loop;
  OpBuilder builder = builderOf(scopes.size() - 1);
  if (!loop.search)
    return ScanOp::create(builder, loc, types, loop.extent, loop.reverse, inits,
                          axes);
  SmallVector<Attribute> states;
  for (const Carry &carry : scope.carries) {
    auto state = carry.target->getAttrOfType<StringAttr>("attn.state");
    // A window shows all places of the axis after the loop's.
    int64_t window = carry.back;
    if (state && state.getValue() == "window")
      window =
          cast<IntegerAttr>(cast<ComputeOp>(carry.target)
                                .getExtents()[loop.getTime(carry.target) + 1])
              .getInt();
    NamedAttribute entries[] = {
        builder.getNamedAttr(
            "kind", state ? state
                          : builder.getStringAttr(carry.growing ? "growing"
                                                                : "carried")),
        builder.getNamedAttr(
            "name", builder.getStringAttr(graph.getName(carry.target))),
        builder.getNamedAttr(
            "reorder",
            builder.getBoolAttr(plan.generated.contains(carry.target))),
        builder.getNamedAttr("window", builder.getI64IntegerAttr(window)),
    };
    states.push_back(builder.getDictionaryAttr(entries));
  }
  return SearchOp::create(builder, loc, types, loop.extent, loop.reverse, inits,
                          axes, builder.getArrayAttr(states),
                          /*known=*/!graph.isOpen(loop.extent));
}
