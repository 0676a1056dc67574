//===- TrainData.cpp - the examples of a training -------------------------===//

#include "app/train/TrainData.h"
#include "runtime/data/Checksum.h"
#include "runtime/data/DataOrder.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Continues a hash of the values of all examples.
static void addToHash(const runtime::Example &example, std::string &hash) {
  auto add = [&](const void *data, size_t size) {
    hash += runtime::wideChecksum({static_cast<const char *>(data), size});
  };
  for (const auto &[name, data] : example.data) {
    add(name.data(), name.size());
    add(data.shape.data(), data.shape.size() * sizeof(int64_t));
    add(data.values.data(), data.values.size() * sizeof(double));
  }
  hash = runtime::wideChecksum(hash);
}

/// Adds an example.
static Status keep(runtime::Example example, const TrainDataOptions &options,
                   TrainData &data) {
  if (!options.isDouble)
    for (const auto &[name, values] : example.data)
      if (Status status = runtime::checkFitsF32(name, values.values);
          status.failed())
        return Status::error(
            fmt::format("example {}: {}", example.id + 1, status.text()));
  int64_t size = 0;
  for (const auto &[name, length] : example.lengths)
    for (int64_t value : length.values) {
      int64_t &longest = data.longest[name];
      longest = std::max(longest, value);
      if (options.bucketLength.empty() || name == options.bucketLength)
        size += value;
    }
  data.sizes.push_back(size);
  addToHash(example, data.hash);
  example.id += options.firstId;
  return data.examples.add(example);
}

bool fovea::cli::readTrainData(Session &session,
                               const std::vector<GivenData> &given,
                               const Model &model,
                               const Vocabularies &vocabularies,
                               const TrainDataOptions &options, TrainData &data,
                               Status &status) {
  bool isRead = forExamples(session, given, model, options.wanted, vocabularies,
                            [&](runtime::Example example) {
                              status = keep(std::move(example), options, data);
                              return status.succeeded();
                            });
  assert((!isRead || !data.examples.empty()) &&
         "a file without examples is an error");
  return isRead || status.failed();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status fovea::cli::runOver(CompiledProgram &program, const TrainData &data,
                           const std::vector<int64_t> &indices,
                           const runtime::Binding &binding) {
  LoadedBatch loaded;
  if (Status status = loaded.load(data.examples, indices); status.failed())
    return status;
  return program.run(loaded.batch(), binding);
}

Status fovea::cli::countChoices(CompiledProgram &program,
                                const runtime::OwnedMemory &weights,
                                FoveaPool *pool, runtime::Team &team,
                                int64_t batch, TrainData &data) {
  runtime::Binding binding;
  binding.memory = &weights;
  binding.pool = pool;
  runtime::OrderOptions order;
  order.batch = batch;
  std::vector<double> choices(data.examples.size());
  Status own = Status::success();
  auto batches = runtime::batchesBySize(data.sizes, order);
  for (size_t number = 0; number < batches.size(); ++number) {
    if (!team.isTurn(number) || own.failed())
      continue;
    const std::vector<int64_t> &indices = batches[number];
    own = runOver(program, data, indices, binding);
    for (auto [place, index] : llvm::enumerate(indices)) {
      if (own.failed())
        break;
      runtime::DataValues one = program.workspace().output("choices", place);
      if (!one.values.empty())
        choices[number * order.batch + place] = one.values.front();
    }
  }
  for (const std::string &text : team.gatherTexts(own.text()))
    if (!text.empty())
      return text == own.text() ? own : Status::error(text);
  // All batches except the last are full: it has room for padding.
  choices.resize(batches.size() * order.batch);
  team.gatherTurns(choices, batches.size(), order.batch);
  data.choices.assign(data.examples.size(), 0);
  for (size_t number = 0; number < batches.size(); ++number)
    for (auto [place, index] : llvm::enumerate(batches[number]))
      data.choices[index] = choices[number * order.batch + place];
  return Status::success();
}
