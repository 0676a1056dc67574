//===- SearchSteps.cpp - a search that the caller makes -------------------===//

#include "runtime/search/SearchSteps.h"
#include "runtime/search/SearchRun.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>

using namespace fovea::runtime;

SearchSteps::SearchSteps(Search &search) : search(search) {}

SearchSteps::~SearchSteps() = default;

int64_t SearchSteps::numSymbols(const Decoder &decoder) {
  if (!decoder.isSearch || decoder.known || decoder.reverse ||
      decoder.choices.size() != 1 || !decoder.loops.empty() ||
      !decoder.later.empty())
    return 0;
  const Decoder::Choice &choice = decoder.choices.front();
  if (choice.distribution != Decoder::Distribution::Categorical ||
      !choice.shape.empty() || choice.parameters.size() != 1)
    return 0;
  int64_t count = 1;
  for (int64_t extent : choice.parameters.front().shape)
    count *= std::max<int64_t>(extent, 0);
  return count;
}

int64_t SearchSteps::numRows() const {
  return run ? static_cast<int64_t>(run->live.size()) : 0;
}

/// Runs the first half of a step: up to the choice.
Status SearchSteps::rank(double *logps) {
  for (Hypothesis &row : run->live) {
    row.chosen.assign(1, {});
    row.rows.clear();
  }
  std::vector<char> rejected;
  Status status = run->stage(0, run->live, rejected);
  for (const Hypothesis &row : run->live) {
    Distribution distribution;
    if (status.succeeded())
      status = run->distributionOf(0, 0, row, distribution);
    if (status.failed())
      return status;
    assert(static_cast<int64_t>(distribution.logps().size()) ==
               numSymbols(search.decoder) &&
           "the extents of log p are numbers");
    logps = std::copy(distribution.logps().begin(), distribution.logps().end(),
                      logps);
  }
  return status;
}

Status SearchSteps::begin(std::vector<Example> given, double *logps) {
  run.reset();
  examples = std::move(given);
  batch.clear();
  for (const Example &example : examples)
    batch.push_back(&example);
  if (Status status = search.encode(batch); status.failed())
    return status;
  run = std::make_unique<SearchRun>(search, batch, options);
  Status status = run->begin();
  if (status.succeeded())
    status = rank(logps);
  if (status.failed())
    run.reset();
  return status;
}

Status SearchSteps::step(const std::vector<int64_t> &parents,
                         const std::vector<int64_t> &symbols, double *logps) {
  assert(run && "a step follows one that did not fail");
  int64_t count = numSymbols(search.decoder);
  std::vector<Hypothesis> next;
  for (size_t i = 0; i < parents.size(); ++i) {
    if (parents[i] < 0 || parents[i] >= numRows())
      return Status::error(fmt::format("row {} goes on from row {} of {}", i,
                                       parents[i], numRows()));
    if (symbols[i] < 0 || symbols[i] >= count)
      return Status::error(
          fmt::format("row {} takes symbol {} of {}", i, symbols[i], count));
    Candidate candidate;
    candidate.parent = parents[i];
    candidate.value = {static_cast<double>(symbols[i])};
    next.push_back(run->follow(candidate, 0));
  }
  std::vector<char> rejected;
  Status status = run->stage(1, next, rejected);
  if (status.succeeded()) {
    run->moveStates(next);
    ++run->step;
    status = rank(logps);
  }
  if (status.failed())
    run.reset();
  return status;
}
