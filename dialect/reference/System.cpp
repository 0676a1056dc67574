//===- System.cpp - equations on demand, with an explicit stack -----------===//
//
// The stack contains the elements that wait for the one on top. A task that
// meets a missing element keeps its position and resumes when the element is
// computed. An element that is met again while it waits needs itself: that is
// an error.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/System.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

//===----------------------------------------------------------------------===//
// CommonArrays
//===----------------------------------------------------------------------===//

/// The lengths that evaluations may set to different values.
static llvm::DenseSet<Attribute> openLengths(Region &region) {
  llvm::DenseSet<Attribute> open;
  for (auto op : region.getOps<attn::LengthOp>()) {
    bool isOpen = op.getOpen() || open.contains(op.getParentAttr());
    if (std::optional<ArrayAttr> of = op.getOf())
      isOpen |= llvm::any_of(
          *of, [&](Attribute length) { return open.contains(length); });
    if (isOpen)
      open.insert(op.getLengthAttr());
  }
  return open;
}

/// Whether `op` names one of `lengths`.
static bool mentions(Operation *op, const llvm::DenseSet<Attribute> &lengths) {
  auto look = [&](Attribute attribute) {
    return lengths.contains(attribute) ? WalkResult::interrupt()
                                       : WalkResult::advance();
  };
  auto mentionsIt = [&](Operation *inner) {
    if (inner->getAttrDictionary().walk(look).wasInterrupted())
      return WalkResult::interrupt();
    for (Type type : inner->getResultTypes())
      if (type.walk(look).wasInterrupted())
        return WalkResult::interrupt();
    for (Type type : inner->getOperandTypes())
      if (type.walk(look).wasInterrupted())
        return WalkResult::interrupt();
    return WalkResult::advance();
  };
  return op->walk(mentionsIt).wasInterrupted();
}

CommonArrays::CommonArrays(Operation *system) {
  Region &region = system->getRegion(0);
  llvm::DenseSet<Attribute> open = openLengths(region);
  llvm::SmallPtrSet<Operation *, 32> differing;
  SmallVector<Operation *> queue;
  for (Operation &op : region.getOps())
    if (isa<attn::ChoiceOp>(op) || mentions(&op, open))
      queue.push_back(&op);
  while (!queue.empty()) {
    Operation *op = queue.pop_back_val();
    if (differing.insert(op).second)
      for (Operation *user : op->getUsers())
        queue.push_back(region.findAncestorOpInRegion(*user));
  }
  for (Operation &op : region.getOps())
    if (!differing.contains(&op))
      for (Value result : op.getResults())
        arrays.try_emplace(result);
}

std::shared_ptr<Elements> *CommonArrays::find(Value value) {
  auto found = arrays.find(value);
  return found == arrays.end() ? nullptr : &found->second;
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

/// The arrays that `op` reads, in its regions, too.
static void forEachArrayRead(Operation *op,
                             llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<attn::ArrayType>(operand.getType()))
        visit(operand);
  });
}

Status SystemEvaluator::start(ArrayRef<Value> wanted) {
  if (Status status = lengths.build(container, inputs); status.failed())
    return status;
  for (const auto &[name, value] : openLengths)
    lengths.set(lengths.find(name), value);
  SmallVector<Value> queue(wanted);
  while (!queue.empty()) {
    Value value = queue.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!numbers.try_emplace(value, nodes.size()).second)
      continue;
    auto node = std::make_unique<Node>();
    node->op = op;
    node->value = value;
    nodes.push_back(std::move(node));
    forEachArrayRead(op, [&](Value read) { queue.push_back(read); });
    if (Status status = prepare(*nodes.back()); status.failed())
      return status;
    // Scalars outside the body read arrays, too.
    for (Value array : nodes.back()->code.arrays)
      queue.push_back(array);
  }
  for (auto &node : nodes) {
    node->context.lengths = &lengths;
    node->context.random = randomOf(inputs);
    node->context.trees = inputs.trees;
    for (Value array : node->code.arrays) {
      unsigned source = numbers.lookup(array);
      node->sources.push_back(source);
      node->context.views.push_back(
          {&nodes[source]->array(),
           nodes[source]->given ? nullptr : &nodes[source]->own->state});
    }
  }
  return Status::success();
}

