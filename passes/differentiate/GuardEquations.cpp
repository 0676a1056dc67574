//===- GuardEquations.cpp - guards go with what they guard ----------------===//
//
// `if x != 0 then w / x else 0` is two equations, and the quotient is one of
// its own. It is infinite where its value is not used, so its adjoint there, 0,
// times its derivative is NaN. This pass finds where the value of each equation
// that can be infinite is used, directly or through its readers, and makes it 0
// elsewhere. A reader of finite numbers alone needs no guard. Outputs beside
// the objective have no gradient and keep their values: they read equations of
// their own where the objective's have guards.
//
//===----------------------------------------------------------------------===//

#include "dialect/adjoints/Demand.h"
#include "dialect/adjoints/Names.h"
#include "dialect/conditions/Conditions.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Equations.h"
#include "passes/schedule/Plan.h"
#include "llvm/ADT/SetVector.h"

namespace fovea::attn {
#define GEN_PASS_DEF_GUARDEQUATIONS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// Returns whether a scalar is computed from constants alone.
static bool isConstant(Value value) {
  llvm::SetVector<Value> visited;
  visited.insert(value);
  for (unsigned i = 0; i < visited.size(); ++i) {
    Operation *def = visited[i].getDefiningOp();
    if (!def || def->getNumRegions() != 0 || isa<ReadOp, ExtentOp>(def))
      return false;
    visited.insert_range(def->getOperands());
  }
  return true;
}

/// Returns whether a body, or its derivative, can be infinite for finite
/// inputs.
static bool canBeInfinite(ComputeOp op) {
  auto isPartial = [](Operation *scalar) {
    if (auto quotient = dyn_cast<arith::DivFOp>(scalar))
      return !isConstant(quotient.getRhs());
    return isa<math::LogOp, math::Log1pOp, math::SqrtOp, math::PowFOp,
               math::ExpOp>(scalar) &&
           !llvm::all_of(scalar->getOperands(), isConstant);
  };
  return op.getBody()
      .walk([&](Operation *scalar) {
        return isPartial(scalar) ? WalkResult::interrupt()
                                 : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// The objective, and what is asked for beside it
//===----------------------------------------------------------------------===//

using Operations = llvm::SetVector<Operation *>;

/// The op of a system that has a use in it.
static Operation *ownerOf(SystemOp system, OpOperand &use) {
  return system.getBody().front().findAncestorOpInBlock(*use.getOwner());
}

/// Gives the requested outputs beside the objective copies of all equations
/// that depend on `changing`, which is about to change.
static void separateOthers(SystemOp system, ArrayRef<ComputeOp> changing) {
  Operations ofObjective = neededBy(system, true);
  Operations ofOthers = neededBy(system, false);
  Operations both;
  for (Operation *op : changing)
    if (ofOthers.contains(op))
      both.insert(op);
  for (unsigned i = 0; i < both.size(); ++i)
    for (OpOperand &use : both[i]->getResult(0).getUses()) {
      Operation *reader = ownerOf(system, use);
      if (ofObjective.contains(reader) && ofOthers.contains(reader) &&
          reader->getNumResults() == 1)
        both.insert(reader);
    }
  llvm::DenseSet<Operation *> copies;
  SmallVector<Value> values;
  for (Operation *op : both) {
    OpBuilder builder(op);
    Operation *copy = builder.clone(*op);
    copies.insert(copy);
    values.push_back(copy->getResult(0));
    // The name belongs to the requested output.
    if (auto equation = dyn_cast<ComputeOp>(op))
      equation.removeLabelAttr();
  }
  for (auto [op, value] : llvm::zip_equal(both, values))
    op->getResult(0).replaceUsesWithIf(value, [&](OpOperand &use) {
      Operation *reader = ownerOf(system, use);
      return copies.contains(reader) ||
             (ofOthers.contains(reader) && !ofObjective.contains(reader));
    });
}

//===----------------------------------------------------------------------===//
// Demand
//===----------------------------------------------------------------------===//

namespace {
/// The objective's demand for the arrays of one system.
class Demands {
public:
  explicit Demands(SystemOp system)
      : system(system),
        builder(OpBuilder::atBlockEnd(&system.getBody().front())),
        needed(neededBy(system, /*objective=*/true)) {}

  /// Whether the objective depends on an op.
  bool areFor(Operation *op) const { return needed.contains(op); }

  /// A condition over the parallel indices of an equation of the objective:
  /// which elements, or rows, are used by anything but its outputs. Null:
  /// all.
  Value of(ComputeOp op);

private:
  SmallVector<Value> readersOf(Value array) const;
  void findReaders(Value array);
  Value find(Value array, bool withOutputs);
  Value through(OpOperand &use);
  Value throughView(OpOperand &use);
  Value rows(Value bits);
  Value either(Value array, ArrayRef<Value> parts);

  SystemOp system;
  OpBuilder builder;
  Operations needed;
  llvm::DenseMap<Value, Value> known;
};
} // namespace

/// The results of the ops of the objective that read an array.
SmallVector<Value> Demands::readersOf(Value array) const {
  SmallVector<Value> readers;
  for (OpOperand &use : array.getUses()) {
    Operation *reader = ownerOf(system, use);
    if (needed.contains(reader) && reader->getNumResults() == 1)
      readers.push_back(reader->getResult(0));
  }
  return readers;
}

/// Computes the demand of all readers of `array`, and of their
/// readers, readers first. Arrays in a cycle are assumed to be used
/// everywhere.
void Demands::findReaders(Value array) {
  llvm::DenseSet<Value> entered = {array};
  SmallVector<std::pair<Value, bool>> work;
  for (Value reader : readersOf(array))
    work.push_back({reader, false});
  while (!work.empty()) {
    auto [next, isReady] = work.pop_back_val();
    if (isReady) {
      known[next] = find(next, /*withOutputs=*/true);
      continue;
    }
    if (known.contains(next) || !entered.insert(next).second)
      continue;
    work.push_back({next, true});
    for (Value reader : readersOf(next))
      work.push_back({reader, false});
  }
}

Value Demands::of(ComputeOp op) {
  findReaders(op.getResult());
  Value bits = find(op.getResult(), /*withOutputs=*/false);
  return bits && op.isNormaliser() ? rows(bits) : bits;
}

/// Rows with a used element.
Value Demands::rows(Value bits) {
  SmallVector<Attribute> names = axisNames(bits);
  ArrayRef<Attribute> extents =
      cast<ArrayType>(bits.getType()).getShape().getValue();
  auto any =
      ComputeOp::create(builder, bits.getLoc(), "", names, extents, {},
                        extents.size() - 1, Reducer::any, builder.getI1Type());
  OpBuilder body = OpBuilder::atBlockBegin(&any.getBody().front());
  YieldOp::create(
      body, bits.getLoc(),
      ReadOp::create(body, bits.getLoc(), bits, any.getBody().getArguments())
          .getResult());
  return any.getResult();
}

/// The same where the elements are those of another array.
Value Demands::throughView(OpOperand &use) {
  Operation *user = use.getOwner();
  if (!isa<ConcatOp, ReshapeOp>(user))
    return {};
  Value ofReader = known.lookup(user->getResult(0));
  if (!ofReader)
    return ofReader;
  Location loc = user->getLoc();
  ArrayRef<Attribute> extents =
      cast<ArrayType>(use.get().getType()).getShape().getValue();
  if (auto reshape = dyn_cast<ReshapeOp>(user))
    return ReshapeOp::create(builder, loc,
                             ArrayType::get(extents, builder.getI1Type()),
                             StringAttr(), ofReader, reshape.getKeepAttr());
  int64_t offset = 0;
  for (Value part :
       cast<ConcatOp>(user).getParts().take_front(use.getOperandNumber())) {
    auto type = cast<ArrayType>(part.getType());
    offset += cast<IntegerAttr>(type.getExtent(type.getRank() - 1)).getInt();
  }
  auto part =
      ComputeOp::create(builder, loc, "", axisNames(use.get()), extents, {},
                        extents.size(), Reducer::none, builder.getI1Type());
  OpBuilder body = OpBuilder::atBlockBegin(&part.getBody().front());
  SmallVector<Value> at(part.getBody().getArguments());
  at.back() = arith::AddIOp::create(
      body, loc, at.back(), arith::ConstantIndexOp::create(body, loc, offset));
  YieldOp::create(body, loc,
                  ReadOp::create(body, loc, ofReader, at).getResult());
  return part.getResult();
}

/// The places where one use of an array reads it.
Value Demands::through(OpOperand &use) {
  auto read = dyn_cast<ReadOp>(use.getOwner());
  if (!read)
    return throughView(use);
  auto reader = read->getParentOfType<ComputeOp>();
  if (!reader || !reader.getBody().isAncestor(read->getParentRegion()))
    return {};
  Value ofReader = known.lookup(reader.getResult());
  bool isInBranch = read->getParentOp() != reader;
  if (!ofReader && !isInBranch && !reader.hasCondition())
    return {};
  if (ofReader && reader.isNormaliser())
    ofReader = rows(ofReader);
  unsigned operand = use.getOperandNumber();
  std::optional<unsigned> number;
  if (operand != 0)
    number = operand - 1 - read.getIndices().size();
  return demandThrough(builder, read, number, ofReader);
}

/// Where any of `parts` holds.
Value Demands::either(Value array, ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  Location loc = array.getLoc();
  ArrayRef<Attribute> extents =
      cast<ArrayType>(array.getType()).getShape().getValue();
  auto any =
      ComputeOp::create(builder, loc, "", axisNames(array), extents, {},
                        extents.size(), Reducer::none, builder.getI1Type());
  OpBuilder body = OpBuilder::atBlockBegin(&any.getBody().front());
  Value holds;
  for (Value part : parts) {
    Value bit = ReadOp::create(body, loc, part, any.getBody().getArguments());
    holds = holds ? arith::OrIOp::create(body, loc, holds, bit) : bit;
  }
  YieldOp::create(body, loc, holds);
  return any.getResult();
}

Value Demands::find(Value array, bool withOutputs) {
  SmallVector<Value> parts;
  for (OpOperand &use : llvm::make_early_inc_range(array.getUses())) {
    if (!needed.contains(ownerOf(system, use)) ||
        (!withOutputs && isa<OutputOp>(use.getOwner())))
      continue;
    Value part = through(use);
    if (!part)
      return {};
    parts.push_back(part);
  }
  return parts.empty() ? Value() : either(array, parts);
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

/// Returns whether `array` depends on `source`.
static bool dependsOn(Value array, Operation *source) {
  llvm::SetVector<Operation *> visited;
  visited.insert(array.getDefiningOp());
  for (unsigned i = 0; i < visited.size(); ++i)
    forArrays(*visited[i], [&](Operation *, Value read) {
      if (Operation *def = read.getDefiningOp())
        visited.insert(def);
    });
  return visited.contains(source);
}

/// Requires `bits`, over the parallel indices, for everything that `op`
/// evaluates.
static void require(ComputeOp op, Value bits) {
  Region &region = op.getCondition();
  Value before = openCondition(op);
  OpBuilder builder = OpBuilder::atBlockEnd(&region.front());
  Conjunction all(builder, op.getLoc());
  if (before) {
    all.require(before);
    all.guardRest();
  }
  all.require(ReadOp::create(builder, op.getLoc(), bits,
                             region.getArguments().take_front(
                                 cast<ArrayType>(bits.getType()).getRank())));
  YieldOp::create(builder, op.getLoc(), all.finish());
}

namespace {
struct GuardEquations : fovea::attn::impl::GuardEquationsBase<GuardEquations> {
  void runOnOperation() override {
    auto loss = getOperation().lookupSymbol<SystemOp>("loss");
    if (!loss)
      return;
    Demands demands(loss);
    // All of them before anything changes.
    SmallVector<ComputeOp> guarded;
    SmallVector<Value> guards;
    SmallVector<ComputeOp> equations(loss.getOps<ComputeOp>());
    for (ComputeOp op : equations) {
      if (!demands.areFor(op) || !canBeInfinite(op))
        continue;
      if (Value bits = demands.of(op)) {
        guarded.push_back(op);
        guards.push_back(bits);
      }
    }
    separateOthers(loss, guarded);
    for (auto [op, bits] : llvm::zip_equal(guarded, guards))
      guard(loss, op, bits);
    eraseDeadArrays(loss);
  }

  /// Guards a copy of `op` for all readers but outputs. If the guard of a
  /// recurrence would depend on itself, there is none.
  void guard(SystemOp system, ComputeOp op, Value bits) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto guarded = cast<ComputeOp>(builder.clone(*op));
    auto isInside = [](OpOperand &use) {
      return !isa<OutputOp>(use.getOwner());
    };
    bool isRecurrent = dependsOn(bits, op);
    op.getResult().replaceUsesWithIf(guarded.getResult(), isInside);
    require(guarded, bits);
    if (isRecurrent && !isSchedulable(system))
      guarded.getResult().replaceAllUsesWith(op.getResult());
    // If one of the two is unused, it is dropped; otherwise the name goes to
    // the output's.
    if (!op.use_empty() && !guarded.use_empty())
      guarded.removeLabelAttr();
  }

  static bool isSchedulable(SystemOp system) {
    schedule::Graph graph(system);
    return succeeded(schedule::planOps(graph, graph.getNodes(), {},
                                       /*report=*/false));
  }
};
} // namespace
