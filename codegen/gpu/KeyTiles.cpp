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

#include "codegen/gpu/Strips.h"
#include "codegen/gpu/TensorOps.h"
#include "codegen/gpu/Threads.h"
#include "passes/analysis/Access.h"

#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

/// Neighbours that a thread brings at a time, and how often before it stores.
static constexpr int64_t quad = 4, quadsAtOnce = 4;
/// Arrays of which the block brings the numbers of keys beside what it
/// multiplies.
static constexpr int64_t mostNumbersOfKeys = 4;
/// Keys whose pairs are in registers at a time: terms of an instruction.
static constexpr int64_t keysAtOnce = mmaTerms;

const StripMember &StripEmitter::memberOf(ComputeOp op) const {
  return *llvm::find_if(group.members, [&](const StripMember &member) {
    return member.op == op;
  });
}

bool StripEmitter::isDoneByTiles(ComputeOp op) const {
  return attention && !llvm::is_contained(attention->after, op);
}

/// What is multiplied of keys, in the memory of the block.
struct StripEmitter::KeySide {
  Value base, keyStride, stride;
  int64_t size, width; // width: with zeros up to whole instructions
  Value memory;
  Value ofLane[2]; // of elements as terms, and of rows as terms

  /// The right side of two instructions, from row `row` and element `element`
  /// on. A number is a part of the instruction, and takes no register.
  Values words(KernelBuilder &b, int64_t row, int64_t element,
               bool rowsAreTerms) const {
    auto place = static_cast<int32_t>(row * (width + spareNumbers) + element);
    Value address = b.create<LLVM::GEPOp>(memory.getType(), b.getI16Type(),
                                          ofLane[rowsAreTerms],
                                          ArrayRef<LLVM::GEPArg>{place});
    return loadMatrices(b, address, rowsAreTerms);
  }
};

/// Where an element of a row of bf16 lies, in memory of such rows.
static Value elementAt(KernelBuilder &b, Value memory, int64_t width, Value row,
                       Value element) {
  Value place = b.add(b.mul(row, b.number(width + spareNumbers)), element);
  return b.create<LLVM::GEPOp>(memory.getType(), b.getI16Type(), memory,
                               ArrayRef<LLVM::GEPArg>{place});
}

/// Where this thread finds its row of four matrices of 8 x 8 that begin with
/// the first row and element: of the right side of two instructions, 16 of
/// each, where terms are elements, or rows, which are transposed.
static Value placeOfLane(KernelBuilder &b, Value memory, int64_t width,
                         Value lane, bool rowsAreTerms) {
  Value inMatrix = b.rem(lane, b.number(8)), matrix = b.div(lane, b.number(8));
  Value quick = b.mul(b.rem(matrix, b.number(2)), b.number(8)),
        slow = b.mul(b.div(matrix, b.number(2)), b.number(8));
  Value ofRows = rowsAreTerms ? quick : slow,
        ofElements = rowsAreTerms ? slow : quick;
  return elementAt(b, memory, width, b.add(ofRows, inMatrix), ofElements);
}

/// A tile of keys from `firstKey` on as bf16, with zeros up to whole
/// instructions and where there are no keys.
void StripEmitter::bring(const KeySide &side, Value firstKey, Value numKeys) {
  int64_t width = side.width, size = side.size;
  Value thread = threadInBlock(b), memory = side.memory,
        keyStride = side.keyStride, stride = side.stride;
  auto words = VectorType::get(2, b.getI32Type());
  int64_t across = width / quad;
  auto placeOf = [&](int64_t number) -> std::pair<Value, Value> {
    Value at = b.add(thread, num(number * attentionThreads));
    if (attentionThreads % across != 0)
      return {b.div(at, num(across)), b.mul(b.rem(at, num(across)), num(quad))};
    // The same elements each time, some rows further.
    return {b.add(b.div(thread, num(across)),
                  num(number * attentionThreads / across)),
            b.mul(b.rem(thread, num(across)), num(quad))};
  };
  int64_t quads = keysOfTile * width / quad / attentionThreads;
  for (int64_t begin = 0; begin < quads; begin += quadsAtOnce) {
    int64_t end = std::min(quads, begin + quadsAtOnce);
    SmallVector<std::pair<Value, Value>> places;
    Values found;
    for (int64_t number = begin; number < end; ++number) {
      auto [row, element] = placeOf(number);
      places.push_back({row, element});
      Value key = b.add(firstKey, row), isKey = b.less(key, numKeys);
      // Without a branch: what is not there is read where the last one is.
      key = b.min(key, b.sub(numKeys, num(1)));
      for (int64_t i = 0; i < quad; ++i) {
        Value column = b.add(element, num(i)), isThere = isKey;
        if (size % quad != 0 || size != width) {
          isThere = b.both(isKey, b.less(column, num(size)));
          column = b.min(column, num(size - 1));
        }
        Value value =
            b.load(real, address(side.base, b.add(b.mul(key, keyStride),
                                                  b.mul(column, stride))));
        found.push_back(b.select(isThere, value, b.constant(real, 0)));
      }
    }
    ValueRange rest = found;
    for (auto [row, element] : places) {
      Value both = b.create<vector::FromElementsOp>(
          words, ValueRange{roundPair(b, rest[0], rest[1]),
                            roundPair(b, rest[2], rest[3])});
      b.create<LLVM::StoreOp>(both, elementAt(b, memory, width, row, element),
                              /*alignment=*/8);
      rest = rest.drop_front(quad);
    }
  }
}

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
// What a block and a warp have
//===----------------------------------------------------------------------===//

