//===- Scheduler.cpp - which launches run a program -----------------------===//

#include "codegen/program/Scheduler.h"
#include "codegen/program/KernelGroups.h"
#include "passes/kernels/DivideWork.h"
#include "passes/kernels/Members.h"
#include "passes/memory/Locations.h"
#include "runtime/data/Quantise.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

std::string fovea::codegen::joinedLabels(ArrayRef<Operation *> ops) {
  std::string name;
  for (Operation *op : ops)
    if (auto label = op->getAttrOfType<StringAttr>("label");
        label && !label.empty())
      name += (name.empty() ? "" : ".") + label.str();
  return name;
}

static std::string labelOf(Operation *op) { return joinedLabels({op}); }

Scheduler::Scheduler(ProgramOp program, StorageMap &storage)
    : program(program), storage(storage),
      b(program.getLoc(), program.getContext()) {
  for (auto [number, op] : llvm::enumerate(launch::numberedOps(program)))
    numbers[op] = static_cast<int64_t>(number);
  nameMemories();
}

FailureOr<launch::ProgramOp> Scheduler::schedule(ModuleOp module, bool marks,
                                                 bool sharesKernels) {
  marksSteps = marks;
  findStepMemories();
  for (const Program::Array &array : storage.description().arrays)
    if (array.role == Program::Role::Temporary)
      lastUsedAt[array.lastUse].push_back(array.slot);
  b.setInsertionPointToEnd(module.getBody());
  result = b.create<launch::ProgramOp>(program.getSymName());
  b.setInsertionPointToStart(&result.getBody().emplaceBlock());
  addPrepare();
  if (failed(addBlock(program.getBody().front())))
    return failure();
  numberSlots();
  addKernels(sharesKernels);
  return result;
}

/// A scalar has one slot in all runs of an op, in the order of first use.
void Scheduler::numberSlots() {
  llvm::DenseMap<std::pair<int64_t, Value>, int64_t> slots;
  result.walk<WalkOrder::PreOrder>([&](launch::RunOp run) {
    SmallVector<int64_t> own;
    for (Value scalar : run.getScalars()) {
      auto [slot, isNew] = slots.try_emplace({run.getNumber(), scalar}, 0);
      if (isNew)
        slot->second = storage.newSlot();
      own.push_back(slot->second);
    }
    run.setSlots(own);
  });
}

/// The kernel of a run, without its name.
static launch::KernelOp createKernel(KernelBuilder &b, launch::RunOp run,
                                     StringRef name) {
  auto forms = [&](ValueRange memories) {
    SmallVector<Attribute> result;
    for (Value memory : memories)
      result.push_back(memory.getDefiningOp<launch::MemoryOp>().getForm());
    return b.getArrayAttr(result);
  };
  b.setLoc(run.getLoc());
  return b.create<launch::KernelOp>(
      name, run.getWork(), run.getNumber(),
      static_cast<int64_t>(run.getScalars().size()),
      static_cast<int64_t>(run.getPlaces().size()), forms(run.getReads()),
      forms(run.getWrites()), forms(run.getUpdates()), forms(run.getScratch()));
}

/// Runs of one group launch one kernel, which has the name of the first.
void Scheduler::addKernels(bool sharesKernels) {
  SmallVector<Operation *> ops = launch::numberedOps(program);
  program.walk(
      [](arith::ConstantOp constant) { constant->removeAttr(placeSlotName); });
  std::optional<KernelGroups> groups;
  if (sharesKernels)
    groups.emplace(result, ops, storage).givePlaces();
  llvm::DenseMap<size_t, launch::KernelOp> known;
  llvm::StringSet<> names;
  llvm::StringMap<unsigned> last; // by label: the last number that is taken
  b.setInsertionPointToStart(&result.getBody().front());
  result.walk<WalkOrder::PreOrder>([&](launch::RunOp run) {
    std::optional<size_t> group;
    if (groups)
      group = groups->groupOf(run);
    launch::KernelOp own;
    launch::KernelOp &kernel = group ? known[*group] : own;
    if (!kernel) {
      StringRef label = run.getLabel().value_or(stringifyWork(run.getWork()));
      std::string name = label.str();
      while (!names.insert(name).second)
        name = (label + "." + Twine(++last[label])).str();
      kernel = createKernel(b, run, name);
    }
    run.setKernel(kernel.getSymName());
  });
}

