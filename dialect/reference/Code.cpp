//===- Code.cpp - compiles the bodies of computes -------------------------===//

#include "dialect/reference/Code.h"
#include "dialect/Precision.h"
#include "dialect/RoundedFactors.h"
#include "dialect/reference/Single.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

namespace {
class Compiler {
public:
  Compiler(Code &code, const LengthTable &lengths)
      : code(code), lengths(lengths) {}

  Status compute(attn::ComputeOp op);
  Status scalar(Value value);

private:
  Status block(Block &block, std::vector<Instruction> &out);
  Status operation(Operation *op, std::vector<Instruction> &out);
  Status branch(scf::IfOp op, std::vector<Instruction> &out);
  Status condition(Block &block);
  Status read(attn::ReadOp op, std::vector<Instruction> &out);
  Status extent(attn::ExtentOp op, std::vector<Instruction> &out);
  Status random(attn::RandomOp op, std::vector<Instruction> &out);
  Status outside(Value value);
  Status operand(Value value, unsigned &number);
  Status bound(Attribute extent, ArrayRef<Attribute> before,
               ArrayRef<unsigned> indices, Region *scope, Bound &bound);
  Status bounds(ArrayRef<Attribute> extents, ArrayRef<unsigned> indices,
                Region *scope, SmallVectorImpl<Bound> &bounds);
  void finish();

  unsigned fresh() {
    code.registers.push_back({.whole = 0});
    return code.registers.size() - 1;
  }
  unsigned define(Value value) {
    unsigned number = fresh();
    numbers[value] = number;
    return number;
  }
  unsigned arrayNumber(Value array) {
    auto [entry, isNew] = arrays.try_emplace(array, code.arrays.size());
    if (isNew)
      code.arrays.push_back(array);
    return entry->second;
  }
  Status error(Operation *op, const std::string &message) {
    return Status::error(message, placeOf(op));
  }

  Code &code;
  const LengthTable &lengths;
  DenseMap<Value, unsigned> numbers, arrays;
  std::vector<Instruction> before; // scalars from outside the body
  std::vector<Instruction> main;
};
} // namespace

/// The index of the innermost loop over `extent` around `scope`, or of the
/// search that a program is a part of.
static Value findLoopIndex(Region *scope, StringRef extent) {
  for (; scope; scope = scope->getParentRegion()) {
    Operation *loop = scope->getParentOp();
    if (auto program = dyn_cast_if_present<attn::ProgramOp>(loop))
      for (auto step : program.getOps<attn::StepOp>())
        if (attn::extentText(step.getExtent()) == extent)
          return step;
    if (!loop || !isa<attn::ScanOp, attn::SearchOp>(loop))
      continue;
    auto name = loop->getAttrOfType<StringAttr>("extent");
    if (name && name.getValue() == extent)
      return scope->getArgument(0);
  }
  return Value();
}

Status Compiler::bound(Attribute extent, ArrayRef<Attribute> before,
                       ArrayRef<unsigned> indices, Region *scope,
                       Bound &bound) {
  bound = Bound();
  if (auto number = dyn_cast<IntegerAttr>(extent)) {
    bound.number = number.getInt();
    return Status::success();
  }
  StringRef name = cast<StringAttr>(extent).getValue();
  bound.length = lengths.find(name);
  if (bound.length < 0)
    return error(code.op, fmt::format("extent '{}' of '{}' is no length of "
                                      "the model",
                                      name.str(), labelOf(code.op)));
  if (!lengths.isNested(bound.length))
    return Status::success();
  StringRef parent = lengths.parentOf(bound.length);
  for (size_t i = before.size(); i-- > 0;)
    if (attn::extentText(before[i]) == parent) {
      bound.parent = indices[i];
      return Status::success();
    }
  Value loop = findLoopIndex(scope, parent);
  if (!loop)
    return error(code.op,
                 fmt::format("extent '{}' of '{}' needs an index over '{}' "
                             "before it",
                             name.str(), labelOf(code.op), parent.str()));
  unsigned number;
  if (Status status = operand(loop, number); status.failed())
    return status;
  bound.parent = number;
  return Status::success();
}

Status Compiler::bounds(ArrayRef<Attribute> extents, ArrayRef<unsigned> indices,
                        Region *scope, SmallVectorImpl<Bound> &bounds) {
  for (size_t i = 0; i < extents.size(); ++i)
    if (Status status = bound(extents[i], extents.take_front(i), indices, scope,
                              bounds.emplace_back());
        status.failed())
      return status;
  return Status::success();
}

/// The register of a scalar, which may be outside the body.
Status Compiler::operand(Value value, unsigned &number) {
  if (!numbers.count(value))
    if (Status status = outside(value); status.failed())
      return status;
  number = numbers.lookup(value);
  return Status::success();
}

