//===- EnumeratePlaces.cpp - every value of a choice at each place --------===//
//
// Decides which arrays depend on a choice at their own place, and which on that
// of the place before, as in a hidden Markov model. Each gets an axis in front
// for the values of either. Whatever depends on more than these two is an
// error: there would be as many sums as ways to choose.
//
//===----------------------------------------------------------------------===//

#include "passes/derive/EnumeratePlaces.h"
#include "dialect/Distributions.h"
#include "passes/analysis/Access.h"
#include "passes/derive/EquationBuilder.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace fovea::attn;

namespace {

/// How an array depends on the choice.
struct Dependence {
  bool current = false, previous = false;
  /// Of each axis of the choice: the axis of the array.
  SmallVector<unsigned> places;

  unsigned count() const { return unsigned(current) + unsigned(previous); }
};

class Enumeration : EquationBuilder {
public:
  Enumeration(ChoiceOp choice, ChoiceOp start)
      : EquationBuilder(OpBuilder::atBlockEnd(choice->getBlock())),
        choice(choice), start(start),
        system(choice->getParentOfType<SystemOp>()),
        type(cast<ArrayType>(choice.getResult().getType())) {
    loc = choice.getLoc();
    values = builder.getI64IntegerAttr(2);
    if (choice.getDistribution() == Distribution::categorical)
      values = lastExtent(choice.getParameters()[0]);
  }

  LogicalResult run();

private:
  LogicalResult reject(Operation *op, const Twine &why);
  /// The axes of a choice of data, observed or generated.
  static ArrayType typeOf(ChoiceOp op) {
    Value value = op.getResult() ? op.getResult() : op.getObserved();
    return cast<ArrayType>(value.getType());
  }
  LogicalResult rejectElsewhere(Operation *op) {
    return reject(op, "this depends on it at other places");
  }
  LogicalResult rejectDrawn(Operation *op) {
    return reject(op, "this is drawn from what depends on it");
  }
  // Who depends on it, and how.
  LogicalResult find();
  LogicalResult follow(Value array, Operation *user);
  LogicalResult followReads(Value array, ComputeOp op);
  LogicalResult add(Operation *op, const Dependence &more);
  std::optional<bool> isShifted(ArrayRef<Value> indices, const Dependence &of,
                                ComputeOp op, SmallVector<unsigned> &places);
  bool isFound(ReadOp read);
  std::optional<bool> shiftOf(ReadOp read, ComputeOp op, Dependence &of);
  // What becomes of them.
  Value spread(Value array, const Dependence &wanted);
  SmallVector<Attribute> longer(const Dependence &of,
                                ArrayRef<Attribute> extents);
  void expand(ComputeOp op);
  void expand(ReadOp read, ComputeOp op, Value current, Value previous);
  void expandValue(ReadOp read, ComputeOp op, Value current, Value previous);
  void expand(ChoiceOp op);
  void expand(EquationOp op);
  void leaveChoice();

  ChoiceOp choice, start;
  SystemOp system;
  ArrayType type;
  Attribute values;
  std::optional<unsigned> axis; // along which a place reads the one before
  llvm::MapVector<Value, Dependence> found;
  SmallVector<ChoiceOp> choices;
  SmallVector<EquationOp> equations;
  Value best, bestBefore;
};

} // namespace

LogicalResult Enumeration::reject(Operation *op, const Twine &why) {
  bool isDecoding = system.getSymName() == "decoding";
  InFlightDiagnostic diag =
      choice.emitError() << (isDecoding ? "'marginal' of '"
                                        : "'enumerate' of '")
                         << choice.getTarget()
                         << "' sums over the values of each place and of the "
                            "one before it; '"
                         << (isDecoding ? "expected" : "reinforce")
                         << "' has no such limit";
  diag.attachNote(op->getLoc()) << why;
  return failure();
}

//===----------------------------------------------------------------------===//
// What depends on it
//===----------------------------------------------------------------------===//