//===----------------------------------------------------------------------===//
// Memories
//===----------------------------------------------------------------------===//

/// The label of the equation that an array comes from.
static std::string nameOf(OpResult array) {
  if (auto kernel = dyn_cast<KernelOp>(array.getOwner()))
    return nameOf(cast<OpResult>(kernel.getYielded(array)));
  if (auto scan = dyn_cast<ScanOp>(array.getOwner())) {
    unsigned number = array.getResultNumber();
    Value row = number < scan.getNumCarries()
                    ? scan.getNext(number)
                    : scan.getStackedValue(number - scan.getNumCarries());
    auto made = dyn_cast<OpResult>(row);
    return made ? nameOf(made) : "";
  }
  return labelOf(array.getOwner());
}

/// A memory has the name of the first array in it.
void Scheduler::nameMemories() {
  for (const Program::Array &array : storage.description().arrays)
    if (array.role == Program::Role::Data ||
        array.role == Program::Role::Parameter)
      names.try_emplace(array.slot, array.name);
  for (Operation *op : launch::numberedOps(program)) {
    for (OpResult array : op->getResults())
      if (std::string name = nameOf(array);
          !name.empty() && storage.of(array).strip < 0)
        names.try_emplace(storage.of(array).slot, std::move(name));
    auto compute = dyn_cast<ComputeOp>(op);
    if (!compute)
      continue;
    if (const Storage *list = storage.rowListOf(compute))
      names.try_emplace(list->slot, labelOf(op) + ".list");
    std::optional<RowsProduct> product = rowsProductOf(compute);
    auto nameFactor = [&](const Storage *packed, ReadOp factor) {
      if (packed && product)
        names.try_emplace(packed->slot,
                          names.lookup(storage.of(factor.getArray()).slot) +
                              ".packed");
    };
    nameFactor(storage.packedOf(compute), product ? product->right : ReadOp());
    nameFactor(storage.packedLeftOf(compute),
               product ? product->left : ReadOp());
  }
}

/// What an op in a loop computes for the step itself. Lists of the next step
/// are made ahead.
void Scheduler::findStepMemories() {
  for (Operation *op : launch::numberedOps(program)) {
    auto loops = storage.around(op);
    if (loops.empty())
      continue;
    Operation *loop = loops.back()->op;
    for (OpResult array : op->getResults())
      if (ArrayLocationAttr location = locationOf(array);
          location && location.getKind() == LocationKind::own)
        stepMemories[storage.of(array).slot] = loop;
    if (auto compute = dyn_cast<ComputeOp>(op);
        compute && !listsAhead(cast<ScanOp>(loop)))
      if (const Storage *list = storage.rowListOf(compute))
        stepMemories[list->slot] = loop;
  }
}

/// The block in which a memory is allocated.
Block &Scheduler::homeOf(int slot) {
  if (Value step = stepOf.lookup(stepMemories.lookup(slot)))
    return *cast<BlockArgument>(step).getOwner();
  return result.getBody().front();
}

Value Scheduler::memoryAt(int slot) {
  Value &memory = memories[slot];
  if (memory)
    return memory;
  const Program::Array *array = &storage.arrayAt(slot);
  OpBuilder::InsertionGuard guard(b);
  Block &home = homeOf(slot);
  if (Block *own = b.getInsertionBlock(); own != &home)
    b.setInsertionPoint(home.findAncestorOpInBlock(*own->getParentOp()));
  using Role = Program::Role;
  auto origin = array->role == Role::Packed ? launch::Origin::kept
                : array->role == Role::Data || array->role == Role::Parameter
                    ? launch::Origin::given
                    : launch::Origin::made;
  auto scope = array->parts != 0      ? launch::Scope::block
               : !array->part.empty() ? launch::Scope::thread
               : array->layout < 0    ? launch::Scope::once
                                      : launch::Scope::each;
  SmallVector<Attribute> extents;
  for (int64_t extent : array->shape)
    extents.push_back(
        extent < 0 ? Attribute(b.getStringAttr(
                         storage.description().lengths[-1 - extent].name))
                   : b.getI64IntegerAttr(extent));
  Type elements[] = {b.getF32Type(), b.getF64Type(), b.getI64Type(),
                     b.getI1Type(), b.getBF16Type()};
  std::string name = names.lookup(slot);
  if (name.empty())
    name = array->part.empty() ? "array" : "room";
  IntegerAttr number;
  if (std::optional<unsigned> own = storage.numberOf(slot))
    number = b.getI64IntegerAttr(*own);
  memory = b.create<launch::MemoryOp>(
      launch::MemoryType::get(b.getContext()), name, slot, number, origin,
      scope, b.getArrayAttr(extents),
      runtime::isNarrow(array->name) && array->element == Program::Element::Bit
          ? b.getI8Type()
          : elements[static_cast<int>(array->element)]);
  return memory;
}

