//===- FormStrips.cpp - equations computed a strip of rows at a time ------===//
//
// The scores of attention, their softmax, the weighted sums, and the adjoints
// of these are arrays of pairs: each row, a query, has as many elements as
// there are keys. If only equations over the same rows read such an array, they
// are fused over row blocks, and only a strip is ever in memory: T x S elements
// become S.
//
// The same holds after a product with weights, such as the output layer's: its
// rows are those of a batch.
//
// The idea comes from FlashAttention (Dao et al., 2022, section 3.1), for any
// score and any equations between the products. A strip has whole rows, so no
// softmax has to be combined.
//
//===----------------------------------------------------------------------===//

#include "dialect/Precision.h"
#include "passes/Passes.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/kernels/Members.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_FORMSTRIPS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// A group with so many members gets no more: code for it would grow with the
/// number of layers that read an array.
static constexpr size_t membersOfFullGroup = 24;

namespace {
struct Member {
  ComputeOp op;
  /// Its indices that correspond to the shared ones: those outside, then the
  /// row.
  SmallVector<unsigned> shared;
  /// Whether it sums over the rows; otherwise it has them.
  bool sumsRows = false;
  /// Whether it stays the product that it is.
  bool isProduct = true;
};

struct Group {
  /// Whether the first member is a product with weights: the rows are then
  /// those of all examples, without outer indices.
  bool hasWeights = false;
  SmallVector<Attribute> outer; // the extents outside of the rows
  Attribute rows;
  std::vector<Member> members;
};
} // namespace

namespace {
/// The arrays that each op reads: every seed visits all ops after it.
using Reads = llvm::DenseMap<Operation *, SmallVector<Value, 4>>;
/// The shared index of each axis of an array; -1: none.
using Axes = SmallVector<int>;

/// Grows one group from a product or a score that yields an array of pairs.
class Gatherer {
public:
  /// `last`: the last op of the other groups.
  Gatherer(ProgramOp program, const llvm::DenseSet<Operation *> &taken,
           Operation *last, Reads &reads)
      : program(program), taken(taken), last(last), reads(reads),
        isOnChip(TargetAttr::of(program).getSharedBytes() != 0),
        mostColumns(TargetAttr::of(program).getStripColumns()) {}

  /// The group of `seed`; nothing if no array would become strips.
  std::optional<Group> gather(ComputeOp seed);

private:
  std::optional<Member> asRows(ComputeOp op);
  std::optional<Member> asSum(ComputeOp op);
  bool findShared(ComputeOp op, Member &member);
  bool alignPending(ComputeOp op, const Member &reader);
  bool isPairs(Value array) const;
  void visit(Operation &op);
  bool tearsApart() const;
  void join(const Member &member);
  void move();
  Attribute extentOf(size_t shared) const {
    return shared < group.outer.size() ? group.outer[shared] : group.rows;
  }

  ProgramOp program;
  const llvm::DenseSet<Operation *> &taken;
  /// No op after this one can join this group, or is in another one.
  Operation *last;
  Reads &reads;
  /// Whether strips lie in memory on the chip.
  bool isOnChip;
  /// Longer rows of constant size are excluded; 0: none.
  int64_t mostColumns;
  Group group;
  size_t numShared = 0;
  /// Arrays that members compute row by row.
  llvm::MapVector<Value, Axes> rows;
  /// Arrays that are complete after the last strip.
  llvm::DenseSet<Value> sums;
  /// Ops that come after the group.
  llvm::SetVector<Operation *> after;
  /// Products that may join when a member reads them.
  llvm::MapVector<Value, Member> pending;
};
} // namespace

/// The later one of two ops of a block; either may be null.
static Operation *laterOf(Operation *a, Operation *b) {
  return !a || (b && a->isBeforeInBlock(b)) ? b : a;
}

/// The columns of an array; null for none.
static Attribute columnsOf(Value array) {
  auto type = cast<ArrayType>(array.getType());
  return type.getRank() ? type.getExtent(type.getRank() - 1) : Attribute();
}

