//===- SearchChoices.cpp - continuations of hypotheses --------------------===//
//
// Finds the best continuations at a choice, or samples one, and runs the
// programs of the marks.
//
//===----------------------------------------------------------------------===//

#include "runtime/Functions.h"
#include "runtime/Philox.h"
#include "runtime/search/SearchRun.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <tuple>

using namespace fovea::runtime;
using Mark = Decoder::Mark;

static constexpr double infinity = std::numeric_limits<double>::infinity();
/// The ordinal of the random numbers for symbols; no op has it.
static constexpr uint32_t drawOrdinal = 0xFFFFFFFF;
/// How many hypotheses run at once to be ranked by a mark.
static constexpr size_t rankedAtOnce = 256;

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

bool SearchRun::hasMark(Mark::Kind kind, int segment) const {
  return std::any_of(
      decoder.marks.begin(), decoder.marks.end(), [&](const Mark &mark) {
        return mark.kind == kind && (segment < 0 || mark.segment == segment);
      });
}

bool SearchRun::isListable() const {
  return std::all_of(decoder.choices.begin(), decoder.choices.end(),
                     [](const Decoder::Choice &choice) {
                       return Distribution(choice.distribution).isDiscrete();
                     });
}

Status SearchRun::isNoNumber(int choice) const {
  return Status::error(fmt::format("log p of '{}' is not a number",
                                   decoder.choices[choice].name));
}

double Search::normalised(const SearchOptions &options, double logp,
                          int64_t steps) {
  double n = std::max<int64_t>(1, steps);
  switch (options.normalise) {
  case Normalise::None:
    return logp;
  case Normalise::PerSymbol:
    return logp / n;
  case Normalise::Gnmt:
    return logp / powOf((5 + n) / 6, options.gnmt);
  }
  return logp;
}

/// The ranking score of finished hypotheses.
double SearchRun::scoreOf(double logp, int64_t steps,
                          const std::optional<double> &score) const {
  return score.value_or(Search::normalised(options, logp, steps));
}

/// The combined distribution of the members.
Status SearchRun::distributionOf(int number, int64_t element,
                                 const Hypothesis &from,
                                 Distribution &distribution) {
  if (members.size() == 1)
    return distributionOf(members.front(), number, element, from, distribution);
  std::vector<Distribution> all(members.size());
  for (size_t i = 0; i < members.size(); ++i)
    if (Status status =
            distributionOf(members[i], number, element, from, all[i]);
        status.failed())
      return status;
  distribution = Distribution::meanOf(all);
  return Status::success();
}

Status SearchRun::distributionOf(const MemberRows &own, int number,
                                 int64_t element, const Hypothesis &from,
                                 Distribution &distribution) {
  const Decoder::Choice &choice = decoder.choices[number];
  distribution = Distribution(choice.distribution);
  for (const Decoder::Parameter &parameter : choice.parameters) {
    const ValueSource &source = sources.at(parameter.value);
    int64_t count = countOf(parameter.shape, from.example);
    Program::Element kind =
        source.array ? source.array->element : Program::Element::F64;
    if (source.kind == ValueSource::State)
      kind = decoder.states[source.index].element;
    else if (source.kind == ValueSource::Choice)
      kind = decoder.choices[source.index].element;
    if (source.kind == ValueSource::Segment && source.array) {
      int64_t bytes;
      const std::byte *memory = own.member.segments[source.index]->row(
          *source.array, from.rows[source.index], bytes);
      distribution.add(parameter.name, memory + element * count * sizeOf(kind),
                       kind, count);
      continue;
    }
    std::vector<std::byte> memory = read(own, source, from);
    distribution.add(parameter.name,
                     memory.data() + element * count * sizeOf(kind), kind,
                     count);
    distribution.keep();
  }
  if (!distribution.finish())
    return Status::error(
        fmt::format("'{}' has nothing to choose from", choice.name));
  return Status::success();
}

const double *SearchRun::forcedAt(int number, int64_t example) const {
  const auto &prefix = examples[example]->prefix;
  auto found = prefix.find(decoder.choices[number].name);
  if (found == prefix.end())
    return nullptr;
  size_t made = numMade(number, example, step, place);
  return made < found->second.size() ? &found->second[made] : nullptr;
}

