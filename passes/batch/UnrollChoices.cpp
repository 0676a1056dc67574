//===- UnrollChoices.cpp - loops of choices inside a step -----------------===//

#include "passes/batch/UnrollChoices.h"
#include "passes/batch/Batch.h"
#include "passes/batch/CutSearches.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fovea::attn;

/// How many steps are written one by one.
static constexpr int64_t maxSteps = 64;

/// An equation over the places of `type`, computed for each example.
static ComputeOp createOver(OpBuilder &builder, Location loc, ArrayType type) {
  SmallVector<Attribute> names;
  for (int64_t i = 0; i < type.getRank(); ++i)
    names.push_back(builder.getStringAttr("k" + Twine(i)));
  auto compute =
      ComputeOp::create(builder, loc, "", names, type.getShape().getValue(), {},
                        type.getRank(), Reducer::none, type.getElementType());
  setBatch(compute, BatchKind::each);
  return compute;
}

/// What `whenTrue` gives where the index is `place`, or what `otherwise` does.
static Value select(OpBuilder &builder, Location loc, Type type, Value index,
                    Value place,
                    llvm::function_ref<Value(OpBuilder &)> whenTrue,
                    llvm::function_ref<Value(OpBuilder &)> otherwise) {
  Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        index, place);
  auto branch = scf::IfOp::create(builder, loc, type, isThere,
                                  /*withElseRegion=*/true);
  OpBuilder then = branch.getThenBodyBuilder();
  scf::YieldOp::create(then, loc, whenTrue(then));
  OpBuilder inElse = branch.getElseBodyBuilder();
  scf::YieldOp::create(inElse, loc, otherwise(inElse));
  return branch.getResult(0);
}

Value fovea::attn::replaceByEquation(AppendOp append) {
  auto type = cast<ArrayType>(append.getResult().getType());
  OpBuilder builder(append);
  Location loc = append.getLoc();
  ComputeOp longer = createOver(builder, loc, type);
  Block &body = longer.getBody().front();
  auto inside = OpBuilder::atBlockEnd(&body);
  SmallVector<Value> all(body.getArguments()), left = all;
  left.erase(left.begin() + append.getAxis());
  Value place = append.getAt();
  if (Operation *number = place.getDefiningOp())
    place = inside.clone(*number)->getResult(0);
  Value element = select(
      inside, loc, type.getElementType(), body.getArgument(append.getAxis()),
      place,
      [&](OpBuilder &at) -> Value {
        return ReadOp::create(at, loc, append.getRow(), left);
      },
      [&](OpBuilder &at) -> Value {
        return ReadOp::create(at, loc, append.getArray(), all);
      });
  YieldOp::create(inside, loc, element);
  append.getResult().replaceAllUsesWith(longer.getResult());
  append.erase();
  return longer.getResult();
}

/// The rows of all steps as one array.
static Value stack(OpBuilder &builder, Location loc, ArrayType type,
                   unsigned axis, ArrayRef<Value> rows) {
  ComputeOp all = createOver(builder, loc, type);
  Block &body = all.getBody().front();
  auto inside = OpBuilder::atBlockEnd(&body);
  SmallVector<Value> left(body.getArguments());
  left.erase(left.begin() + axis);
  std::function<Value(OpBuilder &, size_t)> from = [&](OpBuilder &at,
                                                       size_t step) -> Value {
    auto row = [&, step](OpBuilder &here) -> Value {
      return ReadOp::create(here, loc, rows[step], left);
    };
    if (step + 1 == rows.size())
      return row(at);
    Value place = arith::ConstantIndexOp::create(at, loc, step);
    return select(at, loc, type.getElementType(), body.getArgument(axis), place,
                  row, [&](OpBuilder &here) { return from(here, step + 1); });
  };
  Value element = from(inside, 0);
  YieldOp::create(inside, loc, element);
  return all.getResult();
}

/// Puts a number in the place of the index of a loop, inside of `op`.
static void fixIndex(Operation *op, Value index, int64_t value) {
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands()) {
      if (operand.get() != index)
        continue;
      OpBuilder before(inner);
      operand.set(
          arith::ConstantIndexOp::create(before, inner->getLoc(), value));
    }
  });
}

static void unroll(ScanOp scan, int64_t count) {
  OpBuilder builder(scan);
  Block &body = scan.getBody().front();
  SmallVector<Value> carries(scan.getInits());
  unsigned numRows = scan.getAxes().size();
  std::vector<SmallVector<Value>> rows(numRows, SmallVector<Value>(count));
  for (int64_t step = 0; step < count; ++step) {
    int64_t place = scan.getReverse() ? count - 1 - step : step;
    IRMapping values;
    for (auto [number, carry] : llvm::enumerate(carries))
      values.map(body.getArgument(number + 1), carry);
    for (Operation &op : body.without_terminator()) {
      Operation *copy = builder.clone(op, values);
      fixIndex(copy, body.getArgument(0), place);
      auto append = dyn_cast<AppendOp>(copy);
      Operation *number = append ? append.getAt().getDefiningOp() : nullptr;
      if (!number)
        continue;
      values.map(op.getResult(0), replaceByEquation(append));
      number->erase();
    }
    Operation *yield = body.getTerminator();
    for (auto [number, carry] : llvm::enumerate(carries))
      carry = values.lookupOrDefault(yield->getOperand(number));
    for (unsigned row = 0; row < numRows; ++row)
      rows[row][place] =
          values.lookupOrDefault(yield->getOperand(carries.size() + row));
  }
  for (auto [number, carry] : llvm::enumerate(carries))
    scan->getResult(number).replaceAllUsesWith(carry);
  for (unsigned row = 0; row < numRows; ++row) {
    Value result = scan->getResult(carries.size() + row);
    result.replaceAllUsesWith(stack(builder, scan.getLoc(),
                                    cast<ArrayType>(result.getType()),
                                    scan.getAxes()[row], rows[row]));
  }
  scan.erase();
}

void fovea::attn::unrollChoices(ProgramOp program) {
  SmallVector<ScanOp> loops;
  // Inner loops come first.
  program.walk([&](ScanOp scan) {
    bool chooses = scan.walk([](ChoiceOp op) {
                         return isMade(op) ? WalkResult::interrupt()
                                           : WalkResult::advance();
                       })
                       .wasInterrupted();
    auto count = dyn_cast<IntegerAttr>(scan.getExtentAttr());
    if (chooses && count && count.getInt() <= maxSteps)
      loops.push_back(scan);
  });
  for (ScanOp scan : loops)
    unroll(scan, cast<IntegerAttr>(scan.getExtentAttr()).getInt());
}
