//===- Turned.cpp - chains along the rows that they read ------------------===//
//
// The scores of a step, `sum[k](q[k] * key[u,k])`: each is one chain along k,
// along which the keys are contiguous, and neighbours along u are a row apart.
// So blocks of rows are transposed in registers: lane i of the addends belongs
// to row u + i, and every lane keeps the order of its own chain.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/ComputeEmitter.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

ReadOp ComputeEmitter::findTurned(ComputeOp op) {
  OrderAttr order = op.getOrderAttr();
  unsigned term = op.getNumParallel(), last = term - 1;
  if (!order || !order.isChain() || op.getReducer() != Reducer::sum ||
      !op.getElementType().isF64() || batchOf(op) == BatchKind::sum ||
      term == 0 || op.getNumReduction() != 1 || !startsAtZero(op) ||
      !isa<IntegerAttr>(op.getExtents()[term]) || op.getNumIndices() >= 64)
    return {};
  uint64_t lastBit = uint64_t(1) << last, termBit = uint64_t(1) << term;
  if (op.hasCondition() &&
      dependence(op.getCondition().front().getTerminator()->getOperand(0)) &
          termBit)
    return {};
  ReadOp found;
  for (Operation &inner : op.getBody().front().without_terminator()) {
    auto read = dyn_cast<ReadOp>(inner);
    if (!read) {
      // A branch may read anything.
      if (inner.getNumRegions() != 0)
        return {};
      continue;
    }
    uint64_t needs = 0;
    for (Value index : read.getIndices())
      needs |= dependence(index);
    if (!(needs & lastBit))
      continue;
    if (found || !read.getAlternatives().empty() || read.getOtherwise())
      return {};
    found = read;
  }
  if (!found)
    return {};
  for (auto [axis, index] : llvm::enumerate(found.getIndices())) {
    bool isLast = axis + 1 == found.getIndices().size();
    AccessIndex place = classify(index, op);
    bool isAlong =
        place.kind == AccessIndex::Iterator && place.iterator == last &&
        place.offset == 0 &&
        found.getArrayType().getExtent(axis) == op.getExtents()[last];
    bool isTerm = place.kind == AccessIndex::Iterator &&
                  place.iterator == term && place.offset == 0;
    if (isLast ? !isTerm
               : !isAlong && (dependence(index) & (lastBit | termBit)))
      return {};
  }
  // No boundary value of another array replaces these reads.
  for (Operation &inner : op.getBody().front())
    if (auto other = dyn_cast<ReadOp>(inner);
        other && other != found && other.getArray() == found.getArray())
      return {};
  return found;
}

/// Transposes a square block of `rows`: log2 of their number times as many
/// shuffles, each within 128 bits or of whole ones.
static SmallVector<Value> turn(KernelBuilder &builder, SmallVector<Value> rows,
                               unsigned bits) {
  int64_t lanes = rows.size();
  auto shuffle = [&](Value a, Value b, function_ref<int64_t(int64_t)> from) {
    SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < lanes; ++lane)
      mask.push_back(from(lane));
    return Value(builder.create<vector::ShuffleOp>(a, b, mask));
  };
  int64_t block = 1;
  if (bits == 32 && lanes >= 4) {
    // Four by four within 128 bits.
    for (int64_t row = 0; row < lanes; row += 4) {
      auto unpack = [&](Value a, Value b, int64_t from) {
        return shuffle(a, b, [&](int64_t lane) {
          int64_t own = lane % 4;
          return lane - own + from + own / 2 + (own % 2) * lanes;
        });
      };
      auto pairs = [&](Value a, Value b, int64_t from) {
        return shuffle(a, b, [&](int64_t lane) {
          int64_t own = lane % 4;
          return lane - own + from + own % 2 + (own / 2) * lanes;
        });
      };
      Value a = unpack(rows[row], rows[row + 1], 0);
      Value b = unpack(rows[row], rows[row + 1], 2);
      Value c = unpack(rows[row + 2], rows[row + 3], 0);
      Value d = unpack(rows[row + 2], rows[row + 3], 2);
      rows[row] = pairs(a, c, 0);
      rows[row + 1] = pairs(a, c, 2);
      rows[row + 2] = pairs(b, d, 0);
      rows[row + 3] = pairs(b, d, 2);
    }
    block = 4;
  }
  for (; block < lanes; block *= 2)
    for (int64_t row = 0; row < lanes; ++row) {
      if (row & block)
        continue;
      Value a = rows[row], b = rows[row + block];
      rows[row] = shuffle(a, b, [&](int64_t lane) {
        return lane & block ? lanes + lane - block : lane;
      });
      rows[row + block] = shuffle(a, b, [&](int64_t lane) {
        return lane & block ? lanes + lane : lane + block;
      });
    }
  return rows;
}

