//===- Recompute.cpp - arrays computed again instead of kept --------------===//

#include "codegen/cpu/program/Recompute.h"
#include "codegen/cpu/Machine.h"
#include "codegen/cpu/program/Storage.h"
#include "passes/Pipeline.h"
#include "passes/batch/Batch.h"
#include "runtime/memory/Placement.h"
#include "runtime/memory/Tables.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

/// Nobody who reads an array so soon behind it waits for it.
static constexpr int64_t nearby = 8;
/// Smaller arrays are no help: a share of all.
static constexpr double leastShare = 0.002;
/// Rounds of choosing arrays and of planning anew.
static constexpr int mostRounds = 40;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The bytes of the arrays of the program as it is.
static int64_t plannedBytes(ProgramOp program, Type real, const Target &target,
                            const MemoryLimit &limit) {
  auto copy = cast<ProgramOp>(program->clone());
  if (failed(formKernels(copy, machineOf(target, real))))
    return std::numeric_limits<int64_t>::max();
  GemmTile tile = gemmTile(real, target);
  std::vector<StripGroup> groups = stripsOf(copy, tile);
  std::vector<Epilogue> epilogues = epiloguesOf(copy);
  StorageMap storage(copy, real, tile, groups, epilogues,
                     /*keepsPacked=*/false);
  const Program &description = storage.description();
  runtime::BatchSize size{limit.batch, limit.threads, limit.lengths};
  std::vector<int64_t> lengths = runtime::lengthsOf(description, size);
  auto bytesOf = [&](const Program::Array &array) -> int64_t {
    return array.role == Program::Role::Temporary
               ? runtime::bytesOf(description, array, size, lengths)
               : -1;
  };
  runtime::Placement placement;
  runtime::Status status =
      runtime::placeArrays(description, bytesOf, placement);
  copy->erase();
  return status.failed() ? std::numeric_limits<int64_t>::max()
                         : placement.numBytes;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

namespace {
/// An array whose readers leave a gap, and what computes it behind the gap.
struct Candidate {
  Value array;
  Operation *at = nullptr; // the first reader behind the gap
  llvm::SetVector<Operation *> chain;
  double bytes = 0, work = 0;
};

class Recomputer {
public:
  Recomputer(ProgramOp program, const MemoryLimit &limit)
      : block(program.getBody().front()), limit(limit) {}

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
  const MemoryLimit &limit;
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
    auto given = limit.lengths.find(cast<StringAttr>(extent).getValue().str());
    places *= given == limit.lengths.end() ? 1 : double(given->second);
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
  return isa<ComputeOp, ConcatOp, ReshapeOp, DropoutOp>(op) &&
         (isa<ReshapeOp>(op) || batchOf(op) == BatchKind::each);
}

/// Whether an array is there at `at`, or behind it, in any case.
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
  int64_t widest = 0, behind = 0;
  for (size_t i = 1; i < places.size(); ++i)
    if (places[i] - places[i - 1] > widest) {
      widest = places[i] - places[i - 1];
      behind = places[i];
    }
  // What the array itself waits for is not computed again: it moves no memory.
  if (widest < nearby || behind == places.front())
    return std::nullopt;
  Candidate candidate;
  candidate.array = op.getResult(0);
  for (Operation *reader : readers)
    if (order.lookup(reader) == behind)
      candidate.at = reader;
  candidate.bytes =
      8 * double(limit.batch) *
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

/// What is computed behind the gap only.
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

int64_t fovea::codegen::recompute(ProgramOp program, Type real,
                                  const Target &target,
                                  const MemoryLimit &limit) {
  int64_t bytes = plannedBytes(program, real, target, limit);
  Recomputer recomputer(program, limit);
  for (int turn = 0; turn < mostRounds && bytes > limit.bytes; ++turn) {
    if (!recomputer.round(bytes))
      break;
    bytes = plannedBytes(program, real, target, limit);
  }
  return bytes;
}
