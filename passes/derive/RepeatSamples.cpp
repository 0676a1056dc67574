//===- RepeatSamples.cpp - several draws of one example -------------------===//
//
// An estimator may request several samples, or all possible values. Dependent
// arrays get a leading axis for them, and the objective is their mean, or the
// sum over all; independent arrays are computed once.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Equations.h"
#include "passes/derive/EquationBuilder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace fovea::attn {
#define GEN_PASS_DEF_REPEATSAMPLES
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

namespace {

class Repeat : EquationBuilder {
public:
  /// `enumerated`: the array with all values; null: draws.
  Repeat(SystemOp system, Attribute extent, ComputeOp enumerated)
      : EquationBuilder(OpBuilder::atBlockEnd(&system.getBody().front())),
        system(system), extent(extent), enumerated(enumerated) {}

  void run();

private:
  bool isRepeated(Value array) { return repeated.contains(array); }
  void findRepeated();
  Value spread(Value array);
  ArrayType longer(Value array);
  void repeat(ComputeOp op);
  void repeat(ReadOp read, Value sample);
  void repeat(OutputOp output);
  Value allOf(StringRef target, Value array);
  Value bestValue();
  Value ofEach(StringRef target, Value array, ArrayRef<Attribute> own);
  void closeTotals();

  SystemOp system;
  Attribute extent;
  ComputeOp enumerated;
  Value prior, logp; // log p of each value, and of all data for each value
  Value best;        // the most probable value
  SmallVector<Value> earlier; // log p of the choices so far, of each value
  llvm::SetVector<Value> repeated;
  SmallVector<ComputeOp> totals; // which are over all values
  llvm::DenseMap<Value, Value> spreads;
};

/// The dependents of an operation, before those over all values.
class Dependents {
public:
  explicit Dependents(SystemOp system) : system(system) {}

  void add(Operation *op) {
    while (op && op->getParentOp() != system)
      op = op->getParentOp();
    if (!op || op->getNumResults() != 1)
      return;
    if (op->hasAttr(totalName))
      totals.insert(cast<ComputeOp>(op));
    else
      found.insert(op->getResult(0));
  }
  void close() {
    for (unsigned i = 0; i < found.size(); ++i)
      for (Operation *user : found[i].getUsers())
        add(user);
  }

  SystemOp system;
  llvm::SetVector<Value> found;
  llvm::SetVector<ComputeOp> totals;
};

} // namespace

/// Where log p of each value of an enumerated choice is given.
static OutputOp priorOf(SystemOp system, ComputeOp enumerated) {
  std::string name = ("surrogate.prior." + *enumerated.getLabel()).str();
  for (auto output : system.getOps<OutputOp>())
    if (output.getTarget() == name)
      return output;
  llvm_unreachable("the objective gives log p of each value");
}

void Repeat::findRepeated() {
  Dependents dependents(system);
  if (enumerated)
    dependents.add(enumerated);
  else
    system.walk([&](RandomOp op) {
      if (!op.getShared() && !op.givesWord())
        dependents.add(op);
    });
  dependents.close();
  repeated = dependents.found;
  totals = dependents.totals.takeVector();
}

ArrayType Repeat::longer(Value array) {
  auto type = cast<ArrayType>(array.getType());
  SmallVector<Attribute> shape = {extent};
  llvm::append_range(shape, type.getShape());
  return ArrayType::get(shape, type.getElementType());
}

/// An array that is the same for every sample, with the axis.
Value Repeat::spread(Value array) {
  Value &result = spreads[array];
  if (result)
    return result;
  loc = array.getLoc();
  ArrayType type = longer(array);
  result = compute(
      "", type.getShape().getValue(), Reducer::none, {},
      [&](Scalars &at) {
        Value read = ReadOp::create(at.builder, loc, array,
                                    ArrayRef<Value>(at.indices).drop_front());
        return read;
      },
      type.getElementType());
  return result;
}

void Repeat::repeat(ReadOp read, Value sample) {
  SmallVector<Value> arrays = {read.getArray()};
  llvm::append_range(arrays, read.getAlternatives());
  if (llvm::none_of(arrays, [&](Value array) { return isRepeated(array); }))
    return;
  // A case has the axes that it does not place.
  for (OpOperand &operand : read->getOpOperands())
    if (isa<ArrayType>(operand.get().getType()) && !isRepeated(operand.get()))
      operand.set(spread(operand.get()));
  SmallVector<Value> indices = {sample};
  llvm::append_range(indices, read.getIndices());
  read.getIndicesMutable().assign(indices);
  std::optional<ArrayAttr> places = read.getPlaces();
  if (!places)
    return;
  SmallVector<Attribute> cases;
  for (Attribute one : *places) {
    SmallVector<Attribute> pairs;
    for (Attribute pair : cast<ArrayAttr>(one)) {
      auto both = cast<ArrayAttr>(pair);
      int64_t axis = cast<IntegerAttr>(both[0]).getInt();
      pairs.push_back(
          builder.getArrayAttr({builder.getI64IntegerAttr(axis + 1), both[1]}));
    }
    cases.push_back(builder.getArrayAttr(pairs));
  }
  read.setPlacesAttr(builder.getArrayAttr(cases));
}

