//===- KernelKeys.cpp - launches that have the same kernel ----------------===//

#include "codegen/program/KernelKeys.h"
#include "passes/analysis/Batch.h"
#include "passes/memory/Locations.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

namespace {
/// Writes the words of one key.
class KeyWriter {
public:
  KeyWriter(const StorageMap &storage, ArrayRef<ConstantPlace> places)
      : storage(storage) {
    for (auto [number, place] : llvm::enumerate(places))
      for (arith::ConstantOp constant : place.constants)
        numbers[constant] = number;
  }

  /// Returns false if the kernel depends on more than a key can say.
  bool write(launch::RunOp run, Operation *op);
  KernelKey take() { return std::move(key); }

private:
  void add(uint64_t word) { key.push_back(word); }
  void add(const void *unique) { add(reinterpret_cast<uintptr_t>(unique)); }
  void add(Attribute attribute) { add(attribute.getAsOpaquePointer()); }
  void addSlot(int64_t slot);
  void addMemories(ValueRange memories);
  void addAttributes(Operation *op);
  void addAttribute(Attribute attribute);
  void addStorage(const Storage *array);
  void addArray(Value array);
  void addOperand(Value operand);
  void addOp(Operation *op);

  const StorageMap &storage;
  KernelKey key;
  llvm::DenseMap<int64_t, uint64_t> slots;
  llvm::DenseMap<Value, uint64_t> values;
  llvm::DenseMap<Operation *, uint64_t> numbers; // of constant places
  bool isComplete = true;
  /// Packing reads a factor in memory, and no array in a room or a strip.
  bool isPack = false;
};
} // namespace

/// A slot is the number of its first appearance.
void KeyWriter::addSlot(int64_t slot) {
  add(slots.try_emplace(slot, slots.size()).first->second);
}

void KeyWriter::addMemories(ValueRange memories) {
  add(memories.size());
  for (Value memory : memories) {
    auto op = memory.getDefiningOp<launch::MemoryOp>();
    addSlot(op.getSlot());
    add(op.getForm());
  }
}

/// Locations without their numbers: slots say which memory it is.
void KeyWriter::addAttribute(Attribute attribute) {
  if (auto location = dyn_cast<ArrayLocationAttr>(attribute)) {
    add(uint64_t(location.getKind()));
    add(uint64_t(location.getRanks()) << 1 | uint64_t(location.getKept()));
    if (!location.isMemory() && !isPack)
      add(location.getNumber());
    return;
  }
  if (auto list = dyn_cast<ArrayAttr>(attribute);
      list && llvm::any_of(list, llvm::IsaPred<ArrayLocationAttr>)) {
    for (Attribute each : list)
      addAttribute(each);
    return;
  }
  add(attribute);
}

/// Everything but names, which are for people.
void KeyWriter::addAttributes(Operation *op) {
  if (op->getPropertiesStorageSize() == 0 &&
      op->getRawDictionaryAttrs().empty())
    return;
  for (NamedAttribute each : op->getAttrDictionary())
    if (each.getName() != "label" && each.getName() != "attn.part") {
      add(each.getName());
      addAttribute(each.getValue());
    }
}

void KeyWriter::addStorage(const Storage *array) {
  add(array != nullptr);
  if (!array)
    return;
  isComplete &= !array->ranks && !array->rowOf && !array->along && !array->init;
  add(array->type.getAsOpaquePointer());
  add(uint64_t(array->perExample));
  add(uint64_t(array->layout));
  add(uint64_t(isPack ? array->strip >= 0 : array->strip));
  add(array->rowAxis);
  add(uint64_t(array->parts));
  if (array->strip < 0)
    addSlot(array->slot);
}

/// An array that another op gives: how it is stored, and what is read through
/// a view.
void KeyWriter::addArray(Value array) {
  Operation *op = array.getDefiningOp();
  if (!op) {
    isComplete = false;
    return;
  }
  const Storage &own = storage.of(array);
  add(op->getName().getAsOpaquePointer());
  add(uint64_t(isPerExample(array)));
  add(storage.formatOf(own));
  addStorage(&own);
  if (isa<ParamOp, DataOp>(op))
    for (StringRef name : {"attn.precision", "attn.place"})
      add(op->getAttr(name));
  if (viewedBy(op)) {
    addAttributes(op);
    for (Value operand : op->getOperands())
      addArray(operand);
  }
}

void KeyWriter::addOperand(Value operand) {
  auto known = values.find(operand);
  if (known != values.end())
    return add(known->second);
  // What another op computes is an array.
  isComplete &= isa<ArrayType>(operand.getType());
  if (isComplete)
    addArray(operand);
}

