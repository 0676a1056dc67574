//===- SplitConcat.cpp - one sum per part of a concatenation --------------===//
//
// A sum over disjoint ranges is the sum of the sums, whatever the body. In a
// range that begins at b the reduction index k becomes k + b. A concatenation
// is read in the one part that covers the range. Nested concatenations may have
// any number of parts (`b = a ++ a; c = b ++ b; ..`), so the number of sums per
// equation is limited.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"

namespace fovea::attn {
#define GEN_PASS_DEF_SPLITCONCAT
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// The maximum number of sums per equation, unless a single concatenation has
/// more parts.
static constexpr unsigned maxSums = 256;

namespace {
/// A read of a concatenation at a reduction index plus an offset.
struct ConcatRead {
  ReadOp read;
  ConcatOp concat;
  int64_t offset;
};
} // namespace

/// How many columns a part of a concatenation has.
static int64_t widthOf(Value part) {
  auto type = cast<ArrayType>(part.getType());
  return cast<IntegerAttr>(type.getShape().getValue().back()).getInt();
}

/// The reads of concatenations at index `index` of `op`.
static SmallVector<ConcatRead> concatReads(ComputeOp op, unsigned index) {
  SmallVector<ConcatRead> found;
  op.getBody().walk([&](ReadOp read) {
    auto concat = read.getArray().getDefiningOp<ConcatOp>();
    if (!concat || !read.getAlternatives().empty() || read.getOtherwise())
      return;
    AccessIndex last = classify(read.getIndices().back(), op);
    if (last.kind == AccessIndex::Iterator && last.iterator == index)
      found.push_back({read, concat, last.offset});
  });
  return found;
}

/// The boundaries of the read parts, in terms of the index, strictly inside
/// [begin, end).
static SmallVector<int64_t> cutsOf(ArrayRef<ConcatRead> reads, int64_t begin,
                                   int64_t end) {
  SmallVector<int64_t> cuts;
  for (const ConcatRead &found : reads) {
    int64_t column = -found.offset;
    for (Value part : const_cast<ConcatRead &>(found).concat.getParts()) {
      if (column > begin && column < end)
        cuts.push_back(column);
      column += widthOf(part);
    }
  }
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  return cuts;
}

/// The part of a concatenation that contains a column, and its first column.
static std::optional<std::pair<Value, int64_t>> partAt(ConcatOp concat,
                                                       int64_t column) {
  int64_t start = 0;
  for (Value part : concat.getParts()) {
    if (column >= start && column < start + widthOf(part))
      return std::pair(part, start);
    start += widthOf(part);
  }
  return std::nullopt;
}

/// The sum of `op` over [begin, end) of index `index` alone.
static ComputeOp sumOver(ComputeOp op, unsigned index, int64_t begin,
                         int64_t end, ArrayRef<ConcatRead> reads) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Attribute> extents(op.getExtents().getValue());
  SmallVector<int64_t> lower(op.getLower());
  extents[index] = builder.getI64IntegerAttr(end - begin);
  lower[index] = 0;
  auto part = ComputeOp::create(builder, loc, op.getLabel().value_or(""),
                                op.getIndices().getValue(), extents, lower,
                                op.getNumParallel(), Reducer::sum,
                                op.getElementType(), op.hasCondition());
  part.setOrderAttr(op.getOrderAttr());
  IRMapping reading;
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), part->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder inner = OpBuilder::atBlockBegin(&to.front());
    reading.map(from.getArguments(), to.getArguments());
    if (begin != 0)
      reading.map(from.getArgument(index),
                  arith::AddIOp::create(
                      inner, loc, to.getArgument(index),
                      arith::ConstantIndexOp::create(inner, loc, begin))
                      .getResult());
    for (Operation &scalar : from.front())
      inner.clone(scalar, reading);
  }
  for (const ConcatRead &found : reads) {
    auto [read, concat, offset] = found;
    auto copy = reading.lookup(read.getResult()).getDefiningOp<ReadOp>();
    // A read that a condition keeps out of the range may find no part.
    auto target = partAt(concat, begin + offset);
    if (!target)
      continue;
    OpBuilder inner(copy);
    Value last = part.getIndex(index);
    copy.getArrayMutable().assign(target->first);
    if (int64_t shift = begin + offset - target->second)
      last = arith::AddIOp::create(
          inner, loc, last, arith::ConstantIndexOp::create(inner, loc, shift));
    copy.getIndicesMutable()[copy.getIndices().size() - 1].assign(last);
  }
  return part;
}

