//===- GatheredCopies.cpp - copies of weights by one launch ---------------===//
//
// The units are the tiles of all copies, one copy after the other. Their
// numbers are constants, so a block finds the copy of a unit by binary search:
// among n copies, log2(n) comparisons.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/products/CopiedProduct.h"
#include "codegen/gpu/program/GpuEmitter.h"
#include "codegen/gpu/program/Threads.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

/// The block's data about the copy that contains a unit.
KernelBuilder::Values GpuEmitter::copyAt(KernelBuilder &b, Value frame,
                                         ArrayRef<GatheredPart> parts,
                                         Value unit) {
  if (parts.size() == 1) {
    const FactorCopy &copy = parts[0].copy;
    TileSide side = sideOf(b, frame, copy);
    return {side.base,
            side.along,
            copy.rows.of(b, frame),
            b.number(copy.from.columns),
            b.number(copy.across()),
            b.number(parts[0].firstUnit),
            b.pointerSlot(frame, copy.copy->slot)};
  }
  size_t half = parts.size() / 2;
  return b.chooseAll(
      b.less(unit, b.number(parts[half].firstUnit)),
      [&] { return copyAt(b, frame, parts.take_front(half), unit); },
      [&] { return copyAt(b, frame, parts.drop_front(half), unit); });
}

/// The tile of a unit, for copies that are all read alike. Weights are stored
/// in rows with adjacent elements.
void GpuEmitter::copyTile(KernelBuilder &b, Value frame,
                          ArrayRef<GatheredPart> parts, Value unit) {
  KernelBuilder::Values at = copyAt(b, frame, parts, unit);
  TileSide side{.base = at[0],
                .along = at[1],
                .deep = b.number(1),
                .isInFours = isInFours(parts[0].copy.from)};
  emitCopy(b, side, at[2], at[3], at[4], b.sub(unit, at[5]), at[6]);
}

void GpuEmitter::launchGathered(ComputeOp op) {
  SmallVector<GatheredPart> parts, others;
  for (const GatheredCopy &each : gatheredAhead(op)) {
    assert(each.side.deep == 1 && "weights lie in rows");
    Size rows{.number = each.side.rows};
    (isInFours(each.side) ? parts : others)
        .push_back({FactorCopy{storage.packedOf(each.reader), each.side, rows,
                               nullptr},
                    0});
  }
  size_t numByFours = parts.size();
  llvm::append_range(parts, others);
  int64_t units = 0;
  for (GatheredPart &part : parts) {
    part.firstUnit = units;
    units += llvm::alignTo(*part.copy.from.rows, copyTilesAtOnce * copyRows) /
             copyRows * part.copy.across();
  }
  KernelBuilder kernel(op->getLoc(), module.getContext());
  std::string label = op.getLabel().value_or("").str();
  func::FuncOp function = beginKernel(kernel, op, label + ".weights",
                                      {kernel.pointer(), kernel.i64()});
  noteCopies();
  auto copy = [&](ArrayRef<GatheredPart> alike, Value unit) {
    copyTile(kernel, function.getArgument(0), alike, unit);
  };
  ArrayRef<GatheredPart> byFours = ArrayRef(parts).take_front(numByFours);
  kernel.loop(
      blockNumber(kernel), function.getArgument(1), numBlocks(kernel),
      [&](Value unit) {
        if (byFours.empty() || others.empty())
          return copy(parts, unit);
        Value bound = kernel.number(parts[numByFours].firstUnit);
        kernel.branch(
            kernel.less(unit, bound), [&] { copy(byFours, unit); },
            [&] { copy(ArrayRef(parts).drop_front(numByFours), unit); });
      });
  kernel.create<func::ReturnOp>();
  callKernel(function, main.number(units), copyThreads, 1);
}
