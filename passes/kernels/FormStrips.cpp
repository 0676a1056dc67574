//===- FormStrips.cpp - equations computed a strip of rows at a time ------===//
//
// The scores of attention, their softmax, what it reads, and the adjoints of
// these are arrays of pairs: for each row, a query, as many elements as there
// are keys. Where only equations over the same rows read such an array, they
// are computed together, some rows after the others, and no more than a strip
// of it is ever in memory: T x S elements become S.
//
// The same holds after a product with weights, such as that of a vocabulary:
// its rows are those of a batch.
//
// The idea is that of FlashAttention (Dao et al., 2022, section 3.1) for any
// score and any equations between the products: a strip has its rows whole, so
// that no softmax has to be put together.
//
//===----------------------------------------------------------------------===//

#include "dialect/Precision.h"
#include "passes/Passes.h"
#include "passes/analysis/Product.h"
#include "passes/batch/Batch.h"
#include "passes/kernels/Members.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_FORMSTRIPS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Where strips lie on the chip, rows of more numbers are none: too few of them
/// fit, and arrays of rows are small beside arrays of pairs.
static constexpr int64_t mostColumnsOnChip = 128;

namespace {
struct Member {
  ComputeOp op;
  /// Its indices that stand for the shared ones: those outside, then the row.
  SmallVector<unsigned> shared;
  /// Whether it adds up over the rows; otherwise it gives them.
  bool sumsRows = false;
  /// Whether it stays the product that it is.
  bool isProduct = true;
};

struct Group {
  /// Whether the first member is a product with weights: the rows are then
  /// those of all examples, and nothing is outside of them.
  bool hasWeights = false;
  SmallVector<Attribute> outer; // the extents outside of the rows
  Attribute rows;
  std::vector<Member> members;
};
} // namespace

namespace {
/// Which shared index each axis of an array is; -1: none.
using Axes = SmallVector<int>;

/// Grows one group from a product or a score that gives an array of pairs.
class Gatherer {
public:
  Gatherer(ProgramOp program, const llvm::DenseSet<Operation *> &taken)
      : program(program), taken(taken),
        isOnChip(MachineAttr::of(program).getSharedBytes() != 0) {}

  /// The group of `seed`; nothing where no array would become strips.
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
  /// Whether strips lie in memory on the chip.
  bool isOnChip;
  Group group;
  size_t numShared = 0;
  /// Arrays that members give row by row.
  llvm::MapVector<Value, Axes> rows;
  /// Arrays that are whole after the last strip.
  llvm::DenseSet<Value> sums;
  /// Ops that come after the group.
  llvm::SetVector<Operation *> after;
  /// Products that may join when a member reads them.
  llvm::MapVector<Value, Member> pending;
};
} // namespace

/// The columns of an array; null for none.
static Attribute columnsOf(Value array) {
  auto type = cast<ArrayType>(array.getType());
  return type.getRank() ? type.getExtent(type.getRank() - 1) : Attribute();
}

/// Whether an array has one more axis than the shared indices: its last.
bool Gatherer::isPairs(Value array) const {
  const Axes &axes = rows.find(array)->second;
  if (axes.size() != numShared + 1 || axes.back() >= 0)
    return false;
  auto columns = dyn_cast<IntegerAttr>(columnsOf(array));
  return !isOnChip || !columns || columns.getInt() <= mostColumnsOnChip;
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

/// A score C[.., row, n] that is no product, and has a softmax over n.
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

/// Whether equations read an array that could be computed with it: neither
/// loops nor products.
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
  // Data may lie otherwise than in consecutive rows.
  return !throughViews(product->left.getArray()).getDefiningOp<DataOp>();
}

/// The axes of what a member gives.
static Axes axesOf(const Member &member, size_t rank) {
  Axes axes(rank, -1);
  for (auto [number, index] : llvm::enumerate(member.shared))
    axes[index] = static_cast<int>(number);
  return axes;
}

/// Finds which indices of `op` are the shared ones, by what it reads of the
/// members. False if it does not read arrays of pairs, or members otherwise
/// than row by row.
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

/// Whether the products that wait are read row by row by this member; finds
/// their shared indices.
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

/// An equation that gives the rows that it reads.
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

/// Takes the op in, or leaves it where it is, or after the group.
void Gatherer::visit(Operation &op) {
  bool isAfter = false, touches = false;
  SmallVector<Value> waiting;
  forArrays(op, [&](Operation *, Value array) {
    Operation *source = array.getDefiningOp();
    isAfter |= sums.contains(array) || (source && after.contains(source));
    touches |= rows.contains(array);
    if (pending.contains(array))
      waiting.push_back(array);
  });
  auto compute = dyn_cast<ComputeOp>(op);
  if (!isAfter && compute && touches && !taken.contains(&op)) {
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
  // What somebody else reads before the group stays where it is.
  for (Value array : waiting)
    pending.erase(array);
  if (!compute || taken.contains(&op) || group.hasWeights)
    return;
  std::optional<Member> member = asSeed(compute);
  if (!member || member->shared.size() != numShared)
    return;
  ExampleProduct product = *exampleProductOf(compute);
  // What is a sum over the columns of other pairs is computed where these are.
  if (compute.getExtents()[product.m] == group.rows &&
      (!isOnChip || isa<IntegerAttr>(compute.getExtents()[product.k])))
    pending.insert({compute.getResult(), *member});
}

/// Whether a member of another group would have to come after this one, and
/// comes before its end. In caches, which strips on the chip leave to others,
/// arrays of neighbours are as near: there no group has another one after it.
bool Gatherer::tearsApart() const {
  return llvm::any_of(after, [&](Operation *op) {
    return taken.contains(op) &&
           (!isOnChip || llvm::any_of(group.members, [&](const Member &member) {
             return op->isBeforeInBlock(ComputeOp(member.op));
           }));
  });
}

/// Consecutive members, then what needs them.
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
  join(*first);
  for (Operation *op = seed->getNextNode(); op; op = op->getNextNode())
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

/// The members that an array of pairs follows from, in order, where to compute
/// it again costs no more than its products: empty if it does.
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

/// Where a later group begins that reads `array`, an array of pairs, as the
/// adjoints of attention read its weights: at the first of its readers, or of
/// the products of pairs that these read. Null where anybody else reads it, or
/// nobody does.
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

/// Has a later group compute again what it reads of the pairs of this one, so
/// that they are in memory for none of both. Returns what is new, and ahead of
/// which op.
static std::pair<SmallVector<Operation *>, Operation *>
repeatPairs(const Group &group, const llvm::DenseSet<Operation *> &taken) {
  for (const Member &member : llvm::reverse(group.members)) {
    Value array = ComputeOp(member.op).getResult();
    auto type = cast<ArrayType>(array.getType());
    // Of as many columns as a length has places: others are no larger than
    // what they are computed of.
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
    if (MachineAttr::of(program).getStripRows() == 0)
      return;
    llvm::DenseSet<Operation *> taken;
    std::vector<Group> groups;
    bool isOnChip = MachineAttr::of(program).getSharedBytes() != 0;
    std::vector<Operation *> seeds;
    for (ComputeOp op : program.getOps<ComputeOp>())
      seeds.push_back(op);
    for (size_t number = 0; number < seeds.size(); ++number) {
      auto op = cast<ComputeOp>(seeds[number]);
      if (taken.contains(op))
        continue;
      std::optional<Group> group = Gatherer(program, taken).gather(op);
      if (!group)
        continue;
      for (const Member &member : group->members)
        taken.insert(member.op);
      if (isOnChip) {
        auto [again, later] = repeatPairs(*group, taken);
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
