//===- SplitAdjoints.cpp - adjoints by queries and by keys ----------------===//
//
// The adjoints of attention are sums over keys (of queries) and sums over
// queries (of keys and values). Where factors are rounded anyway, they are two
// kernels, each with rows of its own, as in FlashAttention-2 (Dao, 2023): so no
// sum is divided among those who work at the same time.
//
// Both compute the scores again. What makes weights of them are the logarithms
// of the sums of their exponentials, one number for each query, which the
// forward pass keeps; and what the adjoint of a softmax takes off is a product
// of what was read and its adjoint.
//
//===----------------------------------------------------------------------===//

#include "dialect/Conditions.h"
#include "dialect/Precision.h"
#include "passes/Passes.h"
#include "passes/analysis/Equations.h"
#include "passes/batch/Batch.h"
#include "passes/kernels/TileKeys.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_SPLITADJOINTS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

namespace {
/// Which index of the weights each index of an equation is; -1: none of them.
using Numbers = SmallVector<int>;

/// A softmax over the keys of each query, what it is computed of, and all that
/// reads it. Indices are those of the weights.
class Splitter {
public:
  explicit Splitter(ComputeOp weights) : weights(weights) {}

  bool find();
  void split();

private:
  bool findScores();
  bool takeReaders(ComputeOp pair);
  bool take(ComputeOp reader);
  void takeProducts(ComputeOp reader, const Numbers &numbers);
  std::optional<Numbers> numbersOf(ComputeOp op);
  bool isBackward(Operation *pair) const {
    return pairs.contains(pair) && !forward.contains(pair);
  }
  bool isImplied(ComputeOp op, const Numbers &numbers) const;
  bool isProductOfRead(ComputeOp sum);
  bool findPlace();

  bool vanishes(ComputeOp op);
  void nameScore();
  void keepSums();
  void replaceSum(ComputeOp sum);
  Value computed(OpBuilder &builder, ComputeOp op, bool isTurned);
  void copyBody(ComputeOp from, ComputeOp to, ArrayRef<unsigned> order,
                bool withCondition);
  void redirect(ComputeOp op, bool isTurned);
  void move(ArrayRef<ComputeOp> products, bool isTurned);
  SmallVector<Operation *> neededBy(ArrayRef<ComputeOp> products) const;

  unsigned axisOf(Operation *pair, unsigned number) const {
    return llvm::find(pairs.find(pair)->second, int(number)) -
           pairs.find(pair)->second.begin();
  }

