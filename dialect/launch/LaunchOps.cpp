//===- LaunchOps.cpp - what a schedule must fulfil ------------------------===//

#include "dialect/launch/Forms.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetOperations.h"

using namespace mlir;
using namespace fovea::launch;

LogicalResult RunOp::verify() {
  if (getScalars().size() != getSlots().size() && !getSlots().empty())
    return emitOpError() << "has " << getScalars().size() << " scalars at "
                         << getSlots().size() << " slots";
  if (getPlaces().size() != getPlaceSlots().size())
    return emitOpError() << "has " << getPlaces().size() << " places at "
                         << getPlaceSlots().size() << " slots";
  if (getWrites().empty() && getUpdates().empty())
    return emitOpError() << "writes no memory";
  if (getPhase().has_value() != getTurn().has_value())
    return emitOpError() << "has a phase and a turn, or neither";
  if (getPhase() && !(*this)->getParentOfType<PersistentOp>())
    return emitOpError() << "has a phase outside of a 'launch.persistent'";
  return success();
}

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel =
      symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError()
           << "launches '" << getKernel()
           << "', but the program has no kernel of this name (C1)";
  auto differs = [&](const Twine &own, const Twine &other) {
    InFlightDiagnostic error = emitOpError() << own << ", but its kernel "
                                             << other << " (C2)";
    error.attachNote(kernel.getLoc()) << "the kernel";
    return error;
  };
  if (kernel.getWork() != getWork())
    return differs("does '" + stringifyWork(getWork()) + "'",
                   "does '" + stringifyWork(kernel.getWork()) + "'");
  if (kernel.getScalars() != getScalars().size())
    return differs("gives " + Twine(getScalars().size()) + " scalars",
                   "takes " + Twine(kernel.getScalars()));
  if (kernel.getPlaces() != getPlaces().size())
    return differs("gives " + Twine(getPlaces().size()) + " places",
                   "takes " + Twine(kernel.getPlaces()));
  auto check = [&](StringRef reads, ValueRange memories,
                   ArrayAttr forms) -> LogicalResult {
    if (memories.size() != forms.size())
      return differs(reads + " " + Twine(memories.size()) + " memories",
                     reads + " " + Twine(forms.size()));
    for (auto [memory, form] :
         llvm::zip_equal(memories, forms.getAsRange<FormAttr>()))
      if (auto own = memory.getDefiningOp<MemoryOp>(); own.getForm() != form)
        return differs(reads + " '" + own.getName() + "'",
                       reads + " " + textOf(form) + " there");
    return success();
  };
  return failure(
      failed(check("reads", getReads(), kernel.getReads())) ||
      failed(check("writes", getWrites(), kernel.getWrites())) ||
      failed(check("updates", getUpdates(), kernel.getUpdates())) ||
      failed(check("has as scratch", getScratch(), kernel.getScratch())));
}

LogicalResult PrepareOp::verify() {
  if (!isa<ProgramOp>((*this)->getParentOp()))
    return emitOpError() << "is not an item of a program (C1)";
  for (Operation *op = (*this)->getPrevNode(); op; op = op->getPrevNode())
    if (op->getNumResults() == 0 && !isa<KernelOp>(op))
      return emitOpError() << "comes after '" << op->getName() << "' (C1)";
  return success();
}

LogicalResult ForOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 1 ||
      !body.getArgument(0).getType().isInteger(64))
    return emitOpError() << "has a body with one argument, the step";
  return success();
}

LogicalResult RowsOp::verify() {
  auto step = dyn_cast<BlockArgument>(getStep());
  if (!step || !isa<ForOp>(step.getOwner()->getParentOp()))
    return emitOpError() << "takes the step of a loop (C1)";
  return success();
}

LogicalResult PersistentOp::verifyRegions() {
  Block &body = getBody().front();
  if (!llvm::hasSingleElement(body) || !isa<ForOp>(body.front()))
    return emitOpError() << "holds one loop (C1)";
  return success();
}

//===----------------------------------------------------------------------===//
// The schedule of a program
//===----------------------------------------------------------------------===//

