//===- ValidMetrics.cpp - what a model in training generates --------------===//

#include "app/train/ValidMetrics.h"
#include "app/model/Programs.h"
#include "app/show/Metrics.h"
#include "app/train/Interrupts.h"
#include "dialect/reference/Batch.h"
#include "runtime/data/Checksum.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::joinTexts;
using runtime::splitTexts;
using runtime::Status;

/// The number of examples decoded together.
static constexpr size_t batchSize = 32;

bool ValidMetrics::isHigherBetter(size_t number) const {
  std::string problem;
  return createMetric(wanted[number].name, {}, problem)->isHigherBetter();
}

size_t ValidMetrics::numberOf(const std::string &text) const {
  StringRef name = StringRef(text).split('(').first;
  for (size_t number = 0; number < wanted.size(); ++number)
    if (wanted[number].name == name)
      return number;
  llvm_unreachable("whatever decides is measured");
}

//===----------------------------------------------------------------------===//
// What is measured
//===----------------------------------------------------------------------===//

bool fovea::cli::readReferences(Session &session,
                                const std::vector<std::string> &given,
                                const ExampleStore &examples,
                                const DataInfo &data,
                                const Vocabularies &vocabularies,
                                std::vector<std::string> &lines) {
  for (const GivenData &one : splitData(given))
    if (one.name == data.name && one.form() == GivenData::Text)
      return forLines(session, sourceOf(one.path, one.name).with(data),
                      [&](StringRef line) {
                        lines.push_back(line.str());
                        return true;
                      });
  for (int64_t number = 0; number < examples.size(); ++number) {
    runtime::Example example;
    if (Status status = examples.read(number, example); status.failed()) {
      session.error(status.text());
      return false;
    }
    const runtime::DataValues &values = example.data.at(data.name);
    lines.push_back(textOf(data, {values.shape, values.values, false},
                           example.lengths, /*hasEnd=*/true, vocabularies));
  }
  return true;
}

bool fovea::cli::addMoreReferences(Session &session, const Arguments &arguments,
                                   std::string &hash) {
  std::string text;
  for (const GivenData &given : splitData(arguments.validReferences))
    if (!forLines(session, sourceOf(given.path), [&](StringRef line) {
          text += line.str() + "\n";
          return true;
        }))
      return false;
  if (!arguments.validReferences.empty())
    hash = runtime::wideChecksum(hash + text);
  return true;
}

/// Adds the lines of `--valid-ref` that belong to the metric's data.
bool ValidMetrics::readMoreReferences(Session &session,
                                      const Arguments &arguments,
                                      Wanted &metric) const {
  for (const GivenData &given : splitData(arguments.validReferences)) {
    std::vector<std::string> generated;
    for (const DataInfo &data : model->data)
      if (data.isChosen)
        generated.push_back(data.name);
    if (!given.name.empty() && !llvm::is_contained(generated, given.name)) {
      session.error(fmt::format("'--valid-ref {}': '{}' does not generate this "
                                "name; help: it generates {}",
                                given.name, model->name,
                                llvm::join(generated, ", ")));
      return false;
    }
    if (!given.name.empty() && given.name != metric.data->name)
      continue;
    size_t number = 0;
    if (!forLines(session, sourceOf(given.path), [&](StringRef line) {
          if (number < metric.references.size() && !line.trim().empty())
            metric.references[number].push_back(line.str());
          ++number;
          return true;
        }))
      return false;
    if (number != metric.references.size()) {
      session.error(fmt::format("'{}' has {} lines but the validation has {} "
                                "examples",
                                given.path, number, metric.references.size()));
      return false;
    }
  }
  return true;
}

bool ValidMetrics::add(Session &session, const Arguments &arguments,
                       const std::string &text, const ExampleStore &valid) {
  auto [name, rest] = StringRef(text).split('(');
  StringRef of = rest.rtrim(")");
  for (const Wanted &before : wanted)
    if (before.name == name)
      return true;
  Wanted &metric = wanted.emplace_back();
  metric.name = name.str();
  std::string problem;
  if (!createMetric(metric.name, {}, problem) ||
      (name == "meteor" && !readSynonyms("", "", options, problem))) {
    session.error(problem);
    return false;
  }
  std::vector<StringRef> generated;
  for (const DataInfo &data : model->data) {
    if (!data.isChosen)
      continue;
    generated.push_back(data.name);
    if (of.empty() || data.name == of)
      metric.data = &data;
  }
  if (!metric.data || (of.empty() && generated.size() > 1)) {
    session.error(
        generated.empty()
            ? fmt::format("'{}' generates nothing that '{}' could measure",
                          model->name, metric.name)
            : fmt::format(
                  "'{}' generates {}; help: say what is measured: '{}({})'",
                  model->name, llvm::join(generated, ", "), metric.name,
                  generated.front().str()));
    return false;
  }
  if (metric.data->isContinued) {
    session.error(fmt::format("'{}' cannot measure '{}': decoding generates a "
                              "row after those that are given",
                              metric.name, metric.data->name));
    return false;
  }
  std::vector<std::string> lines;
  if (!readReferences(session, arguments.valid, valid, *metric.data,
                      vocabularies, lines))
    return false;
  for (std::string &line : lines)
    metric.references.push_back({std::move(line)});
  return readMoreReferences(session, arguments, metric);
}