/// An array that all pairs read at their row alone, or at their key alone: its
/// element is read once for all of them.
struct StripEmitter::Known {
  ComputeOp op;
  ReadOp read;
  bool isOfKey;
};

/// What a warp goes through the keys with.
struct StripEmitter::Rows {
  Value first, count; // of the rows of the strip
  Value numKeys;
  Value lane, pair; // the first column of this thread in an instruction
  /// Two rows of this thread, counted from the first, and where they are read:
  /// somewhere in any case.
  Value rows[2], rowsRead[2];
  std::vector<KeySide> sides;
  /// Of each product of rows and keys, the words of its left side, by
  /// instruction.
  llvm::SmallDenseMap<Operation *, SmallVector<Values>> words;
  std::vector<Known> known;
  /// What is known of both rows.
  llvm::SmallDenseMap<Value, Value> ofRows[2];
  /// Memory of the block for what is known of the keys of a tile, array by
  /// array, and where the first key of this thread is.
  Value keyNumbers, ofLane;
};

/// The words of a row's left sides in a product.
SmallVector<Values> StripEmitter::leftSide(const Rows &own,
                                           const StripMember &member) {
  const ExampleProduct &product = *member.product;
  Operands all = operandsOf(member, own.first);
  Value rowStride = all.a.along[product.m], stride = all.a.along[product.k];
  int64_t depth =
      cast<IntegerAttr>(ComputeOp(member.op).getExtents()[product.k]).getInt();
  auto element = [&](Value row, Value at) {
    Value isThere;
    if (depth % mmaTerms != 0) {
      isThere = b.less(at, num(depth));
      at = b.min(at, num(depth - 1));
    }
    Value value = b.load(real, address(all.a.base, b.add(b.mul(row, rowStride),
                                                         b.mul(at, stride))));
    return isThere ? b.select(isThere, value, b.constant(real, 0)) : value;
  };
  SmallVector<Values> result;
  for (int64_t term = 0; term < depth; term += mmaTerms) {
    Values &words = result.emplace_back();
    for (int64_t i = 0; i < 4; ++i) {
      Value row = own.rowsRead[i % 2];
      Value at = b.add(own.pair, num(term + i / 2 * 8));
      words.push_back(
          roundPair(b, element(row, at), element(row, b.add(at, num(1)))));
    }
  }
  return result;
}

/// The reads of pairs that depend on their row alone, or on their key alone.
std::vector<StripEmitter::Known> StripEmitter::findKnown() {
  llvm::MapVector<Value, Known> found;
  llvm::DenseSet<Value> others;
  SmallVector<ComputeOp> pairs(attention->pairs);
  if (attention->weights)
    pairs.push_back(attention->weights);
  for (ComputeOp op : pairs) {
    const StripMember &member = memberOf(op);
    if (member.product && !op.hasCondition())
      continue;
    unsigned column =
                 member.product ? member.product->n : op.getNumIndices() - 1,
             row = member.shared.back();
    for (Region *region : {&op.getCondition(), &op.getBody()}) {
      if (region == &op.getBody() && member.product)
        continue;
      region->walk([&](ReadOp read) {
        Value array = read.getArray();
        Operation *source = array.getDefiningOp();
        if (source && source->getParentOp() == attn::KernelOp(group.kernel))
          return;
        bool ofRow = false, ofKey = false,
             isPlain =
                 read.getAlternatives().empty() && !read.getOtherwise() &&
                 region == &op.getBody() && read->getParentOp() == op &&
                 cast<ArrayType>(array.getType()).getElementType().isF64();
        SmallVector<unsigned> at;
        for (Value index : read.getIndices()) {
          AccessIndex place = classify(index, op);
          isPlain &= place.kind == AccessIndex::Iterator && place.offset == 0;
          ofRow |= place.iterator == row;
          ofKey |= place.iterator == column;
        }
        if (!isPlain || ofRow == ofKey) {
          others.insert(array);
          return;
        }
        auto [entry, isNew] = found.insert({array, {op, read, ofKey}});
        // Of several reads, each at the same place.
        if (!isNew && !isSamePlace(entry->second, op, read))
          others.insert(array);
      });
    }
  }
  std::vector<Known> result;
  int64_t numOfKeys = 0;
  for (const auto &[array, known] : found)
    if (!others.contains(array) &&
        (!known.isOfKey || ++numOfKeys <= mostNumbersOfKeys))
      result.push_back(known);
  return result;
}