Status SearchRun::forcedLogp(int number, double value,
                             const Distribution &distribution,
                             double &logp) const {
  size_t count = distribution.logps().size();
  if (!(value >= 0 && value < static_cast<double>(count)))
    return Status::error(fmt::format("'{}' has the value {}, outside 0..{}",
                                     decoder.choices[number].name, value,
                                     count - 1));
  logp = distribution.logp({value});
  return std::isnan(logp) ? isNoNumber(number) : Status::success();
}

/// The value of a single path: a forced one, a sample, or the most probable.
Status SearchRun::pick(int number, size_t parent,
                       const Distribution &distribution, Candidate &candidate) {
  const Hypothesis &from = live[parent];
  candidate.parent = parent;
  if (const double *forced = forcedAt(number, from.example)) {
    candidate.value = {*forced};
    double logp;
    if (Status status = forcedLogp(number, *forced, distribution, logp);
        status.failed())
      return status;
  } else if (options.sample) {
    std::array<double, 3> uniform;
    for (size_t i = 0; i < uniform.size(); ++i) {
      uint64_t place = 3 * from.numChoices + i;
      uint64_t id = examples[from.example]->id;
      uniform[i] = philox({uint32_t(place), uint32_t(place >> 32), uint32_t(id),
                           uint32_t(groups[from.group].draw)},
                          {uint32_t(options.seed), drawOrdinal})[0] /
                   4294967296.0;
    }
    candidate.value = distribution.draw(uniform, options.temperature,
                                        options.topK, options.topP);
  } else {
    candidate.value = distribution.mode();
  }
  candidate.logp = distribution.logp(candidate.value);
  candidate.rank = from.logp + candidate.logp;
  if (std::isnan(candidate.logp))
    return isNoNumber(number);
  return Status::success();
}

static bool isBetter(const Candidate &a, const Candidate &b) {
  if (a.rank != b.rank)
    return a.rank > b.rank;
  return a.parent != b.parent ? a.parent < b.parent : a.value < b.value;
}

/// The best continuations of the hypotheses of one group, best first, at most
/// `most`.
Status SearchRun::findCandidates(int number, int64_t element,
                                 const std::vector<size_t> &group, size_t most,
                                 std::vector<Candidate> &candidates) {
  const Decoder::Choice &choice = decoder.choices[number];
  bool byScore = hasMark(Mark::Score);
  candidates.clear();
  // The heap's worst candidate is first.
  double bound = -infinity;
  for (size_t parent : group) {
    const Hypothesis &from = live[parent];
    Distribution distribution;
    if (Status status = distributionOf(number, element, from, distribution);
        status.failed())
      return status;
    if (!distribution.isDiscrete()) {
      if (options.beam > 1)
        return Status::error(fmt::format(
            "'{}' is a choice of real numbers, which a beam cannot search; "
            "sample it, or set beam = 1",
            choice.name));
      if (Status status =
              pick(number, parent, distribution, candidates.emplace_back());
          status.failed())
        return status;
      continue;
    }
    if (const double *forced = forcedAt(number, from.example)) {
      double logp;
      if (Status status = forcedLogp(number, *forced, distribution, logp);
          status.failed())
        return status;
      if (logp > -infinity)
        candidates.push_back(
            {parent,
             {*forced},
             logp,
             byScore && from.score ? *from.score : from.logp + logp});
      continue;
    }
    int64_t end = choice.hasEnd && step < options.shortest
                      ? lengthAt(choice.end, from.example)
                      : -1;
    bool isRanked = byScore && from.score;
    bool isNumber = true;
    // With a margin for rounding: skipped candidates are certainly no better.
    auto least = [&] {
      bool isFull = candidates.size() == most && !isRanked;
      return isFull ? bound - from.logp - 1e-12 * (1 + std::abs(bound))
                    : -infinity;
    };
    auto consider = [&](int64_t symbol, double logp) {
      double rank = isRanked ? *from.score : from.logp + logp;
      isNumber &= !std::isnan(logp);
      // Impossible values are not candidates.
      if (!(logp > -infinity) || symbol == end ||
          (candidates.size() == most && rank <= bound))
        return;
      if (candidates.size() == most) {
        std::pop_heap(candidates.begin(), candidates.end(), isBetter);
        candidates.pop_back();
      }
      candidates.push_back({parent, {static_cast<double>(symbol)}, logp, rank});
      std::push_heap(candidates.begin(), candidates.end(), isBetter);
      if (candidates.size() == most)
        bound = candidates.front().rank;
    };
    // The device's results suffice if all others are certainly worse.
    const BestSymbols *found = isRanked ? nullptr : bestOf(number, from);
    if (found) {
      auto before = std::pair(candidates, bound);
      for (const BestSymbols::Symbol &symbol : found->symbols)
        consider(symbol.number, symbol.logp);
      bool areWorse =
          candidates.size() == most && from.logp + found->limit < bound;
      if (found->hasOthers && !areWorse) {
        found = nullptr;
        std::tie(candidates, bound) = before;
      }
    }
    if (!found)
      distribution.eachAbove(least, consider);
    if (!isNumber)
      return isNoNumber(number);
  }
  std::sort(candidates.begin(), candidates.end(), isBetter);
  return Status::success();
}