namespace {
/// The runs of a program in order, and what they have written so far.
class Checker {
public:
  LogicalResult check(Block &block);

private:
  LogicalResult check(RunOp run);
  LogicalResult check(scf::IfOp op);
  LogicalResult checkOrder(Operation *op, int64_t number, Work work);

  using Key = std::pair<std::pair<int64_t, int64_t>, StringRef>;
  llvm::DenseMap<Key, RunOp> runs;
  llvm::DenseSet<Value> written, freed;
  /// The last item of the current block.
  std::pair<int64_t, int64_t> last = {-1, 0};
};
} // namespace

/// Whether runs of this work for one op have an order among them.
static int64_t rankOf(Work work) {
  switch (work) {
  case Work::pack:
  case Work::start:
  case Work::list:
  case Work::clear:
    return 0;
  case Work::gather:
    return 1;
  case Work::copy:
    return 2;
  case Work::scatter:
    return 3;
  case Work::link:
    return 4;
  case Work::compute:
    return 5;
  case Work::where:
  case Work::commit:
  case Work::end:
    return 6;
  }
  llvm_unreachable("every work has a rank");
}

/// (C1)
LogicalResult Checker::checkOrder(Operation *op, int64_t number, Work work) {
  std::pair<int64_t, int64_t> place = {number, rankOf(work)};
  if (place < last)
    return op->emitOpError() << "comes after a launch of op " << last.first
                             << " that it should precede (C1)";
  last = place;
  return success();
}

LogicalResult Checker::check(RunOp run) {
  if (run.getWork() != Work::pack &&
      failed(checkOrder(run, run.getNumber(), run.getWork())))
    return failure();
  Key key = {{run.getNumber(), static_cast<int64_t>(run.getWork())},
             run.getTile().value_or("")};
  if (auto [other, isNew] = runs.try_emplace(key, run); !isNew) {
    InFlightDiagnostic error = run.emitOpError()
                               << "does what another run has done (C2)";
    error.attachNote(other->second.getLoc()) << "the other run";
    return error;
  }
  for (Value operand : run->getOperands())
    if (freed.contains(operand))
      return run.emitOpError()
             << "uses '" << operand.getDefiningOp<MemoryOp>().getName()
             << "' after its live range (C4)";
  for (Value memory : run.getReads())
    if (!written.contains(memory))
      return run.emitOpError()
             << "reads '" << memory.getDefiningOp<MemoryOp>().getName()
             << "', which no run before it has written (C3)";
  written.insert_range(run.getWrites());
  written.insert_range(run.getUpdates());
  return success();
}

/// Each branch computes the same, in its own way.
LogicalResult Checker::check(scf::IfOp op) {
  std::pair<int64_t, int64_t> before = last;
  llvm::DenseSet<Value> known = written, ofFirst;
  for (Region &region : op->getRegions()) {
    last = before;
    written = known;
    if (!region.empty() && failed(check(region.front())))
      return failure();
    if (&region == &op->getRegion(0))
      ofFirst = written;
  }
  llvm::set_intersect(written, ofFirst);
  return success();
}

LogicalResult Checker::check(Block &block) {
  for (Operation &op : block) {
    if (auto memory = dyn_cast<MemoryOp>(op);
        memory && memory.getOrigin() == Origin::given)
      written.insert(memory);
    if (auto dealloc = dyn_cast<DeallocOp>(op))
      freed.insert_range(dealloc.getMemories());
    if (auto run = dyn_cast<RunOp>(op); run && failed(check(run)))
      return failure();
    if (auto branch = dyn_cast<scf::IfOp>(op); branch && failed(check(branch)))
      return failure();
    if (auto prepare = dyn_cast<PrepareOp>(op);
        prepare && failed(check(prepare.getBody().front())))
      return failure();
    if (auto persistent = dyn_cast<PersistentOp>(op);
        persistent && failed(check(persistent.getBody().front())))
      return failure();
    auto loop = dyn_cast<ForOp>(op);
    if (!loop)
      continue;
    if (failed(checkOrder(loop, loop.getNumber(), Work::compute)))
      return failure();
    written.insert_range(loop.getCarries());
    std::pair<int64_t, int64_t> here = last;
    if (failed(check(loop.getBody().front())))
      return failure();
    last = here;
  }
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  return Checker().check(getBody().front());
}
