//===- RepeatSamples.cpp - several draws of one example -------------------===//
//
// An estimator may want more than one draw, or every value that there is. What
// depends on it gets an axis for them, in front of its own, and the objective
// is their mean, or the sum over all; what does not depend is computed once.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/derive/EquationBuilder.h"
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
  /// `enumerated`: the array of which there are all values; null: draws.
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
  Value allOf(OutputOp output, ArrayRef<Attribute> own);

  SystemOp system;
  Attribute extent;
  ComputeOp enumerated;
  Value prior; // log p of each value
  llvm::SetVector<Value> repeated;
  llvm::DenseMap<Value, Value> spreads;
};

} // namespace

void Repeat::findRepeated() {
  auto add = [&](Operation *op) {
    while (op && op->getParentOp() != system)
      op = op->getParentOp();
    if (op && op->getNumResults() == 1)
      repeated.insert(op->getResult(0));
  };
  if (enumerated)
    add(enumerated);
  else
    system.walk([&](RandomOp op) {
      if (!op.getShared())
        add(op);
    });
  for (unsigned i = 0; i < repeated.size(); ++i)
    for (Operation *user : repeated[i].getUsers())
      add(user);
}

ArrayType Repeat::longer(Value array) {
  auto type = cast<ArrayType>(array.getType());
  SmallVector<Attribute> shape = {extent};
  llvm::append_range(shape, type.getShape());
  return ArrayType::get(shape, type.getElementType());
}

/// An array that is the same for every draw, with the axis.
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

/// Of the values of a choice: log p of all is the log of the sum, a penalty is
/// the mean with the probabilities.
Value Repeat::allOf(OutputOp output, ArrayRef<Attribute> own) {
  Value array = output.getValue();
  bool isPenalty = output.getTarget() == "penalty";
  double sign = output.getTarget() == "nll" ? -1 : 1;
  Value sum = compute(
      output.getTarget(), own, isPenalty ? Reducer::sum : Reducer::logsumexp,
      extent, [&](Scalars &at) {
        Value log = at.read(prior, at.indices.back());
        Value value = at.read(array, at.indices.back());
        if (isPenalty)
          return at.mul(math::ExpOp::create(at.builder, loc, log), value);
        return at.add(log, at.mul(at.constant(sign), value));
      });
  return sign > 0
             ? sum
             : compute(output.getTarget(), own, Reducer::none, {},
                       [&](Scalars &at) { return at.negate(at.read(sum)); });
}

/// The objective is the mean; of anything else the first draw is given.
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
  Value value =
      enumerated && isObjective && own.empty() ? allOf(output, own)
      : isObjective
          ? compute(name, own, Reducer::mean, extent,
                    [&](Scalars &at) {
                      return readAt(at, at.indices.back(),
                                    ArrayRef<Value>(at.indices).drop_back());
                    })
          : compute(
                name, own, Reducer::none, {},
                [&](Scalars &at) {
                  return readAt(at, at.place(0), at.indices);
                },
                type.getElementType());
  output.getValueMutable().assign(value);
}

void Repeat::run() {
  findRepeated();
  for (auto output : llvm::make_early_inc_range(system.getOps<OutputOp>()))
    if (enumerated && output.getTarget() == "surrogate.prior") {
      prior = output.getValue();
      output.erase();
    }
  // What is made for outputs stands at the end, and is not repeated.
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
    for (ComputeOp op : all)
      Repeat(system, op->removeAttr(enumeratedName), op).run();
    // The draws stand around: each has a sum of its own.
    if (Attribute samples = system->removeAttr("attn.samples"))
      Repeat(system, samples, nullptr).run();
  }
};

} // namespace
