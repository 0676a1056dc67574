//===- AlignRanges.cpp - recurrences over n and n + 1 places --------------===//
//
// `x[0] = a; x[k+1] = f(x[k])` has an x over n + 1 places and an f(x) over n:
// no loop has both ranges. The cycle needs n places of x: the first ones if it
// reads the past, the last ones if it reads the future. A copy of x over those
// joins the cycle. Then x itself is computed after the loop, over all its
// places at once.
//
//===----------------------------------------------------------------------===//

#include "passes/schedule/Plan.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

namespace {

/// The maximum difference of ranges: larger ones are more likely two unrelated
/// axes.
constexpr int64_t maxDifference = 4;

class Aligner {
public:
  Aligner(const Graph &graph, ArrayRef<Operation *> ops, Attribute small,
          Attribute large)
      : graph(graph), members(ops.begin(), ops.end()), small(small),
        large(large), difference(*graph.pastEnd(large, small)) {}

  bool align(ArrayRef<Operation *> ops);

private:
  /// The index of an op over `extent`, if it has exactly one.
  static std::optional<unsigned> indexOver(Operation *op, Attribute extent);
  bool readsFit(Operation *op, int64_t shift) const;
  void redirect(ComputeOp op, int64_t ownShift, int64_t shift);
  ComputeOp shorten(ComputeOp op, unsigned axis, int64_t shift);

  const Graph &graph;
  llvm::DenseSet<Operation *> members;
  Attribute small, large;
  int64_t difference;
  llvm::MapVector<Operation *, unsigned> longOps; // and their index
  llvm::DenseMap<Operation *, ComputeOp> shortened;
};

} // namespace

std::optional<unsigned> Aligner::indexOver(Operation *op, Attribute extent) {
  std::optional<unsigned> found;
  for (auto [index, range] : loopIndices(op))
    if (range == extent) {
      if (found)
        return std::nullopt;
      found = index;
    }
  return found;
}

/// Returns whether all reads of long members by `op` lie in the places of the
/// copies.
bool Aligner::readsFit(Operation *op, int64_t shift) const {
  bool isLong = longOps.contains(op);
  unsigned time = isLong ? longOps.lookup(op) : *indexOver(op, small);
  for (const Edge &edge : graph.getReads(op)) {
    const auto *target = longOps.find(edge.target);
    if (target == longOps.end())
      continue;
    const AccessIndex &index = edge.access->indices[target->second];
    // Only an equation can be made to read a copy.
    if (!isa<ComputeOp>(op) || edge.access->places ||
        index.kind != AccessIndex::Iterator || index.iterator != time)
      return false;
    if (shift == 0 ? index.offset > 0
                   : index.offset < (isLong ? 0 : difference))
      return false;
  }
  return true;
}

bool Aligner::align(ArrayRef<Operation *> ops) {
  for (Operation *op : ops) {
    if (indexOver(op, small))
      continue;
    std::optional<unsigned> index = indexOver(op, large);
    if (!index || !isa<ComputeOp>(op))
      return false;
    longOps[op] = *index;
  }
  std::optional<int64_t> shift;
  for (int64_t candidate : {int64_t(0), difference})
    if (!shift && llvm::all_of(ops, [&](Operation *op) {
          return readsFit(op, candidate);
        }))
      shift = candidate;
  if (!shift || longOps.empty() || longOps.size() == ops.size())
    return false;

  for (auto [op, axis] : longOps)
    shortened[op] = shorten(cast<ComputeOp>(op), axis, *shift);
  for (Operation *op : ops)
    if (longOps.contains(op))
      redirect(shortened[op], *shift, *shift);
    else if (auto compute = dyn_cast<ComputeOp>(op))
      redirect(compute, 0, *shift);
  return true;
}