  ComputeOp weights;
  unsigned row = 0, column = 0;
  /// Arrays of pairs, and the index that each of their axes is.
  llvm::MapVector<Operation *, Numbers> pairs;
  llvm::DenseSet<Operation *> forward;
  /// Sums over the keys, of weights and of other pairs; sums over the queries.
  SmallVector<ComputeOp> reads, byQueries, byKeys;
  /// What the adjoint of the softmax takes off.
  SmallVector<ComputeOp> taken;
  ComputeOp score, sums;
  Operation *place = nullptr; // behind all that both kernels read
  llvm::DenseMap<Value, Value> copies;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is there
//===----------------------------------------------------------------------===//

std::optional<Numbers> Splitter::numbersOf(ComputeOp op) {
  Numbers numbers(op.getNumIndices(), -1);
  bool isGood = startsAtZero(op);
  forArrays(*op, [&](Operation *user, Value array) {
    const auto *found = pairs.find(array.getDefiningOp());
    if (!isGood || found == pairs.end())
      return;
    ReadOp read = plainRead(user, array);
    isGood = read != nullptr;
    for (auto [axis, number] : llvm::enumerate(found->second)) {
      if (!isGood)
        return;
      AccessIndex at = classify(read.getIndices()[axis], op);
      isGood = at.kind == AccessIndex::Iterator && at.offset == 0 &&
               (numbers[at.iterator] < 0 || numbers[at.iterator] == number) &&
               op.getExtents()[at.iterator] == weights.getExtents()[number];
      if (isGood)
        numbers[at.iterator] = number;
    }
  });
  for (auto [index, number] : llvm::enumerate(numbers))
    isGood &= number < 0 ||
              !llvm::is_contained(ArrayRef(numbers).take_front(index), number);
  return isGood ? std::optional(numbers) : std::nullopt;
}

/// The axes of an array that `reader` reads at its own indices, by the numbers
/// of these; nothing where they are not all numbered.
static std::optional<Numbers> axesOf(ReadOp read, ComputeOp reader,
                                     const Numbers &numbers) {
  Numbers axes;
  for (Value index : read.getIndices()) {
    AccessIndex at = classify(index, reader);
    if (at.kind != AccessIndex::Iterator || at.offset != 0 ||
        numbers[at.iterator] < 0)
      return std::nullopt;
    axes.push_back(numbers[at.iterator]);
  }
  return axes.size() == numbers.size() ? std::optional(axes) : std::nullopt;
}

/// The equation of the same block that gives what `user` reads plainly.
static std::pair<ReadOp, ComputeOp> sourceOf(Operation *user, Value array,
                                             ComputeOp reader) {
  auto source = array.getDefiningOp<ComputeOp>();
  ReadOp read = plainRead(user, array);
  if (!read || !source || source->getBlock() != reader->getBlock() ||
      batchOf(source) != BatchKind::each || !startsAtZero(source))
    return {};
  return {read, source};
}

/// The products of queries and keys that the weights follow from, and what
/// stands between.
bool Splitter::findScores() {
  llvm::MapVector<Operation *, Numbers> found;
  Numbers own;
  for (unsigned index = 0; index < weights.getNumIndices(); ++index)
    own.push_back(int(index));
  found.insert({weights, own});
  std::optional<int> query;
  bool isGood = true;
  for (size_t i = 0; i < found.size(); ++i) {
    auto op = cast<ComputeOp>(found.begin()[i].first);
    Numbers numbers = found.begin()[i].second;
    if (exampleProductOf(op))
      continue;
    forArrays(*op, [&](Operation *user, Value array) {
      auto [read, source] = sourceOf(user, array, op);
      std::optional<Numbers> axes;
      if (source)
        axes = axesOf(read, op, numbers);
      if (!axes)
        return;
      std::optional<ExampleProduct> product = exampleProductOf(source);
      if (product && isTileable(source)) {
        int other = (*axes)[product->m];
        isGood &= (*axes)[product->n] == int(column) &&
                  query.value_or(other) == other;
        query = other;
      } else if (product || source.getReducer() != Reducer::none) {
        return;
      }
      auto *known = found.find(source);
      isGood &= known == found.end() || known->second == *axes;
      found.insert({source, *axes});
    });
  }
  if (!isGood || !query)
    return false;
  row = unsigned(*query);
  // Of what no product leads to, nothing is computed again.
  auto inOrder = found.takeVector();
  llvm::sort(inOrder, [](const auto &a, const auto &b) {
    return a.first->isBeforeInBlock(b.first);
  });
  for (auto &[op, axes] : inOrder) {
    bool leads = exampleProductOf(cast<ComputeOp>(op)).has_value();
    forArrays(*op, [&](Operation *, Value array) {
      leads |= pairs.contains(array.getDefiningOp());
    });
    if (leads)
      pairs.insert({op, axes});
  }
  for (const auto &[op, axes] : pairs)
    forward.insert(op);
  return forward.contains(weights);
}

/// The products of pairs that an adjoint reads beside other pairs.
void Splitter::takeProducts(ComputeOp reader, const Numbers &numbers) {
  forArrays(*reader, [&](Operation *user, Value array) {
    auto [read, source] = sourceOf(user, array, reader);
    if (!source || pairs.contains(source) || !isTileable(source))
      return;
    ExampleProduct product = *exampleProductOf(source);
    Numbers byIndex = numbers;
    byIndex.resize(weights.getNumIndices(), -1);
    std::optional<Numbers> axes = axesOf(read, reader, byIndex);
    if (axes && (*axes)[product.m] == int(row) &&
        (*axes)[product.n] == int(column) && product.terms.isWhole())
      pairs.insert({source, *axes});
  });
}

/// Takes in an equation that reads pairs. False if it is none that tiles give.
bool Splitter::take(ComputeOp reader) {
  if (pairs.contains(reader) || llvm::is_contained(reads, reader) ||
      llvm::is_contained(byQueries, reader) ||
      llvm::is_contained(byKeys, reader) || llvm::is_contained(taken, reader))
    return true;
  std::optional<Numbers> numbers = numbersOf(reader);
  if (!numbers || batchOf(reader) != BatchKind::each)
    return false;
  unsigned rank = weights.getNumIndices();
  if (std::optional<ExampleProduct> product = exampleProductOf(reader)) {
    Operation *pair = product->left.getArray().getDefiningOp();
    int m = (*numbers)[product->m], k = (*numbers)[product->k];
    if (!pairs.contains(pair) || !isTileableRead(reader) ||
        pairs.contains(product->right.getArray().getDefiningOp()) ||
        reader.getNumIndices() != rank + 1)
      return false;
    bool isOverKeys = m == int(row) && k == int(column);
    if (!isOverKeys && (m != int(column) || k != int(row)))
      return false;
    bool isForward = forward.contains(pair);
    if (isForward && isOverKeys && pair != weights)
      return false;
    (!isOverKeys ? byKeys : isForward ? reads : byQueries).push_back(reader);
    return true;
  }
  if (reader.getNumIndices() != rank || llvm::is_contained(*numbers, -1) ||
      productOf(reader))
    return false;
  takeProducts(reader, *numbers);
  if (reader.getReducer() == Reducer::none) {
    pairs.insert({reader, *numbers});
    return true;
  }
  if (reader.getReducer() != Reducer::sum || reader.getNumReduction() != 1 ||
      numbers->back() != int(column))
    return false;
  taken.push_back(reader);
  return true;
}

bool Splitter::takeReaders(ComputeOp pair) {
  return llvm::all_of(pair.getResult().getUsers(), [&](Operation *user) {
    auto reader = user->getParentOfType<ComputeOp>();
    return reader && reader->getBlock() == pair->getBlock() && take(reader);
  });
}

/// Whether the condition of `op` holds wherever that of the weights does.
bool Splitter::isImplied(ComputeOp op, const Numbers &numbers) const {
  if (!op.hasCondition())
    return true;
  SmallVector<Guard> known;
  for (const Guard &guard : guardsOf(weights)) {
    const auto *lhs = llvm::find(numbers, int(guard.lhs)),
               *rhs = llvm::find(numbers, int(guard.rhs));
    if (lhs != numbers.end() && rhs != numbers.end())
      known.push_back({unsigned(lhs - numbers.begin()),
                       unsigned(rhs - numbers.begin()), guard.offset});
  }
  return follows(op.getCondition().front().getTerminator()->getOperand(0), op,
                 known);
}

/// The reads whose product the body of an equation is.
static std::pair<ReadOp, ReadOp> factorsOf(ComputeOp op) {
  auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
  if (!product)
    return {};
  return {product.getLhs().getDefiningOp<ReadOp>(),
          product.getRhs().getDefiningOp<ReadOp>()};
}

/// Whether `sum` is sum[u](w[t,u] * d[t,u]), where d[t,u] is a product of rows
/// and those values that weights read: then it is the product of the rows and
/// of what is read.
bool Splitter::isProductOfRead(ComputeOp sum) {
  auto [left, right] = factorsOf(sum);
  if (!left || !right)
    return false;
  if (right.getArray() == weights.getResult())
    std::swap(left, right);
  auto source = right.getArray().getDefiningOp<ComputeOp>();
  if (left.getArray() != weights.getResult() || !source ||
      !isBackward(source) || !exampleProductOf(source) || reads.size() != 1)
    return false;
  ExampleProduct product = *exampleProductOf(source),
                 read = *exampleProductOf(reads.front());
  if (product.right.getArray() != read.right.getArray())
    return false;
  Numbers ofRead = *numbersOf(reads.front());
  const Numbers &ofPairs = pairs.find(source)->second;
  for (auto [a, b] : llvm::zip_equal(product.rightAxes, read.rightAxes)) {
    if (a.kind != b.kind || a.offset != b.offset)
      return false;
    if (a.kind == AccessIndex::Constant)
      continue;
    if (a.kind != AccessIndex::Iterator || a.offset != 0)
      return false;
    bool isElement = a.iterator == product.k;
    if (isElement != (b.iterator == read.n) ||
        (!isElement && ofPairs[a.iterator] != ofRead[b.iterator]))
      return false;
  }
  return true;
}

/// Behind what both kernels read, and ahead of all that reads what they give.
bool Splitter::findPlace() {
  auto isOwn = [&](Operation *op) {
    return isBackward(op) || llvm::is_contained(byQueries, op) ||
           llvm::is_contained(byKeys, op) || llvm::is_contained(taken, op);
  };
  place = weights;
  auto follow = [&](Operation *op) {
    if (op && op->getBlock() == weights->getBlock() && !isOwn(op) &&
        place->isBeforeInBlock(op))
      place = op;
  };
  follow(reads.front());
  SmallVector<Operation *> own;
  for (const auto &[op, axes] : pairs)
    own.push_back(op);
  own.append(byQueries.begin(), byQueries.end());
  own.append(byKeys.begin(), byKeys.end());
  for (Operation *op : own)
    forArrays(*op,
              [&](Operation *, Value array) { follow(array.getDefiningOp()); });
  for (ComputeOp op : llvm::concat<ComputeOp>(byQueries, byKeys))
    for (Operation *user : op.getResult().getUsers()) {
      Operation *reader = place->getBlock()->findAncestorOpInBlock(*user);
      if (!reader || !place->isBeforeInBlock(reader))
        return false;
    }
  return true;
}

bool Splitter::find() {
  unsigned rank = weights.getNumIndices();
  if (weights.getReducer() != Reducer::softmax ||
      batchOf(weights) != BatchKind::each || weights.getNumReduction() != 1 ||
      !startsAtZero(weights))
    return false;
  column = rank - 1;
  if (!findScores())
    return false;
  for (size_t i = 0; i < pairs.size(); ++i)
    if (!takeReaders(cast<ComputeOp>(pairs.begin()[i].first)))
      return false;
  // A sum over the keys of what is no weight is one of both passes.
  if (byKeys.empty() || reads.size() != 1 ||
      !isImplied(reads.front(), *numbersOf(reads.front())))
    return false;
  for (const auto &[op, axes] : pairs)
    if (op != weights && isBackward(op) &&
        !isImplied(cast<ComputeOp>(op), axes))
      return false;
  for (ComputeOp sum : taken)
    if (!isProductOfRead(sum) || !isImplied(sum, *numbersOf(sum)))
      return false;
  for (ComputeOp op : llvm::concat<ComputeOp>(byQueries, byKeys))
    if (!isImplied(op, *numbersOf(op)) ||
        !vanishes(cast<ComputeOp>(
            exampleProductOf(op)->left.getArray().getDefiningOp())))
      return false;
  return findPlace();
}

//===----------------------------------------------------------------------===//
// What becomes of it
//===----------------------------------------------------------------------===//

/// Whether pairs are zero where the weights are, because these are a factor.
bool Splitter::vanishes(ComputeOp op) {
  llvm::SmallDenseSet<Operation *> factors;
  auto isZero = [&](Value array) {
    return array == weights.getResult() ||
           factors.contains(array.getDefiningOp());
  };
  SmallVector<Operation *> inOrder = neededBy({op});
  inOrder.push_back(op);
  for (Operation *pair : inOrder) {
    if (!isBackward(pair) || exampleProductOf(cast<ComputeOp>(pair)))
      continue;
    llvm::SetVector<Value> visited;
    visited.insert(cast<ComputeOp>(pair).getYielded());
    for (size_t i = 0; i < visited.size(); ++i) {
      Operation *def = visited[i].getDefiningOp();
      if (isa_and_nonnull<arith::MulFOp>(def))
        visited.insert(def->operand_begin(), def->operand_end());
      else if (isa_and_nonnull<arith::DivFOp, arith::NegFOp>(def))
        visited.insert(def->getOperand(0));
      else if (auto read = dyn_cast_or_null<ReadOp>(def);
               read && isZero(read.getArray()))
        factors.insert(pair);
    }
  }
  return isZero(op.getResult());
}

/// Gives the score that the weights are the softmax of an equation of its own.
void Splitter::nameScore() {
  auto read = weights.getYielded().getDefiningOp<ReadOp>();
  if (read && pairs.contains(read.getArray().getDefiningOp()) &&
      plainRead(read, read.getArray())) {
    score = read.getArray().getDefiningOp<ComputeOp>();
    return;
  }
  OpBuilder builder(weights);
  SmallVector<unsigned> order;
  for (unsigned index = 0; index < weights.getNumIndices(); ++index)
    order.push_back(index);
  score = makeOver(builder, weights, order, order.size(), Reducer::none,
                   weights.hasCondition());
  setBatch(score, BatchKind::each);
  copyBody(weights, score, order, /*withCondition=*/true);
  Block &body = weights.getBody().front();
  body.getTerminator()->erase();
  while (!body.empty())
    body.back().erase();
  builder.setInsertionPointToEnd(&body);
  Value value = ReadOp::create(builder, weights.getLoc(), score,
                               ValueRange(body.getArguments()));
  YieldOp::create(builder, weights.getLoc(), value);
  Numbers numbers(order.begin(), order.end());
  pairs.insert({score, numbers});
  forward.insert(score);
}

/// The logarithm of the sum of exponentials of each query.
void Splitter::keepSums() {
  OpBuilder builder(weights->getContext());
  builder.setInsertionPointAfter(weights);
  SmallVector<unsigned> order;
  for (unsigned index = 0; index < weights.getNumIndices(); ++index)
    order.push_back(index);
  sums = makeOver(builder, weights, order, weights.getNumParallel(),
                  Reducer::logsumexp, weights.hasCondition());
  sums->setDiscardableAttrs(weights->getDiscardableAttrDictionary());
  copyBody(weights, sums, order, /*withCondition=*/true);
}

/// Clones the regions of `from`, whose index order[i] is index i of `to`.
void Splitter::copyBody(ComputeOp from, ComputeOp to, ArrayRef<unsigned> order,
                        bool withCondition) {
  auto copy = [&](Region &source, Region &target) {
    IRMapping values;
    for (auto [place, index] : llvm::enumerate(order))
      values.map(source.getArgument(index), target.getArgument(place));
    OpBuilder builder = OpBuilder::atBlockEnd(&target.front());
    for (Operation &inner : source.front())
      builder.clone(inner, values);
  };
  if (withCondition && from.hasCondition())
    copy(from.getCondition(), to.getCondition());
  copy(from.getBody(), to.getBody());
}

/// What the adjoint of the softmax takes off, as a product of what was read.
void Splitter::replaceSum(ComputeOp sum) {
  auto [left, right] = factorsOf(sum);
  auto adjoint = (left.getArray() == weights.getResult() ? right : left)
                     .getArray()
                     .getDefiningOp<ComputeOp>();
  ComputeOp read = reads.front();
  ExampleProduct product = *exampleProductOf(adjoint),
                 ofRead = *exampleProductOf(read);
  Numbers numbers = *numbersOf(sum), ofRows = *numbersOf(read);
  OpBuilder builder(sum->getContext());
  builder.setInsertionPointAfter(place);
  SmallVector<Attribute> names(sum.getIndices().getValue().drop_back()),
      extents(sum.getExtents().getValue().drop_back());
  names.push_back(read.getIndices()[ofRead.n]);
  extents.push_back(read.getExtents()[ofRead.n]);
  auto dot = ComputeOp::create(
      builder, sum.getLoc(), sum.getLabel().value_or(""), names, extents, {},
      sum.getNumParallel(), Reducer::sum, sum.getElementType());
  dot->setDiscardableAttrs(sum->getDiscardableAttrDictionary());
  builder.setInsertionPointToEnd(&dot.getBody().front());
  Value element = dot.getIndex(dot.getNumParallel());
  auto indexOf = [&](int number) -> Value {
    return dot.getIndex(llvm::find(numbers, number) - numbers.begin());
  };
  const Numbers &ofPairs = pairs.find(adjoint)->second;
  SmallVector<Value> atRows, atRead;
  for (const AccessIndex &axis : product.leftAxes)
    atRows.push_back(
        axis.iterator == product.k ? element : indexOf(ofPairs[axis.iterator]));
  for (unsigned index = 0; index < read.getNumParallel(); ++index)
    atRead.push_back(index == ofRead.n ? element : indexOf(ofRows[index]));
  Value rows =
      ReadOp::create(builder, sum.getLoc(), product.left.getArray(), atRows);
  Value found = ReadOp::create(builder, sum.getLoc(), read.getResult(), atRead);
  Value both = arith::MulFOp::create(builder, sum.getLoc(), rows, found);
  YieldOp::create(builder, sum.getLoc(), both);
  sum.getResult().replaceAllUsesWith(dot.getResult());
  place = dot;
}

/// Lets an equation read copies of pairs.
void Splitter::redirect(ComputeOp op, bool isTurned) {
  op.walk([&](ReadOp read) {
    Operation *pair = read.getArray().getDefiningOp();
    auto copy = copies.find(read.getArray());
    if (copy == copies.end())
      return;
    SmallVector<Value> at(read.getIndices());
    if (isTurned)
      std::swap(at[axisOf(pair, row)], at[axisOf(pair, column)]);
    read.getArrayMutable().assign(copy->second);
    read.getIndicesMutable().assign(at);
  });
}

/// A copy of pairs, with keys as rows where it is turned.
Value Splitter::computed(OpBuilder &builder, ComputeOp op, bool isTurned) {
  const Numbers &numbers = pairs.find(op)->second;
  SmallVector<unsigned> order;
  for (unsigned index = 0; index < op.getNumIndices(); ++index)
    order.push_back(index);
  if (isTurned)
    std::swap(order[axisOf(op, row)], order[axisOf(op, column)]);
  bool isWeights = op == weights;
  bool isGuarded = !isWeights && weights.hasCondition() && isBackward(op) &&
                   !exampleProductOf(op) && vanishes(op);
  unsigned rank = numbers.size();
  ComputeOp copy = makeOver(builder, op, order, rank,
                            isWeights ? Reducer::none : op.getReducer(),
                            op.hasCondition() || isGuarded);
  if (isWeights)
    setBatch(copy, BatchKind::each);
  else
    copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  copyBody(op, copy, order, /*withCondition=*/!isGuarded);
  auto indexOf = [&](Region &region, unsigned number) -> Value {
    unsigned axis = llvm::find(numbers, int(number)) - numbers.begin();
    return region.getArgument(llvm::find(order, axis) - order.begin());
  };
  if (isGuarded) {
    SmallVector<Value> at;
    for (unsigned number = 0; number < rank; ++number)
      at.push_back(indexOf(copy.getCondition(), number));
    OpBuilder inside = OpBuilder::atBlockEnd(&copy.getCondition().front());
    YieldOp::create(inside, op.getLoc(),
                    inlineRegion(inside, weights.getCondition(), at));
  }
  if (isWeights) {
    Operation *end = copy.getBody().front().getTerminator();
    OpBuilder inside(end);
    SmallVector<Value> at;
    for (unsigned number = 0; number + 1 < rank; ++number)
      at.push_back(indexOf(copy.getBody(), number));
    Value sum = ReadOp::create(inside, op.getLoc(), sums.getResult(), at);
    Value less =
        arith::SubFOp::create(inside, op.getLoc(), end->getOperand(0), sum);
    end->setOperand(0, math::ExpOp::create(inside, op.getLoc(), less));
  }
  redirect(copy, isTurned);
  if (ProductAttr product = productOf(op); product && isTurned)
    setProduct(copy,
               ProductAttr::get(
                   op.getContext(), product.getKind(), 1 - product.getLeft(),
                   product.getBatch(), product.getRows(), product.getColumns(),
                   product.getTerms(), product.getRun(), product.getRange(),
                   product.getColumnBand().turned(), product.getTermBand()));
  return copy.getResult();
}

/// The pairs that products follow from, in order.
SmallVector<Operation *>
Splitter::neededBy(ArrayRef<ComputeOp> products) const {
  llvm::SetVector<Operation *> needed;
  auto take = [&](Operation *op) {
    forArrays(*op, [&](Operation *, Value array) {
      if (pairs.contains(array.getDefiningOp()))
        needed.insert(array.getDefiningOp());
    });
  };
  for (ComputeOp op : products)
    take(op);
  for (size_t i = 0; i < needed.size(); ++i)
    take(needed[i]);
  SmallVector<Operation *> ops = needed.takeVector();
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

/// Brings products behind all that they read, with pairs of their own.
void Splitter::move(ArrayRef<ComputeOp> products, bool isTurned) {
  if (products.empty())
    return;
  copies.clear();
  OpBuilder builder(weights->getContext());
  builder.setInsertionPointAfter(place);
  for (Operation *pair : neededBy(products)) {
    Value copy = computed(builder, cast<ComputeOp>(pair), isTurned);
    copies[pair->getResult(0)] = copy;
    place = copy.getDefiningOp();
  }
  for (ComputeOp op : products) {
    redirect(op, isTurned);
    op->moveAfter(place);
    place = op;
  }
}

void Splitter::split() {
  nameScore();
  keepSums();
  if (place == weights)
    place = sums;
  for (ComputeOp sum : taken)
    replaceSum(sum);
  move(byQueries, /*isTurned=*/false);
  move(byKeys, /*isTurned=*/true);
  SmallVector<Operation *> old(taken.begin(), taken.end());
  for (const auto &[op, axes] : llvm::reverse(pairs))
    if (isBackward(op))
      old.push_back(op);
  llvm::sort(old,
             [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *op : old)
    if (op->use_empty())
      op->erase();
}

namespace {
struct SplitAdjoints : fovea::attn::impl::SplitAdjointsBase<SplitAdjoints> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    if (MachineAttr::of(getOperation()).getSharedBytes() == 0)
      return;
    SmallVector<ComputeOp> softmaxes;
    for (ComputeOp op : getOperation().getOps<ComputeOp>())
      if (op.getReducer() == Reducer::softmax)
        softmaxes.push_back(op);
    for (ComputeOp op : softmaxes) {
      Splitter splitter(op);
      if (splitter.find())
        splitter.split();
    }
  }
};
} // namespace
