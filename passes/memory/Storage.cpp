//===- Storage.cpp - the frame of a placed program ------------------------===//

#include "passes/memory/Storage.h"
#include "dialect/Precision.h"
#include "passes/analysis/Batch.h"
#include "passes/batch/SplitDecoder.h"
#include "passes/kernels/Members.h"
#include "passes/memory/Locations.h"
#include "passes/memory/Rooms.h"
#include "passes/memory/Scatters.h"
#include "runtime/data/Quantise.h"

#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using runtime::Program;
using runtime::StorageFormat;
using Term = Program::Term;

SmallVector<Attribute> fovea::attn::lengthsIn(ArrayType type) {
  SmallVector<Attribute> names;
  llvm::copy_if(type.getShape(), std::back_inserter(names),
                llvm::IsaPred<StringAttr>);
  return names;
}

int64_t fovea::attn::numbersIn(ArrayType type) {
  int64_t product = 1;
  for (Attribute extent : type.getShape())
    if (auto number = dyn_cast<IntegerAttr>(extent))
      product *= number.getInt();
  return product;
}

/// Rows that lie in one piece, times weights.
static bool isByWholeRows(const RowsProduct &product) {
  return product.isByRows() && !product.gathered;
}

/// Whether the terms of each column are whole groups of 4 bits, which lie along
/// the last axis of the weights.
static bool hasWholeGroups(const RowsProduct &product, ArrayType weights) {
  int64_t extent =
      cast<IntegerAttr>(weights.getShape().getValue().back()).getInt();
  int64_t first = product.rightFirst % extent, last = first + product.count;
  constexpr int64_t size = runtime::weightsOfGroup;
  return product.rowStride == 1 && product.columnStride % extent == 0 &&
         first % size == 0 &&
         (last == extent || (last < extent && last % size == 0));
}

/// Whether panels of a right side have this format.
static bool packs(ComputeOp op, const RowsProduct &product, ArrayType weights,
                  const StorageFormat &format) {
  if (!packsProducts(op) || !isByWholeRows(product))
    return false;
  switch (format.kind) {
  case StorageFormat::Rounded:
    return true;
  case StorageFormat::Whole:
    return precisionOf(op) && precisionOf(op).isInteger(8);
  case StorageFormat::Groups:
    return hasWholeGroups(product, weights);
  }
  llvm_unreachable("every kind of format has an answer");
}

const StorageFormat *fovea::attn::storedFormatOf(ParamOp param, Type real) {
  const StorageFormat *format = runtime::narrowFormat(param.getPath().str());
  if (!format || !real.isF32() || !packsProducts(param))
    return nullptr;
  bool reads = llvm::all_of(param->getUsers(), [&](Operation *user) {
    auto read = dyn_cast<ReadOp>(user);
    auto op = read ? read->getParentOfType<ComputeOp>() : ComputeOp();
    if (!op)
      return false;
    if (std::optional<RowsProduct> product = rowsProductOf(op))
      return product->right == read &&
             packs(op, *product, param.getResult().getType(), *format);
    return op.getReducer() == Reducer::none && !exampleProductOf(op);
  });
  return reads ? format : nullptr;
}

const StorageFormat *fovea::attn::packedFormatOf(ComputeOp op, Type real) {
  std::optional<RowsProduct> product = rowsProductOf(op);
  auto param =
      product ? product->right.getArray().getDefiningOp<ParamOp>() : ParamOp();
  return param ? storedFormatOf(param, real) : nullptr;
}

/// The bytes of packed panels of so many terms.
static int64_t bytesOfPanels(const StorageFormat &format, int64_t terms,
                             int64_t columns) {
  switch (format.kind) {
  case StorageFormat::Rounded:
    return terms * columns * format.bytes;
  case StorageFormat::Whole:
    // In groups of up to four, and a number of four bytes per column.
    return (llvm::divideCeil(terms, 4) + 1) * 4 * columns;
  case StorageFormat::Groups:
    return llvm::divideCeil(terms, format.weights) * columns * format.bytes;
  }
  llvm_unreachable("every kind of format has panels");
}

