//===- EnumeratePlaces.cpp - every value of a choice at each place --------===//
//
// Decides which arrays depend on a choice at their own place, and which on the
// choice before it, as in a hidden Markov model. Each gets a leading axis for
// the values of either. A dependence on more than these two is an error: there
// would be exponentially many sums.
//
//===----------------------------------------------------------------------===//

#include "passes/derive/EnumeratePlaces.h"
#include "passes/analysis/Access.h"
#include "passes/derive/Enumeration.h"

using namespace mlir;
using namespace fovea::attn;

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

/// Returns whether `indices` are those of the previous place; nullopt: neither
/// of that nor of the place itself. `places` gets the indices of `op` that are
/// the places.
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

SmallVector<Value> Enumeration::indicesOf(ReadOp read,
                                          std::optional<size_t> number) {
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
      // The choice itself needs no replacement.
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
  // Arrays with a further dependence are visited again.
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
  // Types first: every reader needs its array's axes.
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
