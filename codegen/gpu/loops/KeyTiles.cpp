//===- KeyTiles.cpp - attention of some keys at a time --------------------===//
//
// A warp has 16 rows in registers, with their partial weighted sums. In the
// forward pass rows are queries, with the maximum score and the sum of
// exponentials of each; in the backward pass they are queries or keys. The
// block loads some keys, here the other side of all products, into shared
// memory, rounded to bf16. Pairs stay in registers between products: a
// thread's part of mma.sync's result is what it needs of the next left
// side.
//
// Rows do not mix, and tiles of keys begin at the first key: a row has the same
// bits in any batch.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/loops/KeyTiles.h"
#include "passes/analysis/Access.h"

#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

/// The value of an equation for a row and a key, given the values of other
/// members (`at.elements`). `counts`: whether its condition holds, null if it
/// does; not evaluated if all hold (`isWhole`).
Value StripEmitter::elementOf(ComputeOp op, Value row, Value key, Place &at,
                              bool isWhole, Value &counts) {
  const StripMember &member = memberOf(op);
  SmallVector<Index> indices = indicesOf(member, row);
  indices[member.product ? member.product->n : op.getNumIndices() - 1] = {key};
  Value condition;
  if (op.hasCondition() && !isWhole)
    condition = BodyEmitter(b, storage, at, 0)
                    .emit(op.getCondition(), indices, nullptr, nullptr);
  counts = condition;
  if (member.product)
    return at.elements.lookup(op.getResult());
  auto body = [&] {
    return BodyEmitter(b, storage, at, 0)
        .emit(op.getBody(), indices, nullptr, nullptr);
  };
  bool readsMemory = false;
  forArrays(*op, [&](Operation *, Value array) {
    readsMemory |= !at.elements.contains(array);
  });
  if (!condition || !readsMemory)
    return body();
  return b.choose(condition, body, [&] { return b.constant(real, 0); });
}

/// The larger of two; a NaN is lost here, but makes every exponential
/// NaN.
static Value larger(KernelBuilder &b, Value a, Value c) {
  return b.create<arith::MaxNumFOp>(a, c);
}

