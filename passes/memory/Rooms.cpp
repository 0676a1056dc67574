//===- Rooms.cpp - the memory that threads have for a kernel --------------===//
//
// In strips: packed right sides, and some rows of every internal array of the
// kernel. In columns: the sums of some rows of every product, and the addresses
// of its left side's rows. Each thread has its own workspace.
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Rooms.h"
#include "passes/analysis/Product.h"
#include "passes/kernels/Members.h"
#include "passes/memory/Copies.h"
#include "passes/memory/Locations.h"

using namespace mlir;
using namespace fovea::attn;

static void setLocation(Operation *op, StringRef name, unsigned room) {
  op->setAttr(
      name, ArrayLocationAttr::get(op->getContext(), LocationKind::room, room));
}

/// Returns whether a product over places would read rows of examples that have
/// not joined a reversed loop yet. No step has computed them.
static bool readsAheadOfExamples(ComputeOp op, RowsProduct product) {
  auto scan = dyn_cast<ScanOp>(op->getParentOp());
  Value left = throughViews(product.left.getArray());
  return scan && scan.getReverse() && isProductOverPlaces(op) &&
         left.getParentBlock() == op->getBlock() && left.getDefiningOp();
}

bool fovea::attn::needsRowList(ComputeOp op) {
  std::optional<RowsProduct> product = rowsProductOf(op);
  if (!product || product->gathered)
    return product.has_value();
  return product->isByRows() && (product->kind == ProductKind::place ||
                                 locationOf(product->left.getArray()).isRow() ||
                                 readsAheadOfExamples(op, *product));
}

ArrayType fovea::attn::rowListType(ComputeOp op) {
  RowsProduct product = *rowsProductOf(op);
  Builder builder(op.getContext());
  ArrayType rows = product.isByRows() ? op.getResult().getType()
                                      : product.right.getArrayType();
  SmallVector<Attribute> extents(rows.getShape().getValue().drop_back());
  if (product.gathered)
    extents.push_back(builder.getI64IntegerAttr(product.runs));
  return ArrayType::get(extents, builder.getI64Type());
}

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

namespace {
/// The workspace of one kernel in strips.
class Strips {
public:
  Strips(KernelOp kernel)
      : kernel(kernel), target(TargetAttr::of(kernel)),
        members(llvm::to_vector(kernel.getMembers())),
        decisions(decideStrips(kernel)) {}

  void place();

private:
  struct Room {
    int64_t count;
    SmallVector<RoomExtent> extents;
  };
  size_t lastReadOf(Value array, size_t from) const;
  size_t roomFor(ComputeOp member, size_t number);
  bool isInRegisters(ComputeOp member) const {
    return llvm::is_contained(decisions.inRegisters, member);
  }
  size_t roomOfNothing();
  void placePacked();
  void placeStrips();

  KernelOp kernel;
  TargetAttr target;
  SmallVector<ComputeOp> members;
  StripDecisions decisions;
  SmallVector<Room> rooms;
  size_t firstStrip = 0;
  SmallVector<size_t> freeFrom; // by room of a strip: the first free member
  SmallVector<std::pair<ComputeOp, size_t>> placed; // strips and their rooms
};
} // namespace

static bool sumsRows(ComputeOp member) {
  return sharedBy(member).back() >= int64_t(member.getNumParallel());
}

/// Returns whether each element of a result may overwrite the element of
/// `array` at its own place: a row is read before it is written.
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

size_t Strips::lastReadOf(Value array, size_t from) const {
  size_t last = from;
  for (auto [number, member] : llvm::enumerate(members))
    forArrays(*ComputeOp(member), [&, at = number](Operation *, Value read) {
      if (read == array)
        last = std::max(last, at);
    });
  return last;
}

/// The right sides of products, which are packed where they are used.
void Strips::placePacked() {
  for (ComputeOp member : members) {
    std::optional<ExampleProduct> product = exampleProductOf(member);
    if (!product || !packsProducts(member))
      continue;
    ArrayAttr extents = member.getExtents();
    Room room = {1, {{extents[product->n], target.getTileColumns()}}};
    if (sumsRows(member))
      room.count = target.getStripRows();
    else
      room.extents.push_back({extents[product->k]});
    setLocation(member, packedName, rooms.size());
    rooms.push_back(room);
  }
  firstStrip = rooms.size();
}

