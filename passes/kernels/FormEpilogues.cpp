//===- FormEpilogues.cpp - equations after products, column by column -----===//
//
// The gates of a recurrent network, and their adjoints, read sums of products
// with weights at their own place. A thread computes its columns of the
// products and then its columns of these equations. So the sums never reach
// shared memory, and no thread waits in between.
//
// A product may have several parts of the same width, one per gate.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/analysis/VectorIndex.h"
#include "passes/kernels/Members.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_FORMEPILOGUES
#include "passes/Passes.h.inc"
} // namespace fovea::attn

namespace {
struct Epilogue {
  SmallVector<Operation *> products, views;
  /// Equations of one width. They read a product, and results of each other,
  /// only at their own place.
  SmallVector<Operation *> members;

  SmallVector<Operation *> ops() const {
    SmallVector<Operation *> result = products;
    llvm::append_range(result, views);
    llvm::append_range(result, members);
    return result;
  }
};

/// Grows one epilogue from a product.
class ColumnGatherer {
public:
  explicit ColumnGatherer(int64_t lanes) : lanes(lanes) {}

  /// The epilogue of `seed`; nothing where there is none.
  std::optional<Epilogue> gather(ComputeOp seed);

private:
  bool visit(Operation &op);
  bool isMember(ComputeOp op);
  bool readsAtOwnPlace(ReadOp read, ComputeOp op, int64_t &parts);
  bool isReadByMembers(Value array) const;
  void move();

  int64_t lanes;
  Epilogue found;
  int64_t width = 0; // a multiple of a vector
  /// Products, and those without a reading member yet, with their parts; 0: not
  /// known yet.
  llvm::MapVector<Value, int64_t> products;
  /// The results of members, and the ops after them.
  llvm::SetVector<Operation *> members, after;
};

} // namespace

/// A product of rows whose columns are the only index of its result.
static bool isProductOfColumns(ComputeOp op) {
  std::optional<RowsProduct> product = rowsProductOf(op);
  if (!product || !product->isByRows() || product->gathered ||
      op.getNumParallel() != 1 || product->columns() != product->width ||
      batchOf(op) != BatchKind::each)
    return false;
  // Only here do the rows of the left side follow the order of the result's.
  Value left = throughViews(product->left.getArray());
  return product->kind == ProductKind::place ||
         (left.getParentBlock() == op->getBlock() &&
          !left.getDefiningOp<DataOp>());
}

/// Returns whether `read` reads a product at the only index of `op`; determines
/// the number of the product's parts.
bool ColumnGatherer::readsAtOwnPlace(ReadOp read, ComputeOp op,
                                     int64_t &parts) {
  int64_t own = cast<IntegerAttr>(op.getExtents()[0]).getInt();
  ArrayRef<Attribute> shape = read.getArrayType().getShape().getValue();
  int64_t size = 1, offset = 0;
  for (size_t axis = shape.size(); axis-- > 0;) {
    AccessIndex index = classify(read.getIndices()[axis], op);
    bool isLast = axis + 1 == shape.size();
    if (index.kind != (isLast ? AccessIndex::Iterator : AccessIndex::Constant))
      return false;
    offset += index.offset * size;
    size *= cast<IntegerAttr>(shape[axis]).getInt();
  }
  parts = size / own;
  return size % own == 0 && offset % own == 0 && offset >= 0 && offset < size;
}

/// Returns whether `op` can be computed column by column after the existing
/// members.
bool ColumnGatherer::isMember(ComputeOp op) {
  if (batchOf(op) != BatchKind::each || op.getNumIndices() != 1 ||
      op.getNumParallel() != 1 || op.getReducer() != Reducer::none ||
      op.getLower()[0] != 0 || productOf(op))
    return false;
  auto extent = dyn_cast<IntegerAttr>(op.getExtents()[0]);
  if (!extent || extent.getInt() % lanes != 0 ||
      (width != 0 && extent.getInt() != width) || vectorIndex(op) != 0)
    return false;
  bool isGood = true;
  llvm::MapVector<Value, int64_t> parts;
  forArrays(*op, [&](Operation *user, Value array) {
    ReadOp read = plainRead(user, array);
    if (members.contains(array.getDefiningOp())) {
      isGood &= read && read.getIndices().size() == 1 &&
                read.getIndices()[0] == op.getIndex(0);
      return;
    }
    Value source = throughViews(array);
    auto *product = products.find(source);
    if (product == products.end())
      return;
    int64_t own = 0;
    isGood &= read && readsAtOwnPlace(read, op, own) &&
              (product->second == 0 || product->second == own);
    auto [known, isNew] = parts.insert({source, own});
    isGood &= isNew || known->second == own;
  });
  if (!isGood)
    return false;
  for (auto [array, own] : parts)
    products[array] = own;
  width = extent.getInt();
  return true;
}

