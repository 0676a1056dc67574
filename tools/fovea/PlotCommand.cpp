//===- PlotCommand.cpp - fovea plot ---------------------------------------===//
//
// Draws the logs of trainings as curves, or stored arrays as `fovea decode
// --show` draws them. How that looks is decided in pictures/.
//
//===----------------------------------------------------------------------===//

#include "app/data/TextData.h"
#include "app/show/Pictures.h"
#include "runtime/data/SafeTensors.h"
#include "llvm/Support/FileSystem.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using nlohmann::json;

namespace {

/// One `fovea plot`. Functions that return false have reported the error.
class PlotCommand {
public:
  explicit PlotCommand(const Arguments &arguments)
      : arguments(arguments), session(arguments) {}
  int run();

private:
  bool isWanted(const std::string &name) const {
    return arguments.names.empty() || llvm::is_contained(arguments.names, name);
  }
  bool fail(const std::string &text) {
    session.error(text);
    return false;
  }
  bool addArrays(const std::string &path);
  bool addArray(const std::string &path, const runtime::TensorFile &file,
                const std::string &name);
  bool readLog(const std::string &path, const std::string &label);
  void addCharts();

  const Arguments &arguments;
  Session session;
  pictures::Page page;
  /// The lines of each log, by key.
  std::vector<std::pair<std::string, std::vector<json>>> logs;
};

} // namespace

//===----------------------------------------------------------------------===//
// Stored arrays
//===----------------------------------------------------------------------===//

/// The axes of one example as stored by Shows.cpp; nothing if they are
/// missing.
static std::vector<pictures::Axis> axesOf(const runtime::TensorFile &file,
                                          const std::string &name,
                                          size_t example) {
  std::vector<pictures::Axis> axes;
  auto found = file.metadata.find("axes." + name);
  if (found == file.metadata.end())
    return axes;
  json all = json::parse(found->second, nullptr, /*allow_exceptions=*/false);
  if (!all.is_array() || example >= all.size() || !all[example].is_array())
    return axes;
  for (const json &stored : all[example]) {
    pictures::Axis &axis = axes.emplace_back();
    if (!stored.is_object())
      continue;
    if (auto it = stored.find("name"); it != stored.end() && it->is_string())
      axis.name = it->get<std::string>();
    if (auto it = stored.find("labels"); it != stored.end() && it->is_array())
      for (const json &label : *it)
        axis.labels.push_back(label.is_string() ? label.get<std::string>()
                                                : "");
  }
  return axes;
}

/// The length of `axis` in each example: `NAME.length`, `NAME.length.2`, .., or
/// the whole extent.
static std::vector<int64_t> lengthsOf(const runtime::TensorFile &file,
                                      const std::string &name,
                                      const runtime::Tensor &tensor,
                                      size_t axis) {
  int64_t whole = tensor.shape[axis + 1];
  std::vector<int64_t> lengths(tensor.shape[0], whole);
  auto found = file.tensors.find(
      name + ".length" + (axis == 0 ? "" : "." + std::to_string(axis + 1)));
  if (found == file.tensors.end() ||
      found->second.shape != std::vector<int64_t>{tensor.shape[0]})
    return lengths;
  for (auto [length, value] : llvm::zip(lengths, found->second.toDoubles()))
    length = value >= 0 && value <= whole ? static_cast<int64_t>(value) : whole;
  return lengths;
}

bool PlotCommand::addArray(const std::string &path,
                           const runtime::TensorFile &file,
                           const std::string &name) {
  const runtime::Tensor &tensor = file.tensors.at(name);
  if (tensor.shape.empty())
    return fail(path + ": '" + name + "' has no example axis");
  size_t rank = tensor.shape.size() - 1;
  std::vector<std::vector<int64_t>> lengths;
  for (size_t axis = 0; axis < rank; ++axis)
    lengths.push_back(lengthsOf(file, name, tensor, axis));
  std::vector<double> values = tensor.toDoubles();
  size_t size = tensor.shape[0] == 0 ? 0 : values.size() / tensor.shape[0];
  for (int64_t example = 0; example < tensor.shape[0]; ++example) {
    runtime::DataValues array;
    for (size_t axis = 0; axis < rank; ++axis)
      array.shape.push_back(lengths[axis][example]);
    // Places past a length are padding.
    for (size_t i = 0; i < size; ++i) {
      bool isWithin = true;
      size_t rest = i;
      for (size_t axis = rank; axis-- > 0; rest /= tensor.shape[axis + 1])
        isWithin &= static_cast<int64_t>(rest % tensor.shape[axis + 1]) <
                    array.shape[axis];
      if (isWithin)
        array.values.push_back(values[example * size + i]);
    }
    addPanels(page, fmt::format("{}: {}", example + 1, name),
              pictures::groupOf(name), array.shape, array.values,
              axesOf(file, name, example));
  }
  return true;
}

