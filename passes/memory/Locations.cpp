//===- Locations.cpp - what the phase `memory` says of arrays -------------===//

#include "passes/memory/Locations.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"

using namespace mlir;
using namespace fovea::attn;

ArrayLocationAttr fovea::attn::packedLocationOf(ComputeOp op) {
  return op->getAttrOfType<ArrayLocationAttr>(packedName);
}
ArrayLocationAttr fovea::attn::packedLeftLocationOf(ComputeOp op) {
  return op->getAttrOfType<ArrayLocationAttr>(packedLeftName);
}

ArrayLocationAttr fovea::attn::storedCopyOf(ComputeOp op) {
  return op->getAttrOfType<ArrayLocationAttr>(storedCopyName);
}

bool fovea::attn::packsProducts(Operation *op) {
  return TargetAttr::of(op).getTileColumns() != 0;
}

ArrayLocationAttr fovea::attn::listLocationOf(ComputeOp op) {
  return op->getAttrOfType<ArrayLocationAttr>(listName);
}

SmallVector<RoomAttr> fovea::attn::roomsOf(KernelOp kernel) {
  SmallVector<RoomAttr> rooms;
  if (auto list = kernel->getAttrOfType<ArrayAttr>(roomsName))
    llvm::append_range(rooms, list.getAsRange<RoomAttr>());
  return rooms;
}

int64_t fovea::attn::countIn(RoomAttr room, Type real) {
  int64_t ofReal = room.getWhole() ? 64 / real.getIntOrFloatBitWidth() : 1;
  return room.getFixedCount() * ofReal;
}

static void addInOrder(Block &block, SmallVector<Operation *> &ops) {
  for (Operation &op : block) {
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      addInOrder(kernel.getBody().front(), ops);
      ops.pop_back(); // what it yields
    }
    ops.push_back(&op);
  }
}

SmallVector<Operation *> fovea::attn::opsInOrder(Block &block) {
  SmallVector<Operation *> ops;
  addInOrder(block, ops);
  return ops;
}

KernelOp fovea::attn::kernelAround(Operation *op) {
  KernelOp found;
  for (auto kernel = op->getParentOfType<KernelOp>(); kernel;
       kernel = kernel->getParentOfType<KernelOp>())
    if (kernel.getSchedule() == Schedule::strips ||
        kernel.getSchedule() == Schedule::columns)
      found = kernel;
  return found;
}

int64_t fovea::attn::partsOf(ComputeOp product, KernelOp kernel) {
  auto widthOf = [](ComputeOp op) {
    return cast<IntegerAttr>(op.getExtents()[0]).getInt();
  };
  for (auto member : kernel.getBody().getOps<ComputeOp>())
    if (!productOf(member))
      return widthOf(product) / widthOf(member);
  llvm_unreachable("a kernel in columns has equations after its products");
}

Value fovea::attn::viewedBy(Operation *op) {
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return reshape.getOperand();
  if (auto append = dyn_cast<AppendOp>(op))
    return append.getArray();
  return {};
}

Operation *fovea::attn::computedBy(Value array) {
  for (;;) {
    Value source = insideKernel(throughViews(array));
    if (source == array)
      return array.getDefiningOp();
    array = source;
  }
}

bool fovea::attn::isInBodyOf(Operation *loop, Operation *op) {
  Operation *parent = op->getParentOp();
  while (isa<KernelOp>(parent))
    parent = parent->getParentOp();
  return parent == loop;
}

ArrayLocationAttr fovea::attn::sameAs(ArrayLocationAttr location) {
  bool isWhole = location.getKind() == LocationKind::own;
  return isWhole
             ? ArrayLocationAttr::get(location.getContext(), LocationKind::same,
                                      location.getNumber())
             : location;
}

SmallVector<Operation *> fovea::attn::loopsAround(Operation *op) {
  SmallVector<Operation *> loops;
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isa<ScanOp, SearchOp>(parent))
      loops.insert(loops.begin(), parent);
  return loops;
}

bool fovea::attn::runsByRank(Operation *loop) {
  return loop->getAttrOfType<StringAttr>("extent") &&
         batchOf(loop) == BatchKind::each && loopsAround(loop).empty();
}