StorageMap::StorageMap(ProgramOp op, Type real)
    : real(real), target(TargetAttr::of(op)) {
  program.entry = op.getSymName().str();
  program.layouts.emplace_back(); // 0: without lengths
  addLengths(op);
  addBlock(op.getBody().front(), 0);
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

const Storage &StorageMap::of(Value array) const {
  auto found = storage.find(array);
  assert(found != storage.end() && "every array of a program has a place");
  return found->second;
}

const Storage &StorageMap::memory(ArrayLocationAttr location) const {
  auto found = memories.find(location.getNumber());
  assert(found != memories.end() && "a memory is there before it is shared");
  return found->second;
}

std::optional<unsigned> StorageMap::numberOf(int slot) const {
  auto found = numberOfSlot.find(slot);
  return found == numberOfSlot.end() ? std::nullopt
                                     : std::optional(found->second);
}

const Program::Array &StorageMap::arrayAt(int slot) const {
  return program.arrays[arrayOfSlot.at(slot)];
}

const Storage *StorageMap::packedOf(ComputeOp op) const {
  ArrayLocationAttr location = packedLocationOf(op);
  return location && location.isMemory() ? &memory(location) : nullptr;
}

const Storage *StorageMap::packedLeftOf(ComputeOp op) const {
  ArrayLocationAttr location = packedLeftLocationOf(op);
  return location ? &memory(location) : nullptr;
}

const Storage *StorageMap::storedCopyOf(ComputeOp op) const {
  ArrayLocationAttr location = attn::storedCopyOf(op);
  return location ? &memory(location) : nullptr;
}

const Storage *StorageMap::rowListOf(ComputeOp op) const {
  ArrayLocationAttr location = listLocationOf(op);
  return location && location.isMemory() ? &memory(location) : nullptr;
}

const Storage *StorageMap::swapOf(Operation *loop, unsigned carry) const {
  auto swaps = loop->getAttrOfType<ArrayAttr>(swapsName);
  auto location =
      swaps ? dyn_cast<ArrayLocationAttr>(swaps[carry]) : ArrayLocationAttr();
  return location ? &memory(location) : nullptr;
}

int64_t StorageMap::packedPartsOf(ComputeOp op) const {
  KernelOp kernel = kernelAround(op);
  return kernel && kernel.getSchedule() == Schedule::columns
             ? partsOf(op, kernel)
             : 1;
}

const StorageFormat *StorageMap::formatOf(const Storage &array) const {
  const Program::Array &entry = program.arrays[arrayOfSlot.lookup(array.slot)];
  return entry.role == Role::Parameter && entry.element == Program::Element::Bit
             ? runtime::narrowFormat(entry.name)
             : nullptr;
}

bool StorageMap::isKept(const Storage &array) const {
  const Program::Array &entry = program.arrays[arrayOfSlot.lookup(array.slot)];
  return entry.role == Role::Packed;
}

SmallVector<const Loop *> StorageMap::around(Operation *op) const {
  SmallVector<const Loop *> result;
  for (Operation *loop : loopsAround(op))
    result.push_back(loops.at(loop).get());
  return result;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Program::Element elementKind(Type type) {
  if (type.isInteger(1))
    return Program::Element::Bit;
  if (type.isInteger(64))
    return Program::Element::I64;
  if (type.isBF16())
    return Program::Element::BF16;
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
                           LayoutKind kind) {
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
                             int position, StringRef name, Role role,
                             LayoutKind kind) {
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

void StorageMap::use(Value array, int position) {
  if (of(array).strip >= 0)
    return;
  auto found = arrayOfSlot.find(of(array).slot);
  program.arrays[found->second].lastUse =
      std::max(program.arrays[found->second].lastUse, position);
}

/// The workspace of a kernel: each thread has its own.
void StorageMap::addRooms(KernelOp kernel, int position) {
  SmallVector<RoomAttr> rooms = roomsOf(kernel);
  if (rooms.empty())
    return;
  auto type = ArrayType::get({}, Float64Type::get(real.getContext()));
  Storage memory = allocate(type, /*perExample=*/false, nullptr, position);
  Program::Array &array = program.arrays.back();
  array.count = 0;
  array.partSlot = newSlot();
  if (target.getSharedBytes() != 0) {
    array.onChip = target.getSharedBytes();
    array.parts = target.getWorkspaces();
  }
  threadMemory[kernel] = {memory.slot, array.partSlot};
  auto add = [&](Term::Kind kind, int64_t value = 0) {
    array.part.push_back({kind, value});
  };
  if (llvm::all_of(rooms, [](RoomAttr room) { return room.isFixed(); })) {
    int64_t count = 0;
    for (RoomAttr room : rooms)
      count += countIn(room, real);
    return add(Term::Number, count);
  }
  for (RoomAttr room : rooms) {
    bool isFirst = array.part.empty();
    add(Term::Number, countIn(room, real));
    for (const RoomExtent &each : room.getExtents()) {
      auto length = dyn_cast<StringAttr>(each.extent);
      if (!length)
        continue;
      add(Term::Length, lengthIds.at(length.getValue()));
      if (each.multiple != 1) {
        add(Term::Number, each.multiple);
        add(Term::CeilDivide);
        add(Term::Number, each.multiple);
        add(Term::Multiply);
      }
      if (each.extra != 0) {
        add(Term::Number, each.extra);
        add(Term::Add);
      }
      add(Term::Multiply);
    }
    if (!isFirst)
      add(Term::Add);
  }
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// A row of a stacked array of a loop around `where`.
Storage StorageMap::rowAt(ArrayType type, bool perExample, Operation *where,
                          ArrayLocationAttr location) {
  Storage row = placed(type, perExample, where);
  row.slot = memory(location).slot;
  for (Operation *loop : loopsAround(where))
    for (OpResult result : loop->getResults())
      if (of(result).slot == row.slot) {
        row.rowOf = result;
        row.along = loops.at(loop).get();
      }
  assert(row.rowOf && "a row is one of a loop around it");
  return row;
}

/// For an array that keeps some rows at a time.
Storage StorageMap::inRoom(ComputeOp op, KernelOp kernel) {
  Storage own;
  if (kernel.getSchedule() == Schedule::columns) {
    own = placed(op.getResult().getType(), /*perExample=*/true, op);
    own.parts = partsOf(op, kernel);
  } else {
    own.type = op.getResult().getType();
    own.perExample = true;
    own.rowAxis = sharedBy(op).back();
  }
  own.strip = numStrips[kernel]++;
  return own;
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

Storage StorageMap::parameter(ParamOp op, int position) {
  ArrayType type = op.getResult().getType();
  Storage own = allocate(type, /*perExample=*/false, op, position, op.getPath(),
                         Role::Parameter);
  const StorageFormat *format = storedFormatOf(op, real);
  if (!format)
    return own;
  // An array of bytes.
  Program::Array &array = program.arrays.back();
  array.element = Program::Element::Bit;
  array.count = runtime::narrowBytes(*format, array.shape);
  return own;
}

/// The result of an op with one array.
void StorageMap::addArray(Operation *op, int position) {
  Value result = op->getResult(0);
  auto type = cast<ArrayType>(result.getType());
  ArrayLocationAttr location = locationOf(result);
  assert(location && "the phase 'memory' has run");
  Storage own;
  if (Value source = viewedBy(op)) {
    own = of(source);
    own.type = type;
  } else {
    bool perExample = batchOf(op) == BatchKind::each;
    switch (location.getKind()) {
    case LocationKind::room:
      own = inRoom(cast<ComputeOp>(op), kernelAround(op));
      break;
    case LocationKind::row:
      own = rowAt(type, perExample, op, location);
      break;
    case LocationKind::same:
      own = memory(location);
      own.type = type;
      break;
    case LocationKind::argument:
      if (auto data = dyn_cast<DataOp>(op))
        own =
            allocate(type, /*perExample=*/true, op, position, data.getSource(),
                     Role::Data, layoutKindOf(placeOfData(data)));
      else
        own = parameter(cast<ParamOp>(op), position);
      name(location, own);
      break;
    default:
      own = allocate(type, perExample, op, position);
      name(location, own);
    }
  }
  storage[result] = own;
  use(result, position);
}

void StorageMap::name(ArrayLocationAttr location, const Storage &memory) {
  memories[location.getNumber()] = memory;
  numberOfSlot.try_emplace(memory.slot, location.getNumber());
}

/// Whether a memory exists already; its live range extends to here.
bool StorageMap::usesKnown(ArrayLocationAttr location, int position) {
  auto known = memories.find(location.getNumber());
  if (known == memories.end())
    return false;
  Program::Array &array =
      program.arrays[arrayOfSlot.lookup(known->second.slot)];
  array.lastUse = std::max(array.lastUse, position);
  return true;
}

/// The copy of a side of a product: two bf16 numbers per real number.
void StorageMap::addCopy(ComputeOp op, ArrayLocationAttr location,
                         const CopiedSide &side, int position) {
  if (usesKnown(location, position))
    return;
  CopySize size = sizeOfCopy(side, target);
  SmallVector<Attribute> extents = size.lengths;
  extents.push_back(Builder(op.getContext()).getI64IntegerAttr(size.count));
  name(location,
       allocate(
           ArrayType::get(extents, op.getResult().getType().getElementType()),
           size.isOfEach, op, position));
  program.arrays.back().extra = size.extra;
}

/// The packed factors of a product, the list of its rows, and the copy that an
/// equation stores.
void StorageMap::addProduct(ComputeOp op, int position) {
  if (ArrayLocationAttr copy = attn::storedCopyOf(op))
    addCopy(op, copy, storedRows(op), position);
  std::optional<RowsProduct> product = rowsProductOf(op);
  ArrayLocationAttr packed = packedLocationOf(op), list = listLocationOf(op);
  if (list && list.isMemory())
    name(list, allocate(product ? rowListType(op) : termListType(op),
                        /*perExample=*/true, op, position));
  KernelOp kernel = kernelAround(op);
  if (!product && packed && packed.isMemory()) {
    StripDecisions::Sides sides = decideStrips(kernel).copies.lookup(op);
    if (ArrayLocationAttr left = packedLeftLocationOf(op))
      addCopy(op, left, *sides.left, position);
    addCopy(op, packed, sides.right, position);
    return;
  }
  if (!product || !packed)
    return;
  assert((product->kind != ProductKind::weights ||
          of(product->left.getArray()).ranks == of(op.getResult()).ranks) &&
         "the rows of both sides have one order");
  for (const GatheredCopy &copy : gatheredAhead(op))
    addCopy(op, packedLocationOf(copy.reader), copy.side, position);
  if (ArrayLocationAttr left = packedLeftLocationOf(op)) {
    addCopy(op, left, copiedLeft(op, *product), position);
    addCopy(op, packed, copiedRight(*product), position);
    return;
  }
  if (usesKnown(packed, position))
    return;
  // Panels of packed columns; the terms of a sum over examples are the places
  // of the right side.
  Builder builder(op.getContext());
  bool isRows = product->isByRows();
  int64_t columns = llvm::alignTo(product->columns(), target.getTileColumns());
  auto type = cast<ArrayType>(product->right.getArray().getType());
  int64_t elements = isRows ? product->count * columns : columns;
  if (const StorageFormat *format = packedFormatOf(op, real))
    elements = llvm::divideCeil(bytesOfPanels(*format, product->count, columns),
                                sizeof(float));
  SmallVector<Attribute> extents = {builder.getI64IntegerAttr(elements)};
  if (!isRows)
    extents.insert(extents.begin(), type.getShape().begin(),
                   type.getShape().end() - 1);
  Operation *top = op;
  while (!isa<ProgramOp>(top->getParentOp()))
    top = top->getParentOp();
  name(packed, allocate(ArrayType::get(extents, type.getElementType()), !isRows,
                        top, position, "",
                        packed.getKept() ? Role::Packed : Role::Temporary));
}

void StorageMap::addLoop(Operation *op, int position) {
  auto loop = std::make_unique<Loop>();
  loop->op = op;
  loop->stepSlot = newSlot();
  loop->rowsSlot = newSlot();
  if (runsByRank(op)) {
    Program::Order order;
    order.length =
        lengthIds.at(op->getAttrOfType<StringAttr>("extent").getValue());
    order.orderSlot = newSlot();
    order.activeSlot = newSlot();
    loop->order = program.orders.size();
    program.orders.push_back(order);
  }
  loops[op] = std::move(loop);
  Block &body = op->getRegion(0).front();
  Operation *yield = body.getTerminator();
  bool perExample = batchOf(op) == BatchKind::each;
  auto own = [&](ArrayType type, ArrayLocationAttr location, Operation *where) {
    Storage result = allocate(type, perExample, where, position);
    name(location, result);
    return result;
  };
  for (OpResult result : op->getResults())
    storage[result] =
        own(cast<ArrayType>(result.getType()), locationOf(result), op);
  for (BlockArgument carry : body.getArguments().drop_front()) {
    auto type = cast<ArrayType>(carry.getType());
    ArrayLocationAttr location = locationOf(carry);
    if (location.getKind() == LocationKind::carry) {
      Storage row = rowAt(type, perExample, yield, location);
      row.init = cast<ScanOp>(op).getInits()[carry.getArgNumber() - 1];
      storage[carry] = row;
    } else {
      storage[carry] = own(type, location, yield);
    }
  }
  addBlock(body, position);
  if (auto swaps = op->getAttrOfType<ArrayAttr>(swapsName))
    for (auto [number, swap] : llvm::enumerate(swaps))
      if (auto location = dyn_cast<ArrayLocationAttr>(swap))
        (void)own(cast<ArrayType>(body.getArgument(1 + number).getType()),
                  location, yield);
}

/// Kept to the end; a copy of the description gets the name.
void StorageMap::addOutput(OutputOp op) {
  Program::Array array =
      program.arrays[arrayOfSlot.lookup(of(op.getValue()).slot)];
  array.name = op.getTarget().str();
  array.role = Role::Output;
  array.shape = describe(op.getValue().getType());
  program.arrays.push_back(std::move(array));
  use(op.getValue(), std::numeric_limits<int>::max());
}

void StorageMap::addBlock(Block &block, int position) {
  bool isTop = isa<ProgramOp>(block.getParentOp());
  Operation *before = nullptr;
  for (Operation *op : opsInOrder(block)) {
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      for (OpResult result : kernel->getResults()) {
        // A copy: the table may be reallocated.
        Storage yielded = of(kernel.getYielded(result));
        storage[result] = yielded;
      }
      continue;
    }
    // Every op is a step; the members of a kernel are one.
    Operation *step = block.findAncestorOpInBlock(*op);
    bool isFirst = step != before;
    before = step;
    position += isTop && isFirst;
    if (isFirst && step != op)
      addRooms(cast<KernelOp>(step), position);
    if (auto output = dyn_cast<OutputOp>(op)) {
      addOutput(output);
      continue;
    }
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (isa<ArrayType>(operand.getType()) && storage.contains(operand))
          use(operand, position);
    });
    if (isa<ScanOp, SearchOp>(op)) {
      addLoop(op, position);
      continue;
    }
    if (auto step = dyn_cast<StepOp>(op)) {
      int &slot = isInsideStep(step) ? program.insideSlot : program.stepSlot;
      if (slot == 0)
        slot = newSlot();
    }
    if (op->getNumResults() != 1 || !isa<ArrayType>(op->getResult(0).getType()))
      continue;
    addArray(op, position);
    if (auto compute = dyn_cast<ComputeOp>(op))
      addProduct(compute, position);
  }
}
