//===- Kernels.cpp - runs that compute several equations ------------------===//

#include "dialect/launch-reference/Executor.h"

#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::launch;
using attn::ComputeOp;

Status Executor::kernel(RunOp run, attn::KernelOp op) {
  switch (op.getSchedule()) {
  case attn::Schedule::loop:
    for (ComputeOp member : op.getMembers())
      if (Status status = equation(run, member); status.failed())
        return status;
    return Status::success();
  case attn::Schedule::rows:
    return rows(run, op);
  case attn::Schedule::places:
    return places(run, op);
  case attn::Schedule::columns:
    return columns(run, op);
  case attn::Schedule::strips:
    return strips(run, op);
  }
  llvm_unreachable("every schedule is executed");
}

/// Arrays that exist only in part, for one unit: undefined.
Status Executor::enterWorkspace(attn::KernelOp op, size_t example) {
  workspace.clear();
  for (ComputeOp member : op.getMembers()) {
    attn::ArrayLocationAttr location = attn::locationOf(member.getResult());
    if (!location || location.isMemory())
      continue;
    if (!hasWorkspace)
      return Status::error("has no workspace for what it keeps there");
    int64_t size = 1;
    for (int64_t extent : shapeOf(member.getResult(), example))
      size *= extent;
    workspace.try_emplace(member.getResult(), size);
  }
  return Status::success();
}

Status Executor::rows(RunOp run, attn::KernelOp op) {
  auto execute = [&](Operation &member, size_t example) {
    if (auto concatOp = dyn_cast<attn::ConcatOp>(member))
      return concat(concatOp, example);
    if (auto appendOp = dyn_cast<attn::AppendOp>(member))
      return append(appendOp, example);
    auto compute = dyn_cast<ComputeOp>(member);
    return compute ? evaluate(compute, example, /*isChosen=*/nullptr)
                   : Status::success();
  };
  return forExamples(run, op.getMembers().front(), [&](size_t example) {
    for (auto [number, member] : llvm::enumerate(op.getBody().front())) {
      accesses.enter(static_cast<int64_t>(example),
                     static_cast<int32_t>(number));
      if (Status status = execute(member, example); status.failed())
        return status;
    }
    return Status::success();
  });
}

/// Consecutive parts of `0 .. extent-1`, cut at random, in random order.
std::vector<std::pair<int64_t, int64_t>> Executor::cut(int64_t extent) {
  std::vector<std::pair<int64_t, int64_t>> parts;
  for (int64_t from = 0; from < extent;) {
    int64_t to = std::min(extent, from + 1 + upTo(extent / 2));
    parts.push_back({from, to});
    from = to;
  }
  shuffle(parts);
  return parts;
}

/// Units are places of all examples, and each does all equations.
Status Executor::places(RunOp run, attn::KernelOp op) {
  SmallVector<ComputeOp> members = op.getMembers();
  std::vector<size_t> order = examplesAround(members.front());
  int64_t rows = 0;
  for (size_t example : order)
    rows += extentOf(*op.getOver(), example);
  if (run.getUnits() != Units::rows || number(run.getCount()) != rows)
    return wrongUnits(run);
  shuffle(order);
  int64_t unit = 0;
  for (size_t example : order)
    for (auto [from, to] : cut(extentOf(*op.getOver(), example))) {
      ++unit;
      auto isOfPart = [from = from, to = to](ArrayRef<int64_t> places) {
        return places.front() >= from && places.front() < to;
      };
      for (auto [number, member] : llvm::enumerate(members)) {
        accesses.enter(unit, static_cast<int32_t>(number));
        if (Status status = evaluate(member, example, isOfPart);
            status.failed())
          return status;
      }
    }
  return Status::success();
}

