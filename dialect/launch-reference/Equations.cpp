//===- Equations.cpp - runs that compute one equation ---------------------===//

#include "dialect/launch-reference/Executor.h"

#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::launch;
using attn::ComputeOp;
using attn::ReadOp;
using attn::ScanOp;
using reference::Code;
using reference::ElementTask;
using reference::Outcome;
using reference::Slot;
using reference::Traced;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

void Executor::bindArrays(const Code &code, size_t example, Binding &binding) {
  binding.example = example;
  for (Value array : code.arrays)
    binding.sites.push_back(siteOf(array, example));
  for (const Site &site : binding.sites)
    binding.shapes.push_back({site.shape, {}, false});
  binding.context.lengths = &examples[example].lengths;
  binding.context.random = reference::randomOf(inputs[example]);
  binding.context.trees = inputs[example].trees;
  binding.context.source = this;
  for (const reference::Array &shape : binding.shapes)
    binding.context.views.push_back({&shape, nullptr});
  binding.registers = code.registers;
}

/// An index of a body, at these indices of its equation. Also a condition.
Status Executor::scalarIn(Value value, ArrayRef<int64_t> indices,
                          size_t example, int64_t &result) {
  std::unique_ptr<Code> &code = codes[value.getAsOpaquePointer()];
  const reference::Environment &own = examples[example];
  if (!code) {
    code = std::make_unique<Code>();
    code->single = inputs[0].single;
    if (Status status = reference::compileScalar(value, own.lengths, *code);
        status.failed())
      return status;
  }
  Binding binding;
  bindArrays(*code, example, binding);
  for (auto [capture, number] : code->captures) {
    auto argument = dyn_cast<BlockArgument>(capture);
    bool isOfLoop =
        !argument || isa<ScanOp>(argument.getOwner()->getParentOp());
    binding.registers[number].whole = isOfLoop
                                          ? own.indices.lookup(capture)
                                          : indices[argument.getArgNumber()];
  }
  unsigned next = 0;
  Slot slot;
  bound = &binding;
  if (reference::run(*code, binding.registers, next, binding.context, slot) !=
      Outcome::Done)
    return binding.context.error;
  result = slot.whole;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Executor::State Executor::read(const reference::ReadPlan &plan, unsigned array,
                               int64_t offset, Traced &number, Status &error) {
  const Site *site = &bound->sites[array];
  if (array == plan.array)
    if (auto factor = bound->factors.find(plan.op);
        factor != bound->factors.end())
      site = &factor->second;
  State state = accesses.read(*site, offset, number, error);
  if (state == Failed && error.getWhere().empty())
    error = Status::error(error.getMessage(), reference::placeOf(plan.op));
  return state;
}

Status Executor::codeOf(ComputeOp op, const Code *&code) {
  std::unique_ptr<Code> &own = codes[op.getOperation()];
  Status status = Status::success();
  if (!own) {
    own = std::make_unique<Code>();
    status = reference::compileCompute(op, examples[0].lengths,
                                       inputs[0].single, *own);
  }
  code = own.get();
  return status;
}

Status Executor::bind(ComputeOp op, size_t example, Binding &binding) {
  const Code *code;
  if (Status status = codeOf(op, code); status.failed())
    return status;
  bindArrays(*code, example, binding);
  binding.result = siteOf(op.getResult(), example);
  if (attn::ArrayLocationAttr copy = memoryIn(op, attn::storedCopyName))
    binding.copy = siteIn(copy, example, binding.result.shape);
  for (auto [name, factor] : {std::pair(attn::packedName, rightOf(op)),
                              std::pair(attn::packedLeftName, leftOf(op))})
    if (attn::ArrayLocationAttr location = memoryIn(op, name);
        location && factor)
      binding.factors[factor] =
          siteIn(location, example, shapeOf(factor.getArray(), example));
  for (auto [value, number] : code->captures)
    binding.registers[number].whole = examples[example].indices.lookup(value);
  return Status::success();
}

/// Writes an element, and its copy where the equation stores one.
Status Executor::store(const Binding &binding, int64_t offset, Traced number,
                       bool isDefined) {
  if (Status status = accesses.write(binding.result, offset, number, isDefined);
      status.failed() || !binding.copy)
    return status;
  return accesses.write(*binding.copy, offset, number, isDefined);
}

/// The element at these places, or the row of a softmax. `isExcluded`: what the
/// product has there is not what the equation gives.
Status Executor::evaluateAt(ComputeOp op, std::vector<Binding> &bindings,
                            ArrayRef<int64_t> places, int64_t offset,
                            bool isExcluded) {
  const Code *code;
  if (Status status = codeOf(op, code); status.failed())
    return status;
  ElementTask task;
  for (auto [number, binding] : llvm::enumerate(bindings)) {
    const reference::LengthTable &lengths = examples[binding.example].lengths;
    bound = &binding;
    if (number == 0)
      task.start(*code, binding.registers, places, lengths);
    else
      task.goOn(binding.registers, places, lengths);
    if (task.resume(binding.context) != Outcome::Done)
      return binding.context.error;
  }
  size_t example = bindings.front().example;
  if (op.getPartial() && !isExcluded)
    if (Status status = excludesAll(op, bindings, places, isExcluded);
        status.failed())
      return status;
  bool isDefined = !task.isUndefined() && !isExcluded;
  if (!ElementTask::givesRow(*code))
    return store(bindings.front(), offset, task.element(), isDefined);
  int64_t extent = bindings.front().result.shape.back();
  std::vector<Traced> row(extent);
  for (auto [place, value] :
       llvm::zip_equal(task.rowPlaces(), task.rowValues()))
    row[place] = value;
  SmallVector<int64_t> indices(places);
  indices.push_back(0);
  for (int64_t i = 0; i < extent; ++i) {
    indices.back() = i;
    if (!isInside(op.getResult(), indices, example))
      continue;
    if (Status status =
            store(bindings.front(), offset * extent + i, row[i], isDefined);
        status.failed())
      return status;
  }
  return Status::success();
}

Status Executor::evaluate(ComputeOp op, ArrayRef<size_t> list,
                          Choose isChosen) {
  const Code *code;
  if (Status status = codeOf(op, code); status.failed())
    return status;
  std::vector<Binding> bindings(list.size());
  for (auto [example, binding] : llvm::zip_equal(list, bindings)) {
    if (memoryIn(op, attn::listName))
      if (Status status = checkList(op, example, listOf(op, example));
          status.failed())
        return status;
    if (Status status = bind(op, example, binding); status.failed())
      return status;
  }
  bool isRow = ElementTask::givesRow(*code);
  std::vector<int64_t> shape = shapeOf(op.getResult(), list.front());
  if (isRow)
    shape.pop_back();
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  bool isExcluded = false;
  if (hasRowCondition(op) && op->getParentOfType<attn::KernelOp>() == nullptr)
    if (Status status = excludes(op, {}, list.front(), isExcluded);
        status.failed())
      return status;
  std::vector<int64_t> offsets;
  for (int64_t offset = 0; offset < count; ++offset)
    offsets.push_back(offset);
  shuffle(offsets);
  for (int64_t offset : offsets) {
    SmallVector<int64_t> places = reference::indicesOf(offset, shape);
    SmallVector<int64_t> all = places;
    if (isRow)
      all.push_back(0);
    if ((isChosen && !isChosen(places)) ||
        !isInside(op.getResult(), all, list.front()))
      continue;
    accesses.setElement(1 + offset);
    if (Status status = evaluateAt(op, bindings, places, offset, isExcluded);
        status.failed())
      return status;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Status Executor::wrongUnits(RunOp run) const {
  return Status::error(fmt::format("has {}, which are no units of its op",
                                   stringifyUnits(run.getUnits()).str()));
}

Status Executor::tooMany(int64_t count) const {
  return Status::error(
      fmt::format("has units for {} rows, more than there are", count));
}

Status Executor::forExamples(RunOp run, Operation *op,
                             llvm::function_ref<Status(size_t)> body) {
  if (run.getUnits() != Units::examples) {
    accesses.enter(0);
    return isOfEach(op) ? Status::success() : body(0);
  }
  if (!isOfEach(op))
    return wrongUnits(run);
  std::vector<size_t> order = examplesAround(op);
  int64_t count = run.getCount() ? number(run.getCount())
                                 : static_cast<int64_t>(order.size());
  if (count > static_cast<int64_t>(order.size()))
    return tooMany(count);
  order.resize(count);
  shuffle(order);
  for (size_t example : order) {
    // The rows of an inner loop that have ended are skipped.
    if (!takesPart(op, example, /*byRankToo=*/false))
      continue;
    accesses.enter(static_cast<int64_t>(example));
    if (Status status = body(example); status.failed())
      return status;
  }
  return Status::success();
}

static bool isOverExamples(ComputeOp op) {
  auto kind = op->getAttrOfType<StringAttr>("attn.batch");
  return kind && kind.getValue() == "sum";
}

Status Executor::equation(RunOp run, ComputeOp op) {
  auto productAttr = op->getAttrOfType<attn::ProductAttr>("attn.product");
  if (productAttr && productAttr.getKind() != attn::ProductKind::each)
    return product(run, op);
  if (isOfEach(op) && run.getUnits() != Units::rows)
    return forExamples(run, op, [&](size_t example) {
      return evaluate(op, example, /*isChosen=*/nullptr);
    });
  std::vector<size_t> all(examples.size());
  for (size_t example = 0; example < all.size(); ++example)
    all[example] = example;
  accesses.enter(0);
  if (!isOfEach(op)) {
    if (run.getUnits() == Units::examples || run.getUnits() == Units::tiles)
      return wrongUnits(run);
    if (!isOverExamples(op))
      all.resize(1);
    return evaluate(op, all, /*isChosen=*/nullptr);
  }
  // Rows of all examples, in sequence.
  int64_t left = number(run.getCount());
  for (size_t example : all) {
    std::vector<int64_t> shape = shapeOf(op.getResult(), example);
    int64_t rows = shape.empty() ? 1 : shape.front();
    if (Status status = evaluate(op, example,
                                 [&](ArrayRef<int64_t> places) {
                                   return places.empty() ||
                                          places.front() < left;
                                 });
        status.failed())
      return status;
    left -= std::min(left, rows);
  }
  return left == 0 ? Status::success() : tooMany(number(run.getCount()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A condition without an index of the equation.
bool Executor::hasRowCondition(ComputeOp op) {
  auto product = op->getAttrOfType<attn::ProductAttr>("attn.product");
  if (!product || !op.hasCondition() || product.getRun() ||
      product.getKind() == attn::ProductKind::each ||
      product.getKind() == attn::ProductKind::examples)
    return false;
  return llvm::all_of(op.getCondition().getArguments(),
                      [](Value index) { return index.use_empty(); });
}

Status Executor::excludes(ComputeOp op, ArrayRef<int64_t> places,
                          size_t example, bool &result) {
  Value condition = op.getCondition().front().getTerminator()->getOperand(0);
  int64_t holds = 0;
  Status status = scalarIn(condition, places, example, holds);
  result = !holds;
  return status;
}

Status Executor::excludesAll(ComputeOp op, ArrayRef<Binding> bindings,
                             ArrayRef<int64_t> places, bool &result) {
  result = true;
  for (const Binding &binding : bindings) {
    SmallVector<int64_t> shape, indices(places);
    int64_t count = 1;
    for (unsigned i = op.getNumParallel(); i < op.getNumIndices(); ++i) {
      shape.push_back(extentOf(op.getExtents()[i], binding.example));
      count *= shape.back();
    }
    for (int64_t term = 0; term < count && result; ++term) {
      indices.truncate(places.size());
      llvm::append_range(indices, reference::indicesOf(term, shape));
      if (Status status = excludes(op, indices, binding.example, result);
          status.failed())
        return status;
    }
  }
  return Status::success();
}

/// Returns whether a product also has the rows of examples that are not in a
/// step: one over places has those of all examples.
static bool isOverPlaces(ComputeOp op) {
  auto product = op->getAttrOfType<attn::ProductAttr>("attn.product");
  return product && product.getKind() != attn::ProductKind::each &&
         llvm::any_of(op.getResult().getType().getShape(),
                      llvm::IsaPred<StringAttr>);
}

/// Represents the places of rows that are nowhere.
static constexpr double nowhere = -1;

/// The number that represents the places of a factor's rows; the rows that a
/// condition excludes are nowhere.
static double listedAs(const Site &site) {
  if (!site.problem.empty())
    return nowhere;
  return (site.memory ? MemoryOp(site.memory->op).getSlot() : 0) * 0x1p32 +
         static_cast<double>(site.base);
}

double Executor::listOf(ComputeOp op, size_t example) {
  if (isOverPlaces(op) && !takesPart(op, example))
    return nowhere;
  ReadOp left = leftOf(op);
  return left ? listedAs(siteOf(left.getArray(), example)) : linkedTerms;
}

/// The list of a product, or of a scatter, describes the current rows.
Status Executor::checkList(ComputeOp op, size_t example, double wanted) {
  Site site = siteIn(memoryIn(op, attn::listName), example, {1});
  Traced number;
  Status error = Status::success();
  State state = accesses.read(site, 0, number, error);
  if (state == Failed)
    return error;
  if (state == Undefined || number.value != wanted)
    return Status::error(
        fmt::format("a place depends on {}, which {}", elementText(site, 0),
                    state == Undefined ? "is undefined" : "is of other rows"));
  return Status::success();
}

Status Executor::list(RunOp run, ComputeOp op) {
  attn::ArrayLocationAttr location = memoryIn(op, attn::listName);
  if (!location || !leftOf(op))
    return noSuchWork(op);
  auto listExample = [&](size_t example) {
    return accesses.write(siteIn(location, example, {1}), 0,
                          {listOf(op, example), 0}, /*isDefined=*/true);
  };
  if (!isOverExamples(op))
    return forExamples(run, op, listExample);
  for (size_t example = 0; example < examples.size(); ++example) {
    accesses.enter(static_cast<int64_t>(example));
    if (Status status = listExample(example); status.failed())
      return status;
  }
  return Status::success();
}

Status Executor::checkProductSizes(RunOp run, ComputeOp op) {
  auto product = op->getAttrOfType<attn::ProductAttr>("attn.product");
  int64_t terms = 0;
  for (size_t example = 0; example < examples.size(); ++example) {
    int64_t own = 1;
    for (unsigned index : product.getTerms())
      own *= examples[example].lengths.sizeOf(op.getExtents()[index]);
    terms = isOverExamples(op) ? terms + own : own;
  }
  size_t numScalars = run.getScalars().size();
  int64_t given = scalar(run, numScalars - 1);
  if (numScalars > 0 && given != terms)
    return Status::error(
        fmt::format("has {} terms, but the equation {}", given, terms));
  return Status::success();
}

Status Executor::product(RunOp run, ComputeOp op) {
  auto product = op->getAttrOfType<attn::ProductAttr>("attn.product");
  if (run.getUnits() != Units::tiles)
    return wrongUnits(run);
  if (Status status = checkProductSizes(run, op); status.failed())
    return status;
  auto isColumn = [&](ArrayRef<int64_t> places) {
    int64_t column = 0;
    for (unsigned index : product.getColumns())
      column = column * cast<IntegerAttr>(op.getExtents()[index]).getInt() +
               places[index];
    return column >= product.getRange().from.value_or(0) &&
           column < product.getRange().to.value_or(INT64_MAX);
  };
  accesses.enter(0);
  bool hasRows = run.getScalars().size() > 1;
  int64_t left = hasRows ? scalar(run, 0) : INT64_MAX;
  auto rowOfPlaces = [&](ArrayRef<int64_t> places, ArrayRef<int64_t> shape) {
    int64_t row = 0;
    for (auto [axis, place] : llvm::enumerate(places))
      if (!llvm::is_contained(product.getColumns(), axis))
        row = row * shape[axis] + place;
    return row;
  };
  auto compute = [&](ArrayRef<size_t> list) {
    std::vector<int64_t> shape = shapeOf(op.getResult(), list.front());
    int64_t rows = 1;
    for (auto [axis, extent] : llvm::enumerate(shape))
      if (!llvm::is_contained(product.getColumns(), axis))
        rows *= extent;
    Status status = evaluate(op, list, [&](ArrayRef<int64_t> places) {
      return isColumn(places) && rowOfPlaces(places, shape) < left;
    });
    left -= std::min(left, rows);
    return status;
  };
  Status status = Status::success();
  if (!isOfEach(op)) {
    std::vector<size_t> all(isOverExamples(op) ? examples.size() : 1);
    for (size_t example = 0; example < all.size(); ++example)
      all[example] = example;
    status = compute(all);
  } else {
    for (size_t example : examplesAround(op)) {
      if (left == 0 || status.failed())
        break;
      if (!hasRows && !takesPart(op, example))
        continue;
      // Rows that are not in the step, or whose inner loop has ended, give what
      // nobody reads.
      bool hasRank = isOverPlaces(op);
      if (!takesPart(op, example, hasRank)) {
        if (hasRank && memoryIn(op, attn::listName))
          if (Status status = checkList(op, example, nowhere); status.failed())
            return status;
        int64_t rows = 1;
        std::vector<int64_t> shape = shapeOf(op.getResult(), example);
        for (auto [axis, extent] : llvm::enumerate(shape))
          if (!llvm::is_contained(product.getColumns(), axis))
            rows *= extent;
        left -= std::min(left, rows);
        continue;
      }
      status = compute(example);
    }
  }
  if (status.succeeded() && hasRows && left > 0)
    return tooMany(scalar(run, 0));
  return status;
}