void Repeat::repeat(ComputeOp op) {
  SmallVector<Attribute> names = {builder.getStringAttr("draw")};
  llvm::append_range(names, op.getIndices());
  SmallVector<Attribute> extents = {extent};
  llvm::append_range(extents, op.getExtents());
  SmallVector<int64_t> lower = {0};
  llvm::append_range(lower, op.getLower());
  op.setIndicesAttr(builder.getArrayAttr(names));
  op.setExtentsAttr(builder.getArrayAttr(extents));
  op.setLower(lower);
  op.setNumParallel(op.getNumParallel() + 1);
  op.setOrderAttr(movedBy(1, op.getOrderAttr()));
  for (Region *region : {&op.getCondition(), &op.getBody()}) {
    if (region->empty())
      continue;
    Value sample =
        region->insertArgument(0u, builder.getIndexType(), op.getLoc());
    region->walk([&](Operation *inner) {
      if (auto read = dyn_cast<ReadOp>(inner))
        repeat(read, sample);
      else if (auto random = dyn_cast<RandomOp>(inner);
               random && !enumerated && !random.getShared())
        random.getSampleMutable().assign(sample);
    });
    if (op != enumerated)
      continue;
    Operation *yield = region->front().getTerminator();
    OpBuilder at(yield);
    Value number =
        arith::IndexCastOp::create(at, op.getLoc(), at.getI64Type(), sample);
    if (op.getElementType().isInteger(1))
      number = arith::TruncIOp::create(at, op.getLoc(), at.getI1Type(), number);
    yield->setOperand(0, number);
  }
}

/// For the values of a choice: log p is the log of the sum, a penalty is the
/// expectation.
Value Repeat::allOf(StringRef target, Value array) {
  bool isPenalty = target == "penalty";
  double sign = target.ends_with("nll") ? -1 : 1;
  ArrayRef<Attribute> own =
      cast<ArrayType>(array.getType()).getShape().getValue().drop_front();
  Value sum = compute(
      target, own, isPenalty ? Reducer::sum : Reducer::logsumexp, extent,
      [&](Scalars &at) {
        SmallVector<Value> place = {at.indices.back()};
        llvm::append_range(place, ArrayRef<Value>(at.indices).drop_back());
        Value log = at.read(prior, at.indices.back());
        Value value = ReadOp::create(at.builder, loc, array, place);
        if (isPenalty)
          return at.mul(math::ExpOp::create(at.builder, loc, log), value);
        return at.add(log, at.mul(at.constant(sign), value));
      });
  return sign > 0 ? sum
                  : compute(target, own, Reducer::none, {}, [&](Scalars &at) {
                      return at.negate(at.read(sum));
                    });
}

/// The value with the largest log p, of itself and of all data with it.
Value Repeat::bestValue() {
  if (!best)
    best = compute(
        "", {}, Reducer::argmax, extent,
        [&](Scalars &at) {
          Value value = at.read(prior, at.indices.back());
          return isRepeated(logp)
                     ? at.add(value, at.read(logp, at.indices.back()))
                     : value;
        },
        builder.getI64Type());
  return best;
}

/// log p of each element of a choice, given those before it: its contribution
/// to the log of the sum.
Value Repeat::ofEach(StringRef target, Value array, ArrayRef<Attribute> own) {
  SmallVector<Value> known = {prior};
  llvm::append_range(known, earlier);
  earlier.push_back(compute("", extent,
                            own.empty() ? Reducer::none : Reducer::sum, own,
                            [&](Scalars &at) { return at.read(array); }));
  Value given = compute("", extent, Reducer::none, {}, [&](Scalars &at) {
    Value sum = at.read(known.front());
    for (Value more : ArrayRef<Value>(known).drop_front())
      sum = at.add(sum, at.read(more));
    return sum;
  });
  Value start = compute("", {}, Reducer::logsumexp, extent,
                        [&](Scalars &at) { return at.read(given); });
  Attribute both[] = {extent, own.empty() ? Attribute() : own.front()};
  Value sums = own.empty()
                   ? array
                   : compute("", both[0], Reducer::cumsum, both[1],
                             [&](Scalars &at) { return at.read(array); });
  Value reached =
      compute("", own, Reducer::logsumexp, extent, [&](Scalars &at) {
        SmallVector<Value> place = {at.indices.back()};
        llvm::append_range(place, ArrayRef<Value>(at.indices).drop_back());
        Value sofar = ReadOp::create(at.builder, loc, sums, place);
        Value before =
            ReadOp::create(at.builder, loc, given, at.indices.back());
        return at.add(before, sofar);
      });
  return compute(target, own, Reducer::none, {}, [&](Scalars &at) {
    Value first = at.read(start), value = at.read(reached);
    return at.sub(value,
                  own.empty()
                      ? first
                      : at.readOr(reached, at.before(at.indices[0]), first));
  });
}

