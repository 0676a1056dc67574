//===- Epilogue.cpp - equations behind products, column by column ---------===//

#include "codegen/cpu/Epilogue.h"
#include "codegen/cpu/Vectorise.h"
#include "passes/Access.h"
#include "passes/Batch.h"

#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::codegen;

SmallVector<Operation *> Epilogue::ops() const {
  SmallVector<Operation *> result;
  for (const Product &product : products)
    result.push_back(product.op);
  llvm::append_range(result, views);
  result.append(members.begin(), members.end());
  return result;
}

int64_t Epilogue::placesAtOnce(const GemmTile &tile) const {
  int64_t vectors = 1;
  for (const Product &product : products)
    vectors =
        std::lcm(vectors, tile.vectors / std::gcd(tile.vectors, product.parts));
  return vectors * tile.lanes;
}

namespace {

/// Grows one epilogue from a product.
class Gatherer {
public:
  Gatherer(const GemmTile &tile, const llvm::DenseSet<Operation *> &taken)
      : tile(tile), taken(taken) {}

  /// The epilogue of `seed`; nothing where there is none.
  std::optional<Epilogue> gather(ComputeOp seed);

private:
  bool visit(Operation &op);
  bool isMember(ComputeOp op);
  bool readsAtOwnPlace(ReadOp read, ComputeOp op, int64_t &parts);
  bool isReadByMembers(Value array) const;
  void move();

  const GemmTile &tile;
  const llvm::DenseSet<Operation *> &taken;
  Epilogue found;
  /// Products, and those that wait for a member that reads them, with their
  /// parts; 0: not known yet.
  llvm::MapVector<Value, int64_t> products;
  /// What members give, and what comes behind them.
  llvm::SetVector<Operation *> members, behind;
};

} // namespace

/// A product of rows whose columns are the only index of its result.
static bool isProductOfColumns(ComputeOp op) {
  std::optional<Contraction> product = contractionOf(op);
  if (!product || !product->isByRows() || op.getNumParallel() != 1 ||
      product->columns() != product->width || batchOf(op) != BatchKind::each ||
      !isa<ProgramOp>(
          product->right.getArray().getParentBlock()->getParentOp()))
    return false;
  // Only here do the rows of the left side follow the order of the result's.
  Value left = behindViews(product->left.getArray());
  return product->kind == Contraction::Placed ||
         (left.getParentBlock() == op->getBlock() &&
          !left.getDefiningOp<DataOp>());
}

/// Whether `read` is of a product at the place of the only index of `op`; finds
/// how many parts the product has.
bool Gatherer::readsAtOwnPlace(ReadOp read, ComputeOp op, int64_t &parts) {
  int64_t width = cast<IntegerAttr>(op.getExtents()[0]).getInt();
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
  parts = size / width;
  return size % width == 0 && offset % width == 0 && offset >= 0 &&
         offset < size;
}

/// Whether `op` can be computed column by column behind what is there.
bool Gatherer::isMember(ComputeOp op) {
  if (batchOf(op) != BatchKind::each || op.getNumIndices() != 1 ||
      op.getNumParallel() != 1 || op.getReducer() != Reducer::none ||
      op.getLower()[0] != 0 || contractionOf(op) || batchedContractionOf(op))
    return false;
  auto extent = dyn_cast<IntegerAttr>(op.getExtents()[0]);
  if (!extent || extent.getInt() % tile.lanes != 0 ||
      (found.width != 0 && extent.getInt() != found.width) ||
      vectorIndex(op, tile.lanes, [](unsigned) { return true; }) != 0)
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
    Value source = behindViews(array);
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
  found.width = extent.getInt();
  return true;
}

/// Ops that give the same wherever they stand.
static bool isPure(Operation &op) {
  return isa<LengthOp, StepOp, ParamOp, DataOp, OutputOp, ReshapeOp, ConcatOp>(
             op) ||
         op.getDialect()->getNamespace() == "arith";
}

/// Takes the op in, or leaves it where it is, or behind. False where nothing
/// may be moved past it.
bool Gatherer::visit(Operation &op) {
  auto compute = dyn_cast<ComputeOp>(op);
  if (taken.contains(&op) || (!compute && !isPure(op)))
    return false;
  bool isBehind = false, readsMember = false, readsProduct = false;
  forArrays(op, [&](Operation *, Value array) {
    Operation *source = array.getDefiningOp();
    isBehind |= behind.contains(source);
    readsMember |= members.contains(source);
    readsProduct |= products.contains(behindViews(array));
  });
  if (isBehind)
    behind.insert(&op);
  else if (compute && (readsMember || readsProduct) && isMember(compute))
    members.insert(&op);
  else if (readsMember)
    behind.insert(&op);
  else if (compute && isProductOfColumns(compute))
    products.insert({compute.getResult(), 0});
  return true;
}

bool Gatherer::isReadByMembers(Value array) const {
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

/// Everything next to the last member, then what needs it.
void Gatherer::move() {
  Operation *last = members.back();
  SmallVector<Operation *> later;
  for (Operation *op : behind)
    if (op->isBeforeInBlock(last))
      later.push_back(op);
  for (Operation *op : found.ops())
    if (op != last)
      op->moveBefore(last);
  for (Operation *op : llvm::reverse(later))
    op->moveAfter(last);
}

std::optional<Epilogue> Gatherer::gather(ComputeOp seed) {
  if (!isProductOfColumns(seed))
    return std::nullopt;
  products.insert({seed.getResult(), 0});
  for (Operation *op = seed->getNextNode(); op; op = op->getNextNode())
    if (!visit(*op))
      break;
  for (auto [array, parts] : products) {
    // The sums of a product that anybody else reads have to be in memory.
    if (parts == 0 || !isReadByMembers(array)) {
      if (array == seed.getResult())
        return std::nullopt;
      continue;
    }
    found.products.push_back({array.getDefiningOp<ComputeOp>(), parts});
    addViews(array, found.views);
  }
  for (Operation *op : members)
    found.members.push_back(cast<ComputeOp>(op));
  move();
  return std::move(found);
}

std::vector<Epilogue>
fovea::codegen::gatherEpilogues(ProgramOp program, const GemmTile &tile,
                                ArrayRef<StripGroup> groups) {
  std::vector<Epilogue> epilogues;
  llvm::DenseSet<Operation *> taken;
  for (const StripGroup &group : groups)
    for (const StripMember &member : group.members)
      taken.insert(member.op);
  SmallVector<ComputeOp> seeds;
  program.walk([&](ComputeOp op) { seeds.push_back(op); });
  for (ComputeOp seed : seeds) {
    if (!isa<ProgramOp, ScanOp>(seed->getParentOp()) || taken.contains(seed))
      continue;
    std::optional<Epilogue> epilogue = Gatherer(tile, taken).gather(seed);
    if (!epilogue)
      continue;
    taken.insert_range(epilogue->ops());
    epilogues.push_back(std::move(*epilogue));
  }
  return epilogues;
}
