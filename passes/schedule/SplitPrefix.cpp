//===- SplitPrefix.cpp - one axis of what is given and what is generated --===//
//
// `x[i]` over M+T places: the first M are known before the search, and place
// M+t is computed in step t. So an equation over the axis becomes one over M
// and one over T. What reads the array looks at the former for `i < M`, and at
// the latter, M places further left, for the rest. Sums and rows over M+T stay:
// inside a step they end at place M+t.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/IndexEquations.h"
#include "passes/schedule/Plan.h"

using namespace mlir;
using namespace fovea::attn;
using namespace fovea::attn::schedule;

namespace {

class Prefix {
public:
  Prefix(const Graph &graph, const PrefixedLength &length)
      : graph(graph), system(graph.getSystem()), length(length) {}

  void split();

private:
  /// The two parts of an array, and the axis along which it is cut.
  struct Parts {
    Operation *given, *fresh;
    unsigned axis;
  };

  bool findAxes();
  bool canCut(Operation *op) const;
  Operation *clone(Operation *op, bool isGiven);
  Operation *simplified(ComputeOp part) const;
  void setExtents(Operation *op, unsigned axis, bool isGiven) const;
  Attribute extentOf(Attribute extent, bool isTime, bool isGiven) const {
    if (extent != Attribute(length.whole))
      return extent;
    return isGiven ? length.given : isTime ? Attribute(length.rest) : extent;
  }
  SmallVector<ReadOp> cutsOf(ComputeOp op) const;
  void shiftTime(ComputeOp fresh, unsigned axis) const;
  void readGiven(ReadOp read) const;
  void readParts(ReadOp read) const;
  Value readPart(OpBuilder &builder, ReadOp read, Value place,
                 bool isGiven) const;
  Value partOf(Value array, bool isGiven) const;
  Value restOf(OpBuilder &builder, Value place, ComputeOp op) const;
  Value size(OpBuilder &builder, Location loc) const;

  const Graph &graph;
  SystemOp system;
  PrefixedLength length;
  Loop loop;
  llvm::MapVector<Operation *, Parts> parts;
};

} // namespace

/// Returns whether the boundaries of a read have numbers as places, which lie
/// before the first one.
static bool isBoundedBefore(ReadOp read) {
  if (!read.getPlaces())
    return true;
  for (auto pairs : read.getPlaces()->getAsRange<ArrayAttr>())
    for (auto pair : pairs.getAsRange<ArrayAttr>())
      if (auto place = dyn_cast<IntegerAttr>(pair[1]);
          !place || place.getInt() >= 0)
        return false;
  return true;
}

/// The ops over the whole axis that have no index of the search.
bool Prefix::findAxes() {
  SmallVector<Operation *> ops;
  for (Operation *op : graph.getNodes()) {
    auto runs = [&](Attribute extent) {
      return llvm::any_of(loopIndices(op),
                          [&](auto index) { return index.second == extent; });
    };
    if (runs(length.whole) && !runs(length.rest))
      ops.push_back(op);
  }
  for (Operation *op : ops)
    for (Operation *user : op->getUsers()) {
      // Only an equation can look at two parts.
      Operation *reader = system.getBody().front().findAncestorOpInBlock(*user);
      if (!isa<ComputeOp>(reader) && !llvm::is_contained(ops, reader))
        return false;
      auto read = dyn_cast<ReadOp>(user);
      if (read && !isBoundedBefore(read))
        return false;
    }
  SmallVector<Edge> edges = edgesWithin(graph, ops, {});
  TimeAxes axes(ops, edges, {});
  loop.extent = length.whole;
  return !ops.empty() && axes.find(loop, {}) &&
         llvm::all_of(ops, [&](Operation *op) { return canCut(op); });
}

