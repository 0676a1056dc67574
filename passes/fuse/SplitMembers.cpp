//===- SplitMembers.cpp - long equations over members become parts --------===//
//
// A sum over the members of a family is one equation, `h[0] + h[1] + ..`. With
// 64 layers that each look at all layers below, code for 64 such equations
// grows with the square of their number. Parts of a fixed size look the same,
// whatever members they read, so a few kernels compute all of them.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Equations.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_SPLITMEMBERS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// An equation with more reads is split, into parts of at least so many.
static constexpr unsigned mostReads = 32, leastReads = 16;
/// A concatenation of more parts is one of groups, each of so many parts.
static constexpr size_t mostParts = 32, partsOfGroup = 8;

namespace {
/// Splits the ops of one block.
class BlockSplitter {
public:
  void split(ComputeOp op);
  void split(ConcatOp op);

private:
  /// A read at constant places: the array, the place or -1 of each axis, and
  /// the extents of what is read.
  using ColumnKey =
      std::tuple<const void *, std::vector<int64_t>, std::vector<const void *>>;

  void readColumns(ComputeOp part);
  Value group(ConcatOp op, ValueRange parts);

  std::map<ColumnKey, ComputeOp> columns;
  std::map<std::vector<const void *>, Value> groups;
};
} // namespace

/// The new op belongs to the equation that it is a part of.
static void describe(Operation *part, Operation *whole) {
  part->setDiscardableAttrs(whole->getDiscardableAttrDictionary());
  if (auto label = whole->getAttrOfType<StringAttr>("label");
      label && !part->hasAttr("attn.part"))
    part->setAttr("attn.part", label);
}

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

/// Returns whether only `scalars`, which compute the last of them, use what
/// they compute. Reads and numbers may be repeated.
static bool isOwnWork(ArrayRef<Operation *> scalars) {
  llvm::SmallDenseSet<Operation *> own(scalars.begin(), scalars.end());
  return llvm::all_of(scalars.drop_back(), [&](Operation *op) {
    return isa<ReadOp>(op) || !isa<FloatType>(op->getResult(0).getType()) ||
           op->hasTrait<OpTrait::ConstantLike>() ||
           llvm::all_of(op->getUsers(), [&](Operation *user) {
             while (user->getBlock() != op->getBlock())
               user = user->getParentOp();
             return own.contains(user);
           });
  });
}

/// Turns a scalar in the body of `op` into an equation.
static ComputeOp makePart(Value scalar, ComputeOp op) {
  OpBuilder builder(op);
  auto part = ComputeOp::create(
      builder, scalar.getLoc(), "", op.getIndices().getValue(),
      op.getExtents().getValue(), op.getLower(), op.getNumParallel(),
      Reducer::none, op.getElementType(), op.hasCondition());
  describe(part, op);
  auto copy = [&](Region &from, Region &to, Value yielded) {
    IRMapping values;
    values.map(from.getArguments(), to.getArguments());
    OpBuilder body = OpBuilder::atBlockEnd(&to.front());
    Value own = copyScalar(yielded, &from.front(), body, values);
    YieldOp::create(body, scalar.getLoc(), own);
  };
  if (op.hasCondition())
    copy(op.getCondition(), part.getCondition(),
         op.getCondition().front().getTerminator()->getOperand(0));
  copy(op.getBody(), part.getBody(), scalar);
  OpBuilder reader(scalar.getDefiningOp());
  Value read = ReadOp::create(reader, scalar.getLoc(), part.getResult(),
                              op.getBody().getArguments());
  scalar.replaceAllUsesWith(read);
  return part;
}