LogicalResult Enumeration::add(Operation *op, const Dependence &more) {
  Value array = op->getResult(0);
  auto [it, isNew] = found.insert({array, more});
  if (isNew)
    return success();
  Dependence &known = it->second;
  if (known.places != more.places)
    return rejectElsewhere(op);
  known.current |= more.current;
  known.previous |= more.previous;
  return success();
}

/// Whether `indices` are those of the place before; nullopt: neither of that
/// nor of the place itself. `places` gets the indices of `op` that are the
/// places.
std::optional<bool> Enumeration::isShifted(ArrayRef<Value> indices,
                                           const Dependence &of, ComputeOp op,
                                           SmallVector<unsigned> &places) {
  bool isBefore = false;
  places.clear();
  for (auto [number, place] : llvm::enumerate(of.places)) {
    AccessIndex index = classify(indices[place], op);
    bool isHere = index.kind == AccessIndex::Iterator && index.offset == 0;
    bool isNext = index.kind == AccessIndex::Iterator && index.offset == -1 &&
                  (!axis || *axis == number);
    if ((!isHere && !isNext) || index.iterator >= op.getNumParallel() ||
        op.getExtents()[index.iterator] != type.getExtent(number))
      return std::nullopt;
    if (isNext)
      axis = number;
    isBefore |= isNext;
    places.push_back(index.iterator);
  }
  return isBefore;
}

/// The indices of an array that a read may find: of case `number` those of the
/// axes that it does not place.
static SmallVector<Value> indicesOf(ReadOp read, std::optional<size_t> number) {
  SmallVector<Value> rest(read.getIndices());
  if (!number)
    return rest;
  auto pairs = cast<ArrayAttr>((*read.getPlaces())[*number]);
  for (Attribute pair : llvm::reverse(pairs))
    rest.erase(rest.begin() +
               cast<IntegerAttr>(cast<ArrayAttr>(pair)[0]).getInt());
  return rest;
}

LogicalResult Enumeration::followReads(Value array, ComputeOp op) {
  Dependence of = found.lookup(array);
  auto followAt = [&](ArrayRef<Value> indices) -> LogicalResult {
    Dependence more;
    std::optional<bool> isBefore = isShifted(indices, of, op, more.places);
    if (!isBefore)
      return rejectElsewhere(op);
    if (*isBefore && of.previous)
      return reject(op, "this depends on it at places before that");
    more.current = !*isBefore && of.current;
    more.previous = *isBefore || of.previous;
    return add(op, more);
  };
  WalkResult walk = op->walk([&](ReadOp read) -> WalkResult {
    bool isChoice = array == choice.getResult();
    for (auto [number, one] : llvm::enumerate(read.getAlternatives()))
      // The choice itself stands in for nothing.
      if (one == array &&
          (isChoice ? failed(rejectElsewhere(op))
                    : failed(followAt(indicesOf(read, number)))))
        return WalkResult::interrupt();
    if (read.getArray() != array)
      return WalkResult::advance();
    if (isChoice && read.getAlternatives().size() > 1)
      return rejectElsewhere(op);
    return followAt(indicesOf(read, std::nullopt));
  });
  return failure(walk.wasInterrupted());
}

