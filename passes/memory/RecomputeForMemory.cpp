//===- RecomputeForMemory.cpp - arrays computed again instead of kept -----===//
//
// The backward pass needs results of the forward pass. Under a memory limit,
// arrays are recomputed shortly before their use, those with the lowest cost
// per byte first (Chen et al., 2016: training deep nets with sublinear memory
// cost). Stacked rows of loops stay, and so do products with weights while
// anything is cheaper.
//
// Nothing is estimated: after each round the program is placed, and the
// runtime's own plan for the largest batch gives the memory.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/analysis/Batch.h"
#include "passes/memory/Storage.h"
#include "runtime/memory/Placement.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using runtime::Program;

namespace fovea::attn {
#define GEN_PASS_DEF_RECOMPUTEFORMEMORY
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Readers so soon after an array leave no gap.
static constexpr int64_t nearby = 8;
/// The minimum size of a candidate: a share of the total.
static constexpr double leastShare = 0.002;
/// Rounds of choosing arrays and of planning anew.
static constexpr int mostRounds = 40;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The bytes of the arrays of a placed program, in a batch of this size.
static int64_t plannedBytes(ProgramOp placed, Type real,
                            const runtime::BatchSize &size) {
  StorageMap storage(placed, real);
  const Program &description = storage.description();
  std::vector<int64_t> lengths = runtime::lengthsOf(description, size);
  auto bytesOf = [&](const Program::Array &array) -> int64_t {
    return array.role == Program::Role::Temporary
               ? runtime::bytesOf(description, array, size, lengths)
               : -1;
  };
  runtime::Placement placement;
  runtime::Status status =
      runtime::placeArrays(description, bytesOf, placement);
  return status.failed() ? std::numeric_limits<int64_t>::max()
                         : placement.numBytes;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

namespace {
/// An array with a gap between its readers, and the ops that recompute it after
/// the gap.
struct Candidate {
  Value array;
  Operation *at = nullptr; // the first reader after the gap
  llvm::SetVector<Operation *> chain;
  double bytes = 0, work = 0;
};

class Recomputer {
public:
  Recomputer(ProgramOp program, const runtime::BatchSize &size)
      : block(program.getBody().front()), size(size) {}

  /// Recomputes the arrays with the lowest cost per byte. Returns false if
  /// there is none.
  bool round(int64_t total);

private:
  double placesOf(ArrayAttr extents) const;
  double workOf(Operation *op) const;
  std::optional<Candidate> candidateOf(Operation &op);
  bool collect(Operation *op, Operation *at, Candidate &candidate);
  bool isReadFrom(Value array, Operation *at) const;
  void apply(const Candidate &candidate);
  void eraseUnread();

  Block &block;
  const runtime::BatchSize &size;
  llvm::DenseMap<Operation *, int64_t> order;
  /// What was computed again already.
  llvm::DenseMap<Value, SmallVector<Value>> copies;
};
} // namespace

double Recomputer::placesOf(ArrayAttr extents) const {
  double places = 1;
  for (Attribute extent : extents) {
    if (auto number = dyn_cast<IntegerAttr>(extent)) {
      places *= double(number.getInt());
      continue;
    }
    auto given = size.lengths.find(cast<StringAttr>(extent).getValue().str());
    places *= given == size.lengths.end() ? 1 : double(given->second);
  }
  return places;
}

/// Roughly: the number of operations of the body over all places.
double Recomputer::workOf(Operation *op) const {
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute)
    return placesOf(cast<ArrayType>(op->getResult(0).getType()).getShape());
  double operations = compute.isNormaliser() ? 20 : 1;
  compute.getBody().walk([&](Operation *) { ++operations; });
  return operations * placesOf(compute.getExtents());
}

/// Returns whether an op has the same result when it runs again later.
static bool isRepeatable(Operation *op) {
  return isa<ComputeOp, ConcatOp, ReshapeOp>(op) &&
         (isa<ReshapeOp>(op) || batchOf(op) == BatchKind::each);
}

/// Returns whether an array is live at `at`, or after it, anyway.
bool Recomputer::isReadFrom(Value array, Operation *at) const {
  return llvm::any_of(array.getUsers(), [&](Operation *user) {
    Operation *reader = block.findAncestorOpInBlock(*user);
    return isa<OutputOp>(reader) || order.lookup(reader) >= order.lookup(at);
  });
}

/// The ops that recompute `op` before `at`, operands first.
bool Recomputer::collect(Operation *op, Operation *at, Candidate &candidate) {
  if (candidate.chain.contains(op))
    return true;
  if (!isRepeatable(op))
    return false;
  bool isGood = true;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (!isa<ArrayType>(operand.getType()) || !source ||
          source->getBlock() != &block || isa<ParamOp, DataOp>(source) ||
          isReadFrom(operand, at) || copies.contains(operand))
        continue;
      isGood = isGood && collect(source, at, candidate);
    }
  });
  candidate.work += workOf(op);
  candidate.chain.insert(op);
  return isGood;
}