size_t Strips::roomOfNothing() {
  freeFrom.push_back(members.size() + 1);
  rooms.push_back({0, {}});
  return rooms.size() - 1;
}

/// Reuses the workspace of a dead strip, or creates one.
size_t Strips::roomFor(ComputeOp member, size_t number) {
  Attribute width = member.getResult().getType().getShape().getValue().back();
  auto isFree = [&](size_t at) {
    if (rooms[firstStrip + at].extents.empty() ||
        rooms[firstStrip + at].extents[0].extent != width)
      return false;
    if (freeFrom[at] <= number)
      return true;
    // Its last reader may be this member.
    return freeFrom[at] == number + 1 && llvm::all_of(placed, [&](auto &strip) {
             return strip.second != firstStrip + at ||
                    isReadAtOwnPlace(member, strip.first.getResult());
           });
  };
  size_t at = 0;
  while (at < freeFrom.size() && !isFree(at))
    ++at;
  if (at == freeFrom.size()) {
    freeFrom.push_back(0);
    // The row pitch: whole vectors, and not a power of two, which would map the
    // rows to few cache sets.
    rooms.push_back({target.getStripRows(), {{width, 16, 16}}});
  }
  freeFrom[at] = lastReadOf(member.getResult(), number) + 1;
  return firstStrip + at;
}

void Strips::placeStrips() {
  // Tiles of copies take all memory on the chip.
  bool hasPairsAlone = decisions.copyRows != 0;
  for (auto [number, member] : llvm::enumerate(members)) {
    if (!isStrip(kernel, member) || (hasPairsAlone && !isInRegisters(member)))
      continue;
    size_t room =
        isInRegisters(member) ? roomOfNothing() : roomFor(member, number);
    placed.push_back({member, room});
    setLocation(member, locationName, room);
  }
}

void Strips::place() {
  placePacked();
  placeStrips();
  SmallVector<Attribute> list;
  for (const Room &room : rooms)
    list.push_back(RoomAttr::get(kernel.getContext(), room.count, room.extents,
                                 /*whole=*/false));
  kernel->setAttr(roomsName, ArrayAttr::get(kernel.getContext(), list));
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Returns whether every product has a multiple of the equations' places as
/// columns.
static bool isInColumns(KernelOp kernel) {
  int64_t width = 0;
  SmallVector<int64_t> products;
  for (ComputeOp op : kernel.getMembers()) {
    auto extent = op.getNumParallel() == 1
                      ? dyn_cast<IntegerAttr>(op.getExtents()[0])
                      : IntegerAttr();
    if (!extent)
      return false;
    std::optional<RowsProduct> product = rowsProductOf(op);
    if (product && product->isByRows())
      products.push_back(extent.getInt());
    else if (productOf(op) || (width != 0 && extent.getInt() != width))
      return false;
    else
      width = extent.getInt();
  }
  return width != 0 && !products.empty() &&
         llvm::all_of(products,
                      [&](int64_t each) { return each % width == 0; });
}

static void placeColumns(KernelOp kernel) {
  MLIRContext *context = kernel.getContext();
  Builder builder(context);
  int64_t rows = TargetAttr::of(kernel).getColumnRows();
  SmallVector<Attribute> rooms;
  for (ComputeOp op : kernel.getMembers()) {
    if (!productOf(op))
      continue;
    setLocation(op, locationName, rooms.size());
    // The row pitch is not a power of two, which would map the rows to few
    // cache sets.
    rooms.push_back(RoomAttr::get(
        context, rows,
        {RoomExtent{op.getExtents()[0], /*multiple=*/1, /*extra=*/16}},
        /*whole=*/false));
    if (needsRowList(op))
      setLocation(op, listName, rooms.size());
    rooms.push_back(RoomAttr::get(context, rows, {}, /*whole=*/true));
  }
  kernel->setAttr(roomsName, builder.getArrayAttr(rooms));
}

LogicalResult fovea::attn::placeInRooms(KernelOp kernel) {
  if (kernel.getSchedule() == Schedule::strips) {
    if (failed(TargetAttr::of(kernel).verifyStrips(kernel)))
      return failure();
    Strips(kernel).place();
    return success();
  }
  // An empty one needs nothing.
  if (kernel.getSchedule() != Schedule::columns || kernel.getMembers().empty())
    return success();
  if (!isInColumns(kernel))
    return kernel.emitOpError()
           << "has no equations of equal width after its products";
  placeColumns(kernel);
  return success();
}
