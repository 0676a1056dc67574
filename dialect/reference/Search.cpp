//===- Search.cpp - greedy, beam, draws and given values ------------------===//

#include "dialect/reference/Search.h"
#include "dialect/reference/Philox.h"
#include "dialect/reference/Runner.h"
#include "dialect/reference/Single.h"
#include "runtime/Functions.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

/// The ordinal of the random numbers for symbols; no op has it.
static constexpr uint32_t drawOrdinal = 0xFFFFFFFF;

//===----------------------------------------------------------------------===//
// Runner
//===----------------------------------------------------------------------===//

std::optional<int64_t> Runner::endOf(attn::ChoiceOp op,
                                     const LengthTable &lengths) {
  if (auto number = dyn_cast_or_null<IntegerAttr>(op.getEndAttr()))
    return number.getInt();
  if (auto name = dyn_cast_or_null<StringAttr>(op.getEndAttr()))
    return lengths.sizeOf(name);
  return std::nullopt;
}

std::optional<double> Runner::prefixValue(StringRef name) const {
  auto given = options->prefix.find(name.str());
  if (given == options->prefix.end())
    return std::nullopt;
  auto made = taken.find(name.str());
  size_t number = made == taken.end() ? 0 : made->second;
  if (number >= given->second.size())
    return std::nullopt;
  return given->second[number];
}

Status Runner::count(const ChoiceDistribution &distribution, StringRef name,
                     ArrayRef<double> value) {
  double one;
  if (Status status = distribution.logp(value, one); status.failed())
    return status;
  if (std::isnan(one))
    return Status::error(
        fmt::format("log p of '{}' is not a number", name.str()));
  isLastForced = prefixValue(name).has_value();
  if (isLastForced)
    forcedStep = steps;
  logp += one;
  choices[name.str()].push_back(stepLogp.size());
  stepLogp.push_back(one);
  ++taken[name.str()];
  return Status::success();
}

Status Runner::give(ArrayRef<double> value) {
  if (Status status =
          count(pending.distribution, pending.op.getTarget(), value);
      status.failed())
    return status;
  hasEnd |= pendingEnd && value[0] == static_cast<double>(*pendingEnd);
  if (!inputs->single)
    return store(value);
  std::vector<double> rounded;
  for (double number : value)
    rounded.push_back(toSingle(number));
  return store(rounded);
}

bool Runner::isForcedOver() const {
  for (const auto &[name, array] : options->forced) {
    auto made = taken.find(name);
    // A choice of pairs takes two values.
    int64_t size = pending.op && pending.name() == name
                       ? pending.distribution.valueSize()
                       : 1;
    if (made != taken.end() &&
        made->second * size >= static_cast<int64_t>(array.values.size()))
      return true;
  }
  return false;
}

/// log p of the candidate symbols, at the temperature; the others are
/// impossible.
static std::vector<double> tempered(ArrayRef<double> logps,
                                    const SearchOptions &options) {
  std::vector<double> result;
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (double logp : logps) {
    result.push_back(logp / options.temperature);
    largest = std::max(largest, result.back());
  }
  for (double &logp : result)
    sum += runtime::expOf(logp -= largest);
  for (double &logp : result)
    logp -= runtime::logOf(sum);
  std::vector<size_t> order(result.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-result[a], a) < std::pair(-result[b], b);
  });
  double mass = 0;
  for (auto [rank, symbol] : llvm::enumerate(order)) {
    bool keep =
        (options.topK <= 0 || rank < static_cast<size_t>(options.topK)) &&
        (rank == 0 || mass < options.topP);
    mass += runtime::expOf(result[symbol]);
    if (!keep)
      result[symbol] = -std::numeric_limits<double>::infinity();
  }
  return result;
}

