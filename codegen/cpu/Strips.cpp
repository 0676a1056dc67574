//===- Strips.cpp - equations computed a strip of rows at a time ----------===//

#include "codegen/cpu/Strips.h"
#include "codegen/cpu/Contraction.h"
#include "codegen/cpu/Vectorise.h"
#include "passes/Access.h"
#include "passes/Batch.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::codegen;

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

namespace {
/// Which shared index each axis of an array is; -1: none.
using Axes = SmallVector<int>;

/// Grows one group from a product or a score that gives an array of pairs.
class Gatherer {
public:
  Gatherer(ProgramOp program, const llvm::DenseSet<Operation *> &taken)
      : program(program), taken(taken) {}

  /// The group of `seed`; nothing where no array would become strips.
  std::optional<StripGroup> gather(ComputeOp seed);

private:
  std::optional<StripMember> asRows(ComputeOp op);
  std::optional<StripMember> asSum(ComputeOp op);
  bool findShared(ComputeOp op, StripMember &member);
  bool alignPending(ComputeOp op, const StripMember &reader);
  bool isPairs(Value array) const;
  bool visit(Operation &op);
  void join(const StripMember &member);
  void move();
  Attribute extentOf(size_t shared) const {
    return shared < group.outer.size() ? group.outer[shared] : group.rows;
  }

  ProgramOp program;
  const llvm::DenseSet<Operation *> &taken;
  StripGroup group;
  size_t numShared = 0;
  /// Arrays that members give row by row.
  llvm::MapVector<Value, Axes> rows;
  /// Arrays that members add up over the rows.
  llvm::DenseSet<Value> sums;
  /// Ops that come behind the group.
  llvm::SetVector<Operation *> behind;
  /// Products that may join when a member reads them.
  llvm::MapVector<Value, StripMember> pending;
};
} // namespace

/// Whether an array has one more axis than the shared indices: its last.
bool Gatherer::isPairs(Value array) const {
  const Axes &axes = rows.find(array)->second;
  return axes.size() == numShared + 1 && axes.back() < 0;
}

/// A product C[.., row, .., n] of a left side with the row and a right side
/// without it.
static std::optional<StripMember> asSeed(ComputeOp op) {
  std::optional<BatchedContraction> product = batchedContractionOf(op);
  if (!product || batchOf(op) != BatchKind::each)
    return std::nullopt;
  StripMember member;
  member.op = op;
  member.product = product;
  for (unsigned index : product->outer) {
    if (!isa<IntegerAttr>(op.getExtents()[index]))
      return std::nullopt;
    member.shared.push_back(index);
  }
  member.shared.push_back(product->m);
  return member;
}

/// A score C[.., row, n] that is no product, and has a softmax over n.
static std::optional<StripMember> asScore(ComputeOp op, ProgramOp program) {
  unsigned rank = op.getNumParallel();
  if (rank < 2 || op.getReducer() != Reducer::sum ||
      batchOf(op) != BatchKind::each || contractionOf(op) ||
      batchedContractionOf(op) ||
      llvm::any_of(
          op.getLower(), [](int64_t lower) { return lower != 0; }) ||
      llvm::any_of(
          op.getExtents(),
          [&](Attribute extent) { return isNested(extent, program); }))
    return std::nullopt;
  StripMember member;
  member.op = op;
  for (unsigned index = 0; index < rank; ++index) {
    bool isLength = isa<StringAttr>(op.getExtents()[index]);
    if (isLength != (index + 2 >= rank))
      return std::nullopt;
    if (index + 1 < rank)
      member.shared.push_back(index);
  }
  bool isNormalised = llvm::any_of(op->getUsers(), [](Operation *user) {
    auto reader = user->getParentOfType<ComputeOp>();
    return reader && reader.isNormaliser();
  });
  return isNormalised ? std::optional(member) : std::nullopt;
}