/// Compiles a scalar from outside the body, and its dependences, to run before
/// the body. Depth first, on an explicit stack.
Status Compiler::outside(Value value) {
  SmallVector<Value> stack = {value};
  DenseSet<Value> entered;
  while (!stack.empty()) {
    Value top = stack.back();
    if (numbers.count(top)) {
      stack.pop_back();
      continue;
    }
    Operation *op = top.getDefiningOp();
    if (!op || isa<attn::StepOp>(op)) {
      assert(top.getType().isIndex() && "a scalar of a loop is its index");
      code.captures.push_back({top, define(top)});
      stack.pop_back();
      continue;
    }
    if (op->getNumRegions() != 0 && !isa<scf::IfOp>(op))
      return error(op, fmt::format("'{}' stands outside attn.compute",
                                   op->getName().getStringRef().str()));
    bool first = entered.insert(top).second;
    bool ready = true;
    // Both branches may read what the op is given.
    llvm::SetVector<Value> needs;
    needs.insert_range(op->getOperands());
    for (Region &region : op->getRegions())
      getUsedValuesDefinedAbove(region, needs);
    for (Value need : needs)
      if (!isa<attn::ArrayType>(need.getType()) && !numbers.count(need)) {
        if (!first)
          return error(op, "a scalar needs itself");
        stack.push_back(need);
        ready = false;
      }
    if (!ready)
      continue;
    stack.pop_back();
    if (Status status = operation(op, before); status.failed())
      return status;
  }
  return Status::success();
}

/// The effect of `attn.precision = bf16` on an f32 factor.
static Slot roundFactor(Slot factor, Slot, Slot, const char *&) {
  return {.real = roundedToBF16(factor.real)};
}

Status Compiler::read(attn::ReadOp op, std::vector<Instruction> &out) {
  ReadPlan plan;
  plan.op = op;
  plan.array = arrayNumber(op.getArray());
  plan.whole = !op.getResult().getType().isF64();
  for (Value index : op.getIndices())
    if (Status status = operand(index, plan.indices.emplace_back());
        status.failed())
      return status;
  ArrayRef<Attribute> extents = op.getArrayType().getShape().getValue();
  if (Status status = bounds(extents, plan.indices,
                             op.getArray().getParentRegion(), plan.bounds);
      status.failed())
    return status;
  for (auto [i, alternative] : llvm::enumerate(op.getAlternatives())) {
    ReadPlan::Case &one = plan.cases.emplace_back();
    one.array = arrayNumber(alternative);
    SmallVector<bool> placed(extents.size());
    for (Attribute pair : cast<ArrayAttr>((*op.getPlaces())[i])) {
      auto both = cast<ArrayAttr>(pair);
      unsigned axis = cast<IntegerAttr>(both[0]).getInt();
      placed[axis] = true;
      Bound place;
      if (Status status = bound(both[1], extents.take_front(axis), plan.indices,
                                op.getArray().getParentRegion(), place);
          status.failed())
        return status;
      one.places.push_back({axis, place});
    }
    for (size_t axis = 0; axis < extents.size(); ++axis)
      if (!placed[axis])
        one.indices.push_back(plan.indices[axis]);
    auto type = cast<attn::ArrayType>(alternative.getType());
    if (Status status = bounds(type.getShape().getValue(), one.indices,
                               alternative.getParentRegion(), one.bounds);
        status.failed())
      return status;
  }
  if (op.getOtherwise()) {
    unsigned number;
    if (Status status = operand(op.getOtherwise(), number); status.failed())
      return status;
    plan.otherwise = number;
  }
  Instruction instruction{Instruction::Read};
  instruction.a = code.reads.size();
  instruction.dest = define(op.getResult());
  instruction.op = op;
  code.reads.push_back(std::move(plan));
  out.push_back(instruction);
  auto compute = dyn_cast<attn::ComputeOp>(op->getParentOp());
  bool isFactor = compute && attn::precisionOf(compute) &&
                  !attn::roundsFactors(compute) &&
                  op->getParentRegion() == &compute.getBody();
  if (!isFactor)
    return Status::success();
  Instruction round{Instruction::Apply};
  round.a = instruction.dest;
  round.dest = define(op.getResult());
  round.function = &roundFactor;
  round.op = op;
  out.push_back(round);
  return Status::success();
}

