//===- ShortenLives.cpp - arrays of guarded rows live shorter -------------===//
//
// Each expert of a layer has arrays for all words, and uses the rows of a few.
// Kept from the forward to the backward pass, they would need memory for every
// expert. What is cheap is computed again instead, and the adjoints of one
// expert are computed together, so that the next expert reuses their memory.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_SHORTENLIVES
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Readers that follow so soon leave no gap.
static constexpr int64_t nearby = 8;
/// The room between two ops, for moved ones.
static constexpr int64_t roomBetween = 1 << 20;
/// A chain of more equations is not computed again.
static constexpr unsigned deepest = 4;

namespace {
/// Shortens lives in the block of a program.
class Lives {
public:
  explicit Lives(Block &block) : block(block) {}

  void advanceLastReaders();
  void recompute();

private:
  void number(int64_t distance = 1);
  int64_t placeOf(Operation *user) const {
    return places.lookup(block.findAncestorOpInBlock(*user));
  }
  SmallVector<int64_t> readersOf(Value array) const;
  SmallVector<Value> operandsOf(Operation &op) const;
  bool endsLives(ComputeOp op) const;
  std::optional<int64_t> gapOf(ComputeOp op) const;
  bool isThere(Value array, int64_t place, unsigned depth = 0);
  Value copyOf(Value array, Operation *before);

  Block &block;
  llvm::DenseMap<Operation *, int64_t> places;
  /// The arrays that are computed again where late readers need them.
  llvm::DenseSet<Value> repeated;
  llvm::DenseMap<Value, Value> copies;
};
} // namespace

/// Returns whether a condition that reads arrays chooses rows of `op`: vectors
/// of fixed size.
static bool hasChosenRows(ComputeOp op) {
  if (!op.hasCondition() || op.getNumParallel() < 2 || !isPerExample(op) ||
      !numberOf(op.getExtents()[op.getNumParallel() - 1]) ||
      !op.getCondition().getArgument(op.getNumParallel() - 1).use_empty())
    return false;
  bool reads = false;
  op.getCondition().walk(
      [&](ReadOp read) { reads |= !read.getIndices().empty(); });
  return reads;
}

static double elementsOf(Value array) {
  double count = 1;
  for (Attribute extent : cast<ArrayType>(array.getType()).getShape())
    count *= double(numberOf(extent).value_or(1));
  return count;
}

void Lives::number(int64_t distance) {
  places.clear();
  for (auto [place, op] : llvm::enumerate(block))
    places[&op] = static_cast<int64_t>(place) * distance;
}

SmallVector<int64_t> Lives::readersOf(Value array) const {
  SmallVector<int64_t> readers;
  for (Operation *user : array.getUsers())
    readers.push_back(placeOf(user));
  llvm::sort(readers);
  return readers;
}

/// The arrays of the block that `op` reads, without inputs.
SmallVector<Value> Lives::operandsOf(Operation &op) const {
  llvm::SetVector<Value> arrays;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (isa<ArrayType>(operand.getType()) && source &&
          source->getBlock() == &block && !isa<ParamOp, DataOp>(source))
        arrays.insert(operand);
    }
  });
  return arrays.takeVector();
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Returns whether `op` is the last reader of guarded rows that take at least
/// the memory of its result. Outputs have memory of their own.
bool Lives::endsLives(ComputeOp op) const {
  double freed = 0;
  for (Value array : operandsOf(*op)) {
    auto source = array.getDefiningOp<ComputeOp>();
    if (source && hasChosenRows(source) &&
        readersOf(array).back() == places.lookup(op))
      freed += elementsOf(array);
  }
  bool isOutput = llvm::all_of(op->getUsers(), llvm::IsaPred<OutputOp>);
  return freed > 0 && (isOutput || freed >= elementsOf(op.getResult()));
}