/// The hypothesis that takes the value of a candidate.
Hypothesis SearchRun::follow(const Candidate &candidate, int number) {
  Hypothesis next = live[candidate.parent];
  const Decoder::Choice &choice = decoder.choices[number];
  next.chosen.resize(decoder.choices.size());
  next.chosen[number].insert(next.chosen[number].end(), candidate.value.begin(),
                             candidate.value.end());
  next.logp += candidate.logp;
  next.logps.push_back({number, candidate.logp});
  ++next.numChoices;
  if (choice.hasEnd && decoder.isSearch &&
      candidate.value[0] ==
          static_cast<double>(lengthAt(choice.end, next.example)))
    next.ended = next.hasEnd = true;
  return next;
}

/// Places past a nested row exist among the values of a choice, too.
void SearchRun::fill(Hypothesis &hypothesis, int number) const {
  const Decoder::Choice &choice = decoder.choices[number];
  hypothesis.chosen.resize(decoder.choices.size());
  hypothesis.chosen[number].resize(countOf(choice.shape, hypothesis.example));
}

Status SearchRun::applyMarks(int number, Hypothesis &hypothesis,
                             bool &rejected) {
  for (const Mark &mark : decoder.marks) {
    if (mark.segment != number || rejected)
      continue;
    const ValueSource &source = sources.at(mark.value);
    if (mark.kind == Mark::Score) {
      bool isFloat =
          source.array && source.array->element == Program::Element::F32;
      double sum = 0;
      for (const MemberRows &own : members) {
        std::vector<std::byte> bytes = read(own, source, hypothesis);
        if (bytes.size() != (isFloat ? sizeof(float) : sizeof(double)))
          return Status::error("the mark 'score' is not one number");
        sum += isFloat ? *reinterpret_cast<const float *>(bytes.data())
                       : *reinterpret_cast<const double *>(bytes.data());
      }
      hypothesis.score = sum / static_cast<double>(members.size());
      continue;
    }
    std::optional<bool> agreed;
    for (const MemberRows &own : members) {
      std::vector<std::byte> bytes = read(own, source, hypothesis);
      bool holds = std::all_of(bytes.begin(), bytes.end(),
                               [](std::byte b) { return b != std::byte(0); });
      if (agreed.value_or(holds) != holds)
        return doNotAgree();
      agreed = holds;
    }
    bool all = agreed.value_or(true);
    if (mark.kind == Mark::Valid)
      rejected = !all && !isForced(number, hypothesis.example);
    else if (all)
      hypothesis.ended = true;
  }
  return Status::success();
}

/// Runs a segment, and the marks after it.
Status SearchRun::stage(int number, std::vector<Hypothesis> &hypotheses,
                        std::vector<char> &rejected) {
  rejected.assign(hypotheses.size(), false);
  bool keepsParents = &hypotheses != &live;
  if (Status status = runSegment(number, hypotheses, keepsParents);
      status.failed())
    return status;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    bool isRejected = false;
    if (Status status = applyMarks(number, hypotheses[i], isRejected);
        status.failed())
      return status;
    rejected[i] = isRejected;
  }
  return Status::success();
}

