//===- KeyTiles.cpp - attention of some keys at a time --------------------===//
//
// A warp has 16 rows in registers, and sums of what they read: in the forward
// pass queries, with the largest score of each and the sum of the exponentials;
// in the backward pass queries or keys. The block brings some keys, as the
// other side of all products is called here, into memory that it shares,
// rounded to bf16. Pairs are in registers from one product to the next: what a
// thread has of the result of mma.sync is what it needs of the left side of the
// next.
//
// Rows do not meet, and tiles of keys begin at the first key: a row has the
// same bits whatever else is in the batch.
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

/// What an equation gives for a row and a key, where it has been given what it
/// reads of others (`at.elements`). `counts`: whether its condition holds, null
/// where it does; not asked where all hold (`isWhole`).
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

/// The larger of two; what is no number is lost, and makes every exponential
/// that.
static Value larger(KernelBuilder &b, Value a, Value c) {
  Value isLarger = b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, a, c);
  return b.select(isLarger, a, c);
}

/// The products of `left`, four words of each instruction, with two of the
/// right sides that `right` has, added to the sums of both.
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

/// What each of `wanted` is for the keys `key` + `from` .. of an instruction:
/// eight numbers of this thread, of two rows. Where there is no key it is
/// `nothing`, and where a condition does not hold. `isWhole`: all keys are
/// there, and all conditions hold.
SmallVector<Values> StripEmitter::pairsAt(const Rows &own, Value key,
                                          int64_t from,
                                          const PairProducts &products,
                                          ArrayRef<ComputeOp> wanted,
                                          Value nothing, bool isWhole) {
  Value zero = b.constant(real, 0);
  // Of a key, what both rows read of it.
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

/// Numbers of this thread in bf16, two in a word.
Values StripEmitter::wordsOf(ValueRange pairs) {
  Values words;
  for (size_t i = 0; i < pairs.size(); i += 2)
    words.push_back(roundPair(b, pairs[i], pairs[i + 1]));
  return words;
}

/// Adds what pairs of the keys `from` .. of an instruction read.
void StripEmitter::addRead(const Rows &own, ComputeOp read, int64_t from,
                           ValueRange pairs, MutableArrayRef<Value> sums) {
  const KeySide &side = own.sides[attention->sideOf.lookup(read)];
  Values words = wordsOf(pairs);
  for (int64_t column = 0; column < side.width; column += 2 * mmaColumns)
    multiplyTwo(b, words, side.words(b, from, column, /*rowsAreTerms=*/true),
                sums.slice(column / mmaColumns * 4, 8));
}

/// A value of this thread's row and those of the three others that have it.
Value StripEmitter::ofRow(const Rows &own, Value value,
                          llvm::function_ref<Value(Value, Value)> join) {
  for (int64_t distance : {1, 2}) {
    Value other = b.create<arith::XOrIOp>(own.lane, num(distance));
    value = join(value, valueOfLane(b, value, other));
  }
  return value;
}

/// What scores are for the keys of a tile; those that do not count are minus
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

/// What is carried from tile to tile in the forward pass: the largest scores of
/// two rows, the sums of exponentials, and what is read so far, to which
/// nothing of this tile is added yet. Scores become weights.
Values StripEmitter::addScores(const Rows &own, MutableArrayRef<Value> scores,
                               ValueRange before) {
  Value lowest = b.constant(real, -std::numeric_limits<double>::infinity());
  Value zero = b.constant(real, 0);
  Value largest[2] = {lowest, lowest}, shift[2], scale[2], total[2];
  Values next;
  for (auto [number, score] : llvm::enumerate(scores)) {
    Value &most = largest[number % 4 / 2];
    most = larger(b, score, most);
  }
  for (int64_t i = 0; i < 2; ++i) {
    auto join = [&](Value a, Value c) { return larger(b, a, c); };
    next.push_back(larger(b, ofRow(own, largest[i], join), before[i]));
    // The difference of two infinities is no number.
    Value isNothing =
        b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, next[i], lowest);
    shift[i] = b.select(isNothing, zero, next[i]);
    scale[i] =
        b.create<math::ExpOp>(b.create<arith::SubFOp>(before[i], shift[i]));
    total[i] = b.create<arith::MulFOp>(before[2 + i], scale[i]);
  }
  for (auto [number, score] : llvm::enumerate(scores)) {
    auto i = int64_t(number) % 4 / 2;
    // Of minus infinity it is 0.
    score = b.create<math::ExpOp>(b.create<arith::SubFOp>(score, shift[i]));
    total[i] = b.create<arith::AddFOp>(total[i], score);
  }
  next.append({total[0], total[1]});
  for (auto [number, sum] : llvm::enumerate(before.drop_front(4)))
    next.push_back(
        b.create<arith::MulFOp>(sum, scale[int64_t(number) % 4 / 2]));
  return next;
}

Values StripEmitter::addWeights(const Rows &own, Value key, ValueRange before,
                                bool isWhole) {
  Values weights = scoresOf(
      own, key, [&](int64_t from) { return multiplyKeys(own, from); }, isWhole);
  Values next = addScores(own, weights, before);
  for (int64_t from = 0; from < keysOfTile; from += keysAtOnce)
    addRead(own, attention->reads.front(), from,
            ValueRange(weights).slice(from / mmaColumns * 4, 8),
            MutableArrayRef<Value>(next).drop_front(4));
  return next;
}

/// The same where pairs are what they are: what is read so far.
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

/// What was read, times a number for each row where `factor` is there.
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
    // Of no score at all: what is left is 0.
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

/// Where there are pairs that count beside the rows: keys from the first of a
/// tile on, and to before. And whether all pairs of a tile count.
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

/// Whether all keys of a tile are there, and all pairs of it count; null where
/// that is not known.
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

/// Whether all that the condition of pairs says is a band.
bool StripEmitter::hasBandAlone(ComputeOp op) const {
  const StripMember &member = memberOf(op);
  unsigned column = member.product ? member.product->n : op.getNumIndices() - 1,
           row = member.shared.back();
  return llvm::all_of(guardsOf(op), [&](const Guard &guard) {
    return (guard.lhs == row && guard.rhs == column) ||
           (guard.lhs == column && guard.rhs == row);
  });
}

/// What is carried from tile to tile begins with.
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

/// What `body` gives for a tile of keys: of one of which all pairs count by
/// code that asks about none.
Values StripEmitter::forTile(const Rows &own, Value key,
                             llvm::function_ref<Values(bool isWhole)> body) {
  Value isWhole = isWholeTile(own, key);
  if (!isWhole)
    return body(false);
  return b.chooseAll(
      isWhole, [&] { return body(true); }, [&] { return body(false); });
}

void StripEmitter::attend(Value first, Value count) {
  // Each thread does what it has.
  KernelBuilder::OneThread alone(b);
  Rows own = beginRows(first, count);
  auto [from, to] = keysBeside(first, count);
  Values carried = b.loop(from, to, num(keysOfTile), beginSums(own),
                          [&](Value key, ValueRange before) {
                            // Nobody reads the keys before these any more.
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
