//===- DeriveObjective.cpp - what training minimises ----------------------===//
//
// One function per distribution: log p of a choice, as equations of the same
// system. Batches, and how the sums are averaged over them, are decided by who
// runs `@loss`.
//
//===----------------------------------------------------------------------===//

#include "dialect/Distributions.h"
#include "passes/Passes.h"
#include "passes/analysis/Equations.h"
#include "passes/derive/Derive.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace fovea::attn {
#define GEN_PASS_DEF_DERIVEOBJECTIVE
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

namespace {

/// Builds the scalars of one body.
class Scalars {
public:
  Scalars(OpBuilder &builder, Location loc, ValueRange indices)
      : builder(builder), loc(loc), indices(indices.begin(), indices.end()) {}

  Value constant(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF64FloatAttr(value));
  }
  Value place(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value div(Value a, Value b) {
    return arith::DivFOp::create(builder, loc, a, b);
  }
  Value negate(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value log(Value a) { return math::LogOp::create(builder, loc, a); }
  Value square(Value a) { return mul(a, a); }
  Value softplus(Value a) { return SoftplusOp::create(builder, loc, a); }

  /// `array` at the first indices of the body, then at `more`.
  Value read(Value array, ArrayRef<Value> more = {}) {
    auto type = cast<ArrayType>(array.getType());
    SmallVector<Value> at(
        ArrayRef<Value>(indices).take_front(type.getRank() - more.size()));
    llvm::append_range(at, more);
    return ReadOp::create(builder, loc, array, at);
  }

  /// A value of data as a place of an axis.
  Value asPlace(Value value) {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      value);
  }
  /// Whether a bit, however it is stored, is 1.
  Value isSet(Value bit) {
    if (bit.getType().isInteger(1))
      return bit;
    Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit,
                                 zero);
  }
  /// Only the branch that is taken is evaluated, and differentiated: the other
  /// may be the log of 0.
  Value either(Value condition, llvm::function_ref<Value()> then,
               llvm::function_ref<Value()> otherwise) {
    auto choice = scf::IfOp::create(builder, loc, builder.getF64Type(),
                                    condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    for (auto [block, value] : {std::pair(choice.thenBlock(), then),
                                std::pair(choice.elseBlock(), otherwise)}) {
      builder.setInsertionPointToEnd(block);
      scf::YieldOp::create(builder, loc, value());
    }
    return choice.getResult(0);
  }
  Value select(Value condition, Value then, Value otherwise) {
    return arith::SelectOp::create(builder, loc, condition, then, otherwise);
  }
  Value within(Value low, Value value, Value high) {
    auto atMost = [&](Value a, Value b) -> Value {
      return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, a,
                                   b);
    };
    return arith::AndIOp::create(builder, loc, atMost(low, value),
                                 atMost(value, high));
  }

private:
  OpBuilder &builder;
  Location loc;
  SmallVector<Value> indices;
};

using Body = llvm::function_ref<Value(Scalars &)>;

/// The equations of one objective, added to the end of a system.
class Objective {
public:
  Objective(SystemOp system, double smooth, bool each)
      : builder(OpBuilder::atBlockEnd(&system.getBody().front())),
        smooth(smooth), each(each) {}

  void addChoice(ChoiceOp choice);
  void addPenalty(PenaltyOp penalty);
  /// Adds the outputs `nll`, `logp`, `choices` and `penalty`.
  void finish(Location place);

private:
  /// An equation over `kept`, reduced over `reduced`.
  Value compute(const Twine &label, ArrayRef<Attribute> kept, Reducer reducer,
                ArrayRef<Attribute> reduced, Body body);
  /// The sum over all of `over`, or the one value when there is no axis.
  Value sum(const Twine &label, ArrayRef<Attribute> over, Body body) {
    return over.empty() ? compute(label, {}, Reducer::none, {}, body)
                        : compute(label, {}, Reducer::sum, over, body);
  }
  Value total(StringRef label, ArrayRef<Value> terms);
  /// log p of the present choice, given that of one element.
  Value sumOfLogps(Body body);

  // log p, summed over all elements of the present choice.
  Value logOfCategorical(ChoiceOp choice);
  Value logOfBernoulli(ChoiceOp choice);
  Value logOfNormal(ChoiceOp choice);
  Value logOfUniform(ChoiceOp choice);
  Value logOfMixture(ChoiceOp choice);
  Value logOf(ChoiceOp choice);

