//===- KeyTiles.cpp - attention of some keys at a time --------------------===//
//
// A warp has 16 queries in registers, and what they have read so far: sums, the
// largest score of each and the sum of the exponentials. The block brings some
// keys and values into memory that it shares, rounded to bf16. Scores are in
// registers from one product to the next: what a thread has of the result of
// mma.sync is what it needs of the left side of the next one.
//
// Rows do not meet, and tiles of keys begin at the first key: a row has the
// same bits whatever else is in the batch.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/Strips.h"
#include "codegen/gpu/TensorOps.h"
#include "codegen/gpu/Threads.h"

#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

/// Elements of bf16 between rows beyond what they hold: rows are then 16 bytes
/// apart from where banks would meet.
static constexpr int64_t spare = 8;
/// Neighbours that a thread brings at a time, and how often before it stores.
static constexpr int64_t quad = 4, quadsAtOnce = 4;

static int64_t wholeTiles(int64_t size) {
  return llvm::divideCeil(size, mmaTerms) * mmaTerms;
}

const StripMember &StripEmitter::memberOf(ComputeOp op) const {
  return *llvm::find_if(group.members, [&](const StripMember &member) {
    return member.op == op;
  });
}

bool StripEmitter::isDoneByTiles(ComputeOp op) const {
  return attention && !llvm::is_contained(attention->after, op);
}

/// Where an element of a row of bf16 lies: a word.
static Value wordAt(KernelBuilder &b, Value memory, int64_t width, Value row,
                    Value element) {
  Value word =
      b.div(b.add(b.mul(row, b.number(width + spare)), element), b.number(2));
  return b.create<LLVM::GEPOp>(memory.getType(), b.getI32Type(), memory,
                               ArrayRef<LLVM::GEPArg>{word});
}

/// The right side of two instructions: from row `row` and element `element` on,
/// 16 of each, where terms are elements, or rows, which are transposed.
static Values rightSide(KernelBuilder &b, Value memory, int64_t width,
                        Value lane, int64_t row, int64_t element,
                        bool rowsAreTerms) {
  Value inMatrix = b.rem(lane, b.number(8)), matrix = b.div(lane, b.number(8));
  Value quick = b.mul(b.rem(matrix, b.number(2)), b.number(8)),
        slow = b.mul(b.div(matrix, b.number(2)), b.number(8));
  Value ofRows = rowsAreTerms ? quick : slow,
        ofElements = rowsAreTerms ? slow : quick;
  Value address =
      wordAt(b, memory, width, b.add(b.add(b.number(row), ofRows), inMatrix),
             b.add(b.number(element), ofElements));
  return loadMatrices(b, address, rowsAreTerms);
}

/// `keys` rows of `size` elements from `firstKey` on as bf16, with zeros up to
/// `width` and where there are no keys.
void StripEmitter::bring(Value memory, int64_t width,
                         const BodyEmitter::View &from, unsigned alongKeys,
                         unsigned alongWidth, int64_t size, Value firstKey,
                         Value numKeys) {
  int64_t keys = static_cast<int64_t>(*attn::KernelOp(group.kernel).getKeys());
  Value thread = threadInBlock(b);
  Value keyStride = from.along.lookup(alongKeys),
        stride = from.along.lookup(alongWidth);
  auto words = VectorType::get(2, b.getI32Type());
  int64_t quads = keys * width / quad / attentionThreads;
  for (int64_t begin = 0; begin < quads; begin += quadsAtOnce) {
    int64_t end = std::min(quads, begin + quadsAtOnce);
    SmallVector<std::pair<Value, Value>> places;
    Values found;
    for (int64_t number = begin; number < end; ++number) {
      Value at = b.add(thread, num(number * attentionThreads));
      Value row = b.div(at, num(width / quad));
      Value element = b.mul(b.rem(at, num(width / quad)), num(quad));
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
            b.load(real, address(from.base, b.add(b.mul(key, keyStride),
                                                  b.mul(column, stride))));
        found.push_back(b.select(isThere, value, b.constant(real, 0)));
      }
    }
    ValueRange rest = found;
    for (auto [row, element] : places) {
      Value both = b.create<vector::FromElementsOp>(
          words, ValueRange{roundPair(b, rest[0], rest[1]),
                            roundPair(b, rest[2], rest[3])});
      b.create<LLVM::StoreOp>(both, wordAt(b, memory, width, row, element),
                              /*alignment=*/8);
      rest = rest.drop_front(quad);
    }
  }
}

