//===- StoredRows.cpp - which arrays may be stored in fewer bits ----------===//

#include "passes/analysis/StoredRows.h"
#include "passes/analysis/Batch.h"

using namespace mlir;
using namespace fovea::attn;

namespace {
class RowClasses {
public:
  explicit RowClasses(ProgramOp program);

  /// Returns the arrays of classes that may have elements of bf16.
  llvm::DenseSet<Value> find(llvm::function_ref<bool(Value)> isKept);
  ArrayRef<Value> arrays() const { return all; }

private:
  void join(Value a, Value b) { classes.unionSets(a, b); }
  void joinLoop(Operation *loop);
  void joinReads(ReadOp read);
  bool allows(Value array, const llvm::DenseSet<Value> &rounded);

  llvm::EquivalenceClasses<Value> classes;
  SmallVector<Value> all;
};
} // namespace

static bool isRealArray(Value value) {
  auto type = dyn_cast<ArrayType>(value.getType());
  return type && type.getScalarType().isF64();
}

/// The values before, in and after each step of a carry, and the rows of each
/// stacked array.
void RowClasses::joinLoop(Operation *loop) {
  Block &body = loop->getRegion(0).front();
  Operation *yield = body.getTerminator();
  unsigned carries = body.getNumArguments() - 1;
  for (unsigned i = 0; i < loop->getNumResults(); ++i) {
    join(loop->getResult(i), yield->getOperand(i));
    if (i >= carries)
      continue;
    join(body.getArgument(1 + i), yield->getOperand(i));
    join(loop->getOperand(i), yield->getOperand(i));
  }
}

/// A boundary case is an array of the same elements.
void RowClasses::joinReads(ReadOp read) {
  for (Value alternative : read.getAlternatives())
    join(read.getArray(), alternative);
}

RowClasses::RowClasses(ProgramOp program) {
  program.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (isRealArray(argument))
            all.push_back(argument);
    for (Value result : op->getResults())
      if (isRealArray(result))
        all.push_back(result);
  });
  for (Value array : all)
    classes.insert(array);
  program.walk([&](Operation *op) {
    if (isa<ScanOp, SearchOp>(op))
      return joinLoop(op);
    if (auto kernel = dyn_cast<KernelOp>(op))
      for (OpResult result : kernel->getResults())
        join(result, kernel.getYielded(result));
    if (auto read = dyn_cast<ReadOp>(op))
      return joinReads(read);
    if (isa<ReshapeOp, ConcatOp>(op))
      for (Value operand : op->getOperands())
        join(op->getResult(0), operand);
    if (auto append = dyn_cast<AppendOp>(op)) {
      join(append.getResult(), append.getArray());
      join(append.getResult(), append.getRow());
    }
  });
}

/// Whether other programs have the same rows of two bytes.
static bool isExchanged(Value array) {
  return cast<ArrayType>(array.getType()).getElementType().isBF16() &&
         (array.getDefiningOp<DataOp>() ||
          llvm::any_of(array.getUsers(), llvm::IsaPred<OutputOp>));
}

/// Whether what gives an array and what reads it allow elements of bf16.
bool RowClasses::allows(Value array, const llvm::DenseSet<Value> &rounded) {
  auto isStored = [&](Value each) { return rounded.contains(each); };
  Operation *op = array.getDefiningOp();
  if (auto compute = dyn_cast_or_null<ComputeOp>(op)) {
    if (compute.getReducer() != Reducer::none || compute.getPartial() ||
        batchOf(compute) == BatchKind::sum ||
        !isRounded(compute.getYielded(), isStored))
      return false;
  } else if (op &&
             !isa<ScanOp, SearchOp, ReshapeOp, ConcatOp, AppendOp, KernelOp>(
                 op)) {
    return false;
  }
  return llvm::all_of(array.getUsers(), [&](Operation *user) {
    return isa<ReadOp, ReshapeOp, ConcatOp, AppendOp, ScanOp, SearchOp,
               YieldOp>(user);
  });
}

llvm::DenseSet<Value> RowClasses::find(llvm::function_ref<bool(Value)> isKept) {
  // Begins with each class that rounds something. Drops a class that something
  // prevents, until no other one depends on it.
  llvm::DenseSet<Value> leaders, found, exchanged;
  for (Value array : all) {
    if (isExchanged(array))
      exchanged.insert(classes.getLeaderValue(array));
    auto compute = array.getDefiningOp<ComputeOp>();
    auto type = cast<ArrayType>(array.getType());
    if (type.getElementType().isBF16() ||
        (compute && compute.getYielded().getDefiningOp<RoundedOp>()))
      leaders.insert(classes.getLeaderValue(array));
  }
  while (true) {
    found.clear();
    for (Value array : all)
      if (leaders.contains(classes.getLeaderValue(array)))
        found.insert(array);
    size_t before = leaders.size();
    for (Value array : all)
      if (found.contains(array) && (!isKept(array) || !allows(array, found)) &&
          !exchanged.contains(classes.getLeaderValue(array)))
        leaders.erase(classes.getLeaderValue(array));
    if (leaders.size() == before)
      return found;
  }
}

void fovea::attn::storeRows(ProgramOp program,
                            llvm::function_ref<bool(Value)> isKept) {
  RowClasses classes(program);
  llvm::DenseSet<Value> found = classes.find(isKept);
  Builder builder(program.getContext());
  for (Value array : classes.arrays()) {
    auto type = cast<ArrayType>(array.getType());
    array.setType(ArrayType::get(type.getShape().getValue(),
                                 found.contains(array)
                                     ? Type(builder.getBF16Type())
                                     : builder.getF64Type()));
  }
}