Status Runner::choose(const ChoiceDistribution &distribution, StringRef name,
                      std::vector<double> &value) {
  value = distribution.mode();
  auto given = options->forced.find(name.str());
  if (given != options->forced.end()) {
    size_t first = taken[name.str()] * value.size();
    if (first + value.size() > given->second.values.size())
      return Status::error(fmt::format("'{}' is given {} values but takes more",
                                       name.str(),
                                       given->second.values.size()));
    for (size_t i = 0; i < value.size(); ++i)
      value[i] = given->second.values[first + i];
  } else if (std::optional<double> forced = prefixValue(name)) {
    value = {*forced};
  } else if (options->sample) {
    RandomPlace place{options->seed, drawOrdinal, draw, inputs->example, 0};
    std::array<double, 3> uniform;
    for (auto [i, number] : llvm::enumerate(uniform)) {
      place.element = 3 * stepLogp.size() + i;
      number = uniformAt(place);
    }
    if (distribution.isDiscrete())
      value = {static_cast<double>(
          symbolAt(tempered(distribution.symbols(), *options), uniform[0]))};
    else
      value = distribution.draw(uniform);
  }
  return count(distribution, name, value);
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

namespace {
using RunnerPtr = std::unique_ptr<Runner>;

/// A continuation of a hypothesis.
struct Candidate {
  size_t parent = 0;
  std::vector<double> value;
  double rank = 0;
  RunnerPtr made; // when it had to be run to be ranked
  Event event = Event::Choice;
};

class Search {
public:
  explicit Search(const SearchOptions &options) : options(options) {}

  /// Runs one search from a pending choice; replaces `live` by the results,
  /// best first. At most `width` hypotheses are live.
  Status run(std::vector<RunnerPtr> &live, int64_t width);
  double rankOf(const Runner &runner) const;

private:
  Status expand(const std::vector<RunnerPtr> &live,
                std::vector<Candidate> &candidates);
  Status symbolsOf(const Runner &runner, size_t parent,
                   std::vector<Candidate> &candidates);
  Status make(const std::vector<RunnerPtr> &live, Candidate &candidate);
  Status beginSteps(std::vector<RunnerPtr> &live,
                    std::vector<RunnerPtr> &finished);

  const SearchOptions &options;
};
} // namespace

/// The ranking score of finished hypotheses.
double Search::rankOf(const Runner &runner) const {
  if (runner.score)
    return *runner.score;
  double n = std::max<int64_t>(1, runner.steps);
  switch (options.normalise) {
  case Normalise::None:
    return runner.logp;
  case Normalise::PerSymbol:
    return runner.logp / n;
  case Normalise::Gnmt:
    return runner.logp / runtime::powOf((5 + n) / 6, options.gnmt);
  }
  return runner.logp;
}

/// The possible values of one hypothesis's pending choice.
Status Search::symbolsOf(const Runner &runner, size_t parent,
                         std::vector<Candidate> &candidates) {
  const ChoiceDistribution &distribution = runner.pending.distribution;
  if (!distribution.isDiscrete() && options.beam > 1)
    return Status::error(
        fmt::format("'{}' is a choice of real numbers, which a beam cannot "
                    "search; sample it, or set beam = 1",
                    runner.pending.name()),
        placeOf(runner.pending.op));
  auto add = [&](std::vector<double> value) -> Status {
    double logp;
    if (Status status = distribution.logp(value, logp); status.failed())
      return status;
    if (std::isnan(logp))
      return Status::error(
          fmt::format("log p of '{}' is not a number", runner.pending.name()),
          placeOf(runner.pending.op));
    // Impossible values are not candidates.
    if (std::isinf(logp) && logp < 0)
      return Status::success();
    Candidate &candidate = candidates.emplace_back();
    candidate.parent = parent;
    candidate.value = std::move(value);
    candidate.rank = runner.logp + logp;
    return Status::success();
  };
  if (std::optional<double> forced = runner.prefixValue(runner.pending.name()))
    return add({*forced});
  if (!distribution.isDiscrete())
    return add(distribution.mode());
  for (size_t symbol = 0; symbol < distribution.symbols().size(); ++symbol) {
    std::optional<int64_t> end = runner.endValue();
    bool tooShort = end && *end == static_cast<int64_t>(symbol) &&
                    runner.steps < options.shortest;
    if (tooShort)
      continue;
    if (Status status = add({static_cast<double>(symbol)}); status.failed())
      return status;
  }
  return Status::success();
}

/// Copies the parent, gives it the value, and runs it to its next event.
Status Search::make(const std::vector<RunnerPtr> &live, Candidate &candidate) {
  candidate.made = live[candidate.parent]->clone();
  if (Status status = candidate.made->give(candidate.value); status.failed())
    return status;
  return candidate.made->advance(candidate.event);
}

/// All continuations, best first.
Status Search::expand(const std::vector<RunnerPtr> &live,
                      std::vector<Candidate> &candidates) {
  bool byScore = false;
  for (auto [parent, runner] : llvm::enumerate(live)) {
    byScore |= runner->ranksByScore();
    if (Status status = symbolsOf(*runner, parent, candidates); status.failed())
      return status;
  }
  for (Candidate &candidate : candidates) {
    if (!byScore)
      break;
    if (Status status = make(live, candidate); status.failed())
      return status;
    if (candidate.made->score)
      candidate.rank = *candidate.made->score;
  }
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::tuple(-a.rank, a.parent, a.value) <
           std::tuple(-b.rank, b.parent, b.value);
  });
  return Status::success();
}