/// Whether a read of a member stands where one of another member does.
bool StripEmitter::isSamePlace(const Known &known, ComputeOp op, ReadOp read) {
  auto roleOf = [&](ComputeOp of, Value index) -> int64_t {
    unsigned iterator = classify(index, of).iterator;
    const StripMember &member = memberOf(of);
    const auto *at = llvm::find(member.shared, iterator);
    return at == member.shared.end() ? -1 : at - member.shared.begin();
  };
  return llvm::all_of(
      llvm::zip_equal(ReadOp(known.read).getIndices(), read.getIndices()),
      [&](auto both) {
        auto [a, c] = both;
        return roleOf(known.op, a) == roleOf(op, c);
      });
}

Value StripEmitter::valueOf(const Known &known, Value row, Value key) {
  const StripMember &member = memberOf(known.op);
  SmallVector<Index> indices = indicesOf(member, row);
  indices[ComputeOp(known.op).getNumIndices() - 1] = {key};
  return BodyEmitter(b, storage, place, 0)
      .emitValue(ComputeOp(known.op).getBody(), ReadOp(known.read).getResult(),
                 indices);
}

StripEmitter::Rows StripEmitter::beginRows(Value first, Value count) {
  Rows own;
  own.first = first;
  own.count = count;
  for (auto [number, side] : llvm::enumerate(attention->sides)) {
    const StripMember &member = memberOf(side.product);
    const ExampleProduct &product = *member.product;
    bool isRead = attention->isRead(side.product);
    Operands all = operandsOf(member, first);
    own.numKeys = isRead ? all.k : all.n;
    KeySide &each = own.sides.emplace_back();
    each.base = all.b.base;
    each.keyStride = all.b.along.lookup(isRead ? product.k : product.n);
    each.stride = all.b.along.lookup(isRead ? product.n : product.k);
    each.size = side.size;
    each.width = wholeTerms(side.size);
    each.memory = sharedMemory(
        b, module,
        "keys_" + std::to_string(number) + "_" + std::to_string(each.width),
        b.getI32Type(), keysOfTile * (each.width + spareNumbers) / 2);
  }
  Value thread = threadInBlock(b);
  own.lane = b.rem(thread, num(warpThreads));
  for (KeySide &side : own.sides)
    for (bool rowsAreTerms : {false, true})
      side.ofLane[rowsAreTerms] =
          placeOfLane(b, side.memory, side.width, own.lane, rowsAreTerms);
  own.pair = b.mul(b.rem(own.lane, num(4)), num(2));
  Value ofWarp = b.mul(b.div(thread, num(warpThreads)), num(mmaRows));
  for (int64_t i = 0; i < 2; ++i) {
    own.rows[i] = b.add(b.add(ofWarp, b.div(own.lane, num(4))), num(8 * i));
    own.rowsRead[i] = b.min(own.rows[i], b.sub(count, num(1)));
  }
  for (ComputeOp op : attention->pairs)
    if (const StripMember &member = memberOf(op); member.product)
      own.words[op] = leftSide(own, member);
  own.known = findKnown();
  for (int64_t i = 0; i < 2; ++i)
    for (const Known &known : own.known)
      if (!known.isOfKey)
        own.ofRows[i][ReadOp(known.read).getArray()] =
            valueOf(known, b.add(first, own.rowsRead[i]), num(0));
  int64_t numNumbers = llvm::count_if(
      own.known, [](const Known &known) { return known.isOfKey; });
  if (numNumbers != 0) {
    own.keyNumbers =
        sharedMemory(b, module, "numbers_" + std::to_string(numNumbers), real,
                     numNumbers * keysOfTile);
    own.ofLane =
        b.create<LLVM::GEPOp>(own.keyNumbers.getType(), real, own.keyNumbers,
                              ArrayRef<LLVM::GEPArg>{own.pair});
  }
  return own;
}

