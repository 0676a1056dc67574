//===- SystemRunner.cpp - a hypothesis of an unscheduled decoder ----------===//
//
// Uses only the equations and the values chosen so far: for every choice, all
// that depends on choices is evaluated from scratch. Generates position by
// position along the first axis of the choices; a generated length is assumed
// to be the largest one until it is known.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Runner.h"
#include "dialect/reference/System.h"

#include <fmt/format.h>
#include <set>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

namespace {
/// The choices over one index, made step by step.
struct Plan {
  Attribute extent;
  bool open = false;
  std::vector<attn::ChoiceOp> choices;
};

class SystemRunner : public Runner {
public:
  SystemRunner(Operation *system, const Inputs &inputs,
               const SearchOptions &options)
      : Runner(inputs, options), system(system),
        common(std::make_shared<CommonArrays>(system)) {}
  Status start();

  std::unique_ptr<Runner> clone() const override {
    return std::make_unique<SystemRunner>(*this);
  }
  Status advance(Event &event) override;
  bool ranksByScore() const override {
    return llvm::any_of(
        marks, [](attn::MarkOp mark) { return mark.getTarget() == "score"; });
  }
  void shareStates(const Runner &) override {}
  Arrays outputs() const override { return results; }

protected:
  Status store(ArrayRef<double> value) override;

private:
  void orderPlans();
  Status evaluate(std::unique_ptr<SystemEvaluator> &evaluator);
  bool answer(attn::ChoiceOp op, int64_t number,
              const ChoiceDistribution &distribution,
              std::vector<double> &value);
  Status makeChoices(SystemEvaluator &evaluator);
  Status judgePlace(bool &rejected);
  Status readMarks(SystemEvaluator &evaluator, bool &rejected);
  Status endStep(Event &event);
  Status finish();

  Operation *system;
  std::shared_ptr<CommonArrays> common; // of all copies
  std::vector<Plan> plans;
  std::vector<attn::MarkOp> marks;
  std::map<std::string, int64_t> found; // lengths that were generated
  // By choice and number of its element.
  std::map<std::pair<Operation *, int64_t>, std::vector<double>> chosen;
  /// The places that marks have judged: those of the mark and a choice.
  std::set<std::pair<Operation *, int64_t>> judged;
  /// Without a search: whether hypotheses differ in choices made once.
  bool isListed = false;
  size_t plan = 0;
  DenseMap<Operation *, int64_t> rows; // elements of one step, by choice
  int64_t longest = 0;
  int64_t group = 0;
  bool waits = false;
  Status problem = Status::success();
  Arrays results;
};
} // namespace

Status SystemRunner::start() {
  LengthTable lengths;
  if (Status status = lengths.build(system, *inputs); status.failed())
    return status;
  Value longestMark;
  bool isDiscrete = true;
  for (Operation &op : system->getRegion(0).getOps()) {
    if (auto mark = dyn_cast<attn::MarkOp>(op)) {
      if (mark.getTarget() == "longest")
        longestMark = mark.getValue();
      else
        marks.push_back(mark);
    }
    auto choice = dyn_cast<attn::ChoiceOp>(op);
    if (!choice || !choice.getResult() || choice.getLatent())
      continue;
    isDiscrete &= ChoiceDistribution::isDiscrete(choice.getDistribution());
    if (numChoiceAxes(choice) == 0)
      continue;
    Attribute extent =
        cast<attn::ArrayType>(choice.getResult().getType()).getExtent(0);
    auto place = llvm::find_if(
        plans, [&](const Plan &plan) { return plan.extent == extent; });
    if (place == plans.end()) {
      auto name = dyn_cast<StringAttr>(extent);
      int id = name ? lengths.find(name.getValue()) : -1;
      plans.push_back({extent, id >= 0 && lengths.isOpen(id), {}});
      place = std::prev(plans.end());
      if (place->open)
        found[name.str()] = 0;
    }
    place->choices.push_back(choice);
  }
  orderPlans();
  isListed = plans.empty() && isDiscrete;
  longest = options->longest.value_or(2 * lengths.largestGiven() + 50);
  if (!longestMark || options->longest)
    return Status::success();
  SystemEvaluator evaluator(system, *inputs);
  Array value;
  if (Status status = evaluator.start({longestMark}); status.failed())
    return status;
  if (Status status = evaluator.demandAll(longestMark, value); status.failed())
    return status;
  if (value.values.size() != 1)
    return Status::error("the mark 'longest' is not one number",
                         placeOf(longestMark.getDefiningOp()));
  longest = std::max<int64_t>(1, value.values[0]);
  return Status::success();
}

/// All inputs of the parameters of some choices.
static DenseSet<Operation *> neededBy(ArrayRef<attn::ChoiceOp> choices) {
  DenseSet<Operation *> needed;
  SmallVector<Operation *> work;
  auto visit = [&](Operation *op) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *source = operand.getDefiningOp();
            source && needed.insert(source).second)
          work.push_back(source);
    });
  };
  for (attn::ChoiceOp choice : choices)
    visit(choice);
  while (!work.empty())
    visit(work.pop_back_val());
  return needed;
}