/// What an equation gives for a row and a key, where it has been given what it
/// reads of others (`at.elements`). `counts`: whether its condition holds.
Value StripEmitter::elementOf(ComputeOp op, Value row, Value key, Place &at,
                              Value &counts) {
  SmallVector<Index> indices(op.getNumIndices(), Index{num(0)});
  const StripMember &member = memberOf(op);
  for (auto [index, place] : llvm::zip(member.shared, outer))
    indices[index] = {place};
  indices[member.shared.back()] = {row};
  indices[member.product ? member.product->n : op.getNumIndices() - 1] = {key};
  Value condition;
  if (op.hasCondition())
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

/// What a warp goes through the keys with.
struct StripEmitter::Queries {
  Value first, count; // of the rows of the strip
  int64_t keys;       // of a tile
  /// The numbers of a query, and of what it reads; and with zeros up to whole
  /// instructions.
  int64_t depth, columns, deep, wide;
  Operands scores, reads;
  Value keyMemory, valueMemory;
  Value lane, pair; // the first column of this thread in an instruction
  /// Two rows of this thread, and where they are read: somewhere in any case.
  Value rows[2], rowsRead[2];
  SmallVector<Values> words; // by instruction
};

StripEmitter::Queries StripEmitter::beginQueries(Value first, Value count) {
  const StripMember &score = memberOf(attention->score),
                    &read = memberOf(attention->read);
  auto sizeOf = [](ComputeOp op, unsigned index) {
    return cast<IntegerAttr>(op.getExtents()[index]).getInt();
  };
  Queries own;
  own.first = first;
  own.count = count;
  own.keys = static_cast<int64_t>(*attn::KernelOp(group.kernel).getKeys());
  own.depth = sizeOf(score.op, score.product->k);
  own.columns = sizeOf(read.op, read.product->n);
  own.deep = wholeTiles(own.depth);
  own.wide = wholeTiles(own.columns);
  own.scores = operandsOf(score, first);
  own.reads = operandsOf(read, first);
  auto memoryOf = [&](StringRef name, int64_t width) {
    return sharedMemory(b, module, name.str() + "_" + std::to_string(width),
                        b.getI32Type(), own.keys * (width + spare) / 2);
  };
  own.keyMemory = memoryOf("keys", own.deep);
  own.valueMemory = memoryOf("values", own.wide);
  Value thread = threadInBlock(b);
  own.lane = b.rem(thread, num(warpThreads));
  own.pair = b.mul(b.rem(own.lane, num(4)), num(2));
  Value ofWarp = b.mul(b.div(thread, num(warpThreads)), num(mmaRows));
  for (int64_t i = 0; i < 2; ++i) {
    own.rows[i] = b.add(b.add(ofWarp, b.div(own.lane, num(4))), num(8 * i));
    own.rowsRead[i] = b.min(own.rows[i], b.sub(count, num(1)));
  }
  const ExampleProduct &product = *score.product;
  Value rowStride = own.scores.a.along[product.m],
        stride = own.scores.a.along[product.k];
  auto element = [&](Value row, Value at) {
    Value isThere;
    if (own.depth != own.deep) {
      isThere = b.less(at, num(own.depth));
      at = b.min(at, num(own.depth - 1));
    }
    Value value =
        b.load(real, address(own.scores.a.base,
                             b.add(b.mul(row, rowStride), b.mul(at, stride))));
    return isThere ? b.select(isThere, value, b.constant(real, 0)) : value;
  };
  for (int64_t term = 0; term < own.deep; term += mmaTerms) {
    Values &words = own.words.emplace_back();
    for (int64_t i = 0; i < 4; ++i) {
      Value row = own.rowsRead[i % 2];
      Value at = b.add(own.pair, num(term + i / 2 * 8));
      words.push_back(
          roundPair(b, element(row, at), element(row, b.add(at, num(1)))));
    }
  }
  return own;
}

/// The scores of a tile of keys, as the softmax takes them; minus infinity
/// where there is none. `largest` has those of this thread's rows.
Values StripEmitter::scoresOf(const Queries &own, Value key, Value *largest) {
  Value zero = b.constant(real, 0), lowest = largest[0];
  Values found(own.keys / mmaColumns * 4, zero);
  for (auto [number, words] : llvm::enumerate(own.words))
    for (int64_t row = 0; row < own.keys; row += 2 * mmaColumns)
      multiplyTwo(b, words,
                  rightSide(b, own.keyMemory, own.deep, own.lane, row,
                            int64_t(number) * mmaTerms,
                            /*rowsAreTerms=*/false),
                  MutableArrayRef<Value>(found).slice(row / mmaColumns * 4, 8));
  for (auto [number, sum] : llvm::enumerate(found)) {
    auto i = int64_t(number);
    Value row = b.add(own.first, own.rowsRead[i % 4 / 2]);
    Value at = b.add(b.add(key, own.pair), num(i / 4 * mmaColumns + i % 2));
    Value isKey = b.less(at, own.scores.n), holds;
    at = b.min(at, b.sub(own.scores.n, num(1)));
    Place here = place;
    here.elements[attention->score.getResult()] = sum;
    auto give = [&](ComputeOp op) {
      Value element = elementOf(op, row, at, here, holds);
      here.elements[op.getResult()] =
          holds ? b.select(holds, element, zero) : element;
      return element;
    };
    give(attention->score);
    for (ComputeOp op : attention->between)
      give(op);
    Value value = give(attention->weights);
    sum = b.select(b.both(isKey, holds), value, lowest);
    Value &most = largest[i % 4 / 2];
    most = larger(b, sum, most);
  }
  return found;
}

/// A value of this thread's row and those of the three others that have it.
Value StripEmitter::ofRow(const Queries &own, Value value,
                          llvm::function_ref<Value(Value, Value)> join) {
  for (int64_t distance : {1, 2}) {
    Value other = b.create<arith::XOrIOp>(own.lane, num(distance));
    value = join(value, valueOfLane(b, value, other));
  }
  return value;
}

/// What is carried from tile to tile: the largest scores of two rows, the sums
/// of exponentials, and what is read so far.
Values StripEmitter::addKeys(const Queries &own, Value key, ValueRange before) {
  Value zero = b.constant(real, 0);
  Value lowest = b.constant(real, -std::numeric_limits<double>::infinity());
  Value largest[2] = {lowest, lowest}, shift[2], scale[2], total[2];
  Values found = scoresOf(own, key, largest);
  Values next;
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
  for (auto [number, sum] : llvm::enumerate(found)) {
    auto i = int64_t(number) % 4 / 2;
    // Of minus infinity it is 0.
    sum = b.create<math::ExpOp>(b.create<arith::SubFOp>(sum, shift[i]));
    total[i] = b.create<arith::AddFOp>(total[i], sum);
  }
  next.append({total[0], total[1]});
  for (auto [number, sum] : llvm::enumerate(before.drop_front(4)))
    next.push_back(
        b.create<arith::MulFOp>(sum, scale[int64_t(number) % 4 / 2]));
  for (int64_t row = 0; row < own.keys; row += mmaTerms) {
    ArrayRef<Value> left = ArrayRef(found).slice(row / mmaColumns * 4, 8);
    Values words;
    for (int64_t i = 0; i < 8; i += 2)
      words.push_back(roundPair(b, left[i], left[i + 1]));
    for (int64_t column = 0; column < own.wide; column += 2 * mmaColumns)
      multiplyTwo(
          b, words,
          rightSide(b, own.valueMemory, own.wide, own.lane, row, column,
                    /*rowsAreTerms=*/true),
          MutableArrayRef<Value>(next).slice(4 + column / mmaColumns * 4, 8));
  }
  return next;
}

void StripEmitter::storeRead(const Queries &own, ValueRange carried) {
  Value zero = b.constant(real, 0), one = b.constant(real, 1), factor[2];
  for (int64_t i = 0; i < 2; ++i) {
    Value total = ofRow(own, carried[2 + i], [&](Value a, Value c) -> Value {
      return b.create<arith::AddFOp>(a, c);
    });
    // Of no score at all: what is left is 0.
    Value some =
        b.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, total, zero);
    factor[i] = b.create<arith::DivFOp>(one, b.select(some, total, one));
  }
  const ExampleProduct &product = *memberOf(attention->read).product;
  Value stride = own.reads.c.along.lookup(product.m);
  for (auto [number, sum] : llvm::enumerate(carried.drop_front(4))) {
    auto i = int64_t(number);
    Value row = own.rows[i % 4 / 2];
    Value column = b.add(own.pair, num(i / 4 * mmaColumns + i % 2));
    Value isThere = b.less(row, own.count);
    if (own.columns != own.wide)
      isThere = b.both(isThere, b.less(column, num(own.columns)));
    Value value = b.create<arith::MulFOp>(sum, factor[i % 4 / 2]);
    b.branch(isThere, [&] {
      b.store(value,
              address(own.reads.c.base, b.add(b.mul(row, stride), column)));
    });
  }
}