/// Returns whether an array has one axis more than the shared indices: its
/// last.
bool Gatherer::isPairs(Value array) const {
  const Axes &axes = rows.find(array)->second;
  if (axes.size() != numShared + 1 || axes.back() >= 0)
    return false;
  auto columns = dyn_cast<IntegerAttr>(columnsOf(array));
  return mostColumns == 0 || !columns || columns.getInt() <= mostColumns;
}

/// A product C[.., row, .., n] of a left side with the row and a right side
/// without it.
static std::optional<Member> asSeed(ComputeOp op) {
  std::optional<ExampleProduct> product = exampleProductOf(op);
  if (!product || batchOf(op) != BatchKind::each)
    return std::nullopt;
  Member member;
  member.op = op;
  for (unsigned index : product->outer) {
    if (!isa<IntegerAttr>(op.getExtents()[index]))
      return std::nullopt;
    member.shared.push_back(index);
  }
  member.shared.push_back(product->m);
  return member;
}

/// A score C[.., row, n] that is not a product, and has a softmax over n.
static std::optional<Member> asScore(ComputeOp op, ProgramOp program) {
  unsigned rank = op.getNumParallel();
  if (rank < 2 || op.getReducer() != Reducer::sum ||
      batchOf(op) != BatchKind::each || rowsProductOf(op) ||
      exampleProductOf(op) ||
      llvm::any_of(
          op.getLower(), [](int64_t lower) { return lower != 0; }) ||
      llvm::any_of(
          op.getExtents(),
          [&](Attribute extent) { return variesInside(extent, program); }))
    return std::nullopt;
  Member member;
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

/// Returns whether equations, not loops or products, read an array that could
/// be fused with it.
static bool isReadByRows(ComputeOp op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto reader = user->getParentOfType<ComputeOp>();
    return reader && reader->getBlock() == op->getBlock() &&
           plainRead(user, op.getResult()) && !rowsProductOf(reader) &&
           !exampleProductOf(reader);
  });
}

/// A product with weights, C[row, n], whose rows are those of all examples.
static bool isWeights(ComputeOp op, ProgramOp program) {
  std::optional<RowsProduct> product = rowsProductOf(op);
  if (!product || product->kind != ProductKind::weights || product->gathered ||
      product->hasRowCondition || product->columns() != product->width ||
      op.getNumParallel() != 2 || variesInside(op.getExtents()[0], program) ||
      !isReadByRows(op))
    return false;
  // Data may be stored in other ways than in consecutive rows.
  return !throughViews(product->left.getArray()).getDefiningOp<DataOp>();
}

/// The axes of a member's result.
static Axes axesOf(const Member &member, size_t rank) {
  Axes axes(rank, -1);
  for (auto [number, index] : llvm::enumerate(member.shared))
    axes[index] = static_cast<int>(number);
  return axes;
}