/// Readers of arrays over all values read their sum.
void Repeat::closeTotals() {
  for (ComputeOp op : totals) {
    ReadOp read;
    op.walk([&](ReadOp one) { read = one; });
    loc = op.getLoc();
    auto kind = op->getAttrOfType<StringAttr>(totalName);
    read.getArrayMutable().assign(allOf(kind.getValue(), read.getArray()));
  }
}

/// The objective is the mean; other arrays return the first sample, or the
/// value at the most probable value.
void Repeat::repeat(OutputOp output) {
  Value array = output.getValue();
  auto type = cast<ArrayType>(array.getType());
  ArrayRef<Attribute> own = type.getShape().getValue().drop_front();
  StringRef name = output.getTarget();
  bool isObjective = llvm::is_contained({"nll", "logp", "penalty"}, name) ||
                     name.starts_with("surrogate.") ||
                     name.starts_with("estimate.") ||
                     name.starts_with("state.") || name.starts_with("logp/");
  loc = output.getLoc();
  auto readAt = [&](Scalars &at, Value sample, ArrayRef<Value> rest) {
    SmallVector<Value> place = {sample};
    llvm::append_range(place, rest);
    Value read = ReadOp::create(at.builder, loc, array, place);
    return read;
  };
  Value shown = enumerated && !isObjective ? bestValue() : Value();
  Value value =
      enumerated && name.starts_with("logp/") && own.size() <= 1
          ? ofEach(name, array, own)
      : enumerated && isObjective && own.empty() ? allOf(name, array)
      : isObjective
          ? compute(name, own, Reducer::mean, extent,
                    [&](Scalars &at) {
                      return readAt(at, at.indices.back(),
                                    ArrayRef<Value>(at.indices).drop_back());
                    })
          : compute(
                name, own, Reducer::none, {},
                [&](Scalars &at) {
                  Value one = shown ? at.asPlace(at.read(shown)) : at.place(0);
                  return readAt(at, one, at.indices);
                },
                type.getElementType());
  output.getValueMutable().assign(value);
}

void Repeat::run() {
  findRepeated();
  if (enumerated) {
    OutputOp output = priorOf(system, enumerated);
    prior = output.getValue();
    output.erase();
    for (auto other : system.getOps<OutputOp>())
      if (other.getTarget() == "logp")
        logp = other.getValue();
  }
  // Arrays for outputs are at the end, and are not repeated.
  SmallVector<Operation *> ops;
  for (Operation &op : system.getBody().front())
    ops.push_back(&op);
  for (Value array : repeated)
    array.setType(longer(array));
  for (Operation *op : ops) {
    if (auto output = dyn_cast<OutputOp>(op)) {
      if (isRepeated(output.getValue()))
        repeat(output);
      continue;
    }
    if (op->getNumResults() != 1 || !isRepeated(op->getResult(0)))
      continue;
    if (auto computed = dyn_cast<ComputeOp>(op)) {
      repeat(computed);
      continue;
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      reshape.setKeep(reshape.getKeep() + 1);
    for (OpOperand &operand : op->getOpOperands())
      if (isa<ArrayType>(operand.get().getType()) && !isRepeated(operand.get()))
        operand.set(spread(operand.get()));
  }
  closeTotals();
}

/// Takes the choice that no other depends on: its sum is inside.
static ComputeOp takeInnermost(SystemOp system, SmallVector<ComputeOp> &all) {
  auto innermost = llvm::find_if(all, [&](ComputeOp op) {
    Dependents dependents(system);
    dependents.add(op);
    dependents.close();
    return llvm::none_of(all, [&](ComputeOp other) {
      return other != op &&
             dependents.found.contains(priorOf(system, other).getValue());
    });
  });
  ComputeOp op = *innermost;
  all.erase(innermost);
  return op;
}

namespace {

struct RepeatSamples : fovea::attn::impl::RepeatSamplesBase<RepeatSamples> {
  void runOnOperation() override {
    auto system = getOperation().lookupSymbol<SystemOp>("loss");
    if (!system)
      return markAllAnalysesPreserved();
    SmallVector<ComputeOp> all;
    for (auto op : system.getOps<ComputeOp>())
      if (op->hasAttr(enumeratedName))
        all.push_back(op);
    while (!all.empty()) {
      ComputeOp op = takeInnermost(system, all);
      Repeat(system, op->removeAttr(enumeratedName), op).run();
    }
    for (auto op : system.getOps<ComputeOp>())
      op->removeAttr(totalName);
    // Samples are outermost: each has a sum of its own.
    if (Attribute samples = system->removeAttr("attn.samples"))
      Repeat(system, samples, nullptr).run();
  }
};

} // namespace