LogicalResult Enumeration::follow(Value array, Operation *user) {
  while (user->getParentOp() != system)
    user = user->getParentOp();
  Dependence of = found.lookup(array);
  if (auto equation = dyn_cast<EquationOp>(user)) {
    if (!llvm::is_contained(equations, equation))
      equations.push_back(equation);
    return success();
  }
  if (auto other = dyn_cast<ChoiceOp>(user)) {
    if (other == choice || other == start)
      return success();
    bool isGenerated = other.getResult() && !other.getLatent() &&
                       system.getSymName() == "decoding";
    if (auto over = other->getAttrOfType<DictionaryAttr>(overName))
      return reject(user, "this depends on '" +
                              over.getAs<StringAttr>("of").getValue() +
                              "' as well, which is summed over by itself; one "
                              "choice of both has such a sum");
    if ((other.getResult() && !isGenerated) || other.getLatent())
      return rejectDrawn(user);
    if (system.getSymName() == "decoding" && !isGenerated)
      return reject(user, "this is given, and says what its values are");
    if (!llvm::is_contained(other.getParameters(), array))
      return rejectDrawn(user);
    if (!llvm::is_contained(choices, other))
      choices.push_back(other);
    return success();
  }
  if (auto op = dyn_cast<ComputeOp>(user))
    return followReads(array, op);
  unsigned whole = 0;
  if (auto reshape = dyn_cast<ReshapeOp>(user))
    whole = reshape.getKeep();
  else if (isa<ConcatOp>(user))
    whole = cast<ArrayType>(user->getResult(0).getType()).getRank() - 1;
  if (isa<PenaltyOp>(user))
    return rejectElsewhere(user);
  for (unsigned place : of.places)
    if (place >= whole)
      return rejectElsewhere(user);
  return add(user, of);
}

LogicalResult Enumeration::find() {
  if (start)
    for (Operation *user : start.getResult().getUsers()) {
      auto read = dyn_cast<ReadOp>(user);
      if (!read || read.getArray() != choice.getResult())
        return rejectElsewhere(user);
    }
  Dependence own;
  own.current = true;
  for (unsigned number = 0; number < type.getRank(); ++number)
    own.places.push_back(number);
  found[choice.getResult()] = own;
  // What is found to depend on more is followed again.
  llvm::SmallVector<Value> work = {choice.getResult()};
  while (!work.empty()) {
    Value array = work.pop_back_val();
    for (Operation *user : llvm::make_early_inc_range(array.getUsers())) {
      Operation *outer = user;
      while (outer->getParentOp() != system)
        outer = outer->getParentOp();
      Value result =
          outer->getNumResults() == 1 ? outer->getResult(0) : Value();
      auto known = found.find(result);
      unsigned before = known == found.end() ? 0 : known->second.count();
      if (failed(follow(array, user)))
        return failure();
      if (result && found.count(result) &&
          found.lookup(result).count() > before)
        work.push_back(result);
    }
  }
  if (axis && variesInside(type.getExtent(*axis), system))
    return reject(choice, "its places are those of a nested length");
  for (auto &[array, own] : found)
    if (auto op = array.getDefiningOp<ComputeOp>())
      if (op->walk([&](ReadOp read) {
              Dependence of;
              return shiftOf(read, op, of) ? WalkResult::advance()
                                           : WalkResult::interrupt();
            }).wasInterrupted())
        return rejectElsewhere(op);
  for (ChoiceOp one : choices) {
    const Dependence *first = nullptr;
    auto rank = typeOf(one).getRank() - numValueAxes(one);
    for (Value parameter : one.getParameters()) {
      auto it = found.find(parameter);
      if (it == found.end())
        continue;
      if (first && first->places != it->second.places)
        return rejectElsewhere(one);
      first = &it->second;
      for (unsigned place : first->places)
        if (place >= rank)
          return rejectElsewhere(one);
    }
  }
  for (Value parameter : choice.getParameters())
    if (auto it = found.find(parameter); it != found.end())
      for (auto [number, place] : llvm::enumerate(it->second.places))
        if (number != place || it->second.current)
          return rejectDrawn(choice);
  return success();
}

//===----------------------------------------------------------------------===//
// An axis for every value
//===----------------------------------------------------------------------===//

SmallVector<Attribute> Enumeration::longer(const Dependence &of,
                                           ArrayRef<Attribute> extents) {
  SmallVector<Attribute> all(of.count(), values);
  llvm::append_range(all, extents);
  return all;
}

