//===- Storage.cpp - where the arrays of a program lie --------------------===//

#include "codegen/cpu/program/Storage.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Product.h"
#include "passes/batch/Batch.h"
#include "passes/batch/SplitDecoder.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;
using Term = Program::Term;

SmallVector<Attribute> fovea::codegen::lengthsIn(ArrayType type) {
  SmallVector<Attribute> names;
  llvm::copy_if(type.getShape(), std::back_inserter(names),
                llvm::IsaPred<StringAttr>);
  return names;
}

int64_t fovea::codegen::numbersIn(ArrayType type) {
  int64_t product = 1;
  for (Attribute extent : type.getShape())
    if (auto number = dyn_cast<IntegerAttr>(extent))
      product *= number.getInt();
  return product;
}

StorageMap::StorageMap(ProgramOp op, Type real, GemmTile tile,
                       ArrayRef<StripGroup> groups,
                       ArrayRef<Epilogue> epilogues, bool keepsPacked)
    : real(real), tile(tile), keepsPacked(keepsPacked) {
  program.entry = op.getSymName().str();
  program.layouts.emplace_back(); // 0: without lengths
  for (const StripGroup &group : groups)
    for (const StripMember &member : group.members)
      groupsByOp[member.op] = &group;
  for (const Epilogue &epilogue : epilogues)
    for (Operation *each : epilogue.ops())
      epiloguesByOp[each] = &epilogue;
  addLengths(op);
  addBlock(op.getBody().front(), 0);
}

const Storage &StorageMap::of(Value array) const {
  auto found = storage.find(array);
  assert(found != storage.end() && "every array of a program has a place");
  return found->second;
}

const Storage *StorageMap::swapOf(Operation *loop, unsigned carry) const {
  auto found = swaps.find({loop, carry});
  return found == swaps.end() ? nullptr : &found->second;
}