/// The sums of one vector along the result. Those before `last` exist.
Value ComputeEmitter::emitTurned(Value tail, Value last) {
  unsigned term = op.getNumParallel();
  Index here = indices[along];
  const Storage &array = storage.of(turned.getArray());
  Type element = real();
  Type stored = storage.elementOf(array.type.getElementType());
  BodyEmitter values(builder, storage, place, 0);
  Value start = values.base(array);
  auto offsetOf = [&](Value row) {
    indices[along] = {row};
    indices[term] = {builder.number(0)};
    Value inside;
    return values.locate(op.getBody(), turned, indices, inside);
  };
  Value first = offsetOf(here.base);
  Value stride =
      builder.sub(offsetOf(builder.add(here.base, builder.number(1))), first);
  indices[along] = here;
  // Repeats the last one if there are no more.
  Value most = builder.sub(builder.sub(last, here.base), builder.number(1));
  Values rows;
  for (int64_t row = 0; row < lanes; ++row) {
    Value number = builder.number(row);
    if (tail)
      number = builder.min(number, most);
    rows.push_back(builder.add(first, builder.mul(number, stride)));
  }

  Place turnedPlace = place;
  auto addBlock = [&](Value from, int64_t count, Value sum) {
    Value mask = count == lanes
                     ? Value()
                     : builder.maskBelow(builder.number(count), lanes);
    SmallVector<Value> block;
    for (Value row : rows)
      block.push_back(builder.load(
          withLanes(stored, lanes),
          builder.at(stored, start, builder.add(row, from)), mask));
    block = turn(builder, block, element.getIntOrFloatBitWidth());
    for (int64_t number = 0; number < count; ++number) {
      indices[term] = {builder.add(from, builder.number(number))};
      turnedPlace.elements[turned.getArray()] = block[number];
      BodyEmitter body(builder, storage, turnedPlace, lanes);
      Values factors = body.emitFactors(op, indices, tail, nullptr);
      for (Value &factor : factors)
        factor = builder.splat(factor, lanes);
      if (factors.size() == 2)
        sum = addFactors(op, factors, sum);
      else
        sum = builder.create<arith::AddFOp>(sum, factors[0]);
    }
    return sum;
  };
  auto addAll = [&] {
    int64_t count = cast<IntegerAttr>(op.getExtents()[term]).getInt();
    int64_t whole = count / lanes * lanes;
    Values sums = initial(Reducer::sum, lanes);
    if (whole != 0)
      sums = builder.loop(builder.number(0), builder.number(whole),
                          builder.number(lanes), sums,
                          [&](Value from, ValueRange carried) -> Values {
                            return {addBlock(from, lanes, carried[0])};
                          });
    if (whole != count)
      sums = {addBlock(builder.number(whole), count - whole, sums[0])};
    return sums[0];
  };
  indices[term] = {};
  Value holds = condition(lanes, tail);
  Value zero = builder.constant(withLanes(element, lanes), 0);
  Value result;
  if (!holds)
    result = addAll();
  else if (!lanesOf(holds))
    result = builder.choose(holds, addAll, [&] { return zero; });
  else
    result = builder.select(holds, addAll(), zero);
  indices[term] = {};
  return result;
}