std::vector<std::vector<size_t>> SearchRun::byGroup() const {
  std::vector<std::vector<size_t>> result(groups.size());
  for (size_t i = 0; i < live.size(); ++i)
    result[live[i].group].push_back(i);
  return result;
}

/// Runs all continuations to rank them by the mark "score".
Status SearchRun::rankAll(int number, std::vector<Hypothesis> &next) {
  int after = decoder.segmentBefore(number) + 1;
  for (const std::vector<size_t> &group : byGroup()) {
    if (group.empty())
      continue;
    int64_t last = lastElement(number, live[group.front()].example);
    if (last < 0) {
      for (size_t i : group)
        next.push_back(live[i]);
      continue;
    }
    std::vector<Candidate> candidates, ranked;
    if (Status status =
            findCandidates(number, last, group,
                           std::numeric_limits<size_t>::max(), candidates);
        status.failed())
      return status;
    for (size_t first = 0; first < candidates.size(); first += rankedAtOnce) {
      std::vector<Hypothesis> made;
      std::vector<char> rejected;
      size_t end = std::min(candidates.size(), first + rankedAtOnce);
      for (size_t i = first; i < end; ++i) {
        made.push_back(follow(candidates[i], number));
        fill(made.back(), number);
      }
      if (Status status = stage(after, made, rejected); status.failed())
        return status;
      for (size_t i = first; i < end; ++i)
        if (!rejected[i - first]) {
          ranked.push_back(candidates[i]);
          if (made[i - first].score)
            ranked.back().rank = *made[i - first].score;
        }
    }
    std::sort(ranked.begin(), ranked.end(), isBetter);
    int64_t room = roomOf(live[group.front()].group);
    ranked.resize(std::min<size_t>(ranked.size(), room));
    for (const Candidate &candidate : ranked)
      next.push_back(follow(candidate, number));
  }
  for (Hypothesis &hypothesis : next)
    fill(hypothesis, number);
  std::vector<char> rejected;
  return stage(after, next, rejected);
}

