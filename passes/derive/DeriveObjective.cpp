//===- DeriveObjective.cpp - what training minimises ----------------------===//
//
// Sums log p of the choices (LogProbability.h) and the penalties, as
// equations of the same system. The caller of `@loss` decides batches and
// averaging.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/derive/Causality.h"
#include "passes/derive/Derive.h"
#include "passes/derive/EnumeratePlaces.h"
#include "passes/derive/LogProbability.h"
#include "passes/derive/SampledSoftmax.h"
#include "passes/derive/SumOverPlaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SaveAndRestore.h"

namespace fovea::attn {
#define GEN_PASS_DEF_DERIVEOBJECTIVE
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// A choice of later places of data.
static constexpr StringLiteral aheadName = "attn.ahead";

namespace {

/// The equations of one objective, added to the end of a system.
class Objective : LogProbability {
public:
  Objective(SystemOp system, double smooth, bool each,
            const llvm::StringMap<Value> &equations)
      : LogProbability(OpBuilder::atBlockEnd(&system.getBody().front()), smooth,
                       each),
        equations(equations) {}

  void addChoice(ChoiceOp choice);
  void addPenalty(PenaltyOp penalty);
  /// Adds the outputs `nll`, `logp`, `choices` and `penalty`, and surrogates to
  /// differentiate if latents were sampled.
  void finish(Location place);

private:
  Value ranking(ChoiceOp choice);
  Value countOf();
  void addSums();

  // Estimators of latents.
  Value score(ChoiceOp choice, Value reward, StringRef suffix);
  Value rewardLeft(ChoiceOp latent, Value reward);
  void addSurrogate(StringRef root, Value objective);
  /// A number, or one for each place, over all enumerated values.
  Value overAll(StringRef kind, Value number);

  /// An argument of the current choice's treatment: a number, or the result of
  /// the named equation.
  Value argument(Scalars &at, ChoiceOp choice, StringRef key, double otherwise);