/// Ops that may move freely.
static bool isPure(Operation &op) {
  return isa<LengthOp, StepOp, ParamOp, DataOp, OutputOp, ReshapeOp, ConcatOp>(
             op) ||
         op.getDialect()->getNamespace() == "arith";
}

/// Adds the op, leaves it in place, or defers it. Returns false if nothing may
/// be moved past it.
bool ColumnGatherer::visit(Operation &op) {
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute && !isPure(op))
    return false;
  bool isAfter = false, readsMember = false, readsProduct = false;
  forArrays(op, [&](Operation *, Value array) {
    Operation *source = array.getDefiningOp();
    isAfter |= after.contains(source);
    readsMember |= members.contains(source);
    readsProduct |= products.contains(throughViews(array));
  });
  if (isAfter)
    after.insert(&op);
  else if (compute && (readsMember || readsProduct) && isMember(compute))
    members.insert(&op);
  else if (readsMember)
    after.insert(&op);
  else if (compute && isProductOfColumns(compute))
    products.insert({compute.getResult(), 0});
  return true;
}

bool ColumnGatherer::isReadByMembers(Value array) const {
  return llvm::all_of(array.getUsers(), [&](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return reshape->getBlock() == array.getParentBlock() &&
             isReadByMembers(reshape.getResult());
    auto read = dyn_cast<ReadOp>(user);
    return read && members.contains(read->getParentOfType<ComputeOp>());
  });
}

/// The views of an array, outermost last.
static void addViews(Value array, SmallVector<Operation *> &views) {
  for (Operation *user : array.getUsers())
    if (auto reshape = dyn_cast<ReshapeOp>(user)) {
      views.push_back(reshape);
      addViews(reshape.getResult(), views);
    }
}

/// Moves everything next to the last member, then its users.
void ColumnGatherer::move() {
  Operation *last = members.back();
  SmallVector<Operation *> later;
  for (Operation *op : after)
    if (op->isBeforeInBlock(last))
      later.push_back(op);
  for (Operation *op : found.ops())
    if (op != last)
      op->moveBefore(last);
  for (Operation *op : llvm::reverse(later))
    op->moveAfter(last);
}

std::optional<Epilogue> ColumnGatherer::gather(ComputeOp seed) {
  if (!isProductOfColumns(seed))
    return std::nullopt;
  products.insert({seed.getResult(), 0});
  for (Operation *op = seed->getNextNode(); op; op = op->getNextNode())
    if (!visit(*op))
      break;
  for (auto [array, parts] : products) {
    // Sums of a product with another reader must be in memory.
    if (parts == 0 || !isReadByMembers(array)) {
      if (array == seed.getResult())
        return std::nullopt;
      continue;
    }
    found.products.push_back(array.getDefiningOp());
    addViews(array, found.views);
  }
  llvm::append_range(found.members, members);
  move();
  return std::move(found);
}

namespace {
struct FormEpilogues : fovea::attn::impl::FormEpiloguesBase<FormEpilogues> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    TargetAttr target = TargetAttr::of(getOperation());
    if (target.getColumnRows() == 0)
      return;
    int64_t lanes = target.getLanes();
    SmallVector<ComputeOp> seeds;
    getOperation().walk([&](ComputeOp op) { seeds.push_back(op); });
    for (ComputeOp seed : seeds)
      // Not in a kernel, nor in one formed meanwhile.
      if (isa<ProgramOp, ScanOp>(seed->getParentOp()))
        if (std::optional<Epilogue> epilogue =
                ColumnGatherer(lanes).gather(seed))
          makeKernel(Schedule::columns, epilogue->ops());
  }
};
} // namespace