std::optional<Candidate> Recomputer::candidateOf(Operation &op) {
  if (!isRepeatable(&op) || isa<ReshapeOp>(op))
    return std::nullopt;
  SmallVector<int64_t> places = {order.lookup(&op)};
  SmallVector<Operation *> readers;
  for (Operation *user : op.getResult(0).getUsers()) {
    Operation *reader = block.findAncestorOpInBlock(*user);
    // A view is the array itself.
    if (isa<OutputOp, ReshapeOp>(reader))
      return std::nullopt;
    readers.push_back(reader);
    places.push_back(order.lookup(reader));
  }
  llvm::sort(places);
  int64_t widest = 0, afterGap = 0;
  for (size_t i = 1; i < places.size(); ++i)
    if (places[i] - places[i - 1] > widest) {
      widest = places[i] - places[i - 1];
      afterGap = places[i];
    }
  // Inputs that the array itself waits for are not recomputed: that would save
  // no memory.
  if (widest < nearby || afterGap == places.front())
    return std::nullopt;
  Candidate candidate;
  candidate.array = op.getResult(0);
  for (Operation *reader : readers)
    if (order.lookup(reader) == afterGap)
      candidate.at = reader;
  candidate.bytes =
      8 * double(size.batch) *
      placesOf(cast<ArrayType>(candidate.array.getType()).getShape());
  if (!collect(&op, candidate.at, candidate))
    return std::nullopt;
  return candidate;
}

void Recomputer::apply(const Candidate &candidate) {
  OpBuilder builder(candidate.at);
  IRMapping mapping;
  // Recomputed operands are reused, if they come earlier.
  for (auto &[array, again] : copies)
    for (Value copy : again)
      if (copy.getDefiningOp()->isBeforeInBlock(candidate.at) &&
          !isReadFrom(array, candidate.at))
        mapping.map(array, copy);
  for (Operation *op : candidate.chain) {
    Operation *copy = builder.clone(*op, mapping);
    copies[op->getResult(0)].push_back(copy->getResult(0));
  }
  Value again = mapping.lookup(candidate.array);
  Value array = candidate.array;
  array.replaceUsesWithIf(again, [&](OpOperand &use) {
    Operation *reader = block.findAncestorOpInBlock(*use.getOwner());
    auto place = order.find(reader);
    return place != order.end() && place->second >= order.lookup(candidate.at);
  });
}

/// What is computed only after the gap.
void Recomputer::eraseUnread() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.getNumResults() == 1 && op.use_empty() && isRepeatable(&op)) {
      copies.erase(op.getResult(0));
      for (auto &[array, again] : copies)
        llvm::erase(again, op.getResult(0));
      op.erase();
    }
}

bool Recomputer::round(int64_t total) {
  order.clear();
  for (auto [place, op] : llvm::enumerate(block))
    order[&op] = static_cast<int64_t>(place);
  SmallVector<Candidate> candidates;
  for (Operation &op : block)
    if (op.getNumResults() == 1)
      if (std::optional<Candidate> candidate = candidateOf(op);
          candidate && candidate->bytes >= leastShare * double(total))
        candidates.push_back(std::move(*candidate));
  auto costOf = [](const Candidate &each) { return each.work / each.bytes; };
  llvm::sort(candidates, [&](const Candidate &a, const Candidate &b) {
    // Among equals the first one.
    return std::pair(costOf(a), order.lookup(a.array.getDefiningOp())) <
           std::pair(costOf(b), order.lookup(b.array.getDefiningOp()));
  });
  // One kind of array at a time, such as those of all layers.
  for (const Candidate &candidate : candidates)
    if (costOf(candidate) <= 1.5 * costOf(candidates.front()))
      apply(candidate);
  bool found = !candidates.empty();
  candidates.clear();
  eraseUnread();
  return found;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct RecomputeForMemory
    : fovea::attn::impl::RecomputeForMemoryBase<RecomputeForMemory> {
  using RecomputeForMemoryBase::RecomputeForMemoryBase;

  LogicalResult readSize(ProgramOp program, runtime::BatchSize &size) {
    size.batch = batch;
    size.threads = threads;
    for (StringRef text : lengths) {
      auto [name, number] = text.split('=');
      int64_t places = 0;
      if (number.getAsInteger(10, places) || places < 0)
        return program.emitError()
               << "expected a length such as 'S=100', found '" << text << "'";
      size.lengths[name.str()] = places;
    }
    return success();
  }

  /// The bytes that a program takes, after the phases `kernels` and `memory` on
  /// a copy of it.
  int64_t bytesOf(ProgramOp program, const runtime::BatchSize &size) {
    MLIRContext *context = &getContext();
    Type real = isDouble ? Type(Float64Type::get(context))
                         : Type(Float32Type::get(context));
    ProgramOp copy = cast<ProgramOp>(OpBuilder(program).clone(*program));
    bool isPlaced = succeeded(runPipeline(placing, copy));
    int64_t taken = isPlaced ? plannedBytes(copy, real, size)
                             : std::numeric_limits<int64_t>::max();
    copy.erase();
    return taken;
  }

  LogicalResult recompute(ProgramOp program) {
    runtime::BatchSize size;
    if (failed(verifyBatched(program)) || failed(readSize(program, size)))
      return failure();
    int64_t taken = bytesOf(program, size);
    Recomputer recomputer(program, size);
    for (int turn = 0; turn < mostRounds && taken > bytes; ++turn) {
      if (!recomputer.round(taken))
        break;
      taken = bytesOf(program, size);
    }
    program->setAttr("attn.bytes",
                     Builder(&getContext()).getI64IntegerAttr(taken));
    return success();
  }

  LogicalResult initialize(MLIRContext *) override {
    formKernels(placing);
    placeArrays(placing);
    return success();
  }

  void runOnOperation() override {
    // Each is copied beside itself.
    for (auto each : llvm::to_vector(getOperation().getOps<ProgramOp>()))
      if ((program.empty() || each.getSymName() == program) &&
          failed(recompute(each)))
        return signalPassFailure();
  }

private:
  OpPassManager placing{ProgramOp::getOperationName()};
};
} // namespace