/// `array`, with an axis for each value that is wanted. What depends on the
/// choice has its axes already.
Value Enumeration::spread(Value array, const Dependence &wanted) {
  Dependence own = found.lookup(array);
  if (own.count() == wanted.count())
    return array;
  auto shape = cast<ArrayType>(array.getType());
  SmallVector<Attribute> extents =
      longer(wanted, shape.getShape().getValue().drop_front(own.count()));
  return compute(
      "", extents, Reducer::none, {},
      [&](Scalars &at) {
        SmallVector<Value> place;
        if (own.current)
          place.push_back(at.indices[0]);
        if (own.previous)
          place.push_back(at.indices[wanted.current]);
        llvm::append_range(
            place, ArrayRef<Value>(at.indices).drop_front(wanted.count()));
        Value read = ReadOp::create(at.builder, loc, array, place);
        return read;
      },
      shape.getElementType());
}

/// The choice itself is the number of an axis.
void Enumeration::expandValue(ReadOp read, ComputeOp op, Value current,
                              Value previous) {
  SmallVector<unsigned> places;
  bool isBefore = *isShifted(indicesOf(read, std::nullopt),
                             found.lookup(choice.getResult()), op, places);
  OpBuilder at(read);
  Location where = read.getLoc();
  Value number = arith::IndexCastOp::create(at, where, at.getI64Type(),
                                            isBefore ? previous : current);
  if (type.getElementType().isInteger(1))
    number = arith::TruncIOp::create(at, where, at.getI1Type(), number);
  // Ahead of the first place stands what is given there.
  Value given = read.getOtherwise();
  if (read.getAlternatives().size() == 1 &&
      !(start && read.getAlternatives().front() == start.getResult())) {
    SmallVector<Value> rest(read.getIndices());
    rest.erase(rest.begin() + *axis);
    given = ReadOp::create(at, where, read.getAlternatives().front(), rest);
  }
  if (given) {
    Value zero = arith::ConstantIndexOp::create(at, where, 0);
    Value isInside =
        arith::CmpIOp::create(at, where, arith::CmpIPredicate::sge,
                              read.getIndices()[axis.value_or(0)], zero);
    number = arith::SelectOp::create(at, where, isInside, number, given);
  }
  read.getResult().replaceAllUsesWith(number);
  read.erase();
}

/// Whether an array that is read, or stands in for it, depends on the choice.
bool Enumeration::isFound(ReadOp read) {
  return found.count(read.getArray()) ||
         llvm::any_of(read.getAlternatives(),
                      [&](Value one) { return found.count(one) != 0; });
}

/// Whether the arrays of `read` are read at the place before; nullopt: some of
/// them are, and others are not. `of` gets how they depend on the choice.
std::optional<bool> Enumeration::shiftOf(ReadOp read, ComputeOp op,
                                         Dependence &of) {
  std::optional<bool> shift;
  SmallVector<unsigned> places;
  bool isOne = true;
  auto look = [&](Value array, std::optional<size_t> number) {
    auto it = found.find(array);
    if (it == found.end())
      return;
    bool own = *isShifted(indicesOf(read, number), it->second, op, places);
    isOne &= !shift || *shift == own;
    shift = own;
    of.current |= it->second.current;
    of.previous |= it->second.previous;
  };
  look(read.getArray(), std::nullopt);
  for (auto [number, one] : llvm::enumerate(read.getAlternatives()))
    look(one, number);
  return isOne ? std::optional(shift.value_or(false)) : std::nullopt;
}

void Enumeration::expand(ReadOp read, ComputeOp op, Value current,
                         Value previous) {
  if (read.getArray() == choice.getResult())
    return expandValue(read, op, current, previous);
  // All that may be found has the same axes in front.
  Dependence of;
  bool isBefore = *shiftOf(read, op, of);
  SmallVector<Value> indices;
  if (of.current)
    indices.push_back(isBefore ? previous : current);
  if (of.previous)
    indices.push_back(previous);
  llvm::append_range(indices, read.getIndices());
  read.getIndicesMutable().assign(indices);
  for (OpOperand &operand : read->getOpOperands())
    if (isa<ArrayType>(operand.get().getType()))
      operand.set(spread(operand.get(), of));
  std::optional<ArrayAttr> cases = read.getPlaces();
  if (!cases)
    return;
  SmallVector<Attribute> moved;
  for (Attribute one : *cases) {
    SmallVector<Attribute> pairs;
    for (Attribute pair : cast<ArrayAttr>(one)) {
      auto both = cast<ArrayAttr>(pair);
      int64_t number = cast<IntegerAttr>(both[0]).getInt() + of.count();
      pairs.push_back(
          builder.getArrayAttr({builder.getI64IntegerAttr(number), both[1]}));
    }
    moved.push_back(builder.getArrayAttr(pairs));
  }
  read.setPlacesAttr(builder.getArrayAttr(moved));
}