  OpBuilder builder;
  double smooth;
  bool each; // log p of each element is an output, too
  // The present choice: where, its name, and the axes over which it makes one
  // choice per element.
  Location loc = builder.getUnknownLoc();
  StringRef name;
  SmallVector<Attribute> axes;
  /// log p after label smoothing, where that differs.
  Value smoothed;
  SmallVector<Value> logps, trained, counts, penalties;
};

} // namespace

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

Value Objective::compute(const Twine &label, ArrayRef<Attribute> kept,
                         Reducer reducer, ArrayRef<Attribute> reduced,
                         Body body) {
  SmallVector<Attribute> extents(kept), names;
  llvm::append_range(extents, reduced);
  for (unsigned i = 0; i < extents.size(); ++i)
    names.push_back(builder.getStringAttr("i" + Twine(i)));
  SmallString<32> text;
  auto op = ComputeOp::create(builder, loc, label.toStringRef(text), names,
                              extents, /*lower=*/ArrayRef<int64_t>(),
                              kept.size(), reducer, builder.getF64Type());
  OpBuilder::InsertionGuard guard(builder);
  Block &block = op.getBody().front();
  builder.setInsertionPointToEnd(&block);
  Scalars scalars(builder, loc, block.getArguments());
  YieldOp::create(builder, loc, body(scalars));
  return op.getResult();
}

Value Objective::total(StringRef label, ArrayRef<Value> terms) {
  if (terms.size() == 1)
    return terms.front();
  return sum(label, {}, [&](Scalars &at) {
    Value value = at.constant(0);
    for (Value term : terms)
      value = at.add(value, at.read(term));
    return value;
  });
}

Value Objective::sumOfLogps(Body body) {
  if (!each)
    return sum("logp." + name, axes, body);
  Value array = compute("logps." + name, axes, Reducer::none, {}, body);
  OutputOp::create(builder, loc,
                   builder.getStringAttr("logp/" + Twine(logps.size())), array);
  return sum("logp." + name, axes, [&](Scalars &at) { return at.read(array); });
}

//===----------------------------------------------------------------------===//
// log p by distribution
//===----------------------------------------------------------------------===//

/// The array that `array` is another name for, or itself.
static Value behindCopies(Value array) {
  auto op = array.getDefiningOp<ComputeOp>();
  Value source = op ? copiedBy(op) : Value();
  return source ? behindCopies(source) : array;
}

/// What `probs` is the softmax of, as the log of it: the log of a probability
/// that is too small for a number is none.
static Value logOfSoftmax(OpBuilder &builder, Value probs) {
  auto softmax = behindCopies(probs).getDefiningOp<ComputeOp>();
  if (!softmax || softmax.getReducer() != Reducer::softmax ||
      softmax.hasCondition())
    return {};
  auto logs = cast<ComputeOp>(builder.clone(*softmax));
  logs.setReducer(Reducer::log_softmax);
  return logs.getResult();
}

/// What `probability` is the sigmoid of.
static Value logitOfSigmoid(OpBuilder &builder, Value probability) {
  auto sigmoid = behindCopies(probability).getDefiningOp<ComputeOp>();
  if (!sigmoid || sigmoid.getReducer() != Reducer::none ||
      sigmoid.hasCondition() ||
      !sigmoid.getYielded().getDefiningOp<SigmoidOp>())
    return {};
  auto logit = cast<ComputeOp>(builder.clone(*sigmoid));
  Operation *yield = logit.getBody().front().getTerminator();
  yield->setOperand(
      0, yield->getOperand(0).getDefiningOp<SigmoidOp>().getOperand());
  return logit.getResult();
}

/// log_softmax(logits)[.., observed], or log(probs[.., observed]).
Value Objective::logOfCategorical(ChoiceOp choice) {
  Value given = choice.getParameters()[0], observed = choice.getObserved();
  bool fromLogits =
      cast<StringAttr>(choice.getParameterNames()[0]).getValue() == "logits";
  Attribute event = cast<ArrayType>(given.getType()).getExtent(axes.size());
  Value table =
      fromLogits ? compute("log_p." + name, axes, Reducer::log_softmax, event,
                           [&](Scalars &at) { return at.read(given); })
                 : logOfSoftmax(builder, given);
  bool isLog = bool(table);
  if (!isLog)
    table = given;
  auto asLog = [&](Scalars &at, Value value) {
    return isLog ? value : at.log(value);
  };
  Value logp = sumOfLogps([&](Scalars &at) {
    Value symbol = at.asPlace(at.read(observed));
    return asLog(at, at.read(table, symbol));
  });
  if (smooth == 0)
    return logp;

  // Label smoothing: (1 - s) * log p + s * mean over v of log p_v.
  Value mean = compute("mean_log_p." + name, axes, Reducer::mean, event,
                       [&](Scalars &at) { return asLog(at, at.read(table)); });
  Value means =
      sum("means." + name, axes, [&](Scalars &at) { return at.read(mean); });
  smoothed = sum("smoothed." + name, {}, [&](Scalars &at) {
    Value kept = at.mul(at.constant(1 - smooth), at.read(logp));
    Value spread = at.mul(at.constant(smooth), at.read(means));
    return at.add(kept, spread);
  });
  return logp;
}

