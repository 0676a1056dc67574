//===- Search.cpp - greedy, beam and draws over compiled programs ---------===//

#include "runtime/Functions.h"
#include "runtime/search/SearchRun.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <tuple>

using namespace fovea::runtime;

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

Search::Search(const Decoder &decoder, std::vector<ProgramCode> functions,
               std::vector<OwnedMemory> parameters, void *pool)
    : decoder(decoder), code(std::move(functions)), pool(pool) {
  if (decoder.isSearch && !decoder.known && decoder.extent < 0)
    openLength = decoder.lengths[-1 - decoder.extent];
  std::vector<OwnedMemory> laterParameters;
  if (!decoder.later.empty())
    laterParameters = parameters;
  for (OwnedMemory &memory : parameters) {
    auto &member = members.emplace_back(std::make_unique<Member>(
        decoder.programs[decoder.encode], std::move(memory)));
    for (int number : decoder.segments)
      member->segments.push_back(
          number < 0 ? nullptr
                     : std::make_unique<StepMemory>(decoder.programs[number],
                                                    code[number], openLength));
  }
  std::vector<std::string> found;
  for (const Decoder &next : decoder.later) {
    if (const auto &name = (later.empty() ? *this : *later.back()).openLength;
        !name.empty())
      found.push_back(name);
    Decoder &own = laterDecoders.emplace_back(next);
    own.programs = decoder.programs;
    later.push_back(std::make_unique<Search>(own, code, laterParameters, pool));
    later.back()->foundLengths = found;
  }
}

Search::~Search() = default;

Status Search::hasNoPrefix(const std::string &name) {
  return Status::error(fmt::format(
      "'{}' is not generated symbol by symbol, so it cannot have a prefix",
      name));
}

Status Search::encode(Member &member, const Batch &examples, uint64_t draws) {
  Binding binding;
  binding.memory = &member.parameters;
  binding.pool = pool;
  binding.draws = draws;
  if (Status status = member.encoded.bind(examples, binding); status.failed())
    return status;
  const ProgramCode &own = code[decoder.encode];
  if (own.prepare && !member.isPrepared)
    own.prepare(member.encoded.frame());
  member.isPrepared = true;
  member.encoded.willRun();
  if (Status status = own.runChecked(member.encoded.frame()); status.failed())
    return status;
  for (auto &segment : member.segments)
    if (segment)
      if (Status status =
              segment->begin(member.encoded, member.parameters, pool);
          status.failed())
        return status;
  return Status::success();
}

Status Search::encode(const Batch &examples, uint64_t draws) {
  for (auto &member : members)
    if (Status status = encode(*member, examples, draws); status.failed())
      return status;
  return Status::success();
}

int64_t Search::memoryBytes() const {
  int64_t bytes = 0;
  for (const auto &member : members) {
    bytes += member->encoded.arenaBytes();
    for (const auto &segment : member->segments)
      bytes += segment ? segment->bytes() : 0;
  }
  return bytes;
}

Status Search::generate(const Batch &examples, const SearchOptions &options,
                        std::vector<std::vector<Generated>> &results) {
  return SearchRun(*this, examples, options).run(results);
}

/// Among equals the one that was found first stays first.
static void sortByScore(std::vector<Generated> &results) {
  auto isBetter = [](const Generated &a, const Generated &b) {
    return std::pair(!a.ended, -a.score) < std::pair(!b.ended, -b.score);
  };
  for (auto it = results.begin(); it != results.end(); ++it)
    std::rotate(std::upper_bound(results.begin(), it, *it, isBetter), it,
                it + 1);
}

Status Search::decode(const Batch &examples, const SearchOptions &options,
                      std::vector<std::vector<Generated>> &results) {
  Status status = later.empty() ? decodeOne(examples, {}, options, results)
                                : decodeChain(examples, options, results);
  if (status.failed())
    return status;
  for (std::vector<Generated> &own : results) {
    for (Generated &one : own)
      if (status = takeLogps(options, one); status.failed())
        return status;
    // What was computed may differ in the last digits from what ranked it.
    if (!options.sample && !own.empty() && !own.front().computed.empty())
      sortByScore(own);
  }
  return Status::success();
}