void StripEmitter::attend(Value first, Value count) {
  // Each thread does what it has.
  KernelBuilder::OneThread alone(b);
  const ExampleProduct &ofScore = *memberOf(attention->score).product,
                       &ofRead = *memberOf(attention->read).product;
  Queries own = beginQueries(first, count);
  Value lowest = b.constant(real, -std::numeric_limits<double>::infinity());
  Value zero = b.constant(real, 0);
  Values carried = {lowest, lowest, zero, zero};
  carried.append(own.wide / mmaColumns * 4, zero);
  Value last = b.sub(b.add(first, count), num(1));
  auto [from, to] = inBand(ofScore.columns, own.scores.n, first, last);
  from = b.mul(b.div(from, num(own.keys)), num(own.keys));
  carried = b.loop(from, to, num(own.keys), carried,
                   [&](Value key, ValueRange before) {
                     // Nobody reads the keys before these any more.
                     waitForBlock(b);
                     bring(own.keyMemory, own.deep, own.scores.b, ofScore.n,
                           ofScore.k, own.depth, key, own.scores.n);
                     bring(own.valueMemory, own.wide, own.reads.b, ofRead.k,
                           ofRead.n, own.columns, key, own.scores.n);
                     waitForBlock(b);
                     return addKeys(own, key, before);
                   });
  storeRead(own, carried);
}