SmallVector<const Loop *> StorageMap::around(Operation *op) const {
  SmallVector<const Loop *> result;
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (auto found = loops.find(parent); found != loops.end())
      result.insert(result.begin(), found->second.get());
  return result;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Memory that each thread has a part of; its size is for the caller to add.
Program::Array &StorageMap::addThreadMemory(const void *owner, int position) {
  auto type = ArrayType::get({}, Float64Type::get(real.getContext()));
  Storage memory = allocate(type, /*perExample=*/false, nullptr, position);
  Program::Array &array = program.arrays.back();
  array.count = 0;
  array.partSlot = newSlot();
  stripMemory[owner] = {memory.slot, array.partSlot};
  return array;
}

/// The strips of a group, and the memory that each thread has for them.
void StorageMap::addGroup(const StripGroup &group, int position) {
  Program::Array &array = addThreadMemory(&group, position);
  auto add = [&](Term::Kind kind, int64_t value = 0) {
    array.part.push_back({kind, value});
  };
  for (const Room &room : group.rooms) {
    bool isFirst = array.part.empty();
    add(Term::Number, room.fixedCount());
    for (const Room::Factor &factor : room.factors) {
      auto length = dyn_cast<StringAttr>(factor.extent);
      if (!length)
        continue;
      add(Term::Length, lengthIds.at(length.getValue()));
      if (factor.multiple != 1) {
        add(Term::Number, factor.multiple);
        add(Term::CeilDivide);
        add(Term::Number, factor.multiple);
        add(Term::Multiply);
      }
      if (factor.extra != 0) {
        add(Term::Number, factor.extra);
        add(Term::Add);
      }
      add(Term::Multiply);
    }
    if (!isFirst)
      add(Term::Add);
  }
  for (auto [number, strip] : llvm::enumerate(group.strips)) {
    Storage &own = storage[strip.array];
    own.type = cast<ArrayType>(strip.array.getType());
    own.perExample = true;
    own.strip = static_cast<int>(number);
    own.rowAxis = strip.rowAxis;
  }
}

/// The sums of the products of an epilogue, and where the rows of their left
/// sides lie: each thread has those of some rows.
void StorageMap::addEpilogue(const Epilogue &epilogue, int position) {
  int64_t count = 0;
  for (auto [number, product] : llvm::enumerate(epilogue.products)) {
    ComputeOp op = product.op;
    Storage own = placed(op.getResult().getType(), /*perExample=*/true, op);
    own.strip = static_cast<int>(number);
    own.parts = product.parts;
    storage[op.getResult()] = own;
    count += epilogueRows * (product.stride(epilogue.width) + listEntry(real));
  }
  addThreadMemory(&epilogue, position).part.push_back({Term::Number, count});
}

static Program::Element elementKind(Type type) {
  if (type.isInteger(1))
    return Program::Element::Bit;
  if (type.isInteger(64))
    return Program::Element::I64;
  return type.isF32() ? Program::Element::F32 : Program::Element::F64;
}

std::vector<int64_t> StorageMap::describe(ArrayType type) const {
  std::vector<int64_t> shape;
  for (Attribute extent : type.getShape()) {
    auto number = dyn_cast<IntegerAttr>(extent);
    shape.push_back(
        number ? number.getInt()
               : -1 - lengthIds.at(cast<StringAttr>(extent).getValue()));
  }
  return shape;
}

/// An array without memory.
Storage StorageMap::placed(ArrayType type, bool perExample, Operation *where,
                           Program::Layout::Kind kind) {
  Storage result;
  result.type = type;
  result.perExample = perExample;
  SmallVector<Attribute> lengths = lengthsIn(type);
  result.layout = perExample ? layoutOf(lengths, kind) : -1;
  if (result.layout == 0)
    for (const Loop *loop : around(where))
      if (loop->order >= 0)
        result.ranks = loop;
  return result;
}

Storage StorageMap::allocate(ArrayType type, bool perExample, Operation *where,
                             int position, StringRef name, Program::Role role,
                             Program::Layout::Kind kind) {
  Storage result = placed(type, perExample, where, kind);
  result.slot = newSlot();
  Program::Array array;
  array.name = name.str();
  array.role = role;
  array.element = elementKind(elementOf(type.getElementType()));
  array.layout = result.layout;
  array.count = numbersIn(type);
  array.slot = result.slot;
  array.firstUse = array.lastUse = position;
  array.shape = describe(type);
  arrayOfSlot[array.slot] = program.arrays.size();
  program.arrays.push_back(std::move(array));
  return result;
}

const Storage *StorageMap::rowListOf(ComputeOp op) const {
  auto found = rowLists.find(op);
  return found == rowLists.end() ? nullptr : &found->second;
}

bool StorageMap::hasRowList(RowsProduct product) const {
  return of(product.left.getArray()).rowOf ||
         product.kind == ProductKind::place;
}

void StorageMap::addRowList(ComputeOp op, RowsProduct product, int position) {
  if (!hasRowList(product) || epilogueOf(op))
    return;
  ArrayType result = op.getResult().getType();
  auto type = ArrayType::get(result.getShape().getValue().drop_back(),
                             IntegerType::get(op.getContext(), 64));
  rowLists[op] = allocate(type, /*perExample=*/true, op, position);
}

const Storage *StorageMap::packedOf(ComputeOp op) const {
  return packed.lookup(op);
}

int64_t StorageMap::packedPartsOf(ComputeOp op) const {
  if (const Epilogue *epilogue = epilogueOf(op))
    for (const Epilogue::Product &product : epilogue->products)
      if (product.op == op)
        return product.parts;
  return 1;
}

bool StorageMap::isKept(const Storage &array) const {
  const Program::Array &entry = program.arrays[arrayOfSlot.lookup(array.slot)];
  return entry.role == Program::Role::Packed;
}

void StorageMap::addPacked(ComputeOp op, int position) {
  std::optional<RowsProduct> product = rowsProductOf(op);
  if (!product)
    return;
  Value right = product->right.getArray();
  bool isRows = product->isByRows();
  assert((product->kind != ProductKind::weights ||
          of(product->left.getArray()).ranks == of(op.getResult()).ranks) &&
         "the rows of both sides have one order");
  PackedKey key = {right.getAsOpaquePointer(), product->rightFirst,
                   product->rowStride,         product->columnStride,
                   product->columns(),         product->count,
                   packedPartsOf(op)};
  if (!isRows)
    key = {op.getAsOpaquePointer(), 0, 0, 0, 0, 0, 1};
  auto [place, isNew] = packedArrays.try_emplace(key);
  Storage &storage = place->second;
  packed[op] = &storage;
  if (isRows)
    addRowList(op, *product, position);
  if (!isNew) {
    Program::Array &array = program.arrays[arrayOfSlot.lookup(storage.slot)];
    array.lastUse = std::max(array.lastUse, position);
    return;
  }
  // Panels of packed columns; the terms of a sum over examples are the places
  // of the right side.
  OpBuilder builder(op.getContext());
  int64_t columns = tile.panels(product->columns()) * tile.columns();
  auto type = cast<ArrayType>(right.getType());
  SmallVector<Attribute> extents = {
      builder.getI64IntegerAttr(isRows ? product->count * columns : columns)};
  if (!isRows)
    extents.insert(extents.begin(), type.getShape().begin(),
                   type.getShape().end() - 1);
  auto packedType = ArrayType::get(extents, type.getElementType());
  Operation *top = op;
  while (!isa<ProgramOp>(top->getParentOp()))
    top = top->getParentOp();
  bool isKept = keepsPacked && right.getDefiningOp<ParamOp>();
  storage = allocate(packedType, !isRows, top, position, "",
                     isKept ? Program::Role::Packed : Program::Role::Temporary);
}

void StorageMap::use(Value array, int position) {
  if (of(array).strip >= 0)
    return;
  auto found = arrayOfSlot.find(of(array).slot);
  program.arrays[found->second].lastUse =
      std::max(program.arrays[found->second].lastUse, position);
}

/// The op that computes an array, behind its views and inside of its kernel.
static Operation *computedBy(Value array) {
  for (Value inner; (inner = insideKernel(behindViews(array))) != array;)
    array = inner;
  return array.getDefiningOp();
}

/// Whether an op stands in the body of a loop, by itself or in a kernel.
static bool isIn(Operation *loop, Operation *op) {
  Operation *parent = op->getParentOp();
  return (isa<KernelOp>(parent) ? parent->getParentOp() : parent) == loop;
}

/// Of two ops in one loop, whether `a` stands before `b`: those of a kernel one
/// by one.
static bool isBefore(Operation *a, Operation *b) {
  if (a->getBlock() == b->getBlock())
    return a->isBeforeInBlock(b);
  auto inLoop = [](Operation *op) {
    auto kernel = dyn_cast<KernelOp>(op->getParentOp());
    return kernel ? kernel.getOperation() : op;
  };
  return inLoop(a)->isBeforeInBlock(inLoop(b));
}

static bool isSummedOverExamples(Value array) {
  return llvm::any_of(array.getUsers(), [&](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return isSummedOverExamples(reshape.getResult());
    if (auto kernel = dyn_cast<KernelOp>(user->getParentOp());
        kernel && isa<YieldOp>(user))
      return llvm::any_of(kernel.getResults(), [&](OpResult result) {
        return kernel.getYielded(result) == array &&
               isSummedOverExamples(result);
      });
    auto read = dyn_cast<ReadOp>(user);
    return read &&
           batchOf(read->getParentOfType<ComputeOp>()) == BatchKind::sum;
  });
}

/// Rows that are neither copies nor results of matrix products, whose rows
/// lie one behind the other, are written where they stay.
void StorageMap::findRowsInPlace(Operation *op, const Loop *loop) {
  auto scan = dyn_cast<ScanOp>(op);
  for (unsigned i = 0; scan && i < scan.getNumStacked(); ++i) {
    Operation *source = computedBy(scan.getStackedValue(i));
    if (!source || !isIn(op, source) || scan.getAxes()[i] != 0 ||
        isa<ScanOp>(source) || batchOf(source) != batchOf(op) ||
        inPlace.contains(source->getResult(0)) ||
        isSummedOverExamples(source->getResult(0)))
      continue;
    auto compute = dyn_cast<ComputeOp>(source);
    if (compute && rowsProductOf(compute))
      continue;
    inPlace[source->getResult(0)] = {scan.getStacked(i), loop};
  }
}

/// A carry is the row of the step before, where its rows are kept.
Storage StorageMap::carryOf(Operation *op, unsigned number, int position) {
  Block &body = op->getRegion(0).front();
  BlockArgument carry = body.getArgument(1 + number);
  auto type = cast<ArrayType>(carry.getType());
  bool perExample = batchOf(op) == BatchKind::each;
  Operation *yield = body.getTerminator();
  auto scan = dyn_cast<ScanOp>(op);
  bool isKnown = perExample || isa<IntegerAttr>(op->getAttr("extent"));
  for (unsigned i = 0; scan && isKnown && i < scan.getNumStacked(); ++i) {
    Operation *source = computedBy(scan.getNext(number));
    auto row = source ? inPlace.find(source->getResult(0)) : inPlace.end();
    if (row == inPlace.end() || row->second.first != scan.getStacked(i) ||
        isSummedOverExamples(carry))
      continue;
    Storage alias = placed(type, perExample, yield);
    std::tie(alias.rowOf, alias.along) = row->second;
    alias.slot = of(alias.rowOf).slot;
    alias.init = scan.getInits()[number];
    return alias;
  }
  return allocate(type, perExample, yield, position);
}

/// Whether each element of `op` reads the element of `array` at its own place.
static bool isReadAtOwnPlace(Value array, Operation *user, ComputeOp op) {
  ReadOp read = plainRead(user, array);
  if (!read || op.getReducer() != Reducer::none ||
      op.getResult().getType() != array.getType())
    return false;
  for (auto [number, index] : llvm::enumerate(read.getIndices()))
    if (index != op.getIndex(number))
      return false;
  return true;
}

/// The next value of a carry is written over it, where nobody reads the carry
/// any more by then.
void StorageMap::findCarriesInPlace(Operation *op) {
  Block &body = op->getRegion(0).front();
  Operation *yield = body.getTerminator();
  for (unsigned i = 0; i + 1 < body.getNumArguments(); ++i) {
    BlockArgument carry = body.getArgument(1 + i);
    auto next =
        dyn_cast_if_present<ComputeOp>(computedBy(yield->getOperand(i)));
    if (!next || !isIn(op, next) || of(carry).rowOf ||
        inPlace.contains(next.getResult()) || batchOf(next) != batchOf(op))
      continue;
    bool isRead = llvm::any_of(carry.getUsers(), [&](Operation *user) {
      Operation *reader = user;
      while (!isIn(op, reader))
        reader = reader->getParentOp();
      // Some of its columns are written before others of them are read.
      const Epilogue *epilogue = epilogueOf(next);
      if (epilogue && epilogueOf(reader) == epilogue)
        return !isReadAtOwnPlace(carry, user, cast<ComputeOp>(reader));
      if (reader == next)
        return !isReadAtOwnPlace(carry, user, next);
      return !isBefore(reader, next) || isa<ReshapeOp>(reader);
    });
    if (!isRead)
      overCarry[next.getResult()] = carry;
  }
}

void StorageMap::addLoop(Operation *op, int position) {
  auto loop = std::make_unique<Loop>();
  loop->op = op;
  loop->stepSlot = newSlot();
  loop->rowsSlot = newSlot();
  auto extent = op->getAttrOfType<StringAttr>("extent");
  bool isInner = !around(op).empty();
  bool perExample = batchOf(op) == BatchKind::each;
  if (extent && !isInner && perExample) {
    Program::Order order;
    order.length = lengthIds.at(extent.getValue());
    order.orderSlot = newSlot();
    order.activeSlot = newSlot();
    loop->order = program.orders.size();
    program.orders.push_back(order);
  }
  loops[op] = std::move(loop);
  Block &body = op->getRegion(0).front();
  unsigned numCarries = body.getNumArguments() - 1;
  Operation *yield = body.getTerminator();
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    storage[result] =
        allocate(cast<ArrayType>(result.getType()), perExample, op, position);
  findRowsInPlace(op, loops.at(op).get());
  for (unsigned i = 0; i < numCarries; ++i)
    storage[body.getArgument(1 + i)] = carryOf(op, i, position);
  findCarriesInPlace(op);
  addBlock(body, position);
  for (unsigned i = 0; i < numCarries; ++i) {
    auto next = dyn_cast<BlockArgument>(yield->getOperand(i));
    if (next && next.getOwner() == &body && next.getArgNumber() != 1 + i)
      swaps[{op, i}] = allocate(cast<ArrayType>(next.getType()), perExample,
                                yield, position);
  }
}

static Program::Layout::Kind layoutKindOf(DataPlace place) {
  switch (place) {
  case DataPlace::packed:
    return Program::Layout::Packed;
  case DataPlace::example:
    return Program::Layout::OfExample;
  case DataPlace::buffer:
    return Program::Layout::InBuffer;
  }
  llvm_unreachable("data lies in one of three places");
}

/// Every op of a block is a step, those of a kernel are one.
void StorageMap::addBlock(Block &block, int position) {
  bool isTop = isa<ProgramOp>(block.getParentOp());
  for (Operation &op : block) {
    position += isTop;
    if (auto kernel = dyn_cast<KernelOp>(op))
      addKernel(kernel, position);
    else
      addOp(op, position);
  }
}

void StorageMap::addKernel(KernelOp kernel, int position) {
  if (kernel.getSchedule() == Schedule::strips)
    addGroup(*groupOf(kernel.getMembers().front()), position);
  if (kernel.getSchedule() == Schedule::columns)
    addEpilogue(*epilogueOf(kernel.getMembers().front()), position);
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (auto inner = dyn_cast<KernelOp>(op))
      addKernel(inner, position);
    else
      addOp(op, position);
  }
  for (OpResult result : kernel->getResults()) {
    // A copy: the table that it lies in may grow.
    Storage yielded = of(kernel.getYielded(result));
    storage[result] = yielded;
  }
}

