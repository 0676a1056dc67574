//===- PlaceArrays.cpp - where every array of a program lies --------------===//
//
// Decides which arrays have their own memory, and which share memory: rows of a
// loop's stacked arrays, carries that are the previous step's row or are
// overwritten, views, and parts of a kernel's workspace. Packed and copied
// factors of products get memory, too.
//
// The sizes, and which live ranges share memory, depend on the batch; the
// runtime decides them (runtime/memory/Placement.h).
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/memory/Copies.h"
#include "passes/memory/Locations.h"
#include "passes/memory/Rooms.h"
#include "passes/memory/Scatters.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_PLACEARRAYS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

namespace {
class Placer {
public:
  explicit Placer(ProgramOp program)
      : context(program.getContext()),
        keepsPacked(program->hasAttr(preparesName)) {}

  LogicalResult placeBlock(Block &block);

private:
  ArrayLocationAttr next(LocationKind kind) {
    return ArrayLocationAttr::get(context, kind, numMemories++);
  }
  ArrayLocationAttr own(ArrayType type, bool perExample, Operation *where);
  ArrayLocationAttr locationFor(Operation &op);
  LogicalResult placeLoop(Operation *loop);
  LogicalResult placeMember(Operation *op);
  void findRowsInPlace(Operation *loop);
  void findCarriesInPlace(Operation *loop);
  ArrayLocationAttr carryOf(Operation *loop, unsigned number);
  void placeProduct(ComputeOp op);
  ArrayLocationAttr copyOf(ComputeOp op, const CopiedSide &side);
  void placeCopies(KernelOp kernel);
  ArrayLocationAttr copyOf(const CopiedSide &side);
  void setList(Operation *op, StringRef name, ArrayRef<Attribute> list) {
    op->setAttr(name, ArrayAttr::get(context, list));
  }

  MLIRContext *context;
  bool keepsPacked;
  unsigned numMemories = 0;
  /// A packed factor: the array, its offset, strides, sizes and parts, and
  /// whether rows are gathered, which decides how elements are stored.
  using PackedKey = std::tuple<const void *, int64_t, int64_t, int64_t, int64_t,
                               int64_t, int64_t, bool>;
  std::map<PackedKey, ArrayLocationAttr> packed;
  /// The copies that kernels in strips read.
  std::vector<std::pair<CopiedSide, ArrayLocationAttr>> copiedSides;
  /// Body values that are written directly into a loop's stacked rows.
  llvm::DenseMap<Value, OpResult> rowsOf;
  /// Next values of carries that overwrite them.
  llvm::DenseMap<Value, Value> overCarry;
};
} // namespace

//===----------------------------------------------------------------------===//
// Arrays and the loops around them
//===----------------------------------------------------------------------===//

/// For two ops in one loop: whether `a` comes before `b`, counting the members
/// of a kernel individually.
static bool isBefore(Operation *a, Operation *b) {
  while (!b->getBlock()->findAncestorOpInBlock(*a))
    b = b->getParentOp();
  return b->getBlock()->findAncestorOpInBlock(*a)->isBeforeInBlock(b);
}

static bool isSummedOverExamples(Value array) {
  return llvm::any_of(array.getUsers(), [&](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return isSummedOverExamples(reshape.getResult());
    if (auto kernel = dyn_cast<KernelOp>(user->getParentOp());
        kernel && isa<YieldOp>(user))
      return llvm::any_of(kernel.getResults(), [&](OpResult result) {
        return kernel.getYielded(result) == array &&
               isSummedOverExamples(result);
      });
    auto read = dyn_cast<ReadOp>(user);
    return read &&
           batchOf(read->getParentOfType<ComputeOp>()) == BatchKind::sum;
  });
}

