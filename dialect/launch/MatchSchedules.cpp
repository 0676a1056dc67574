//===- MatchSchedules.cpp - two schedules of a program --------------------===//

#include "dialect/launch/LaunchDialect.h"

using namespace mlir;
using namespace fovea::launch;

/// What runs, without memories and numbers.
static SmallVector<Operation *> itemsOf(Block &block) {
  SmallVector<Operation *> items;
  for (Operation &op : block)
    if (op.getNumResults() == 0 && !isa<scf::YieldOp>(op))
      items.push_back(&op);
  return items;
}

static bool isSame(Value given, Value expected) {
  auto argument = dyn_cast<BlockArgument>(given);
  auto other = dyn_cast<BlockArgument>(expected);
  auto loopOf = [](BlockArgument step) {
    return cast<ForOp>(step.getOwner()->getParentOp()).getNumber();
  };
  if (argument && other)
    return loopOf(argument) == loopOf(other);
  if (argument || other)
    return false;
  Operation *op = given.getDefiningOp(), *own = expected.getDefiningOp();
  return op->getName() == own->getName() &&
         op->getAttrDictionary() == own->getAttrDictionary() &&
         llvm::equal(op->getOperands(), own->getOperands(), isSame);
}

static std::string textOf(Operation *item) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!item)
    stream << "the end";
  else if (auto run = dyn_cast<RunOp>(item))
    stream << "'" << stringifyWork(run.getWork()) << "' of op "
           << run.getNumber();
  else if (auto kernel = dyn_cast<KernelOp>(item))
    stream << "the kernel '" << kernel.getSymName() << "'";
  else if (auto loop = dyn_cast<ForOp>(item))
    stream << "the loop of op " << loop.getNumber();
  else
    stream << "'" << item->getName() << "'";
  return text;
}

static LogicalResult match(Block &given, Block &expected) {
  SmallVector<Operation *> items = itemsOf(given), others = itemsOf(expected);
  for (size_t i = 0; i < std::max(items.size(), others.size()); ++i) {
    Operation *item = i < items.size() ? items[i] : nullptr;
    Operation *other = i < others.size() ? others[i] : nullptr;
    Operation *place = item ? item : given.getParentOp();
    if (textOf(item) != textOf(other))
      return place->emitError()
             << "expected " << textOf(other) << ", found " << textOf(item);
    if (item->getAttrDictionary() != other->getAttrDictionary() ||
        !llvm::equal(item->getOperands(), other->getOperands(), isSame)) {
      InFlightDiagnostic error =
          item->emitError() << textOf(item) << " differs from the one that "
                            << "follows from the program";
      error.attachNote() << "expected: " << *other;
      return error;
    }
    for (auto [region, own] :
         llvm::zip_equal(item->getRegions(), other->getRegions()))
      if (!own.empty() && failed(match(region.front(), own.front())))
        return failure();
  }
  return success();
}

LogicalResult fovea::launch::matchSchedule(ProgramOp given,
                                           ProgramOp expected) {
  return match(given.getBody().front(), expected.getBody().front());
}
