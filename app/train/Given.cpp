//===- Given.cpp - the command line of a training -------------------------===//

#include "app/train/Given.h"
#include "app/data/Inputs.h"
#include "app/open/ChooseTarget.h"
#include "app/train/DataHashes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

using namespace fovea::cli;
using fovea::runtime::Status;
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
  std::vector<std::string> data = fromRoot(arguments.data),
                           valid = fromRoot(arguments.valid);
  std::vector<std::string> files = data;
  llvm::append_range(files, valid);
  json given = {{"data", data},
                {"valid", valid},
                {"sha256", hashesOfData(files)},
                {"vocabularies", fromRoot(arguments.vocabularies)},
                {"metrics", arguments.metrics},
                {"valid_references", fromRoot(arguments.validReferences)},
                {"best_by", arguments.bestBy},
                {"dtype", arguments.dtype},
                {"precision", arguments.precision},
                {"cache", arguments.cache},
                {"command", arguments.commandLine},
                {"version", arguments.version},
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

namespace {

/// Reads the entries of the file, each with one type and one range. Keeps the
/// first error.
class GivenReader {
public:
  explicit GivenReader(const json &given) : given(given) {}

  /// Empty without an error.
  std::string mistake() const;

  void count(const char *key, std::optional<int64_t> &value, bool isWanted);
  void minutes(std::optional<double> &value, bool isWanted);
  void texts(const char *key, std::vector<std::string> &values, bool isWanted,
             bool arePairs = false);
  /// One of `choices`, or any text if there are none; empty: absent.
  void text(const char *key, std::string &value, bool isWanted,
            const std::vector<std::string> &choices = {});
  /// Only checks that the entry has texts.
  void textsByName(const char *key);

private:
  /// The entry, if it exists and satisfies `isGood`.
  template <typename Check>
  const json *entry(const char *key, const char *wanted, Check isGood) {
    known.insert(key);
    auto found = given.find(key);
    if (found == given.end())
      return nullptr;
    if (isGood(*found))
      return &*found;
    if (first.empty())
      first = fmt::format(
          "'{}' is {}, but must be {}", key,
          found->dump(-1, ' ', true, json::error_handler_t::replace), wanted);
    return nullptr;
  }
  static bool isText(const json &value) {
    return value.is_string() &&
           value.get_ref<const std::string &>().find('\0') == std::string::npos;
  }

  const json &given;
  std::set<std::string> known;
  std::string first;
};

} // namespace

std::string GivenReader::mistake() const {
  if (!first.empty())
    return first;
  for (const auto &[key, value] : given.items())
    if (!known.contains(key))
      return fmt::format("'{}' is unknown", key);
  return "";
}

void GivenReader::count(const char *key, std::optional<int64_t> &value,
                        bool isWanted) {
  const json *found =
      entry(key, "a whole number from 1 to below 2^63", [](const json &number) {
        return number.is_number_unsigned() && number.get<uint64_t>() >= 1 &&
               number.get<uint64_t>() < uint64_t(1) << 63;
      });
  if (found && isWanted)
    value = found->get<int64_t>();
}

void GivenReader::minutes(std::optional<double> &value, bool isWanted) {
  const json *found =
      entry("minutes", "a number above 0", [](const json &number) {
        return number.is_number() && number.get<double>() > 0;
      });
  if (found && isWanted)
    value = found->get<double>();
}

void GivenReader::texts(const char *key, std::vector<std::string> &values,
                        bool isWanted, bool arePairs) {
  const json *found = entry(
      key, arePairs ? "a list of NAME=FILE" : "a list of texts",
      [&](const json &list) {
        return list.is_array() && llvm::all_of(list, [&](const json &text) {
                 std::string name, file;
                 return isText(text) &&
                        (!arePairs ||
                         splitPair(text.get<std::string>(), name, file));
               });
      });
  if (found && isWanted)
    values = found->get<std::vector<std::string>>();
}

void GivenReader::text(const char *key, std::string &value, bool isWanted,
                       const std::vector<std::string> &choices) {
  std::string wanted = choices.empty()
                           ? "a text"
                           : fmt::format("{}", fmt::join(choices, " or "));
  const json *found = entry(key, wanted.c_str(), [&](const json &text) {
    if (!isText(text))
      return false;
    const auto &chosen = text.get_ref<const std::string &>();
    return choices.empty() || chosen.empty() ||
           llvm::is_contained(choices, chosen);
  });
  if (found && isWanted && !found->get_ref<const std::string &>().empty())
    value = found->get<std::string>();
}

void GivenReader::textsByName(const char *key) {
  entry(key, "an object of texts", [](const json &object) {
    return object.is_object() && llvm::all_of(object, isText);
  });
}

Status fovea::cli::takeGiven(const std::string &text, Arguments &arguments) {
  json given = text.empty() ? json::object()
                            : json::parse(text, nullptr,
                                          /*allow_exceptions=*/false);
  if (!given.is_object())
    return Status::error("it is not a JSON object");
  GivenReader reader(given);
  // New training data need their own validation data.
  reader.texts("valid", arguments.valid,
               arguments.data.empty() && arguments.valid.empty());
  reader.texts("valid_references", arguments.validReferences,
               arguments.data.empty() && arguments.validReferences.empty());
  reader.texts("data", arguments.data, arguments.data.empty());
  reader.texts("vocabularies", arguments.vocabularies,
               arguments.vocabularies.empty(), /*arePairs=*/true);
  reader.texts("metrics", arguments.metrics, arguments.metrics.empty());
  bool hasEnd = arguments.steps || arguments.epochs || arguments.minutes;
  reader.count("steps", arguments.steps, !hasEnd);
  reader.count("epochs", arguments.epochs, !hasEnd);
  reader.minutes(arguments.minutes, !hasEnd);
  reader.count("batch", arguments.batch, !arguments.batch);
  reader.count("valid_every", arguments.validEvery, !arguments.validEvery);
  reader.count("save_every", arguments.saveEvery, !arguments.saveEvery);
  reader.count("patience", arguments.patience, !arguments.patience);
  std::optional<int64_t> unused;
  reader.count("report_every", unused, false);
  // f32 is the default dtype; a precision comes from an option.
  reader.text("best_by", arguments.bestBy, arguments.bestBy.empty());
  reader.text("dtype", arguments.dtype, arguments.dtype == "f32",
              {"f32", "f64"});
  std::vector<std::string> precisions = trainedPrecisions();
  llvm::append_range(precisions, machinePrecisions());
  reader.text("precision", arguments.precision, arguments.precision.empty(),
              precisions);
  reader.text("cache", arguments.cache, arguments.cache.empty(),
              {"f32", "bf16"});
  // Only for people who read them.
  std::string record;
  for (const char *key : {"command", "version"})
    reader.text(key, record, false);
  reader.textsByName("sha256");
  std::string mistake = reader.mistake();
  return mistake.empty() ? Status::success() : Status::error(mistake);
}