bool PlotCommand::addArrays(const std::string &path) {
  runtime::TensorFile file;
  if (runtime::Status status = runtime::readSafeTensors(path, file);
      status.failed())
    return fail(status.text());
  std::vector<StringRef> names;
  for (const auto &[name, tensor] : file.tensors)
    if (tensor.isReal())
      names.push_back(name);
  for (const std::string &name : arguments.names)
    if (!llvm::is_contained(names, name)) {
      StringRef meant = nearest(name, names);
      return fail(
          path + ": '" + name + "' is missing" +
          (meant.empty() ? "" : "; did you mean '" + meant.str() + "'?"));
    }
  if (names.empty())
    return fail(path + " contains no real numbers to draw");
  for (StringRef name : names)
    if (isWanted(name.str()) && !addArray(path, file, name.str()))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Logs
//===----------------------------------------------------------------------===//

bool PlotCommand::readLog(const std::string &given, const std::string &label) {
  std::string path = given;
  if (llvm::sys::fs::is_directory(path))
    path += "/log.jsonl";
  auto &[name, lines] = logs.emplace_back();
  name = label;
  return forLines(
      session, {path, 0, nullptr, true}, [&, &lines = lines](StringRef line) {
        json object =
            json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/
                        false);
        // A training run may still be writing the last line.
        bool isHalf = line.starts_with("{") && *line.end() == 0;
        if (object.is_discarded() && isHalf)
          return true;
        if (!object.is_object()) {
          session.diagnostics().error(Code::dataValue,
                                      llvm::SMLoc::getFromPointer(line.data()),
                                      "this is not a line of a training log");
          return false;
        }
        lines.push_back(std::move(object));
        return true;
      });
}

/// The values of a key over the values of another, for lines with both. The
/// best one is on the last line with `best`.
static pictures::Curve curveOf(const std::vector<json> &lines,
                               const std::string &x, const std::string &key) {
  pictures::Curve curve;
  for (const json &line : lines) {
    auto place = line.find(x), value = line.find(key);
    if (place != line.end() && place->is_number() && value != line.end() &&
        value->is_number()) {
      if (line.value("best", json()) == true)
        curve.best = curve.points.size();
      curve.points.push_back({place->get<double>(), value->get<double>()});
    }
  }
  return curve;
}

/// A chart for each metric, in training and in validation.
void PlotCommand::addCharts() {
  std::vector<std::string> measures;
  for (const auto &[name, lines] : logs)
    for (const json &line : lines)
      for (const auto &[key, value] : line.items()) {
        StringRef measure = key;
        bool isValid = measure.consume_front("valid_");
        bool isUsual = isValid || measure == "loss" || measure == "perplexity";
        if (value.is_number() &&
            (arguments.names.empty() ? isUsual : isWanted(measure.str())) &&
            !llvm::is_contained(measures, measure))
          measures.push_back(measure.str());
      }
  for (const std::string &measure : measures) {
    pictures::Chart chart;
    chart.title = measure;
    chart.xName = arguments.plotOver;
    chart.isLogarithmic = measure == "perplexity";
    for (size_t number = 0; number < logs.size(); ++number)
      for (bool isValid : {false, true}) {
        const auto &[name, lines] = logs[number];
        pictures::Curve curve = curveOf(lines, arguments.plotOver,
                                        (isValid ? "valid_" : "") + measure);
        if (curve.points.empty())
          continue;
        curve.name = (logs.size() > 1 ? name + ", " : "") +
                     (isValid ? "validation" : "training");
        curve.isDashed = isValid;
        // One colour per run, or per curve of a single run.
        curve.color = logs.size() > 1 ? number : isValid;
        chart.curves.push_back(std::move(curve));
      }
    if (!chart.curves.empty())
      page.panels.push_back(std::move(chart));
  }
}

int PlotCommand::run() {
  if (!isPicture(arguments.output))
    return wrongUsage("'" + arguments.output +
                      "' must end in .html, .svg, .png or .pdf");
  setLook(page, arguments.look, arguments.look.title);
  bool good = true;
  for (auto [number, path] : llvm::enumerate(arguments.plots))
    good &= StringRef(path).ends_with(".safetensors")
                ? addArrays(path)
                : readLog(path, arguments.plotLabels.empty()
                                    ? path
                                    : arguments.plotLabels[number]);
  if (good) {
    addCharts();
    if (page.panels.empty())
      session.error("nothing to draw" +
                    (arguments.names.empty()
                         ? " over '" + arguments.plotOver + "'"
                         : ": no line has '" + arguments.names.front() + "'"));
  }
  int code = session.finish();
  return code == done ? writePicture(arguments.output, page,
                                     arguments.maxPictureMb * 1'000'000)
                      : code;
}

int fovea::cli::runPlot(const Arguments &arguments) {
  return PlotCommand(arguments).run();
}