/// Takes log p of choices from the outputs `logp/NAME`, the densities of real
/// numbers, and `logp/sum/NAME`, the sum over a latent choice. A search that
/// chooses real numbers follows one path, which they do not rank.
Status Search::takeLogps(const SearchOptions &options,
                         Generated &result) const {
  std::vector<size_t> removed;
  for (const auto &[name, places] : result.computed) {
    auto output = result.outputs.find(name);
    if (output == result.outputs.end())
      return Status::error(fmt::format("the decoder has no output '{}'", name));
    std::vector<double> logps = std::move(output->second.values);
    result.outputs.erase(output);
    bool isSum = name.starts_with("logp/sum/");
    // An ensemble averages probabilities of each choice.
    if (isSum && members.size() > 1)
      continue;
    if (isSum)
      removed.insert(removed.end(), places.begin() + 1, places.end());
    // Rows of different lengths have elements that are not chosen: 0.
    if (logps.size() != places.size()) {
      double sum = exactSum(logps);
      logps.assign(places.size(), 0);
      logps.front() = sum;
    }
    for (size_t i = 0; i < places.size(); ++i) {
      if (std::isnan(logps[i]))
        return Status::error(fmt::format("log p of '{}' is not a number",
                                         name.substr(name.rfind('/') + 1)));
      result.stepLogp[places[i]] = logps[i];
    }
  }
  if (result.computed.empty())
    return Status::success();
  std::sort(removed.begin(), removed.end(), std::greater<>());
  for (size_t place : removed)
    result.stepLogp.erase(result.stepLogp.begin() + place);
  result.logp = exactSum(result.stepLogp);
  if (!result.isMarked)
    result.score = normalised(options, result.logp, result.steps);
  return Status::success();
}

/// Returns whether a search, or a loop inside its steps, runs backward.
bool Search::runsBackwards() const {
  return decoder.reverse ||
         std::any_of(decoder.loops.begin(), decoder.loops.end(),
                     [](const Decoder::Loop &loop) { return loop.reverse; });
}

