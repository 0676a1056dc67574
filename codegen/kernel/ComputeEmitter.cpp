//===- ComputeEmitter.cpp - one equation as loops -------------------------===//

#include "codegen/kernel/ComputeEmitter.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/CommonFunctions.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using arith::CmpIPredicate;

ComputeEmitter::ComputeEmitter(KernelBuilder &builder,
                               const StorageMap &storage, ComputeOp op,
                               unsigned lanes, ArrayRef<unsigned> given)
    : builder(builder), storage(storage), op(op), lanes(lanes),
      along(vectorIndex(
          op,
          [&](unsigned number) { return !llvm::is_contained(given, number); })),
      scattered(scatteredBy(op)) {
  unsigned last = op.getNumParallel() - 1;
  if (scattered &&
      (along != static_cast<int>(last) || scattered->index == last))
    along = -1;
  if (along < 0 && !scattered && lanes != 0 && !builder.team() &&
      !llvm::is_contained(given, last))
    turned = findTurned(op);
  if (turned)
    along = last;
  if (along < 0)
    this->lanes = 0;
  else if (!isParallel(along))
    this->lanes = partialResults;
  // Threads replace lanes: each has one element at a time.
  if (builder.team())
    this->lanes = 0;
  indices.resize(op.getNumIndices());
}

ComputeEmitter::ComputeEmitter(KernelBuilder &builder,
                               const StorageMap &storage,
                               ArrayRef<ComputeOp> ops, unsigned lanes,
                               ArrayRef<unsigned> given)
    : ComputeEmitter(builder, storage, ops.front(), lanes, given) {
  auto same = llvm::to_vector(llvm::seq(op.getNumIndices()));
  for (ComputeOp twin : ops.drop_front())
    twins.push_back({twin, commonOps(op, twin, same)});
  // Values shared by several sums are evaluated element by element.
  if (turned && !twins.empty()) {
    turned = {};
    along = -1;
    this->lanes = 0;
  }
}

bool ComputeEmitter::isParallel(int number) {
  return number >= 0 && number < static_cast<int>(op.getNumParallel());
}

int ComputeEmitter::rangeIndex() {
  if (scattered || op.getNumParallel() == 1)
    return op.getNumParallel() - 1;
  return -1;
}

void ComputeEmitter::emit(const Place &at, ArrayRef<Value> places) {
  place = at;
  given.assign(places.begin(), places.end());
  rangeBegin = rangeEnd = nullptr;
  emitAll();
}

void ComputeEmitter::emitRange(const Place &at, Value begin, Value end) {
  place = at;
  given.clear();
  rangeBegin = begin;
  rangeEnd = end;
  emitAll();
}

/// The indices that the condition involves, as bits.
static uint64_t conditionIndices(ComputeOp op) {
  return dependence(op.getCondition().front().getTerminator()->getOperand(0));
}

/// The number of leading indices that decide the condition; none if threads of
/// a team, which stay together, or lanes would differ. The terms of a scatter
/// come before their rows.
std::optional<unsigned> ComputeEmitter::decidingIndices() {
  if (!op.hasCondition() || isDecided || scattered)
    return std::nullopt;
  uint64_t needs = conditionIndices(op);
  unsigned leading = llvm::bit_width(needs);
  if ((along >= 0 && needs >> along & 1) || (leading != 0 && builder.team()))
    return std::nullopt;
  return leading;
}

/// The same if these are parallel indices, and a result is zero where the
/// condition does not hold.
bool ComputeEmitter::isDecidedAt(unsigned number) {
  bool isZero =
      op.getReducer() == Reducer::none || op.getReducer() == Reducer::sum;
  bool isVectorBefore = isParallel(along) && unsigned(along) < number;
  return isZero && !isVectorBefore && batchOf(op) != BatchKind::sum &&
         decidingIndices() == number;
}

