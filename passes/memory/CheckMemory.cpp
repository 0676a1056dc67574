//===- CheckMemory.cpp - that every array of a program has a place --------===//

#include "passes/memory/CheckMemory.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/memory/Locations.h"
#include "passes/memory/Rooms.h"
#include "passes/memory/Scatters.h"
#include "passes/memory/Storage.h"

using namespace mlir;
using namespace fovea::attn;

bool fovea::attn::isPlaced(ProgramOp program) {
  return program
      .walk([](Operation *op) {
        return op->hasAttr(locationName) ? WalkResult::interrupt()
                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
class Checker {
public:
  LogicalResult check(Block &block);

private:
  LogicalResult checkArray(Value array, Operation *op);
  LogicalResult checkSame(Value array, ArrayLocationAttr location,
                          Operation *op);
  LogicalResult checkRow(Value array, ArrayLocationAttr location,
                         Operation *op);
  LogicalResult checkOver(ComputeOp op, ArrayLocationAttr location);
  LogicalResult checkProduct(ComputeOp op);
  LogicalResult checkGathered(ComputeOp op);
  LogicalResult begin(ArrayLocationAttr location, ArrayType type,
                      Operation *op);

  /// The array type of every memory, by number.
  llvm::DenseMap<unsigned, ArrayType> memories;
};
} // namespace

/// Returns whether arrays of two types have the same elements in the same
/// order.
static bool fits(ArrayType a, ArrayType b) {
  return numbersIn(a) == numbersIn(b) && lengthsIn(a) == lengthsIn(b) &&
         a.getElementType() == b.getElementType();
}

/// Checks that this memory is not already taken.
LogicalResult Checker::begin(ArrayLocationAttr location, ArrayType type,
                             Operation *op) {
  if (memories.try_emplace(location.getNumber(), type).second)
    return success();
  return op->emitOpError() << "has memory " << location.getNumber()
                           << " of its own, which another array also has";
}

/// Checks that an array fills the whole memory of another one, of the same
/// size.
LogicalResult Checker::checkSame(Value array, ArrayLocationAttr location,
                                 Operation *op) {
  auto type = cast<ArrayType>(array.getType());
  auto other = memories.find(location.getNumber());
  if (other == memories.end())
    return op->emitOpError() << "lies in memory " << location.getNumber()
                             << ", which no array before it has";
  if (!fits(other->second, type))
    return op->emitOpError()
           << "of type " << type << " lies in memory " << location.getNumber()
           << " of an array of type " << other->second;
  return success();
}

/// Checks that the next value of a carry overwrites it only after its last
/// read.
LogicalResult Checker::checkOver(ComputeOp op, ArrayLocationAttr location) {
  Operation *loop = op->getParentOp();
  while (isa<KernelOp>(loop))
    loop = loop->getParentOp();
  BlockArgument carry;
  for (BlockArgument each : loop->getRegion(0).getArguments()) {
    ArrayLocationAttr own = locationOf(each);
    if (own && own.getKind() == LocationKind::own &&
        own.getNumber() == location.getNumber())
      carry = each;
  }
  if (!carry ||
      computedBy(loop->getRegion(0).front().getTerminator()->getOperand(
          carry.getArgNumber() - 1)) != op)
    return op.emitOpError() << "lies in memory " << location.getNumber()
                            << " but is not the next value of a carry there";
  Block &body = loop->getRegion(0).front();
  Operation *own = body.findAncestorOpInBlock(*op);
  for (Operation *user : carry.getUsers())
    if (Operation *reader = body.findAncestorOpInBlock(*user);
        own->isBeforeInBlock(reader)) {
      InFlightDiagnostic diag = op.emitOpError() << "is written over memory "
                                                 << location.getNumber()
                                                 << ", which is read after it";
      diag.attachNote(reader->getLoc()) << "it is read here";
      return diag;
    }
  return success();
}

/// Checks that an array is a row of a stacked array of an enclosing loop.
LogicalResult Checker::checkRow(Value array, ArrayLocationAttr location,
                                Operation *op) {
  auto type = cast<ArrayType>(array.getType());
  for (Operation *loop = op; loop; loop = loop->getParentOp()) {
    auto scan = dyn_cast<ScanOp>(loop);
    for (unsigned i = 0; scan && i < scan.getNumStacked(); ++i) {
      auto stacked = cast<ArrayType>(scan.getStacked(i).getType());
      if (locationOf(scan.getStacked(i)).getNumber() != location.getNumber())
        continue;
      ArrayType row = stacked.dropAxis(0);
      // The carry of this loop, a view, or the loop's stacked array.
      bool isKept = loop == op || viewedBy(op) ||
                    computedBy(scan.getStackedValue(i)) == op;
      if (isKept && scan.getAxes()[i] == 0 && fits(row, type))
        return success();
      return op->emitOpError()
             << "of type " << type << " is not a row of " << stacked
             << " in memory " << location.getNumber();
    }
  }
  return op->emitOpError() << "is a row of memory " << location.getNumber()
                           << ", which no loop around it keeps";
}

LogicalResult Checker::checkArray(Value array, Operation *op) {
  ArrayLocationAttr location = locationOf(array);
  if (!location)
    return op->emitOpError()
           << "yields an array without a location after phase 'memory'";
  auto type = cast<ArrayType>(array.getType());
  Value source = viewedBy(op);
  if (source && sameAs(locationOf(source)) != location)
    return op->emitOpError()
           << "is a view of an array in " << sameAs(locationOf(source))
           << " but lies in " << location;
  switch (location.getKind()) {
  case LocationKind::own:
    return begin(location, type, op);
  case LocationKind::argument:
    return source ? success() : begin(location, type, op);
  case LocationKind::same: {
    auto compute = dyn_cast<ComputeOp>(op);
    if (source)
      return success();
    if (failed(checkSame(array, location, op)))
      return failure();
    if (!compute)
      return op->emitOpError() << "is not a view but lies in memory "
                               << location.getNumber() << " of another array";
    return checkOver(compute, location);
  }
  case LocationKind::row:
  case LocationKind::carry:
    return checkRow(array, location, op);
  case LocationKind::room:
    return success();
  case LocationKind::packed:
  case LocationKind::list:
    break;
  }
  llvm_unreachable("no array is packed, or a list");
}

/// Checks that the memory that a product needs is assigned.
LogicalResult Checker::checkProduct(ComputeOp op) {
  KernelOp kernel = kernelAround(op);
  std::optional<RowsProduct> product = rowsProductOf(op);
  ArrayLocationAttr packed = packedLocationOf(op), list = listLocationOf(op);
  auto refuse = [&](StringRef what) -> LogicalResult {
    return op.emitOpError()
           << "is a product whose " << what << " after phase 'memory'";
  };
  if (storedCopyOf(op) && !canStoreCopy(op))
    return op.emitOpError() << "only an equation outside loops that computes "
                               "whole rows can store a copy";
  if (listsTerms(op)) {
    if (!list || list.getKind() != LocationKind::list)
      return op.emitOpError() << "adds its terms to rows without a list of "
                                 "them after phase 'memory'";
    return begin(list, termListType(op), op);
  }
  // For pairs that read keys, only these.
  auto isCopied = [](ArrayLocationAttr location) {
    return location && location.getKind() == LocationKind::packed;
  };
  StripDecisions decisions;
  if (kernel)
    decisions = decideStrips(kernel);
  auto *sides = decisions.copies.find(op);
  bool isOfKernel = sides != decisions.copies.end();
  bool hasRows = !isOfKernel || sides->second.left;
  if ((readsCopies(op) || isOfKernel) &&
      (!isCopied(packed) || (hasRows && !isCopied(packedLeftLocationOf(op)))))
    return refuse("copied factors have no memory");
  if (!product) {
    if (kernel && productOf(op) && packsProducts(op) &&
        (!packed || packed.getKind() != LocationKind::room))
      return refuse("right side has no room");
    return success();
  }
  if (product->packsAhead() && packsProducts(op) &&
      (!packed || packed.getKind() != LocationKind::packed))
    return refuse("right side has no memory");
  bool isColumns = kernel && kernel.getSchedule() == Schedule::columns;
  if (isColumns && locationOf(op.getResult()).getKind() != LocationKind::room)
    return refuse("sums have no room");
  if (!needsRowList(op))
    return success();
  LocationKind kind = isColumns ? LocationKind::room : LocationKind::list;
  if (!list || list.getKind() != kind)
    return refuse("rows have no list");
  return isColumns ? success() : begin(list, rowListType(op), op);
}

/// Checks that gathered copies are copies of weights, and that nothing reads
/// them earlier.
LogicalResult Checker::checkGathered(ComputeOp op) {
  auto gathered = op->getAttrOfType<ArrayAttr>(gatheredName);
  if (!gathered)
    return success();
  if (!readsCopies(op))
    return op.emitOpError() << "gathers copies but reads none";
  SmallVector<GatheredCopy> copies = gatheredAhead(op);
  if (copies.size() != gathered.size())
    return op.emitOpError()
           << "gathers " << gathered.size()
           << " copies, but the weights among them are " << copies.size();
  for (GatheredCopy &copy : copies)
    if (copy.reader->isBeforeInBlock(op)) {
      InFlightDiagnostic diag = op.emitOpError()
                                << "gathers the copy in memory "
                                << packedLocationOf(copy.reader).getNumber()
                                << ", which is read before";
      diag.attachNote(copy.reader.getLoc()) << "it is read here";
      return diag;
    }
  return success();
}

LogicalResult Checker::check(Block &block) {
  for (Operation *op : opsInOrder(block)) {
    if (isa<KernelOp>(op))
      continue;
    for (OpResult result : op->getResults())
      if (isa<ArrayType>(result.getType()) && failed(checkArray(result, op)))
        return failure();
    if (auto compute = dyn_cast<ComputeOp>(op))
      if (failed(checkProduct(compute)) || failed(checkGathered(compute)))
        return failure();
    if (!isa<ScanOp, SearchOp>(op))
      continue;
    Block &body = op->getRegion(0).front();
    for (BlockArgument carry : body.getArguments().drop_front())
      if (failed(checkArray(carry, op)))
        return failure();
    if (failed(check(body)))
      return failure();
  }
  return success();
}

LogicalResult fovea::attn::verifyPlaced(ProgramOp program) {
  if (failed(verifyBatched(program)))
    return failure();
  if (failed(Checker().check(program.getBody().front())))
    return failure();
  return TargetAttr::of(program).verifyPlaced(program);
}
