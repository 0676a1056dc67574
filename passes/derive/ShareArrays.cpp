//===- ShareArrays.cpp - equal equations become one -----------------------===//
//
// Hash-consing of the array ops of a system, up to the names of their indices,
// and of the scalars of each body. MLIR's own CSE does not hash regions, and so
// compares every compute with every other: quadratic in a model of 48 layers.
// Here an op is looked at again only when something that it reads was shared.
// Two recurrences that are equal as wholes stay two.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"

#include <set>

namespace fovea::attn {
#define GEN_PASS_DEF_SHAREARRAYS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// For people only: equal arrays may differ in it.
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

/// The name by which an array can be requested, or null.
static StringAttr nameOf(Operation *op) {
  return op->getAttrOfType<StringAttr>("label");
}

namespace {

/// Shares equal ops of one block; the first one stays.
class BlockSharer {
public:
  explicit BlockSharer(Block &block) : block(block) {}

  void run();

private:
  /// Ops that are equal except for their names. Two with different names both
  /// stay: each can be requested. One without a name is alone.
  using Equals = llvm::SmallMapVector<StringAttr, Operation *, 1>;

  Operation **partnerOf(Equals &equals, Operation *op);
  void share(Operation *op, Operation *with);
  void insert(Operation *op);

  Block &block;
  DenseMap<Operation *, unsigned> position;
  /// The ops to visit, in block order.
  std::set<std::pair<unsigned, Operation *>> work;
  DenseMap<uint64_t, SmallVector<Equals, 1>> known;
  llvm::SetVector<Operation *> dead;
};

} // namespace

/// The equal op that `op` can be merged with.
Operation **BlockSharer::partnerOf(Equals &equals, Operation *op) {
  StringAttr name = nameOf(op);
  auto *found = name ? equals.find(name) : equals.begin();
  if (found == equals.end())
    found = equals.find(StringAttr());
  return found == equals.end() ? nullptr : &found->second;
}

/// Replaces all uses of `op` by `with`.
void BlockSharer::share(Operation *op, Operation *with) {
  for (Operation *user : op->getResult(0).getUsers())
    if (Operation *reader = block.findAncestorOpInBlock(*user))
      if (auto known = position.find(reader);
          known != position.end() && !dead.contains(reader))
        work.insert({known->second, reader});
  op->getResult(0).replaceAllUsesWith(with->getResult(0));
  dead.insert(op);
  work.erase({position.lookup(op), op});
}

void BlockSharer::insert(Operation *op) {
  DenseMap<Value, unsigned> inside;
  SmallVector<Equals, 1> &alike = known[size_t(hashOf(*op, inside))];
  // Ops that were equal to a merged op are visited again.
  auto *equals = llvm::find_if(alike, [&](Equals &other) {
    Operation *first = other.front().second;
    return !dead.contains(first) && areEqual(*op, *first);
  });
  if (equals == alike.end()) {
    alike.emplace_back();
    alike.back().insert({nameOf(op), op});
    return;
  }
  Operation **partner = partnerOf(*equals, op);
  if (!partner) {
    equals->insert({nameOf(op), op});
    return;
  }
  Operation *kept = *partner, *shared = op;
  if (kept == op)
    return;
  if (position.lookup(op) < position.lookup(kept))
    std::swap(kept, shared);
  StringAttr oldName = nameOf(*partner);
  if (StringAttr name = nameOf(shared); name && !nameOf(kept))
    kept->setAttr("label", name);
  if (oldName != nameOf(kept)) {
    // One without a name was alone.
    equals->clear();
    equals->insert({nameOf(kept), kept});
  } else {
    *partner = kept;
  }
  share(shared, kept);
}

void BlockSharer::run() {
  unsigned count = 0;
  for (Operation &op : block) {
    if (op.getNumResults() != 1 || !isMemoryEffectFree(&op) || isa<ScanOp>(op))
      continue;
    position[&op] = count;
    work.insert({count++, &op});
  }
  while (!work.empty()) {
    Operation *op = work.begin()->second;
    work.erase(work.begin());
    insert(op);
  }
  for (Operation *op : dead)
    op->erase();
}

namespace {

struct ShareArrays : fovea::attn::impl::ShareArraysBase<ShareArrays> {
  void runOnOperation() override {
    for (SystemOp system : getOperation().getOps<SystemOp>()) {
      // Bodies first: arrays whose bodies repeat themselves are then equal.
      system.getBody().walk([&](Block *block) {
        if (block->getParentOp() != system)
          BlockSharer(*block).run();
      });
      BlockSharer(system.getBody().front()).run();
    }
  }
};

} // namespace