/// Adds arrays of the same shape, elementwise.
static ComputeOp addUp(ComputeOp op, ArrayRef<ComputeOp> parts) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  unsigned numParallel = op.getNumParallel();
  auto total =
      ComputeOp::create(builder, loc, op.getLabel().value_or(""),
                        op.getIndices().getValue().take_front(numParallel),
                        op.getExtents().getValue().take_front(numParallel),
                        op.getLower().take_front(numParallel), numParallel,
                        Reducer::none, op.getElementType());
  OpBuilder body = OpBuilder::atBlockBegin(&total.getBody().front());
  Value sum;
  for (ComputeOp part : parts) {
    Value read = ReadOp::create(body, loc, part.getResult(),
                                total.getBody().getArguments());
    if (!sum)
      sum = read;
    else if (op.getElementType().isF64())
      sum = arith::AddFOp::create(body, loc, sum, read);
    else
      sum = arith::AddIOp::create(body, loc, sum, read);
  }
  YieldOp::create(body, loc, sum);
  return total;
}

/// Splits `op` along one reduction index, or reads a single part that covers
/// the whole range. Returns the new sums; none if there are several and at
/// least `most`.
static SmallVector<ComputeOp> split(ComputeOp op, unsigned most) {
  if (op.getReducer() != Reducer::sum || op.getElementType().isInteger(1))
    return {};
  for (unsigned i = op.getNumParallel(); i < op.getNumIndices(); ++i) {
    auto extent = dyn_cast<IntegerAttr>(op.getExtents()[i]);
    SmallVector<ConcatRead> reads = concatReads(op, i);
    int64_t begin = op.getLower()[i];
    if (!extent || reads.empty() || begin >= extent.getInt())
      continue;
    SmallVector<int64_t> cuts = cutsOf(reads, begin, extent.getInt());
    if (cuts.empty() && llvm::none_of(reads, [&](ConcatRead found) {
          return partAt(found.concat, begin + found.offset);
        }))
      continue;
    cuts.push_back(extent.getInt());
    if (cuts.size() > 1 && cuts.size() > most)
      continue;
    SmallVector<ComputeOp> parts;
    for (int64_t end : cuts) {
      parts.push_back(sumOver(op, i, begin, end, reads));
      begin = end;
    }
    Value total = parts.front().getResult();
    if (parts.size() > 1)
      total = addUp(op, parts).getResult();
    SmallVector<ConcatOp> concats;
    for (const ConcatRead &found : reads)
      if (!llvm::is_contained(concats, found.concat))
        concats.push_back(found.concat);
    op.getResult().replaceAllUsesWith(total);
    op.erase();
    for (ConcatOp concat : concats)
      if (concat->use_empty())
        concat.erase();
    return parts;
  }
  return {};
}

namespace {
struct SplitConcat : fovea::attn::impl::SplitConcatBase<SplitConcat> {
  /// Splits `whole`, and its parts while their number allows it.
  void splitAll(ComputeOp whole) {
    // In creation order, so that a limit leaves parts of similar
    // size.
    std::vector<ComputeOp> sums = {whole};
    size_t count = 1;
    for (size_t next = 0; next < sums.size(); ++next) {
      unsigned most = next == 0
                          ? std::numeric_limits<unsigned>::max()
                          : maxSums - std::min<size_t>(count, maxSums) + 1;
      // A part may itself be a concatenation, so new sums are examined again.
      SmallVector<ComputeOp> parts = split(sums[next], most);
      llvm::append_range(sums, parts);
      count += parts.empty() ? 0 : parts.size() - 1;
    }
  }

  void runOnOperation() override {
    SmallVector<ComputeOp> equations;
    for (SystemOp system : getOperation().getOps<SystemOp>())
      llvm::append_range(equations, system.getOps<ComputeOp>());
    for (ComputeOp equation : equations)
      splitAll(equation);
  }
};
} // namespace
