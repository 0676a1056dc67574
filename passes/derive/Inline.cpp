//===- Inline.cpp - elementwise equations into their readers --------------===//
//
// Decides which arrays are not worth materialising, and evaluates them at their
// reads. An array is inlined everywhere or not at all: if one reader needs it,
// evaluating it elsewhere would only cost. What is merely asked for does not
// count: it reads the array, which stays for it.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Conditions.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "passes/Passes.h"
#include "passes/analysis/Equations.h"
#include "llvm/ADT/SetVector.h"

namespace fovea::attn {
#define GEN_PASS_DEF_INLINE
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// The maximum number of scalars of a body: chains of expansions that read one
/// another several times would grow without bound.
static constexpr unsigned maxScalars = 4096;

static unsigned numNamed(ArrayRef<Attribute> extents) {
  return llvm::count_if(
      extents, [](Attribute extent) { return isa<StringAttr>(extent); });
}

static unsigned numScalars(ComputeOp op) {
  unsigned count = 0;
  op->walk([&](Operation *) { ++count; });
  return count;
}

/// The number of reader indices that a read does not depend on.
static unsigned numFreeIndices(ReadOp read, ComputeOp reader) {
  llvm::SetVector<Value> visited;
  visited.insert_range(read.getIndices());
  llvm::DenseSet<unsigned> used;
  for (unsigned i = 0; i < visited.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(visited[i]))
      used.insert(argument.getArgNumber());
    else if (Operation *def = visited[i].getDefiningOp())
      def->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (!isa<ArrayType>(operand.getType()))
            visited.insert(operand);
      });
  }
  return reader.getNumIndices() - used.size();
}

namespace {
struct Inline : fovea::attn::impl::InlineBase<Inline> {
  using InlineBase::InlineBase;

  void runOnOperation() override;

private:
  std::optional<SmallVector<ReadOp>>
  readersOf(ComputeOp producer, const llvm::SetVector<Operation *> &needed);
  bool isWorthIt(ComputeOp producer, ArrayRef<ReadOp> reads);
  void inlineAt(ReadOp read, ComputeOp producer);
  void inlineAll(SystemOp system);
};
} // namespace

/// The reads of a producer that can be inlined; nothing if it cannot be, or if
/// another use needs the array. Of what is `needed` only needed readers count:
/// the sums of the objective are the same whatever else is asked for.
std::optional<SmallVector<ReadOp>>
Inline::readersOf(ComputeOp producer,
                  const llvm::SetVector<Operation *> &needed) {
  if (producer.getReducer() != Reducer::none ||
      producer.getYielded().getDefiningOp<RoundedOp>())
    return std::nullopt;
  SmallVector<ReadOp> reads;
  for (OpOperand &use : producer.getResult().getUses()) {
    Operation *owner =
        producer->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (needed.contains(producer) && !needed.contains(owner))
      continue;
    auto read = dyn_cast<ReadOp>(use.getOwner());
    if (!read || use.getOperandNumber() != 0 || producer->isAncestor(read) ||
        !read->getParentOfType<ComputeOp>())
      return std::nullopt;
    // Cases take precedence over the array, so they must not hide it.
    for (unsigned i = 0; i < read.getAlternatives().size(); ++i)
      if (!isOutside(read, i))
        return std::nullopt;
    reads.push_back(read);
  }
  return reads;
}

/// Counts the extents; with `isLong` only those other than 1.
static int rankOf(ArrayRef<Attribute> extents, bool isLong) {
  return llvm::count_if(extents, [&](Attribute extent) {
    auto number = dyn_cast<IntegerAttr>(extent);
    return !isLong || !number || number.getInt() != 1;
  });
}

/// Returns whether `op` has more indices than any array that it reads has axes,
/// or more with several places.
static bool isExpansionOf(ComputeOp op) {
  return llvm::any_of(ArrayRef{false, true}, [&](bool isLong) {
    int largest = -1;
    auto look = [&](ArrayType type) {
      largest = std::max(largest, rankOf(type.getShape().getValue(), isLong));
    };
    op->walk([&](ReadOp read) {
      look(read.getArrayType());
      for (Value array : read.getAlternatives())
        look(cast<ArrayType>(array.getType()));
    });
    return rankOf(op.getExtents().getValue(), isLong) > largest;
  });
}

bool Inline::isWorthIt(ComputeOp producer, ArrayRef<ReadOp> reads) {
  ArrayRef<Attribute> extents = producer.getExtents().getValue();
  int named = numNamed(extents);
  bool isExpansion = isExpansionOf(producer);
  // A product of two or more lengths, larger than anything that is read: not
  // worth materialising even if a reader evaluates it several times, unless
  // that reader is as large.
  bool isLarge = named >= 2;
  unsigned size = numScalars(producer);
  bool isTrivial = size <= 4;
  auto reader = [](ReadOp read) { return read->getParentOfType<ComputeOp>(); };
  if (isExpansion)
    return llvm::all_of(reads, [&](ReadOp read) {
      ComputeOp consumer = reader(read);
      if (numScalars(consumer) + size > maxScalars)
        return false;
      int result =
          numNamed(consumer.getResult().getType().getShape().getValue());
      return isTrivial || numFreeIndices(read, consumer) == 0 ||
             (isLarge && result < named);
    });
  if (mode != InlineMode::all || reads.size() != 1)
    return false;
  ReadOp read = reads.front();
  ComputeOp consumer = reader(read);
  return read.getAlternatives().empty() && !read.getOtherwise() &&
         consumer.getNumIndices() == extents.size() &&
         numFreeIndices(read, consumer) == 0 &&
         numScalars(consumer) + size <= maxScalars;
}