Status SystemEvaluator::prepare(Node &node) {
  Operation *op = node.op;
  if (isa<attn::ParamOp, attn::DataOp>(op))
    return takeInput(op, inputs, lengths, node.given);
  if (!isa<attn::ComputeOp, attn::ConcatOp, attn::ReshapeOp, attn::ChoiceOp>(
          op))
    return Status::error(fmt::format("the reference interpreter has no meaning "
                                     "for '{}' in a system",
                                     op->getName().getStringRef().str()),
                         placeOf(op));
  auto type = cast<attn::ArrayType>(node.value.getType());
  std::vector<int64_t> shape;
  if (Status status = lengths.checkedShape(type, shape); status.failed())
    return status;
  std::shared_ptr<Elements> *shared =
      common ? common->find(node.value) : nullptr;
  if (shared && *shared) {
    node.own = *shared;
  } else {
    node.own = std::make_shared<Elements>();
    node.own->array = Array::zeros(shape, !type.getScalarType().isF64());
    node.own->state.assign(node.own->array.values.size(), Unknown);
    if (shared)
      *shared = node.own;
  }
  if (auto compute = dyn_cast<attn::ComputeOp>(op))
    if (Status status =
            compileCompute(compute, lengths, inputs.single, node.code);
        status.failed())
      return status;
  node.registers = node.code.registers;
  return Status::success();
}

const std::vector<int64_t> &SystemEvaluator::shapeOf(Value value) const {
  return nodes[numbers.lookup(value)]->array().shape;
}