void StorageMap::addOp(Operation &op, int position) {
  if (auto output = dyn_cast<OutputOp>(op)) {
    // Kept to the end; the name is given to a copy of the description.
    Program::Array array =
        program.arrays[arrayOfSlot.lookup(of(output.getValue()).slot)];
    array.name = output.getTarget().str();
    array.role = Program::Role::Output;
    array.shape = describe(output.getValue().getType());
    program.arrays.push_back(std::move(array));
    use(output.getValue(), std::numeric_limits<int>::max());
    return;
  }
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<ArrayType>(operand.getType()) && storage.contains(operand))
        use(operand, position);
  });
  if (isa<ScanOp, SearchOp>(op)) {
    addLoop(&op, position);
    return;
  }
  if (isa<StepOp>(op) && program.stepSlot == 0)
    program.stepSlot = newSlot();
  if (op.getNumResults() != 1 || !isa<ArrayType>(op.getResult(0).getType()))
    return;
  Value result = op.getResult(0);
  if (storage.contains(result)) {
    // A strip; the weights of its product are packed as any others.
    if (auto compute = dyn_cast<ComputeOp>(op))
      addPacked(compute, position);
    return;
  }
  auto type = cast<ArrayType>(result.getType());
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    Storage alias = of(reshape.getOperand());
    alias.type = type;
    storage[result] = alias;
  } else if (auto data = dyn_cast<DataOp>(op)) {
    storage[result] =
        allocate(type, true, &op, position, data.getSource(),
                 Program::Role::Data, layoutKindOf(placeOfData(data)));
  } else if (auto append = dyn_cast<AppendOp>(op)) {
    // In place: nobody reads the old array afterwards.
    Storage alias = of(append.getArray());
    storage[result] = alias;
  } else if (auto param = dyn_cast<ParamOp>(op)) {
    storage[result] = allocate(type, false, &op, position, param.getPath(),
                               Program::Role::Parameter);
  } else {
    bool perExample = batchOf(&op) == BatchKind::each;
    if (auto row = inPlace.find(result); row != inPlace.end()) {
      Storage alias = placed(type, perExample, &op);
      std::tie(alias.rowOf, alias.along) = row->second;
      alias.slot = of(alias.rowOf).slot;
      storage[result] = alias;
      use(result, position);
    } else if (auto carry = overCarry.find(result); carry != overCarry.end()) {
      Storage alias = of(carry->second);
      alias.type = type;
      storage[result] = alias;
    } else {
      storage[result] = allocate(type, perExample, &op, position);
    }
    if (auto compute = dyn_cast<ComputeOp>(op))
      addPacked(compute, position);
  }
}
