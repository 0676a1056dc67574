//===- Strips.cpp - kernels that compute a strip of rows at a time --------===//

#include "codegen/program/Strips.h"
#include "passes/analysis/Access.h"
#include "passes/kernels/Members.h"
#include "passes/memory/Locations.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::codegen;

/// The equations of the loop that begins with `op`; none if `op` is in the loop
/// of another one.
static SmallVector<ComputeOp, 1> loopFrom(ComputeOp op) {
  auto kernel = cast<KernelOp>(op->getParentOp());
  if (kernel.getSchedule() != Schedule::loop)
    return {op};
  if (op->getPrevNode())
    return {};
  return llvm::to_vector<1>(kernel.getMembers());
}

StripGroup fovea::codegen::stripsOf(KernelOp kernel) {
  StripGroup group;
  group.kernel = kernel;
  if (kernel.getOuter())
    llvm::append_range(group.outer, *kernel.getOuter());
  group.rows = *kernel.getOver();
  group.rooms = roomsOf(kernel);
  for (ComputeOp op : kernel.getMembers()) {
    StripMember member;
    member.op = op;
    llvm::append_range(member.shared, sharedBy(op));
    member.sumsRows = member.shared.back() >= op.getNumParallel();
    member.product = exampleProductOf(op);
    member.loop = loopFrom(op);
    if (ArrayLocationAttr packed = packedLocationOf(op);
        member.product && packed)
      member.packed = packed.getNumber();
    if (group.members.empty())
      group.weights = rowsProductOf(op);
    ArrayLocationAttr location = locationOf(op.getResult());
    if (location.getKind() == LocationKind::room)
      group.strips.push_back(
          {op.getResult(), location.getNumber(), member.shared.back()});
    group.members.push_back(std::move(member));
  }
  return group;
}

int64_t StripGroup::numPlaces() const {
  int64_t places = 1;
  for (Attribute extent : outer)
    places *= cast<IntegerAttr>(extent).getInt();
  return places;
}

//===----------------------------------------------------------------------===//
// Rooms
//===----------------------------------------------------------------------===//

Value fovea::codegen::largestExtent(KernelBuilder &b, const StorageMap &storage,
                                    Value frame, Attribute extent) {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return b.number(number.getInt());
  StringRef name = cast<StringAttr>(extent).getValue();
  return b.slot(frame, storage.length(name).maximumSlot);
}

/// The capacity of a workspace along an extent.
static Value padded(KernelBuilder &b, const RoomExtent &room, Value extent) {
  Value multiple = b.number(room.multiple);
  return b.add(b.mul(b.divUp(extent, multiple), multiple),
               b.number(room.extra));
}

/// The elements of a workspace for the largest lengths of the batch, as
/// StorageMap::addRooms defines them.
Value StripFrame::roomSize(RoomAttr room) {
  Value size = b.number(room.getFixedCount());
  for (const RoomExtent &each : room.getExtents())
    if (isa<StringAttr>(each.extent))
      size = b.mul(
          size,
          padded(b, each, largestExtent(b, storage, place.frame, each.extent)));
  return size;
}

void StripFrame::findRooms(Value at) {
  rooms.clear();
  for (RoomAttr room : group.rooms) {
    rooms.push_back(at);
    at = address(at, roomSize(room));
  }
}

Value StripFrame::strideIn(unsigned room, Value width) {
  ArrayRef<RoomExtent> extents = group.rooms[room].getExtents();
  return extents.empty() ? width : padded(b, extents.back(), width);
}

/// The strips that begin with row `first`.
void StripFrame::setStrips(Value first) {
  place.strips.clear();
  BodyEmitter values(b, storage, place, 0);
  for (const StripGroup::Strip &strip : group.strips) {
    auto type = cast<ArrayType>(strip.array.getType());
    Value width = values.extent(type.getExtent(type.getRank() - 1));
    place.strips.push_back(
        {rooms[strip.room], first, strideIn(strip.room, width)});
  }
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

Value StripFrame::enter(Place at, Value unit, Value parts) {
  place = std::move(at);
  Value each = b.mul(b.number(group.numPlaces()), parts);
  place.example = place.rank = b.div(unit, each);
  Value rest = b.rem(unit, each);
  Value part = b.rem(rest, parts);
  rest = b.div(rest, parts);
  outer.clear();
  for (Attribute extent : llvm::reverse(group.outer)) {
    Value size = b.number(cast<IntegerAttr>(extent).getInt());
    outer.insert(outer.begin(), b.rem(rest, size));
    rest = b.div(rest, size);
  }
  return part;
}

/// The indices of a member at a row; iterated ones are 0.
SmallVector<Index> StripFrame::indicesOf(const StripMember &member, Value row) {
  ComputeOp op = member.op;
  SmallVector<Index> indices(op.getNumIndices(), Index{b.number(0)});
  for (auto [index, at] : llvm::zip(member.shared, outer))
    indices[index] = {at};
  indices[member.shared.back()] = {row};
  return indices;
}

StripFrame::Operands StripFrame::operandsOf(const StripMember &member,
                                            Value row) {
  BodyEmitter values(b, storage, place, 0);
  ComputeOp op = member.op;
  ExampleProduct product = *member.product;
  SmallVector<Index> indices = indicesOf(member, row);
  auto extent = [&](unsigned index) {
    return values.extent(op.getExtents()[index]);
  };
  return {values.view(storage.of(product.left.getArray()), product.leftAxes,
                      indices),
          values.view(storage.of(product.right.getArray()), product.rightAxes,
                      indices),
          values.view(storage.of(op.getResult()), product.resultAxes, indices),
          extent(product.m),
          extent(product.n),
          extent(product.k)};
}

SmallVector<Value> StripFrame::placesOf(const StripMember &member, Value row) {
  SmallVector<Value> given(ComputeOp(member.op).getNumParallel());
  for (auto [index, at] : llvm::zip(member.shared, outer))
    given[index] = at;
  given[member.shared.back()] = row;
  return given;
}

bool StripFrame::isGuarded(const StripMember &member) {
  ComputeOp op = member.op;
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    ReadOp read = plainRead(user, op.getResult());
    auto reader = user->getParentOfType<ComputeOp>();
    if (!read || !reader)
      return false;
    auto other = llvm::find_if(
        group.members, [&](const auto &each) { return each.op == reader; });
    if (other == group.members.end() || other->product)
      return false;
    SmallVector<Guard> guards = guardsOf(reader);
    return llvm::all_of(guardsOf(op), [&](const Guard &own) {
      auto indexOf = [&](unsigned index) {
        AccessIndex at = classify(read.getIndices()[index], reader);
        return at.kind == AccessIndex::Iterator && at.offset == 0 ? at.iterator
                                                                  : ~0U;
      };
      unsigned lhs = indexOf(own.lhs), rhs = indexOf(own.rhs);
      return llvm::any_of(guards, [&](const Guard &guard) {
        return guard.lhs == lhs && guard.rhs == rhs &&
               guard.offset <= own.offset;
      });
    });
  });
}

std::pair<Value, Value> StripFrame::inBand(const Band &band, Value size,
                                           Value first, Value last) {
  Value from = b.number(0), to = size;
  if (band.from)
    from = b.max(from, b.min(size, b.add(first, b.number(*band.from))));
  if (band.to)
    to = b.max(from, b.min(size, b.add(last, b.number(*band.to + 1))));
  return {from, to};
}
