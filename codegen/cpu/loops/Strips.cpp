//===- Strips.cpp - kernels that compute a strip of rows at a time --------===//

#include "codegen/cpu/loops/Strips.h"
#include "passes/kernels/Members.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::codegen;

/// The equations of the loop that begins with `op`; none where `op` is in that
/// of another one.
static SmallVector<ComputeOp, 1> loopFrom(ComputeOp op) {
  auto kernel = cast<KernelOp>(op->getParentOp());
  if (kernel.getSchedule() != Schedule::loop)
    return {op};
  if (op->getPrevNode())
    return {};
  return llvm::to_vector<1>(kernel.getMembers());
}

static StripGroup groupOf(KernelOp kernel) {
  StripGroup group;
  if (kernel.getOuter())
    llvm::append_range(group.outer, *kernel.getOuter());
  group.rows = *kernel.getOver();
  for (ComputeOp op : kernel.getMembers()) {
    StripMember member;
    member.op = op;
    for (int64_t index :
         op->getAttrOfType<DenseI64ArrayAttr>(sharedName).asArrayRef())
      member.shared.push_back(index);
    member.sumsRows = member.shared.back() >= op.getNumParallel();
    member.product = exampleProductOf(op);
    member.loop = loopFrom(op);
    if (group.members.empty())
      group.weights = rowsProductOf(op);
    if (isStrip(kernel, op))
      group.strips.push_back({op.getResult(), 0, member.shared.back()});
    group.members.push_back(std::move(member));
  }
  return group;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t Room::fixedCount() const {
  int64_t result = count;
  for (const Factor &factor : factors)
    if (auto number = dyn_cast<IntegerAttr>(factor.extent))
      result *= llvm::alignTo(number.getInt(), factor.multiple) + factor.extra;
  return result;
}

/// Whether each element of a result may be written over the element of `array`
/// at its own place: a row is read ahead of what is written of it.
static bool isReadAtOwnPlace(ComputeOp op, Value array) {
  if (op.getReducer() != Reducer::none && !op.isNormaliser())
    return false;
  bool isGood = true;
  forArrays(*op, [&](Operation *user, Value read) {
    if (read == array)
      isGood &= cast<ReadOp>(user).getIndices().back() ==
                op.getIndex(op.getNumIndices() - 1);
  });
  return isGood;
}

/// Gives packed right sides and strips their rooms. A strip takes the room of
/// one that nobody reads any more.
static void addRooms(StripGroup &group, GemmTile tile) {
  for (StripMember &member : group.members) {
    if (!member.product)
      continue;
    ArrayAttr extents = member.op.getExtents();
    Room room;
    room.factors.push_back({extents[member.product->n], tile.columns()});
    if (member.sumsRows)
      room.count = stripRows;
    else
      room.factors.push_back({extents[member.product->k]});
    member.packed = group.rooms.size();
    group.rooms.push_back(room);
  }
  size_t firstStrip = group.rooms.size();
  SmallVector<size_t> freeFrom; // by room of a strip: the first free member
  for (auto [number, member] : llvm::enumerate(group.members)) {
    auto *strip = llvm::find_if(group.strips, [&](const auto &each) {
      return each.array == member.op.getResult();
    });
    if (strip == group.strips.end())
      continue;
    size_t lastRead = number;
    for (auto [reader, other] : llvm::enumerate(group.members))
      forArrays(*other.op, [&, reader = reader](Operation *, Value array) {
        if (array == strip->array)
          lastRead = std::max(lastRead, reader);
      });
    auto extent = cast<ArrayType>(strip->array.getType()).getShape().getValue();
    // Between rows: whole vectors, and no power of two, which would bring the
    // rows into few sets of a cache.
    Room room{.count = stripRows, .factors = {{extent.back(), 16, 16}}};
    auto isFree = [&](size_t at) {
      if (group.rooms[firstStrip + at].factors[0].extent != extent.back())
        return false;
      if (freeFrom[at] <= number)
        return true;
      if (freeFrom[at] != number + 1)
        return false;
      // Its last reader is this member.
      return llvm::all_of(group.strips, [&](const auto &each) {
        return each.room != firstStrip + at || &each == strip ||
               isReadAtOwnPlace(member.op, each.array);
      });
    };
    size_t at = 0;
    while (at < freeFrom.size() && !isFree(at))
      ++at;
    if (at == freeFrom.size()) {
      freeFrom.push_back(0);
      group.rooms.push_back(room);
    }
    freeFrom[at] = lastRead + 1;
    strip->room = firstStrip + at;
  }
}

std::vector<StripGroup> fovea::codegen::stripsOf(ProgramOp program,
                                                 GemmTile tile) {
  std::vector<StripGroup> groups;
  program.walk([&](KernelOp kernel) {
    if (kernel.getSchedule() != Schedule::strips)
      return;
    addRooms(groups.emplace_back(groupOf(kernel)), tile);
  });
  return groups;
}
