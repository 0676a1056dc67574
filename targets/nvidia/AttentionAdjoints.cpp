//===- AttentionAdjoints.cpp - the adjoints of an attention ---------------===//
//
// Finds a softmax over keys, the products that it depends on, and all
// its readers: sums over keys, sums over queries, and equations over
// pairs.
//
//===----------------------------------------------------------------------===//

#include "targets/nvidia/AttentionAdjoints.h"
#include "passes/analysis/Batch.h"
#include "targets/nvidia/TileKeys.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;

std::optional<Numbers> AttentionAdjoints::numbersOf(ComputeOp op) {
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

/// The axes of an array that `reader` reads at its own indices, as index
/// numbers; nothing if another index occurs.
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

/// The equation of the same block whose result `user` reads plainly.
static std::pair<ReadOp, ComputeOp> sourceOf(Operation *user, Value array,
                                             ComputeOp reader) {
  auto source = array.getDefiningOp<ComputeOp>();
  ReadOp read = plainRead(user, array);
  if (!read || !source || source->getBlock() != reader->getBlock() ||
      batchOf(source) != BatchKind::each || !startsAtZero(source))
    return {};
  return {read, source};
}

/// The products of queries and keys that the weights depend on, and the ops
/// between.
bool AttentionAdjoints::findScores() {
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
  // Values that depend on no product are not recomputed.
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
void AttentionAdjoints::takeProducts(ComputeOp reader, const Numbers &numbers) {
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

/// Adds an equation that reads pairs. Returns false if tiles cannot compute it.
bool AttentionAdjoints::take(ComputeOp reader) {
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

bool AttentionAdjoints::takeReaders(ComputeOp pair) {
  return llvm::all_of(pair.getResult().getUsers(), [&](Operation *user) {
    auto reader = user->getParentOfType<ComputeOp>();
    return reader && reader->getBlock() == pair->getBlock() && take(reader);
  });
}

/// Returns whether the condition of the weights implies the condition of `op`.
bool AttentionAdjoints::isImplied(ComputeOp op, const Numbers &numbers) const {
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

std::pair<ReadOp, ReadOp> fovea::attn::factorsOf(ComputeOp op) {
  auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
  if (!product)
    return {};
  return {product.getLhs().getDefiningOp<ReadOp>(),
          product.getRhs().getDefiningOp<ReadOp>()};
}

/// Returns whether `sum` is sum[u](w[t,u] * d[t,u]), where d[t,u] is a product
/// of rows and the values that weights read: then it is the product of the rows
/// and of the weighted sums.
bool AttentionAdjoints::isProductOfRead(ComputeOp sum) {
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

/// After the inputs of both kernels, and before all readers of their results.
bool AttentionAdjoints::findPlace() {
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

bool AttentionAdjoints::find() {
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
  // A sum over the keys of pairs other than weights belongs to both passes.
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

/// Returns whether pairs are zero where the weights are, because these are a
/// factor.
bool AttentionAdjoints::vanishes(ComputeOp op) {
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

/// The pairs that products depend on, in order.
SmallVector<Operation *>
AttentionAdjoints::neededBy(ArrayRef<ComputeOp> products) const {
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
