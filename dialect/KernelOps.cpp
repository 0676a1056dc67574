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
  if (getSchedule() != Schedule::strips) {
    if (getKeys())
      return emitOpError() << "takes some keys at a time but the schedule '"
                           << stringifySchedule(getSchedule()) << "'";
    if (getOver() || getOuter())
      return emitOpError() << "has extents of rows but the schedule '"
                           << stringifySchedule(getSchedule()) << "'";
    return success();
  }
  if (!getOver())
    return emitOpError() << "is in strips of no rows";
  SmallVector<Attribute> extents;
  if (getOuter())
    llvm::append_range(extents, *getOuter());
  extents.push_back(*getOver());
  for (ComputeOp member : members)
    if (failed(verifyShared(*this, member, extents)))
      return failure();
  return success();
}