void KeyWriter::addOp(Operation *op) {
  add(op->getName().getAsOpaquePointer());
  if (auto number = numbers.find(op); number != numbers.end())
    add(number->second);
  else
    addAttributes(op);
  add(op->getNumOperands());
  for (Value operand : op->getOperands())
    addOperand(operand);
  for (Value result : op->getResults()) {
    values.try_emplace(result, values.size());
    add(result.getType().getAsOpaquePointer());
    if (isa<ArrayType>(result.getType()) && !isa<KernelOp>(op))
      addStorage(&storage.of(result));
  }
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    addStorage(storage.packedOf(compute));
    addStorage(storage.packedLeftOf(compute));
    addStorage(storage.storedCopyOf(compute));
    addStorage(storage.rowListOf(compute));
  }
  if (auto kernel = dyn_cast<KernelOp>(op)) {
    ThreadMemory memory = storage.memoryOf(kernel);
    addSlot(memory.slot);
    addSlot(memory.partSlot);
  }
  for (Region &region : op->getRegions()) {
    add(region.getBlocks().size());
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments()) {
        values.try_emplace(argument, values.size());
        add(argument.getType().getAsOpaquePointer());
      }
      add(block.getOperations().size());
      for (Operation &inner : block)
        addOp(&inner);
    }
  }
}

bool KeyWriter::write(launch::RunOp run, Operation *op) {
  if (!storage.around(op).empty() || !isa<ComputeOp, KernelOp, ConcatOp>(op))
    return false;
  isPack = run.getWork() == launch::Work::pack;
  add(uint64_t(run.getWork()));
  add(uint64_t(run.getUnits()));
  add(run.getTileAttr());
  add(run.getSlots().size());
  for (int64_t slot : run.getSlots())
    addSlot(slot);
  addMemories(run.getReads());
  addMemories(run.getWrites());
  addMemories(run.getUpdates());
  addMemories(run.getScratch());
  addOp(op);
  return isComplete;
}

/// Returns whether `constant` is only a place at which reads find an element,
/// inside of its axis. Products take the places of their factors apart.
static bool isPlace(arith::ConstantOp constant) {
  auto compute = constant->getParentOfType<ComputeOp>();
  if (!compute || constant.use_empty())
    return false;
  bool isFactor = compute->hasAttr("attn.product") &&
                  compute.getBody().isAncestor(constant->getParentRegion());
  int64_t place = cast<IntegerAttr>(constant.getValue()).getInt();
  return !isFactor && llvm::all_of(constant->getUses(), [&](OpOperand &use) {
    auto read = dyn_cast<ReadOp>(use.getOwner());
    if (!read)
      return false;
    for (auto [axis, index] : llvm::enumerate(read.getIndicesMutable())) {
      auto extent = dyn_cast<IntegerAttr>(read.getArrayType().getExtent(axis));
      if (&index == &use)
        return extent && 0 <= place && place < extent.getInt();
    }
    return false; // the value outside of the array
  });
}

SmallVector<ConstantPlace> fovea::codegen::constantPlaces(Operation *op) {
  llvm::MapVector<int64_t, ConstantPlace> places;
  llvm::DenseSet<int64_t> others;
  op->walk([&](arith::ConstantOp constant) {
    if (!constant.getType().isIndex())
      return;
    int64_t value = cast<IntegerAttr>(constant.getValue()).getInt();
    if (!isPlace(constant))
      others.insert(value);
    places[value].value = value;
    places[value].constants.push_back(constant);
  });
  SmallVector<ConstantPlace> result;
  for (auto &[value, place] : places)
    if (!others.contains(value))
      result.push_back(std::move(place));
  return result;
}

std::optional<KernelKey> fovea::codegen::keyOf(launch::RunOp run, Operation *op,
                                               ArrayRef<ConstantPlace> places,
                                               const StorageMap &storage) {
  KeyWriter writer(storage, places);
  if (!writer.write(run, op))
    return std::nullopt;
  return writer.take();
}

SmallVector<int64_t> fovea::codegen::argumentsOf(launch::RunOp run,
                                                 const StorageMap &storage) {
  SmallVector<int64_t> slots(run.getSlots());
  llvm::append_range(slots, run.getPlaceSlots());
  for (ValueRange memories :
       {run.getReads(), run.getWrites(), run.getUpdates(), run.getScratch()})
    for (Value memory : memories) {
      auto slot =
          static_cast<int>(memory.getDefiningOp<launch::MemoryOp>().getSlot());
      slots.push_back(slot);
      // A workspace has the size of a thread's part, too.
      if (const auto &array = storage.arrayAt(slot); !array.part.empty())
        slots.push_back(array.partSlot);
    }
  return slots;
}
