//===- RecomputeForMemory.cpp - arrays computed again instead of kept -----===//
//
// The backward pass needs what the forward pass has computed. Where memory has
// a limit, arrays are computed a second time shortly before they are needed,
// the cheapest for their size first (Chen et al., 2016: training deep nets with
// sublinear memory cost). What loops keep, and products with weights before
// anything cheaper, stay.
//
// Nothing is estimated: after each round the program is placed, and the
// runtime's own plan for the largest batch says what it takes.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/batch/Batch.h"
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

/// Nobody who reads an array so soon after it waits for it.
static constexpr int64_t nearby = 8;
/// Smaller arrays are no help: a share of all.
static constexpr double leastShare = 0.002;
/// Rounds of choosing arrays and of planning anew.
static constexpr int mostRounds = 40;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The bytes of the arrays of the program as it is, in a batch of this size.
static int64_t plannedBytes(ProgramOp program, Type real,
                            const runtime::BatchSize &size) {
  OwningOpRef<ProgramOp> copy = cast<ProgramOp>(program->clone());
  (*copy)->setAttr("attn.machine", MachineAttr::of(program));
  PassManager manager(program.getContext(), ProgramOp::getOperationName());
  formKernels(manager);
  placeArrays(manager);
  if (failed(manager.run(*copy)))
    return std::numeric_limits<int64_t>::max();
  StorageMap storage(*copy, real);
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
/// An array whose readers leave a gap, and what computes it after the gap.
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

  /// Computes the arrays again that cost least for their size. False when
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

/// Roughly: the operations of the body at every place.
double Recomputer::workOf(Operation *op) const {
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute)
    return placesOf(cast<ArrayType>(op->getResult(0).getType()).getShape());
  double operations = compute.isNormaliser() ? 20 : 1;
  compute.getBody().walk([&](Operation *) { ++operations; });
  return operations * placesOf(compute.getExtents());
}

/// Whether an op gives the same when it runs again later.
static bool isRepeatable(Operation *op) {
  return isa<ComputeOp, ConcatOp, ReshapeOp>(op) &&
         (isa<ReshapeOp>(op) || batchOf(op) == BatchKind::each);
}

/// Whether an array is there at `at`, or after it, in any case.
bool Recomputer::isReadFrom(Value array, Operation *at) const {
  return llvm::any_of(array.getUsers(), [&](Operation *user) {
    Operation *reader = block.findAncestorOpInBlock(*user);
    return isa<OutputOp>(reader) || order.lookup(reader) >= order.lookup(at);
  });
}

/// The ops that give `op` again ahead of `at`, operands first.
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
  // What the array itself waits for is not computed again: it moves no memory.
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
  // Operands that were computed again are taken from there, if that is ahead.
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
    // Of equals the one that stands first.
    return std::pair(costOf(a), order.lookup(a.array.getDefiningOp())) <
           std::pair(costOf(b), order.lookup(b.array.getDefiningOp()));
  });
  // One kind of arrays at a time, as those of all layers.
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

  LogicalResult readSize(runtime::BatchSize &size) {
    size.batch = batch;
    size.threads = threads;
    for (StringRef text : lengths) {
      auto [name, number] = text.split('=');
      int64_t places = 0;
      if (number.getAsInteger(10, places) || places < 0)
        return getOperation().emitError()
               << "a length is given as 'S=100', not '" << text << "'";
      size.lengths[name.str()] = places;
    }
    return success();
  }

  void runOnOperation() override {
    ProgramOp program = getOperation();
    runtime::BatchSize size;
    if (failed(verifyBatched(program)) || failed(readSize(size)))
      return signalPassFailure();
    MLIRContext *context = &getContext();
    Type real = isDouble ? Type(Float64Type::get(context))
                         : Type(Float32Type::get(context));
    int64_t taken = plannedBytes(program, real, size);
    Recomputer recomputer(program, size);
    for (int turn = 0; turn < mostRounds && taken > bytes; ++turn) {
      if (!recomputer.round(taken))
        break;
      taken = plannedBytes(program, real, size);
    }
    program->setAttr("attn.bytes", Builder(context).getI64IntegerAttr(taken));
  }
};
} // namespace