  /// Those of the model, by name.
  const llvm::StringMap<Value> &equations;
  SmallVector<ChoiceOp> latents, enumerated;
  SmallVector<ChoiceOp> observed;
  SmallVector<Value> logps, trained, counts, penalties, gaps;
  llvm::MapVector<StringRef, Places> summed;
  /// The quantities of an update in place of `trained` and `logps`, if one is
  /// sampled.
  SmallVector<Value> estimates;
  bool isEstimated = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// The objective
//===----------------------------------------------------------------------===//

void Objective::addChoice(ChoiceOp choice) {
  if (choice->hasAttr(chainName)) {
    summed[choice.getTarget()].choice = choice;
    return;
  }
  if (choice->hasAttr(startName)) {
    summed[choice.getTarget()].start = choice;
    return;
  }
  if (choice.getLatent()) {
    auto kind = choice.getTreatment()->getAs<StringAttr>("kind");
    (kind.getValue() == "enumerate" ? enumerated : latents).push_back(choice);
    return;
  }
  if (choice->hasAttr(aheadName)) {
    llvm::SaveAndRestore notEach(each, false);
    begin(choice);
    Value logp = logOf(choice);
    trained.push_back(smoothed ? smoothed : logp);
    estimates.push_back(trained.back());
    return;
  }
  observed.push_back(choice);
  begin(choice);
  eachName = std::to_string(logps.size());
  llvm::SaveAndRestore eachIfAlone(each, each && kept.empty());
  Value logp = logOf(choice);
  counts.push_back(countOf());
  if (auto over = choice->getAttrOfType<DictionaryAttr>(overName)) {
    auto of = over.getAs<StringAttr>("of").getValue();
    summed[of].evidence.push_back({over.getAs<BoolAttr>("current").getValue(),
                                   over.getAs<BoolAttr>("previous").getValue(),
                                   logp, smoothed ? smoothed : logp});
    return;
  }
  DictionaryAttr treatment = choice.getTreatmentAttr();
  auto kind = treatment ? treatment.getAs<StringAttr>("kind") : StringAttr();
  if (kind && kind.getValue() == "margin")
    smoothed = ranking(choice);
  logps.push_back(logp);
  trained.push_back(smoothed ? smoothed : logp);
  estimates.push_back(trained.back());
  if (isSampled(choice)) {
    llvm::SaveAndRestore notEach(each, false);
    Value estimate = sampledLogp(builder, choice);
    isEstimated = true;
    estimates.back() =
        sumOfLogps([&](Scalars &at) { return at.read(estimate); });
  }
}

/// The number of choices in the current one.
Value Objective::countOf() {
  return sum("choices." + name, ArrayRef<Attribute>(axes).drop_front(numValues),
             [&](Scalars &at) {
               if (weights.empty())
                 return at.constant(1);
               Value weight = weights.front();
               if (cast<ArrayType>(weight.getType()).getRank() == 0)
                 return at.read(weight);
               // The weight is the same for all values.
               SmallVector<Value> place(numValues, at.place(0));
               llvm::append_range(place, at.indices);
               place.resize(cast<ArrayType>(weight.getType()).getRank());
               Value read = ReadOp::create(at.builder, loc, weight, place);
               return read;
             });
}

/// log p of the data that depend on choices at several places.
void Objective::addSums() {
  for (auto &[latent, places] : summed) {
    loc = places.choice.getLoc();
    LogSums sums = sumOverPlaces(builder, places, /*trained=*/false);
    Value logp = sums.total, used = logp;
    if (llvm::any_of(places.evidence, [](const Places::Evidence &one) {
          return one.logp != one.trained;
        }))
      used = sumOverPlaces(builder, places, /*trained=*/true).total;
    // A chain has one number for all of its places.
    if (each)
      OutputOp::create(
          builder, loc,
          builder.getStringAttr("logp/sum." + places.choice.getTarget()),
          sums.each);
    logps.push_back(logp);
    trained.push_back(used);
    estimates.push_back(used);
    findMostProbable(builder, places);
  }
}

Value Objective::argument(Scalars &at, ChoiceOp choice, StringRef key,
                          double otherwise) {
  DictionaryAttr treatment = choice.getTreatmentAttr();
  if (auto name = treatment.getAs<StringAttr>(key))
    return at.read(equations.lookup(name.getValue()));
  auto given = treatment.getAs<FloatAttr>(key);
  return at.constant(given ? given.getValueAsDouble() : otherwise);
}

/// The negated hinge loss of the other logits against the right one, trained
/// instead of log p (Weston et al. 2015).
Value Objective::ranking(ChoiceOp choice) {
  Value logits = choice.getParameters()[0];
  SmallVector<Attribute> all(axes);
  all.push_back(lastExtent(logits));
  return sum("ranking." + name, all, [&](Scalars &at) {
    return weighted(at, [&](Scalars &) {
      Value right = at.asPlace(at.read(choice.getObserved()));
      Value isOther = arith::CmpIOp::create(
          at.builder, loc, arith::CmpIPredicate::ne, right, at.indices.back());
      return at.either(
          isOther,
          [&] {
            Value margin = argument(at, choice, "margin", 1);
            Value rest = at.sub(margin, at.read(logits, right));
            Value lack = at.add(rest, at.read(logits));
            Value zero = at.constant(0);
            Value hinge =
                arith::MaximumFOp::create(at.builder, loc, zero, lack);
            return at.negate(hinge);
          },
          [&] { return at.constant(0); });
    });
  });
}

void Objective::addPenalty(PenaltyOp penalty) {
  loc = penalty.getLoc();
  Value value = penalty.getValue();
  auto type = cast<ArrayType>(value.getType());
  if (type.getRank() > 0)
    value = sum("penalty", type.getShape().getValue(),
                [&](Scalars &at) { return at.read(penalty.getValue()); });
  // The gap of a bound on log p is a part of -log p.
  auto term = penalty->getAttrOfType<StringAttr>(termName);
  (term && term.getValue() == "nll" ? gaps : penalties).push_back(value);
}

void Objective::finish(Location place) {
  addSums();
  loc = place;
  Value gap = gaps.empty() ? Value() : total("gap", gaps);
  auto lessGap = [&](StringRef label, Value likelihood) {
    return !gap ? likelihood : sum(label, {}, [&](Scalars &at) {
      Value whole = at.read(likelihood);
      return at.sub(whole, at.read(gap));
    });
  };
  Value likelihood = lessGap("bound", total("trained", trained));
  Value nll = sum("nll", {},
                  [&](Scalars &at) { return at.negate(at.read(likelihood)); });
  OutputOp::create(builder, loc, "nll", nll);
  // The weights of the sum over all values.
  for (ChoiceOp choice : enumerated) {
    llvm::SaveAndRestore noSmoothing(smooth, 0.0);
    llvm::SaveAndRestore notEach(each, false);
    begin(choice);
    OutputOp::create(builder, loc, ("surrogate.prior." + name).str(),
                     logOf(choice));
  }
  Value logp = total("logp", logps);
  OutputOp::create(builder, loc, "logp", lessGap("logp", logp));
  // Each example has its own seed: what its reward is above the baseline.
  if (llvm::any_of(observed, isPolicy))
    OutputOp::create(builder, loc, "surrogate.policy",
                     sum("policy", {}, [&](Scalars &at) {
                       return at.negate(at.read(logp));
                     }));
  // An estimate of log p is only for an update.
  if (isEstimated) {
    Value estimate = lessGap("estimate", total("estimate", estimates));
    nll = sum("estimate.nll", {},
              [&](Scalars &at) { return at.negate(at.read(estimate)); });
    OutputOp::create(builder, loc, "estimate.nll", nll);
    OutputOp::create(builder, loc, "estimate.logp", estimate);
  }
  OutputOp::create(builder, loc, "choices", total("choices", counts));
  Value penalty = total("penalty", penalties);
  OutputOp::create(builder, loc, "penalty", penalty);
  if (latents.empty())
    return;
  // Estimators are not part of the report.
  smooth = 0;
  each = false;
  Value objective = overAll("nll", nll);
  for (ChoiceOp latent : latents) {
    Attribute share = latent.getTreatment()->get("entropy");
    auto number = dyn_cast_or_null<FloatAttr>(share);
    if (!share || (number && number.getValueAsDouble() == 0))
      continue;
    begin(latent);
    Value entropy = entropyOf(latent);
    Value before = objective;
    objective = sum("objective", {}, [&](Scalars &at) {
      Value weight = argument(at, latent, "entropy", 0);
      Value bonus = at.mul(weight, at.read(entropy));
      return at.sub(at.read(before), bonus);
    });
  }
  addSurrogate("nll", objective);
  if (!penalties.empty())
    addSurrogate("penalty", overAll("penalty", penalty));
}

//===----------------------------------------------------------------------===//
// Estimators
//===----------------------------------------------------------------------===//

Value Objective::overAll(StringRef kind, Value number) {
  if (enumerated.empty())
    return number;
  ArrayRef<Attribute> own =
      cast<ArrayType>(number.getType()).getShape().getValue();
  Value copy = compute("", own, Reducer::none, {},
                       [&](Scalars &at) { return at.read(number); });
  copy.getDefiningOp()->setAttr(totalName, builder.getStringAttr(kind));
  return copy;
}

/// The arrays of a system that depend on `value`, which is one of them.
static llvm::SetVector<Value> dependentsOf(SystemOp system, Value value) {
  llvm::SetVector<Value> found;
  found.insert(value);
  for (unsigned i = 0; i < found.size(); ++i)
    for (Operation *user : found[i].getUsers()) {
      while (user->getParentOp() != system)
        user = user->getParentOp();
      if (user->getNumResults() == 1)
        found.insert(user->getResult(0));
    }
  return found;
}

/// Returns whether the probability of the values of `choice` depends on one of
/// `arrays`.
static bool isDrawnFrom(ChoiceOp choice, const llvm::SetVector<Value> &arrays) {
  return llvm::any_of(choice.getParameters(), [&](Value parameter) {
    return arrays.contains(parameter);
  });
}

/// Returns whether the probability of the values of `latent` depends on the
/// value of `other`.
static bool isDrawnFrom(ChoiceOp latent, ChoiceOp other) {
  auto system = latent->getParentOfType<SystemOp>();
  return isDrawnFrom(latent, dependentsOf(system, other.getObserved()));
}

/// For a choice at each place: the reward without log p of the data before the
/// place, which do not depend on the choice there.
Value Objective::rewardLeft(ChoiceOp latent, Value reward) {
  // Every place contributes to such a choice.
  for (ChoiceOp choice : enumerated)
    if (isDrawnFrom(choice, latent))
      return reward;
  std::optional<unsigned> axis;
  SmallVector<Value> earlier;
  for (ChoiceOp data : observed) {
    // What is summed over at each place has no share of one.
    if (data->hasAttr(overName))
      continue;
    std::optional<Causal> causal = dependsOnEarlier(latent, data);
    if (!causal || (axis && *axis != causal->ofLatent))
      continue;
    axis = causal->ofLatent;
    begin(data);
    kept = {causal->ofData};
    earlier.push_back(logOf(data));
  }
  begin(latent);
  if (!axis)
    return reward;
  Attribute extent = axes[*axis];
  Value sums =
      compute("earlier." + name, {}, Reducer::cumsum, extent, [&](Scalars &at) {
        Value sum = at.constant(0);
        for (Value one : earlier)
          sum = at.add(sum, at.read(one));
        return sum;
      });
  // For enumerated choices, also the sum over their values.
  sums = overAll("logp", sums);
  return compute("left." + name, axes, Reducer::none, {}, [&](Scalars &at) {
    Value before = at.before(at.indices[*axis]);
    return at.sub(at.read(reward), at.readOr(sums, before, at.constant(0)));
  });
}

/// A term with REINFORCE's derivative: log p of the sample times its advantage
/// over the expected reward (Williams 1992).
Value Objective::score(ChoiceOp choice, Value reward, StringRef suffix) {
  begin(choice);
  Value baseline = suffix.empty() ? choice.getBaseline() : Value();
  if (choice.getTreatment()->getAs<FloatAttr>("baseline")) {
    auto state = builder.getStringAttr("state." + name + suffix);
    baseline = DataOp::create(builder, loc,
                              ArrayType::get({}, builder.getF64Type()), state);
    OutputOp::create(builder, loc, state, reward);
  }
  // No share of the penalties is known to precede a place.
  bool isLikelihood = suffix.empty() && !choice.getReward();
  if (isLikelihood && choice.getTreatment()->getAs<FloatAttr>("later"))
    reward = rewardLeft(choice, reward);
  // As many axes as the one of them that has more.
  ArrayRef<Attribute> over(axes);
  int64_t rank = 0;
  for (Value array : {reward, baseline})
    if (array)
      rank =
          std::max<int64_t>(rank, cast<ArrayType>(array.getType()).getRank());
  over = over.take_front(rank);
  Value lack =
      compute("lack." + name, over, Reducer::none, {}, [&](Scalars &at) {
        Value rest = at.negate(at.read(reward));
        if (baseline)
          rest = at.add(at.read(baseline), rest);
        return at.stop(rest);
      });
  weights.push_back(lack);
  return logOf(choice);
}

void Objective::addSurrogate(StringRef root, Value objective) {
  SmallVector<Value> parts = {objective};
  Value reward = sum(
      "reward", {}, [&](Scalars &at) { return at.negate(at.read(objective)); });
  for (ChoiceOp latent : latents) {
    if (!latent.getReward())
      parts.push_back(
          score(latent, reward, root == "penalty" ? ".penalty" : ""));
    else if (root == "nll")
      parts.push_back(score(latent, latent.getReward(), ""));
  }
  OutputOp::create(builder, loc, ("surrogate." + root).str(),
                   total("surrogate", parts));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// A term other than log p cannot be added to the log p of a latent.
static LogicalResult checkSummed(ChoiceOp choice) {
  auto over = choice->getAttrOfType<DictionaryAttr>(overName);
  DictionaryAttr treatment = choice.getTreatmentAttr();
  if (over && choice->hasAttr(aheadName))
    return choice.emitError()
           << "'enumerate' of '" << over.getAs<StringAttr>("of").getValue()
           << "' cannot be combined with a choice of later places that "
              "depends on it";
  if (!over || !treatment || !treatment.getAs<StringAttr>("kind"))
    return success();
  return choice.emitError()
         << "'enumerate' of '" << over.getAs<StringAttr>("of").getValue()
         << "' sums over log p of '" << choice.getTarget() << "', but '"
         << treatment.getAs<StringAttr>("kind").getValue()
         << "' trains something else";
}

/// The sample and its value are shared by all enumerated
/// values.
static LogicalResult checkEnumerated(SystemOp system, ChoiceOp choice) {
  for (auto source : system.getOps<ComputeOp>()) {
    if (!source->hasAttr(enumeratedName) ||
        source.getResult() == choice.getObserved())
      continue;
    llvm::SetVector<Value> found = dependentsOf(system, source.getResult());
    std::string name = ("'" + choice.getTarget() + "'").str(),
                all = ("'" + *source.getLabel() +
                       "', of which 'enumerate' takes all values at once")
                          .str();
    for (auto [word, value] : {std::pair("baseline", choice.getBaseline()),
                               std::pair("reward", choice.getReward())})
      if (value && found.contains(value))
        return choice.emitError()
               << "the " << word << " of " << name << " depends on " << all;
    auto kind = choice.getTreatment()->getAs<StringAttr>("kind");
    bool isDrawn = kind.getValue() != "enumerate";
    if (isDrawn && isDrawnFrom(choice, found))
      return choice.emitError()
             << "'reinforce' draws " << name << " from what depends on " << all
             << "; help: enumerate both, or draw both";
  }
  return success();
}

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
    llvm::StringMap<Value> equations;
    for (auto equation : system.getOps<EquationOp>())
      equations[equation.getTarget()] = equation.getValue();
    std::vector<std::string> kept = equationsToGet(system, get);
    for (auto equation : system.getOps<EquationOp>())
      if (updates && isUpdate(equation.getTarget()))
        kept.push_back(equation.getTarget().str());
    if (failed(refuseLatents(system)) || failed(resolveEquations(system, kept)))
      return signalPassFailure();
    double smooth = smoothingOf(getOperation());
    Objective objective(system, smooth, each, equations);
    SmallVector<Operation *> replaced;
    for (auto choice : system.getOps<ChoiceOp>()) {
      if (failed(checkSampled(choice, smooth != 0)) ||
          failed(checkSummed(choice)) ||
          (choice.getLatent() && failed(checkEnumerated(system, choice))))
        return signalPassFailure();
      objective.addChoice(choice);
      replaced.push_back(choice);
    }
    for (auto penalty : system.getOps<PenaltyOp>()) {
      objective.addPenalty(penalty);
      replaced.push_back(penalty);
    }
    objective.finish(system.getLoc());
    for (Operation *op : replaced)
      op->erase();
    system.setSymName("loss");
    eraseDeadArrays(system);
  }
};

} // namespace