/// Multiplies `left`, four words per instruction, with the two right sides in
/// `right`, and adds to the sums of both.
static void multiplyTwo(KernelBuilder &b, ValueRange left,
                        ArrayRef<Value> right, MutableArrayRef<Value> sums) {
  for (size_t half = 0; half < 2; ++half) {
    MutableArrayRef<Value> own = sums.slice(4 * half, 4);
    llvm::copy(multiplyMatrices(b, left, right.slice(2 * half, 2), own),
               own.begin());
  }
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// The products of the keys `from` .. of an instruction.
PairProducts StripEmitter::multiplyKeys(const Rows &own, int64_t from) {
  Value zero = b.constant(real, 0);
  PairProducts products;
  for (ComputeOp op : attention->pairs) {
    auto words = own.words.find(op);
    if (words == own.words.end())
      continue;
    const KeySide &side = own.sides[attention->sideOf.lookup(op)];
    Values sums(2 * 4, zero);
    for (auto [number, left] : llvm::enumerate(words->second))
      multiplyTwo(b, left,
                  side.words(b, from, int64_t(number) * mmaTerms,
                             /*rowsAreTerms=*/false),
                  sums);
    products[op] = sums;
  }
  return products;
}

/// The values of `wanted` for the keys `key` + `from` .. of an instruction:
/// eight numbers of this thread, of two rows. For a missing key it is
/// `nothing`, and where a condition does not hold. `isWhole`: all keys are
/// there, and all conditions hold.
SmallVector<Values> StripEmitter::pairsAt(const Rows &own, Value key,
                                          int64_t from,
                                          const PairProducts &products,
                                          ArrayRef<ComputeOp> wanted,
                                          Value nothing, bool isWhole) {
  Value zero = b.constant(real, 0);
  // Per-key values that both rows read.
  Value keys[4], isKey[4];
  llvm::SmallDenseMap<Value, Value> ofKeys[4];
  for (int64_t i = 0; i < 4; ++i) {
    keys[i] = b.add(b.add(key, own.pair), num(from + i / 2 * 8 + i % 2));
    if (!isWhole) {
      isKey[i] = b.less(keys[i], own.numKeys);
      keys[i] = b.min(keys[i], b.sub(own.numKeys, num(1)));
    }
    auto place = static_cast<int32_t>(from + i / 2 * 8 + i % 2);
    for (const Known &known : own.known)
      if (known.isOfKey && !own.keyNumbers) {
        Value array = ReadOp(known.read).getArray();
        Value lane = b.add(own.pair, num(place % warpThreads));
        ofKeys[i][array] =
            valueOfLane(b, own.ofKeys.lookup(array)[place / warpThreads], lane);
      } else if (known.isOfKey) {
        Value address =
            b.create<LLVM::GEPOp>(own.keyNumbers.getType(), real, own.ofLane,
                                  ArrayRef<LLVM::GEPArg>{place});
        ofKeys[i][ReadOp(known.read).getArray()] =
            b.create<LLVM::LoadOp>(real, address);
        place += keysOfTile;
      }
  }
  SmallVector<Values> result(wanted.size());
  for (int64_t i = 0; i < 2 * 4; ++i) {
    int64_t ofKey = i / 4 * 2 + i % 2, ofRow = i % 4 / 2;
    Value row = b.add(own.first, own.rowsRead[ofRow]);
    Place here = place;
    for (const auto &known : {own.ofRows[ofRow], ofKeys[ofKey]})
      for (auto [array, value] : known)
        here.elements[array] = value;
    SmallVector<ComputeOp> ops(attention->pairs);
    if (attention->weights)
      ops.push_back(attention->weights);
    for (ComputeOp op : ops) {
      if (auto product = products.find(op); product != products.end())
        here.elements[op.getResult()] = product->second[i];
      Value holds;
      Value value = elementOf(op, row, keys[ofKey], here, isWhole, holds);
      here.elements[op.getResult()] =
          holds ? b.select(holds, value, zero) : value;
      const auto *at = llvm::find(wanted, op);
      if (at == wanted.end())
        continue;
      holds = b.both(isKey[ofKey], holds);
      result[at - wanted.begin()].push_back(
          holds ? b.select(holds, value, nothing) : value);
    }
  }
  return result;
}

/// Numbers of this thread in bf16, two per word.
Values StripEmitter::wordsOf(ValueRange pairs) {
  Values words;
  for (size_t i = 0; i < pairs.size(); i += 2)
    words.push_back(roundPair(b, pairs[i], pairs[i + 1]));
  return words;
}

/// Adds the weighted sums of the keys `from` .. of an instruction.
void StripEmitter::addRead(const Rows &own, ComputeOp read, int64_t from,
                           ValueRange pairs, MutableArrayRef<Value> sums) {
  const KeySide &side = own.sides[attention->sideOf.lookup(read)];
  Values words = wordsOf(pairs);
  for (int64_t column = 0; column < side.width; column += 2 * mmaColumns)
    multiplyTwo(b, words, side.words(b, from, column, /*rowsAreTerms=*/true),
                sums.slice(column / mmaColumns * 4, 8));
}

/// Reduces over this thread and the three others with the same row.
Value StripEmitter::ofRow(const Rows &own, Value value,
                          llvm::function_ref<Value(Value, Value)> join) {
  for (int64_t distance : {1, 2}) {
    Value other = b.create<arith::XOrIOp>(own.lane, num(distance));
    value = join(value, valueOfLane(b, value, other));
  }
  return value;
}

/// The scores for the keys of a tile; excluded ones are minus
/// infinity.
Values StripEmitter::scoresOf(const Rows &own, Value key, ProductsAt productsAt,
                              bool isWhole) {
  Value lowest = b.constant(real, -std::numeric_limits<double>::infinity());
  Values scores;
  for (int64_t from = 0; from < keysOfTile; from += keysAtOnce)
    llvm::append_range(scores, pairsAt(own, key, from, productsAt(from),
                                       {attention->weights}, lowest, isWhole)
                                   .front());
  return scores;
}

/// The state of the forward pass after these scores. Converts them to weights.
StripEmitter::Scores StripEmitter::addScores(const Rows &own,
                                             MutableArrayRef<Value> scores,
                                             ValueRange before) {
  Value lowest = b.constant(real, -std::numeric_limits<double>::infinity());
  Value zero = b.constant(real, 0);
  Value largest[2] = {lowest, lowest}, shift[2], total[2];
  Scores next;
  for (auto [number, score] : llvm::enumerate(scores)) {
    Value &most = largest[number % 4 / 2];
    most = larger(b, score, most);
  }
  for (int64_t i = 0; i < 2; ++i) {
    auto join = [&](Value a, Value c) { return larger(b, a, c); };
    Value most = larger(b, ofRow(own, largest[i], join), before[i]);
    next.state.push_back(most);
    // The difference of two infinities is NaN.
    Value isNothing =
        b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, most, lowest);
    shift[i] = b.select(isNothing, zero, most);
    next.factors[i] =
        b.create<math::ExpOp>(b.create<arith::SubFOp>(before[i], shift[i]));
    total[i] = b.create<arith::MulFOp>(before[2 + i], next.factors[i]);
  }
  for (auto [number, score] : llvm::enumerate(scores)) {
    auto i = int64_t(number) % 4 / 2;
    // For minus infinity it is 0.
    score = b.create<math::ExpOp>(b.create<arith::SubFOp>(score, shift[i]));
    total[i] = b.create<arith::AddFOp>(total[i], score);
  }
  next.state.append({total[0], total[1]});
  return next;
}