/// Moves the last reader of guarded rows to where it has all that it reads.
void Lives::advanceLastReaders() {
  number(roomBetween);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto compute = dyn_cast<ComputeOp>(op);
    if (!compute || !endsLives(compute))
      continue;
    Operation *last = nullptr;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *source = operand.getDefiningOp();
            source && source->getBlock() == &block &&
            (!last || places.lookup(last) < places.lookup(source)))
          last = source;
    });
    if (!last || last->getNextNode() == &op)
      continue;
    int64_t after = places.lookup(last);
    int64_t room = places.lookup(last->getNextNode()) - after;
    op.moveAfter(last);
    if (room > 1)
      places[&op] = after + room / 2;
    else
      number(roomBetween);
  }
}

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

/// Returns whether an op gives guarded rows element by element.
static bool isRepeatable(Operation *op) {
  auto compute = dyn_cast_or_null<ComputeOp>(op);
  return compute && compute.getReducer() == Reducer::none &&
         !productOf(compute) && hasChosenRows(compute);
}

/// The place of the first reader after the widest gap between the readers of
/// rows that can be computed again.
std::optional<int64_t> Lives::gapOf(ComputeOp op) const {
  if (!isRepeatable(op) || llvm::any_of(op->getUsers(), [](Operation *user) {
        return isa<OutputOp, ReshapeOp, ConcatOp>(user);
      }))
    return std::nullopt;
  SmallVector<int64_t> readers = readersOf(op.getResult());
  int64_t widest = 0, place = 0;
  for (size_t k = 1; k < readers.size(); ++k)
    if (readers[k] - readers[k - 1] > widest) {
      widest = readers[k] - readers[k - 1];
      place = readers[k];
    }
  if (widest < nearby)
    return std::nullopt;
  return place;
}

/// Returns whether all that `array` is computed from is there near `place`, or
/// can be computed again as well.
bool Lives::isThere(Value array, int64_t place, unsigned depth) {
  if (depth > deepest)
    return false;
  return llvm::all_of(operandsOf(*array.getDefiningOp()), [&](Value operand) {
    if (readersOf(operand).back() + nearby >= place)
      return true;
    if (!isRepeatable(operand.getDefiningOp()) ||
        !isThere(operand, place, depth + 1))
      return false;
    repeated.insert(operand);
    return true;
  });
}

/// The array again, before the op that reads it.
Value Lives::copyOf(Value array, Operation *before) {
  if (!repeated.contains(array))
    return array;
  if (Value known = copies.lookup(array))
    return known;
  IRMapping mapping;
  for (Value operand : operandsOf(*array.getDefiningOp()))
    mapping.map(operand, copyOf(operand, before));
  OpBuilder builder(before);
  return copies[array] =
             builder.clone(*array.getDefiningOp(), mapping)->getResult(0);
}

void Lives::recompute() {
  number();
  struct Late {
    int64_t place;
    size_t number;
    Operation *reader;
    Value array;
  };
  SmallVector<Late> late;
  for (auto op : block.getOps<ComputeOp>()) {
    Value array = op.getResult();
    std::optional<int64_t> first = gapOf(op);
    if (!first || !isThere(array, *first))
      continue;
    repeated.insert(array);
    for (Operation *user : array.getUsers())
      if (int64_t place = placeOf(user); place >= *first)
        late.push_back({place, late.size(), user, array});
  }
  llvm::sort(late, [](const Late &a, const Late &b) {
    return std::pair(a.place, a.number) < std::pair(b.place, b.number);
  });
  for (Late &each : late) {
    Value copy = copyOf(each.array, block.findAncestorOpInBlock(*each.reader));
    each.reader->replaceUsesOfWith(each.array, copy);
  }
}

namespace {
struct ShortenLives : fovea::attn::impl::ShortenLivesBase<ShortenLives> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>()) {
      Lives lives(program.getBody().front());
      lives.recompute();
      // Once these are earlier, others are the last.
      for (int round = 0; round < 2; ++round)
        lives.advanceLastReaders();
    }
  }
};
} // namespace