/// Runs hypotheses that ended a step to their next choice.
Status Search::beginSteps(std::vector<RunnerPtr> &live,
                          std::vector<RunnerPtr> &finished) {
  for (RunnerPtr &runner : live)
    if (runner != live.front())
      runner->shareStates(*live.front());
  std::vector<RunnerPtr> going;
  for (RunnerPtr &runner : live) {
    Event event = Event::StepEnd;
    while (event == Event::StepEnd)
      if (Status status = runner->advance(event); status.failed())
        return status;
    if (event == Event::Choice)
      going.push_back(std::move(runner));
    else if (event == Event::SearchEnd)
      finished.push_back(std::move(runner));
  }
  live = std::move(going);
  return Status::success();
}

Status Search::run(std::vector<RunnerPtr> &live, int64_t width) {
  std::vector<RunnerPtr> finished;
  std::string name = live.front()->pending.name();
  std::string place = placeOf(live.front()->pending.op);
  while (!live.empty() && static_cast<int64_t>(finished.size()) < width) {
    std::vector<Candidate> candidates;
    if (Status status = expand(live, candidates); status.failed())
      return status;
    std::vector<RunnerPtr> ready, stepped, over;
    size_t room = width - finished.size();
    for (Candidate &candidate : candidates) {
      if (ready.size() + stepped.size() + over.size() == room)
        break;
      if (!candidate.made)
        if (Status status = make(live, candidate); status.failed())
          return status;
      if (candidate.event == Event::Rejected)
        continue;
      auto &group = candidate.event == Event::Choice    ? ready
                    : candidate.event == Event::StepEnd ? stepped
                                                        : over;
      group.push_back(std::move(candidate.made));
    }
    for (RunnerPtr &runner : over)
      finished.push_back(std::move(runner));
    if (!stepped.empty())
      if (Status status = beginSteps(stepped, finished); status.failed())
        return status;
    live = std::move(ready);
    for (RunnerPtr &runner : stepped)
      live.push_back(std::move(runner));
  }
  if (finished.empty())
    return Status::error(
        fmt::format("no value of '{}' is allowed, or possible", name), place);
  // Among equals the one that finished first comes first.
  std::vector<std::tuple<bool, double, size_t>> order;
  for (auto [i, runner] : llvm::enumerate(finished))
    order.push_back({runner->cut, -rankOf(*runner), i});
  llvm::sort(order);
  live.clear();
  for (const auto &place : order)
    live.push_back(std::move(finished[std::get<2>(place)]));
  return Status::success();
}

