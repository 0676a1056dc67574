//===- Program.cpp - the ops of a program on whole arrays -----------------===//
//
// Executes every op of a program except attn.search, whose choices need a
// search around the program (Search.cpp).
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Program.h"
#include "dialect/reference/Element.h"
#include "dialect/reference/Philox.h"
#include "dialect/reference/Single.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

SmallVector<int64_t> reference::indicesOf(int64_t offset,
                                          ArrayRef<int64_t> shape) {
  SmallVector<int64_t> indices(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    indices[axis] = offset % shape[axis];
    offset /= shape[axis];
  }
  return indices;
}

void reference::copyInto(Array &whole, int64_t axis, int64_t position,
                         const Array &part) {
  for (size_t offset = 0; offset < part.values.size(); ++offset) {
    SmallVector<int64_t> indices = indicesOf(offset, part.shape);
    if (axis >= 0)
      indices[axis] += position;
    int64_t target = 0;
    for (size_t i = 0; i < indices.size(); ++i)
      target = target * whole.shape[i] + indices[i];
    whole.set(target, part.at(offset));
  }
}

int64_t Environment::loopIndex(StringRef extent) const {
  // With several loops over one extent the innermost counts: its region is
  // inside those of the others.
  Region *innermost = nullptr;
  int64_t result = 0;
  for (auto [value, index] : indices) {
    Region *region = value.getParentRegion();
    Operation *step = value.getDefiningOp();
    auto name = (step ? step : region->getParentOp())
                    ->getAttrOfType<StringAttr>("extent");
    if (name && name.getValue() == extent &&
        (!innermost || innermost->isAncestor(region))) {
      innermost = region;
      result = index;
    }
  }
  return result;
}

Status Environment::start(Operation *container, const Inputs &inputs) {
  *this = Environment();
  for (auto step : container->getRegion(0).getOps<attn::StepOp>())
    indices[step] = step->hasAttr("attn.inside") ? inputs.inside : inputs.step;
  return lengths.build(container, inputs);
}

RandomPlace reference::randomOf(const Inputs &inputs) {
  RandomPlace place;
  place.hasSeed = inputs.seed.has_value();
  place.seed = inputs.seed.value_or(noSeed - inputs.draws);
  place.update = inputs.update;
  place.example = inputs.example;
  return place;
}

/// `[S = 5, 8]`.
static std::string extentsText(attn::ArrayType type,
                               const LengthTable &lengths) {
  std::string text;
  for (Attribute extent : type.getShape()) {
    text += text.empty() ? "" : ", ";
    text += attn::extentText(extent);
    if (isa<StringAttr>(extent))
      text += fmt::format(" = {}", lengths.sizeOf(extent));
  }
  return "[" + text + "]";
}

