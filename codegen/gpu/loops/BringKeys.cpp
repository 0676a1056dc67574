//===- BringKeys.cpp - keys and rows in memory and registers --------------===//
//
// The prologue of a key-tiled attention: loads rows into registers, per-row
// values once, and keys into the block's shared memory, as bf16.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/loops/KeyTiles.h"
#include "passes/analysis/Access.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

/// Neighbours that a thread loads at a time, and how often before it stores:
/// less often if the registers are full of sums.
static constexpr int64_t quad = 4, mostQuadsAtOnce = 4;
/// Arrays of per-key values that the block loads beside the
/// factors.
static constexpr int64_t mostNumbersOfKeys = 4;

const StripMember &StripEmitter::memberOf(ComputeOp op) const {
  return *llvm::find_if(group.members, [&](const StripMember &member) {
    return member.op == op;
  });
}

bool StripEmitter::isDoneByTiles(ComputeOp op) const {
  return attention && !llvm::is_contained(attention->after, op);
}

/// The address of an element of a bf16 row, in memory of such rows.
static Value elementAt(KernelBuilder &b, Value memory, int64_t width, Value row,
                       Value element) {
  Value place = b.add(b.mul(row, b.number(width + spareNumbers)), element);
  return b.create<LLVM::GEPOp>(memory.getType(), b.getI16Type(), memory,
                               ArrayRef<LLVM::GEPArg>{place});
}

/// The address of this thread's row in four 8 x 8 matrices that begin with the
/// first row and element. They are the right side of two instructions, 16 of
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

Values StripEmitter::KeySide::words(KernelBuilder &b, int64_t row,
                                    int64_t element, bool rowsAreTerms) const {
  auto place = static_cast<int32_t>(row * (width + spareNumbers) + element);
  Value address = b.create<LLVM::GEPOp>(memory.getType(), b.getI16Type(),
                                        ofLane[rowsAreTerms],
                                        ArrayRef<LLVM::GEPArg>{place});
  return loadMatrices(b, address, rowsAreTerms);
}

/// Loads a tile of keys from `firstKey` on as bf16, zero-padded to whole
/// instructions and for missing keys.
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
  int64_t quadsAtOnce = width > 64 ? mostQuadsAtOnce / 2 : mostQuadsAtOnce;
  int64_t quads = keysOfTile * width / quad / attentionThreads;
  for (int64_t begin = 0; begin < quads; begin += quadsAtOnce) {
    int64_t end = std::min(quads, begin + quadsAtOnce);
    SmallVector<std::pair<Value, Value>> places;
    Values found;
    for (int64_t number = begin; number < end; ++number) {
      auto [row, element] = placeOf(number);
      places.push_back({row, element});
      Value key = b.add(firstKey, row), isKey = b.less(key, numKeys);
      // Branchless: out-of-range loads read the last element.
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

/// The reads of pairs that depend only on their row, or only on their key.
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
        // For several reads, each at the same place.
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

/// Returns whether a read of a member has the same place as one of another
/// member.
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

/// Loads a tile of keys, and the per-key values of all pairs.
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