/// Follows one path: given values, or samples. A forbidden sample is drawn
/// again without that symbol.
static Status follow(const SearchOptions &options, RunnerPtr &runner,
                     Event &event) {
  while (event == Event::Choice || event == Event::StepEnd) {
    if (event == Event::Choice) {
      std::vector<double> value;
      ChoiceDistribution distribution = runner->pending.distribution;
      // The end is not a candidate before `shortest`.
      std::optional<int64_t> end = runner->endValue();
      bool isPossible = true;
      if (options.forced.empty() &&
          !runner->prefixValue(runner->pending.name()) && end &&
          runner->steps < options.shortest && distribution.isDiscrete() &&
          *end >= 0 &&
          *end < static_cast<int64_t>(distribution.symbols().size()))
        isPossible = distribution.exclude(static_cast<double>(*end));
      if (!isPossible)
        return Status::error(
            fmt::format("no value of '{}' is allowed", runner->pending.name()),
            placeOf(runner->pending.op));
      while (true) {
        RunnerPtr next = runner->clone();
        // `choose` counts; the copy that goes on counts for itself.
        RunnerPtr drawn = runner->clone();
        if (Status status = drawn->choose(
                distribution, runner->pending.op.getTarget(), value);
            status.failed())
          return status;
        if (Status status = next->give(value); status.failed())
          return status;
        if (Status status = next->advance(event); status.failed())
          return status;
        if (event != Event::Rejected) {
          runner = std::move(next);
          break;
        }
        if (!distribution.isDiscrete() || !distribution.exclude(value[0]))
          return Status::error(fmt::format("no value of '{}' is allowed",
                                           runner->pending.name()),
                               placeOf(runner->pending.op));
      }
    } else if (Status status = runner->advance(event); status.failed()) {
      return status;
    }
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Runs a hypothesis to the end of the graph. Every further search continues
/// with its best hypothesis. `many` requests up to so many hypotheses of the
/// first.
static Status runToEnd(Search &search, const SearchOptions &options,
                       std::vector<RunnerPtr> &runners, Event event) {
  bool singlePath = options.sample || !options.forced.empty();
  bool first = true;
  while (event != Event::End) {
    std::vector<RunnerPtr> after;
    for (RunnerPtr &runner : runners) {
      Event now = event;
      if (Status status = runner->advance(now); status.failed())
        return status;
      std::vector<RunnerPtr> results;
      results.push_back(std::move(runner));
      if (now == Event::Choice && singlePath) {
        if (Status status = follow(options, results.front(), now);
            status.failed())
          return status;
      } else if (now == Event::Choice) {
        if (Status status = search.run(results, options.beam); status.failed())
          return status;
        results.resize(
            std::min<size_t>(results.size(), first ? options.nbest : 1));
        now = Event::SearchEnd;
      }
      if (now == Event::Rejected)
        return Status::error("the mark 'valid' forbids everything");
      for (RunnerPtr &result : results)
        after.push_back(std::move(result));
      // All of them are at one place of the graph.
      if (&runner == &runners.back())
        event = now;
    }
    // A step may make no choice, and end before the search has begun.
    first &= event != Event::SearchEnd;
    runners = std::move(after);
  }
  return Status::success();
}

/// Without a search a member would choose independently.
static Status checkEnsemble(Operation *container) {
  attn::ChoiceOp alone;
  container->walk([&](attn::ChoiceOp op) {
    bool isOnce = isa<attn::SystemOp>(container)
                      ? numChoiceAxes(op) == 0
                      : op->getParentOp() == container;
    if (op.getResult() && !op.getLatent() && isOnce)
      alone = op;
  });
  if (!alone)
    return Status::success();
  return Status::error(fmt::format("'{}' is chosen once, without a search, "
                                   "which an ensemble cannot do",
                                   alone.getTarget().str()));
}

/// A runner of one model, or of all members together.
static Status makeRunner(Operation *container, ArrayRef<Inputs> members,
                         const SearchOptions &options, RunnerPtr &runner) {
  std::vector<RunnerPtr> made;
  for (const Inputs &inputs : members) {
    Status status =
        isa<attn::SystemOp>(container)
            ? makeSystemRunner(container, inputs, options, made.emplace_back())
            : makeProgramRunner(container, inputs, options,
                                made.emplace_back());
    if (status.failed())
      return status;
  }
  runner = made.size() == 1
               ? std::move(made.front())
               : makeEnsemble(members.front(), options, std::move(made));
  return Status::success();
}

Status reference::decode(Operation *container, const Inputs &inputs,
                         const SearchOptions &options,
                         std::vector<Hypothesis> &hypotheses) {
  return decode(container, ArrayRef(inputs), options, hypotheses);
}

/// The derived decoder gives the log of densities of real numbers and of sums
/// over latent choices, in its own precision. Returns whether there is any.
static bool takeLogps(Runner &runner, Arrays &outputs, bool isEnsemble) {
  std::vector<size_t> removed;
  bool isComputed = false;
  for (const auto &[name, places] : runner.choices) {
    auto sum = outputs.find("logp/sum/" + name);
    bool isSum = sum != outputs.end();
    auto output = isSum ? sum : outputs.find("logp/" + name);
    if (output == outputs.end())
      continue;
    std::vector<double> logps = std::move(output->second.values);
    outputs.erase(output);
    isComputed = true;
    // An ensemble averages probabilities of each choice.
    if (isSum && isEnsemble)
      continue;
    if (isSum)
      removed.insert(removed.end(), places.begin() + 1, places.end());
    // Rows of different lengths have elements that are not chosen: 0.
    if (logps.size() != places.size()) {
      double whole = runtime::exactSum(logps);
      logps.assign(places.size(), 0);
      logps.front() = whole;
    }
    for (auto [place, logp] : llvm::zip_equal(places, logps))
      runner.stepLogp[place] = logp;
  }
  llvm::sort(removed, std::greater<>());
  for (size_t place : removed)
    runner.stepLogp.erase(runner.stepLogp.begin() + place);
  return isComputed;
}

Status reference::decode(Operation *container, ArrayRef<Inputs> given,
                         const SearchOptions &options,
                         std::vector<Hypothesis> &hypotheses) {
  hypotheses.clear();
  auto members = llvm::to_vector(given);
  for (Inputs &inputs : members)
    inputs.draws = options.seed;
  if (members.size() > 1)
    if (Status status = checkEnsemble(container); status.failed())
      return status;
  if (Status status = runtime::check(options); status.failed())
    return status;
  Search search(options);
  RunnerPtr start;
  if (Status status = makeRunner(container, members, options, start);
      status.failed())
    return status;
  std::vector<RunnerPtr> runners;
  for (int64_t draw = 0; draw < (options.sample ? options.nbest : 1); ++draw) {
    std::vector<RunnerPtr> one;
    one.push_back(start->clone());
    one.front()->draw = draw;
    if (Status status = runToEnd(search, options, one, Event::StepEnd);
        status.failed())
      return status;
    for (RunnerPtr &result : one)
      runners.push_back(std::move(result));
  }
  bool isComputed = false;
  for (RunnerPtr &runner : runners) {
    Hypothesis &hypothesis = hypotheses.emplace_back();
    hypothesis.outputs = runner->outputs();
    isComputed |= takeLogps(*runner, hypothesis.outputs, members.size() > 1);
    hypothesis.logp = runner->logp = runtime::exactSum(runner->stepLogp);
    hypothesis.score = search.rankOf(*runner);
    hypothesis.steps = runner->steps;
    hypothesis.stepLogp = runner->stepLogp;
    hypothesis.ended = !runner->cut;
    hypothesis.hasEnd = runner->hasEnd;
  }
  // What was computed may differ in the last digits from what ranked it.
  auto isBetter = [](const Hypothesis &a, const Hypothesis &b) {
    return std::pair(!a.ended, -a.score) < std::pair(!b.ended, -b.score);
  };
  if (!options.sample && isComputed)
    for (auto it = hypotheses.begin(); it != hypotheses.end(); ++it)
      std::rotate(std::upper_bound(hypotheses.begin(), it, *it, isBetter), it,
                  it + 1);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

Status reference::readSearchOptions(ModuleOp module, SearchOptions &options) {
  auto decode = module->getAttrOfType<DictionaryAttr>("attn.decode");
  if (!decode)
    return Status::success();
  auto number = [&](StringRef name, auto take) {
    if (auto value = decode.getAs<IntegerAttr>(name))
      take(value.getInt());
  };
  number("beam", [&](int64_t value) { options.beam = value; });
  number("nbest", [&](int64_t value) { options.nbest = value; });
  number("longest", [&](int64_t value) { options.longest = value; });
  number("shortest", [&](int64_t value) { options.shortest = value; });
  auto normalise = decode.getAs<StringAttr>("normalise");
  if (normalise && !runtime::readNormalise(normalise.getValue(), options))
    return Status::error(fmt::format("'{}' is not none, per_symbol or gnmt(A)",
                                     normalise.str()));
  return Status::success();
}
