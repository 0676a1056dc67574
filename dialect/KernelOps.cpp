//===- KernelOps.cpp - what is computed together --------------------------===//

#include "dialect/AttnDialect.h"

using namespace mlir;
using namespace fovea::attn;

/// Checks that the shared indices of a member are those of the kernel.
static LogicalResult verifyShared(KernelOp kernel, ComputeOp member,
                                  ArrayRef<Attribute> extents) {
  auto shared = member->getAttrOfType<DenseI64ArrayAttr>("attn.shared");
  size_t count = shared ? shared.size() : 0;
  if (count != extents.size())
    return member.emitOpError()
           << "has " << count << " shared indices but its kernel "
           << extents.size();
  uint64_t seen = 0;
  for (auto [index, extent] : llvm::zip_equal(shared.asArrayRef(), extents)) {
    if (index < 0 || index >= member.getNumIndices())
      return member.emitOpError() << "has no index " << index;
    if (seen >> index & 1)
      return member.emitOpError() << "shares index " << index << " twice";
    seen |= uint64_t(1) << index;
    if (Attribute own = member.getExtents()[index]; own != extent)
      return member.emitOpError()
             << "shares an index over " << extentText(own)
             << " where its kernel has " << extentText(extent);
  }
  return success();
}

SmallVector<ComputeOp> KernelOp::getMembers() {
  SmallVector<ComputeOp> members;
  for (Operation &op : getBody().front()) {
    if (auto compute = dyn_cast<ComputeOp>(op))
      members.push_back(compute);
    else if (auto loop = dyn_cast<KernelOp>(op))
      llvm::append_range(members, loop.getBody().front().getOps<ComputeOp>());
  }
  return members;
}

/// Returns whether an op is allowed in the body of a kernel.
static bool mayStandIn(Schedule schedule, Operation &op) {
  auto compute = dyn_cast<ComputeOp>(op);
  if (schedule == Schedule::loop)
    return compute && compute.getReducer() == Reducer::sum &&
           compute.getElementType().isF64();
  if (auto inner = dyn_cast<KernelOp>(op))
    return schedule == Schedule::strips &&
           inner.getSchedule() == Schedule::loop;
  if (isa<ConcatOp, AppendOp>(op))
    return schedule == Schedule::rows;
  return compute || (isa<ReshapeOp>(op) && schedule != Schedule::strips);
}

/// Checks that one loop can compute an equation with the first of its kernel.
static LogicalResult verifyLoop(KernelOp kernel, ComputeOp first,
                                ComputeOp member) {
  if (member.getExtents() != first.getExtents() ||
      member.getLower() != first.getLower() ||
      member.getNumParallel() != first.getNumParallel()) {
    InFlightDiagnostic diag = member.emitOpError()
                              << "has other indices than its loop";
    diag.attachNote(first.getLoc()) << "which are those of the first equation";
    return diag;
  }
  WalkResult walk = member.walk([&](ReadOp read) {
    return llvm::any_of(read->getOperands(),
                        [&](Value operand) {
                          Operation *source = operand.getDefiningOp();
                          return source && source->getParentOp() == kernel;
                        })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return member.emitOpError() << "reads an equation of its own loop";
  return success();
}

/// Returns whether a view, or an equation, has rows over `extent`.
static bool hasRowsOver(Type type, Attribute extent) {
  ArrayRef<Attribute> shape = cast<ArrayType>(type).getShape().getValue();
  return !shape.empty() && shape.front() == extent;
}

/// Checks that the rows of a member at a place need no other place of the
/// kernel.
static LogicalResult verifyPlace(KernelOp kernel, Operation &op) {
  auto isOfKernel = [&](Value array) {
    Operation *source = array.getDefiningOp();
    return source && source->getParentOp() == kernel;
  };
  Attribute over = *kernel.getOver();
  if (auto view = dyn_cast<ReshapeOp>(op)) {
    if (!hasRowsOver(view.getType(), over) ||
        !hasRowsOver(view.getOperand().getType(), over))
      return view.emitOpError() << "does not keep the places of its kernel";
    return success();
  }
  auto member = cast<ComputeOp>(op);
  if (member.getNumParallel() == 0 || member.getExtents()[0] != over)
    return member.emitOpError() << "does not have the places of its kernel";
  WalkResult walk = member.walk([&](ReadOp read) {
    bool isElsewhere = llvm::any_of(read->getOperands(), [&](Value operand) {
      return isOfKernel(operand) && !read.isAtFirstIndex(operand);
    });
    return isElsewhere ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return member.emitOpError()
           << "reads an equation of its kernel at another place";
  return success();
}

LogicalResult KernelOp::verify() {
  // (C1)
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  if (!yield || yield->getOperandTypes() != getResultTypes())
    return emitOpError() << "gives (" << getResultTypes()
                         << ") but its body yields ("
                         << (yield ? TypeRange(yield->getOperandTypes())
                                   : TypeRange())
                         << ")";
  // (C3)
  for (Operation &op : getBody().front().without_terminator())
    if (!mayStandIn(getSchedule(), op))
      return op.emitOpError() << "is not allowed in a kernel of the schedule '"
                              << stringifySchedule(getSchedule()) << "'";
  SmallVector<ComputeOp> members = getMembers();
  // (C4)
  if (getSchedule() == Schedule::loop)
    for (ComputeOp member : members)
      if (failed(verifyLoop(*this, members.front(), member)))
        return failure();
  // (C2)
  bool isInStrips = getSchedule() == Schedule::strips;
  bool isInPlaces = getSchedule() == Schedule::places;
  if (!isInStrips && getKeys())
    return emitOpError() << "takes some keys at a time but the schedule '"
                         << stringifySchedule(getSchedule()) << "'";
  if ((!isInStrips && getOuter()) || (!isInStrips && !isInPlaces && getOver()))
    return emitOpError() << "has extents of rows but the schedule '"
                         << stringifySchedule(getSchedule()) << "'";
  if ((isInStrips || isInPlaces) && !getOver())
    return emitOpError() << "is in " << stringifySchedule(getSchedule())
                         << " of no rows";
  // (C5)
  if (isInPlaces)
    for (Operation &op : getBody().front().without_terminator())
      if (failed(verifyPlace(*this, op)))
        return failure();
  if (!isInStrips)
    return success();
  SmallVector<Attribute> extents;
  if (getOuter())
    llvm::append_range(extents, *getOuter());
  extents.push_back(*getOver());
  for (ComputeOp member : members)
    if (failed(verifyShared(*this, member, extents)))
      return failure();
  return success();
}
