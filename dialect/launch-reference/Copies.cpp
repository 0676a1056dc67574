//===- Copies.cpp - runs that move, list and clear ------------------------===//

#include "dialect/launch-reference/Executor.h"

#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::launch;
using attn::ArrayLocationAttr;
using attn::ComputeOp;
using attn::ReadOp;
using attn::ScanOp;

/// Copies `count` elements, defined or not; all of them if it is negative.
Status Executor::copy(const Site &to, const Site &from, int64_t toFirst,
                      int64_t fromFirst, int64_t count) {
  if (count < 0)
    count = from.count();
  for (int64_t i = 0; i < count; ++i) {
    accesses.setElement(1 + toFirst + i);
    reference::Traced number;
    Status error = Status::success();
    State state = accesses.read(from, fromFirst + i, number, error);
    if (state == Failed)
      return error;
    if (Status status =
            accesses.write(to, toFirst + i, number, state == Defined);
        status.failed())
      return status;
  }
  return Status::success();
}

/// to[.., at, ..] := from, with `at` as the index of `axis`.
Status Executor::copyRow(const Site &to, int64_t axis, int64_t at,
                         const Site &from) {
  int64_t outer = 1, inner = 1;
  for (auto [number, extent] : llvm::enumerate(to.shape))
    if (static_cast<int64_t>(number) < axis)
      outer *= extent;
    else if (static_cast<int64_t>(number) > axis)
      inner *= extent;
  if (at < 0 || at >= to.shape[axis])
    return Status::error(
        fmt::format("writes row {} of {}", at, to.shape[axis]));
  for (int64_t row = 0; row < outer; ++row)
    if (Status status = copy(to, from, (row * to.shape[axis] + at) * inner,
                             row * inner, inner);
        status.failed())
      return status;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// Copies what a product reads of a factor into its packed form; `isExact`:
/// and nothing else.
Status Executor::packFactor(ReadOp factor, MemoryState &memory, size_t example,
                            bool isExact) {
  Site from = siteOf(factor.getArray(), example), to;
  to.memory = &memory;
  to.cells = &memory.of(example);
  to.example = example;
  to.shape = from.shape;
  auto op = factor->getParentOfType<ComputeOp>();
  auto product = op->getAttrOfType<attn::ProductAttr>("attn.product");
  if (!isExact || !product)
    return copy(to, from);
  // All places of the indices that the factor depends on.
  SmallVector<unsigned> numbers(product.getColumns());
  llvm::append_range(numbers, product.getTerms());
  std::vector<int64_t> extents;
  int64_t count = 1;
  for (unsigned index : numbers) {
    extents.push_back(examples[example].lengths.sizeOf(op.getExtents()[index]));
    count *= extents.back();
  }
  SmallVector<int64_t> indices(op.getNumIndices());
  std::vector<bool> isCopied(from.count());
  auto lastColumn = static_cast<size_t>(product.getColumns().size());
  for (int64_t number = 0; number < count; ++number) {
    SmallVector<int64_t> places = reference::indicesOf(number, extents);
    int64_t column = 0;
    for (auto [i, index] : llvm::enumerate(numbers)) {
      indices[index] = places[i];
      if (i < lastColumn)
        column = column * extents[i] + places[i];
    }
    if (column < product.getRange().from.value_or(0) ||
        column >= product.getRange().to.value_or(INT64_MAX))
      continue;
    int64_t offset = 0;
    bool isOutside = false;
    for (auto [index, extent] :
         llvm::zip_equal(factor.getIndices(), from.shape)) {
      int64_t place = 0;
      if (Status status = scalarIn(index, indices, example, place);
          status.failed())
        return status;
      isOutside |= place < 0 || place >= extent;
      offset = offset * extent + place;
    }
    if (isOutside || isCopied[offset])
      continue;
    isCopied[offset] = true;
    if (Status status = copy(to, from, offset, offset, 1); status.failed())
      return status;
  }
  return Status::success();
}

/// Whether an op reads the packed form that `reader` reads.
static bool sharesPack(Operation *op, ComputeOp reader) {
  ArrayLocationAttr own = memoryIn(op, attn::packedName);
  return own && own == memoryIn(reader, attn::packedName);
}

Status Executor::pack(RunOp run, bool isExact) {
  for (Value written : run.getWrites()) {
    MemoryState &memory = *memories[written.getAsOpaquePointer()];
    ReadOp factor = factorOf.lookup(memory.op.getMemory().value_or(-1));
    auto reader = factor ? factor->getParentOfType<ComputeOp>() : ComputeOp();
    if (!factor || (isExact && !sharesPack(ops[run.getNumber()], reader)))
      return Status::error(
          fmt::format("'{}' is not a factor of the op", memory.name()));
    accesses.enter(0);
    for (size_t example = 0; example < memory.rows.size(); ++example)
      if (takesPart(ops[run.getNumber()], example))
        if (Status status = packFactor(factor, memory, example, isExact);
            status.failed())
          return status;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Zeros and lists
//===----------------------------------------------------------------------===//

/// Zeros outside of a product's columns, or all of a scatter.
Status Executor::clear(RunOp run, ComputeOp op) {
  auto product = op->getAttrOfType<attn::ProductAttr>("attn.product");
  int64_t left =
      run.getUnits() == Units::rows ? number(run.getCount()) : INT64_MAX;
  std::vector<size_t> order = examplesAround(op);
  if (!isOfEach(op))
    order.resize(1);
  for (size_t example : order) {
    Site site = siteOf(op.getResult(), example);
    int64_t width = site.shape.empty() ? 1 : site.shape.back();
    accesses.enter(static_cast<int64_t>(example));
    for (int64_t offset = 0; offset < site.count(); ++offset) {
      int64_t column = offset % width;
      bool isComputed = product &&
                        column >= product.getRange().from.value_or(0) &&
                        column < product.getRange().to.value_or(width);
      if (isComputed || offset / width >= left)
        continue;
      if (Status status = accesses.write(site, offset, {}, /*isDefined=*/true);
          status.failed())
        return status;
    }
    left -= std::min(left, width == 0 ? 0 : site.count() / width);
  }
  return Status::success();
}

/// The list of a scatter's terms: `scatter` makes it, and `link` links it.
Status Executor::scatterLists(RunOp run, ComputeOp op) {
  ArrayLocationAttr location = memoryIn(op, attn::listName);
  if (!location)
    return noSuchWork(op);
  bool links = run.getWork() == Work::link;
  for (size_t example = 0; example < examples.size(); ++example) {
    accesses.enter(static_cast<int64_t>(example));
    if (links)
      if (Status status = checkList(op, example, listedTerms); status.failed())
        return status;
    if (Status status = accesses.write(siteIn(location, example, {1}), 0,
                                       {links ? linkedTerms : listedTerms, 0},
                                       /*isDefined=*/true);
        status.failed())
      return status;
  }
  return Status::success();
}

Status Executor::where(RunOp run, ComputeOp op) {
  return forExamples(run, op, [&](size_t example) {
    bool isExcluded = false;
    if (Status status = excludes(op, {}, example, isExcluded); status.failed())
      return status;
    Site site = siteOf(op.getResult(), example);
    for (int64_t offset = 0; isExcluded && offset < site.count(); ++offset)
      if (Status status = accesses.write(site, offset, {}, /*isDefined=*/true);
          status.failed())
        return status;
    return Status::success();
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static int64_t numberAt(Value array) {
  ArrayLocationAttr location = attn::locationOf(array);
  return location && location.isMemory() ? location.getNumber() : -1;
}

static bool isCarriedInRows(Value carry) {
  ArrayLocationAttr location = attn::locationOf(carry);
  return location && location.getKind() == attn::LocationKind::carry;
}

Status Executor::start(RunOp run, ScanOp op) {
  return forExamples(run, op, [&](size_t example) {
    for (unsigned i = 0; i < op.getNumCarries(); ++i)
      if (!isCarriedInRows(op.getCarry(i)))
        if (Status status = copy(siteOf(op.getCarry(i), example),
                                 siteOf(op.getInits()[i], example));
            status.failed())
          return status;
    return Status::success();
  });
}

Status Executor::commit(RunOp run, ScanOp op) {
  Operation *yield = op.getBody().front().getTerminator();
  auto swaps = op->getAttrOfType<ArrayAttr>(attn::swapsName);
  auto swapOf = [&](unsigned i) {
    return swaps ? dyn_cast<ArrayLocationAttr>(swaps[i]) : ArrayLocationAttr();
  };
  auto isCommitted = [&](unsigned i) {
    return !isCarriedInRows(op.getCarry(i)) &&
           op.getNext(i) != Value(op.getCarry(i)) &&
           numberAt(op.getNext(i)) != numberAt(op.getCarry(i));
  };
  auto isInPlace = [&](unsigned i) {
    ArrayLocationAttr location = attn::locationOf(op.getStackedValue(i));
    return location && location.isRow() &&
           location.getNumber() == numberAt(op.getStacked(i));
  };
  return forExamples(run, yield, [&](size_t example) {
    int64_t index = examples[example].indices.lookup(op.getLoopIndex());
    auto unit = static_cast<int64_t>(example);
    for (unsigned i = 0; i < op.getNumStacked(); ++i)
      if (!isInPlace(i))
        if (Status status =
                copyRow(siteOf(op.getStacked(i), example), op.getAxes()[i],
                        index, siteOf(op.getStackedValue(i), example));
            status.failed())
          return status;
    accesses.enter(unit, /*member=*/1);
    for (unsigned i = 0; i < op.getNumCarries(); ++i)
      if (swapOf(i) && isCommitted(i)) {
        Site from = siteOf(op.getNext(i), example);
        if (Status status = copy(siteIn(swapOf(i), example, from.shape), from);
            status.failed())
          return status;
      }
    accesses.enter(unit, /*member=*/2);
    for (unsigned i = 0; i < op.getNumCarries(); ++i) {
      if (!isCommitted(i))
        continue;
      Site to = siteOf(op.getCarry(i), example);
      Site from = swapOf(i) ? siteIn(swapOf(i), example, to.shape)
                            : siteOf(op.getNext(i), example);
      if (Status status = copy(to, from); status.failed())
        return status;
    }
    return Status::success();
  });
}

Status Executor::end(RunOp run, ScanOp op) {
  return forExamples(run, op, [&](size_t example) {
    for (unsigned i = 0; i < op.getNumCarries(); ++i)
      if (!op.getLast(i).use_empty())
        if (Status status = copy(siteOf(op.getLast(i), example),
                                 siteOf(op.getCarry(i), example));
            status.failed())
          return status;
    return Status::success();
  });
}

//===----------------------------------------------------------------------===//
// Array ops
//===----------------------------------------------------------------------===//

Status Executor::concat(attn::ConcatOp op, size_t example) {
  Site to = siteOf(op.getResult(), example);
  int64_t width = to.shape.back(), before = 0;
  for (Value part : op.getParts()) {
    Site from = siteOf(part, example);
    int64_t own = from.shape.back();
    for (int64_t row = 0; own > 0 && row < from.count() / own; ++row)
      if (Status status = copy(to, from, row * width + before, row * own, own);
          status.failed())
        return status;
    before += own;
  }
  return Status::success();
}

Status Executor::append(attn::AppendOp op, size_t example) {
  int64_t at = 0;
  if (Status status = scalarIn(op.getAt(), {}, example, at); status.failed())
    return status;
  return copyRow(siteOf(op.getResult(), example), op.getAxis(), at,
                 siteOf(op.getRow(), example));
}