Status Search::decodeOne(const Batch &examples,
                         const std::vector<SearchStart> &starts,
                         const SearchOptions &options,
                         std::vector<std::vector<Generated>> &results) {
  // Places counted from the end of each example cannot advance together.
  if (runsBackwards() && examples.size() > 1) {
    results.clear();
    for (size_t i = 0; i < examples.size(); ++i) {
      std::vector<std::vector<Generated>> own;
      std::vector<SearchStart> start;
      if (!starts.empty())
        start = {starts[i]};
      if (Status status = decodeOne({examples[i]}, start, options, own);
          status.failed())
        return status;
      results.push_back(std::move(own.front()));
    }
    return Status::success();
  }
  if (Status status = encode(examples, options.seed); status.failed())
    return status;
  return SearchRun(*this, examples, options, starts).run(results);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

bool SearchRun::prefixGoesOn(int64_t example) const {
  int last = int(decoder.choices.size()) - 1;
  const auto &prefix = examples[example]->prefix;
  auto found = prefix.find(decoder.choices[last].name);
  return found != prefix.end() &&
         numMade(last, example, step + 1, 0) < int64_t(found->second.size());
}

bool SearchRun::tell(const Hypothesis &hypothesis) const {
  bool goesOn = true;
  if (!options.listen || width > 1)
    return goesOn;
  for (int number = 0; number < int(decoder.choices.size()); ++number)
    if (!decoder.loopAround(number) && !forcedAt(number, hypothesis.example))
      for (double value : hypothesis.chosen[number])
        goesOn &= options.listen(hypothesis.example,
                                 decoder.choices[number].name, value);
  return goesOn;
}

/// The end of a step: moves finished hypotheses, and advances the others.
Status SearchRun::endStep() {
  std::vector<Hypothesis> going;
  bool keepsStates = needsStates();
  for (Hypothesis &hypothesis : live) {
    Group &group = groups[hypothesis.group];
    keepStep(hypothesis);
    int64_t steps = step + 1;
    if (prefixGoesOn(hypothesis.example))
      hypothesis.ended = hypothesis.hasEnd = false;
    bool over = hypothesis.ended, cut = false;
    if (!tell(hypothesis) && !over)
      over = cut = true;
    if (decoder.known)
      over |= steps == lengthAt(decoder.extent, hypothesis.example);
    else if (!over && steps >= longest[hypothesis.example])
      over = cut = true;
    if (!over) {
      going.push_back(std::move(hypothesis));
      continue;
    }
    Finished &finished = group.finished.emplace_back();
    finished.logp = logpOf(hypothesis);
    finished.score = scoreOf(finished.logp, steps, hypothesis.score);
    finished.steps = steps;
    finished.node = hypothesis.node;
    finished.cut = cut;
    finished.hasEnd = hypothesis.hasEnd;
    for (size_t number = 0; keepsStates && number < decoder.states.size();
         ++number) {
      const Decoder::State &state = decoder.states[number];
      ValueSource source = sources.at(state.next);
      if (state.written != Decoder::State::replaced)
        source = {ValueSource::State, int(number), nullptr};
      finished.states.push_back(read(source, hypothesis));
    }
  }
  std::erase_if(going, [&](const Hypothesis &hypothesis) {
    return roomOf(hypothesis.group) <= 0;
  });
  moveStates(going);
  return Status::success();
}

Status SearchRun::runStep() {
  for (Hypothesis &hypothesis : live) {
    hypothesis.chosen.assign(decoder.choices.size(), {});
    hypothesis.rows.clear();
  }
  std::vector<char> rejected;
  if (Status status = stage(0, live, rejected); status.failed())
    return status;
  std::vector<Hypothesis> left;
  for (size_t i = 0; i < live.size(); ++i) {
    if (!rejected[i])
      left.push_back(std::move(live[i]));
    else if (followsOnePath() || step == 0)
      return forbidsEverything();
  }
  live = std::move(left);
  for (int number = 0; number < int(decoder.choices.size());) {
    const Decoder::Loop *loop = decoder.loopAround(number);
    if (Status status = loop ? runLoop(*loop) : takeChoice(number);
        status.failed())
      return status;
    number = loop ? loop->endChoice : number + 1;
  }
  return Status::success();
}

Status SearchRun::runSteps() {
  for (step = 0; !live.empty(); ++step) {
    if (Status status = runStep(); status.failed())
      return status;
    if (options.isCancelled && options.isCancelled())
      return Status::error("the decoding was cancelled");
    if (Status status = endStep(); status.failed())
      return status;
  }
  return Status::success();
}

/// A mean of densities has no mode in closed form.
Status SearchRun::checkEnsemble() const {
  if (members.size() == 1)
    return Status::success();
  if (!decoder.isSearch)
    return Status::error(fmt::format("'{}' is chosen once, without a search, "
                                     "which an ensemble cannot do",
                                     decoder.choices.front().name));
  for (const Decoder::Choice &choice : decoder.choices)
    if (!Distribution(choice.distribution).isDiscrete())
      return Status::error(
          fmt::format("'{}' is a choice of real numbers, which an ensemble "
                      "cannot make",
                      choice.name));
  return Status::success();
}

/// Each name must be generated symbol by symbol.
Status SearchRun::checkPrefixes() const {
  for (size_t example = 0; example < examples.size(); ++example)
    for (const auto &[name, values] : examples[example]->prefix) {
      auto choice = std::find_if(
          decoder.choices.begin(), decoder.choices.end(),
          [&](const Decoder::Choice &own) { return own.name == name; });
      // A name with several choices has several values per step.
      bool isOne = std::count_if(decoder.choices.begin(), decoder.choices.end(),
                                 [&](const Decoder::Choice &own) {
                                   return own.name == name;
                                 }) == 1;
      if (!isOne || !choice->shape.empty() || !decoder.isSearch ||
          !Distribution(choice->distribution).isDiscrete())
        return Search::hasNoPrefix(name);
      int64_t count = values.size();
      if (!decoder.known)
        continue;
      int64_t most = numMade(choice - decoder.choices.begin(), example,
                             lengthAt(decoder.extent, example), 0);
      if (count > most)
        return Status::error(fmt::format(
            "the prefix of '{}' has {} symbols but {} are generated", name,
            count, most));
    }
  return Status::success();
}

Status SearchRun::begin() {
  findLengths();
  findSources();
  if (Status status = checkPrefixes(); status.failed())
    return status;
  width = followsOnePath() ? 1 : options.beam;
  int64_t draws = options.sample ? options.nbest : 1;
  const auto &declared = decoder.programs[decoder.encode].lengths;
  for (size_t example = 0; example < examples.size(); ++example) {
    int64_t largest = 0;
    for (const Program::Length &length : declared)
      if (length.formula.empty() &&
          std::find(search.foundLengths.begin(), search.foundLengths.end(),
                    length.name) == search.foundLengths.end())
        largest = std::max(largest,
                           encoded.lengthNamed(length.name)->extents[example]);
    longest.push_back(options.longest.value_or(2 * largest + 50));
    if (!decoder.longest.empty() && !options.longest) {
      Hypothesis place;
      place.example = example;
      std::vector<std::byte> bytes = read(sources.at(decoder.longest), place);
      if (bytes.size() != sizeof(int64_t))
        return Status::error("the mark 'longest' is not one number");
      for (const MemberRows &own : members)
        if (read(own, sources.at(decoder.longest), place) != bytes)
          return doNotAgree();
      longest.back() = std::max<int64_t>(
          1, *reinterpret_cast<const int64_t *>(bytes.data()));
    }
    for (int64_t draw = 0; draw < draws; ++draw) {
      Group &group = groups.emplace_back();
      group.example = example;
      SearchStart start = startOf(example);
      group.draw = start.draw + draw;
      // Nothing is generated if the length is known to be 0.
      if (decoder.known && lengthAt(decoder.extent, example) == 0) {
        Finished &finished = group.finished.emplace_back();
        finished.logp = exactSum(start.logps);
        finished.score = scoreOf(finished.logp, 0, std::nullopt);
        continue;
      }
      Hypothesis &hypothesis = live.emplace_back();
      hypothesis.group = groups.size() - 1;
      hypothesis.example = example;
      hypothesis.state = live.size() - 1;
      hypothesis.logp = exactSum(start.logps);
      hypothesis.numChoices = start.logps.size();
    }
  }
  beginStates();
  return Status::success();
}

Status SearchRun::run(std::vector<std::vector<Generated>> &results) {
  results.clear();
  if (Status status = check(options); status.failed())
    return status;
  if (Status status = checkEnsemble(); status.failed())
    return status;
  if (Status status = begin(); status.failed())
    return status;
  if (decoder.isSearch) {
    if (Status status = runSteps(); status.failed())
      return status;
  } else {
    if (Status status = runStep(); status.failed())
      return status;
    for (Hypothesis &hypothesis : live) {
      Finished &finished = groups[hypothesis.group].finished.emplace_back();
      finished.logp = logpOf(hypothesis);
      finished.score = scoreOf(finished.logp, startOf(hypothesis.example).steps,
                               hypothesis.score);
      finished.last = std::move(hypothesis);
    }
  }
  results.resize(examples.size());
  for (Group &group : groups) {
    if (group.finished.empty())
      return Status::error(
          fmt::format("no value of '{}' is allowed, or possible",
                      decoder.choices.front().name));
    // Among equals the one that finished first comes first.
    std::vector<std::tuple<bool, double, size_t>> order;
    for (size_t i = 0; i < group.finished.size(); ++i)
      order.push_back({group.finished[i].cut, -group.finished[i].score, i});
    std::sort(order.begin(), order.end());
    size_t wanted = followsOnePath() ? 1 : options.nbest;
    order.resize(std::min(wanted, order.size()));
    for (const auto &place : order)
      if (Status status =
              finish(group.finished[std::get<2>(place)], group.example,
                     results[group.example].emplace_back());
          status.failed())
        return status;
  }
  return Status::success();
}
