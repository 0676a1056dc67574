//===- RunCode.cpp - runs the bodies of computes --------------------------===//

#include "dialect/reference/Code.h"
#include "dialect/reference/Single.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

static Status outOfBounds(const Code &code, const ReadPlan &plan,
                          const std::vector<Slot> &registers,
                          const LengthTable &lengths) {
  std::vector<std::string> indices, extents;
  Value array = code.arrays[plan.array];
  auto type = cast<attn::ArrayType>(array.getType());
  for (size_t axis = 0; axis < plan.indices.size(); ++axis) {
    indices.push_back(fmt::format("{}", registers[plan.indices[axis]].whole));
    int64_t size = plan.bounds[axis].value(registers.data(), lengths);
    std::string name = attn::extentText(type.getExtent(axis));
    extents.push_back(plan.bounds[axis].length < 0
                          ? name
                          : fmt::format("{} = {}", name, size));
  }
  std::string source = array.getDefiningOp() ? labelOf(array.getDefiningOp())
                                             : "the state of a loop";
  return Status::error(
      fmt::format("'attn.read' in '{}' reads '{}' at [{}], outside its extents "
                  "[{}]",
                  labelOf(code.op), source, fmt::join(indices, ", "),
                  fmt::join(extents, ", ")),
      placeOf(plan.op));
}