/// Orders plans so that each one follows the plans it depends on. Otherwise
/// their order does not change.
void SystemRunner::orderPlans() {
  std::vector<Plan> rest = std::move(plans);
  plans.clear();
  while (!rest.empty()) {
    auto isFree = [&](const Plan &plan) {
      DenseSet<Operation *> needed = neededBy(plan.choices);
      return llvm::none_of(rest, [&](const Plan &other) {
        return other.extent != plan.extent &&
               llvm::any_of(other.choices, [&](Operation *choice) {
                 return needed.contains(choice);
               });
      });
    };
    auto next = llvm::find_if(rest, isFree);
    if (next == rest.end())
      next = rest.begin();
    plans.push_back(std::move(*next));
    rest.erase(next);
  }
}

/// An evaluator that knows the values chosen so far.
Status SystemRunner::evaluate(std::unique_ptr<SystemEvaluator> &evaluator) {
  evaluator = std::make_unique<SystemEvaluator>(system, *inputs);
  evaluator->common = common.get();
  evaluator->openLengths = found;
  if (plan < plans.size() && plans[plan].open)
    evaluator->openLengths[cast<StringAttr>(plans[plan].extent).str()] =
        longest;
  evaluator->onChoice = [this](attn::ChoiceOp op, int64_t number,
                               const ChoiceDistribution &distribution,
                               std::vector<double> &value) {
    return answer(op, number, distribution, value);
  };
  SmallVector<Value> wanted;
  for (Operation &op : system->getRegion(0).getOps()) {
    bool asked = isa<attn::OutputOp, attn::MarkOp>(op);
    if (auto equation = dyn_cast<attn::EquationOp>(op))
      asked =
          llvm::is_contained(options->equations, equation.getTarget().str());
    if (asked)
      wanted.append(op.operand_begin(), op.operand_end());
    if (auto choice = dyn_cast<attn::ChoiceOp>(op);
        choice && choice.getResult())
      wanted.push_back(choice.getResult());
  }
  return evaluator->start(wanted);
}

/// The value of a choice's element, if there is one.
bool SystemRunner::answer(attn::ChoiceOp op, int64_t number,
                          const ChoiceDistribution &distribution,
                          std::vector<double> &value) {
  auto known = chosen.find({op, number});
  if (known != chosen.end()) {
    value = known->second;
    return true;
  }
  if (numChoiceAxes(op) == 0 && !isListed) {
    // Made once and independently.
    problem = choose(distribution, op.getTarget(), value);
    chosen[{op, number}] = value;
    return problem.succeeded();
  }
  bool isNow = isListed || (plan < plans.size() &&
                            llvm::is_contained(plans[plan].choices, op) &&
                            number / rows.lookup(op) == steps);
  if (!isNow) {
    problem = Status::error(fmt::format("'{}' is needed before it is generated",
                                        op.getTarget().str()),
                            placeOf(op));
    return false;
  }
  waits = true;
  group = number;
  pending = {op, distribution};
  return false;
}

Status SystemRunner::store(ArrayRef<double> value) {
  chosen[{pending.op, group}] = value.vec();
  if (pendingEnd && value[0] == static_cast<double>(*pendingEnd))
    ended = true;
  return Status::success();
}

/// The elements of one step of an array.
static int64_t rowSize(ArrayRef<int64_t> shape) {
  int64_t row = 1;
  for (int64_t extent : shape.drop_front())
    row *= extent;
  return row;
}

/// Requests every choice of this step.
Status SystemRunner::makeChoices(SystemEvaluator &evaluator) {
  rows.clear();
  for (attn::ChoiceOp choice : plans[plan].choices)
    rows[choice] = rowSize(ArrayRef(evaluator.shapeOf(choice.getResult()))
                               .take_front(numChoiceAxes(choice)));
  for (attn::ChoiceOp choice : plans[plan].choices) {
    auto type = cast<attn::ArrayType>(choice.getResult().getType());
    const std::vector<int64_t> &shape = evaluator.shapeOf(choice.getResult());
    int64_t row = rowSize(shape);
    for (int64_t i = steps * row; i < (steps + 1) * row; ++i) {
      if (!evaluator.lengths.isInside(type, indicesOf(i, shape),
                                      [](StringRef) { return 0; }))
        continue;
      if (Status status = evaluator.demand(choice.getResult(), i);
          status.failed()) {
        if (waits)
          pendingEnd = endOf(pending.op, evaluator.lengths);
        return status;
      }
    }
  }
  return Status::success();
}

