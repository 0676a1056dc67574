//===- Arrays.cpp - where the arrays of a program lie ---------------------===//

#include "dialect/launch-reference/Executor.h"

#include <fmt/format.h>
#include <numeric>

using namespace mlir;
using namespace fovea;
using namespace fovea::launch;
using attn::ArrayLocationAttr;
using attn::ComputeOp;
using attn::LocationKind;
using attn::ReadOp;
using attn::ScanOp;

//===----------------------------------------------------------------------===//
// What the program says
//===----------------------------------------------------------------------===//

ArrayLocationAttr launch::memoryIn(Operation *op, StringRef name) {
  auto location = op->getAttrOfType<ArrayLocationAttr>(name);
  return location && location.isMemory() ? location : ArrayLocationAttr();
}

SmallVector<ScanOp> launch::loopsAround(Operation *op) {
  SmallVector<ScanOp> loops;
  for (auto loop = op->getParentOfType<ScanOp>(); loop;
       loop = loop->getParentOfType<ScanOp>())
    loops.insert(loops.begin(), loop);
  return loops;
}

bool launch::isOfEach(Operation *op) {
  // An `attn.yield` represents its loop.
  if (isa<attn::YieldOp>(op))
    op = op->getParentOp();
  auto kind = op->getAttrOfType<StringAttr>("attn.batch");
  return kind && kind.getValue() == "each";
}

bool launch::isByRank(ScanOp loop) {
  return isa<StringAttr>(loop.getExtent()) && isOfEach(loop) &&
         loopsAround(loop).empty();
}

static ReadOp factorAt(ComputeOp op, bool isLeft) {
  auto product = op->getAttrOfType<attn::ProductAttr>("attn.product");
  Operation *factors = op.getYielded().getDefiningOp();
  if (!product || !isa_and_nonnull<arith::MulFOp>(factors))
    return ReadOp();
  unsigned side = isLeft ? product.getLeft() : 1 - product.getLeft();
  return factors->getOperand(side).getDefiningOp<ReadOp>();
}

ReadOp launch::leftOf(ComputeOp op) { return factorAt(op, /*isLeft=*/true); }
ReadOp launch::rightOf(ComputeOp op) { return factorAt(op, /*isLeft=*/false); }

/// The memories that hold factors of products, and lists.
void Executor::findFactors() {
  program.walk([&](ComputeOp op) {
    if (ArrayLocationAttr location = memoryIn(op, attn::packedName))
      if (ReadOp right = rightOf(op))
        factorOf.try_emplace(location.getNumber(), right);
    if (ArrayLocationAttr location = memoryIn(op, attn::packedLeftName))
      if (ReadOp left = leftOf(op))
        factorOf.try_emplace(location.getNumber(), left);
    if (ArrayLocationAttr location = memoryIn(op, attn::listName))
      lists.insert(location.getNumber());
  });
}

void Executor::findRanks() {
  program.walk([&](ScanOp loop) {
    if (!isByRank(loop))
      return;
    std::vector<size_t> order(examples.size());
    std::iota(order.begin(), order.end(), 0);
    auto key = [&](size_t example) {
      return std::pair(-examples[example].lengths.sizeOf(loop.getExtent()),
                       example);
    };
    llvm::sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });
    ranks[loop] = std::move(order);
    loop.walk([&](Operation *op) {
      SmallVector<Attribute> locations;
      for (StringRef name :
           {attn::locationsName, attn::carriesName, attn::swapsName})
        if (auto list = op->getAttrOfType<ArrayAttr>(name))
          llvm::append_range(locations, list);
      if (Attribute own = op->getAttr(attn::locationName))
        locations.push_back(own);
      for (Attribute each : locations)
        if (auto location = dyn_cast<ArrayLocationAttr>(each);
            location && location.getRanks())
          rankedBy[location.getNumber()] = loop;
    });
  });
}

//===----------------------------------------------------------------------===//
// Memories
//===----------------------------------------------------------------------===//