/// The condition, which the indices that are known decide.
Value ComputeEmitter::decided() {
  auto at = indices;
  for (auto [number, index] : llvm::enumerate(at))
    if (!index.base) {
      assert(!(conditionIndices(op) >> number & 1) &&
             "the condition involves no other index");
      index = {builder.number(0)};
    }
  return BodyEmitter(builder, storage, place, 0)
      .emit(op.getCondition(), at, nullptr, nullptr);
}

void ComputeEmitter::emitAll() {
  if (scattered)
    emitScatter();
  else
    emitParallel(0);
}

/// The places from parallel index `number` on: zeros if the condition, which
/// the indices before it decide, does not hold.
void ComputeEmitter::emitDecided(unsigned number) {
  Value holds = decided();
  llvm::SaveAndRestore known(isDecided, true);
  builder.branch(
      holds, [&] { emitParallel(number); }, [&] { emitZeros(number); });
}

/// Writes zeros at all places from parallel index `number` on.
void ComputeEmitter::emitZeros(unsigned number) {
  SmallVector<Value> results;
  if (!op.getPartial())
    results.push_back(op.getResult());
  for (const Twin &twin : twins)
    if (!ComputeOp(twin.op).getPartial())
      results.push_back(ComputeOp(twin.op).getResult());
  if (results.empty())
    return;
  auto clear = [&](Value count) {
    auto at = ArrayRef(indices).take_front(op.getNumParallel());
    for (Value result : results)
      builder.clear(storage.elementOf(op.getElementType()),
                    resultAddress(at, result), count);
  };
  if (number == op.getNumParallel())
    return clear(builder.number(1));
  Value first, last;
  if (number < given.size() && given[number]) {
    first = given[number];
    last = builder.add(first, builder.number(1));
  } else {
    std::tie(first, last) = boundsOf(number);
  }
  if (number + 1 == op.getNumParallel()) {
    indices[number] = {first};
    return clear(builder.sub(last, first));
  }
  builder.loop(first, last, builder.number(1), [&](Value index) {
    indices[number] = {index};
    emitZeros(number + 1);
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Returns whether one place of the index is fixed.
bool ComputeEmitter::isFixed(unsigned number) {
  return indices[number].base && indices[number].isUniform();
}

/// The part of `first` .. `last`-1 that the conditions on index `number` allow.
/// It does not end before it begins: vectors rely on that.
std::pair<Value, Value> ComputeEmitter::narrow(unsigned number, Value first,
                                               Value last) {
  Value begin = first, end = last;
  for (const Guard &guard : guardsOf(op)) {
    if (guard.lhs == number && guard.rhs != number && isFixed(guard.rhs))
      end = builder.min(end, builder.add(indices[guard.rhs].base,
                                         builder.number(guard.offset + 1)));
    if (guard.rhs == number && guard.lhs != number && isFixed(guard.lhs))
      begin = builder.max(begin, builder.sub(indices[guard.lhs].base,
                                             builder.number(guard.offset)));
  }
  begin = builder.min(begin, last);
  return {begin, builder.max(begin, end)};
}

/// The range of index `number`. Ranges of a reduction stop where the condition
/// excludes the rest.
std::pair<Value, Value> ComputeEmitter::boundsOf(unsigned number) {
  BodyEmitter values(builder, storage, place, 0);
  Value last = values.extent(op.getExtents()[number], [&](StringRef parent) {
    // The nearest preceding one is its parent.
    for (unsigned before = number; before-- > 0;)
      if (extentText(op.getExtents()[before]) == parent &&
          indices[before].base && indices[before].isUniform())
        return indices[before].base;
    return Value();
  });
  if (isParallel(number)) {
    if (static_cast<int>(number) == rangeIndex() && rangeBegin)
      return {rangeBegin, rangeEnd};
    return {builder.number(0), last};
  }
  Value first = builder.number(op.getLower()[number]);
  if (op.isNormaliser())
    return {first, last};
  std::tie(first, last) = narrow(number, first, last);
  for (const Equality &equality : equalitiesOf(op)) {
    if (equality.index != number)
      continue;
    uint64_t needs = dependence(equality.value);
    bool known = true;
    for (unsigned other = 0; other < op.getNumIndices(); ++other)
      if (needs >> other & 1)
        known &= other != number && isFixed(other);
    if (!known)
      continue;
    Value at = values.emitValue(op.getCondition(), equality.value, indices);
    first = builder.max(first, at);
    last = builder.min(last, builder.add(at, builder.number(1)));
  }
  // The range may be empty but not negative: vectors rely on
  // that.
  return {first, builder.max(first, last)};
}

/// Calls `step` for every element `first` .. `last`-1 of index `number`, in
/// vectors while there are lanes; the last vector may have a tail.
ComputeEmitter::Values ComputeEmitter::forVectors(unsigned number, Value first,
                                                  Value last, Values carried,
                                                  Step step) {
  auto stepAt = [&](Value at, Value tail, Values carried) {
    indices[number] = {at, lanes ? 1 : 0};
    return step(lanes, tail, carried);
  };
  if (!lanes)
    return builder.share(first, last, carried,
                         [&](Value at, ValueRange carried) {
                           return stepAt(at, nullptr, Values(carried));
                         });
  Value count = builder.sub(last, first);
  auto constant = count.getDefiningOp<arith::ConstantOp>();
  int64_t known =
      constant ? cast<IntegerAttr>(constant.getValue()).getInt() : -1;
  Value middle = last;
  if (known < 0)
    middle = builder.add(
        first, builder.create<arith::AndIOp>(
                   count, builder.number(-static_cast<int64_t>(lanes))));
  else
    middle = builder.add(first, builder.number(known / lanes * lanes));
  if (known < 0 || known >= lanes)
    carried = builder.loop(first, middle, builder.number(lanes), carried,
                           [&](Value at, ValueRange carried) {
                             return stepAt(at, nullptr, Values(carried));
                           });
  if (known >= 0 && known % lanes == 0)
    return carried;
  auto doTail = [&] {
    Value tail = builder.maskBelow(builder.sub(last, middle), lanes);
    return stepAt(middle, tail, carried);
  };
  if (known >= 0)
    return doTail();
  return builder.chooseAll(builder.compare(CmpIPredicate::slt, middle, last),
                           doTail, [&] { return carried; });
}

void ComputeEmitter::emitParallel(unsigned number) {
  if (isDecidedAt(number))
    return emitDecided(number);
  if (number == op.getNumParallel())
    return emitElements();
  if (number < given.size() && given[number]) {
    indices[number] = {given[number]};
    return emitParallel(number + 1);
  }
  if (static_cast<int>(number) == along)
    return emitParallel(number + 1);
  auto [first, last] = boundsOf(number);
  auto emitAt = [&](Value index) {
    indices[number] = {index};
    emitParallel(number + 1);
  };
  // In a team, each thread has its own places, or each group if threads share
  // the work of one place.
  if (along < 0)
    builder.share(first, last, emitAt);
  else
    builder.shareInGroups(first, last, emitAt);
}

/// The elements at one place of all parallel indices except the vectorised
/// one.
void ComputeEmitter::emitElements() {
  const Team *team = builder.team();
  if (team && along < 0)
    return builder.alone([&] { emitElements(); });
  if (team && team->group && !isParallel(along))
    return builder.inFirstGroup([&] { emitElements(); });
  if (op.getReducer() == Reducer::cumsum)
    return emitCumulative();
  if (op.isNormaliser())
    return emitNormaliser();
  auto emitAt = [&](unsigned width, Value tail) {
    storeAll(reduced(width, tail), tail);
  };
  if (!isParallel(along))
    return emitAt(along < 0 ? 0 : lanes, nullptr);
  auto [first, last] = boundsOf(along);
  if (op.getReducer() == Reducer::none && op.hasCondition())
    std::tie(first, last) = narrowResult(along, first, last);
  if (turned) {
    forVectors(along, first, last, {},
               [&, last = last](unsigned, Value tail, Values) {
                 storeAll({emitTurned(tail, last)}, tail);
                 return Values();
               });
    return;
  }
  if (lanes && readsRows())
    first = emitBlocks(first, last);
  forVectors(along, first, last, {}, [&](unsigned width, Value tail, Values) {
    emitAt(width, tail);
    return Values();
  });
}

/// The same for the last index of a result that is zero elsewhere: writes these
/// zeros.
std::pair<Value, Value> ComputeEmitter::narrowResult(unsigned number,
                                                     Value first, Value last) {
  auto [begin, end] = narrow(number, first, last);
  if (begin == first && end == last)
    return {first, last};
  Type type = storage.elementOf(op.getElementType());
  auto clear = [&](Value from, Value to) {
    if (from == to)
      return;
    indices[number] = {from};
    builder.clear(type, resultAddress(ArrayRef(indices).take_front(number + 1)),
                  builder.sub(to, from));
  };
  clear(first, begin);
  clear(end, last);
  return {begin, end};
}

/// Returns whether a sum runs over rows that are split among vectors.
bool ComputeEmitter::readsRows() {
  if (op.getReducer() == Reducer::none)
    return batchOf(op) == BatchKind::sum;
  return op.getReducer() == Reducer::sum || op.getReducer() == Reducer::mean;
}

/// Sums several neighbouring vectors at once, so that each row is read in whole
/// cache lines, sequentially. Every element keeps its own chain. Returns the
/// start of the remaining elements.
Value ComputeEmitter::emitBlocks(Value first, Value last) {
  // The same number of accumulators, whatever they belong to.
  const int64_t vectors = std::max<int64_t>(8 / (1 + twins.size()), 1);
  Value size = builder.number(vectors * lanes);
  Value count = builder.div(builder.sub(last, first), size);
  Value middle = builder.add(first, builder.mul(count, size));
  builder.loop(first, middle, size,
               [&](Value at) { emitBlock(at, Values(vectors)); });
  // Function evaluations dominate here, not the latency of sums.
  if (hasCostlyFunction(op))
    return middle;
  // A single remaining vector needs no block.
  Value rest = builder.sub(last, middle);
  auto tailOf = [&](int64_t vector) {
    Value before = builder.number(vector * lanes);
    return builder.maskBelow(builder.sub(rest, before), lanes);
  };
  if (auto constant = rest.getDefiningOp<arith::ConstantOp>()) {
    int64_t known = cast<IntegerAttr>(constant.getValue()).getInt();
    if (known <= lanes)
      return middle;
    Values tails(llvm::divideCeil(known, lanes));
    if (known % lanes != 0)
      tails.back() = tailOf(tails.size() - 1);
    emitBlock(middle, tails);
    return last;
  }
  Value isBlock = builder.less(builder.number(lanes), rest);
  builder.branch(isBlock, [&] {
    Values tails;
    for (int64_t vector = 0; vector < vectors; ++vector)
      tails.push_back(tailOf(vector));
    emitBlock(middle, tails);
  });
  return builder.select(isBlock, last, middle);
}

/// Neighbouring vectors from `at` on, with the existing lanes in `tails`; null:
/// all.
void ComputeEmitter::emitBlock(Value at, ArrayRef<Value> tails) {
  Reducer reducer =
      op.getReducer() == Reducer::mean ? Reducer::mean : Reducer::sum;
  auto select = [&](int64_t vector) {
    indices[along] = {builder.add(at, builder.number(vector * lanes)), 1};
  };
  Values carried;
  for (size_t vector = 0; vector < tails.size(); ++vector)
    llvm::append_range(carried, initial(reducer, lanes));
  size_t each = carried.size() / tails.size();
  auto element = [&](unsigned, Value, Values carried) {
    Values next;
    for (auto [vector, tail] : llvm::enumerate(tails)) {
      select(vector);
      Values own(ArrayRef(carried).slice(vector * each, each));
      llvm::append_range(next, reduce(reducer, lanes, tail, own, nullptr));
    }
    return next;
  };
  carried = batchOf(op) == BatchKind::sum
                ? overExamples(carried, element)
                : overReductions(op.getNumParallel(), carried, element);
  for (auto [vector, tail] : llvm::enumerate(tails)) {
    select(vector);
    Values own(ArrayRef(carried).slice(vector * each, each));
    storeAll(combineAll(reducer, own), tail);
  }
}

Value ComputeEmitter::resultAddress(ArrayRef<Index> at, Value array) {
  BodyEmitter values(builder, storage, place, lanes);
  const Storage &result = storage.of(array);
  Index offset = values.offset(result, at);
  return builder.at(storage.elementOf(result.type.getElementType()),
                    values.base(result), offset.base);
}

/// Stores the results of the equation, and its twins, at the current indices.
void ComputeEmitter::storeAll(ArrayRef<Value> results, Value tail) {
  storeOne(op, results[0], tail);
  for (auto [twin, result] : llvm::zip_equal(twins, results.drop_front()))
    storeOne(twin.op, result, tail);
}

void ComputeEmitter::storeOne(ComputeOp of, Value value, Value tail) {
  auto at = ArrayRef(indices).take_front(op.getNumParallel());
  Type element = storage.elementOf(of.getElementType());
  builder.storeAs(element, value, resultAddress(at, of.getResult()), tail);
  const Storage *copy = storage.storedCopyOf(of);
  if (!copy)
    return;
  BodyEmitter values(builder, storage, place, lanes);
  const Storage &result = storage.of(of.getResult());
  Value row = builder.add(values.placesBefore(result), at[0].base);
  Value column = builder.number(0);
  for (auto [axis, index] : llvm::enumerate(at))
    if (axis != 0)
      column = builder.add(
          builder.mul(column, values.extent(result.type.getExtent(axis))),
          index.base);
  builder.copies()->store(builder, value,
                          builder.pointerSlot(place.frame, copy->slot), row,
                          column, numbersIn(result.type));
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Whether an element counts: a scalar, a vector, or null for always.
Value ComputeEmitter::condition(unsigned width, Value tail) {
  Value holds;
  BodyEmitter values(builder, storage, place, width);
  for (unsigned i = 0; i < op.getNumParallel(); ++i) {
    if (op.getLower()[i] == 0)
      continue;
    Value at = values.materialise(indices[i]);
    holds = builder.both(
        holds, builder.compare(CmpIPredicate::sge, at,
                               builder.splat(builder.number(op.getLower()[i]),
                                             lanesOf(at))));
  }
  if (!op.hasCondition() || isDecided)
    return holds;
  Value given;
  if (!holds || !lanesOf(holds)) {
    auto emitCondition = [&](Value guard) {
      return values.emit(op.getCondition(), indices, tail, guard);
    };
    if (!holds)
      return emitCondition(nullptr);
    return builder.choose(
        holds, [&] { return emitCondition(nullptr); },
        [&] { return builder.truth(false); });
  }
  given = values.emit(op.getCondition(), indices, tail, holds);
  return builder.both(holds, given);
}

Value ComputeEmitter::body(unsigned width, Value tail, Value guard) {
  BodyEmitter values(builder, storage, place, width);
  return values.emit(op.getBody(), indices, tail, guard);
}

/// The element, or vector of elements, at the current parallel indices, of the
/// equation and of each twin.
ComputeEmitter::Values ComputeEmitter::reduced(unsigned width, Value tail) {
  Reducer reducer = op.getReducer();
  bool isSum = batchOf(op) == BatchKind::sum;
  if (reducer == Reducer::none && !isSum) {
    Value holds = condition(width, tail);
    Type type = storage.elementOf(op.getYielded().getType());
    if (!holds)
      return {builder.splat(body(width, tail, nullptr), width)};
    if (!lanesOf(holds))
      return {
          builder.splat(builder.choose(
                            holds, [&] { return body(width, tail, nullptr); },
                            [&] { return builder.constant(type, 0); }),
                        width)};
    return {builder.select(holds, body(width, tail, holds),
                           builder.constant(type, 0))};
  }
  if (reducer == Reducer::none)
    reducer = Reducer::sum;
  auto run = [&](Reducer reducer, Value shift) {
    auto element = [&](unsigned width, Value tail, Values carried) {
      return reduce(reducer, width, tail, carried, shift);
    };
    // Without a reduction index of its own, a vector runs along the result.
    bool inLanes = along >= 0 && !isParallel(along);
    if (!inLanes) {
      auto whole = [&](unsigned, Value, Values carried) {
        return element(width, tail, carried);
      };
      return isSum ? overExamples(initial(reducer, width), whole)
                   : overReductions(op.getNumParallel(),
                                    initial(reducer, width), whole);
    }
    Values carried = isSum ? overExamples(initial(reducer, width), element)
                           : overReductions(op.getNumParallel(),
                                            initial(reducer, width), element);
    return joinLanes(reducer, carried);
  };
  if (reducer != Reducer::logsumexp)
    return combineAll(reducer, run(reducer, nullptr));
  Values largest = run(Reducer::max, nullptr);
  Value shift = largest[0];
  Values sum = run(Reducer::logsumexp, shift);
  Value result =
      builder.create<arith::AddFOp>(shift, builder.create<math::LogOp>(sum[0]));
  // The difference of two infinities, in the sum, is NaN.
  Value isInfinite = builder.create<arith::CmpFOp>(
      arith::CmpFPredicate::OEQ, builder.create<math::AbsFOp>(shift),
      builder.constant(shift.getType(),
                       std::numeric_limits<double>::infinity()));
  result = builder.select(isInfinite, shift, result);
  return {builder.select(largest[1], result,
                         builder.constant(result.getType(), 0))};
}

/// Where the elements along vectors begin, if the first that may count is
/// `first`. Another index, or the example, may move that: each element still
/// belongs to the same partial result. Elements before `first` do not count.
Value ComputeEmitter::alignLanes(Value first) {
  bool isOneRun = op.getNumReduction() == 1 && batchOf(op) != BatchKind::sum;
  if (isOneRun || first.getDefiningOp<arith::ConstantOp>())
    return first;
  Value from = builder.sub(first, builder.number(op.getLower()[along]));
  return builder.sub(first, builder.create<arith::AndIOp>(
                                from, builder.number(partialResults - 1)));
}

/// Loops over the reduction indices from `number` on; the vectorised one is
/// innermost.
ComputeEmitter::Values
ComputeEmitter::overReductions(unsigned number, Values carried, Step element) {
  // What a condition excludes takes no part, whatever the reducer.
  if (number > op.getNumParallel() && number < op.getNumIndices() &&
      decidingIndices() == number) {
    Value holds = decided();
    llvm::SaveAndRestore known(isDecided, true);
    return builder.chooseAll(
        holds, [&] { return overReductions(number, carried, element); },
        [&] { return carried; });
  }
  if (number == op.getNumIndices()) {
    if (along < 0 || isParallel(along))
      return element(0, nullptr, carried);
    auto [first, last] = boundsOf(along);
    return forVectors(along, alignLanes(first), last, carried, element);
  }
  if (static_cast<int>(number) == along)
    return overReductions(number + 1, carried, element);
  auto [first, last] = boundsOf(number);
  Values results = builder.loop(first, last, builder.number(1), carried,
                                [&](Value index, ValueRange carried) {
                                  indices[number] = {index};
                                  return overReductions(
                                      number + 1, Values(carried), element);
                                });
  indices[number] = {};
  return results;
}

ComputeEmitter::Values ComputeEmitter::overExamples(Values carried,
                                                    Step element) {
  Value batch = builder.slot(place.frame, runtime::Program::batchSlot);
  return builder.loop(builder.number(0), batch, builder.number(1), carried,
                      [&](Value example, ValueRange carried) {
                        llvm::SaveAndRestore here(place.example, example);
                        return overReductions(op.getNumParallel(),
                                              Values(carried), element);
                      });
}