bool Prefix::canCut(Operation *op) const {
  if (isa<ConcatOp, ReshapeOp>(op))
    return true;
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute)
    return false;
  unsigned time = loop.getTime(op);
  auto fixed = numberOf(length.given);
  if (compute.getLower()[time] > fixed.value_or(1))
    return false;
  // The first places look at no later ones.
  for (auto [i, extent] : llvm::enumerate(compute.getExtents()))
    if (extent == Attribute(length.whole) && i != time &&
        largestDifference(compute, i, time) > 0)
      return false;
  return true;
}

Value Prefix::size(OpBuilder &builder, Location loc) const {
  if (auto name = dyn_cast<StringAttr>(length.given))
    return ExtentOp::create(builder, loc, name, Value());
  return arith::ConstantIndexOp::create(builder, loc, *numberOf(length.given));
}

Value Prefix::partOf(Value array, bool isGiven) const {
  const auto *found = parts.find(array.getDefiningOp());
  if (found == parts.end())
    return array;
  return (isGiven ? found->second.given : found->second.fresh)->getResult(0);
}

void Prefix::setExtents(Operation *op, unsigned axis, bool isGiven) const {
  auto type = cast<ArrayType>(op->getResult(0).getType());
  SmallVector<Attribute> shape;
  for (auto [i, extent] : llvm::enumerate(type.getShape()))
    shape.push_back(extentOf(extent, i == axis, isGiven));
  op->getResult(0).setType(type.withShape(shape));
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute)
    return;
  SmallVector<Attribute> extents;
  for (auto [i, extent] : llvm::enumerate(compute.getExtents()))
    extents.push_back(extentOf(extent, i == axis, isGiven));
  compute.setExtentsAttr(ArrayAttr::get(op->getContext(), extents));
  if (isGiven)
    return;
  SmallVector<int64_t> lower(compute.getLower());
  lower[axis] = 0;
  compute.setLowerAttr(DenseI64ArrayAttr::get(op->getContext(), lower));
}

Operation *Prefix::clone(Operation *op, bool isGiven) {
  Operation *part = OpBuilder(op).clone(*op);
  setExtents(part, loop.getTime(op), isGiven);
  return part;
}

/// Takes the branches that a part always takes: the given part reads nothing
/// generated, if the other branch has everything generated.
Operation *Prefix::simplified(ComputeOp part) const {
  SmallVector<scf::IfOp> branches;
  part.getBody().walk([&](scf::IfOp branch) { branches.push_back(branch); });
  for (scf::IfOp branch : branches) {
    std::optional<bool> holds = valueOfCondition(branch.getCondition(), part);
    if (!holds)
      continue;
    Block *taken = *holds ? branch.thenBlock() : branch.elseBlock();
    Operation *yield = taken->getTerminator();
    branch.replaceAllUsesWith(yield->getOperands());
    yield->erase();
    branch->getBlock()->getOperations().splice(branch->getIterator(),
                                               taken->getOperations());
    branch.erase();
  }
  if (!part.hasCondition() || part.getReducer() == Reducer::prod ||
      part.getReducer() == Reducer::all)
    return part;
  Value condition = part.getCondition().front().getTerminator()->getOperand(0);
  if (valueOfCondition(condition, part) != false)
    return part;
  // Nothing is computed here.
  auto type = cast<ArrayType>(part.getResult().getType());
  OpBuilder builder(part);
  SmallVector<Attribute> names(
      part.getIndices().getValue().take_front(type.getRank()));
  auto zeros =
      ComputeOp::create(builder, part.getLoc(), part.getLabel().value_or(""),
                        names, type.getShape().getValue(), {}, type.getRank(),
                        Reducer::none, type.getElementType());
  auto inside = OpBuilder::atBlockEnd(&zeros.getBody().front());
  YieldOp::create(
      inside, part.getLoc(),
      arith::ConstantOp::create(inside, part.getLoc(),
                                inside.getZeroAttr(type.getElementType()))
          .getResult());
  part.getResult().replaceAllUsesWith(zeros.getResult());
  part.erase();
  return zeros;
}

