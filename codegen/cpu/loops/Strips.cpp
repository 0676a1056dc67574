//===- Strips.cpp - kernels that compute a strip of rows at a time --------===//

#include "codegen/cpu/loops/Strips.h"
#include "passes/kernels/Members.h"
#include "passes/memory/Locations.h"

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
    for (int64_t index :
         op->getAttrOfType<DenseI64ArrayAttr>(sharedName).asArrayRef())
      member.shared.push_back(index);
    member.sumsRows = member.shared.back() >= op.getNumParallel();
    member.product = exampleProductOf(op);
    member.loop = loopFrom(op);
    if (member.product)
      member.packed = packedLocationOf(op).getNumber();
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