/// A bit x of logit l: -softplus(-l) for 1 and -softplus(l) for 0, which never
/// overflows; of probability p: log p and log(1 - p).
Value Objective::logOfBernoulli(ChoiceOp choice) {
  Value given = choice.getParameters()[0], observed = choice.getObserved();
  bool fromLogit =
      cast<StringAttr>(choice.getParameterNames()[0]).getValue() == "logit";
  if (Value logit = fromLogit ? Value() : logitOfSigmoid(builder, given)) {
    given = logit;
    fromLogit = true;
  }
  return sumOfLogps([&](Scalars &at) {
    Value isSet = at.isSet(at.read(observed)), value = at.read(given);
    if (fromLogit) {
      Value against = at.select(isSet, at.negate(value), value);
      return at.negate(at.softplus(against));
    }
    return at.either(
        isSet, [&] { return at.log(value); },
        [&] { return at.log(at.sub(at.constant(1), value)); });
  });
}

/// -((x - mean) / sd)^2 / 2 - log sd - log(2 pi) / 2
static Value logOfNormalAt(Scalars &at, Value x, Value mean, Value sd) {
  Value distance = at.square(at.div(at.sub(x, mean), sd));
  Value exponent = at.mul(at.constant(-0.5), distance);
  Value norm =
      at.add(at.log(sd), at.constant(0.5 * std::log(2 * std::numbers::pi)));
  return at.sub(exponent, norm);
}

Value Objective::logOfNormal(ChoiceOp choice) {
  Value mean = choice.getParameters()[0], sd = choice.getParameters()[1];
  return sumOfLogps([&](Scalars &at) {
    Value scale = at.read(sd);
    return logOfNormalAt(at, at.read(choice.getObserved()), at.read(mean),
                         scale);
  });
}

/// -log(high - low) inside, minus infinity outside.
Value Objective::logOfUniform(ChoiceOp choice) {
  Value lows = choice.getParameters()[0], highs = choice.getParameters()[1];
  return sumOfLogps([&](Scalars &at) {
    Value low = at.read(lows), high = at.read(highs);
    Value inside = at.within(low, at.read(choice.getObserved()), high);
    return at.either(
        inside, [&] { return at.negate(at.log(at.sub(high, low))); },
        [&] { return at.constant(-std::numeric_limits<double>::infinity()); });
  });
}

/// Log of the sum over m of weight[m] times the density of component m: a
/// normal, or for pairs a bivariate normal (Graves 2013, equations 23 to 25).
Value Objective::logOfMixture(ChoiceOp choice) {
  Value logit = choice.getParameters()[0], mean = choice.getParameters()[1];
  Value sd = choice.getParameters()[2];
  Value correlation =
      numValueAxes(choice) == 1 ? choice.getParameters()[3] : Value();
  Attribute event = cast<ArrayType>(logit.getType()).getExtent(axes.size());
  Value weight = compute("log_weight." + name, axes, Reducer::log_softmax,
                         event, [&](Scalars &at) { return at.read(logit); });
  Value density = compute(
      "log_p." + name, axes, Reducer::logsumexp, event, [&](Scalars &at) {
        if (!correlation) {
          Value x = at.read(choice.getObserved());
          Value component = logOfNormalAt(at, x, at.read(mean), at.read(sd));
          return at.add(at.read(weight), component);
        }
        // norm = log(2 pi sd1 sd2 sqrt(1 - rho^2))
        Value rho = at.read(correlation);
        Value rest = at.sub(at.constant(1), at.square(rho));
        Value norm = at.add(at.constant(std::log(2 * std::numbers::pi)),
                            at.mul(at.constant(0.5), at.log(rest)));
        SmallVector<Value, 2> z;
        for (int64_t k : {0, 1}) {
          Value axis = at.place(k), scale = at.read(sd, axis);
          Value away =
              at.sub(at.read(choice.getObserved(), axis), at.read(mean, axis));
          z.push_back(at.div(away, scale));
          norm = at.add(norm, at.log(scale));
        }
        Value squares = at.add(at.square(z[0]), at.square(z[1]));
        Value cross = at.mul(rho, at.mul(z[0], z[1]));
        Value distance = at.sub(squares, at.mul(at.constant(2), cross));
        Value exponent = at.div(distance, at.mul(at.constant(2), rest));
        return at.sub(at.sub(at.read(weight), norm), exponent);
      });
  return sumOfLogps([&](Scalars &at) { return at.read(density); });
}