/// The reads of arrays that are cut.
SmallVector<ReadOp> Prefix::cutsOf(ComputeOp op) const {
  SmallVector<ReadOp> cuts;
  op->walk([&](ReadOp read) {
    if (parts.contains(read.getArray().getDefiningOp()))
      cuts.push_back(read);
  });
  return cuts;
}

/// Place t of the rest is place M+t of the whole.
void Prefix::shiftTime(ComputeOp fresh, unsigned axis) const {
  for (Region *region : {&fresh.getCondition(), &fresh.getBody()}) {
    if (region->empty())
      continue;
    auto builder = OpBuilder::atBlockBegin(&region->front());
    Value place = region->getArgument(axis);
    Value first = size(builder, fresh.getLoc());
    auto moved = arith::AddIOp::create(builder, fresh.getLoc(), first, place);
    place.replaceAllUsesExcept(moved, moved);
  }
}

void Prefix::readGiven(ReadOp read) const {
  read.getArrayMutable().assign(partOf(read.getArray(), true));
  for (OpOperand &alternative : read.getAlternativesMutable())
    alternative.assign(partOf(alternative.get(), true));
}

/// Reads one part of an array, whose axis is at `place`. Boundaries of that
/// axis lie before the given part.
Value Prefix::readPart(OpBuilder &builder, ReadOp read, Value place,
                       bool isGiven) const {
  unsigned axis = parts.find(read.getArray().getDefiningOp())->second.axis;
  SmallVector<Value> indices(read.getIndices()), alternatives;
  indices[axis] = place;
  SmallVector<Attribute> places;
  if (read.getPlaces())
    for (auto [alternative, pairs] :
         llvm::zip_equal(read.getAlternatives(),
                         read.getPlaces()->getAsRange<ArrayAttr>())) {
      bool isBefore =
          llvm::any_of(pairs.getAsRange<ArrayAttr>(), [&](ArrayAttr pair) {
            return cast<IntegerAttr>(pair[0]).getInt() == axis;
          });
      if (isBefore && !isGiven)
        continue;
      alternatives.push_back(partOf(alternative, isGiven));
      places.push_back(pairs);
    }
  return ReadOp::create(
      builder, read.getLoc(), read.getType(), partOf(read.getArray(), isGiven),
      indices, alternatives, read.getOtherwise(),
      places.empty() ? ArrayAttr() : builder.getArrayAttr(places));
}

/// A place of the whole as one of the rest, if it is an index or after it; null
/// for any other.
Value Prefix::restOf(OpBuilder &builder, Value place, ComputeOp op) const {
  std::optional<LinearIndex> form = linearIndex(place, op);
  if (!form)
    return {};
  if (auto name = dyn_cast<StringAttr>(length.given)) {
    IndexSymbol symbol{IndexSymbol::Length, 0, name};
    form->add(LinearIndex::of(symbol), -1);
  } else {
    form->constant -= *numberOf(length.given);
  }
  llvm::erase_if(form->terms, [](auto &term) { return term.second == 0; });
  if (form->terms.size() != 1 || form->terms[0].second != 1 ||
      form->terms[0].first.kind != IndexSymbol::Iterator || form->constant < 0)
    return {};
  Region *region = builder.getInsertionBlock()->getParent();
  while (region->getParentOp() != op)
    region = region->getParentOp()->getParentRegion();
  Value index = region->getArgument(form->terms[0].first.number);
  if (form->constant == 0)
    return index;
  Value offset =
      arith::ConstantIndexOp::create(builder, op.getLoc(), form->constant);
  return arith::AddIOp::create(builder, op.getLoc(), index, offset);
}