/// Takes the last element of a choice and runs the following segment, up to the
/// next choice. Values that the mark "valid" forbids are replaced by the next
/// best.
Status SearchRun::takeLast(int number) {
  std::vector<Hypothesis> next;
  if (hasMark(Mark::Score) && !followsOnePath()) {
    if (Status status = rankAll(number, next); status.failed())
      return status;
    live = std::move(next);
    return Status::success();
  }
  const Decoder::Choice &choice = decoder.choices[number];
  int after = decoder.segmentBefore(number) + 1;
  bool hasValid = hasMark(Mark::Valid, after);
  auto members = byGroup();
  struct Progress {
    std::vector<Candidate> candidates;
    Distribution distribution; // of one path
    std::vector<int64_t> excluded;
    size_t at = 0, most = 0;
    bool isOver = false;
    std::vector<Hypothesis> taken;
  };
  std::vector<Progress> progress(groups.size());
  bool isFirst = true, hasRejected = false;
  findBestOnDevice(number);
  while (true) {
    // As many as still fit, for every group at once.
    std::vector<Hypothesis> made;
    for (size_t group = 0; group < groups.size(); ++group) {
      Progress &own = progress[group];
      if (members[group].empty() || own.isOver)
        continue;
      const Hypothesis &front = live[members[group].front()];
      int64_t element = lastElement(number, front.example);
      if (element < 0) {
        // Nothing to choose.
        for (size_t i : members[group])
          made.push_back(live[i]);
        own.isOver = true;
        continue;
      }
      if (followsOnePath()) {
        if (isFirst) {
          if (Status status =
                  distributionOf(number, element, front, own.distribution);
              status.failed())
            return status;
          if (choice.hasEnd && step < options.shortest && decoder.isSearch &&
              own.distribution.isDiscrete() && !forcedAt(number, front.example))
            own.excluded.push_back(lengthAt(choice.end, front.example));
        }
        // log p stays the one over all symbols.
        Distribution left = own.distribution;
        int64_t size = left.logps().size();
        for (int64_t symbol : own.excluded)
          if (symbol >= 0 && symbol < size)
            left.exclude(symbol);
        if (isFirst && left.isDiscrete() && left.hasNoNumber())
          return isNoNumber(number);
        bool isStuck = !left.isDiscrete() ? !isFirst : !left.isPossible();
        if (isStuck)
          return Status::error(
              fmt::format("no value of '{}' is allowed", choice.name));
        Candidate candidate;
        if (Status status =
                pick(number, members[group].front(), left, candidate);
            status.failed())
          return status;
        candidate.logp = own.distribution.logp(candidate.value);
        own.candidates.push_back(candidate);
        made.push_back(follow(candidate, number));
        continue;
      }
      size_t room = roomOf(group) - own.taken.size();
      if (own.at + room > own.most) {
        own.most = isFirst ? room : 2 * (own.most + room);
        if (Status status = findCandidates(number, element, members[group],
                                           own.most, own.candidates);
            status.failed())
          return status;
      }
      size_t end = std::min(own.candidates.size(), own.at + room);
      for (size_t i = own.at; i < end; ++i)
        made.push_back(follow(own.candidates[i], number));
      own.isOver = end == own.candidates.size() && end < own.most;
      own.at = end;
    }
    if (made.empty())
      break;
    for (Hypothesis &hypothesis : made)
      fill(hypothesis, number);
    std::vector<char> rejected;
    if (Status status = stage(after, made, rejected); status.failed())
      return status;
    for (size_t i = 0; i < made.size(); ++i) {
      Progress &own = progress[made[i].group];
      hasRejected |= rejected[i];
      if (!rejected[i])
        own.taken.push_back(std::move(made[i]));
      else if (followsOnePath() && own.candidates.empty())
        return forbidsEverything();
      else if (followsOnePath())
        own.excluded.push_back(own.candidates.back().value[0]);
    }
    bool isDone = true;
    for (size_t group = 0; group < groups.size(); ++group) {
      Progress &own = progress[group];
      int64_t wanted = followsOnePath() ? 1 : roomOf(group);
      if (members[group].empty() || int64_t(own.taken.size()) >= wanted)
        own.isOver = true;
      isDone &= own.isOver;
    }
    isFirst = false;
    if (!hasValid || isDone)
      break;
  }
  for (Progress &own : progress)
    for (Hypothesis &hypothesis : own.taken)
      next.push_back(std::move(hypothesis));
  // After a forbidden value, rows are not where they ran.
  if (hasRejected)
    if (Status status = runSegment(after, next, /*keepsParents=*/false);
        status.failed())
      return status;
  live = std::move(next);
  return Status::success();
}

/// Takes an element of a choice with further elements.
Status SearchRun::takeElement(int number, int64_t element,
                              const std::vector<size_t> &group,
                              std::vector<Hypothesis> &next) {
  if (followsOnePath()) {
    for (size_t parent : group) {
      Distribution distribution;
      if (Status status =
              distributionOf(number, element, live[parent], distribution);
          status.failed())
        return status;
      Candidate candidate;
      if (Status status = pick(number, parent, distribution, candidate);
          status.failed())
        return status;
      next.push_back(follow(candidate, number));
    }
    return Status::success();
  }
  std::vector<Candidate> candidates;
  if (Status status =
          findCandidates(number, element, group,
                         roomOf(live[group.front()].group), candidates);
      status.failed())
    return status;
  for (const Candidate &candidate : candidates)
    next.push_back(follow(candidate, number));
  return Status::success();
}

Status SearchRun::takeChoice(int number) {
  const Decoder::Choice &choice = decoder.choices[number];
  int64_t size = choice.valueSize();
  best.clear();
  for (int64_t element = 0;; ++element) {
    std::vector<Hypothesis> next;
    bool isMade = false;
    for (const std::vector<size_t> &group : byGroup()) {
      if (group.empty())
        continue;
      int64_t example = live[group.front()].example;
      int64_t last = lastElement(number, example);
      isMade |= element < last;
      if (element < last && !isInside(choice.shape, element * size, example)) {
        for (size_t i : group) {
          next.push_back(live[i]);
          next.back().chosen[number].resize((element + 1) * size);
        }
        continue;
      }
      if (element < last) {
        if (Status status = takeElement(number, element, group, next);
            status.failed())
          return status;
        continue;
      }
      for (size_t i : group)
        next.push_back(live[i]);
    }
    if (!isMade)
      return takeLast(number);
    live = std::move(next);
  }
}