Status reference::takeInput(Operation *op, const Inputs &inputs,
                            const LengthTable &lengths, ArrayPtr &array) {
  bool isParameter = isa<attn::ParamOp>(op);
  const char *kind = isParameter ? "parameter" : "data";
  std::string name = labelOf(op);
  auto type = cast<attn::ArrayType>(op->getResult(0).getType());
  const Arrays none;
  const Arrays &given = !isParameter        ? inputs.data
                        : inputs.parameters ? *inputs.parameters
                                            : none;
  auto found = given.find(name);
  // State that no update has left is 0.
  if (found == given.end() && name.starts_with(runtime::statePrefix)) {
    array = std::make_shared<const Array>(Array::scalar(0));
    return Status::success();
  }
  if (found == given.end())
    return Status::error(fmt::format("{} '{}' is not given", kind, name),
                         placeOf(op));
  const Array &input = found->second;
  std::vector<int64_t> shape;
  if (Status status = lengths.checkedShape(type, shape); status.failed())
    return status;
  bool agrees = input.shape.size() == shape.size();
  bool larger = false;
  for (size_t axis = 0; agrees && axis < shape.size(); ++axis) {
    auto extent = dyn_cast<StringAttr>(type.getExtent(axis));
    int id = extent ? lengths.find(extent.getValue()) : -1;
    bool nested = id >= 0 && lengths.isNested(id);
    agrees = nested ? input.shape[axis] >= shape[axis]
                    : input.shape[axis] == shape[axis];
    larger |= input.shape[axis] != shape[axis];
  }
  int64_t count = 1;
  for (int64_t extent : input.shape)
    count *= extent;
  if (!agrees || count != static_cast<int64_t>(input.values.size()))
    return Status::error(
        fmt::format("{} '{}' has extents {} but is given {} with {} values",
                    kind, name, extentsText(type, lengths),
                    runtime::shapeText(input.shape), input.values.size()),
        placeOf(op));
  bool real = type.getScalarType().isF64();
  bool bits = type.getElementType().isInteger(1);
  Array own = Array::zeros(shape, !real);
  // Parameters are those of all examples.
  std::string leafName =
      isParameter ? name
                  : fmt::format("{} of example {}", name, inputs.example);
  for (size_t offset = 0; offset < own.values.size(); ++offset) {
    SmallVector<int64_t> indices = indicesOf(offset, shape);
    if (!real || larger || inputs.single) {
      // Places past a nested length are never read.
      if (!lengths.isInside(type, indices, [](StringRef) { return 0; }))
        continue;
      int64_t source = 0;
      for (size_t axis = 0; axis < indices.size(); ++axis)
        source = source * input.shape[axis] + indices[axis];
      double value = input.values[source];
      own.values[offset] = real && inputs.single ? toSingle(value) : value;
      if (inputs.trees && real)
        own.set(offset,
                {own.values[offset], inputs.trees->leaf(leafName, offset)});
      if (!real && (value != std::floor(value) || std::abs(value) > 0x1p53 ||
                    (bits && value != 0 && value != 1)))
        return Status::error(
            fmt::format("{} '{}' has elements of {} but is given {}", kind,
                        name, bits ? "0 and 1" : "whole numbers", value),
            placeOf(op));
    }
  }
  if (real && !larger && !inputs.single)
    // Owned by the caller, who outlives the evaluation.
    array = ArrayPtr(&input, [](const Array *) {});
  else
    array = std::make_shared<const Array>(std::move(own));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Machine
//===----------------------------------------------------------------------===//

Status Machine::start(Environment &environment) {
  return environment.start(container, inputs);
}

ArrayPtr Machine::find(Value value, const Environment &environment) const {
  ArrayPtr array = environment.arrays.lookup(value);
  assert(array && "a program computes an array before it is read");
  return array;
}

int64_t Machine::extentOf(Attribute extent,
                          const Environment &environment) const {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return number.getInt();
  const LengthTable &lengths = environment.lengths;
  int id = lengths.find(cast<StringAttr>(extent).getValue());
  if (id < 0)
    return 0;
  if (!lengths.isNested(id))
    return lengths.value(id);
  return lengths.value(id, environment.loopIndex(lengths.parentOf(id)));
}

void Machine::prepare(const Code &code, const Environment &environment,
                      RunContext &context, std::vector<Slot> &registers) const {
  context.lengths = &environment.lengths;
  context.random = randomOf(inputs);
  context.trees = inputs.trees;
  for (Value value : code.arrays)
    context.views.push_back({find(value, environment).get(), nullptr});
  registers = code.registers;
  for (auto [value, number] : code.captures)
    registers[number].whole = environment.indices.lookup(value);
}

Status Machine::scalar(Value value, const Environment &environment,
                       int64_t &result) {
  std::unique_ptr<Code> &code = codes[value.getAsOpaquePointer()];
  if (!code) {
    code = std::make_unique<Code>();
    if (Status status = compileScalar(value, environment.lengths, *code);
        status.failed())
      return status;
  }
  RunContext context;
  std::vector<Slot> registers;
  prepare(*code, environment, context, registers);
  unsigned next = 0;
  Slot slot;
  if (run(*code, registers, next, context, slot) != Outcome::Done)
    return context.error;
  result = slot.whole;
  return Status::success();
}

Status Machine::codeOf(attn::ComputeOp op, const Environment &environment,
                       const Code *&code) {
  std::unique_ptr<Code> &own = codes[op.getOperation()];
  Status status = Status::success();
  if (!own) {
    own = std::make_unique<Code>();
    status = compileCompute(op, environment.lengths, inputs.single, *own);
  }
  code = own.get();
  return status;
}

Status Machine::compute(attn::ComputeOp op, Environment &environment,
                        Array &result) {
  const Code *code;
  if (Status status = codeOf(op, environment, code); status.failed())
    return status;
  RunContext context;
  std::vector<Slot> initial;
  prepare(*code, environment, context, initial);
  context.rounding = rounding ? &*rounding : nullptr;
  // Rows of a softmax come whole; any other element comes alone.
  bool rows = ElementTask::givesRow(*code);
  unsigned numAxes = rows ? code->numParallel : result.rank();
  IndexRange range(*code, environment.lengths, 0, numAxes);
  std::vector<Slot> place = initial;
  SmallVector<int64_t> indices(numAxes);
  ElementTask task;
  for (bool more = range.start(place); more; more = range.advance(place)) {
    int64_t offset = 0;
    for (unsigned axis = 0; axis < numAxes; ++axis) {
      indices[axis] = place[axis].whole;
      offset = offset * result.shape[axis] + indices[axis];
    }
    task.start(*code, initial, indices, environment.lengths);
    if (task.resume(context) != Outcome::Done)
      return context.error;
    if (!rows) {
      result.set(offset, task.element());
      continue;
    }
    for (auto [i, value] : llvm::zip_equal(task.rowPlaces(), task.rowValues()))
      result.set(offset * result.shape.back() + i, value);
  }
  return Status::success();
}

Array Machine::concat(attn::ConcatOp op, const Environment &environment,
                      Array result) const {
  int64_t axis = result.rank() - 1, position = 0;
  for (Value part : op.getParts()) {
    ArrayPtr array = find(part, environment);
    if (position == 0) {
      // A growing array has its current length.
      std::vector<int64_t> shape = array->shape;
      shape.back() = result.shape.back();
      result = Array::zeros(shape, result.integer);
    }
    copyInto(result, axis, position, *array);
    position += array->shape.back();
  }
  return result;
}

Status Machine::append(attn::AppendOp op, Environment &environment,
                       Array &result) {
  ArrayPtr array = find(op.getArray(), environment);
  ArrayPtr row = find(op.getRow(), environment);
  int64_t at;
  if (Status status = scalar(op.getAt(), environment, at); status.failed())
    return status;
  int64_t axis = op.getAxis();
  if (at < 0 || (isa<IntegerAttr>(op.getArray().getType().getExtent(axis)) &&
                 at >= array->shape[axis]))
    return Status::error(fmt::format("'attn.append' writes row {} of {}", at,
                                     array->shape[axis]),
                         placeOf(op));
  // The other axes may have grown, too.
  std::vector<int64_t> shape = row->shape;
  shape.insert(shape.begin() + axis, at + 1);
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] = std::max(shape[i], array->shape[i]);
  result = Array::zeros(shape, array->integer);
  copyInto(result, -1, 0, *array);
  Array part = *row;
  part.shape.insert(part.shape.begin() + axis, 1);
  copyInto(result, axis, at, part);
  return Status::success();
}