/// Whether equations read an array that could be computed with it: neither
/// loops nor products.
static bool isReadByRows(ComputeOp op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto reader = user->getParentOfType<ComputeOp>();
    return reader && reader->getBlock() == op->getBlock() &&
           plainRead(user, op.getResult()) && !contractionOf(reader) &&
           !batchedContractionOf(reader);
  });
}

/// A product with weights, C[row, n], whose rows are those of all examples.
static std::optional<Contraction> asWeights(ComputeOp op, ProgramOp program) {
  std::optional<Contraction> product = contractionOf(op);
  if (!product || product->kind != Contraction::Rows ||
      product->hasRowCondition || product->columns() != product->width ||
      op.getNumParallel() != 2 || isNested(op.getExtents()[0], program) ||
      !isReadByRows(op))
    return std::nullopt;
  // Data may lie otherwise than one row behind the other.
  if (behindViews(product->left.getArray()).getDefiningOp<DataOp>())
    return std::nullopt;
  return product;
}

/// The axes of what a member gives.
static Axes axesOf(const StripMember &member, size_t rank) {
  Axes axes(rank, -1);
  for (auto [number, index] : llvm::enumerate(member.shared))
    axes[index] = static_cast<int>(number);
  return axes;
}

/// Finds which indices of `op` are the shared ones, by what it reads of the
/// members. False if it does not read arrays of pairs, or members otherwise
/// than row by row.
bool Gatherer::findShared(ComputeOp op, StripMember &member) {
  bool isGood = true, hasPairs = false;
  SmallVector<std::optional<unsigned>> shared(numShared);
  forArrays(*op, [&](Operation *user, Value array) {
    auto *own = rows.find(array);
    if (own == rows.end())
      return;
    ReadOp read = plainRead(user, array);
    isGood = isGood && read;
    hasPairs |= isPairs(array);
    for (auto [axis, number] : llvm::enumerate(own->second)) {
      if (!isGood || number < 0)
        continue;
      AccessIndex index = classify(read.getIndices()[axis], op);
      isGood = index.kind == AccessIndex::Iterator && index.offset == 0 &&
               shared[number].value_or(index.iterator) == index.iterator &&
               op.getExtents()[index.iterator] == extentOf(number) &&
               op.getLower()[index.iterator] == 0;
      shared[number] = index.iterator;
    }
  });
  if (!isGood || !hasPairs)
    return false;
  member.shared.clear();
  for (std::optional<unsigned> index : shared) {
    if (!index || llvm::is_contained(member.shared, *index))
      return false;
    member.shared.push_back(*index);
  }
  return true;
}

/// Whether the products that wait are read row by row by this member; finds
/// their shared indices.
bool Gatherer::alignPending(ComputeOp op, const StripMember &reader) {
  bool isGood = true;
  forArrays(*op, [&](Operation *user, Value array) {
    auto *waiting = pending.find(array);
    if (waiting == pending.end())
      return;
    ReadOp read = plainRead(user, array);
    isGood = isGood && read;
    if (!isGood)
      return;
    StripMember &member = waiting->second;
    SmallVector<std::optional<unsigned>> shared(numShared);
    for (auto [axis, value] : llvm::enumerate(read.getIndices().drop_back())) {
      AccessIndex index = classify(value, op);
      const auto *found = llvm::find(reader.shared, index.iterator);
      if (index.kind == AccessIndex::Iterator && index.offset == 0 &&
          found != reader.shared.end())
        shared[found - reader.shared.begin()] = axis;
    }
    member.shared.clear();
    for (auto [number, index] : llvm::enumerate(shared)) {
      isGood &= index && member.op.getExtents()[*index] == extentOf(number);
      member.shared.push_back(index.value_or(0));
    }
    isGood &= member.shared.back() == member.product->m;
  });
  return isGood;
}

