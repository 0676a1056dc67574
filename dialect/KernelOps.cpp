//===- KernelOps.cpp - what is computed together --------------------------===//

#include "dialect/AttnDialect.h"

using namespace mlir;
using namespace fovea::attn;

MachineAttr MachineAttr::of(Operation *op) {
  MLIRContext *context = op->getContext();
  for (; op; op = op->getParentOp())
    if (auto given = op->getAttrOfType<MachineAttr>("attn.machine"))
      return given;
  return get(context, StringAttr::get(context, "x86-64-v3"), /*lanes=*/8,
             /*tile_rows=*/6, /*tile_vectors=*/2);
}

/// That the shared indices of a member are those of the kernel.
static LogicalResult verifyShared(KernelOp kernel, ComputeOp member,
                                  ArrayRef<Attribute> extents) {
  auto shared = member->getAttrOfType<DenseI64ArrayAttr>("attn.shared");
  size_t count = shared ? shared.size() : 0;
  if (count != extents.size())
    return member.emitOpError()
           << "has " << count << " shared indices but its kernel "
           << extents.size();
  for (auto [index, extent] : llvm::zip_equal(shared.asArrayRef(), extents)) {
    if (index < 0 || index >= member.getNumIndices())
      return member.emitOpError() << "has no index " << index;
    if (Attribute own = member.getExtents()[index]; own != extent)
      return member.emitOpError()
             << "shares an index over " << extentText(own)
             << " where its kernel has " << extentText(extent);
  }
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
  // (C2)
  if (getSchedule() != Schedule::strips)
    return success();
  if (!getOver())
    return emitOpError() << "is in strips of no rows";
  SmallVector<Attribute> extents;
  if (getOuter())
    llvm::append_range(extents, *getOuter());
  extents.push_back(*getOver());
  for (ComputeOp member : getMembers())
    if (failed(verifyShared(*this, member, extents)))
      return failure();
  return success();
}
