//===- SplitPrograms.cpp - the programs that a search is taken apart into -===//

#include "passes/analysis/Batch.h"
#include "passes/batch/Splitter.h"

using namespace mlir;
using namespace fovea::attn;

static bool isArray(Value value) { return isa<ArrayType>(value.getType()); }

Splitter::Part Splitter::makePart(StringRef name, bool withOpen) {
  Part part;
  OpBuilder before(program);
  part.program =
      ProgramOp::create(before, program.getLoc(), prefix + name.str());
  part.program.getBody().emplaceBlock();
  // A search runs it again and again.
  part.program->setAttr(preparesName, before.getUnitAttr());
  for (auto length : program.getOps<LengthOp>())
    if (withOpen || !openLengths.contains(length.getLength()))
      endOf(part).clone(*length.getOperation());
  return part;
}

/// The index of the search, or of a loop inside its step.
Value Splitter::makeStep(Part &part, BlockArgument index) {
  OpBuilder end = endOf(part);
  Operation *loop = index.getOwner()->getParentOp();
  auto step = StepOp::create(end, index.getLoc(), loop->getAttr("extent"));
  if (loop != search)
    setInsideStep(step);
  return step;
}

Value Splitter::makeData(Part &part, StringRef name, Value value,
                         DataPlace place) {
  OpBuilder end = endOf(part);
  auto data = DataOp::create(end, value.getLoc(), value.getType(), name);
  setBatch(data, BatchKind::each);
  setPlace(data, place);
  return data;
}

Value Splitter::makeParam(Part &part, StringRef name, Value value) {
  OpBuilder end = endOf(part);
  auto param = ParamOp::create(end, value.getLoc(), value.getType(), name);
  setBatch(param, BatchKind::once);
  return param;
}

/// Makes `value` available in `part`, which comes after its definition.
void Splitter::import(Part &part, Value value) {
  if (part.mapping.contains(value))
    return;
  Operation *def = value.getDefiningOp();
  auto map = [&](Value own) { part.mapping.map(value, own); };
  if (!def && !isArray(value))
    return map(makeStep(part, cast<BlockArgument>(value)));
  bool isAfter = &part == &finish && afterSearch.contains(def) && def != search;
  // Values that a step has once are recomputed where needed.
  bool isOnce = isArray(value) && def && isStep(def) && !isPerExample(value);
  if (!isArray(value) || &part == &encode || isAfter || isOnce ||
      isa_and_nonnull<ParamOp>(def))
    return take(part, def);
  // An earlier segment has written the row into the buffer of the state.
  if (auto append = dyn_cast_or_null<AppendOp>(def))
    if (int carry = carryOf(append); carry >= 0) {
      import(part, search.getCarry(carry));
      return map(part.mapping.lookup(search.getCarry(carry)));
    }
  std::string name = nameOf(value);
  bool isEncoded = StringRef(name).starts_with("encode/");
  if (isEncoded && !isPerExample(value))
    return map(makeParam(part, name, value));
  DataPlace place = isEncoded ? DataPlace::example : DataPlace::packed;
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (argument.getOwner() == &stepBlock() &&
        appendOf(argument.getArgNumber() - 1))
      place = DataPlace::buffer;
  map(makeData(part, name, value, place));
}

/// The growing state whose row is computed here; -1: none.
int Splitter::carryOf(AppendOp op) {
  for (unsigned i = 0; search && i < search.getNumCarries(); ++i)
    if (appendOf(i) == op)
      return i;
  return -1;
}

/// Returns whether the search itself can write the row of a growing state:
/// nothing reads the longer array, and the row is one piece of it.
bool Splitter::isLeftToSearch(Operation *op) {
  auto append = dyn_cast<AppendOp>(op);
  return append && carryOf(append) >= 0 && append.getResult().hasOneUse() &&
         append.getAxis() == 0;
}

/// Clones `op` and its dependences into `part`.
void Splitter::take(Part &part, Operation *op) {
  eachOperand(op, [&](Value operand) { import(part, operand); });
  endOf(part).clone(*op, part.mapping);
}

void Splitter::output(Part &part, StringRef name, Value value) {
  if (!part.outputs.insert(name).second)
    return;
  OpBuilder end = endOf(part);
  OutputOp::create(end, value.getLoc(), name, value);
}

std::string Splitter::nameOf(Value value) {
  if (auto known = names.find(value); known != names.end())
    return known->second;
  std::string name;
  Operation *def = value.getDefiningOp();
  if (!def) {
    auto argument = cast<BlockArgument>(value);
    unsigned carry = argument.getArgNumber() - 1;
    const Loop *loop = findLoop(argument.getOwner()->getParentOp());
    name = loop ? nameOfInner(*loop, carry) : "carry/" + std::to_string(carry);
  } else if (const Loop *loop = findLoop(def)) {
    name = nameOfInner(*loop, cast<OpResult>(value).getResultNumber());
  } else if (auto *choice = llvm::find(choices, def); choice != choices.end()) {
    name = "choice/" + std::to_string(choice - choices.begin());
  } else if (isStep(def)) {
    name = "value/" + std::to_string(numValues++);
    Part &part = parts[segmentOf[def]];
    output(part, name, part.mapping.lookup(value));
  } else if (search && def == search) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    bool isLast = number < search.getNumCarries();
    name = (isLast ? "last/" : "stack/") +
           std::to_string(isLast ? number : number - search.getNumCarries());
  } else {
    name = "encode/" + std::to_string(numEncoded++);
    import(encode, value);
    output(encode, name, encode.mapping.lookup(value));
  }
  return names[value] = name;
}
