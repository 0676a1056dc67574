//===- ExpandBlocks.cpp - blocks of places that are generated -------------===//
//
// `k[b]` over T//B blocks of B places each: block b is complete at step
// B*b + B-1. So its axis becomes one over T: the block of
// place u is u//B, and only the last place of each block counts. A read of
// block b is one of place B*b + B-1. The block before the first, -1, ends at
// place -1.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Conditions.h"
#include "passes/schedule/Plan.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

namespace {

/// The blocks of one size of one length.
class Blocks {
public:
  Blocks(SystemOp system, StringAttr name, StringAttr length, int64_t size)
      : system(system), name(name), length(length), size(size) {}

  bool canExpand();
  void expand();

private:
  /// A read of a block, by its axis and its place.
  struct BlockRead {
    ReadOp read;
    unsigned axis;
    AccessIndex index;
  };

  bool has(Value array) const {
    auto type = dyn_cast<ArrayType>(array.getType());
    return type && llvm::is_contained(type.getShape(), name);
  }
  bool canExpand(Operation &op) const;
  void expandIndices(ComputeOp op);
  SmallVector<BlockRead> readsOf(ComputeOp op) const;
  void redirect(const BlockRead &block);
  void expandPlaces(ReadOp read);

  SystemOp system;
  StringAttr name, length;
  int64_t size;
};

} // namespace

bool Blocks::canExpand(Operation &op) const {
  auto hasAxis = [&](Value array) { return has(array); };
  bool isConcerned = llvm::any_of(op.getResults(), hasAxis) ||
                     llvm::any_of(op.getOperands(), hasAxis);
  if (auto lengthOp = dyn_cast<LengthOp>(op))
    return !lengthOp.getOf() || !llvm::is_contained(*lengthOp.getOf(), name);
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute && !isConcerned)
    return true;
  if (isa<ConcatOp>(op))
    return cast<ArrayType>(op.getResult(0).getType())
               .getShape()
               .getValue()
               .back() != name;
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    auto free = [&](Value array) {
      return !llvm::is_contained(cast<ArrayType>(array.getType())
                                     .getShape()
                                     .getValue()
                                     .drop_front(reshape.getKeep()),
                                 name);
    };
    return free(reshape.getOperand()) && free(reshape.getResult());
  }
  if (!compute)
    return false;
  // The position of an extremum is counted in blocks.
  bool isPosition = compute.getReducer() == Reducer::argmax ||
                    compute.getReducer() == Reducer::argmin;
  if (isPosition && llvm::is_contained(compute.getExtents(), name))
    return false;
  bool can = true;
  compute->walk([&](ExtentOp extent) {
    can &= extent.use_empty() || extent.getLengthAttr() != name;
  });
  compute->walk([&](ReadOp read) {
    if (!read.getPlaces())
      return;
    auto type = cast<ArrayType>(read.getArray().getType());
    for (auto pairs : read.getPlaces()->getAsRange<ArrayAttr>())
      for (auto pair : pairs.getAsRange<ArrayAttr>())
        can &= type.getExtent(cast<IntegerAttr>(pair[0]).getInt()) != name ||
               isa<IntegerAttr>(pair[1]);
  });
  return can;
}

bool Blocks::canExpand() {
  return llvm::all_of(system.getBody().front(),
                      [&](Operation &op) { return canExpand(op); });
}

SmallVector<Blocks::BlockRead> Blocks::readsOf(ComputeOp op) const {
  SmallVector<BlockRead> blocks;
  op->walk([&](ReadOp read) {
    auto type = cast<ArrayType>(read.getArray().getType());
    for (auto [axis, index] : llvm::enumerate(read.getIndices()))
      if (type.getExtent(axis) == name)
        blocks.push_back({read, unsigned(axis), classify(index, op)});
  });
  return blocks;
}

/// Reads the last place of a block. Needs no division if that is the reader's
/// own place, or at a fixed distance from it.
void Blocks::redirect(const BlockRead &block) {
  ReadOp read = block.read;
  auto op = read->getParentOfType<ComputeOp>();
  OpBuilder builder(read);
  Location loc = read.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value place;
  if (block.index.kind == AccessIndex::Iterator &&
      op.getExtents()[block.index.iterator] == name) {
    Region *region = read->getParentRegion();
    while (region->getParentOp() != op)
      region = region->getParentOp()->getParentRegion();
    place = region->getArgument(block.index.iterator);
    if (block.index.offset != 0)
      place = arith::AddIOp::create(builder, loc, place,
                                    number(block.index.offset * size));
  } else {
    place = arith::MulIOp::create(builder, loc, read.getIndices()[block.axis],
                                  number(size));
    place = arith::AddIOp::create(builder, loc, place, number(size - 1));
  }
  read.getIndicesMutable()[block.axis].assign(place);
}

