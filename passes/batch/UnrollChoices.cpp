//===- UnrollChoices.cpp - loops of choices inside a step -----------------===//

#include "passes/batch/UnrollChoices.h"
#include "passes/analysis/Batch.h"
#include "passes/batch/CutSearches.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fovea::attn;

/// The maximum number of unrolled steps.
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

/// The value of `whenTrue` at index `place`, and of `otherwise` elsewhere.
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

/// `array`, and `row` at one place of an axis.
static Value putRow(OpBuilder &builder, Location loc, Value array, Value row,
                    unsigned axis, Value place) {
  auto type = cast<ArrayType>(array.getType());
  ComputeOp longer = createOver(builder, loc, type);
  Block &body = longer.getBody().front();
  auto inside = OpBuilder::atBlockEnd(&body);
  SmallVector<Value> all(body.getArguments()), left = all;
  left.erase(left.begin() + axis);
  if (Operation *number = place.getDefiningOp())
    place = inside.clone(*number)->getResult(0);
  Value element = select(
      inside, loc, type.getElementType(), body.getArgument(axis), place,
      [&](OpBuilder &at) -> Value {
        return ReadOp::create(at, loc, row, left);
      },
      [&](OpBuilder &at) -> Value {
        return ReadOp::create(at, loc, array, all);
      });
  YieldOp::create(inside, loc, element);
  return longer.getResult();
}

Value fovea::attn::replaceByEquation(AppendOp append) {
  OpBuilder builder(append);
  Value longer = putRow(builder, append.getLoc(), append.getArray(),
                        append.getRow(), append.getAxis(), append.getAt());
  append.getResult().replaceAllUsesWith(longer);
  append.erase();
  return longer;
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

/// Replaces the index of a loop by a number, inside of `op`.
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
    auto count = dyn_cast<IntegerAttr>(scan.getExtentAttr());
    if (makesChoices(scan) && count && count.getInt() <= maxSteps)
      loops.push_back(scan);
  });
  for (ScanOp scan : loops)
    unroll(scan, cast<IntegerAttr>(scan.getExtentAttr()).getInt());
}

/// An array of zeros.
static Value zerosOf(OpBuilder &builder, Location loc, ArrayType type) {
  ComputeOp zeros = createOver(builder, loc, type);
  auto inside = OpBuilder::atBlockEnd(&zeros.getBody().front());
  Value zero = arith::ConstantOp::create(
      inside, loc, builder.getZeroAttr(type.getElementType()));
  YieldOp::create(inside, loc, zero);
  return zeros.getResult();
}

/// The rows of a loop become carries with all rows.
static void carryRows(ScanOp scan) {
  Location loc = scan.getLoc();
  Block &body = scan.getBody().front();
  for (auto append : llvm::make_early_inc_range(body.getOps<AppendOp>()))
    replaceByEquation(append);
  OpBuilder builder(scan);
  Operation *yield = body.getTerminator();
  OpBuilder inside(yield);
  SmallVector<Value> inits(scan.getInits());
  for (unsigned row = 0; row < scan.getNumStacked(); ++row) {
    auto type = cast<ArrayType>(scan.getStacked(row).getType());
    inits.push_back(zerosOf(builder, loc, type));
    Value all = body.addArgument(type, loc);
    yield->setOperand(scan.getNumCarries() + row,
                      putRow(inside, loc, all, scan.getStackedValue(row),
                             scan.getAxes()[row], scan.getLoopIndex()));
  }
  auto carrying = ScanOp::create(builder, loc, scan.getResultTypes(),
                                 scan.getExtentAttr(), scan.getReverseAttr(),
                                 inits, builder.getDenseI64ArrayAttr({}));
  carrying.getBody().takeBody(scan.getBody());
  setBatch(carrying, BatchKind::each);
  scan.replaceAllUsesWith(carrying.getResults());
  scan.erase();
}

void fovea::attn::carryRows(ProgramOp program) {
  SmallVector<ScanOp> loops;
  for (auto search : program.getOps<SearchOp>())
    for (auto scan : search.getBody().front().getOps<ScanOp>())
      if (makesChoices(scan))
        loops.push_back(scan);
  llvm::for_each(loops, [](ScanOp scan) { ::carryRows(scan); });
}