/// A separate memory for an array that is computed at `where`.
ArrayLocationAttr Placer::own(ArrayType type, bool perExample,
                              Operation *where) {
  bool hasLengths = llvm::any_of(type.getShape(), llvm::IsaPred<StringAttr>);
  bool ranks =
      perExample && !hasLengths && llvm::any_of(loopsAround(where), runsByRank);
  return ArrayLocationAttr::get(context, LocationKind::own, numMemories++,
                                ranks,
                                /*kept=*/false);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Rows that are neither copies nor results of matrix products, whose rows are
/// consecutive, are written in place.
void Placer::findRowsInPlace(Operation *loop) {
  auto scan = dyn_cast<ScanOp>(loop);
  for (unsigned i = 0; scan && i < scan.getNumStacked(); ++i) {
    Operation *source = computedBy(scan.getStackedValue(i));
    if (!source || !isInBodyOf(loop, source) || scan.getAxes()[i] != 0 ||
        isa<ScanOp>(source) || batchOf(source) != batchOf(loop) ||
        rowsOf.contains(source->getResult(0)) ||
        isSummedOverExamples(source->getResult(0)))
      continue;
    auto compute = dyn_cast<ComputeOp>(source);
    if (compute && rowsProductOf(compute))
      continue;
    rowsOf[source->getResult(0)] = scan.getStacked(i);
  }
}

/// A carry is the previous step's row, if its rows are kept.
ArrayLocationAttr Placer::carryOf(Operation *loop, unsigned number) {
  Block &body = loop->getRegion(0).front();
  BlockArgument carry = body.getArgument(1 + number);
  bool perExample = batchOf(loop) == BatchKind::each;
  auto scan = dyn_cast<ScanOp>(loop);
  bool isKnown = perExample || isa<IntegerAttr>(loop->getAttr("extent"));
  for (unsigned i = 0; scan && isKnown && i < scan.getNumStacked(); ++i) {
    Operation *source = computedBy(scan.getNext(number));
    auto row = source ? rowsOf.find(source->getResult(0)) : rowsOf.end();
    if (row != rowsOf.end() && row->second == scan.getStacked(i) &&
        !isSummedOverExamples(carry))
      return ArrayLocationAttr::get(context, LocationKind::carry,
                                    locationOf(row->second).getNumber());
  }
  return own(cast<ArrayType>(carry.getType()), perExample,
             body.getTerminator());
}

/// Returns whether each element of `op` reads the element of `array` at its own
/// place.
static bool isReadAtOwnPlace(Value array, Operation *user, ComputeOp op) {
  ReadOp read = plainRead(user, array);
  if (!read || op.getReducer() != Reducer::none ||
      op.getResult().getType() != array.getType())
    return false;
  for (auto [number, index] : llvm::enumerate(read.getIndices()))
    if (index != op.getIndex(number))
      return false;
  return true;
}

/// The kernel in columns that contains an op, or null.
static KernelOp columnsAround(Operation *op) {
  auto kernel = dyn_cast<KernelOp>(op->getParentOp());
  return kernel && kernel.getSchedule() == Schedule::columns ? kernel
                                                             : KernelOp();
}

/// The next value of a carry overwrites it, after its last
/// read. A product over places would also overwrite it for examples that are
/// not in the step.
void Placer::findCarriesInPlace(Operation *loop) {
  Block &body = loop->getRegion(0).front();
  Operation *yield = body.getTerminator();
  for (unsigned i = 0; i + 1 < body.getNumArguments(); ++i) {
    BlockArgument carry = body.getArgument(1 + i);
    auto next =
        dyn_cast_if_present<ComputeOp>(computedBy(yield->getOperand(i)));
    if (!next || !isInBodyOf(loop, next) || locationOf(carry).isRow() ||
        rowsOf.contains(next.getResult()) || batchOf(next) != batchOf(loop) ||
        isProductOverPlaces(next))
      continue;
    bool isRead = llvm::any_of(carry.getUsers(), [&](Operation *user) {
      Operation *reader = user;
      while (!isInBodyOf(loop, reader))
        reader = reader->getParentOp();
      // Some of its columns are written before others are read.
      KernelOp kernel = columnsAround(next);
      auto member = dyn_cast<ComputeOp>(reader);
      if (kernel && member && columnsAround(reader) == kernel)
        return !isReadAtOwnPlace(carry, user, member);
      if (reader == next)
        return !isReadAtOwnPlace(carry, user, next);
      return !isBefore(reader, next) || isa<ReshapeOp>(reader);
    });
    if (!isRead)
      overCarry[next.getResult()] = carry;
  }
}

LogicalResult Placer::placeLoop(Operation *loop) {
  bool perExample = batchOf(loop) == BatchKind::each;
  Block &body = loop->getRegion(0).front();
  Operation *yield = body.getTerminator();
  unsigned numCarries = body.getNumArguments() - 1;
  SmallVector<Attribute> results, carries, swaps;
  for (OpResult result : loop->getResults())
    results.push_back(own(cast<ArrayType>(result.getType()), perExample, loop));
  setList(loop, locationsName, results);
  findRowsInPlace(loop);
  for (unsigned i = 0; i < numCarries; ++i)
    carries.push_back(carryOf(loop, i));
  setList(loop, carriesName, carries);
  findCarriesInPlace(loop);
  if (failed(placeBlock(body)))
    return failure();
  for (unsigned i = 0; i < numCarries; ++i) {
    auto value = dyn_cast<BlockArgument>(yield->getOperand(i));
    bool isOther =
        value && value.getOwner() == &body && value.getArgNumber() != 1 + i;
    swaps.push_back(isOther ? Attribute(own(cast<ArrayType>(value.getType()),
                                            perExample, yield))
                            : UnitAttr::get(context));
  }
  if (llvm::any_of(swaps, llvm::IsaPred<ArrayLocationAttr>))
    setList(loop, swapsName, swaps);
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The copy of a side of a product. Products that read an array in the same way
/// share it, and the op that computes the array stores it if possible.
ArrayLocationAttr Placer::copyOf(ComputeOp op, const CopiedSide &side) {
  PackedKey key = {
      side.array.getAsOpaquePointer(), side.first,   side.along, side.deep,
      side.rows.value_or(0),           side.columns, 1,          false};
  // Rows selected by a list belong to this product only.
  if (side.isListed)
    key = {op.getAsOpaquePointer(), 0, 0, 0, 0, 0, 1, false};
  ArrayLocationAttr &location = packed[key];
  if (location)
    return location;
  location = next(LocationKind::packed);
  if (ComputeOp source = storesCopyOf(side))
    source->setAttr(storedCopyName, location);
  return location;
}

/// The packed factors of a product over the rows of a batch. Products of the
/// same weights share them.
void Placer::placeProduct(ComputeOp op) {
  std::optional<RowsProduct> product = rowsProductOf(op);
  if (listsTerms(op))
    op->setAttr(listName, next(LocationKind::list));
  if (!product)
    return;
  Value right = product->right.getArray();
  KernelOp kernel = columnsAround(op);
  PackedKey key = {op.getAsOpaquePointer(), 0, 0, 0, 0, 0, 1, false};
  if (product->isByRows())
    key = {right.getAsOpaquePointer(),
           product->rightFirst,
           product->rowStride,
           product->columnStride,
           product->columns(),
           product->count,
           kernel ? partsOf(op, kernel) : 1,
           bool(product->gathered)};
  if (!kernel && needsRowList(op))
    op->setAttr(listName, next(LocationKind::list));
  if (readsCopies(op)) {
    op->setAttr(packedLeftName, copyOf(op, copiedLeft(op, *product)));
    op->setAttr(packedName, copyOf(op, copiedRight(*product)));
    return;
  }
  // A factor that is multiplied in place is not packed.
  if (!product->packsAhead() || !packsProducts(op))
    return;
  ArrayLocationAttr &location = packed[key];
  if (!location)
    location = ArrayLocationAttr::get(
        context, LocationKind::packed, numMemories++, /*ranks=*/false,
        /*kept=*/keepsPacked && product->isByRows() &&
            throughViews(right).getDefiningOp<ParamOp>());
  op->setAttr(packedName, location);
}

/// The copy of rows; kernels in strips that read them in the same way share it.
ArrayLocationAttr Placer::copyOf(const CopiedSide &side) {
  for (const auto &[known, location] : copiedSides)
    if (known == side)
      return location;
  copiedSides.push_back({side, next(LocationKind::packed)});
  return copiedSides.back().second;
}

void Placer::placeCopies(KernelOp kernel) {
  for (const auto &[op, sides] : decideStrips(kernel).copies) {
    if (sides.left)
      op->setAttr(packedLeftName, copyOf(*sides.left));
    op->setAttr(packedName, copyOf(sides.right));
  }
}

//===----------------------------------------------------------------------===//
// All arrays, in the order in which they are computed
//===----------------------------------------------------------------------===//

/// Of an op that gives one array.
ArrayLocationAttr Placer::locationFor(Operation &op) {
  Value result = op.getResult(0);
  if (Value source = viewedBy(&op))
    return sameAs(locationOf(source));
  if (isa<DataOp, ParamOp>(op))
    return next(LocationKind::argument);
  if (auto row = rowsOf.find(result); row != rowsOf.end())
    return ArrayLocationAttr::get(context, LocationKind::row,
                                  locationOf(row->second).getNumber());
  if (auto carry = overCarry.find(result); carry != overCarry.end())
    return sameAs(locationOf(carry->second));
  return own(cast<ArrayType>(result.getType()), batchOf(&op) == BatchKind::each,
             &op);
}

LogicalResult Placer::placeBlock(Block &block) {
  KernelOp before;
  for (Operation *op : opsInOrder(block)) {
    if (isa<KernelOp, OutputOp>(op))
      continue;
    KernelOp kernel = kernelAround(op);
    if (kernel && kernel != before) {
      if (failed(placeInRooms(kernel)))
        return failure();
      placeCopies(kernel);
    }
    before = kernel;
    if (isa<ScanOp, SearchOp>(op)) {
      if (failed(placeLoop(op)))
        return failure();
      continue;
    }
    if (op->getNumResults() != 1 || !isa<ArrayType>(op->getResult(0).getType()))
      continue;
    auto compute = dyn_cast<ComputeOp>(op);
    if (locationOf(op->getResult(0))) {
      // A strip; the weights of its product are packed like any others.
      placeProduct(compute);
      continue;
    }
    op->setAttr(locationName, locationFor(*op));
    if (compute)
      placeProduct(compute);
  }
  return success();
}

namespace {
struct PlaceArrays : fovea::attn::impl::PlaceArraysBase<PlaceArrays> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (failed(verifyBatched(program)))
      return signalPassFailure();
    // Discards the decisions of an earlier run.
    program.walk([](Operation *op) {
      for (StringRef name :
           {locationName, locationsName, carriesName, swapsName, packedName,
            packedLeftName, storedCopyName, gatheredName, listName, roomsName})
        op->removeAttr(name);
    });
    if (failed(Placer(program).placeBlock(program.getBody().front())))
      signalPassFailure();
  }
};
} // namespace