/// Determines which indices of `op` are the shared ones, from its reads of the
/// members. Returns false if it reads no arrays of pairs, or members other than
/// row by row.
bool Gatherer::findShared(ComputeOp op, Member &member) {
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

/// Returns whether this member reads the waiting products row by row;
/// determines their shared indices.
bool Gatherer::alignPending(ComputeOp op, const Member &reader) {
  bool isGood = true;
  forArrays(*op, [&](Operation *user, Value array) {
    auto *waiting = pending.find(array);
    if (waiting == pending.end())
      return;
    ReadOp read = plainRead(user, array);
    isGood = isGood && read;
    if (!isGood)
      return;
    Member &member = waiting->second;
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
    isGood &= member.shared.back() == exampleProductOf(member.op)->m;
  });
  return isGood;
}

/// An equation over the rows that it reads.
std::optional<Member> Gatherer::asRows(ComputeOp op) {
  Member member;
  member.op = op;
  if (batchOf(op) != BatchKind::each || op.getReducer() == Reducer::cumsum ||
      rowsProductOf(op) ||
      llvm::any_of(
          op.getExtents(),
          [&](Attribute extent) { return variesInside(extent, program); }) ||
      llvm::any_of(equalitiesOf(op),
                   [&](const Equality &equality) {
                     return equality.index < op.getNumParallel();
                   }) ||
      !findShared(op, member) ||
      llvm::any_of(member.shared, [&](unsigned index) {
        return index >= op.getNumParallel();
      }))
    return std::nullopt;
  std::optional<ExampleProduct> product = exampleProductOf(op);
  if (group.hasWeights && (product || member.shared.front() != 0))
    return std::nullopt;
  // Other products are computed row by row.
  member.isProduct = product && product->m == member.shared.back() &&
                     op.getNumParallel() == numShared + 1;
  // Only products have factors that are rounded.
  if (precisionOf(op) && !member.isProduct)
    return std::nullopt;
  return member;
}

/// A product whose terms are the rows.
std::optional<Member> Gatherer::asSum(ComputeOp op) {
  Member member;
  member.op = op;
  member.sumsRows = true;
  std::optional<ExampleProduct> product = exampleProductOf(op);
  if (!product || !product->columns.isWhole() || !findShared(op, member) ||
      member.shared.back() != product->k ||
      product->outer.size() + 1 != numShared ||
      llvm::any_of(ArrayRef(member.shared).drop_back(), [&](unsigned index) {
        return !llvm::is_contained(product->outer, index);
      }))
    return std::nullopt;
  return member;
}

void Gatherer::join(const Member &member) {
  auto add = [&](const Member &each) {
    ComputeOp op = each.op;
    group.members.push_back(each);
    if (each.sumsRows) {
      sums.insert(op.getResult());
      return;
    }
    // A softmax has its reduction index as an axis.
    size_t rank = cast<ArrayType>(op.getResult().getType()).getRank();
    rows[op.getResult()] = axesOf(each, rank);
    for (Operation *user : op->getUsers())
      last = laterOf(last, op->getBlock()->findAncestorOpInBlock(*user));
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

/// Adds the op, leaves it in place, or moves it after the group.
void Gatherer::visit(Operation &op) {
  bool isAfter = false, touches = false;
  SmallVector<Value> waiting;
  auto [arrays, isNew] = reads.try_emplace(&op);
  if (isNew)
    forArrays(op, [&, &list = arrays->second](Operation *, Value array) {
      if (!llvm::is_contained(list, array))
        list.push_back(array);
    });
  for (Value array : arrays->second) {
    Operation *source = array.getDefiningOp();
    isAfter |= sums.contains(array) || (source && after.contains(source));
    touches |= rows.contains(array);
    if (pending.contains(array))
      waiting.push_back(array);
  }
  auto compute = dyn_cast<ComputeOp>(op);
  if (!isAfter && compute && touches && !taken.contains(&op) &&
      group.members.size() < membersOfFullGroup) {
    std::optional<Member> member = asRows(compute);
    if (!member && !group.hasWeights)
      member = asSum(compute);
    if (member && alignPending(compute, *member)) {
      join(*member);
      return;
    }
  }
  if (isAfter || touches) {
    after.insert(&op);
    return;
  }
  // An array with another reader before the group stays in place.
  for (Value array : waiting)
    pending.erase(array);
  if (!compute || taken.contains(&op) || group.hasWeights)
    return;
  std::optional<Member> member = asSeed(compute);
  if (!member || member->shared.size() != numShared)
    return;
  ExampleProduct product = *exampleProductOf(compute);
  // A sum over the columns of other pairs is computed with these.
  if (compute.getExtents()[product.m] == group.rows &&
      (!isOnChip || isa<IntegerAttr>(compute.getExtents()[product.k])))
    pending.insert({compute.getResult(), *member});
}

/// Returns whether a member of another group would have to follow this one, and
/// starts before its end. In caches, neighbouring arrays are as near: no group
/// there follows another one.
bool Gatherer::tearsApart() const {
  return llvm::any_of(after, [&](Operation *op) {
    return taken.contains(op) &&
           (!isOnChip || llvm::any_of(group.members, [&](const Member &member) {
             return op->isBeforeInBlock(ComputeOp(member.op));
           }));
  });
}

/// Makes members consecutive, followed by their users.
void Gatherer::move() {
  Operation *last = group.members.front().op;
  for (const Member &member : group.members)
    if (last->isBeforeInBlock(member.op))
      last = member.op;
  llvm::sort(group.members, [](const Member &a, const Member &b) {
    return a.op->isBeforeInBlock(b.op);
  });
  SmallVector<Operation *> later;
  for (Operation *op = group.members.front().op; op != last;
       op = op->getNextNode())
    if (after.contains(op))
      later.push_back(op);
  for (const Member &member : group.members)
    if (member.op != last)
      member.op->moveBefore(last);
  for (Operation *op : llvm::reverse(later))
    op->moveAfter(last);
}

std::optional<Group> Gatherer::gather(ComputeOp seed) {
  std::optional<Member> first = asSeed(seed);
  if (!first)
    first = asScore(seed, program);
  group.hasWeights = !isOnChip && isWeights(seed, program);
  if (group.hasWeights)
    first = Member{.op = seed, .shared = {0}};
  if (!first)
    return std::nullopt;
  for (unsigned index : ArrayRef(first->shared).drop_back())
    group.outer.push_back(seed.getExtents()[index]);
  group.rows = seed.getExtents()[first->shared.back()];
  numShared = first->shared.size();
  last = laterOf(last, seed);
  join(*first);
  for (Operation *op = seed->getNextNode(); op && !last->isBeforeInBlock(op);
       op = op->getNextNode())
    visit(*op);
  if (tearsApart())
    return std::nullopt;
  auto isMember = [&](Operation *user) {
    Operation *own = program.getBody().front().findAncestorOpInBlock(*user);
    return llvm::any_of(group.members,
                        [&](const Member &member) { return member.op == own; });
  };
  bool hasStrips = llvm::any_of(rows, [&](const auto &entry) {
    Value array = entry.first;
    return isPairs(array) && (!isOnChip || isa<StringAttr>(columnsOf(array))) &&
           cast<ArrayType>(array.getType()).getElementType().isF64() &&
           !array.use_empty() && llvm::all_of(array.getUsers(), isMember);
  });
  if (!hasStrips)
    return std::nullopt;
  move();
  return std::move(group);
}

//===----------------------------------------------------------------------===//
// Pairs that a later group reads
//===----------------------------------------------------------------------===//

/// The members that an array of pairs depends on, in order, if recomputing it
/// costs no more than its products; otherwise empty.
static SmallVector<Operation *> chainOf(const Group &group, Value array) {
  llvm::SetVector<Operation *> chain;
  chain.insert(array.getDefiningOp());
  for (size_t number = 0; number < chain.size(); ++number) {
    auto op = cast<ComputeOp>(chain[number]);
    if (!exampleProductOf(op) && op.getReducer() != Reducer::none &&
        !op.isNormaliser())
      return {};
    forArrays(*op, [&](Operation *, Value read) {
      Operation *source = read.getDefiningOp();
      if (llvm::any_of(group.members, [&](const Member &member) {
            return member.op == source;
          }))
        chain.insert(source);
    });
  }
  SmallVector<Operation *> ops = chain.takeVector();
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

/// The start of a later group that reads `array`, an array of pairs, as the
/// adjoints of attention read its weights: the first of its readers, or of the
/// products of pairs that these read. Null if there is another reader, or
/// none.
static Operation *laterGroup(const Group &group, Value array) {
  Operation *first = nullptr;
  auto take = [&](Operation *op) {
    if (!first || op->isBeforeInBlock(first))
      first = op;
  };
  for (Operation *user : array.getUsers()) {
    auto reader = user->getParentOfType<ComputeOp>();
    if (!reader || reader->getBlock() != array.getParentBlock() ||
        batchOf(reader) != BatchKind::each || !plainRead(user, array))
      return nullptr;
    if (llvm::any_of(group.members,
                     [&](const Member &member) { return member.op == reader; }))
      continue;
    take(reader);
    forArrays(*reader, [&](Operation *, Value other) {
      auto source = other.getDefiningOp<ComputeOp>();
      if (source && source->getBlock() == reader->getBlock() &&
          asSeed(source) && group.members.back().op->isBeforeInBlock(source))
        take(source);
    });
  }
  return first;
}

/// Makes a later group recompute the pairs of this group that it reads, so that
/// neither keeps them in memory. Returns the new ops, and the op that they
/// precede.
static std::pair<SmallVector<Operation *>, Operation *>
repeatPairs(const Group &group, const llvm::DenseSet<Operation *> &taken) {
  for (const Member &member : llvm::reverse(group.members)) {
    Value array = ComputeOp(member.op).getResult();
    auto type = cast<ArrayType>(array.getType());
    // Only arrays with a length of columns: others are no larger than their
    // inputs.
    if (member.sumsRows || type.getRank() <= int64_t(member.shared.size()) ||
        !type.getElementType().isF64() || !isa<StringAttr>(columnsOf(array)))
      continue;
    SmallVector<Operation *> chain = chainOf(group, array);
    Operation *later = laterGroup(group, array);
    if (chain.empty() || !later || taken.contains(later))
      continue;
    OpBuilder builder(later);
    IRMapping mapping;
    SmallVector<Operation *> copies;
    for (Operation *op : chain)
      copies.push_back(builder.clone(*op, mapping));
    array.replaceUsesWithIf(mapping.lookup(array), [&](OpOperand &use) {
      auto reader = use.getOwner()->getParentOfType<ComputeOp>();
      return !llvm::is_contained(copies, reader.getOperation()) &&
             llvm::none_of(group.members, [&](const Member &each) {
               return each.op == reader;
             });
    });
    return {copies, later};
  }
  return {};
}

namespace {
struct FormStrips : fovea::attn::impl::FormStripsBase<FormStrips> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    ProgramOp program = getOperation();
    if (TargetAttr::of(program).getStripRows() == 0)
      return;
    llvm::DenseSet<Operation *> taken;
    Operation *last = nullptr;
    Reads reads;
    std::vector<Group> groups;
    bool isOnChip = TargetAttr::of(program).getSharedBytes() != 0;
    std::vector<Operation *> seeds;
    for (ComputeOp op : program.getOps<ComputeOp>())
      seeds.push_back(op);
    for (size_t number = 0; number < seeds.size(); ++number) {
      auto op = cast<ComputeOp>(seeds[number]);
      if (taken.contains(op))
        continue;
      std::optional<Group> group =
          Gatherer(program, taken, last, reads).gather(op);
      if (!group)
        continue;
      for (const Member &member : group->members)
        taken.insert(member.op);
      // Groups may have moved others.
      last = nullptr;
      for (Operation *each : taken)
        last = laterOf(last, each);
      if (isOnChip) {
        auto [again, later] = repeatPairs(*group, taken);
        reads.clear();
        seeds.insert(std::max(llvm::find(seeds, later),
                              seeds.begin() + int64_t(number) + 1),
                     again.begin(), again.end());
      }
      groups.push_back(std::move(*group));
    }
    for (const Group &group : groups)
      form(group);
  }

  void form(const Group &group) {
    SmallVector<Operation *> ops;
    OpBuilder builder(&getContext());
    for (const Member &member : group.members) {
      ops.push_back(member.op);
      SmallVector<int64_t> shared(member.shared.begin(), member.shared.end());
      member.op->setAttr(sharedName, builder.getDenseI64ArrayAttr(shared));
      if (!member.isProduct)
        setProduct(member.op, {});
    }
    KernelOp kernel = makeKernel(Schedule::strips, ops);
    kernel.setOverAttr(group.rows);
    if (!group.outer.empty())
      kernel.setOuterAttr(builder.getArrayAttr(group.outer));
  }
};
} // namespace