/// An equation that gives the rows that it reads, or their sums over the
/// examples.
std::optional<StripMember> Gatherer::asRows(ComputeOp op) {
  StripMember member;
  member.op = op;
  if (batchOf(op) == BatchKind::once || op.getReducer() == Reducer::cumsum ||
      contractionOf(op) ||
      llvm::any_of(
          op.getExtents(),
          [&](Attribute extent) { return isNested(extent, program); }) ||
      llvm::any_of(equalitiesOf(op),
                   [&](const Equality &equality) {
                     return equality.index < op.getNumParallel();
                   }) ||
      !findShared(op, member) ||
      llvm::any_of(member.shared, [&](unsigned index) {
        return index >= op.getNumParallel();
      }))
    return std::nullopt;
  member.product = batchedContractionOf(op);
  if (group.weights && (member.product || member.shared.front() != 0))
    return std::nullopt;
  if (member.product && (member.product->m != member.shared.back() ||
                         op.getNumParallel() != numShared + 1))
    member.product.reset();
  if (batchOf(op) == BatchKind::sum && !member.product)
    return std::nullopt;
  return member;
}

/// A product whose terms are the rows.
std::optional<StripMember> Gatherer::asSum(ComputeOp op) {
  StripMember member;
  member.op = op;
  member.sumsRows = true;
  member.product = batchedContractionOf(op);
  if (!member.product || !member.product->columns.isWhole() ||
      !findShared(op, member) || member.shared.back() != member.product->k ||
      member.product->outer.size() + 1 != numShared ||
      llvm::any_of(ArrayRef(member.shared).drop_back(), [&](unsigned index) {
        return !llvm::is_contained(member.product->outer, index);
      }))
    return std::nullopt;
  return member;
}

/// sum[row](f(row)) of an example becomes sum[row](g[row]) with g[row] =
/// f(row), which is returned; null where it is something else.
static ComputeOp splitRows(ComputeOp op, Attribute rows) {
  if (batchOf(op) != BatchKind::each || op.getReducer() != Reducer::sum ||
      op.getNumIndices() != 1 || op.getNumParallel() != 0 ||
      op.hasCondition() || op.getExtents()[0] != rows || op.getLower()[0] != 0)
    return {};
  OpBuilder builder(op);
  auto each = ComputeOp::create(
      builder, op.getLoc(), op.getLabel().value_or(""),
      op.getIndices().getValue(), op.getExtents().getValue(), {},
      /*numParallel=*/1, Reducer::none, op.getElementType());
  setBatch(each, BatchKind::each);
  Block &from = op.getBody().front(), &to = each.getBody().front();
  to.getOperations().splice(to.end(), from.getOperations());
  from.getArgument(0).replaceAllUsesWith(to.getArgument(0));
  builder.setInsertionPointToEnd(&from);
  Value value =
      ReadOp::create(builder, op.getLoc(), each, ValueRange{op.getIndex(0)});
  YieldOp::create(builder, op.getLoc(), value);
  return each;
}

/// The sum over the examples, of what each has by itself.
static void splitSum(ComputeOp op) {
  if (batchOf(op) != BatchKind::sum)
    return;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  unsigned rank = op.getNumParallel();
  auto sum = ComputeOp::create(builder, op.getLoc(), op.getLabel().value_or(""),
                               op.getIndices().getValue().take_front(rank),
                               op.getExtents().getValue().take_front(rank), {},
                               rank, Reducer::none, op.getElementType());
  op.getResult().replaceAllUsesWith(sum.getResult());
  setBatch(sum, BatchKind::sum);
  setBatch(op, BatchKind::each);
  builder.setInsertionPointToEnd(&sum.getBody().front());
  SmallVector<Value> indices;
  for (unsigned index = 0; index < rank; ++index)
    indices.push_back(sum.getIndex(index));
  Value value = ReadOp::create(builder, op.getLoc(), op, indices);
  YieldOp::create(builder, op.getLoc(), value);
}

