//===- OptimiserState.cpp - what continues a training ---------------------===//

#include "runtime/train/OptimiserState.h"

#include <charconv>
#include <fmt/format.h>

using namespace fovea::runtime;

static constexpr std::string_view prefix = "optimiser/";
static constexpr std::string_view weightsPrefix = "weights/";
static constexpr const char *ruleKey = "optimiser";
static constexpr const char *updatesKey = "optimiser.updates";

void fovea::runtime::storeOptimiser(Learner &learner, Rule rule,
                                    int64_t updates, TensorFile &file) {
  TensorFile all;
  learner.store(all);
  for (auto &[name, tensor] : all.tensors)
    if (!name.starts_with(weightsPrefix))
      file.tensors[std::string(prefix) + name] = std::move(tensor);
  file.metadata[ruleKey] = nameOf(rule);
  file.metadata[updatesKey] = std::to_string(updates);
}

Status fovea::runtime::takeOptimiser(TensorFile &file, const std::string &name,
                                     OptimiserState &state) {
  for (auto entry = file.tensors.begin(); entry != file.tensors.end();) {
    if (!entry->first.starts_with(prefix)) {
      ++entry;
      continue;
    }
    state.tensors[entry->first.substr(prefix.size())] =
        std::move(entry->second);
    entry = file.tensors.erase(entry);
  }
  auto rule = file.metadata.find(ruleKey);
  if (rule == file.metadata.end())
    return Status::success();
  state.rule = rule->second;
  const std::string &text = file.metadata[updatesKey];
  auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), state.updates);
  if (failure != std::errc() || end != text.data() + text.size() ||
      state.updates < 0)
    return Status::error(
        fmt::format("the metadata '{}' must be a number of updates, got '{}'",
                    updatesKey, text),
        name);
  file.metadata.erase(ruleKey);
  file.metadata.erase(updatesKey);
  return Status::success();
}

Status fovea::runtime::loadOptimiser(OptimiserState state, Rule rule,
                                     bool isDouble, Learner &learner,
                                     int64_t &updates,
                                     const std::string &name) {
  if (state.rule != nameOf(rule))
    return Status::success();
  TensorFile file;
  learner.store(file);
  std::erase_if(file.tensors, [](const auto &entry) {
    return !entry.first.starts_with(weightsPrefix);
  });
  DType type = isDouble ? DType::F64 : DType::F32;
  for (auto &[path, tensor] : state.tensors) {
    if (tensor.isReal() && tensor.type != type)
      tensor = Tensor::of(type, tensor.shape, tensor.toDoubles());
    file.tensors[path] = std::move(tensor);
  }
  std::vector<std::string> mistakes = learner.load(file, /*isSameRule=*/true);
  if (!mistakes.empty())
    return Status::error(mistakes.front(), name);
  updates = state.updates;
  return Status::success();
}
