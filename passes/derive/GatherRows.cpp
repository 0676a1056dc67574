//===- GatherRows.cpp - rows at computed places become arrays -------------===//
//
// Decides which reads inside of sums become separate equations: those at a
// place from another array, which are repeated along an index that they do not
// depend on. So it makes no difference whether such a row has a name in the
// model.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Equations.h"
#include "llvm/ADT/SetVector.h"

namespace fovea::attn {
#define GEN_PASS_DEF_GATHERROWS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// The indices of `op` that determine the place of `read`, if it comes from an
/// array.
static std::optional<SmallVector<unsigned>> indicesRead(ReadOp read,
                                                        ComputeOp op) {
  llvm::SetVector<Value> values;
  values.insert_range(read.getIndices());
  llvm::SmallBitVector used(op.getNumIndices());
  bool isComputed = false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(values[i])) {
      used.set(argument.getArgNumber());
      continue;
    }
    Operation *def = values[i].getDefiningOp();
    // A branch would be evaluated elsewhere.
    if (def->getNumRegions() != 0)
      return std::nullopt;
    isComputed |= isa<ReadOp>(def);
    for (Value operand : def->getOperands())
      if (!isa<ArrayType>(operand.getType()))
        values.insert(operand);
  }
  if (!isComputed)
    return std::nullopt;
  return SmallVector<unsigned>(used.set_bits());
}

/// The indices of an array with the values of `read`, if it pays off.
static std::optional<SmallVector<unsigned>> rowsOf(ReadOp read, ComputeOp op,
                                                   SystemOp system) {
  if (!read.getResult().getType().isF64() || read.getOtherwise() ||
      !read.getAlternatives().empty())
    return std::nullopt;
  std::optional<SmallVector<unsigned>> indices = indicesRead(read, op);
  if (!indices)
    return std::nullopt;
  auto has = [&](unsigned index) {
    return llvm::is_contained(*indices, index);
  };
  unsigned numParallel = op.getNumParallel(), numLengths = 0;
  bool isRepeated = false, isSummed = false;
  for (unsigned index = 0; index < op.getNumIndices(); ++index) {
    isRepeated |= index < numParallel && !has(index);
    isSummed |= index >= numParallel && has(index);
  }
  for (unsigned index : *indices) {
    Attribute extent = op.getExtents()[index];
    if (variesInside(extent, system))
      return std::nullopt;
    numLengths += isa<StringAttr>(extent);
  }
  // Do not create an array of two lengths.
  if (!isRepeated || !isSummed || numLengths > 1)
    return std::nullopt;
  return indices;
}

namespace {
struct GatherRows : fovea::attn::impl::GatherRowsBase<GatherRows> {
  /// The existing arrays, by what they read.
  llvm::DenseMap<Value, SmallVector<ComputeOp>> made;

  /// The array with the values of `read`, an existing one if equal.
  ComputeOp findOrMake(ReadOp read, ComputeOp op, ArrayRef<unsigned> indices) {
    OpBuilder builder(op);
    ComputeOp rows = makeRows(builder, read, op, indices);
    SmallVector<ComputeOp> &others = made[read.getArray()];
    for (ComputeOp other : others)
      if (other.getResult().getType() == rows.getResult().getType() &&
          other.getLower() == rows.getLower() &&
          OperationEquivalence::isRegionEquivalentTo(
              &other.getBody(), &rows.getBody(),
              OperationEquivalence::IgnoreLocations)) {
        rows.erase();
        return other;
      }
    others.push_back(rows);
    return rows;
  }

  void gather(ComputeOp op, SystemOp system) {
    if (op.getReducer() != Reducer::sum || !op.getElementType().isF64() ||
        op.hasCondition())
      return;
    for (auto read : llvm::to_vector(op.getBody().front().getOps<ReadOp>()))
      if (std::optional<SmallVector<unsigned>> indices =
              rowsOf(read, op, system))
        readRows(read, op, findOrMake(read, op, *indices), *indices);
  }

  void runOnOperation() override {
    for (auto system : getOperation().getOps<SystemOp>()) {
      made.clear();
      for (auto op : llvm::to_vector(system.getOps<ComputeOp>()))
        gather(op, system);
    }
  }
};
} // namespace