void Enumeration::expand(ComputeOp op) {
  const Dependence own = found.lookup(op.getResult());
  // The reads are looked at with the indices that the op has now.
  for (Region *region : {&op.getCondition(), &op.getBody()}) {
    if (region->empty())
      continue;
    Block &block = region->front();
    // Behind all others until the reads are expanded.
    Value current, previous;
    if (own.current)
      current = block.addArgument(builder.getIndexType(), op.getLoc());
    if (own.previous)
      previous = block.addArgument(builder.getIndexType(), op.getLoc());
    SmallVector<ReadOp> reads;
    region->walk([&](ReadOp read) {
      if (isFound(read))
        reads.push_back(read);
    });
    for (ReadOp read : reads)
      expand(read, op, current, previous);
    unsigned position = 0;
    for (Value number : {current, previous}) {
      if (!number)
        continue;
      Value front =
          block.insertArgument(position++, builder.getIndexType(), op.getLoc());
      number.replaceAllUsesWith(front);
    }
    block.eraseArguments(block.getNumArguments() - own.count(), own.count());
  }
  SmallVector<Attribute> names;
  if (own.current)
    names.push_back(builder.getStringAttr("value"));
  if (own.previous)
    names.push_back(builder.getStringAttr("before"));
  llvm::append_range(names, op.getIndices());
  SmallVector<int64_t> lower(own.count(), 0);
  llvm::append_range(lower, op.getLower());
  op.setIndicesAttr(builder.getArrayAttr(names));
  op.setExtentsAttr(
      builder.getArrayAttr(longer(own, op.getExtents().getValue())));
  op.setLower(lower);
  op.setNumParallel(op.getNumParallel() + own.count());
}

/// Choices of data for each value of the latent one.
void Enumeration::expand(ChoiceOp op) {
  Dependence all;
  for (Value parameter : op.getParameters())
    if (auto it = found.find(parameter); it != found.end()) {
      all.current |= it->second.current;
      all.previous |= it->second.previous;
      all.places = it->second.places;
    }
  for (OpOperand &operand : op->getOpOperands()) {
    Value array = operand.get();
    bool isNumber = cast<ArrayType>(array.getType()).getRank() == 0 &&
                    array == op.getWeight();
    if (!isNumber)
      operand.set(spread(array, all));
  }
  SmallVector<int64_t> places(all.places.begin(), all.places.end());
  op->setAttr(
      overName,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("of", choice.getTargetAttr()),
           builder.getNamedAttr("current", builder.getBoolAttr(all.current)),
           builder.getNamedAttr("previous", builder.getBoolAttr(all.previous)),
           builder.getNamedAttr("places", builder.getI64ArrayAttr(places))}));
}

/// Who asks for an equation is shown what it is for the most probable values.
void Enumeration::expand(EquationOp op) {
  Value array = op.getValue();
  if (array == choice.getResult()) {
    op.getValueMutable().assign(best);
    return;
  }
  const Dependence own = found.lookup(array);
  auto shape = cast<ArrayType>(array.getType());
  Value shown = compute(
      "", shape.getShape().getValue().drop_front(own.count()), Reducer::none,
      {},
      [&](Scalars &at) {
        SmallVector<Value> where, place;
        for (unsigned number : own.places)
          where.push_back(at.indices[number]);
        for (auto [isWanted, values] : {std::pair(own.current, best),
                                        std::pair(own.previous, bestBefore)})
          if (isWanted) {
            Value value = ReadOp::create(at.builder, loc, values, where);
            if (value.getType().isInteger(1))
              value = arith::ExtUIOp::create(at.builder, loc,
                                             at.builder.getI64Type(), value);
            place.push_back(at.asPlace(value));
          }
        llvm::append_range(place, at.indices);
        Value read = ReadOp::create(at.builder, loc, array, place);
        return read;
      },
      shape.getElementType());
  op.getValueMutable().assign(shown);
}

