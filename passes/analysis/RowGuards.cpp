//===- RowGuards.cpp - conditions on rows that read arrays ----------------===//

#include "passes/analysis/RowGuards.h"
#include "dialect/conditions/Conditions.h"
#include "passes/analysis/Access.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;

/// The ops from which a condition is computed, in order, if it reads arrays at
/// some of the indices of its op.
static std::optional<SmallVector<Operation *>> sliceOf(Value condition,
                                                       Block &body) {
  llvm::SetVector<Operation *> found;
  SmallVector<Value> values = {condition};
  bool reads = false;
  while (!values.empty()) {
    Operation *def = values.pop_back_val().getDefiningOp();
    if (!def || def->getBlock() != &body || !found.insert(def))
      continue;
    auto read = dyn_cast<ReadOp>(def);
    if (def->getNumRegions() != 0 || !isPure(def) ||
        (read && (!read.getAlternatives().empty() || read.getOtherwise())))
      return std::nullopt;
    reads |= static_cast<bool>(read);
    llvm::append_range(values, def->getOperands());
  }
  if (!reads)
    return std::nullopt;
  SmallVector<Operation *> slice = found.takeVector();
  llvm::sort(slice,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return slice;
}

/// Equal for equations that compute the same.
static size_t hashOf(ComputeOp bits) {
  llvm::hash_code hash = hash_value(bits.getExtents());
  for (Operation &op : bits.getBody().front()) {
    hash = llvm::hash_combine(hash, op.getName(), op.getAttrDictionary());
    for (Value operand : op.getOperands())
      if (isa<ArrayType>(operand.getType()))
        hash = llvm::hash_combine(hash, operand.getAsOpaquePointer());
  }
  return hash;
}

/// The guard that `condition`, in the body or the condition of `op`, is.
std::optional<RowGuard> RowGuardTable::guardOf(Value condition, ComputeOp op) {
  Operation *last = condition.getDefiningOp();
  if (!last || last->getParentOp() != op)
    return std::nullopt;
  Block &body = *last->getBlock();
  std::optional<SmallVector<Operation *>> slice = sliceOf(condition, body);
  uint64_t needs = dependence(condition);
  if (!slice || !startsAtZero(op) || op.getNumIndices() >= 64)
    return std::nullopt;
  RowGuard guard;
  SmallVector<Attribute> names, extents;
  for (unsigned index = 0; index < op.getNumIndices(); ++index)
    if (needs >> index & 1) {
      guard.indices.push_back(index);
      names.push_back(op.getIndices()[index]);
      extents.push_back(op.getExtents()[index]);
    }
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  guard.bits =
      ComputeOp::create(builder, op.getLoc(), "", names, extents, {},
                        names.size(), Reducer::none, builder.getI1Type());
  Block &own = guard.bits.getBody().front();
  builder.setInsertionPointToEnd(&own);
  IRMapping mapping;
  for (auto [at, index] : llvm::enumerate(guard.indices))
    mapping.map(body.getArgument(index), own.getArgument(at));
  for (Operation *inner : *slice)
    builder.clone(*inner, mapping);
  YieldOp::create(builder, op.getLoc(), mapping.lookup(condition));
  SmallVector<ComputeOp, 1> &alike = byHash[hashOf(guard.bits)];
  for (ComputeOp other : alike)
    if (other.getExtents() == guard.bits.getExtents() &&
        OperationEquivalence::isRegionEquivalentTo(
            &other.getBody(), &guard.bits.getBody(),
            OperationEquivalence::IgnoreLocations)) {
      guard.bits.erase();
      guard.bits = other;
      return guard;
    }
  alike.push_back(guard.bits);
  shared.insert(guard.bits);
  return guard;
}

bool RowGuardTable::addParts(Value condition, ComputeOp op, RowGuards &guards) {
  bool isAll = true;
  for (Value part : conjunctsOf(condition)) {
    std::optional<RowGuard> guard = guardOf(part, op);
    isAll &= guard.has_value();
    if (guard && !llvm::is_contained(guards, *guard))
      guards.push_back(*guard);
  }
  return isAll;
}

void RowGuardTable::addBranches(ReadOp read, ComputeOp reader,
                                RowGuards &guards) {
  for (Operation *inner = read, *outer = read->getParentOp(); outer != reader;
       inner = outer, outer = outer->getParentOp())
    if (auto branch = dyn_cast<scf::IfOp>(outer);
        branch && inner->getBlock() == branch.thenBlock())
      addParts(branch.getCondition(), reader, guards);
}

RowGuardTable::~RowGuardTable() {
  for (Operation *bits : shared)
    bits->erase();
}

std::optional<RowGuard> fovea::attn::moved(const RowGuard &guard, ReadOp read,
                                           ComputeOp reader, bool toReader) {
  RowGuard result{guard.bits, {}};
  for (unsigned index : guard.indices) {
    std::optional<unsigned> found;
    for (auto [axis, value] : llvm::enumerate(read.getIndices())) {
      AccessIndex at = classify(value, reader);
      if (at.kind == AccessIndex::Iterator && at.offset == 0 &&
          index == (toReader ? axis : at.iterator))
        found = toReader ? at.iterator : static_cast<unsigned>(axis);
    }
    if (!found || llvm::is_contained(result.indices, *found))
      return std::nullopt;
    result.indices.push_back(*found);
  }
  return result;
}

void fovea::attn::addCondition(ComputeOp op, const RowGuard &guard) {
  Region &region = op.getCondition();
  Value before = openCondition(op);
  OpBuilder builder = OpBuilder::atBlockEnd(&region.front());
  SmallVector<Value> at;
  for (unsigned index : guard.indices)
    at.push_back(region.getArgument(index));
  Conjunction all(builder, op.getLoc());
  if (before)
    all.require(before);
  all.require(inlineRegion(builder, ComputeOp(guard.bits).getBody(), at));
  YieldOp::create(builder, op.getLoc(), all.finish());
}