std::unique_ptr<ValidMetrics>
ValidMetrics::create(Session &session, const Arguments &arguments,
                     const Vocabularies &vocabularies,
                     const std::vector<std::string> &names,
                     const ExampleStore &valid) {
  std::unique_ptr<ValidMetrics> made(new ValidMetrics(vocabularies));
  made->model = session.openToExecute();
  if (!made->model)
    return nullptr;
  dropSystem(*made->model, "training");
  for (const std::string &name : names)
    if (!made->add(session, arguments, name, valid))
      return nullptr;
  Request request;
  request.stopAfter = attn::Phase::fuse;
  Programs programs(session, *made->model, request,
                    compiledOptionsOf(arguments));
  if (!programs.open({"decode"}))
    return nullptr;
  WantedData data;
  data.needed = programs.dataOf("decode");
  data.known = describeAllData(*made->model);
  // The decoder determines the length of the output.
  for (const DataInfo &info : made->model->data)
    if (info.isChosen)
      llvm::erase_if(data.known, [&](const runtime::DataSpec &spec) {
        return spec.name == info.name;
      });
  if (!readExamples(session, splitData(arguments.valid), *made->model, data,
                    vocabularies, made->examples))
    return nullptr;
  if (Status status = programs.create(made->decoder); status.failed()) {
    session.error(status.text());
    return nullptr;
  }
  return made;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// Adds the lines of the examples first .. end-1, one for each metric.
Status ValidMetrics::decode(size_t first, size_t end,
                            std::vector<std::string> &lines) {
  runtime::Batch batch;
  for (size_t i = first; i < end; ++i)
    batch.push_back(&examples[i]);
  std::vector<std::vector<runtime::Generated>> results;
  if (Status status = decoder->search().decode(batch, {}, results);
      status.failed())
    return status;
  for (const auto &[number, hypotheses] : llvm::enumerate(results))
    for (const Wanted &metric : wanted) {
      const runtime::Generated &best = hypotheses.front();
      const runtime::DataValues &made = best.outputs.at(metric.data->name);
      lines.push_back(textOf(*metric.data, {made.shape, made.values, false},
                             examples[first + number].lengths, best.hasEnd,
                             vocabularies));
    }
  return Status::success();
}

Status ValidMetrics::measure(const runtime::OwnedMemory &weights,
                             runtime::Team &team, std::vector<double> &values) {
  decoder->setParameters({weights});
  std::vector<std::unique_ptr<metrics::Metric>> sums;
  for (const Wanted &metric : wanted) {
    std::string problem;
    sums.push_back(createMetric(metric.name, options, problem));
  }
  Status status = Status::success();
  bool isStopped = false;
  std::vector<std::string> lines;
  size_t batches = (examples.size() + batchSize - 1) / batchSize;
  for (size_t number = 0; number < batches && status.succeeded(); ++number) {
    isStopped |= caughtSignal() != 0;
    if (team.isTurn(number) && !isStopped)
      status =
          decode(number * batchSize,
                 std::min(examples.size(), (number + 1) * batchSize), lines);
  }
  // All processes must know whether one is incomplete.
  for (const std::string &text :
       team.gatherTexts(status.failed() ? status.text()
                        : isStopped     ? "stopped"
                                        : ""))
    if (!text.empty())
      return status;
  std::vector<std::vector<std::string>> parts;
  for (const std::string &text : team.gatherTexts(joinTexts(lines)))
    parts.push_back(splitTexts(text));
  std::vector<size_t> taken(team.size());
  for (size_t i = 0; i < examples.size(); ++i) {
    size_t rank = i / batchSize % team.size();
    for (auto [metric, sum] : llvm::zip(wanted, sums))
      sum->add(parts[rank][taken[rank]++],
               {metric.references[i].begin(), metric.references[i].end()});
  }
  values.clear();
  for (const std::unique_ptr<metrics::Metric> &sum : sums)
    values.push_back(sum->value());
  return Status::success();
}