/// The boundaries of a read, at the last places of their blocks.
void Blocks::expandPlaces(ReadOp read) {
  if (!read.getPlaces())
    return;
  Builder builder(read.getContext());
  auto type = cast<ArrayType>(read.getArray().getType());
  SmallVector<Attribute> places;
  for (auto pairs : read.getPlaces()->getAsRange<ArrayAttr>()) {
    SmallVector<Attribute> moved;
    for (auto pair : pairs.getAsRange<ArrayAttr>()) {
      if (type.getExtent(cast<IntegerAttr>(pair[0]).getInt()) != name) {
        moved.push_back(pair);
        continue;
      }
      int64_t block = cast<IntegerAttr>(pair[1]).getInt();
      moved.push_back(builder.getArrayAttr(
          {pair[0], builder.getI64IntegerAttr(block * size + size - 1)}));
    }
    places.push_back(builder.getArrayAttr(moved));
  }
  read.setPlacesAttr(builder.getArrayAttr(places));
}

void Blocks::expandIndices(ComputeOp op) {
  SmallVector<BlockRead> reads = readsOf(op);
  SmallVector<unsigned> expanded;
  for (auto [i, extent] : llvm::enumerate(op.getExtents()))
    if (extent == name)
      expanded.push_back(i);
  Location loc = op.getLoc();
  Value before;
  if (!expanded.empty())
    before = openCondition(op);
  SmallVector<Operation *> old;
  if (before)
    for (Operation &scalar : op.getCondition().front())
      old.push_back(&scalar);
  SmallVector<Value> isLast;
  for (Region *region : {&op.getCondition(), &op.getBody()})
    for (unsigned i : expanded) {
      auto builder = OpBuilder::atBlockBegin(&region->front());
      Value place = region->getArgument(i);
      Value by = arith::ConstantIndexOp::create(builder, loc, size);
      auto block = arith::FloorDivSIOp::create(builder, loc, place, by);
      place.replaceAllUsesExcept(block, block);
      if (region == &op.getBody())
        continue;
      Value first = arith::MulIOp::create(builder, loc, block, by);
      Value inside = arith::SubIOp::create(builder, loc, place, first);
      Value last = arith::ConstantIndexOp::create(builder, loc, size - 1);
      isLast.push_back(arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, inside, last));
    }
  for (const BlockRead &block : reads)
    redirect(block);
  if (!expanded.empty()) {
    auto builder = OpBuilder::atBlockEnd(&op.getCondition().front());
    Conjunction all(builder, loc);
    for (Value last : isLast)
      all.require(last);
    if (before) {
      // Of an incomplete block it may read what is not there.
      all.guardRest();
      for (Operation *scalar : old)
        scalar->moveBefore(builder.getBlock(), builder.getInsertionPoint());
      all.require(before);
    }
    YieldOp::create(builder, loc, all.finish());
  }
  SmallVector<Attribute> extents(op.getExtents().getValue());
  SmallVector<int64_t> lower(op.getLower());
  for (unsigned i : expanded) {
    extents[i] = length;
    lower[i] *= size;
  }
  op.setExtentsAttr(ArrayAttr::get(op.getContext(), extents));
  op.setLowerAttr(DenseI64ArrayAttr::get(op.getContext(), lower));
}

void Blocks::expand() {
  // All reads are changed before the types, which show what they read.
  for (auto op : system.getOps<ComputeOp>()) {
    expandIndices(op);
    op->walk([&](ReadOp read) { expandPlaces(read); });
  }
  for (Operation &op : system.getBody().front())
    for (Value result : op.getResults()) {
      auto type = dyn_cast<ArrayType>(result.getType());
      if (!type)
        continue;
      SmallVector<Attribute> shape(type.getShape().getValue());
      std::replace(shape.begin(), shape.end(), Attribute(name),
                   Attribute(length));
      result.setType(type.withShape(shape));
    }
}

/// Finds the length and the size of the blocks that `blocks` counts.
static std::optional<std::pair<StringAttr, int64_t>> blocksOf(LengthOp blocks) {
  if (!blocks.getMap() || !blocks.getOf() || blocks.getOf()->size() != 1)
    return std::nullopt;
  AffineMap map = *blocks.getMap();
  auto quotient = dyn_cast<AffineBinaryOpExpr>(map.getResult(0));
  if (!quotient || quotient.getKind() != AffineExprKind::FloorDiv ||
      quotient.getLHS() != getAffineSymbolExpr(0, map.getContext()))
    return std::nullopt;
  auto size = dyn_cast<AffineConstantExpr>(quotient.getRHS());
  if (!size)
    return std::nullopt;
  return std::pair(cast<StringAttr>((*blocks.getOf())[0]), size.getValue());
}

void schedule::expandBlocks(SystemOp system) {
  llvm::SmallPtrSet<Attribute, 4> generated;
  for (ChoiceOp choice : generatedNames(system))
    generated.insert_range(
        cast<ArrayType>(choice.getResult().getType()).getShape().getValue());
  for (auto length : system.getOps<LengthOp>()) {
    auto found = blocksOf(length);
    if (!found || !generated.contains(found->first))
      continue;
    Blocks blocks(system, length.getLengthAttr(), found->first, found->second);
    if (blocks.canExpand())
      blocks.expand();
  }
}