/// A tile of keys, and what all pairs read of each.
void StripEmitter::bringKeys(const Rows &own, Value firstKey) {
  for (const KeySide &side : own.sides)
    bring(side, firstKey, own.numKeys);
  if (!own.keyNumbers)
    return;
  Value thread = threadInBlock(b);
  b.branch(b.less(thread, num(keysOfTile)), [&] {
    Value key = b.min(b.add(firstKey, thread), b.sub(own.numKeys, num(1)));
    int64_t first = 0;
    for (const Known &known : own.known) {
      if (!known.isOfKey)
        continue;
      Value address = b.create<LLVM::GEPOp>(
          own.keyNumbers.getType(), real, own.keyNumbers,
          ArrayRef<LLVM::GEPArg>{b.add(thread, num(first))});
      b.create<LLVM::StoreOp>(valueOf(known, own.first, key), address);
      first += keysOfTile;
    }
  });
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// What each of `wanted` is for the keys `key` + `from` .. of an instruction:
/// eight numbers of this thread, of two rows. Where there is no key it is
/// `nothing`, and where a condition does not hold. `isWhole`: all keys are
/// there, and all conditions hold.
SmallVector<Values> StripEmitter::pairsAt(const Rows &own, Value key,
                                          int64_t from,
                                          ArrayRef<ComputeOp> wanted,
                                          Value nothing, bool isWhole) {
  Value zero = b.constant(real, 0);
  llvm::SmallDenseMap<Operation *, Values> products;
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
      if (known.isOfKey) {
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

/// Adds what pairs of the keys `from` .. of an instruction read.
void StripEmitter::addRead(const Rows &own, ComputeOp read, int64_t from,
                           ValueRange pairs, MutableArrayRef<Value> sums) {
  const KeySide &side = own.sides[attention->sideOf.lookup(read)];
  Values words;
  for (int64_t i = 0; i < 8; i += 2)
    words.push_back(roundPair(b, pairs[i], pairs[i + 1]));
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

/// What is carried from tile to tile in the forward pass: the largest scores of
/// two rows, the sums of exponentials, and what is read so far.
Values StripEmitter::addWeights(const Rows &own, Value key, ValueRange before,
                                bool isWhole) {
  Value lowest = b.constant(real, -std::numeric_limits<double>::infinity());
  Value zero = b.constant(real, 0);
  Value largest[2] = {lowest, lowest}, shift[2], scale[2], total[2];
  Values found, next;
  for (int64_t from = 0; from < keysOfTile; from += keysAtOnce)
    llvm::append_range(
        found,
        pairsAt(own, key, from, {attention->weights}, lowest, isWhole).front());
  for (auto [number, score] : llvm::enumerate(found)) {
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
  for (auto [number, score] : llvm::enumerate(found)) {
    auto i = int64_t(number) % 4 / 2;
    // Of minus infinity it is 0.
    score = b.create<math::ExpOp>(b.create<arith::SubFOp>(score, shift[i]));
    total[i] = b.create<arith::AddFOp>(total[i], score);
  }
  next.append({total[0], total[1]});
  for (auto [number, sum] : llvm::enumerate(before.drop_front(4)))
    next.push_back(
        b.create<arith::MulFOp>(sum, scale[int64_t(number) % 4 / 2]));
  for (int64_t from = 0; from < keysOfTile; from += keysAtOnce)
    addRead(own, attention->reads.front(), from,
            ValueRange(found).slice(from / mmaColumns * 4, 8),
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
    SmallVector<Values> found =
        pairsAt(own, key, from, wanted, b.constant(real, 0), isWhole);
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
std::pair<Value, Value> StripEmitter::keysBeside(const Rows &own) {
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
  Value last = b.sub(b.add(own.first, own.count), num(1));
  auto [from, to] = inBand(*all, own.numKeys, own.first, last);
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

void StripEmitter::attend(Value first, Value count) {
  // Each thread does what it has.
  KernelBuilder::OneThread alone(b);
  Rows own = beginRows(first, count);
  Value lowest = b.constant(real, -std::numeric_limits<double>::infinity());
  Value zero = b.constant(real, 0);
  Values carried;
  if (attention->weights)
    carried = {lowest, lowest, zero, zero};
  for (ComputeOp read : attention->reads)
    carried.append(sumsOf(own, read), zero);
  auto [from, to] = keysBeside(own);
  carried = b.loop(
      from, to, num(keysOfTile), carried, [&](Value key, ValueRange before) {
        // Nobody reads the keys before these any more.
        waitForBlock(b);
        bringKeys(own, key);
        waitForBlock(b);
        auto add = [&](bool isWhole) {
          return attention->weights ? addWeights(own, key, before, isWhole)
                                    : addPairs(own, key, before, isWhole);
        };
        Value isWhole = isWholeTile(own, key);
        if (!isWhole)
          return add(false);
        return b.chooseAll(
            isWhole, [&] { return add(true); }, [&] { return add(false); });
      });
  if (attention->weights)
    return storeWeighted(own, carried);
  ValueRange rest = carried;
  for (ComputeOp read : attention->reads) {
    size_t sums = sumsOf(own, read);
    storeRead(own, read, rest.take_front(sums), nullptr);
    rest = rest.drop_front(sums);
  }
}