static Value zeroOf(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

/// The producer's element at `at`; zero outside its condition or lower
/// bounds.
static Value elementAt(OpBuilder &builder, ComputeOp producer, ValueRange at) {
  Location loc = producer.getLoc();
  Conjunction condition(builder, loc);
  for (auto [index, lower] : llvm::zip_equal(at, producer.getLower()))
    if (lower != 0)
      condition.require(arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::sge, index,
          arith::ConstantIndexOp::create(builder, loc, lower)));
  if (producer.hasCondition()) {
    if (readsArrays(producer.getCondition()))
      condition.guardRest();
    condition.require(inlineRegion(builder, producer.getCondition(), at));
  }
  if (condition.isTrivial())
    return inlineRegion(builder, producer.getBody(), at);
  Type type = producer.getElementType();
  Value holds = condition.finish();
  auto choice = scf::IfOp::create(builder, loc, TypeRange{type}, holds,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder inside = OpBuilder::atBlockBegin(choice.thenBlock());
  Value element = inlineRegion(inside, producer.getBody(), at);
  scf::YieldOp::create(inside, loc, element);
  OpBuilder outside = OpBuilder::atBlockBegin(choice.elseBlock());
  scf::YieldOp::create(outside, loc, zeroOf(outside, loc, type));
  return choice.getResult(0);
}

void Inline::inlineAt(ReadOp read, ComputeOp producer) {
  OpBuilder builder(read);
  Location loc = read.getLoc();
  Type type = read.getResult().getType();
  SmallVector<Value> indices(read.getIndices());
  // if case 0 then .. else if case 1 then .. else if inside then the element
  // else the default
  SmallVector<scf::IfOp> open;
  auto choose = [&](Value condition) {
    auto choice =
        scf::IfOp::create(builder, loc, TypeRange{type}, condition,
                          /*addThenBlock=*/true, /*addElseBlock=*/true);
    open.push_back(choice);
    builder.setInsertionPointToStart(choice.thenBlock());
  };
  auto otherwise = [&](Value value) {
    scf::YieldOp::create(builder, loc, value);
    builder.setInsertionPointToStart(open.back().elseBlock());
  };
  for (auto [i, alternative] : llvm::enumerate(read.getAlternatives())) {
    choose(atPlaces(builder, read, i, indices));
    otherwise(ReadOp::create(builder, loc, type, alternative,
                             withoutPlaced(read, i, indices), ValueRange(),
                             read.getOtherwise(), ArrayAttr()));
  }
  if (read.getOtherwise()) {
    Conjunction inside(builder, loc);
    requireInside(builder, loc, read->getParentOfType<ComputeOp>(),
                  read.getArrayType().getShape().getValue(), indices, inside);
    Value holds = inside.finish();
    choose(holds);
  }
  Value value = elementAt(builder, producer, indices);
  if (read.getOtherwise()) {
    otherwise(value);
    value = read.getOtherwise();
  }
  for (scf::IfOp choice : llvm::reverse(open)) {
    scf::YieldOp::create(builder, loc, value);
    builder.setInsertionPointAfter(choice);
    value = choice.getResult(0);
  }
  read.getResult().replaceAllUsesWith(value);
  read.erase();
}

void Inline::inlineAll(SystemOp system) {
  // A reader that has inlined an expansion may have become one itself.
  llvm::SetVector<Operation *> worklist;
  for (Operation &op : llvm::reverse(system.getBody().front()))
    if (isa<ComputeOp>(op))
      worklist.insert(&op);
  llvm::SetVector<Operation *> needed = neededBy(system, /*objective=*/true);
  IRRewriter rewriter(&getContext());
  DominanceInfo dominance;
  while (!worklist.empty()) {
    auto producer = cast<ComputeOp>(worklist.pop_back_val());
    std::optional<SmallVector<ReadOp>> reads = readersOf(producer, needed);
    if (!reads || reads->empty() || !isWorthIt(producer, *reads))
      continue;
    llvm::SetVector<Operation *> readers;
    for (ReadOp read : *reads) {
      readers.insert(read->getParentOfType<ComputeOp>());
      inlineAt(read, producer);
    }
    for (Operation *reader : readers) {
      // Repeated reads of one place are evaluated once.
      eliminateCommonSubExpressions(rewriter, dominance, reader);
      dominance.invalidate();
      worklist.insert(reader);
    }
    // If anything is left of it, it is only asked for.
    needed.remove(producer);
    if (producer.getResult().use_empty())
      producer.erase();
  }
}

void Inline::runOnOperation() {
  for (SystemOp system : getOperation().getOps<SystemOp>())
    inlineAll(system);
}