/// A mark "valid" with all indices of a choice judges each place when it is
/// chosen, unless it needs later choices.
Status SystemRunner::judgePlace(bool &rejected) {
  rejected = false;
  attn::ChoiceOp last = pending.op;
  int64_t place = group;
  if (!last || numChoiceAxes(last) != 2)
    return Status::success();
  auto shape = cast<attn::ArrayType>(last.getResult().getType()).getShape();
  for (attn::MarkOp mark : marks) {
    if (mark.getTarget() != "valid" || judged.contains({mark, place}) ||
        cast<attn::ArrayType>(mark.getValue().getType()).getShape() != shape)
      continue;
    // Elements that wait for a choice cannot proceed.
    std::unique_ptr<SystemEvaluator> evaluator;
    if (Status status = evaluate(evaluator); status.failed())
      return status;
    waits = false;
    if (Status status = evaluator->demand(mark.getValue(), place);
        status.failed()) {
      if (!waits)
        return status;
      continue;
    }
    judged.insert({mark, place});
    rejected |=
        evaluator->at(mark.getValue(), place) == 0 && isJudged(/*isLast=*/true);
  }
  return Status::success();
}

Status SystemRunner::readMarks(SystemEvaluator &evaluator, bool &rejected) {
  rejected = false;
  for (attn::MarkOp mark : marks) {
    auto type = cast<attn::ArrayType>(mark.getValue().getType());
    if (type.getRank() == 0 || type.getExtent(0) != plans[plan].extent)
      continue;
    const std::vector<int64_t> &shape = evaluator.shapeOf(mark.getValue());
    int64_t row = rowSize(shape);
    bool all = true;
    double value = 0;
    for (int64_t i = steps * row; i < (steps + 1) * row; ++i) {
      if (judged.contains({mark, i}) ||
          !evaluator.lengths.isInside(type, indicesOf(i, shape),
                                      [](StringRef) { return 0; }))
        continue;
      if (Status status = evaluator.demand(mark.getValue(), i); status.failed())
        return status;
      value = evaluator.at(mark.getValue(), i);
      all &= value != 0;
    }
    if (mark.getTarget() == "valid")
      rejected |= !all && isJudged(/*isLast=*/false);
    if (mark.getTarget() == "stop")
      ended |= all;
    if (mark.getTarget() == "score") {
      if (row != 1)
        return Status::error("the mark 'score' is not one number",
                             placeOf(mark));
      score = value;
    }
  }
  return Status::success();
}

Status SystemRunner::endStep(Event &event) {
  const Plan &now = plans[plan];
  int64_t extent = -1;
  if (!now.open) {
    LengthTable lengths;
    if (Status status = lengths.build(system, *inputs); status.failed())
      return status;
    extent = lengths.sizeOf(now.extent);
  }
  ++steps;
  if (prefixGoesOn())
    ended = hasEnd = false;
  bool over = ended || steps == extent || isForcedOver();
  if (!over && now.open && steps >= longest)
    over = cut = true;
  event = over ? Event::SearchEnd : Event::StepEnd;
  if (over) {
    if (now.open)
      found[cast<StringAttr>(now.extent).str()] = steps;
    ++plan;
  }
  ended = false;
  return Status::success();
}

Status SystemRunner::finish() {
  std::unique_ptr<SystemEvaluator> evaluator;
  if (Status status = evaluate(evaluator); status.failed())
    return status;
  results.clear();
  for (Operation &op : system->getRegion(0).getOps()) {
    std::string name;
    Value value;
    if (auto choice = dyn_cast<attn::ChoiceOp>(op)) {
      name = choice.getTarget().str();
      value = choice.getResult();
    } else if (isa<attn::OutputOp, attn::EquationOp>(op)) {
      name = op.getAttrOfType<StringAttr>("target").str();
      if (isa<attn::OutputOp>(op) ||
          llvm::is_contained(options->equations, name))
        value = op.getOperand(0);
    }
    if (!value)
      continue;
    if (Status status = evaluator->demandAll(value, results[name]);
        status.failed())
      return problem.failed() ? problem : status;
  }
  return Status::success();
}

Status SystemRunner::advance(Event &event) {
  if (plan == plans.size()) {
    waits = false;
    Status status = finish();
    event = waits ? Event::Choice : Event::End;
    return waits ? Status::success() : status;
  }
  // Another search begins where the last one ended.
  if (event == Event::SearchEnd) {
    steps = 0;
    cut = false;
  }
  std::unique_ptr<SystemEvaluator> evaluator;
  if (Status status = evaluate(evaluator); status.failed())
    return status;
  if (!plans[plan].open && evaluator->lengths.sizeOf(plans[plan].extent) == 0) {
    ++plan;
    return advance(event);
  }
  bool rejected;
  if (Status status = judgePlace(rejected); status.failed())
    return problem.failed() ? problem : status;
  if (rejected) {
    event = Event::Rejected;
    return Status::success();
  }
  waits = false;
  if (Status status = makeChoices(*evaluator); status.failed()) {
    event = Event::Choice;
    return waits ? Status::success() : problem.failed() ? problem : status;
  }
  if (Status status = readMarks(*evaluator, rejected); status.failed())
    return problem.failed() ? problem : status;
  if (rejected) {
    event = Event::Rejected;
    return Status::success();
  }
  return endStep(event);
}

Status reference::makeSystemRunner(Operation *system, const Inputs &inputs,
                                   const SearchOptions &options,
                                   std::unique_ptr<Runner> &runner) {
  auto made = std::make_unique<SystemRunner>(system, inputs, options);
  Status status = made->start();
  runner = std::move(made);
  return status;
}