void Gatherer::join(const StripMember &member) {
  auto add = [&](const StripMember &each) {
    ComputeOp op = each.op;
    group.members.push_back(each);
    if (each.sumsRows) {
      sums.insert(op.getResult());
      return;
    }
    // A softmax has its reduction index as an axis.
    size_t rank = cast<ArrayType>(op.getResult().getType()).getRank();
    rows[op.getResult()] = axesOf(each, rank);
  };
  forArrays(*member.op, [&](Operation *, Value array) {
    auto *found = pending.find(array);
    if (found == pending.end())
      return;
    add(found->second);
    pending.erase(array);
  });
  add(member);
}

/// Takes the op in, or leaves it where it is, or behind the group. False if
/// that would tear another group apart.
bool Gatherer::visit(Operation &op) {
  bool isBehind = false, touches = false;
  SmallVector<Value> waiting;
  forArrays(op, [&](Operation *, Value array) {
    Operation *source = array.getDefiningOp();
    // What sums over the rows is whole behind the last strip.
    isBehind |= sums.contains(array) || (source && behind.contains(source));
    touches |= rows.contains(array);
    if (pending.contains(array))
      waiting.push_back(array);
  });
  auto compute = dyn_cast<ComputeOp>(op);
  if (!isBehind && compute && touches && !taken.contains(&op)) {
    std::optional<StripMember> member = asRows(compute);
    if (!member && !group.weights)
      member = asSum(compute);
    if (!member && group.weights)
      if (ComputeOp each = splitRows(compute, group.rows)) {
        compute = each;
        member = asRows(each);
        if (!member)
          behind.insert(each);
        behind.insert(&op);
      }
    if (member && alignPending(compute, *member)) {
      splitSum(member->op);
      join(*member);
      return true;
    }
  }
  if (isBehind || touches) {
    behind.insert(&op);
    return !taken.contains(&op);
  }
  // What somebody else reads before the group stays where it is.
  for (Value array : waiting)
    pending.erase(array);
  if (!compute || taken.contains(&op) || group.weights)
    return true;
  std::optional<StripMember> member = asSeed(compute);
  if (member && member->shared.size() == numShared &&
      compute.getExtents()[member->product->m] == group.rows)
    pending.insert({compute.getResult(), *member});
  return true;
}

/// Members one behind the other, then what needs them.
void Gatherer::move() {
  Operation *last = group.members.front().op;
  for (const StripMember &member : group.members)
    if (last->isBeforeInBlock(member.op))
      last = member.op;
  llvm::sort(group.members, [](const StripMember &a, const StripMember &b) {
    return a.op->isBeforeInBlock(b.op);
  });
  SmallVector<Operation *> later;
  for (Operation *op : behind)
    if (op->isBeforeInBlock(last))
      later.push_back(op);
  for (const StripMember &member : group.members)
    if (member.op != last)
      member.op->moveBefore(last);
  for (Operation *op : llvm::reverse(later))
    op->moveAfter(last);
}