/// Reads at constant places, `p[t, 3]`, become reads of arrays, so that the
/// places are no part of the equation.
void BlockSplitter::readColumns(ComputeOp part) {
  for (auto read : llvm::to_vector(part.getBody().front().getOps<ReadOp>())) {
    if (!read.getAlternatives().empty() || read.getOtherwise())
      continue;
    ColumnKey key = {read.getArray().getAsOpaquePointer(), {}, {}};
    SmallVector<unsigned> indices;
    bool isColumn = true;
    for (Value value : read.getIndices()) {
      AccessIndex index = classify(value, part);
      bool isIterator = index.kind == AccessIndex::Iterator &&
                        index.offset == 0 &&
                        !llvm::is_contained(indices, index.iterator);
      isColumn &= isIterator || index.kind == AccessIndex::Constant;
      std::get<1>(key).push_back(isIterator ? -1 : index.offset);
      if (!isIterator)
        continue;
      indices.push_back(index.iterator);
      std::get<2>(key).push_back(
          part.getExtents()[index.iterator].getAsOpaquePointer());
    }
    if (!isColumn || indices.empty() ||
        indices.size() == read.getIndices().size())
      continue;
    ComputeOp &column = columns[key];
    if (!column) {
      OpBuilder builder(part);
      column = makeRows(builder, read, part, indices);
      setBatch(column, isPerExample(read.getArray()) ? BatchKind::each
                                                     : BatchKind::once);
    }
    readRows(read, part, column, indices);
  }
  // The places were of the columns alone.
  for (Operation &inner :
       llvm::make_early_inc_range(llvm::reverse(part.getBody().front())))
    if (isOpTriviallyDead(&inner))
      inner.erase();
}

void BlockSplitter::split(ComputeOp op) {
  unsigned numReads = 0;
  op.getBody().walk([&](ReadOp) { ++numReads; });
  if (numReads <= mostReads || op.getReducer() != Reducer::none ||
      !op.getElementType().isF64() || !startsAtZero(op))
    return;
  Block &body = op.getBody().front();
  // How many reads each scalar takes.
  llvm::DenseMap<Value, unsigned> reads;
  for (Operation &inner :
       llvm::make_early_inc_range(body.without_terminator())) {
    unsigned count = 0;
    inner.walk([&](Operation *each) {
      count += isa<ReadOp>(each);
      for (Value operand : each->getOperands())
        count += reads.lookup(operand);
    });
    for (Value result : inner.getResults())
      reads[result] = count;
    if (!isa<arith::AddFOp, arith::SubFOp>(inner) || count < leastReads ||
        inner.getResult(0) == op.getYielded())
      continue;
    SmallVector<Operation *> scalars = scalarsFor(inner.getResult(0), &body);
    if (!isOwnWork(scalars))
      continue;
    ComputeOp part = makePart(inner.getResult(0), op);
    reads[inner.getPrevNode()->getResult(0)] = 1;
    for (Operation *each : llvm::reverse(scalars))
      if (each->use_empty())
        each->erase();
    if (!op.hasCondition())
      readColumns(part);
  }
}

//===----------------------------------------------------------------------===//
// Concatenations
//===----------------------------------------------------------------------===//

/// The concatenation of some parts of `op`.
Value BlockSplitter::group(ConcatOp op, ValueRange parts) {
  if (parts.size() == 1)
    return parts.front();
  std::vector<const void *> key;
  for (Value part : parts)
    key.push_back(part.getAsOpaquePointer());
  Value &result = groups[key];
  if (result)
    return result;
  OpBuilder builder(op);
  int64_t columns = 0;
  bool isEach = false;
  for (Value part : parts) {
    auto type = cast<ArrayType>(part.getType());
    columns += *numberOf(type.getExtent(type.getRank() - 1));
    isEach |= isPerExample(part);
  }
  SmallVector<Attribute> extents(op.getType().getShape().getValue());
  extents.back() = builder.getI64IntegerAttr(columns);
  auto made =
      ConcatOp::create(builder, op.getLoc(),
                       ArrayType::get(extents, op.getType().getElementType()),
                       StringAttr(), parts);
  describe(made, op);
  setBatch(made, isEach ? BatchKind::each : BatchKind::once);
  return result = made.getResult();
}

void BlockSplitter::split(ConcatOp op) {
  while (op.getParts().size() > mostParts) {
    SmallVector<Value> parts;
    OperandRange rest = op.getParts();
    for (size_t at = 0; at < rest.size(); at += partsOfGroup)
      parts.push_back(
          group(op, rest.slice(at, std::min(partsOfGroup, rest.size() - at))));
    op.getPartsMutable().assign(parts);
  }
}

namespace {
struct SplitMembers : fovea::attn::impl::SplitMembersBase<SplitMembers> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    getOperation().walk([](Block *block) {
      Operation *around = block->getParentOp();
      if (!isa<ProgramOp, ScanOp, SearchOp>(around))
        return;
      BlockSplitter splitter;
      for (Operation &op : llvm::make_early_inc_range(*block)) {
        if (auto compute = dyn_cast<ComputeOp>(op))
          splitter.split(compute);
        else if (auto concat = dyn_cast<ConcatOp>(op))
          splitter.split(concat);
      }
    });
  }
};
} // namespace
