//===- Bodies.cpp - reverse mode through the body of a compute ------------===//

#include "dialect/adjoints/Scalars.h"

using namespace mlir;
using namespace fovea::attn;

//===----------------------------------------------------------------------===//
// What is evaluated again
//===----------------------------------------------------------------------===//

BodyAdjoint::BodyAdjoint(ComputeOp op, ReadOp read) : op(op), read(read) {
  for (Operation *inner = read; inner->getParentOp() != op;) {
    Region *region = inner->getParentRegion();
    inner = region->getParentOp();
    auto choice = cast<scf::IfOp>(inner);
    branches.push_back({choice, region == &choice.getThenRegion()});
  }
  std::reverse(branches.begin(), branches.end());
  for (const Branch &branch : branches)
    for (auto [result, yielded] : llvm::zip_equal(
             branch.choice->getResults(),
             branch.region().front().getTerminator()->getOperands()))
      aliases[result] = yielded;
  unsigned number = 0;
  op.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *scalar) { order[scalar] = number++; });
  flatten(op.getBody().front(), 0);
  active.insert(read.getResult());
  findActive(flat);
  reaches = active.contains(resolve(op.getYielded()));
}

void BodyAdjoint::flatten(Block &block, unsigned depth) {
  for (Operation &scalar : block.without_terminator())
    if (depth < branches.size() && &scalar == branches[depth].choice)
      flatten(branches[depth].region().front(), depth + 1);
    else
      flat.push_back(&scalar);
}

Value BodyAdjoint::resolve(Value value) const {
  for (auto alias = aliases.find(value); alias != aliases.end();
       alias = aliases.find(value))
    value = alias->second;
  return value;
}

/// The ops that must be cloned for `value`, in order, without the ones that
/// `known` maps.
SmallVector<Operation *> BodyAdjoint::sliceOf(Value value,
                                              const IRMapping *known) {
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value next = resolve(worklist.pop_back_val());
    Operation *def = next.getDefiningOp();
    if (!def || !op.getBody().isAncestor(def->getParentRegion()) ||
        (known && known->contains(next)) || !slice.insert(def))
      continue;
    def->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *source = operand.getDefiningOp();
        if (!source || !def->isProperAncestor(source))
          worklist.push_back(operand);
      }
    });
  }
  SmallVector<Operation *> sorted = slice.takeVector();
  llvm::sort(sorted, [&](Operation *a, Operation *b) {
    return order.lookup(a) < order.lookup(b);
  });
  return sorted;
}

Value BodyAdjoint::emit(OpBuilder &builder, IRMapping &values, Value value) {
  for (Operation *def : sliceOf(value, &values)) {
    // Values inside a cloned region must not be found by later lookups.
    IRMapping local = values;
    def->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Value source = resolve(operand); source != operand)
          local.map(operand, values.lookupOrDefault(source));
    });
    Operation *clone = builder.clone(*def, local);
    values.map(def->getResults(), clone->getResults());
  }
  return values.lookupOrDefault(resolve(value));
}