/// A copy of `op` over the places shift .. shift + small - 1 of an axis.
ComputeOp Aligner::shorten(ComputeOp op, unsigned axis, int64_t shift) {
  OpBuilder builder(op);
  auto copy = cast<ComputeOp>(builder.clone(*op.getOperation()));
  SmallVector<Attribute> extents(copy.getExtents().getValue());
  extents[axis] = small;
  copy.setExtentsAttr(builder.getArrayAttr(extents));
  SmallVector<int64_t> lower(copy.getLower());
  lower[axis] = std::max<int64_t>(0, lower[axis] - shift);
  copy.setLowerAttr(builder.getDenseI64ArrayAttr(lower));
  ArrayType type = op.getResult().getType();
  SmallVector<Attribute> shape(type.getShape().getValue());
  shape[axis] = small;
  copy.getResult().setType(type.withShape(shape));
  if (shift == 0)
    return copy;
  for (Region *region : {&copy.getCondition(), &copy.getBody()}) {
    if (region->empty())
      continue;
    BlockArgument index = region->getArgument(axis);
    auto start = OpBuilder::atBlockBegin(&region->front());
    Value by = arith::ConstantIndexOp::create(start, op.getLoc(), shift);
    auto shifted = arith::AddIOp::create(start, op.getLoc(), index, by);
    index.replaceAllUsesExcept(shifted, shifted);
  }
  return copy;
}

/// Makes a member read the copies.
void Aligner::redirect(ComputeOp op, int64_t ownShift, int64_t shift) {
  op->walk([&](ReadOp read) {
    Operation *target = read.getArray().getDefiningOp();
    ComputeOp copy = shortened.lookup(target);
    if (!copy)
      return;
    unsigned axis = longOps[target];
    OpBuilder builder(read);
    if (shift != 0) {
      Value by = arith::ConstantIndexOp::create(builder, read.getLoc(), shift);
      Value index = arith::SubIOp::create(builder, read.getLoc(),
                                          read.getIndices()[axis], by);
      read.getIndicesMutable()[axis].assign(index);
    }
    read.getArrayMutable().assign(copy.getResult());
    if (!read.getPlaces())
      return;
    // The end of the copy is the end of the whole, or unreachable.
    SmallVector<Attribute> places;
    for (auto pairs : read.getPlaces()->getAsRange<ArrayAttr>()) {
      SmallVector<Attribute> renamed;
      for (auto pair : pairs.getAsRange<ArrayAttr>())
        renamed.push_back(pair[1] == large &&
                                  cast<IntegerAttr>(pair[0]).getInt() == axis
                              ? builder.getArrayAttr({pair[0], small})
                              : pair);
      places.push_back(builder.getArrayAttr(renamed));
    }
    read.setPlacesAttr(builder.getArrayAttr(places));
  });
}

/// Handles one cycle that no loop computes, if ranges may be the reason.
/// Returns true if the system changed: the cycle then no longer reads the long
/// arrays, and their replacements have one axis less of that length. So this
/// terminates.
static bool alignOne(SystemOp system) {
  Graph graph(system);
  ArrayRef<Operation *> nodes = graph.getNodes();
  SmallVector<SmallVector<unsigned>> reads(nodes.size());
  for (Operation *op : nodes)
    for (const Edge &edge : graph.getReads(op))
      reads[graph.getPosition(op)].push_back(graph.getPosition(edge.target));
  for (ArrayRef<unsigned> component : orderedComponents(reads)) {
    if (component.size() < 2)
      continue;
    SmallVector<Operation *> ops;
    llvm::SmallSetVector<Attribute, 4> extents;
    for (unsigned i : component) {
      ops.push_back(nodes[i]);
      for (auto [index, extent] : loopIndices(nodes[i]))
        extents.insert(extent);
    }
    if (succeeded(planComponent(graph, ops, {}, /*report=*/false)))
      continue;
    for (Attribute small : extents)
      for (Attribute large : extents) {
        std::optional<int64_t> difference = graph.pastEnd(large, small);
        if (difference && *difference > 0 && *difference <= maxDifference &&
            Aligner(graph, ops, small, large).align(ops))
          return true;
      }
  }
  return false;
}

void schedule::alignRanges(SystemOp system) {
  // Each round removes the long arrays from one cycle.
  while (alignOne(system)) {
  }
}