/// Finds the element of one array; returns false if the indices are outside.
/// Elements inside the extents that are not stored (a cache that has not grown
/// so far) are outside, too.
static bool locate(const View &view, ArrayRef<unsigned> indices,
                   ArrayRef<Bound> bounds, const std::vector<Slot> &registers,
                   const LengthTable &lengths, int64_t &offset) {
  offset = 0;
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    int64_t index = registers[indices[axis]].whole;
    int64_t stored = view.array->shape[axis];
    if (index < 0 || index >= stored ||
        index >= bounds[axis].value(registers.data(), lengths))
      return false;
    offset = offset * stored + index;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Undefined values
//===----------------------------------------------------------------------===//

static Outcome dependsOnUndefined(const Code &code, Operation *op,
                                  const char *what, RunContext &context) {
  context.error =
      Status::error(fmt::format("{} of '{}' depends on an undefined value",
                                what, labelOf(code.op)),
                    placeOf(op ? op : code.op));
  return Outcome::Failed;
}

/// Whether the result of a scalar op is undefined. The operand that decides
/// alone is enough.
static bool isUndefined(const Instruction &now,
                        const std::vector<Slot> &registers,
                        const std::vector<uint8_t> &undefined) {
  if (!undefined[now.a] && !undefined[now.b] && !undefined[now.c])
    return false;
  if (isa<arith::SelectOp>(now.op))
    return undefined[now.a] ||
           undefined[registers[now.a].whole ? now.b : now.c];
  bool isAnd = isa<arith::AndIOp>(now.op);
  if ((isAnd || isa<arith::OrIOp>(now.op)) &&
      now.op->getResult(0).getType().isInteger(1)) {
    auto decides = [&](unsigned number) {
      return !undefined[number] && (registers[number].whole == 0) == isAnd;
    };
    return !decides(now.a) && !decides(now.b) &&
           (undefined[now.a] || undefined[now.b]);
  }
  // The rounding of a factor is at its read.
  unsigned count = isa<attn::ReadOp>(now.op) ? 1 : now.op->getNumOperands();
  const unsigned fields[] = {now.a, now.b, now.c};
  return llvm::any_of(ArrayRef(fields).take_front(count),
                      [&](unsigned number) { return undefined[number]; });
}

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

/// The tree of a scalar op's result; `result` is its value.
static Tree treeOf(const Instruction &now, const std::vector<Slot> &registers,
                   Slot result, RunContext &context) {
  if (!now.op->getResult(0).getType().isF64())
    return 0;
  if (isa<arith::SelectOp>(now.op))
    return context.treesOf[registers[now.a].whole ? now.b : now.c];
  if (isa<attn::StopOp>(now.op))
    return context.treesOf[now.a];
  auto number = [&](unsigned field, unsigned operand) -> Traced {
    // Whole numbers are constants. The rounding of a factor is at its read.
    bool isReal = isa<attn::ReadOp>(now.op) ||
                  now.op->getOperand(operand).getType().isF64();
    if (isReal)
      return {registers[field].real, context.treesOf[field]};
    return {static_cast<double>(registers[field].whole), 0};
  };
  unsigned arity = isa<attn::ReadOp>(now.op) ? 1 : now.op->getNumOperands();
  return context.trees->apply(context.trees->functionOf(now.op), result.real,
                              number(now.a, 0),
                              arity > 1 ? number(now.b, 1) : Traced(),
                              arity > 2 ? number(now.c, 2) : Traced(), arity);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static Outcome runRead(const Code &code, const ReadPlan &plan, unsigned dest,
                       const std::vector<Slot> &registers, RunContext &context,
                       Slot &result) {
  const LengthTable &lengths = *context.lengths;
  if (context.source)
    for (unsigned index : plan.indices)
      if (context.undefined[index])
        return dependsOnUndefined(code, plan.op, "an index", context);
  int64_t offset;
  unsigned array = plan.array;
  bool found = locate(context.views[array], plan.indices, plan.bounds,
                      registers, lengths, offset);
  for (const ReadPlan::Case &one : plan.cases) {
    if (found)
      break;
    if (!llvm::all_of(one.places, [&](const auto &pair) {
          return registers[plan.indices[pair.first]].whole ==
                 pair.second.value(registers.data(), lengths);
        }))
      continue;
    array = one.array;
    found = locate(context.views[array], one.indices, one.bounds, registers,
                   lengths, offset);
    break;
  }
  if (!found) {
    if (plan.otherwise >= 0) {
      result = registers[plan.otherwise];
      if (context.source)
        context.undefined[dest] = context.undefined[plan.otherwise];
      if (context.trees)
        context.treesOf[dest] = context.treesOf[plan.otherwise];
      return Outcome::Done;
    }
    context.error = outOfBounds(code, plan, registers, lengths);
    return Outcome::Failed;
  }
  const View &view = context.views[array];
  if (view.state && (*view.state)[offset] != Standing) {
    context.array = array;
    context.offset = offset;
    return Outcome::Missing;
  }
  Traced number;
  if (context.source) {
    ElementSource::State state =
        context.source->read(plan, array, offset, number, context.error);
    if (state == ElementSource::Failed)
      return Outcome::Failed;
    context.undefined[dest] = state == ElementSource::Undefined;
  } else {
    number = view.array->at(offset);
  }
  if (context.trees)
    context.treesOf[dest] = number.tree;
  if (plan.whole)
    result.whole = static_cast<int64_t>(number.value);
  else
    result.real = number.value;
  return Outcome::Done;
}

Outcome reference::run(const Code &code, std::vector<Slot> &registers,
                       unsigned &next, RunContext &context, Slot &result) {
  bool propagates = context.source;
  std::vector<uint8_t> &undefined = context.undefined;
  if (propagates)
    undefined.resize(std::max(undefined.size(), registers.size()));
  if (context.trees)
    context.treesOf.resize(std::max(context.treesOf.size(), registers.size()));
  while (true) {
    const Instruction &now = code.instructions[next];
    switch (now.kind) {
    case Instruction::Apply: {
      const char *fault = nullptr;
      if (propagates) {
        undefined[now.dest] = isUndefined(now, registers, undefined);
        if (undefined[now.dest]) {
          registers[now.dest].whole = 0;
          if (context.trees)
            context.treesOf[now.dest] = 0;
          break;
        }
      }
      Slot applied = now.function(registers[now.a], registers[now.b],
                                  registers[now.c], fault);
      if (fault) {
        context.error =
            Status::error(fmt::format("'{}' in '{}' {}",
                                      now.op->getName().getStringRef().str(),
                                      labelOf(code.op), fault),
                          placeOf(now.op));
        return Outcome::Failed;
      }
      if (now.single)
        applied.real = toSingle(applied.real);
      if (context.trees)
        context.treesOf[now.dest] = treeOf(now, registers, applied, context);
      registers[now.dest] = applied;
      if (context.rounding && now.rounds)
        registers[now.dest].real =
            (*context.rounding)(registers[now.dest].real);
      break;
    }
    case Instruction::Copy:
      registers[now.dest] = registers[now.a];
      if (propagates)
        undefined[now.dest] = undefined[now.a];
      if (context.trees)
        context.treesOf[now.dest] = context.treesOf[now.a];
      break;
    case Instruction::Read: {
      Outcome outcome = runRead(code, code.reads[now.a], now.dest, registers,
                                context, registers[now.dest]);
      if (outcome != Outcome::Done)
        return outcome;
      break;
    }
    case Instruction::Extent:
      registers[now.dest].whole =
          code.extents[now.a].value(registers.data(), *context.lengths);
      break;
    case Instruction::Random: {
      if (propagates && (undefined[now.a] || undefined[now.b]))
        return dependsOnUndefined(code, now.op, "the place", context);
      auto op = cast<attn::RandomOp>(now.op);
      RandomPlace place = context.random;
      if (op.getShared())
        place.example = 0;
      place.ordinal = static_cast<uint32_t>(op.getOrdinal());
      place.element = static_cast<uint64_t>(registers[now.a].whole);
      place.sample = static_cast<uint64_t>(registers[now.b].whole);
      if (op.givesWord()) {
        registers[now.dest].whole =
            place.hasSeed ? wordsAt(place)[op.getWord()] : op.noWord;
        break;
      }
      double drawn = openUniformAt(place, static_cast<unsigned>(op.getWord()));
      registers[now.dest].real =
          context.rounding ? (*context.rounding)(drawn) : drawn;
      if (context.trees)
        context.treesOf[now.dest] = 0;
      break;
    }
    case Instruction::Jump:
      next = now.a;
      continue;
    case Instruction::JumpUnless:
      if (propagates && undefined[now.b])
        return dependsOnUndefined(code, now.op, "a condition", context);
      next = registers[now.b].whole ? next + 1 : now.a;
      continue;
    case Instruction::Require:
      if (propagates && undefined[now.a])
        return dependsOnUndefined(code, now.op, "a condition", context);
      if (!registers[now.a].whole) {
        next = 0;
        return Outcome::Excluded;
      }
      break;
    case Instruction::Yield:
      result = registers[now.a];
      context.factor = registers[now.b];
      if (context.trees) {
        context.resultTree = context.treesOf[now.a];
        context.factorTree = context.treesOf[now.b];
      }
      context.isUndefined =
          propagates && (undefined[now.a] || undefined[now.b]);
      // A scalar outside of an equation is a place or a condition.
      if (context.isUndefined && !isa<attn::ComputeOp>(code.op))
        return dependsOnUndefined(code, code.op, "a place", context);
      next = 0;
      return Outcome::Done;
    }
    ++next;
  }
}