double SystemEvaluator::at(Value value, int64_t offset) const {
  return nodes[numbers.lookup(value)]->array().values[offset];
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::string SystemEvaluator::elementText(const Node &node,
                                         int64_t offset) const {
  SmallVector<int64_t> indices = indicesOf(offset, node.own->array.shape);
  return fmt::format("'{}[{}]'", labelOf(node.op), fmt::join(indices, ", "));
}

/// The element is on the stack already: it needs itself. Names the equations on
/// the way.
Status SystemEvaluator::cycle(unsigned node, int64_t offset) const {
  size_t begin = tasks.size();
  while (begin > 0) {
    const Task &task = *tasks[--begin];
    if (task.node == node && offset >= task.first &&
        offset < task.first + task.count)
      break;
  }
  std::vector<std::string> names;
  for (size_t i = begin + 1; i < tasks.size() && names.size() < 8; ++i)
    names.push_back(elementText(*nodes[tasks[i]->node], tasks[i]->offset));
  std::string through =
      names.empty() ? "" : fmt::format(" through {}", fmt::join(names, ", "));
  return Status::error(fmt::format("{} is defined by itself{}",
                                   elementText(*nodes[node], offset), through),
                       placeOf(nodes[node]->op));
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

Status SystemEvaluator::push(unsigned number, int64_t offset) {
  Node &node = *nodes[number];
  if (node.own->state[offset] == Running)
    return cycle(number, offset);
  auto task = std::make_unique<Task>();
  task->node = number;
  task->offset = task->first = offset;
  task->count = 1;
  if (auto choice = dyn_cast<attn::ChoiceOp>(node.op)) {
    if (numChoiceAxes(choice) < node.own->array.shape.size()) {
      task->count = node.own->array.shape.back();
      task->first = offset - offset % task->count;
    }
  } else if (isa<attn::ComputeOp>(node.op)) {
    SmallVector<int64_t> indices = indicesOf(offset, node.own->array.shape);
    if (ElementTask::givesRow(node.code)) {
      task->count = node.own->array.shape.back();
      task->first = offset - indices.back();
      indices.pop_back();
    }
    task->element.start(node.code, node.registers, indices, lengths);
  }
  for (int64_t i = 0; i < task->count; ++i)
    node.own->state[task->first + i] = Running;
  tasks.push_back(std::move(task));
  return Status::success();
}

Outcome SystemEvaluator::resumeCompute(Task &task, Node &node, Need &need,
                                       Status &error) {
  Outcome outcome = task.element.resume(node.context);
  if (outcome == Outcome::Missing)
    need = {node.sources[node.context.array], node.context.offset};
  if (outcome == Outcome::Failed)
    error = node.context.error;
  if (outcome != Outcome::Done)
    return outcome;
  if (ElementTask::givesRow(node.code)) {
    for (auto [place, value] :
         llvm::zip_equal(task.element.rowPlaces(), task.element.rowValues()))
      node.own->array.set(task.first + place, value);
  } else {
    node.own->array.set(task.offset, task.element.element());
  }
  return outcome;
}

/// Takes an element from another array; returns false if it is not computed.
bool SystemEvaluator::copyFrom(Node &node, Value source, int64_t sourceOffset,
                               int64_t offset, Need &need) {
  unsigned number = numbers.lookup(source);
  if (!nodes[number]->stands(sourceOffset)) {
    need = {number, sourceOffset};
    return false;
  }
  node.own->array.set(offset, nodes[number]->array().at(sourceOffset));
  return true;
}

Outcome SystemEvaluator::resumeChoice(Task &task, Node &node, Need &need,
                                      Status &error) {
  auto op = cast<attn::ChoiceOp>(node.op);
  int64_t group = task.first / task.count;
  unsigned axes = numChoiceAxes(op);
  for (Value parameter : op.getParameters()) {
    unsigned number = numbers.lookup(parameter);
    const Array &array = nodes[number]->array();
    int64_t size = 1;
    for (size_t axis = axes; axis < array.shape.size(); ++axis)
      size *= array.shape[axis];
    for (int64_t i = 0; i < size; ++i)
      if (!nodes[number]->stands(group * size + i)) {
        need = {number, group * size + i};
        return Outcome::Missing;
      }
  }
  SmallVector<int64_t> indices = indicesOf(task.first, node.own->array.shape);
  indices.truncate(axes);
  ChoiceDistribution distribution;
  error = distribution.take(
      op, group, indices, lengths,
      [&](Value value) -> const Array & {
        return nodes[numbers.lookup(value)]->array();
      },
      [](StringRef) { return 0; }, inputs);
  if (error.failed())
    return Outcome::Failed;
  std::vector<double> value = distribution.mode();
  if (onChoice && !op.getLatent() &&
      !onChoice(op, group, distribution, value)) {
    error = Status::error("");
    return Outcome::Failed;
  }
  for (int64_t i = 0; i < task.count; ++i)
    node.own->array.values[task.first + i] = value[i];
  return Outcome::Done;
}

Outcome SystemEvaluator::resume(Task &task, Need &need, Status &error) {
  Node &node = *nodes[task.node];
  int64_t offset = task.offset;
  if (isa<attn::ComputeOp>(node.op))
    return resumeCompute(task, node, need, error);
  if (isa<attn::ChoiceOp>(node.op))
    return resumeChoice(task, node, need, error);
  bool found;
  if (auto reshape = dyn_cast<attn::ReshapeOp>(node.op)) {
    found = copyFrom(node, reshape.getOperand(), offset, offset, need);
  } else {
    auto concat = cast<attn::ConcatOp>(node.op);
    int64_t width = node.own->array.shape.back();
    int64_t row = offset / width, column = offset % width;
    for (Value part : concat.getParts()) {
      int64_t size = shapeOf(part).back();
      if (column < size) {
        found = copyFrom(node, part, row * size + column, offset, need);
        break;
      }
      column -= size;
    }
  }
  return found ? Outcome::Done : Outcome::Missing;
}

Status SystemEvaluator::demand(Value value, int64_t offset) {
  unsigned number = numbers.lookup(value);
  if (nodes[number]->stands(offset))
    return Status::success();
  Status status = push(number, offset);
  while (status.succeeded() && !tasks.empty()) {
    Task &task = *tasks.back();
    Need need;
    Outcome outcome = resume(task, need, status);
    if (outcome == Outcome::Missing) {
      status = push(need.node, need.offset);
    } else if (outcome == Outcome::Done) {
      for (int64_t i = 0; i < task.count; ++i)
        nodes[task.node]->own->state[task.first + i] = Standing;
      tasks.pop_back();
    }
  }
  tasks.clear();
  return status;
}

Status SystemEvaluator::demandAll(Value value, Array &result) {
  auto type = cast<attn::ArrayType>(value.getType());
  const Node &node = *nodes[numbers.lookup(value)];
  for (size_t offset = 0; offset < node.array().values.size(); ++offset) {
    SmallVector<int64_t> indices = indicesOf(offset, node.array().shape);
    if (!lengths.isInside(type, indices, [](StringRef) { return 0; }))
      continue;
    if (Status status = demand(value, offset); status.failed())
      return status;
  }
  result = node.array();
  return Status::success();
}

Status SystemEvaluator::demandDistribution(attn::ChoiceOp op, int64_t group,
                                           ChoiceDistribution &distribution) {
  unsigned axes = numChoiceAxes(op);
  for (Value parameter : op.getParameters()) {
    const std::vector<int64_t> &shape = shapeOf(parameter);
    int64_t size = 1;
    for (size_t axis = axes; axis < shape.size(); ++axis)
      size *= shape[axis];
    for (int64_t i = 0; i < size; ++i)
      if (Status status = demand(parameter, group * size + i); status.failed())
        return status;
  }
  SmallVector<int64_t> indices =
      indicesOf(group, ArrayRef(shapeOf(chosenArray(op))).take_front(axes));
  return distribution.take(
      op, group, indices, lengths,
      [&](Value value) -> const Array & {
        return nodes[numbers.lookup(value)]->array();
      },
      [](StringRef) { return 0; }, inputs);
}