/// The choice, for the objective: its parameters, and how they depend on the
/// place before. What is observed is of no meaning.
void Enumeration::leaveChoice() {
  Dependence own;
  for (Value parameter : choice.getParameters())
    if (auto it = found.find(parameter); it != found.end())
      own.previous = true;
  auto leave = [&](ChoiceOp op, const Dependence &of, StringRef name) {
    auto result = cast<ArrayType>(op.getResult().getType());
    SmallVector<Value> parameters;
    for (Value parameter : op.getParameters())
      parameters.push_back(spread(parameter, of));
    Value none = compute(
        "", longer(of, result.getShape().getValue()), Reducer::none, {},
        [&](Scalars &at) -> Value {
          return arith::ConstantOp::create(
              at.builder, loc, builder.getZeroAttr(result.getElementType()));
        },
        result.getElementType());
    auto left = ChoiceOp::create(
        builder, loc, Type(), op.getTargetAttr(), op.getDistributionAttr(),
        op.getParameterNamesAttr(), parameters, none, Value(), Value(), Value(),
        Attribute(), builder.getUnitAttr(), op.getTreatmentAttr());
    int64_t along = axis ? static_cast<int64_t>(*axis) : -1;
    left->setAttr(name, builder.getI64IntegerAttr(along));
    left->setAttr(overName, builder.getBoolAttr(of.previous));
  };
  leave(choice, own, chainName);
  if (start)
    leave(start, {}, startName);
}

LogicalResult Enumeration::run() {
  if (failed(find()))
    return failure();
  auto placeholder = [&](StringRef name) {
    Value array = compute(
        "", type.getShape().getValue(), Reducer::none, {},
        [&](Scalars &at) -> Value {
          return arith::ConstantOp::create(
              at.builder, loc, builder.getZeroAttr(type.getElementType()));
        },
        type.getElementType());
    array.getDefiningOp()->setAttr(name, choice.getTargetAttr());
    return array;
  };
  best = placeholder(bestName);
  bestBefore = placeholder(bestBeforeName);
  // The types first: whoever reads an array wants to know its axes.
  for (auto &[array, own] : found)
    if (array != choice.getResult())
      array.setType(ArrayType::get(
          longer(own, cast<ArrayType>(array.getType()).getShape().getValue()),
          cast<ArrayType>(array.getType()).getElementType()));
  for (auto &[array, own] : llvm::to_vector(found)) {
    Operation *op = array.getDefiningOp();
    if (op == choice)
      continue;
    if (auto computed = dyn_cast<ComputeOp>(op)) {
      expand(computed);
      continue;
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      reshape.setKeep(reshape.getKeep() + own.count());
    for (OpOperand &operand : op->getOpOperands())
      if (isa<ArrayType>(operand.get().getType()))
        operand.set(spread(operand.get(), own));
  }
  for (ChoiceOp one : choices)
    expand(one);
  for (EquationOp one : equations)
    expand(one);
  leaveChoice();
  for (ChoiceOp one : {choice, start})
    if (one) {
      for (Operation *user :
           llvm::make_early_inc_range(one.getResult().getUsers()))
        if (isa<EquationOp>(user))
          user->erase();
      one.erase();
    }
  return success();
}

LogicalResult fovea::attn::enumeratePlaces(ChoiceOp choice, ChoiceOp start) {
  return Enumeration(choice, start).run();
}
