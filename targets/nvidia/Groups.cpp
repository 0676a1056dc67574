//===- Groups.cpp - attention by groups of warps --------------------------===//

#include "targets/nvidia/Groups.h"
#include "targets/nvidia/AttentionCopies.h"

using namespace mlir;
using namespace fovea::attn;

/// Below 32 columns, a 64-column bf16 row is not smaller than the f32 row it
/// copies.
static constexpr int64_t leastSize = 32;
/// The maximum size of the tiles of a block's rows, and of two stages of keys,
/// in its memory.
static constexpr int64_t mostBytes = 192 << 10;
static constexpr int64_t leastStages = 2, mostStages = 4;
/// What the barriers of a block may take of its memory.
static constexpr int64_t bytesOfBarriers = 1024;

NvidiaGroupsAttr fovea::attn::groupsOf(KernelOp kernel) {
  return kernel->getAttrOfType<NvidiaGroupsAttr>(configName);
}

/// Returns whether a length is one number per example.
static bool isPlain(ProgramOp program, StringRef name) {
  SmallVector<StringRef> asked = {name};
  while (!asked.empty()) {
    StringRef own = asked.pop_back_val();
    for (auto length : program.getOps<LengthOp>()) {
      if (length.getLength() != own)
        continue;
      if (length.getParent())
        return false;
      if (std::optional<ArrayAttr> of = length.getOf())
        llvm::append_range(asked, of->getAsValueRange<StringAttr>());
    }
  }
  return true;
}

/// The size of `number` rows of a copy in a block's memory.
static int64_t bytesOf(const CopiedRows &rows, int64_t number) {
  return 2 * number * llvm::alignTo(rows.size, copyTerms);
}

/// Returns whether copies are smaller than all factors of an attention, and
/// whether the blocks of any machine have room for them.
static bool hasCopies(const Attention &attention, ProgramOp program) {
  int64_t bytes = 0;
  auto isGood = [&](const std::optional<CopiedRows> &rows, int64_t number) {
    if (!rows || rows->size < leastSize ||
        !isPlain(program, rows->count.getValue()))
      return false;
    bytes += bytesOf(*rows, number);
    return true;
  };
  for (ComputeOp op : attention.pairs)
    if (attention.sideOf.contains(op) && !isGood(rowsOf(op), rowsOfAttention))
      return false;
  for (const Attention::Side &side : attention.sides)
    if (!isGood(keysOf(attention, side.product), leastStages * keysOfTile))
      return false;
  return bytes <= mostBytes;
}

/// The stages of keys that fit into a block's memory beside its rows.
static int64_t stagesFor(const Attention &attention, NvidiaTargetAttr target) {
  int64_t left = target.getSharedBytes() + mostTileBytes - bytesOfBarriers;
  SmallVector<CopiedSide> known;
  for (ComputeOp op : attention.pairs) {
    if (!attention.sideOf.contains(op))
      continue;
    CopiedRows rows = *rowsOf(op);
    if (llvm::is_contained(known, sideOf(rows)))
      continue;
    known.push_back(sideOf(rows));
    left -= bytesOf(rows, rowsOfAttention);
  }
  int64_t ofStage = 0;
  for (const Attention::Side &side : attention.sides)
    ofStage += bytesOf(*keysOf(attention, side.product), keysOfTile);
  return std::min(mostStages, left / ofStage);
}

/// Returns whether a thread has the registers to start the products of the next
/// tile before the pairs of a tile are ready: beside its sums, the products of
/// a tile, and words of the pairs of two. A warp group has 64 rows and 128
/// threads, so a thread has half a number for each column.
static bool startsAhead(const Attention &attention) {
  // Beside addresses, and the pairs that are computed.
  constexpr int64_t mostNumbers = 160;
  int64_t numbers = 0;
  SmallVector<Operation *> pairs;
  for (ComputeOp read : attention.reads) {
    numbers +=
        wholeTerms(attention.sides[attention.sideOf.lookup(read)].size) / 2;
    Operation *own = exampleProductOf(read)->left.getArray().getDefiningOp();
    if (llvm::is_contained(pairs, own))
      continue;
    pairs.push_back(own);
    // A word has two pairs in bf16.
    numbers += 2 * keysOfTile / 4;
  }
  for (ComputeOp op : attention.pairs)
    if (attention.sideOf.contains(op))
      numbers += keysOfTile / 2;
  return numbers <= mostNumbers;
}

/// The most stages of an attention: 0 if warp groups cannot compute it.
static int64_t stagesFor(KernelOp kernel) {
  NvidiaTargetAttr target = nvidiaTargetOf(kernel);
  auto program = dyn_cast<ProgramOp>(kernel->getParentOp());
  if (target.getCopyRows() == 0 || target.getGroupColumns() == 0 || !program)
    return 0;
  Attention attention = *attentionIn(kernel);
  if (!hasCopies(attention, program))
    return 0;
  return std::max<int64_t>(0, stagesFor(attention, target));
}

void fovea::attn::decideGroups(KernelOp kernel) {
  int64_t stages = stagesFor(kernel);
  if (stages >= leastStages)
    kernel->setAttr(configName,
                    NvidiaGroupsAttr::get(kernel.getContext(), stages,
                                          startsAhead(*attentionIn(kernel))));
}

LogicalResult fovea::attn::verifyGroups(KernelOp kernel) {
  NvidiaGroupsAttr groups = groupsOf(kernel);
  if (!groups || groups.getStages() <= stagesFor(kernel))
    return success();
  return kernel.emitOpError()
         << "has " << groups.getStages()
         << " stages of keys, but the memory of a block has at most "
         << stagesFor(kernel) << " of its copies";
}

LogicalResult NvidiaGroupsAttr::verifyConfig(Operation *op) const {
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel || !kernel.getKeys())
    return op->emitOpError()
           << "only a kernel in strips that has 'keys' can have warp groups";
  if (getStages() < leastStages || getStages() > mostStages)
    return op->emitOpError() << "has " << getStages() << " stages, not "
                             << leastStages << " to " << mostStages;
  return success();
}