Status Compiler::extent(attn::ExtentOp op, std::vector<Instruction> &out) {
  Bound value;
  value.length = lengths.find(op.getLength());
  if (value.length < 0)
    return error(op, fmt::format("'{}' is no length of the model",
                                 op.getLength().str()));
  if (lengths.isNested(value.length) && !op.getLargest()) {
    Value parent = op.getParent();
    if (!parent)
      parent =
          findLoopIndex(op->getParentRegion(), lengths.parentOf(value.length));
    if (!parent)
      return error(op, fmt::format("the nested length '{}' needs an index "
                                   "over '{}'",
                                   op.getLength().str(),
                                   lengths.parentOf(value.length).str()));
    unsigned number;
    if (Status status = operand(parent, number); status.failed())
      return status;
    value.parent = number;
  }
  Instruction instruction{Instruction::Extent};
  instruction.a = code.extents.size();
  instruction.dest = define(op.getResult());
  code.extents.push_back(value);
  out.push_back(instruction);
  return Status::success();
}

Status Compiler::random(attn::RandomOp op, std::vector<Instruction> &out) {
  Instruction instruction{Instruction::Random};
  if (Status status = operand(op.getPlace(), instruction.a); status.failed())
    return status;
  // An unwritten register is 0.
  instruction.b = fresh();
  if (op.getSample())
    if (Status status = operand(op.getSample(), instruction.b); status.failed())
      return status;
  instruction.dest = define(op.getResult());
  instruction.op = op;
  out.push_back(instruction);
  return Status::success();
}

Status Compiler::branch(scf::IfOp op, std::vector<Instruction> &out) {
  unsigned condition;
  if (Status status = operand(op.getCondition(), condition); status.failed())
    return status;
  SmallVector<unsigned> results;
  for (Value result : op.getResults())
    results.push_back(define(result));
  size_t toElse = out.size();
  out.push_back({Instruction::JumpUnless, 0, 0, condition});
  size_t toEnd = 0;
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
    if (!region->empty()) {
      if (Status status = block(region->front(), out); status.failed())
        return status;
      Operation *yield = region->front().getTerminator();
      for (auto [result, value] :
           llvm::zip_equal(results, yield->getOperands())) {
        unsigned number;
        if (Status status = operand(value, number); status.failed())
          return status;
        out.push_back({Instruction::Copy, result, number});
      }
    }
    if (region == &op.getThenRegion()) {
      toEnd = out.size();
      out.push_back({Instruction::Jump});
      out[toElse].a = out.size();
    }
  }
  out[toEnd].a = out.size();
  return Status::success();
}

Status Compiler::operation(Operation *op, std::vector<Instruction> &out) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Slot slot;
    if (auto real = dyn_cast<FloatAttr>(constant.getValue());
        real && real.getType().isF64())
      slot.real = code.single ? toSingle(real.getValueAsDouble())
                              : real.getValueAsDouble();
    else if (auto whole = dyn_cast<IntegerAttr>(constant.getValue());
             whole && isScalar(whole.getType()))
      slot.whole = whole.getType().isInteger(1) ? !whole.getValue().isZero()
                                                : whole.getInt();
    else
      return error(op, "a constant is a number of type f64, i64, i1 or index");
    code.registers[define(constant.getResult())] = slot;
    return Status::success();
  }
  if (auto readOp = dyn_cast<attn::ReadOp>(op))
    return read(readOp, out);
  if (auto extentOp = dyn_cast<attn::ExtentOp>(op))
    return extent(extentOp, out);
  if (auto randomOp = dyn_cast<attn::RandomOp>(op))
    return random(randomOp, out);
  if (auto ifOp = dyn_cast<scf::IfOp>(op))
    return branch(ifOp, out);
  ScalarFunction function = findScalar(op);
  if (ScalarFunction own = code.single ? findSingle(op) : nullptr)
    function = own;
  if (!function)
    return error(op, fmt::format("the reference interpreter has no meaning "
                                 "for '{}'",
                                 op->getName().getStringRef().str()));
  Instruction instruction{Instruction::Apply};
  instruction.function = function;
  instruction.rounds =
      op->getResult(0).getType().isF64() &&
      !isa<arith::NegFOp, arith::SelectOp, arith::MaximumFOp, arith::MinimumFOp,
           arith::SIToFPOp, arith::UIToFPOp, math::AbsFOp, attn::RoundedOp>(op);
  instruction.single = code.single && op->getResult(0).getType().isF64();
  instruction.op = op;
  unsigned *fields[] = {&instruction.a, &instruction.b, &instruction.c};
  for (auto [i, value] : llvm::enumerate(op->getOperands()))
    if (Status status = operand(value, *fields[i]); status.failed())
      return status;
  instruction.dest = define(op->getResult(0));
  out.push_back(instruction);
  return Status::success();
}

Status Compiler::block(Block &block, std::vector<Instruction> &out) {
  for (Operation &op : block.without_terminator())
    if (Status status = operation(&op, out); status.failed())
      return status;
  return Status::success();
}