Value Objective::logOf(ChoiceOp choice) {
  switch (choice.getDistribution()) {
  case Distribution::categorical:
    return logOfCategorical(choice);
  case Distribution::bernoulli:
    return logOfBernoulli(choice);
  case Distribution::normal:
    return logOfNormal(choice);
  case Distribution::uniform:
    return logOfUniform(choice);
  case Distribution::mixture:
    return logOfMixture(choice);
  }
  llvm_unreachable("every distribution has a log p");
}

//===----------------------------------------------------------------------===//
// The objective
//===----------------------------------------------------------------------===//

void Objective::addChoice(ChoiceOp choice) {
  loc = choice.getLoc();
  name = choice.getTarget();
  auto type = cast<ArrayType>(choice.getObserved().getType());
  axes.assign(type.getShape().begin(), type.getShape().end());
  // The last axis of pairs belongs to the value.
  axes.truncate(axes.size() - numValueAxes(choice));
  smoothed = nullptr;
  Value logp = logOf(choice);
  logps.push_back(logp);
  trained.push_back(smoothed ? smoothed : logp);
  counts.push_back(
      sum("choices." + name, axes, [](Scalars &at) { return at.constant(1); }));
}

void Objective::addPenalty(PenaltyOp penalty) {
  loc = penalty.getLoc();
  Value value = penalty.getValue();
  auto type = cast<ArrayType>(value.getType());
  if (type.getRank() > 0)
    value = sum("penalty", type.getShape().getValue(),
                [&](Scalars &at) { return at.read(penalty.getValue()); });
  penalties.push_back(value);
}

void Objective::finish(Location place) {
  loc = place;
  Value likelihood = total("trained", trained);
  Value nll = sum("nll", {},
                  [&](Scalars &at) { return at.negate(at.read(likelihood)); });
  OutputOp::create(builder, loc, "nll", nll);
  OutputOp::create(builder, loc, "logp", total("logp", logps));
  OutputOp::create(builder, loc, "choices", total("choices", counts));
  OutputOp::create(builder, loc, "penalty", total("penalty", penalties));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// `smooth` of the module's `attn.train`, 0 where it is not given.
static double smoothingOf(ModuleOp module) {
  auto train = module->getAttrOfType<DictionaryAttr>("attn.train");
  Attribute given = train ? train.get("smooth") : Attribute();
  if (auto real = dyn_cast_or_null<FloatAttr>(given))
    return real.getValueAsDouble();
  if (auto whole = dyn_cast_or_null<IntegerAttr>(given))
    return static_cast<double>(whole.getInt());
  return 0;
}

namespace {

struct DeriveObjective
    : fovea::attn::impl::DeriveObjectiveBase<DeriveObjective> {
  using DeriveObjectiveBase::DeriveObjectiveBase;

  void runOnOperation() override {
    auto system = getOperation().lookupSymbol<SystemOp>("training");
    if (!system)
      return markAllAnalysesPreserved();
    if (failed(refuseLatents(system)) ||
        failed(resolveEquations(system, equationsToGet(system, get))))
      return signalPassFailure();
    Objective objective(system, smoothingOf(getOperation()), each);
    for (auto choice : llvm::make_early_inc_range(system.getOps<ChoiceOp>())) {
      objective.addChoice(choice);
      choice.erase();
    }
    for (auto penalty :
         llvm::make_early_inc_range(system.getOps<PenaltyOp>())) {
      objective.addPenalty(penalty);
      penalty.erase();
    }
    objective.finish(system.getLoc());
    system.setSymName("loss");
    eraseDeadArrays(system);
  }
};

} // namespace
