//===- Given.cpp - the command line of a training -------------------------===//

#include "driver/train/Given.h"
#include "driver/data/Inputs.h"

#include "llvm/Support/FileSystem.h"

#include <nlohmann/json.hpp>

using namespace fovea::cli;
using nlohmann::json;

/// `src=/data/train.tsv:1`
static std::vector<std::string>
fromRoot(const std::vector<std::string> &texts) {
  std::vector<std::string> result;
  for (const GivenData &data : splitData(texts)) {
    llvm::SmallString<128> path(data.path);
    if (data.path != "-")
      llvm::sys::fs::make_absolute(path);
    result.push_back(data.name.empty() ? path.str().str()
                                       : data.name + "=" + path.str().str());
  }
  return result;
}

std::string fovea::cli::textOfGiven(const Arguments &arguments) {
  json given = {{"data", fromRoot(arguments.data)},
                {"valid", fromRoot(arguments.valid)},
                {"vocabularies", fromRoot(arguments.vocabularies)},
                {"metrics", arguments.metrics},
                {"best_by", arguments.bestBy},
                {"dtype", arguments.dtype},
                {"precision", arguments.precision},
                {"report_every", arguments.reportEvery}};
  auto add = [&](const char *key, const auto &value) {
    if (value)
      given[key] = *value;
  };
  add("steps", arguments.steps);
  add("epochs", arguments.epochs);
  add("minutes", arguments.minutes);
  add("batch", arguments.batch);
  add("valid_every", arguments.validEvery);
  add("save_every", arguments.saveEvery);
  add("patience", arguments.patience);
  return given.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

/// Takes numbers that are not given; nothing else is there.
template <typename T>
static void take(const json &given, const char *key, std::optional<T> &value) {
  auto found = given.find(key);
  if (!value && found != given.end() && found->is_number())
    value = found->get<T>();
}

static void take(const json &given, const char *key,
                 std::vector<std::string> &values) {
  auto found = given.find(key);
  if (!values.empty() || found == given.end() || !found->is_array())
    return;
  for (const json &value : *found)
    if (value.is_string())
      values.push_back(value.get<std::string>());
}

bool fovea::cli::takeGiven(const std::string &text, Arguments &arguments) {
  json given = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (given.is_object()) {
    // Data of another place are validated by what is given with them.
    if (arguments.data.empty())
      take(given, "valid", arguments.valid);
    take(given, "data", arguments.data);
    take(given, "vocabularies", arguments.vocabularies);
    take(given, "metrics", arguments.metrics);
    bool hasEnd = arguments.steps || arguments.epochs || arguments.minutes;
    if (!hasEnd) {
      take(given, "steps", arguments.steps);
      take(given, "epochs", arguments.epochs);
      take(given, "minutes", arguments.minutes);
    }
    take(given, "batch", arguments.batch);
    take(given, "valid_every", arguments.validEvery);
    take(given, "save_every", arguments.saveEvery);
    take(given, "patience", arguments.patience);
    // What is given by itself: f32 is the dtype of who says nothing, and a
    // precision that somebody asks for.
    auto takeText = [&](const char *key, std::string &value, bool isFree) {
      auto found = given.find(key);
      if (isFree && found != given.end() && found->is_string())
        value = found->get<std::string>();
    };
    takeText("best_by", arguments.bestBy, arguments.bestBy.empty());
    takeText("dtype", arguments.dtype, arguments.dtype == "f32");
    takeText("precision", arguments.precision, arguments.precision.empty());
  }
  return !arguments.data.empty();
}