/// A failing conjunct decides: later ones are not evaluated, including their
/// reads.
Status Compiler::condition(Block &block) {
  SetVector<Value> parts;
  parts.insert(block.getTerminator()->getOperand(0));
  for (unsigned i = 0; i < parts.size(); ++i)
    if (auto both = parts[i].getDefiningOp<arith::AndIOp>()) {
      parts.insert(both.getLhs());
      parts.insert(both.getRhs());
    }
  auto require = [&](Value part) {
    unsigned number;
    if (Status status = operand(part, number); status.failed())
      return status;
    main.push_back({Instruction::Require, 0, number});
    return Status::success();
  };
  for (Operation &op : block.without_terminator()) {
    if (Status status = operation(&op, main); status.failed())
      return status;
    for (Value result : op.getResults())
      if (parts.contains(result))
        if (Status status = require(result); status.failed())
          return status;
  }
  // One from outside, or an argument of the region.
  Value all = parts.front();
  return all.getParentBlock() == &block && all.getDefiningOp()
             ? Status::success()
             : require(all);
}

/// Puts the outside scalars in front; jumps move with their targets.
void Compiler::finish() {
  unsigned shift = before.size();
  for (Instruction &instruction : main)
    if (instruction.kind == Instruction::Jump ||
        instruction.kind == Instruction::JumpUnless)
      instruction.a += shift;
  code.instructions = std::move(before);
  code.instructions.insert(code.instructions.end(), main.begin(), main.end());
}

bool reference::isExampleSum(attn::ComputeOp op) {
  auto kind = op->getAttrOfType<StringAttr>("attn.batch");
  return kind && kind.getValue() == "sum";
}

/// The order in which f32 adds up. What has none is one chain, whose products
/// are added with one rounding.
static void readOrder(attn::ComputeOp op, Code &code) {
  attn::OrderAttr order = op.getOrderAttr();
  auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
  if (isExampleSum(op) && code.reducer == attn::Reducer::none)
    code.reducer = attn::Reducer::sum;
  bool isSum = code.reducer == attn::Reducer::sum ||
               code.reducer == attn::Reducer::cumsum;
  code.lanes = order ? static_cast<int>(order.getLanes()) : -1;
  code.fused = isSum && product && (!order || order.getFused()) &&
               product->getBlock() == &op.getBody().front();
  code.rounded = code.fused && attn::roundsFactors(op);
  code.sums = attn::groupedSumsOf(op);
  auto parts = op->getAttrOfType<attn::ProductAttr>("attn.product");
  code.groupsExamples = parts && parts.getKind() == attn::ProductKind::each;
}

Status Compiler::compute(attn::ComputeOp op) {
  code.op = op;
  code.numParallel = op.getNumParallel();
  code.reducer = op.getReducer();
  code.lower.assign(op.getLower().begin(), op.getLower().end());
  code.wholeBody = !op.getYielded().getType().isF64();
  if (code.single)
    readOrder(op, code);
  SmallVector<unsigned> indices;
  for (BlockArgument index : op.getBody().getArguments())
    indices.push_back(define(index));
  SmallVector<Bound> ranges;
  if (Status status = bounds(op.getExtents().getValue(), indices,
                             op->getParentRegion(), ranges);
      status.failed())
    return status;
  code.bounds.assign(ranges.begin(), ranges.end());
  unsigned number;
  if (op.hasCondition()) {
    for (auto [argument, index] :
         llvm::zip_equal(op.getCondition().getArguments(), indices))
      numbers[argument] = index;
    if (Status status = condition(op.getCondition().front()); status.failed())
      return status;
  }
  if (Status status = block(op.getBody().front(), main); status.failed())
    return status;
  if (Status status = operand(op.getYielded(), number); status.failed())
    return status;
  unsigned factor = number;
  if (code.fused) {
    Operation *product = op.getYielded().getDefiningOp();
    for (auto [operandNumber, value] :
         llvm::zip_equal(std::array{&number, &factor}, product->getOperands()))
      if (Status status = operand(value, *operandNumber); status.failed())
        return status;
  }
  main.push_back({Instruction::Yield, 0, number, factor});
  finish();
  return Status::success();
}

Status Compiler::scalar(Value value) {
  code.op = value.getParentRegion()->getParentOp();
  unsigned number;
  if (Status status = operand(value, number); status.failed())
    return status;
  main.push_back({Instruction::Yield, 0, number});
  finish();
  return Status::success();
}

Status reference::compileCompute(attn::ComputeOp op, const LengthTable &lengths,
                                 bool single, Code &code) {
  code.single = single;
  return Compiler(code, lengths).compute(op);
}

Status reference::compileScalar(Value value, const LengthTable &lengths,
                                Code &code) {
  return Compiler(code, lengths).scalar(value);
}
