//===- Strips.cpp - some rows of equations on the chip --------------------===//
//
// A block of threads has the workspace of a kernel in strips: on the chip, or,
// if that is too small, in global memory, for a limited number of blocks. A
// strip is as high as a product's tile. Products are computed tile by tile,
// other equations row by row, each by a group of threads, with a barrier after
// each.
//
// A work unit is a strip; if an equation sums over the rows, it is
// all strips of an example at one place of the outer indices, in
// sequence.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/loops/KeyTiles.h"
#include "codegen/gpu/program/GpuEmitter.h"
#include "codegen/gpu/program/Threads.h"
#include "dialect/Precision.h"
#include "targets/nvidia/AttentionCopies.h"
#include "targets/nvidia/Groups.h"

#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

StripEmitter::StripEmitter(KernelBuilder &b, const StorageMap &storage,
                           const StripGroup &group, Type real, ModuleOp module)
    : StripFrame(b, storage, group, real), module(module) {
  if (attn::KernelOp(group.kernel).getKeys())
    attention = attentionIn(group.kernel);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// All but what is multiplied of it.
Tile StripEmitter::tileOf(const StripMember &member, const Operands &all) {
  const ExampleProduct &product = *member.product;
  Tile tile;
  tile.shape.threads = stripThreads;
  tile.shape.isRounded = precisionOf(member.op) != nullptr;
  tile.memory = tileMemory(b, module, real, tile.shape);
  tile.element = real;
  tile.a = {.base = all.a.base,
            .along = all.a.along.lookup(product.m),
            .deep = all.a.along.lookup(product.k)};
  tile.b = {.base = all.b.base,
            .along = all.b.along.lookup(product.n),
            .deep = all.b.along.lookup(product.k)};
  tile.c = all.c.base;
  tile.cRow = all.c.along.lookup(product.m);
  tile.rows = all.m;
  tile.columns = all.n;
  tile.terms = all.k;
  tile.row = num(0);
  return tile;
}

static std::optional<int64_t> negated(std::optional<int64_t> number) {
  return number ? std::optional(-*number) : number;
}

/// C[rows, n] = A[rows, k] * B[k, n]
void StripEmitter::multiplyRows(const StripMember &member, Value first,
                                Value count) {
  const ExampleProduct &product = *member.product;
  Operands all = operandsOf(member, first);
  Tile tile = tileOf(member, all);
  Value side = num(tile.shape.rows), before = b.sub(num(0), first);
  tile.rows = count;
  // Rows are counted from the first of the strip.
  tile.termsBefore = shifted(negated(product.terms.from), before);
  tile.termsAfter = shifted(product.terms.to, first);
  tile.columnsBefore = shifted(negated(product.columns.from), before);
  tile.columnsAfter = shifted(product.columns.to, first);
  Value last = b.sub(b.add(first, count), num(1));
  auto [from, to] = inBand(product.columns, all.n, first, last);
  from = b.mul(b.div(from, side), side);
  {
    KernelBuilder::OneThread alone(b);
    b.loop(from, to, side, [&](Value column) {
      tile.column = column;
      emitTile(b, tile);
    });
  }
  clearOutside(member, first, count, from,
               b.min(all.n, b.mul(b.divUp(to, side), side)));
}

/// Writes zeros before column `from`, and from column `to` on, where they are
/// read.
void StripEmitter::clearOutside(const StripMember &member, Value first,
                                Value count, Value from, Value to) {
  const ExampleProduct &product = *member.product;
  if (product.columns.isWhole() || isGuarded(member))
    return;
  Operands all = operandsOf(member, first);
  b.shareInGroups(num(0), count, [&](Value row) {
    Value base = address(all.c.base, b.mul(row, all.c.along.lookup(product.m)));
    b.clear(real, base, from);
    b.clear(real, address(base, to), b.sub(all.n, to));
  });
}

/// C[m, n] += A[m, rows] * B[rows, n]
void StripEmitter::sumRows(const StripMember &member, Value first,
                           Value count) {
  const ExampleProduct &product = *member.product;
  Operands all = operandsOf(member, first);
  Tile tile = tileOf(member, all);
  Value side = num(tile.shape.rows), before = b.sub(num(0), first);
  tile.terms = count;
  tile.goesOn = true;
  // Terms are counted from the first of the strip.
  tile.termsBefore = shifted(negated(product.terms.from), first);
  tile.termsAfter = shifted(product.terms.to, before);
  // Rows of C that these terms affect.
  Value last = b.sub(b.add(first, count), num(1));
  auto [from, to] = inBand(product.terms.turned(), all.m, first, last);
  KernelBuilder::OneThread alone(b);
  b.loop(b.mul(b.div(from, side), side), to, side, [&](Value row) {
    tile.row = row;
    b.loop(num(0), all.n, side, [&](Value column) {
      tile.column = column;
      emitTile(b, tile);
    });
  });
}

/// The initial values of sums over the rows.
void StripEmitter::clear(const StripMember &member) {
  const ExampleProduct &product = *member.product;
  Operands all = operandsOf(member, num(0));
  b.shareInGroups(num(0), all.m, [&](Value row) {
    b.clear(real,
            address(all.c.base, b.mul(row, all.c.along.lookup(product.m))),
            all.n);
  });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void StripEmitter::emitMember(const StripMember &member, Value first,
                              Value count) {
  b.setLoc(ComputeOp(member.op).getLoc());
  if (member.sumsRows)
    return sumRows(member, first, count);
  if (member.product)
    return multiplyRows(member, first, count);
  ComputeEmitter emitter(b, storage, member.loop, /*lanes=*/0, member.shared);
  b.shareInGroups(first, b.add(first, count), [&](Value row) {
    emitter.emit(place, placesOf(member, row));
  });
}

/// All rows from `first` to before `last`.
void StripEmitter::emitRows(Value first, Value last) {
  setStrips(first);
  bool hasSums = false;
  for (const StripMember &member : group.members)
    if (member.sumsRows) {
      clear(member);
      hasSums = true;
    }
  if (hasSums)
    waitForBlock(b);
  b.loop(first, last, num(stripRows), [&](Value row) {
    setStrips(row);
    Value count = b.min(num(stripRows), b.sub(last, row));
    if (attention) {
      attend(row, count);
      waitForBlock(b);
    }
    for (const StripMember &member : group.members) {
      if (member.loop.empty() || isDoneByTiles(member.op))
        continue;
      emitMember(member, row, count);
      waitForBlock(b);
    }
  });
}

void StripEmitter::emit(const Place &at, Value unit, Value parts,
                        Value memory) {
  Value part = enter(at, unit, parts);
  findRooms(memory);
  BodyEmitter values(b, storage, place, 0);
  Value rows = values.extent(group.rows);
  if (!group.isDivisible())
    return emitRows(num(0), rows);
  Value begin = b.mul(part, num(stripRows));
  Value end = b.min(rows, b.add(begin, num(stripRows)));
  b.branch(b.less(begin, end), [&] { emitRows(begin, end); });
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void fovea::codegen::noteKeys(KernelNote &note, const Attention &attention) {
  int64_t multiplied = 0, brought = 0;
  for (const Attention::Side &side : attention.sides)
    brought += side.size;
  for (auto [op, side] : attention.sideOf)
    multiplied += attention.sides[side].size;
  note.tileRows = note.tileRows * multiplied / brought;
  note.tileColumns = std::numeric_limits<int64_t>::max();
}

void GpuEmitter::emitStrips(KernelOp op) {
  if (groupsOf(op))
    return emitInGroups(op);
  StripGroup group = stripsOf(op);
  SmallVector<Operation *> members;
  for (const StripMember &member : group.members)
    members.push_back(member.op);
  ThreadMemory rooms = storage.memoryOf(op);
  int64_t threads = op.getKeys() ? attentionThreads : stripThreads;
  int64_t most = TargetAttr::of(op).getSharedBytes(),
          bytes = real.getIntOrFloatBitWidth() / 8;
  auto bytesOfRooms = [&](KernelBuilder &builder, Value frame) {
    return builder.mul(builder.slot(frame, rooms.partSlot),
                       builder.number(bytes));
  };
  int partsSlot = slotOf(0);
  Value units =
      main.mul(count(), main.mul(main.number(group.numPlaces()), scalar(0)));
  Value ofBlock = bytesOfRooms(main, frame);
  ofBlock = main.select(main.atMost(ofBlock, main.number(most)), ofBlock,
                        main.number(0));

  KernelBuilder kernel(op->getLoc(), module.getContext());
  std::string name = "strips." + joinedLabels(members);
  if (op.getKeys())
    name += ".bf16";
  func::FuncOp function = beginKernel(kernel, members.front(), name,
                                      {kernel.pointer(), kernel.i64()});
  Value own = function.getArgument(0), last = function.getArgument(1);
  Value fits = kernel.atMost(bytesOfRooms(kernel, own), kernel.number(most));
  Value block = blockNumber(kernel), blocks = numBlocks(kernel);
  Value inMemory =
      kernel.at(real, kernel.pointerSlot(own, rooms.slot),
                kernel.mul(block, kernel.slot(own, rooms.partSlot)));
  Value memory = kernel.select(fits, sizedMemory(kernel, module), inMemory);
  // Other blocks have no work.
  Value ofRooms =
      kernel.min(blocks, kernel.number(NvidiaTargetAttr::workspaces));
  Value step = kernel.select(fits, blocks, ofRooms);
  Value first = kernel.select(kernel.less(block, step), block, last);
  kernel.setTeam(blockTeam(kernel, threads));
  StripEmitter strips(kernel, storage, group, real, module);
  kernel.loop(first, last, step, [&](Value unit) {
    strips.emit(placeOf(kernel, members.front(), own), unit,
                kernel.slot(own, partsSlot), memory);
  });
  kernel.create<func::ReturnOp>();
  callKernel(function, units, threads, 1, ofBlock);
  // This limit lets two blocks share a processor.
  if (llvm::none_of(members, precisionOf))
    function->setAttr(registersName, main.getI64IntegerAttr(128));
  if (notes) {
    KernelNote &note = notes->back();
    note.tileRows = TileShape().rows;
    note.tileColumns = TileShape().columns;
    note.isRounded = llvm::any_of(members, precisionOf);
    if (op.getKeys())
      noteKeys(note, *attentionIn(op));
  }
  noteOthers(members);
}
