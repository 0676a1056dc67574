//===- Turns.cpp - batches that processes take in turns -------------------===//

#include "app/machines/Turns.h"

#include <cstring>

using namespace fovea;
using namespace fovea::cli;
using runtime::joinTexts;
using runtime::splitTexts;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Hypotheses as bytes
//===----------------------------------------------------------------------===//

template <typename T> static std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

template <typename T> static std::vector<T> valuesOf(const std::string &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty())
    std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

static std::string pack(const reference::Hypothesis &hypothesis) {
  std::vector<std::string> texts = {
      bytesOf<double>({hypothesis.logp, hypothesis.score,
                       double(hypothesis.steps), double(hypothesis.ended),
                       double(hypothesis.hasEnd)}),
      bytesOf(hypothesis.stepLogp)};
  for (const auto &[name, array] : hypothesis.outputs) {
    texts.push_back(name);
    texts.push_back(bytesOf(array.shape));
    texts.push_back(bytesOf(array.values));
    texts.push_back(array.integer ? "integer" : "");
  }
  return joinTexts(texts);
}

static reference::Hypothesis unpack(const std::string &bytes) {
  std::vector<std::string> texts = splitTexts(bytes);
  std::vector<double> numbers = valuesOf<double>(texts[0]);
  reference::Hypothesis hypothesis;
  hypothesis.logp = numbers[0];
  hypothesis.score = numbers[1];
  hypothesis.steps = int64_t(numbers[2]);
  hypothesis.ended = numbers[3] != 0;
  hypothesis.hasEnd = numbers[4] != 0;
  hypothesis.stepLogp = valuesOf<double>(texts[1]);
  for (size_t i = 2; i < texts.size(); i += 4)
    hypothesis.outputs[texts[i]] = {valuesOf<int64_t>(texts[i + 1]),
                                    valuesOf<double>(texts[i + 2]),
                                    !texts[i + 3].empty()};
  return hypothesis;
}

static std::string packBatch(const BatchResult &batch) {
  std::vector<std::string> examples;
  for (const std::vector<reference::Hypothesis> &best : batch) {
    std::vector<std::string> texts;
    for (const reference::Hypothesis &hypothesis : best)
      texts.push_back(pack(hypothesis));
    examples.push_back(joinTexts(texts));
  }
  return joinTexts(examples);
}

static BatchResult unpackBatch(const std::string &bytes) {
  BatchResult batch;
  for (const std::string &example : splitTexts(bytes)) {
    std::vector<reference::Hypothesis> &best = batch.emplace_back();
    for (const std::string &text : splitTexts(example))
      best.push_back(unpack(text));
  }
  return batch;
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

/// The first failing batch, and why: the same in all processes.
static Status firstFailure(runtime::Team &team, size_t &number,
                           const Status &own) {
  std::vector<std::string> texts;
  if (own.failed())
    texts = {std::to_string(number), own.getMessage(), own.getWhere(),
             own.isOfMachine() ? "machine" : ""};
  Status first = Status::success();
  for (const std::string &joined : team.gatherTexts(joinTexts(texts))) {
    std::vector<std::string> found = splitTexts(joined);
    if (found.empty() || (first.failed() && std::stoull(found[0]) >= number))
      continue;
    number = std::stoull(found[0]);
    first = found[3].empty() ? Status::error(found[1], found[2])
                             : Status::machine(found[1]);
  }
  return first;
}

Status fovea::cli::takeTurns(
    runtime::Team &team, size_t count,
    llvm::function_ref<Status(size_t, BatchResult &)> make,
    llvm::function_ref<void(size_t, const BatchResult &)> take) {
  // Few parts, because the others wait for the slowest at the end of each.
  const size_t perRank = team.isAlone() ? 1 : 8;
  const size_t perPart = perRank * team.size();
  for (size_t first = 0; first < count; first += perPart) {
    size_t end = std::min(count, first + perPart), failing = end;
    std::vector<BatchResult> own;
    Status status = Status::success();
    for (size_t number = first; number < end && status.succeeded(); ++number) {
      if (!team.isTurn(number))
        continue;
      status = make(number, own.emplace_back());
      if (status.failed())
        failing = number;
    }
    std::vector<std::vector<std::string>> others;
    if (!team.isAlone()) {
      status = firstFailure(team, failing, status);
      std::vector<std::string> texts;
      for (const BatchResult &batch : own)
        texts.push_back(team.isFirst() ? "" : packBatch(batch));
      for (const std::string &text : team.gatherTextsOnFirst(joinTexts(texts)))
        others.push_back(splitTexts(text));
    }
    for (size_t number = first; team.isFirst() && number < failing; ++number) {
      size_t rank = number % team.size(), turn = (number - first) / team.size();
      take(number, rank == 0 ? own[turn] : unpackBatch(others[rank][turn]));
    }
    if (status.failed())
      return status;
  }
  return Status::success();
}
