//===- EmitStrips.cpp - equations computed a strip of rows at a time ------===//
//
// A work unit is an example at one place of the outer indices. It packs the
// right sides of the products that do not depend on the row, and then computes
// all equations strip by strip. If no equation sums over the rows, a long
// example is split into several units.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/program/ProgramEmitter.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/StoredRows.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

/// The strips of a unit, for which right sides are packed once.
static constexpr int64_t unitStrips = 8;
/// Terms multiplied at a time; fewer if whole pieces are zero.
static constexpr int64_t deepest = 512, deepestInBand = 128;

/// The minimum number of rows per thread for a product with weights: fewer
/// would read the weights too often.
static constexpr int64_t rowsAtOnce = 48;

namespace {

/// One kernel of a group.
class StripEmitter : StripFrame {
public:
  StripEmitter(KernelBuilder &b, const StorageMap &storage,
               const StripGroup &group, Type real, GemmTile tile,
               unsigned lanes)
      : StripFrame(b, storage, group, real), tile(tile), lanes(lanes) {
    // Outside of all loops: it is memory of the call.
    for (const StripMember &member : group.members)
      if (!widened && member.product && !member.sumsRows &&
          isStored(member.product->left))
        widened = b.scratch(real, stripRows * widestLeft);
  }

  /// Work unit `unit`. Each outer place has `parts` units.
  void emit(const Place &at, Value unit, Value parts);
  /// The same after a product with weights, for the rows of all examples.
  void emitBatch(const Place &place, Value first, Value last);

private:
  void emitRows(Value first, Value last);
  void findRooms();
  void pack(const StripMember &member);
  void clear(const StripMember &member);
  void emitMembers(ArrayRef<StripMember> members, Value first, Value count);
  void emitMember(const StripMember &member, Value first, Value count);
  void multiplyWeights(Value first, Value count);
  void multiplyRows(const StripMember &member, Value first, Value count);
  void sumRows(const StripMember &member, Value first, Value count);
  bool isStored(ReadOp read) {
    Type element = storage.of(read.getArray()).type.getElementType();
    return storage.elementOf(element).isBF16();
  }
  GemmElement elementOf(const StripMember &member);
  Value inRoom(const StripMember &member, Value element);
  BodyEmitter::View widen(const BodyEmitter::View &left,
                          const ExampleProduct &product, Value rows,
                          Value terms);
  void clearOutside(const StripMember &member, Value first, Value count);
  int64_t depthOf(const StripMember &member) const {
    return member.product->terms.isWhole() ? deepest : deepestInBand;
  }

  GemmTile tile;
  unsigned lanes;
  Value widened; // rows of f32; null: no left side takes two bytes
};

} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value fovea::codegen::threadMemory(KernelBuilder &kernel, Type real,
                                   Value frame, ThreadMemory memory) {
  Value thread = kernel
                     .create<func::CallOp>(threadName, TypeRange(kernel.i64()),
                                           ValueRange())
                     .getResult(0);
  Value size = kernel.slot(frame, memory.partSlot);
  return kernel.at(real, kernel.pointerSlot(frame, memory.slot),
                   kernel.mul(thread, size));
}

