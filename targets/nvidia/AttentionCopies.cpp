//===- AttentionCopies.cpp - what attention reads as copies ---------------===//

#include "targets/nvidia/AttentionCopies.h"
#include "passes/kernels/Members.h"

using namespace mlir;
using namespace fovea::attn;

/// Below 32 columns, a 64-column bf16 row is not smaller than the f32 row it
/// copies.
static constexpr int64_t leastSize = 32;
/// The maximum size of the tiles of a block's rows, and of two stages of keys,
/// in its memory.
static constexpr int64_t mostBytes = 192 << 10;

static std::optional<CopiedRows> rowsAt(ComputeOp op, ReadOp read,
                                        ArrayRef<AccessIndex> axes,
                                        unsigned row, unsigned element) {
  std::optional<SmallVector<int64_t>> roles =
      rolesOf(axes, sharedBy(op), row, element);
  if (!roles || !isa<StringAttr>(op.getExtents()[row]))
    return std::nullopt;
  CopiedRows rows;
  rows.array = read.getArray();
  rows.count = cast<StringAttr>(op.getExtents()[row]);
  rows.size = cast<IntegerAttr>(op.getExtents()[element]).getInt();
  rows.roles = *roles;
  for (int64_t index : sharedBy(op).drop_back())
    rows.outer.push_back(op.getExtents()[index]);
  return rows;
}

std::optional<CopiedRows> fovea::attn::rowsOf(ComputeOp op) {
  ExampleProduct product = *exampleProductOf(op);
  return rowsAt(op, product.left, product.leftAxes, product.m, product.k);
}

std::optional<CopiedRows> fovea::attn::keysOf(const Attention &attention,
                                              ComputeOp op) {
  ExampleProduct product = *exampleProductOf(op);
  return attention.isRead(op) ? rowsAt(op, product.right, product.rightAxes,
                                       product.k, product.n)
                              : rowsAt(op, product.right, product.rightAxes,
                                       product.n, product.k);
}

CopiedSide fovea::attn::sideOf(const CopiedRows &rows) {
  CopiedSide side;
  side.array = rows.array;
  side.columns = rows.size;
  side.perPlace = rowsOfAttention;
  for (Attribute extent : rows.outer)
    side.perPlace *= cast<IntegerAttr>(extent).getInt();
  side.lengths = {tilesAlong(rows.count, rowsOfAttention)};
  Builder builder(rows.count.getContext());
  side.view = builder.getArrayAttr({builder.getDenseI64ArrayAttr(rows.roles),
                                    builder.getArrayAttr(rows.outer)});
  return side;
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

bool fovea::attn::readsCopies(KernelOp kernel) {
  NvidiaTargetAttr target = nvidiaTargetOf(kernel);
  auto program = dyn_cast<ProgramOp>(kernel->getParentOp());
  if (!target || target.getCopyRows() == 0 || target.getGroupColumns() == 0 ||
      !program || !kernel.getKeys())
    return false;
  std::optional<Attention> attention = attentionIn(kernel);
  if (!attention)
    return false;
  int64_t bytes = 0;
  auto isGood = [&](const std::optional<CopiedRows> &rows, int64_t number) {
    if (!rows || rows->size < leastSize ||
        !isPlain(program, rows->count.getValue()))
      return false;
    bytes += 2 * number * llvm::alignTo(rows->size, copyTerms);
    return true;
  };
  for (ComputeOp op : attention->pairs)
    if (attention->sideOf.contains(op) && !isGood(rowsOf(op), rowsOfAttention))
      return false;
  for (const Attention::Side &side : attention->sides)
    if (!isGood(keysOf(*attention, side.product), 2 * keysOfTile))
      return false;
  return bytes <= mostBytes;
}