/// The memories that a step of the program is the last to use.
void Scheduler::addDealloc(int64_t step) {
  Values last;
  for (int slot : lastUsedAt.lookup(step))
    if (Value memory = memories.lookup(slot);
        memory && memory.getParentBlock() == &result.getBody().front())
      last.push_back(memory);
  if (!last.empty())
    b.create<launch::DeallocOp>(last);
}

Scheduler::Values Scheduler::memoriesAt(ArrayRef<int> slots) {
  Values values;
  for (int slot : slots)
    values.push_back(memoryAt(slot));
  return values;
}

void Scheduler::read(Value array, Uses &uses) const {
  const Storage &own = storage.of(array);
  if (own.strip >= 0)
    return;
  uses.reads.insert(own.slot);
  if (own.init)
    read(own.init, uses);
}

/// Returns whether a read is a factor of a product that takes the packed form.
static bool isPacked(Operation *op, const StorageMap &storage) {
  auto compute = op->getParentOfType<ComputeOp>();
  if (!compute)
    return false;
  std::optional<RowsProduct> product = rowsProductOf(compute);
  return product && ((op == product->right && storage.packedOf(compute)) ||
                     (op == product->left && storage.packedLeftOf(compute)));
}

Scheduler::Uses Scheduler::arraysOf(Operation *op, bool withFactors) const {
  Uses uses;
  op->walk([&](Operation *inner) {
    if (isa<YieldOp>(inner) ||
        (!withFactors && isa<ReadOp>(inner) && isPacked(inner, storage)))
      return;
    for (Value operand : inner->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (isa<ArrayType>(operand.getType()) && !(def && op->isAncestor(def)))
        read(operand, uses);
    }
  });
  return uses;
}