Status Executor::columns(RunOp run, attn::KernelOp op) {
  SmallVector<ComputeOp> members = op.getMembers();
  ComputeOp first = *llvm::find_if(members, [](ComputeOp member) {
    return !member->hasAttr("attn.product");
  });
  int64_t width = cast<IntegerAttr>(first.getExtents()[0]).getInt();
  if (run.getUnits() != Units::tiles || !run.getCount() ||
      scalar(run, 0) != number(run.getCount()))
    return wrongUnits(run);
  std::vector<size_t> order = examplesAround(first);
  int64_t count = number(run.getCount());
  if (count > static_cast<int64_t>(order.size()))
    return tooMany(count);
  order.resize(count);
  shuffle(order);
  int64_t unit = 0;
  for (size_t example : order)
    for (auto [from, to] : cut(width)) {
      ++unit;
      if (!takesPart(first, example, /*byRankToo=*/false))
        continue;
      if (Status status = enterWorkspace(op, example); status.failed())
        return status;
      for (auto [number, member] : llvm::enumerate(members)) {
        accesses.enter(unit, static_cast<int32_t>(number));
        auto isColumn = [&](ArrayRef<int64_t> places) {
          int64_t column = places.back() % width;
          return column >= from && column < to;
        };
        if (Status status = evaluate(member, example, isColumn);
            status.failed())
          return status;
      }
    }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> sharedBy(ComputeOp member) {
  return member->getAttrOfType<DenseI64ArrayAttr>("attn.shared").asArrayRef();
}

static bool sumsRows(ComputeOp member) {
  return sharedBy(member).back() >=
         static_cast<int64_t>(member.getNumParallel());
}

/// Rows `strip` of all members, or what adds up over the rows.
Status
Executor::computeStrip(attn::KernelOp op, size_t example, int64_t unit,
                       ArrayRef<int64_t> outer,
                       std::optional<std::pair<int64_t, int64_t>> strip) {
  for (auto [number, member] : llvm::enumerate(op.getMembers())) {
    if (sumsRows(member) == strip.has_value())
      continue;
    accesses.enter(unit, static_cast<int32_t>(number));
    ArrayRef<int64_t> shared = sharedBy(member);
    auto isChosen = [&](ArrayRef<int64_t> places) {
      for (auto [index, place] : llvm::zip(shared.drop_back(), outer))
        if (places[index] != place)
          return false;
      return !strip || (places[shared.back()] >= strip->first &&
                        places[shared.back()] < strip->second);
    };
    if (Status status = evaluate(member, example, isChosen); status.failed())
      return status;
  }
  return Status::success();
}

/// One place of the outer extents: strips are units of their own, unless a
/// member adds up over them.
Status Executor::placeOfStrips(attn::KernelOp op, size_t example, int64_t &unit,
                               ArrayRef<int64_t> outer) {
  bool isDivisible = llvm::none_of(op.getMembers(), sumsRows);
  llvm::DenseMap<Value, Cells> all;
  ++unit;
  for (auto strip : cut(extentOf(*op.getOver(), example))) {
    unit += isDivisible;
    if (Status status = enterWorkspace(op, example); status.failed())
      return status;
    if (Status status = computeStrip(op, example, unit, outer, strip);
        status.failed())
      return status;
    for (const auto &[array, cells] : workspace) {
      Cells &kept = all.try_emplace(array, cells.size()).first->second;
      for (int64_t at = 0; at < cells.size(); ++at)
        if (cells.defined[at]) {
          kept.set(at, cells.at(at));
          kept.defined[at] = true;
        }
    }
  }
  if (isDivisible)
    return Status::success();
  workspace = std::move(all);
  return computeStrip(op, example, unit, outer, std::nullopt);
}

Status Executor::strips(RunOp run, attn::KernelOp op) {
  ComputeOp first = op.getMembers().front();
  if (run.getUnits() != Units::strips || !run.getCount())
    return wrongUnits(run);
  int64_t places = 1;
  std::vector<int64_t> extents;
  if (ArrayAttr outer = op.getOuterAttr())
    for (Attribute extent : outer) {
      extents.push_back(cast<IntegerAttr>(extent).getInt());
      places *= extents.back();
    }
  int64_t count = number(run.getCount()), rows = 0;
  for (size_t example = 0; example < examples.size(); ++example)
    rows += extentOf(*op.getOver(), example);
  auto product = first->getAttrOfType<attn::ProductAttr>("attn.product");
  bool hasWeights = product && product.getKind() != attn::ProductKind::each;
  if (count != (hasWeights ? rows : static_cast<int64_t>(examples.size())))
    return wrongUnits(run);
  std::vector<size_t> order = examplesAround(first);
  shuffle(order);
  int64_t unit = 0;
  for (size_t example : order)
    for (int64_t place = 0; place < places; ++place)
      if (Status status = placeOfStrips(op, example, unit,
                                        reference::indicesOf(place, extents));
          status.failed())
        return status;
  return Status::success();
}