void StripEmitter::findRooms() {
  StripFrame::findRooms(
      threadMemory(b, real, place.frame, storage.memoryOf(group.kernel)));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Panels have two bytes per element where the right side has.
GemmElement StripEmitter::elementOf(const StripMember &member) {
  GemmElement element = codegen::elementOf(member.op, real);
  if (isStored(member.product->right))
    element.right = runtime::findStorageFormat("bf16");
  return element;
}

/// The address of an element of packed panels.
Value StripEmitter::inRoom(const StripMember &member, Value element) {
  bool isStoredRight = isStored(member.product->right);
  return b.at(isStoredRight ? Type(b.getI16Type()) : real, rooms[member.packed],
              element);
}

/// A copy of some rows of a left side in f32.
BodyEmitter::View StripEmitter::widen(const BodyEmitter::View &left,
                                      const ExampleProduct &product, Value rows,
                                      Value terms) {
  Value zero = b.number(0), one = b.number(1), width = b.number(widestLeft);
  Type stored = b.getBF16Type();
  Value rowStride = left.along.lookup(product.m);
  Value termStride = left.along.lookup(product.k);
  auto constant = termStride.getDefiningOp<arith::ConstantOp>();
  bool isRow = constant && cast<IntegerAttr>(constant.getValue()).getInt() == 1;
  int64_t step = isRow ? tile.lanes : 1;
  b.loop(zero, rows, one, [&](Value row) {
    Value from = b.at(stored, left.base, b.mul(row, rowStride));
    Value to = address(widened, b.mul(row, width));
    b.loop(zero, terms, b.number(step), [&](Value term) {
      Value source = b.at(stored, from, b.mul(term, termStride));
      Value mask =
          isRow ? b.maskBelow(b.sub(terms, term), tile.lanes) : Value();
      b.store(b.load(isRow ? Type(VectorType::get(tile.lanes, stored)) : stored,
                     source, mask),
              address(to, term), mask);
    });
  });
  BodyEmitter::View copy;
  copy.base = widened;
  copy.along[product.m] = width;
  copy.along[product.k] = one;
  return copy;
}

/// The right side in pieces of terms, each in the format of @fovea_pack.
void StripEmitter::pack(const StripMember &member) {
  const ExampleProduct &product = *member.product;
  Operands all = operandsOf(member, b.number(0));
  Value rowStride = all.b.along[product.k], zero = b.number(0);
  Value panels = b.divUp(all.n, b.number(tile.columns()));
  Value depth = b.number(depthOf(member));
  Type stored = isStored(product.right) ? Type(b.getBF16Type()) : real;
  b.loop(zero, all.k, depth, [&](Value term) {
    b.call(
        packName(elementOf(member)),
        {b.at(stored, all.b.base, b.mul(term, rowStride)), rowStride,
         all.b.along[product.n], b.min(depth, b.sub(all.k, term)), all.n,
         inRoom(member, b.mul(term, b.mul(panels, b.number(tile.columns())))),
         zero, panels});
  });
}

/// Writes zeros where C is outside of its band.
void StripEmitter::clearOutside(const StripMember &member, Value first,
                                Value count) {
  const ExampleProduct &product = *member.product;
  if (product.columns.isWhole() || isGuarded(member))
    return;
  Operands all = operandsOf(member, first);
  Value zero = b.number(0), one = b.number(1);
  b.loop(zero, count, one, [&](Value row) {
    Value at = b.add(first, row);
    Value base = address(all.c.base, b.mul(row, all.c.along[product.m]));
    auto [from, to] = inBand(product.columns, all.n, at, at);
    b.clear(real, base, from);
    b.clear(real, address(base, to), b.sub(all.n, to));
  });
}

/// C[rows, n] = A[rows, k] * B[k, n]
void StripEmitter::multiplyRows(const StripMember &member, Value first,
                                Value count) {
  const ExampleProduct &product = *member.product;
  Operands all = operandsOf(member, first);
  if (isStored(product.left))
    all.a = widen(all.a, product, count, all.k);
  Value one = b.number(1);
  Value width = b.number(tile.columns());
  Value panels = b.divUp(all.n, width);
  Value last = b.sub(b.add(first, count), one);
  // The panels and pieces of terms that these rows use.
  auto range = [&](const Band &band, Value size, Value unit) {
    auto [from, to] = inBand(band, size, first, last);
    return std::pair(b.mul(b.div(from, unit), unit), to);
  };
  auto [firstColumn, lastColumn] = range(product.columns, all.n, width);
  Value depth = b.number(depthOf(member));
  auto [firstTerm, lastTerm] = range(product.terms, all.k, depth);
  // Without terms, one turn writes zeros.
  lastTerm = b.max(lastTerm, b.add(firstTerm, one));
  b.loop(firstTerm, lastTerm, depth, [&](Value term) {
    b.call(gemmName(elementOf(member)),
           {address(all.a.base, b.mul(term, all.a.along[product.k])),
            all.a.along[product.m], all.a.along[product.k],
            inRoom(member, b.mul(term, b.mul(panels, width))), all.c.base,
            all.c.along[product.m], count, all.n,
            b.min(depth, b.sub(all.k, term)), b.div(firstColumn, width),
            b.divUp(lastColumn, width), b.less(firstTerm, term)});
  });
  clearOutside(member, first, count);
}

/// C[m, n] += A[m, rows] * B[rows, n]
void StripEmitter::sumRows(const StripMember &member, Value first,
                           Value count) {
  const ExampleProduct &product = *member.product;
  Operands all = operandsOf(member, first);
  Value zero = b.number(0), one = b.number(1);
  Value panels = b.divUp(all.n, b.number(tile.columns()));
  Value room = rooms[member.packed];
  b.call(packName(elementOf(member)),
         {all.b.base, all.b.along[product.k], all.b.along[product.n], count,
          all.n, room, zero, panels});
  // The rows of C that these terms affect.
  Value last = b.sub(b.add(first, count), one);
  auto [from, to] = inBand(product.terms.turned(), all.m, first, last);
  b.call(gemmName(elementOf(member)),
         {address(all.a.base, b.mul(from, all.a.along[product.m])),
          all.a.along[product.m], all.a.along[product.k], room,
          address(all.c.base, b.mul(from, all.c.along[product.m])),
          all.c.along[product.m], b.sub(to, from), all.n, count, zero, panels,
          b.truth(true)});
}

/// The initial values of sums over the rows.
void StripEmitter::clear(const StripMember &member) {
  const ExampleProduct &product = *member.product;
  Operands all = operandsOf(member, b.number(0));
  b.loop(b.number(0), all.m, b.number(1), [&](Value row) {
    b.clear(real, address(all.c.base, b.mul(row, all.c.along[product.m])),
            all.n);
  });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// So many rows of each.
void StripEmitter::emitMembers(ArrayRef<StripMember> members, Value first,
                               Value count) {
  for (const StripMember &member : members)
    if (!member.loop.empty())
      emitMember(member, first, count);
}

void StripEmitter::emitMember(const StripMember &member, Value first,
                              Value count) {
  b.setLoc(member.op->getLoc());
  if (member.sumsRows)
    return sumRows(member, first, count);
  if (member.product)
    return multiplyRows(member, first, count);
  ComputeEmitter emitter(b, storage, member.loop, lanes, member.shared);
  b.loop(first, b.add(first, count), b.number(1),
         [&](Value row) { emitter.emit(place, placesOf(member, row)); });
}

void StripEmitter::emit(const Place &at, Value unit, Value parts) {
  Value part = enter(at, unit, parts);
  BodyEmitter values(b, storage, place, 0);
  Value rows = values.extent(group.rows);
  if (!group.isDivisible())
    return emitRows(b.number(0), rows);
  Value ofUnit = b.number(unitStrips * stripRows);
  Value begin = b.mul(part, ofUnit);
  Value end = b.min(rows, b.add(begin, ofUnit));
  b.branch(b.less(begin, end), [&] { emitRows(begin, end); });
}

/// All rows from `first` to before `last`.
void StripEmitter::emitRows(Value first, Value last) {
  findRooms();
  setStrips(first);
  for (const StripMember &member : group.members) {
    if (member.sumsRows)
      clear(member);
    else if (member.product)
      pack(member);
  }
  b.loop(first, last, b.number(stripRows), [&](Value row) {
    setStrips(row);
    Value count = b.min(b.number(stripRows), b.sub(last, row));
    emitMembers(group.members, row, count);
  });
}

/// The number of rows of the examples before this one.
static Value rowsBefore(KernelBuilder &b, const StorageMap &storage,
                        Value frame, Attribute extent, Value example) {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return b.mul(example, b.number(number.getInt()));
  int layout = storage.layoutOfLength(cast<StringAttr>(extent));
  return b.entry(frame, storage.slotOfLayout(layout), example);
}

/// The rows of the product of the first member, in its strip.
void StripEmitter::multiplyWeights(Value first, Value count) {
  RowsProduct product = *group.weights;
  ComputeOp op = group.members.front().op;
  const Storage &left = storage.of(product.left.getArray());
  const Storage &result = storage.of(op.getResult());
  Value one = b.number(1), leftWidth = b.number(product.leftWidth);
  Value width = b.number(product.width);
  Value to;
  if (result.strip >= 0) {
    unsigned room = group.strips[result.strip].room;
    to = rooms[room];
    width = strideIn(room, width);
  } else {
    to = address(b.pointerSlot(place.frame, result.slot), b.mul(first, width));
  }
  Value from =
      address(b.pointerSlot(place.frame, left.slot),
              b.add(b.mul(first, leftWidth), b.number(product.leftFirst)));
  Value packed = b.pointerSlot(place.frame, storage.packedOf(op)->slot);
  b.call(functionsOf(op, real).multiply,
         {from, leftWidth, one, packed, to, width, count,
          b.number(product.columns()), b.number(product.count), b.number(0),
          b.number(tile.panels(product.columns())), b.truth(false)});
}

void StripEmitter::emitBatch(const Place &at, Value first, Value last) {
  place = at;
  findRooms();
  Value zero = b.number(0), one = b.number(1);
  Value batch = b.slot(place.frame, Program::batchSlot);
  // Strips of whole tiles and of about equal height.
  Value all = b.sub(last, first), ofTile = b.number(tile.rows);
  Value tallest = b.number(stripRows / tile.rows * tile.rows);
  Value height = b.divUp(all, b.divUp(all, tallest));
  height = b.mul(b.divUp(height, ofTile), ofTile);
  b.loop(first, last, height, [&](Value strip) {
    Value end = b.min(last, b.add(strip, height));
    multiplyWeights(strip, b.sub(end, strip));
    b.loop(zero, batch, one, [&](Value example) {
      place.example = place.rank = example;
      Value begin = rowsBefore(b, storage, place.frame, group.rows, example);
      Value next =
          rowsBefore(b, storage, place.frame, group.rows, b.add(example, one));
      setStrips(b.sub(strip, begin));
      b.loop(b.max(strip, begin), b.min(end, next), one, [&](Value row) {
        emitMembers(ArrayRef(group.members).drop_front(), b.sub(row, begin),
                    one);
      });
    });
  });
}

/// A unit is a tile of the product.
void ProgramEmitter::emitBatchStrips(const StripGroup &group, StringRef name) {
  ComputeOp op = group.members.front().op;
  int rowsSlot = slotOf(0);
  launch(
      op, name, main.divUp(count(), main.number(tile.rows)),
      [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
        StripEmitter strips(kernel, storage, group, real, tile, lanes);
        Value height = kernel.number(tile.rows);
        strips.emitBatch(
            placeOf(kernel, op, frame), kernel.mul(first, height),
            kernel.min(kernel.mul(last, height), kernel.slot(frame, rowsSlot)));
      },
      main.number(rowsAtOnce / tile.rows));
}

void ProgramEmitter::emitStrips(const StripGroup &group) {
  SmallVector<Operation *> ops;
  for (const StripMember &member : group.members)
    ops.push_back(member.op);
  std::string name = "strips." + joinedLabels(ops);
  if (group.weights)
    emitBatchStrips(group, name);
  else
    emitExampleStrips(group, name);
  noteOthers(ops);
}

void ProgramEmitter::emitExampleStrips(const StripGroup &group,
                                       StringRef name) {
  int64_t unitRows = unitStrips * TargetAttr::of(group.kernel).getStripRows();
  auto partsOf = [&](KernelBuilder &builder, Value frame) {
    if (!group.isDivisible())
      return builder.number(1);
    Value rows = largestExtent(builder, storage, frame, group.rows);
    return builder.divUp(builder.max(rows, builder.number(1)),
                         builder.number(unitRows));
  };
  Value units = main.mul(
      count(), main.mul(main.number(group.numPlaces()), partsOf(main, frame)));
  ComputeOp op = group.members.front().op;
  launch(op, name, units,
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           StripEmitter strips(kernel, storage, group, real, tile, lanes);
           Value parts = partsOf(kernel, frame);
           kernel.loop(first, last, kernel.number(1), [&](Value unit) {
             strips.emit(placeOf(kernel, op, frame), unit, parts);
           });
         });
}