void StripEmitter::scale(const Scores &scores, MutableArrayRef<Value> sums) {
  for (auto [number, sum] : llvm::enumerate(sums))
    sum = b.create<arith::MulFOp>(sum, scores.factors[number % 4 / 2]);
}

Values StripEmitter::addWeights(const Rows &own, Value key, ValueRange before,
                                bool isWhole) {
  Values weights = scoresOf(
      own, key, [&](int64_t from) { return multiplyKeys(own, from); }, isWhole);
  Scores next = addScores(own, weights, before);
  Values sums(before.drop_front(4));
  scale(next, sums);
  for (int64_t from = 0; from < keysOfTile; from += keysAtOnce)
    addRead(own, attention->reads.front(), from,
            ValueRange(weights).slice(from / mmaColumns * 4, 8), sums);
  llvm::append_range(next.state, sums);
  return next.state;
}

/// The same for elementwise pairs: only the weighted sums so far.
Values StripEmitter::addPairs(const Rows &own, Value key, ValueRange before,
                              bool isWhole) {
  Values next(before);
  SmallVector<ComputeOp> wanted;
  for (ComputeOp read : attention->reads)
    wanted.push_back(pairsOf(read));
  for (int64_t from = 0; from < keysOfTile; from += keysAtOnce) {
    SmallVector<Values> found = pairsAt(own, key, from, multiplyKeys(own, from),
                                        wanted, b.constant(real, 0), isWhole);
    MutableArrayRef<Value> rest = next;
    for (auto [number, read] : llvm::enumerate(attention->reads)) {
      const auto *at = llvm::find(wanted, wanted[number]);
      size_t sums = sumsOf(own, read);
      addRead(own, read, from, found[at - wanted.begin()],
              rest.take_front(sums));
      rest = rest.drop_front(sums);
    }
  }
  return next;
}

ComputeOp StripEmitter::pairsOf(ComputeOp read) const {
  ReadOp left = memberOf(read).product->left;
  return left.getArray().getDefiningOp<ComputeOp>();
}

size_t StripEmitter::sumsOf(const Rows &own, ComputeOp read) const {
  const KeySide &side = own.sides[attention->sideOf.lookup(read)];
  return size_t(side.width / mmaColumns * 4);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The weighted sums, scaled per row if `factor` is set.
void StripEmitter::storeRead(const Rows &own, ComputeOp read, ValueRange sums,
                             const Value *factor) {
  const StripMember &member = memberOf(read);
  const ExampleProduct &product = *member.product;
  Operands all = operandsOf(member, own.first);
  const KeySide &side = own.sides[attention->sideOf.lookup(read)];
  Value stride = all.c.along.lookup(product.m);
  for (auto [number, sum] : llvm::enumerate(sums)) {
    auto i = int64_t(number);
    Value row = own.rows[i % 4 / 2];
    Value column = b.add(own.pair, num(i / 4 * mmaColumns + i % 2));
    Value isThere = b.less(row, own.count);
    if (side.size != side.width)
      isThere = b.both(isThere, b.less(column, num(side.size)));
    Value value = sum;
    if (factor)
      value = b.create<arith::MulFOp>(sum, factor[i % 4 / 2]);
    b.branch(isThere, [&] {
      b.store(value, address(all.c.base, b.add(b.mul(row, stride), column)));
    });
  }
}

void StripEmitter::storeWeighted(const Rows &own, ValueRange carried) {
  Value zero = b.constant(real, 0), one = b.constant(real, 1), factor[2],
        total[2];
  for (int64_t i = 0; i < 2; ++i) {
    total[i] = ofRow(own, carried[2 + i], [&](Value a, Value c) -> Value {
      return b.create<arith::AddFOp>(a, c);
    });
    // Without any score: the rest is 0.
    Value some =
        b.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, total[i], zero);
    factor[i] = b.create<arith::DivFOp>(one, b.select(some, total[i], one));
  }
  storeRead(own, attention->reads.front(), carried.drop_front(4), factor);
  if (!attention->sums)
    return;
  // One of the four threads of a row does it.
  const StripMember &member = memberOf(attention->sums);
  const Storage &array = storage.of(attention->sums.getResult());
  for (int64_t i = 0; i < 2; ++i) {
    Value isOwn =
        b.both(b.less(own.rows[i], own.count), b.equal(own.pair, num(0)));
    b.branch(isOwn, [&] {
      BodyEmitter values(b, storage, place, 0);
      SmallVector<Index> indices =
          indicesOf(member, b.add(own.first, own.rows[i]));
      indices.pop_back();
      Value at = values.materialise(values.offset(array, indices));
      Value sum = b.create<arith::AddFOp>(
          carried[i], b.create<math::LogOp>(total[i]).getResult());
      b.store(sum, address(values.base(array), at));
    });
  }
}

