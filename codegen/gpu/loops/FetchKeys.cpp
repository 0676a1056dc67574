//===- FetchKeys.cpp - what the warp groups of an attention read ----------===//
//
// A launch copies the rows and keys of an attention ahead of it. A producer
// thread of each block fetches tiles of the copies.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/loops/GroupKeys.h"
#include "codegen/gpu/program/GpuEmitter.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

GroupLayout::GroupLayout(const Attention &attention, const StorageMap &storage,
                         NvidiaGroupsAttr groups) {
  for (ComputeOp op : attention.pairs) {
    const Storage *copy = storage.packedLeftOf(op);
    if (!copy)
      continue;
    const auto *known = llvm::find_if(
        rows, [&](const GroupPart &part) { return part.copy == copy; });
    rowsOf[op] = known - rows.begin();
    if (known != rows.end())
      continue;
    rows.push_back({copy, termTilesOf(attn::rowsOf(op)->size), rowBytes});
    rowBytes += rows.back().termTiles * copyBytes;
  }
  for (const Attention::Side &side : attention.sides) {
    keys.push_back(
        {storage.packedOf(side.product), termTilesOf(side.size), stageBytes});
    stageBytes += keys.back().termTiles * keyBytes;
  }
  stages = groups.getStages();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The first tile of a copy at the current place, of `count` rows.
Value StripEmitter::copyAt(const Storage &copy, Value count,
                           int64_t termTiles) {
  BodyEmitter values(b, storage, place, 0);
  Value number = num(0);
  for (auto [extent, index] : llvm::zip_equal(group.outer, outer))
    number =
        b.add(b.mul(number, num(cast<IntegerAttr>(extent).getInt())), index);
  Value tiles = b.mul(b.divUp(count, num(copyRows)), num(termTiles));
  return b.at(b.getI8Type(), values.base(copy),
              b.mul(b.mul(number, tiles), num(copyBytes)));
}

/// All strips are pairs, in registers: their workspace takes no memory.
void StripEmitter::beginPairs(Value first) {
  findRooms(b.create<LLVM::ZeroOp>(b.pointer()));
  setStrips(first);
}

void StripEmitter::copyTile(const Place &at, Value unit, Value parts,
                            ComputeOp op, bool isOfRows) {
  Value part = enter(at, unit, parts);
  beginPairs(num(0));
  const StripMember &member = memberOf(op);
  const ExampleProduct &product = *member.product;
  Operands all = operandsOf(member, num(0));
  bool isRead = attention->isRead(op);
  unsigned element = isRead ? product.n : product.k, row = isOfRows ? product.m
                                                           : isRead ? product.k
                                                                    : product.n;
  Value count = isOfRows ? all.m : isRead ? all.k : all.n;
  CopiedRows rows = *(isOfRows ? rowsOf(op) : keysOf(*attention, op));
  const BodyEmitter::View &view = isOfRows ? all.a : all.b;
  auto type = cast<ArrayType>(rows.array.getType());
  TileSide side{.base = view.base,
                .along = view.along.lookup(row),
                .deep = view.along.lookup(element)};
  // Its numbers are the last axis.
  auto width = dyn_cast<IntegerAttr>(type.getExtent(type.getRank() - 1));
  side.isInFours = rows.roles.back() == -2 && width &&
                   width.getInt() % 4 == 0 && rows.size % 4 == 0;
  Value termTiles = num(termTilesOf(rows.size));
  Value first = b.mul(b.div(part, termTiles), num(copyRows));
  const Storage &copy =
      *(isOfRows ? storage.packedLeftOf(op) : storage.packedOf(op));
  b.branch(b.less(first, count), [&] {
    emitCopy(b, side, count, num(rows.size), termTiles, part,
             copyAt(copy, count, termTilesOf(rows.size)));
  });
}

/// A kernel that copies the products' rows and keys that the run writes.
void GpuEmitter::copyFactors(const StripGroup &group) {
  struct Factor {
    ComputeOp op;
    bool isOfRows;
    int partsSlot, unitsSlot;
  };
  SmallVector<Factor> factors;
  SmallVector<Operation *> members;
  llvm::DenseSet<int> seen;
  auto add = [&](ComputeOp op, const Storage *copy, bool isOfRows) {
    if (!copy || !isWritten(*copy) || !seen.insert(copy->slot).second)
      return;
    auto number = static_cast<unsigned>(2 * factors.size());
    factors.push_back({op, isOfRows, slotOf(number), slotOf(number + 1)});
  };
  for (const StripMember &member : group.members) {
    members.push_back(member.op);
    add(member.op, storage.packedLeftOf(member.op), /*isOfRows=*/true);
    add(member.op, storage.packedOf(member.op), /*isOfRows=*/false);
  }
  KernelBuilder kernel(members.front()->getLoc(), module.getContext());
  func::FuncOp function =
      beginKernel(kernel, members.front(), joinedLabels(members) + ".factors",
                  {kernel.pointer(), kernel.i64()});
  noteCopies();
  Value own = function.getArgument(0);
  StripEmitter strips(kernel, storage, group, real, module);
  for (const Factor &factor : factors)
    kernel.loop(blockNumber(kernel), kernel.slot(own, factor.unitsSlot),
                numBlocks(kernel), [&](Value unit) {
                  strips.copyTile(placeOf(kernel, factor.op, own), unit,
                                  kernel.slot(own, factor.partsSlot), factor.op,
                                  factor.isOfRows);
                });
  kernel.create<func::ReturnOp>();
  callKernel(function, count(), copyThreads, 1);
}

//===----------------------------------------------------------------------===//
// Fetching
//===----------------------------------------------------------------------===//

/// One thread fetches the rows from `first` on, and the keys.
void StripEmitter::fetchTiles(const Groups &groups, Value first, Value from,
                              Value to) {
  auto fetch = [&](const GroupPart &part, Value copy, Value row, Value to,
                   int64_t bytes, Value barrier) {
    for (int64_t tile = 0; tile < part.termTiles; ++tile) {
      Value number = b.add(
          b.mul(b.div(row, num(copyRows)), num(part.termTiles)), num(tile));
      Value source =
          b.add(b.mul(number, num(copyBytes)),
                b.mul(b.rem(row, num(copyRows)), num(copyBytes / copyRows)));
      fetchBytes(b, groups.at(b, b.add(to, num(part.offset + tile * bytes))),
                 b.at(b.getI8Type(), copy, source), bytes, barrier);
    }
  };
  const GroupLayout &layout = groups.layout;
  Value parity = b.rem(groups.units, num(2));
  SmallVector<Value> rows, keys;
  for (const GroupPart &part : layout.rows)
    rows.push_back(copyAt(*part.copy,
                          BodyEmitter(b, storage, place, 0).extent(group.rows),
                          part.termTiles));
  const StripMember &member = memberOf(attention->sides.front().product);
  Operands all = operandsOf(member, num(0));
  Value numKeys =
      attention->isRead(attention->sides.front().product) ? all.k : all.n;
  for (const GroupPart &part : layout.keys)
    keys.push_back(copyAt(*part.copy, numKeys, part.termTiles));
  // The first stages need no signal: their waits refer to the phase before the
  // first.
  waitForPhase(b, groups.rowsEmpty(b), b.sub(num(1), parity));
  arriveExpecting(b, groups.rowsFull(b), layout.rowBytes);
  for (auto [part, copy] : llvm::zip_equal(layout.rows, rows))
    fetch(part, copy, first, num(0), copyBytes, groups.rowsFull(b));
  b.loop(from, to, num(keysOfTile), [&](Value key) {
    Value number = b.div(b.sub(key, from), num(keysOfTile));
    Value stage = groups.stageOf(b, number);
    Value full = groups.full(b, stage);
    waitForPhase(b, groups.empty(b, stage),
                 b.sub(num(1), groups.parityOf(b, number)));
    arriveExpecting(b, full, layout.stageBytes);
    for (auto [part, copy] : llvm::zip_equal(layout.keys, keys))
      fetch(part, copy, key, groups.bytesOf(b, stage), keyBytes, full);
  });
}
