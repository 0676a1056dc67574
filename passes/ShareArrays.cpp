//===- ShareArrays.cpp - equal equations become one -----------------------===//
//
// Hash-consing of the array ops of a system, up to the names of their indices,
// and of the scalars of each body. MLIR's own CSE does not hash regions, and so
// compares every compute with every other: quadratic in a model of 48 layers.
// Two recurrences that are equal as wholes stay two.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

namespace fovea::attn {
#define GEN_PASS_DEF_SHAREARRAYS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// What is for people: equal arrays may differ in it.
static bool isName(NamedAttribute attribute) {
  return attribute.getName() == "label" || attribute.getName() == "indices" ||
         attribute.getName() == "attn.part";
}

/// Hashes an op with its regions; values defined inside count by their order.
static llvm::hash_code hashOf(Operation &op,
                              DenseMap<Value, unsigned> &inside) {
  llvm::hash_code hash =
      llvm::hash_combine(op.getName().getAsOpaquePointer(), op.getNumResults());
  for (Type type : op.getResultTypes())
    hash = llvm::hash_combine(hash, type.getAsOpaquePointer());
  for (NamedAttribute attribute : op.getAttrs())
    if (!isName(attribute))
      hash =
          llvm::hash_combine(hash, attribute.getValue().getAsOpaquePointer());
  for (Value operand : op.getOperands()) {
    auto known = inside.find(operand);
    hash = known == inside.end()
               ? llvm::hash_combine(hash, operand.getAsOpaquePointer())
               : llvm::hash_combine(hash, known->second);
  }
  for (Region &region : op.getRegions())
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        inside.try_emplace(argument, inside.size());
      for (Operation &inner : block) {
        hash = llvm::hash_combine(hash, hashOf(inner, inside));
        for (Value result : inner.getResults())
          inside.try_emplace(result, inside.size());
      }
    }
  return hash;
}

static bool areEqual(Operation &a, Operation &b) {
  if (a.getName() != b.getName() || a.getResultTypes() != b.getResultTypes() ||
      a.getOperands() != b.getOperands() ||
      a.getNumRegions() != b.getNumRegions())
    return false;
  auto relevant = [](Operation &op) {
    SmallVector<NamedAttribute> result;
    llvm::copy_if(op.getAttrs(), std::back_inserter(result),
                  [](NamedAttribute attribute) { return !isName(attribute); });
    return result;
  };
  if (relevant(a) != relevant(b))
    return false;
  for (auto [left, right] : llvm::zip(a.getRegions(), b.getRegions()))
    if (!OperationEquivalence::isRegionEquivalentTo(
            &left, &right, OperationEquivalence::IgnoreLocations))
      return false;
  return true;
}

/// Two arrays with different names both stay: each can be asked for.
static bool maySwap(Operation &from, Operation &to) {
  auto name = from.getAttrOfType<StringAttr>("label");
  auto other = to.getAttrOfType<StringAttr>("label");
  if (name && other)
    return name == other;
  if (name)
    to.setAttr("label", name);
  return true;
}

/// Shares the ops of one block; true when something changed.
static bool shareBlock(Block &block) {
  DenseMap<uint64_t, SmallVector<Operation *, 1>> known;
  SmallVector<Operation *> dead;
  for (Operation &op : block) {
    if (op.getNumResults() != 1 || !isMemoryEffectFree(&op) || isa<ScanOp>(op))
      continue;
    DenseMap<Value, unsigned> inside;
    SmallVector<Operation *, 1> &alike = known[size_t(hashOf(op, inside))];
    auto *same = llvm::find_if(alike, [&](Operation *other) {
      return areEqual(op, *other) && maySwap(op, *other);
    });
    if (same == alike.end()) {
      alike.push_back(&op);
      continue;
    }
    op.getResult(0).replaceAllUsesWith((*same)->getResult(0));
    dead.push_back(&op);
  }
  for (Operation *op : dead)
    op->erase();
  return !dead.empty();
}

namespace {

struct ShareArrays : fovea::attn::impl::ShareArraysBase<ShareArrays> {
  void runOnOperation() override {
    for (SystemOp system : getOperation().getOps<SystemOp>()) {
      // Bodies first: arrays whose bodies repeat themselves are then equal.
      system.getBody().walk([&](Block *block) {
        if (block->getParentOp() != system)
          shareBlock(*block);
      });
      // An array that was shared may make its readers equal.
      while (shareBlock(system.getBody().front()))
        ;
    }
  }
};

} // namespace