Status Machine::stack(attn::ArrayType type, int64_t axis, int64_t extent,
                      ArrayRef<ArrayPtr> rows, ArrayRef<int64_t> places,
                      const Environment &environment, ArrayPtr &result) const {
  std::vector<int64_t> shape;
  if (Status status = environment.lengths.checkedShape(type, shape);
      status.failed())
    return status;
  shape[axis] = std::max(shape[axis], extent);
  for (const ArrayPtr &row : rows)
    for (size_t i = 0; i < shape.size(); ++i)
      if (static_cast<int64_t>(i) != axis)
        shape[i] = std::max(
            shape[i], row->shape[static_cast<int64_t>(i) < axis ? i : i - 1]);
  auto stacked = std::make_shared<Array>(
      Array::zeros(shape, !type.getScalarType().isF64()));
  for (auto [row, place] : llvm::zip_equal(rows, places)) {
    Array part = *row;
    part.shape.insert(part.shape.begin() + axis, 1);
    copyInto(*stacked, axis, place, part);
  }
  result = std::move(stacked);
  return Status::success();
}

Status Machine::scan(attn::ScanOp op, Environment &environment) {
  unsigned numCarries = op.getNumCarries();
  int64_t extent = extentOf(op.getExtent(), environment);
  std::vector<ArrayPtr> carries(numCarries);
  for (unsigned i = 0; i < numCarries; ++i)
    carries[i] = find(op.getInits()[i], environment);
  std::vector<std::vector<ArrayPtr>> rows(op.getNumStacked());
  std::vector<int64_t> places;
  for (int64_t step = 0; step < extent; ++step) {
    int64_t index = op.getReverse() ? extent - 1 - step : step;
    environment.indices[op.getLoopIndex()] = index;
    places.push_back(index);
    for (unsigned i = 0; i < numCarries; ++i)
      environment.arrays[op.getCarry(i)] = carries[i];
    if (Status status = executeBlock(op.getBody().front(), environment);
        status.failed())
      return status;
    for (unsigned i = 0; i < numCarries; ++i)
      carries[i] = find(op.getNext(i), environment);
    for (unsigned i = 0; i < op.getNumStacked(); ++i)
      rows[i].push_back(find(op.getStackedValue(i), environment));
  }
  environment.indices.erase(op.getLoopIndex());
  for (unsigned i = 0; i < numCarries; ++i)
    environment.arrays[op.getLast(i)] = carries[i];
  for (unsigned i = 0; i < op.getNumStacked(); ++i) {
    ArrayPtr stacked;
    if (Status status =
            stack(cast<attn::ArrayType>(op.getStacked(i).getType()),
                  op.getAxes()[i], 0, rows[i], places, environment, stacked);
        status.failed())
      return status;
    environment.arrays[op.getStacked(i)] = stacked;
  }
  return Status::success();
}

