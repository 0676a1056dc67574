//===- SearchLoops.cpp - loops of choices inside a step -------------------===//
//
// Makes the choices of a loop, place by place, for all hypotheses at once.
// Those of examples with fewer places wait.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/SearchRun.h"

#include <utility>

using namespace fovea::runtime;

int64_t SearchRun::numMade(int number, int64_t example, int64_t steps,
                           int64_t places) const {
  const Decoder::Loop *loop = decoder.loopAround(number);
  if (!loop)
    return steps;
  for (int64_t at = 0; at < steps; ++at)
    places += rowLengthAt(loop->extent, example, indexOf(at, example));
  return places;
}

bool SearchRun::isForced(int segment, int64_t example) const {
  for (const Decoder::Loop &loop : decoder.loops) {
    int first = decoder.segmentBefore(loop.firstChoice);
    if (segment > first && segment < decoder.segmentBefore(loop.endChoice))
      return forcedAt(loop.firstChoice + segment - first - 1, example);
  }
  for (int number = 0; number < int(decoder.choices.size()); ++number) {
    auto given = examples[example]->prefix.find(decoder.choices[number].name);
    if (decoder.segmentBefore(number) >= segment ||
        given == examples[example]->prefix.end())
      continue;
    int64_t before = numMade(number, example, step, 0);
    if (before < int64_t(given->second.size()) &&
        before < numMade(number, example, step + 1, 0))
      return true;
  }
  return false;
}

/// The states of a loop at its next place: waiting hypotheses keep theirs.
/// `begins`: at its first place.
void SearchRun::moveInner(const Decoder::Loop &loop, bool begins,
                          std::vector<Hypothesis> &waiting) {
  for (MemberRows &own : members)
    for (int number = loop.firstState; number < loop.endState; ++number) {
      const Decoder::State &state = decoder.inner[number];
      GatheredRows rows;
      addRows(own, sources.at(begins ? state.initial : state.next), live, rows);
      addRows(own, {ValueSource::Inner, number, nullptr}, waiting, rows);
      rows.copyTo(own.nextInner[number], sizeOf(state.element));
    }
  waitForDevice();
  for (MemberRows &own : members)
    for (int number = loop.firstState; number < loop.endState; ++number)
      std::swap(own.inner[number], own.nextInner[number]);
  int64_t row = 0;
  for (auto *hypotheses : {&live, &waiting})
    for (Hypothesis &hypothesis : *hypotheses)
      hypothesis.inner = row++;
}

/// Makes the choices of a loop inside the step, place by place. A hypothesis
/// whose loop has ended waits for the others.
Status SearchRun::runLoop(const Decoder::Loop &loop) {
  std::vector<Hypothesis> waiting;
  std::vector<char> rejected;
  moveInner(loop, /*begins=*/true, waiting);
  for (place = 0;; ++place) {
    auto countOf = [&](const Hypothesis &hypothesis) {
      return rowLengthAt(loop.extent, hypothesis.example,
                         indexOf(step, hypothesis.example));
    };
    std::vector<Hypothesis> going;
    for (Hypothesis &hypothesis : live)
      (place < countOf(hypothesis) ? going : waiting)
          .push_back(std::move(hypothesis));
    live = std::move(going);
    if (live.empty())
      break;
    inside = loop.reverse ? countOf(live.front()) - 1 - place : place;
    for (Hypothesis &hypothesis : live)
      for (int number = loop.firstChoice; number < loop.endChoice; ++number)
        hypothesis.chosen[number].clear();
    int first = decoder.segmentBefore(loop.firstChoice);
    if (Status status = stage(first, live, rejected); status.failed())
      return status;
    for (int number = loop.firstChoice; number < loop.endChoice; ++number)
      if (Status status = takeChoice(number); status.failed())
        return status;
    moveInner(loop, /*begins=*/false, waiting);
  }
  live = std::move(waiting);
  return stage(decoder.segmentBefore(loop.endChoice), live, rejected);
}
