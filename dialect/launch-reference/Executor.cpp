//===- Executor.cpp - executes a schedule, run by run ---------------------===//

#include "dialect/launch-reference/Executor.h"

#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::launch;
using attn::ComputeOp;
using attn::ScanOp;

Executor::Executor(ProgramOp schedule, attn::ProgramOp program,
                   ArrayRef<reference::Inputs> inputs,
                   const InterpretOptions &options)
    : schedule(schedule), program(program), inputs(inputs), options(options),
      random(options.order), ops(numberedOps(program)),
      examples(inputs.size()) {}

std::string launch::textOf(RunOp run) {
  std::string text = fmt::format(
      "'{}' of op {}", stringifyWork(run.getWork()).str(), run.getNumber());
  if (run.getLabel())
    text += fmt::format(", '{}'", run.getLabel()->str());
  return text;
}

/// The error with the run that it occurred in.
Status Executor::failure(const Status &status) const {
  if (!current)
    return status;
  auto number = static_cast<size_t>(RunOp(current).getNumber());
  std::string where = status.getWhere();
  if (where.empty() && number < ops.size())
    where = reference::placeOf(ops[number]);
  return Status::error(textOf(current) + ": " + status.getMessage(), where);
}

Status Executor::execute() {
  for (auto [example, own] : llvm::enumerate(examples))
    if (Status status = own.start(program, inputs[example]); status.failed())
      return status;
  findFactors();
  findRanks();
  return executeBlock(schedule.getBody().front());
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

Status Executor::executeBlock(Block &block) {
  for (Operation &item : block)
    if (Status status = executeItem(item); status.failed())
      return status;
  return Status::success();
}

Status Executor::executeItem(Operation &item) {
  if (auto op = dyn_cast<RunOp>(item))
    return executeRun(op);
  if (auto op = dyn_cast<MemoryOp>(item))
    return allocate(op);
  if (auto op = dyn_cast<ForOp>(item))
    return executeFor(op);
  if (auto op = dyn_cast<PrepareOp>(item))
    return executeBlock(op.getBody().front());
  if (auto op = dyn_cast<PersistentOp>(item))
    return executeBlock(op.getBody().front());
  if (auto op = dyn_cast<DeallocOp>(item)) {
    for (Value memory : op.getMemories())
      memories[memory.getAsOpaquePointer()]->isAlive = false;
    return Status::success();
  }
  if (auto op = dyn_cast<scf::IfOp>(item)) {
    Region &region =
        number(op.getCondition()) ? op.getThenRegion() : op.getElseRegion();
    return region.empty() ? Status::success() : executeBlock(region.front());
  }
  return Status::success();
}

Status Executor::executeFor(ForOp loop) {
  auto number = static_cast<size_t>(loop.getNumber());
  auto scan =
      dyn_cast_if_present<ScanOp>(number < ops.size() ? ops[number] : nullptr);
  if (!scan)
    return Status::error(fmt::format("op {} is no loop", number));
  int64_t steps = 0;
  for (auto [example, own] : llvm::enumerate(examples))
    if (auto extent = dyn_cast<IntegerAttr>(loop.getExtent()))
      steps = extent.getInt();
    else
      steps = std::max(steps, own.lengths.sizeOf(loop.getExtent()));
  Block &body = loop.getBody().front();
  Value step = body.getArgument(0);
  int64_t rows = this->number(loop.getRows());
  for (int64_t count = 0; count < steps; ++count) {
    int64_t index = loop.getReversed() ? steps - 1 - count : count;
    for (reference::Environment &own : examples)
      own.indices[scan.getLoopIndex()] = index;
    rowsOf[step] = rows;
    if (loop.getByRank())
      rowsOf[step] = llvm::count_if(examples, [&](const auto &own) {
        return own.lengths.sizeOf(loop.getExtent()) > index;
      });
    bool isPersistent = isa<PersistentOp>(loop->getParentOp());
    if (Status status = isPersistent ? executePhases(body) : executeBlock(body);
        status.failed())
      return status;
  }
  for (reference::Environment &own : examples)
    own.indices.erase(scan.getLoopIndex());
  return Status::success();
}

/// A step of a loop that is one launch: the runs of a turn in any order. What
/// several launches compute for one op, other than examples, is a phase each.
Status Executor::executePhases(Block &block) {
  using Time = std::tuple<int64_t, int64_t, int64_t>; // phase, part, turn
  std::map<Time, std::vector<RunOp>> turns;
  std::vector<RunOp> last;
  llvm::DenseMap<int64_t, int64_t> parts;
  for (Operation &item : block) {
    auto run = dyn_cast<RunOp>(item);
    if (!run) {
      if (Status status = executeItem(item); status.failed())
        return status;
      continue;
    }
    if (!run.getPhase()) {
      last.push_back(run);
      continue;
    }
    bool isBlocks = run.getUnits() == Units::examples;
    int64_t part =
        isBlocks && run.getWork() != Work::list ? 0 : parts[run.getNumber()]++;
    turns[{*run.getPhase(), part, *run.getTurn()}].push_back(run);
  }
  std::pair<int64_t, int64_t> before = {-1, -1};
  for (auto &[time, runs] : turns) {
    auto [phase, part, turn] = time;
    if (before != std::pair(phase, part))
      ++numPhases;
    before = {phase, part};
    shuffle(runs);
    for (RunOp run : runs)
      if (Status status = executeRun(
              run, {numPhases, turn, run.getUnits() == Units::examples});
          status.failed())
        return status;
  }
  for (RunOp run : last)
    if (Status status = executeRun(run); status.failed())
      return status;
  return Status::success();
}

int64_t Executor::number(Value value) {
  if (auto found = rowsOf.find(value); found != rowsOf.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  if (isa<BatchOp>(op))
    return static_cast<int64_t>(examples.size());
  if (auto rows = dyn_cast<RowsOp>(op))
    return rowsOf.lookup(rows.getStep());
  if (auto longest = dyn_cast<LongestOp>(op)) {
    int64_t result = 0;
    for (const reference::Environment &own : examples)
      result = std::max(result, own.lengths.sizeOf(longest.getLengthAttr()));
    return result;
  }
  if (auto places = dyn_cast<PlacesOp>(op)) {
    int64_t result = 0;
    for (const reference::Environment &own : examples) {
      int64_t product = 1;
      for (Attribute length : places.getLengths())
        product *= own.lengths.sizeOf(length);
      result += product;
    }
    return result;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return cast<IntegerAttr>(constant.getValue()).getInt();
  reference::Slot operands[3] = {};
  for (auto [operand, slot] : llvm::zip(op->getOperands(), operands))
    slot.whole = number(operand);
  const char *fault = nullptr;
  reference::ScalarFunction function = reference::findScalar(op);
  assert(function && "numbers of a schedule are of arith");
  return function(operands[0], operands[1], operands[2], fault).whole;
}

int64_t Executor::scalar(RunOp run, unsigned index) {
  return index < run.getScalars().size() ? number(run.getScalars()[index]) : -1;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Status Executor::executeRun(RunOp run, Accesses::Phase phase) {
  current = run;
  auto number = static_cast<size_t>(run.getNumber());
  if (number >= ops.size())
    return failure(Status::error("the program has fewer ops"));
  auto use = [&](OperandRange list, MemoryState::Use use) {
    for (Value memory : list)
      memories[memory.getAsOpaquePointer()]->use = use;
  };
  use(run.getReads(), MemoryState::Read);
  use(run.getScratch(), MemoryState::Scratch);
  use(run.getWrites(), MemoryState::Write);
  use(run.getUpdates(), MemoryState::Update);
  hasWorkspace = llvm::any_of(run.getScratch(), [](Value memory) {
    return !memory.getDefiningOp<MemoryOp>().getMemory();
  });
  accesses.begin(run, phase);
  Status status = executeWork(run, ops[number]);
  workspace.clear();
  if (status.succeeded())
    status = checkComplete(run, ops[number]);
  if (status.failed())
    return failure(status);
  report(run);
  for (OperandRange list :
       {run.getReads(), run.getScratch(), run.getWrites(), run.getUpdates()})
    use(list, MemoryState::None);
  current = nullptr;
  return status;
}

Status Executor::executeWork(RunOp run, Operation *op) {
  auto compute = dyn_cast<ComputeOp>(op);
  auto scan = dyn_cast<ScanOp>(op);
  auto yield = dyn_cast<attn::YieldOp>(op);
  switch (run.getWork()) {
  case Work::pack:
    return pack(run, /*isExact=*/true);
  case Work::gather:
  case Work::copy:
    return pack(run, /*isExact=*/false);
  case Work::compute:
    if (compute)
      return equation(run, compute);
    if (auto kernelOp = dyn_cast<attn::KernelOp>(op))
      return kernel(run, kernelOp);
    if (auto concatOp = dyn_cast<attn::ConcatOp>(op))
      return forExamples(
          run, op, [&](size_t example) { return concat(concatOp, example); });
    if (auto appendOp = dyn_cast<attn::AppendOp>(op))
      return forExamples(
          run, op, [&](size_t example) { return append(appendOp, example); });
    break;
  case Work::list:
    if (compute)
      return list(run, compute);
    break;
  case Work::clear:
    if (compute)
      return clear(run, compute);
    break;
  case Work::scatter:
  case Work::link:
    if (compute)
      return scatterLists(run, compute);
    break;
  case Work::where:
    if (compute)
      return where(run, compute);
    break;
  case Work::start:
    if (scan)
      return start(run, scan);
    break;
  case Work::end:
    if (scan)
      return end(run, scan);
    break;
  case Work::commit:
    if (yield && isa<ScanOp>(op->getParentOp()))
      return commit(run, cast<ScanOp>(op->getParentOp()));
    break;
  }
  return noSuchWork(op);
}

Status Executor::noSuchWork(Operation *op) const {
  return Status::error(fmt::format("there is no such work for '{}'",
                                   op->getName().getStringRef().str()));
}

/// The op that computes an array, in kernels.
static Operation *makerOf(OpResult array) {
  while (auto kernel = dyn_cast<attn::KernelOp>(array.getOwner()))
    array = cast<OpResult>(kernel.getYielded(array));
  return array.getOwner();
}

/// What an equation gives is written as a whole, for every example that takes
/// part.
Status Executor::checkComplete(RunOp run, Operation *op) {
  if (run.getWork() != Work::compute || isa<attn::AppendOp>(op))
    return Status::success();
  for (OpResult array : op->getResults()) {
    Operation *maker = makerOf(array);
    auto product = maker->getAttrOfType<attn::ProductAttr>("attn.product");
    if (product && !product.getRange().isWhole())
      continue;
    for (size_t example = 0; example < examples.size(); ++example) {
      if (isOfEach(maker) ? !takesPart(maker, example) : example > 0)
        continue;
      Site site = siteOf(array, example);
      if (!site.problem.empty())
        return Status::error(site.problem);
      int64_t wanted = countInside(array, site.shape, example);
      int64_t count = accesses.writtenIn(*site.cells);
      if (count < wanted)
        return Status::error(fmt::format(
            "writes {} of {} elements of '{}'{}", count, wanted,
            site.memory->name(),
            isOfEach(maker) ? fmt::format(" of example {}", example) : ""));
    }
  }
  return Status::success();
}

void Executor::report(RunOp run) {
  if (!options.onRun)
    return;
  std::vector<Written> list;
  for (const WrittenElement &each : accesses.elements()) {
    MemoryState *memory = each.memory;
    if (!memory || !memory->op.getMemory())
      continue;
    const Cells &cells = memory->of(each.example);
    int64_t number = *memory->op.getMemory();
    if (!cells.defined[each.offset] || factorOf.contains(number) ||
        lists.contains(number))
      continue;
    size_t row = each.example;
    if (ScanOp loop = rankedBy.lookup(number))
      row = llvm::find(ranks[loop], each.example) - ranks[loop].begin();
    list.push_back({memory->op, each.example, row, each.offset,
                    cells.values[each.offset]});
  }
  // Elements were computed in random order.
  llvm::sort(list, [](const Written &a, const Written &b) {
    return std::tuple(MemoryOp(a.memory).getSlot(), a.example, a.offset) <
           std::tuple(MemoryOp(b.memory).getSlot(), b.example, b.offset);
  });
  options.onRun(run, list);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Status Executor::outputs(std::vector<reference::Arrays> &results) {
  current = nullptr;
  results.clear();
  for (size_t example = 0; example < examples.size(); ++example) {
    reference::Arrays &own = results.emplace_back();
    for (auto output : program.getOps<attn::OutputOp>()) {
      Value value = output.getValue();
      Site site = siteOf(value, example);
      auto fail = [&](const std::string &text) {
        return Status::error(
            fmt::format("output '{}': {}", output.getTarget().str(), text),
            reference::placeOf(output));
      };
      // No launch uses it.
      Operation *given = value.getDefiningOp();
      while (auto reshape = dyn_cast_if_present<attn::ReshapeOp>(given))
        given = reshape.getOperand().getDefiningOp();
      if (!site.problem.empty() &&
          isa_and_nonnull<attn::DataOp, attn::ParamOp>(given)) {
        reference::ArrayPtr array;
        if (Status status = reference::takeInput(
                given, inputs[example], examples[example].lengths, array);
            status.failed())
          return status;
        own[output.getTarget().str()] = {site.shape, array->values,
                                         array->integer, array->trees};
        continue;
      }
      if (!site.problem.empty())
        return fail(site.problem);
      reference::Array array = reference::Array::zeros(
          site.shape,
          !cast<attn::ArrayType>(value.getType()).getScalarType().isF64());
      for (size_t offset = 0; offset < array.values.size(); ++offset) {
        if (!isInside(value, reference::indicesOf(offset, site.shape), example))
          continue;
        int64_t at = site.base + static_cast<int64_t>(offset);
        bool isThere = !site.memory || site.memory->isAlive;
        if (!isThere || at >= site.cells->size() || !site.cells->defined[at])
          return fail(elementText(site, at) + " is undefined");
        array.set(offset, site.cells->at(at));
      }
      own[output.getTarget().str()] = std::move(array);
    }
  }
  return Status::success();
}

bool launch::isPerExample(Value array) {
  if (auto argument = dyn_cast<BlockArgument>(array))
    return isOfEach(argument.getOwner()->getParentOp());
  auto result = cast<OpResult>(array);
  Operation *op = makerOf(result);
  if (isa<attn::ReshapeOp, attn::AppendOp>(op))
    return isPerExample(op->getOperand(0));
  return isOfEach(op);
}

Status launch::interpret(ProgramOp schedule, attn::ProgramOp program,
                         ArrayRef<reference::Inputs> inputs,
                         const InterpretOptions &options,
                         std::vector<reference::Arrays> &outputs) {
  Executor executor(schedule, program, inputs, options);
  if (Status status = executor.execute(); status.failed())
    return status;
  return executor.outputs(outputs);
}