std::optional<StripGroup> Gatherer::gather(ComputeOp seed) {
  std::optional<StripMember> first = asSeed(seed);
  if (!first)
    first = asScore(seed, program);
  group.weights = asWeights(seed, program);
  if (group.weights)
    first = StripMember{.op = seed, .shared = {0}, .product = {}};
  if (!first)
    return std::nullopt;
  for (unsigned index : ArrayRef(first->shared).drop_back())
    group.outer.push_back(seed.getExtents()[index]);
  group.rows = seed.getExtents()[first->shared.back()];
  numShared = first->shared.size();
  join(*first);
  for (Operation *op = seed->getNextNode(); op; op = op->getNextNode())
    if (!visit(*op))
      return std::nullopt;
  auto isMember = [&](Operation *user) {
    Operation *own = program.getBody().front().findAncestorOpInBlock(*user);
    return llvm::any_of(group.members, [&](const StripMember &member) {
      return member.op == own;
    });
  };
  for (const auto &[array, axes] : rows)
    if (isPairs(array) &&
        cast<ArrayType>(array.getType()).getElementType().isF64() &&
        !array.use_empty() && llvm::all_of(array.getUsers(), isMember))
      group.strips.push_back(
          {array, 0,
           static_cast<unsigned>(llvm::find(axes, int(numShared) - 1) -
                                 axes.begin())});
  if (group.strips.empty())
    return std::nullopt;
  move();
  return std::move(group);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t Room::fixedCount() const {
  int64_t result = count;
  for (const Factor &factor : factors)
    if (auto number = dyn_cast<IntegerAttr>(factor.extent))
      result *= llvm::alignTo(number.getInt(), factor.multiple) + factor.extra;
  return result;
}

/// Whether each element of a result may be written over the element of `array`
/// at its own place: a row is read ahead of what is written of it.
static bool isReadAtOwnPlace(ComputeOp op, Value array) {
  if (op.getReducer() != Reducer::none && !op.isNormaliser())
    return false;
  bool isGood = true;
  forArrays(*op, [&](Operation *user, Value read) {
    if (read == array)
      isGood &= cast<ReadOp>(user).getIndices().back() ==
                op.getIndex(op.getNumIndices() - 1);
  });
  return isGood;
}

/// Gives packed right sides and strips their rooms. A strip takes the room of
/// one that nobody reads any more.
static void addRooms(StripGroup &group, GemmTile tile) {
  for (StripMember &member : group.members) {
    if (!member.product)
      continue;
    ArrayAttr extents = member.op.getExtents();
    Room room;
    room.factors.push_back({extents[member.product->n], tile.columns()});
    if (member.sumsRows)
      room.count = stripRows;
    else
      room.factors.push_back({extents[member.product->k]});
    member.packed = group.rooms.size();
    group.rooms.push_back(room);
  }
  size_t firstStrip = group.rooms.size();
  SmallVector<size_t> freeFrom; // by room of a strip: the first free member
  for (auto [number, member] : llvm::enumerate(group.members)) {
    auto *strip = llvm::find_if(group.strips, [&](const auto &each) {
      return each.array == member.op.getResult();
    });
    if (strip == group.strips.end())
      continue;
    size_t lastRead = number;
    for (auto [reader, other] : llvm::enumerate(group.members))
      forArrays(*other.op, [&, reader = reader](Operation *, Value array) {
        if (array == strip->array)
          lastRead = std::max(lastRead, reader);
      });
    auto extent = cast<ArrayType>(strip->array.getType()).getShape().getValue();
    // Between rows: whole vectors, and no power of two, which would bring the
    // rows into few sets of a cache.
    Room room{.count = stripRows, .factors = {{extent.back(), 16, 16}}};
    auto isFree = [&](size_t at) {
      if (group.rooms[firstStrip + at].factors[0].extent != extent.back())
        return false;
      if (freeFrom[at] <= number)
        return true;
      if (freeFrom[at] != number + 1)
        return false;
      // Its last reader is this member.
      return llvm::all_of(group.strips, [&](const auto &each) {
        return each.room != firstStrip + at || &each == strip ||
               isReadAtOwnPlace(member.op, each.array);
      });
    };
    size_t at = 0;
    while (at < freeFrom.size() && !isFree(at))
      ++at;
    if (at == freeFrom.size()) {
      freeFrom.push_back(0);
      group.rooms.push_back(room);
    }
    freeFrom[at] = lastRead + 1;
    strip->room = firstStrip + at;
  }
}

std::vector<StripGroup> fovea::codegen::gatherStrips(ProgramOp program,
                                                     GemmTile tile) {
  std::vector<StripGroup> groups;
  llvm::DenseSet<Operation *> taken;
  for (ComputeOp op : llvm::to_vector(program.getOps<ComputeOp>())) {
    if (taken.contains(op))
      continue;
    if (auto group = Gatherer(program, taken).gather(op)) {
      for (const StripMember &member : group->members)
        taken.insert(member.op);
      addRooms(*group, tile);
      groups.push_back(std::move(*group));
    }
  }
  return groups;
}