/// A new memory, whose elements are undefined.
Status Executor::allocate(MemoryOp op) {
  std::unique_ptr<MemoryState> &memory =
      memories[op.getResult().getAsOpaquePointer()];
  if (!memory)
    memory = std::make_unique<MemoryState>();
  memory->op = op;
  memory->isAlive = true;
  memory->use = MemoryState::None;
  memory->rows.clear();
  std::optional<int64_t> number = op.getMemory();
  bool isEach = op.getScope() == Scope::each;
  for (size_t example = 0; example < (isEach ? examples.size() : 1);
       ++example) {
    int64_t size = 1;
    if (number && factorOf.contains(*number)) {
      for (int64_t extent :
           shapeOf(factorOf.lookup(*number).getArray(), example))
        size *= extent;
    } else if (!number || !lists.contains(*number)) {
      for (Attribute extent : op.getExtents())
        size *= examples[example].lengths.sizeOf(extent);
    }
    memory->rows.emplace_back(size);
  }
  if (!number)
    return Status::success();
  byNumber[*number] = memory.get();
  return op.getOrigin() == Origin::given ? giveInputs(*memory)
                                         : Status::success();
}

Status Executor::giveInputs(MemoryState &memory) {
  int64_t number = *memory.op.getMemory();
  for (Operation *op : ops) {
    if (!isa<attn::DataOp, attn::ParamOp>(op) ||
        attn::locationOf(op->getResult(0)).getNumber() != number)
      continue;
    for (size_t example = 0; example < memory.rows.size(); ++example) {
      reference::ArrayPtr array;
      if (Status status = reference::takeInput(
              op, inputs[example], examples[example].lengths, array);
          status.failed())
        return status;
      Cells &cells = memory.rows[example];
      if (array->values.size() != cells.values.size())
        return Status::error(fmt::format("'{}' has {} elements, and its memory "
                                         "{}",
                                         memory.name(), array->values.size(),
                                         cells.size()));
      cells.values = array->values;
      cells.trees = array->trees;
      for (size_t offset = 0; offset < cells.values.size(); ++offset)
        cells.defined[offset] =
            isInside(op->getResult(0),
                     reference::indicesOf(offset, array->shape), example);
    }
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

std::vector<int64_t> Executor::shapeOf(Value array, size_t example) {
  return examples[example].lengths.shapeOf(
      cast<attn::ArrayType>(array.getType()));
}

int64_t Executor::extentOf(Attribute extent, size_t example) {
  if (auto number = dyn_cast<IntegerAttr>(extent))
    return number.getInt();
  const reference::LengthTable &lengths = examples[example].lengths;
  int id = lengths.find(cast<StringAttr>(extent).getValue());
  if (id < 0)
    return 0;
  if (!lengths.isNested(id))
    return lengths.value(id);
  return lengths.value(id, examples[example].loopIndex(lengths.parentOf(id)));
}

bool Executor::takesPart(Operation *op, size_t example, bool byRankToo) {
  return llvm::all_of(loopsAround(op), [&](ScanOp loop) {
    if (isByRank(loop) && !byRankToo)
      return true;
    return examples[example].indices.lookup(loop.getLoopIndex()) <
           extentOf(loop.getExtent(), example);
  });
}

bool Executor::isInside(Value array, ArrayRef<int64_t> indices,
                        size_t example) {
  const reference::Environment &own = examples[example];
  return own.lengths.isInside(
      cast<attn::ArrayType>(array.getType()), indices,
      [&](StringRef extent) { return own.loopIndex(extent); });
}

int64_t Executor::countInside(Value array, ArrayRef<int64_t> shape,
                              size_t example) {
  int64_t places = 1;
  for (int64_t extent : shape)
    places *= extent;
  // Only nested lengths leave places out.
  const reference::LengthTable &lengths = examples[example].lengths;
  auto type = cast<attn::ArrayType>(array.getType());
  if (llvm::none_of(type.getShape(), [&](Attribute extent) {
        auto name = dyn_cast<StringAttr>(extent);
        int id = name ? lengths.find(name.getValue()) : -1;
        return id >= 0 && lengths.isNested(id);
      }))
    return places;
  int64_t count = 0;
  for (int64_t offset = 0; offset < places; ++offset)
    count += isInside(array, reference::indicesOf(offset, shape), example);
  return count;
}

std::vector<size_t> Executor::examplesAround(Operation *op) {
  for (ScanOp loop : loopsAround(op))
    if (auto found = ranks.find(loop); found != ranks.end())
      return found->second;
  std::vector<size_t> order(examples.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Site Executor::siteIn(ArrayLocationAttr location, size_t example,
                      std::vector<int64_t> shape) {
  Site site;
  site.example = example;
  site.shape = std::move(shape);
  site.memory = byNumber.lookup(location.getNumber());
  if (site.memory) {
    site.cells = &site.memory->of(example);
    return site;
  }
  site.problem =
      fmt::format("memory {} is not in the schedule", location.getNumber());
  return site;
}

/// Row `index` of the stacked array of a loop around `where`.
Site Executor::rowOf(Operation *where, ArrayLocationAttr location,
                     int64_t index, size_t example,
                     std::vector<int64_t> shape) {
  Site site = siteIn(location, example, std::move(shape));
  for (ScanOp loop : loopsAround(where))
    for (OpResult result : loop->getResults()) {
      ArrayLocationAttr own = attn::locationOf(result);
      if (!own || own.getNumber() != location.getNumber())
        continue;
      std::vector<int64_t> all = shapeOf(result, example);
      int64_t size = 1;
      for (int64_t extent : ArrayRef(all).drop_front())
        size *= extent;
      site.base = index * size;
      if (site.problem.empty() && (index < 0 || index >= all.front()))
        site.problem = fmt::format("row {} of '{}' is outside of its {} rows",
                                   index, site.memory->name(), all.front());
      return site;
    }
  site.problem = fmt::format("memory {} has no rows of a loop around",
                             location.getNumber());
  return site;
}

std::optional<int64_t> Executor::stepBefore(ScanOp loop, size_t example) {
  int64_t extent = extentOf(loop.getExtent(), example);
  const auto &indices = examples[example].indices;
  auto found = indices.find(loop.getLoopIndex());
  // After the loop it is the last step.
  int64_t before = found == indices.end()
                       ? (loop.getReverse() ? 0 : extent - 1)
                       : found->second + (loop.getReverse() ? 1 : -1);
  return before >= 0 && before < extent ? std::optional(before) : std::nullopt;
}

Site Executor::siteOf(Value array, size_t example) {
  std::vector<int64_t> shape = shapeOf(array, example);
  auto argument = dyn_cast<BlockArgument>(array);
  if (auto result = dyn_cast<OpResult>(array)) {
    Operation *op = result.getOwner();
    if (auto kernel = dyn_cast<attn::KernelOp>(op))
      return siteOf(kernel.getYielded(result), example);
    if (isa<attn::ReshapeOp, attn::AppendOp>(op)) {
      Site site = siteOf(op->getOperand(0), example);
      site.shape = std::move(shape);
      return site;
    }
  }
  ArrayLocationAttr location = attn::locationOf(array);
  Site site;
  if (!location) {
    site.shape = std::move(shape);
    site.problem = "an array has no location";
    return site;
  }
  switch (location.getKind()) {
  case LocationKind::room: {
    site.example = example;
    site.shape = std::move(shape);
    auto found = workspace.find(array);
    if (found != workspace.end())
      site.cells = &found->second;
    else
      site.problem = "reads the workspace of another unit";
    return site;
  }
  case LocationKind::carry: {
    auto loop = cast<ScanOp>(argument.getOwner()->getParentOp());
    if (std::optional<int64_t> before = stepBefore(loop, example))
      return rowOf(&loop.getBody().front().front(), location, *before, example,
                   std::move(shape));
    return siteOf(loop.getInits()[argument.getArgNumber() - 1], example);
  }
  case LocationKind::row: {
    Operation *op = array.getDefiningOp();
    for (ScanOp loop : loopsAround(op))
      for (OpResult result : loop->getResults())
        if (attn::locationOf(result).getNumber() == location.getNumber())
          return rowOf(op, location,
                       examples[example].indices.lookup(loop.getLoopIndex()),
                       example, std::move(shape));
    return rowOf(op, location, 0, example, std::move(shape));
  }
  default:
    site = siteIn(location, example, std::move(shape));
    if (site.problem.empty() && site.count() > site.cells->size())
      site.problem =
          fmt::format("an array of {} elements is in '{}', which has {}",
                      site.count(), site.memory->name(), site.cells->size());
    return site;
  }
}