void Prefix::readParts(ReadOp read) const {
  auto op = read->getParentOfType<ComputeOp>();
  unsigned axis = parts.find(read.getArray().getDefiningOp())->second.axis;
  OpBuilder builder(read);
  Location loc = read.getLoc();
  Value place = read.getIndices()[axis], element;
  if (Value rest = restOf(builder, place, op)) {
    element = readPart(builder, read, rest, /*isGiven=*/false);
  } else {
    Value first = size(builder, loc);
    rest = arith::SubIOp::create(builder, loc, place, first);
    Value isGiven = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, place, first);
    auto branch = scf::IfOp::create(builder, loc, read.getType(), isGiven,
                                    /*withElseRegion=*/true);
    OpBuilder then = branch.getThenBodyBuilder();
    scf::YieldOp::create(then, loc,
                         readPart(then, read, place, /*isGiven=*/true));
    OpBuilder otherwise = branch.getElseBodyBuilder();
    scf::YieldOp::create(otherwise, loc,
                         readPart(otherwise, read, rest, /*isGiven=*/false));
    element = branch.getResult(0);
  }
  read.getResult().replaceAllUsesWith(element);
  read.erase();
}

void Prefix::split() {
  if (!findAxes())
    return;
  for (auto [op, time] : loop.time)
    parts[op] = {clone(op, true), clone(op, false), time};
  llvm::DenseSet<Operation *> given;
  for (auto &[whole, own] : parts) {
    given.insert(own.given);
    if (auto fresh = dyn_cast<ComputeOp>(own.fresh))
      shiftTime(fresh, own.axis);
  }
  for (auto op : llvm::to_vector(system.getOps<ComputeOp>())) {
    if (parts.contains(op))
      continue;
    for (ReadOp read : cutsOf(op))
      if (given.contains(op))
        readGiven(read);
      else
        readParts(read);
  }
  for (auto &[whole, own] : parts)
    for (Operation **part : {&own.given, &own.fresh})
      if (auto compute = dyn_cast<ComputeOp>(*part))
        *part = simplified(compute);
  for (auto &[whole, own] : parts)
    if (!isa<ComputeOp>(whole))
      for (bool isGiven : {true, false})
        for (OpOperand &operand :
             (isGiven ? own.given : own.fresh)->getOpOperands())
          operand.set(partOf(operand.get(), isGiven));
  for (auto &[whole, own] : parts)
    whole->dropAllReferences();
  for (auto &[whole, own] : parts) {
    whole->dropAllUses();
    whole->erase();
  }
}

/// `M+T`, or `T+4`: a generated length and what is known before.
std::optional<PrefixedLength> schedule::prefixedLength(const Graph &graph,
                                                       Attribute extent,
                                                       Attribute generated) {
  auto whole = dyn_cast<StringAttr>(extent);
  if (!whole || whole == generated || !graph.derivesFrom(whole, generated))
    return std::nullopt;
  Lengths lengths(graph.getSystem());
  std::optional<LinearIndex> form = lengths.formOf(whole);
  PrefixedLength result{whole, {}, {}};
  if (!form || form->terms.size() > 2)
    return std::nullopt;
  for (auto &[symbol, factor] : form->terms) {
    if (factor != 1)
      return std::nullopt;
    if (symbol.length == generated)
      result.rest = symbol.length;
    else
      result.given = symbol.length;
  }
  bool isNumber = !result.given && form->constant > 0;
  if (isNumber)
    result.given = IntegerAttr::get(IntegerType::get(whole.getContext(), 64),
                                    form->constant);
  if (!result.rest || !result.given || (!isNumber && form->constant != 0) ||
      (!isNumber && graph.derivesFrom(result.given, generated)))
    return std::nullopt;
  return result;
}

void schedule::splitPrefixes(SystemOp system) {
  for (ChoiceOp choice : generatedNames(system))
    for (Attribute extent :
         cast<ArrayType>(choice.getResult().getType()).getShape().getValue())
      for (auto whole : llvm::to_vector(system.getOps<LengthOp>())) {
        Graph graph(system);
        if (auto length = prefixedLength(graph, whole.getLengthAttr(), extent))
          Prefix(graph, *length).split();
      }
}