bool BodyAdjoint::isFragile(Value value) {
  for (Operation *def : sliceOf(value, nullptr)) {
    bool fragile = false;
    def->walk([&](Operation *inner) {
      fragile |= isa<ReadOp, ExtentOp, arith::FloorDivSIOp, arith::DivSIOp,
                     arith::RemSIOp, arith::CeilDivSIOp>(inner) &&
                 !(isa<ExtentOp>(inner) && inner->getNumOperands() == 0);
    });
    if (fragile)
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Reverse sweep
//===----------------------------------------------------------------------===//

bool fovea::attn::isFlat(Operation *op) {
  return isa<StopOp, math::FloorOp, math::CeilOp, math::RoundOp,
             math::RoundEvenOp, math::TruncOp>(op);
}

void BodyAdjoint::findActive(ArrayRef<Operation *> ops) {
  for (Operation *scalar : ops) {
    if (auto choice = dyn_cast<scf::IfOp>(scalar)) {
      for (Region *region : {&choice.getThenRegion(), &choice.getElseRegion()})
        if (!region->empty()) {
          SmallVector<Operation *> inner;
          for (Operation &op : region->front().without_terminator())
            inner.push_back(&op);
          findActive(inner);
          for (auto [result, yielded] :
               llvm::zip_equal(choice.getResults(),
                               region->front().getTerminator()->getOperands()))
            if (result.getType().isF64() && active.contains(resolve(yielded)))
              active.insert(result);
        }
      continue;
    }
    if (isFlat(scalar) || scalar == read)
      continue;
    bool depends = llvm::any_of(scalar->getOperands(), [&](Value operand) {
      return active.contains(resolve(operand));
    });
    for (Value result : scalar->getResults())
      if (depends && result.getType().isF64())
        active.insert(result);
  }
}

void BodyAdjoint::accumulate(OpBuilder &builder, Adjoints &adjoints,
                             Value value, Value part) {
  Value &sum = adjoints[resolve(value)];
  sum = sum ? arith::AddFOp::create(builder, part.getLoc(), sum, part) : part;
}

FailureOr<Value> BodyAdjoint::build(OpBuilder &builder, IRMapping &values,
                                    Value seed) {
  Adjoints adjoints;
  adjoints[resolve(op.getYielded())] = seed;
  if (failed(sweep(builder, flat, values, adjoints)))
    return failure();
  return adjoints.lookup(read.getResult());
}

/// Returns whether a read finds an element instead of its default.
Value BodyAdjoint::finds(OpBuilder &builder, ReadOp other, IRMapping &values) {
  Location loc = other.getLoc();
  SmallVector<Value> indices;
  for (Value index : other.getIndices())
    indices.push_back(emit(builder, values, index));
  auto isInside = [&](Value array, ArrayRef<Value> at) {
    Conjunction inside(builder, loc);
    requireInside(builder, loc, op,
                  cast<ArrayType>(array.getType()).getShape().getValue(), at,
                  inside);
    return inside.finish();
  };
  // The first case that holds decides, found or not.
  Value found =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  for (unsigned i = other.getAlternatives().size(); i-- > 0;)
    found = arith::SelectOp::create(
        builder, loc, atPlaces(builder, other, i, indices),
        isInside(other.getAlternatives()[i], withoutPlaced(other, i, indices)),
        found);
  return arith::OrIOp::create(builder, loc, isInside(other.getArray(), indices),
                              found);
}

LogicalResult BodyAdjoint::sweep(OpBuilder &builder, ArrayRef<Operation *> ops,
                                 IRMapping &values, Adjoints &adjoints) {
  auto primal = [&](Value value) { return emit(builder, values, value); };
  auto isActive = [&](Value value) { return active.contains(resolve(value)); };
  auto add = [&](Value value, Value part) {
    accumulate(builder, adjoints, value, part);
  };
  for (Operation *scalar : llvm::reverse(ops)) {
    if (scalar == read ||
        !llvm::any_of(scalar->getResults(), [&](Value result) {
          return adjoints.lookup(result) && isActive(result);
        }))
      continue;
    if (auto choice = dyn_cast<scf::IfOp>(scalar)) {
      if (failed(sweepIf(builder, choice, values, adjoints)))
        return failure();
      continue;
    }
    Value adjoint = adjoints.lookup(scalar->getResult(0));
    if (auto other = dyn_cast<ReadOp>(scalar)) {
      Location loc = other.getLoc();
      Value zero =
          arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0.0));
      add(other.getOtherwise(),
          arith::SelectOp::create(builder, loc, finds(builder, other, values),
                                  zero, adjoint));
      continue;
    }
    if (!differentiateScalar(builder, scalar, adjoint, primal, isActive, add))
      return scalar->emitError()
             << "'" << scalar->getName() << "' has no derivative";
  }
  return success();
}

/// The adjoint of an scf.if that does not enclose the read is an scf.if with
/// one result for each active scalar that its branches use.
LogicalResult BodyAdjoint::sweepIf(OpBuilder &builder, scf::IfOp choice,
                                   IRMapping &values, Adjoints &adjoints) {
  Location loc = choice.getLoc();
  llvm::SetVector<Value> captured;
  choice.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Value source = resolve(operand);
      Operation *def = source.getDefiningOp();
      if (active.contains(source) && !(def && choice->isProperAncestor(def)))
        captured.insert(source);
    }
  });
  SmallVector<Type> types(captured.size(), builder.getF64Type());
  Value condition = emit(builder, values, choice.getCondition());
  auto reverse = scf::IfOp::create(builder, loc, types, condition,
                                   /*addThenBlock=*/true,
                                   /*addElseBlock=*/true);
  for (auto [region, block] :
       {std::pair(&choice.getThenRegion(), reverse.thenBlock()),
        std::pair(&choice.getElseRegion(), reverse.elseBlock())}) {
    OpBuilder inner = OpBuilder::atBlockBegin(block);
    IRMapping local = values;
    Adjoints parts;
    for (auto [result, yielded] :
         llvm::zip_equal(choice.getResults(),
                         region->front().getTerminator()->getOperands()))
      if (Value adjoint = adjoints.lookup(result);
          adjoint && active.contains(resolve(yielded)))
        accumulate(inner, parts, yielded, adjoint);
    SmallVector<Operation *> ops;
    for (Operation &op : region->front().without_terminator())
      ops.push_back(&op);
    if (failed(sweep(inner, ops, local, parts)))
      return failure();
    SmallVector<Value> yields;
    for (Value value : captured) {
      Value part = parts.lookup(value);
      yields.push_back(part ? part
                            : arith::ConstantOp::create(
                                  inner, loc, inner.getF64FloatAttr(0.0)));
    }
    scf::YieldOp::create(inner, loc, yields);
  }
  for (auto [value, part] : llvm::zip_equal(captured, reverse.getResults()))
    accumulate(builder, adjoints, value, part);
  return success();
}