/// The range of keys with allowed pairs beside the rows, from the start of a
/// tile, and whether all pairs of a tile are allowed.
std::pair<Value, Value> StripEmitter::keysBeside(Value first, Value count) {
  std::optional<Band> all;
  for (ComputeOp read : attention->reads) {
    Band band = bandOf(pairsOf(read));
    if (!all) {
      all = band;
      continue;
    }
    auto loosen = [](std::optional<int64_t> &bound,
                     std::optional<int64_t> other, auto best) {
      bound =
          bound && other ? std::optional(best(*bound, *other)) : std::nullopt;
    };
    loosen(all->from, band.from,
           [](int64_t a, int64_t c) { return std::min(a, c); });
    loosen(all->to, band.to,
           [](int64_t a, int64_t c) { return std::max(a, c); });
  }
  ComputeOp read = attention->reads.front();
  Value numKeys = operandsOf(memberOf(read), first).k;
  Value last = b.sub(b.add(first, count), num(1));
  auto [from, to] = inBand(*all, numKeys, first, last);
  return {b.mul(b.div(from, num(keysOfTile)), num(keysOfTile)), to};
}

/// Returns whether all keys of a tile exist and all its pairs are allowed; null
/// if unknown.
Value StripEmitter::isWholeTile(const Rows &own, Value key) {
  Value end = b.add(key, num(keysOfTile));
  Value isWhole = b.atMost(end, own.numKeys);
  Value last = b.sub(b.add(own.first, own.count), num(1));
  SmallVector<ComputeOp> ops(attention->pairs);
  if (attention->weights)
    ops.push_back(attention->weights);
  SmallVector<Band> seen;
  for (ComputeOp op : ops) {
    if (!op.hasCondition())
      continue;
    if (!follows(op.getCondition().front().getTerminator()->getOperand(0), op,
                 guardsOf(op)) ||
        !hasBandAlone(op))
      return nullptr;
    Band band = bandOf(op);
    if (llvm::is_contained(seen, band))
      continue;
    seen.push_back(band);
    if (band.to)
      isWhole =
          b.both(isWhole, b.atMost(end, b.add(own.first, num(*band.to + 1))));
    if (band.from)
      isWhole = b.both(isWhole, b.atMost(b.add(last, num(*band.from)), key));
  }
  return isWhole;
}

/// Returns whether the condition of pairs is just a band.
bool StripEmitter::hasBandAlone(ComputeOp op) const {
  const StripMember &member = memberOf(op);
  unsigned column = member.product ? member.product->n : op.getNumIndices() - 1,
           row = member.shared.back();
  return llvm::all_of(guardsOf(op), [&](const Guard &guard) {
    return (guard.lhs == row && guard.rhs == column) ||
           (guard.lhs == column && guard.rhs == row);
  });
}

/// The initial loop-carried state.
Values StripEmitter::beginSums(const Rows &own) {
  Value lowest = b.constant(real, -std::numeric_limits<double>::infinity());
  Value zero = b.constant(real, 0);
  Values carried;
  if (attention->weights)
    carried = {lowest, lowest, zero, zero};
  for (ComputeOp read : attention->reads)
    carried.append(sumsOf(own, read), zero);
  return carried;
}

void StripEmitter::storeSums(const Rows &own, ValueRange carried) {
  if (attention->weights)
    return storeWeighted(own, carried);
  for (ComputeOp read : attention->reads) {
    size_t sums = sumsOf(own, read);
    storeRead(own, read, carried.take_front(sums), nullptr);
    carried = carried.drop_front(sums);
  }
}

/// The result of `body` for a tile of keys; uses condition-free code if all
/// pairs are allowed.
Values StripEmitter::forTile(const Rows &own, Value key,
                             llvm::function_ref<Values(bool isWhole)> body) {
  Value isWhole = isWholeTile(own, key);
  if (!isWhole)
    return body(false);
  return b.chooseAll(
      isWhole, [&] { return body(true); }, [&] { return body(false); });
}

void StripEmitter::attend(Value first, Value count) {
  // Each thread handles its own elements.
  KernelBuilder::OneThread alone(b);
  Rows own = beginRows(first, count);
  auto [from, to] = keysBeside(first, count);
  Values carried = b.loop(from, to, num(keysOfTile), beginSums(own),
                          [&](Value key, ValueRange before) {
                            // Nobody reads the previous keys any more.
                            waitForBlock(b);
                            bringKeys(own, key);
                            waitForBlock(b);
                            return forTile(own, key, [&](bool isWhole) {
                              return attention->weights
                                         ? addWeights(own, key, before, isWhole)
                                         : addPairs(own, key, before, isWhole);
                            });
                          });
  storeSums(own, carried);
}