Status Machine::eachChoice(
    attn::ChoiceOp op, const Environment &environment,
    llvm::function_ref<Status(int64_t, const ChoiceDistribution &)> take) {
  auto type = cast<attn::ArrayType>(chosenArray(op).getType());
  unsigned axes = numChoiceAxes(op);
  auto choices = type.withShape(type.getShape().getValue().take_front(axes));
  std::vector<int64_t> shape;
  if (Status status = environment.lengths.checkedShape(choices, shape);
      status.failed())
    return status;
  llvm::DenseMap<Value, ArrayPtr> held;
  for (Value parameter : op.getParameters())
    held[parameter] = find(parameter, environment);
  auto loopIndex = [&](StringRef extent) {
    return environment.loopIndex(extent);
  };
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t group = 0; group < count; ++group) {
    SmallVector<int64_t> indices = indicesOf(group, shape);
    if (!environment.lengths.isInside(choices, indices, loopIndex))
      continue;
    ChoiceDistribution distribution;
    if (Status status = distribution.take(
            op, group, indices, environment.lengths,
            [&](Value value) -> const Array & { return *held[value]; },
            loopIndex, inputs);
        status.failed())
      return status;
    if (Status status = take(group, distribution); status.failed())
      return status;
  }
  return Status::success();
}

Status Machine::execute(Operation *op, Environment &environment) {
  if (isa<attn::ParamOp, attn::DataOp>(op)) {
    if (op->use_empty())
      return Status::success();
    ArrayPtr array;
    Status status = takeInput(op, inputs, environment.lengths, array);
    environment.arrays[op->getResult(0)] = array;
    return status;
  }
  if (isa<attn::OutputOp, attn::EquationOp>(op)) {
    std::string name = op->getAttrOfType<StringAttr>("target").str();
    if (isa<attn::EquationOp>(op) && !(isWanted && isWanted(name)))
      return Status::success();
    ArrayPtr array = find(op->getOperand(0), environment);
    environment.outputs[name] = *array;
    return Status::success();
  }
  if (auto scanOp = dyn_cast<attn::ScanOp>(op))
    return scan(scanOp, environment);
  if (auto kernel = dyn_cast<attn::KernelOp>(op)) {
    // Its equations in order: their interleaving changes nothing.
    Status status = executeBlock(kernel.getBody().front(), environment);
    if (status.succeeded())
      for (OpResult result : kernel->getResults())
        environment.arrays[result] =
            find(kernel.getYielded(result), environment);
    return status;
  }
  if (isa<attn::SearchOp>(op))
    return Status::error("a program with an 'attn.search' is decoded, not "
                         "evaluated",
                         placeOf(op));
  if (isa<attn::LengthOp, attn::PenaltyOp, attn::MarkOp>(op) ||
      op->getNumResults() != 1 ||
      !isa<attn::ArrayType>(op->getResult(0).getType()))
    return Status::success();

  auto type = cast<attn::ArrayType>(op->getResult(0).getType());
  std::vector<int64_t> shape;
  if (Status status = environment.lengths.checkedShape(type, shape);
      status.failed())
    return status;
  Array result = Array::zeros(shape, !type.getScalarType().isF64());
  Status status = Status::success();
  if (auto computeOp = dyn_cast<attn::ComputeOp>(op)) {
    status = compute(computeOp, environment, result);
  } else if (auto concatOp = dyn_cast<attn::ConcatOp>(op)) {
    result = concat(concatOp, environment, std::move(result));
  } else if (auto appendOp = dyn_cast<attn::AppendOp>(op)) {
    status = append(appendOp, environment, result);
  } else if (auto reshape = dyn_cast<attn::ReshapeOp>(op)) {
    ArrayPtr array = find(reshape.getOperand(), environment);
    // The kept axes have their current lengths.
    for (uint64_t axis = 0; axis < reshape.getKeep(); ++axis)
      shape[axis] = array->shape[axis];
    result = {shape, array->values, array->integer, array->trees};
  } else {
    assert(onChoice && "the caller takes choices");
    status = onChoice(cast<attn::ChoiceOp>(op), environment, result);
  }
  if (status.succeeded())
    environment.arrays[op->getResult(0)] =
        std::make_shared<const Array>(std::move(result));
  return status;
}

Status Machine::executeBlock(Block &block, Environment &environment) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>())
      if (Status status = execute(&op, environment); status.failed())
        return status;
  return Status::success();
}
