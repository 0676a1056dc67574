//===- CutSearches.cpp - one program for each search ----------------------===//
//
// Decides which ops of a decoding program belong to which search: an op belongs
// to the last search, or searchless choice, that it depends on.
// SplitDecoder.cpp then converts each program.
//
//===----------------------------------------------------------------------===//

#include "passes/batch/CutSearches.h"
#include "passes/analysis/Batch.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace fovea::attn;

bool fovea::attn::isMade(Operation *op) {
  auto choice = dyn_cast<ChoiceOp>(op);
  return choice && choice.getResult() && !choice.getLatent();
}

bool fovea::attn::makesChoices(ScanOp scan) {
  return scan
      .walk([](ChoiceOp op) {
        return isMade(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {

class Cutter {
public:
  explicit Cutter(ProgramOp program) : program(program) {}

  SmallVector<ProgramOp> cut();

private:
  /// One of the resulting programs.
  struct Part {
    ProgramOp program;
    IRMapping mapping;
    llvm::DenseSet<Value> given; // to the parts after it
    bool hasSearch = false;
  };

  unsigned findUnits();
  void findParts();
  bool isNamed(Attribute extent, unsigned part) const;
  void makePart(unsigned number);
  void take(unsigned number, Operation *op);
  Value valueIn(unsigned number, Value value);
  OpBuilder endOf(Part &part) {
    return OpBuilder::atBlockEnd(&part.program.getBody().front());
  }

  ProgramOp program;
  std::vector<Part> parts;
  /// For every op: its part.
  llvm::MapVector<Operation *, unsigned> partOf;
  /// For every length that a search finds: that search's part.
  llvm::DenseMap<Attribute, unsigned> foundIn;
  llvm::DenseMap<Value, std::string> names;
};

} // namespace

/// Numbers the searches and the choices between them, and returns their count.
unsigned Cutter::findUnits() {
  unsigned number = 0;
  bool hasSearch = false, hasChoice = false;
  for (Operation &op : program.getBody().front()) {
    auto search = dyn_cast<SearchOp>(op);
    if (!search && !isMade(&op))
      continue;
    if (hasSearch || (search && hasChoice)) {
      ++number;
      hasSearch = hasChoice = false;
    }
    (search ? hasSearch : hasChoice) = true;
    partOf[&op] = number;
    if (search && !search.getKnown())
      foundIn[search.getExtentAttr()] = number;
  }
  return hasSearch || hasChoice ? number + 1 : number;
}

/// Returns whether a length is known in a part, or found there.
bool Cutter::isNamed(Attribute extent, unsigned part) const {
  auto found = foundIn.find(extent);
  return found == foundIn.end() || found->second <= part;
}

void Cutter::findParts() {
  for (auto length : program.getOps<LengthOp>())
    if (auto of = length.getOf())
      for (Attribute other : *of)
        if (auto found = foundIn.find(other); found != foundIn.end()) {
          unsigned &own = foundIn[length.getLengthAttr()];
          own = std::max(own, found->second);
        }
  llvm::MapVector<Operation *, unsigned> all;
  for (Operation &op : program.getBody().front()) {
    unsigned own = partOf.lookup(&op);
    auto see = [&](Attribute extent) {
      if (auto found = foundIn.find(extent); found != foundIn.end())
        own = std::max(own, found->second);
    };
    auto seeType = [&](Value value) {
      if (auto type = dyn_cast<ArrayType>(value.getType()))
        llvm::for_each(type.getShape().getValue(), see);
    };
    if (!isa<SearchOp>(op)) {
      llvm::for_each(op.getResults(), seeType);
      op.walk([&](Operation *inner) {
        if (auto compute = dyn_cast<ComputeOp>(inner))
          llvm::for_each(compute.getExtents().getValue(), see);
        if (auto extent = dyn_cast<ExtentOp>(inner))
          see(extent.getLengthAttr());
      });
    }
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto def = all.find(operand.getDefiningOp()); def != all.end())
          own = std::max(own, def->second);
    });
    all[&op] = own;
  }
  partOf = std::move(all);
}

/// The copy of a value of the whole program in one of the parts.
Value Cutter::valueIn(unsigned number, Value value) {
  Part &part = parts[number];
  if (Value known = part.mapping.lookupOrNull(value))
    return known;
  Operation *def = value.getDefiningOp();
  unsigned source = partOf.lookup(def);
  // Values shared by all examples are recomputed where needed.
  if (source == number || isa<ParamOp, DataOp>(def) ||
      !isa<ArrayType>(value.getType()) || !isPerExample(value)) {
    take(number, def);
    return part.mapping.lookup(value);
  }
  auto [name, isNew] = names.try_emplace(value);
  if (isNew)
    name->second = "given/" + std::to_string(names.size() - 1);
  if (parts[source].given.insert(value).second) {
    OpBuilder end = endOf(parts[source]);
    OutputOp::create(end, value.getLoc(), name->second,
                     parts[source].mapping.lookup(value));
  }
  OpBuilder end = endOf(part);
  auto data =
      DataOp::create(end, value.getLoc(), value.getType(), name->second);
  setBatch(data, BatchKind::each);
  part.mapping.map(value, data.getResult());
  return data.getResult();
}

void Cutter::take(unsigned number, Operation *op) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentBlock() == op->getBlock())
        valueIn(number, operand);
  });
  OpBuilder end = endOf(parts[number]);
  end.clone(*op, parts[number].mapping);
}

void Cutter::makePart(unsigned number) {
  Part &part = parts[number];
  OpBuilder before(program);
  part.program = ProgramOp::create(before, program.getLoc(),
                                   program.getSymName().str() + "." +
                                       std::to_string(number));
  part.program.getBody().emplaceBlock();
  for (auto length : program.getOps<LengthOp>()) {
    if (!isNamed(length.getLengthAttr(), number))
      continue;
    auto copy = cast<LengthOp>(endOf(part).clone(*length.getOperation()));
    auto found = foundIn.find(length.getLengthAttr());
    if (found != foundIn.end() && found->second < number)
      copy.setOpen(false);
  }
  // Data determine lengths even if they are not read.
  for (auto data : program.getOps<DataOp>())
    valueIn(number, data.getResult());
  for (auto [op, own] : partOf) {
    bool isTaken = own == number;
    // Bounds of a search also hold in later ones.
    if (auto mark = dyn_cast<MarkOp>(op); mark && mark.getTarget() == "longest")
      isTaken = own <= number;
    bool isKnown =
        op->getNumResults() == 1 && part.mapping.contains(op->getResult(0));
    if (isTaken && !isKnown && !isa<LengthOp>(op))
      take(number, op);
  }
}

SmallVector<ProgramOp> Cutter::cut() {
  unsigned count = findUnits();
  if (count <= 1)
    return {program};
  findParts();
  parts.resize(count);
  SmallVector<ProgramOp> programs;
  for (unsigned number = 0; number < count; ++number) {
    makePart(number);
    programs.push_back(parts[number].program);
  }
  program.erase();
  return programs;
}

SmallVector<ProgramOp> fovea::attn::cutSearches(ProgramOp program) {
  return Cutter(program).cut();
}