Scheduler::Uses Scheduler::usesOf(Operation *op) const {
  Uses uses = arraysOf(op, /*withFactors=*/false);
  for (Value array : op->getResults()) {
    const Storage &own = storage.of(array);
    bool isPart = own.rowOf || uses.reads.contains(own.slot);
    (isPart ? uses.updates : uses.writes).insert(own.slot);
  }
  op->walk([&](AppendOp append) {
    int slot = storage.of(append.getResult()).slot;
    if (uses.reads.contains(slot))
      uses.updates.insert(slot);
  });
  // What a kernel does not give is in memory for itself alone.
  auto addOwn = [&](Value array) {
    const Storage &own = storage.of(array);
    if (own.strip < 0 && !uses.writes.contains(own.slot) &&
        !uses.updates.contains(own.slot))
      uses.scratch.insert(own.slot);
  };
  op->walk([&](ConcatOp concat) { addOwn(concat.getResult()); });
  op->walk([&](ComputeOp compute) {
    for (const Storage *factor :
         {storage.packedOf(compute), storage.packedLeftOf(compute),
          storage.rowListOf(compute)})
      if (factor)
        uses.reads.insert(factor->slot);
    if (const Storage *copy = storage.storedCopyOf(compute))
      uses.writes.insert(copy->slot);
    addOwn(compute.getResult());
  });
  if (auto kernel = dyn_cast<KernelOp>(op); kernel && !roomsOf(kernel).empty())
    uses.scratch.insert(storage.memoryOf(kernel).slot);
  return uses;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value Scheduler::batch() { return b.create<launch::BatchOp>(b.i64()); }

Value Scheduler::longest(Attribute extent) {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return b.number(number.getInt());
  return b.create<launch::LongestOp>(b.i64(), cast<StringAttr>(extent));
}

Value Scheduler::placesOf(int layout) {
  if (layout == 0)
    return batch();
  const Program &description = storage.description();
  SmallVector<Attribute> lengths;
  for (int length : description.layouts[layout].lengths)
    lengths.push_back(b.getStringAttr(description.lengths[length].name));
  return b.create<launch::PlacesOp>(b.i64(), b.getArrayAttr(lengths),
                                    b.getI64IntegerAttr(layout));
}

Value Scheduler::rowsAround(Operation *op) {
  auto loops = storage.around(op);
  if (loops.empty())
    return batch();
  return b.create<launch::RowsOp>(b.i64(), stepOf.lookup(loops.back()->op));
}

/// How many terms each sum of a product has.
Value Scheduler::termsOf(const RowsProduct &product) {
  if (product.isByRows())
    return b.number(product.count);
  ReadOp right = product.right;
  const Storage &rows = storage.of(right.getArray());
  return b.mul(placesOf(rows.layout),
               b.number(numbersIn(rows.type) / product.rowStride));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

launch::RunOp Scheduler::add(const Run &run, const Uses &uses) {
  b.setLoc(run.op->getLoc());
  auto textOf = [&](StringRef text) {
    return text.empty() ? StringAttr() : b.getStringAttr(text);
  };
  IntegerAttr phase, turn;
  if (isa<launch::PersistentOp>(
          b.getInsertionBlock()->getParentOp()->getParentOp()) &&
      run.work != Work::commit) {
    StepTime time = timeInStep(run.op);
    // After a product a block clears the rows of an example.
    if (run.work == Work::where)
      time = {time.phase + 1, 0};
    phase = b.getI64IntegerAttr(time.phase);
    turn = b.getI64IntegerAttr(time.turn);
  }
  return b.create<launch::RunOp>(
      run.work, numbers.at(run.op), textOf(run.label), /*kernel=*/"",
      run.scalars, memoriesAt(uses.reads.getArrayRef()),
      memoriesAt(uses.writes.getArrayRef()),
      memoriesAt(uses.updates.getArrayRef()),
      memoriesAt(uses.scratch.getArrayRef()), run.units, run.count,
      textOf(run.tile), phase, turn);
}

LogicalResult Scheduler::addBlock(Block &block) {
  bool isTop = isa<ProgramOp>(block.getParentOp());
  int64_t step = 0;
  for (Operation &op : block) {
    auto kernel = dyn_cast<KernelOp>(op);
    bool isStep = !kernel || !launchedIn(kernel).empty();
    if (isTop && isStep)
      ++step;
    if (isTop && isStep && marksSteps)
      b.create<launch::StepOp>(b.getI64IntegerAttr(step));
    if (isTop)
      addPacks(op);
    if (failed(addOp(op)))
      return failure();
    if (isTop && isStep)
      addDealloc(step);
  }
  return success();
}

LogicalResult Scheduler::addOp(Operation &op) {
  if (!isLaunched(op))
    return success();
  if (hasUnits(op) && !attn::unitsOf(&op))
    return op.emitOpError() << "does not define its units";
  if (auto scan = dyn_cast<ScanOp>(op))
    return addScan(scan);
  if (auto compute = dyn_cast<ComputeOp>(op))
    addCompute(compute);
  else if (auto kernel = dyn_cast<KernelOp>(op))
    addKernel(kernel);
  else if (auto concat = dyn_cast<ConcatOp>(op))
    addGeneral(&op, concat.getLabel().value_or("").str());
  else if (isa<AppendOp>(op))
    addGeneral(&op, "");
  else
    return op.emitOpError() << "cannot be compiled yet";
  return success();
}

/// An op whose units the phase `kernels` has said.
void Scheduler::addGeneral(Operation *op, std::string label) {
  Run run{.work = Work::compute, .op = op, .label = std::move(label)};
  switch (*attn::unitsOf(op)) {
  case attn::Units::examples:
    run.units = Units::examples;
    run.count = rowsAround(op);
    break;
  case attn::Units::rows: {
    auto kernel = dyn_cast<KernelOp>(op);
    auto compute = kernel ? kernel.getMembers().front() : cast<ComputeOp>(op);
    run.units = Units::rows;
    run.count = placesOf(
        storage.layoutOfLength(cast<StringAttr>(compute.getExtents()[0])));
    break;
  }
  case attn::Units::places:
    run.units = Units::places;
    break;
  case attn::Units::ranges:
    run.units = Units::ranges;
    break;
  case attn::Units::once:
    break;
  }
  add(run, usesOf(op));
}

void Scheduler::addCompute(ComputeOp op) {
  if (auto product = rowsProductOf(op))
    return addProduct(op, *product);
  if (auto product = exampleProductOf(op)) {
    Values scalars = scalarsOf(op, *product);
    add({.work = Work::compute,
         .op = op,
         .label = labelOf(op),
         .units = Units::examples,
         .count = rowsAround(op),
         .scalars = scalars},
        usesOf(op));
    return;
  }
  if (!addScatter(op))
    addGeneral(op, labelOf(op));
}

void Scheduler::addKernel(KernelOp op) {
  SmallVector<Operation *> ops = launchedIn(op);
  if (ops.empty())
    return;
  SmallVector<Operation *> labelled;
  op.walk<WalkOrder::PreOrder>(
      [&](Operation *each) { labelled.push_back(each); });
  Run run{.work = Work::compute, .op = op, .label = joinedLabels(labelled)};
  switch (op.getSchedule()) {
  case Schedule::loop:
  case Schedule::places:
    return addGeneral(op, run.label);
  case Schedule::rows:
    run.units = Units::examples;
    run.count = rowsAround(ops.front());
    break;
  case Schedule::columns:
    run.units = Units::tiles;
    run.count = rowsAround(ops.front());
    run.scalars = {run.count};
    break;
  case Schedule::strips: {
    addCopies(op);
    StripGroup group = stripsOf(op);
    run.units = Units::strips;
    if (!group.weights) {
      run.count = batch();
      run.scalars = scalarsOf(group);
      break;
    }
    auto number = dyn_cast<IntegerAttr>(group.rows);
    run.count =
        number ? b.mul(batch(), b.number(number.getInt()))
               : placesOf(storage.layoutOfLength(cast<StringAttr>(group.rows)));
    run.scalars = {run.count};
    break;
  }
  }
  add(run, usesOf(op));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void Scheduler::addRunList(ComputeOp op) {
  Uses uses = arraysOf(op);
  uses.writes.insert(storage.rowListOf(op)->slot);
  add({.work = Work::list,
       .op = op,
       .label = labelOf(op),
       .units = Units::examples,
       .count = rowsAround(op)},
      uses);
}

void Scheduler::addProduct(ComputeOp op, const RowsProduct &product) {
  if (product.gathered)
    addRunList(op);
  const Storage &own = storage.of(op.getResult());
  Value terms = termsOf(product), rows = b.number(product.count);
  if (product.isByRows()) {
    Value places = own.layout == 0 ? rowsAround(op) : placesOf(own.layout);
    rows = b.mul(places, b.number(numbersIn(own.type) / product.width));
  }
  Uses uses = usesOf(op), ofResult;
  ofResult.updates.insert(own.slot);
  if (product.columns() != product.width) {
    add({.work = Work::clear,
         .op = op,
         .label = labelOf(op),
         .units = Units::rows,
         .count = rows},
        ofResult);
    if (uses.writes.remove(own.slot))
      uses.updates.insert(own.slot);
  }
  const Storage *list = storage.rowListOf(op);
  if (list && !product.gathered) {
    Uses ofList;
    ReadOp left = product.left, right = product.right;
    read(left.getArray(), ofList);
    // An example without such a row takes the weights (ProductRows.cpp).
    if (const Storage *packed = storage.packedOf(op))
      ofList.reads.insert(packed->slot);
    else
      read(right.getArray(), ofList);
    ofList.writes.insert(list->slot);
    add({.work = Work::list,
         .op = op,
         .label = labelOf(op),
         .units = Units::examples,
         .count = isProductOverPlaces(op) ? batch() : rowsAround(op)},
        ofList);
  }
  addTiles(op, product, {rows, terms}, uses);
  if (!product.hasRowCondition)
    return;
  Uses ofCondition;
  op.getCondition().walk(
      [&](ReadOp each) { read(each.getArray(), ofCondition); });
  ofCondition.updates.insert(own.slot);
  add({.work = Work::where,
       .op = op,
       .label = labelOf(op),
       .units = Units::examples,
       .count = rowsAround(op)},
      ofCondition);
}

void Scheduler::addTiles(ComputeOp op, const RowsProduct &, Values sizes,
                         const Uses &uses) {
  add({.work = Work::compute,
       .op = op,
       .label = labelOf(op),
       .units = Units::tiles,
       .count = sizes.front(),
       .scalars = sizes},
      uses);
}
