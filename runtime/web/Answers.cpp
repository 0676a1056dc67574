//===- Answers.cpp - a model that a page in a browser asks ----------------===//
//
// Only decodes: a page neither scores nor trains, so its module excludes that
// code. Weights are used in place.
//
//===----------------------------------------------------------------------===//

#include "runtime/web/Answers.h"
#include "pictures/Page.h"
#include "runtime/data/Quantise.h"
#include "runtime/model/FileData.h"
#include "runtime/model/LineText.h"

#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>

using namespace fovea;
using namespace fovea::runtime;
using Json = nlohmann::ordered_json;

namespace {

class Asked {
public:
  Status open(const FoveaImage &image);
  Json about() const;
  /// Where the page writes the file of an input; null: the input has none.
  char *roomOfFile(int32_t input, int32_t bytes);
  Status answer(const Json &question, Json &result);

private:
  Json hypothesis(const Example &example, const Generated &generated) const;
  Json picture(const ShownEquation &equation, const Example &example,
               const Generated &generated) const;

  Description description;
  Vocabularies words;
  std::vector<TensorFile> members;
  std::optional<LineText> text;
  std::unique_ptr<Search> search;
};

} // namespace

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// The content of the files that the page gave, by input.
static std::map<std::string, std::string> files;

/// Takes the file that the page gave for an input, which the line names.
static Status takeFile(const std::string &path, const DataDescription &data,
                       DataValues &values, Lengths &lengths) {
  auto found = files.find(data.spec.name);
  if (found == files.end())
    return Status::error("'" + data.spec.name + "' has no file");
  return readFileData(found->second, path, data, values, lengths);
}

char *Asked::roomOfFile(int32_t input, int32_t bytes) {
  const auto &inputs = text->inputs();
  if (input < 0 || input >= int64_t(inputs.size()) || !inputs[input]->isFile())
    return nullptr;
  std::string &file = files[inputs[input]->spec.name];
  file.assign(bytes, '\0');
  return file.data();
}

/// What the page has to know of the files of an input.
static Json fileOf(const DataDescription &data) {
  if (data.isSound)
    return {{"kind", "sound"}, {"rate", data.sound.rate}};
  auto extent = [&](size_t axis) {
    int64_t size = data.spec.axes[axis].size;
    return data.spec.axes[axis].length.empty() ? Json(size) : Json();
  };
  size_t first = PixelAxes(data.spec).areFirst ? 1 : 0;
  return {{"kind", "picture"},
          {"rows", extent(first)},
          {"columns", extent(first + 1)}};
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

Status Asked::open(const FoveaImage &image) {
  Status status = readDescription(
      {image.description, static_cast<size_t>(image.descriptionSize)},
      description);
  if (status.succeeded())
    status = readWeightsInside(image, members);
  for (const auto &[key, value] : description.vocabularies)
    if (Vocabularies::isKey(key) && status.succeeded())
      status = words.take(key, value, Vocabularies::nameIn(key));
  if (status.failed())
    return status;
  // The compiler has compared them with the parameters.
  std::vector<OwnedMemory> weights;
  for (TensorFile &file : members) {
    TensorFile narrow;
    if (status = takeNarrow(file, narrow); status.failed())
      return status;
    file.tensors.merge(narrow.tensors);
    OwnedMemory &own = weights.emplace_back();
    for (auto &[path, tensor] : file.tensors)
      own[path] = tensor.bytes.data();
  }
  const Decoder &decoder = description.decoder;
  size_t first = 2 * description.programs.size();
  std::vector<ProgramCode> code;
  for (size_t i = 0; i < decoder.programs.size(); ++i)
    code.push_back({.run = image.functions[first + 2 * i],
                    .prepare = image.functions[first + 2 * i + 1],
                    .found = {}});
  search = std::make_unique<Search>(decoder, std::move(code),
                                    std::move(weights), nullptr);
  text.emplace(description, words, decoder.programs[decoder.encode], takeFile);
  return Status::success();
}

Json Asked::about() const {
  Json inputs = Json::array(), outputs = Json::array(), shows = Json::array();
  Json given = Json::object();
  for (const DataDescription *data : text->inputs()) {
    inputs.push_back(data->spec.name);
    if (data->isFile())
      given[data->spec.name] = fileOf(*data);
  }
  for (const DataDescription &data : description.data)
    if (data.isChosen)
      outputs.push_back(data.spec.name);
  for (const ShownEquation &equation : description.shows)
    shows.push_back(equation.name);
  return {{"model", description.model},
          {"compiler", description.compiler},
          {"inputs", inputs},
          {"files", given},
          {"outputs", outputs},
          {"beam", description.search.beam},
          {"shows", shows}};
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

static Json labelsOf(const pictures::Axis &axis) {
  Json labels = Json::array();
  for (int64_t place = 0; place < axis.size; ++place)
    labels.push_back(pictures::visible(axis.label(place)));
  return labels;
}

/// The text version of a panel, for screen readers.
static Json tableOf(const pictures::Panel &panel) {
  if (const auto *matrix = std::get_if<pictures::Matrix>(&panel))
    return {{"title", matrix->title},
            {"rows", labelsOf(matrix->rows)},
            {"columns", labelsOf(matrix->columns)},
            {"values", matrix->values}};
  const auto &bars = std::get<pictures::Bars>(panel);
  return {{"title", bars.title},
          {"rows", labelsOf(bars.rows)},
          {"columns", {bars.group}},
          {"values", bars.values}};
}

Json Asked::picture(const ShownEquation &equation, const Example &example,
                    const Generated &generated) const {
  ShownValues shown =
      shownIn(equation, description.axisSymbols, example, generated.outputs,
              words, description.unknown.given);
  std::vector<pictures::Axis> axes;
  for (const ShownAxis &axis : shown.axes)
    axes.push_back({axis.name, axis.labels});
  pictures::Page page;
  addPanels(page, equation.name, equation.name, shown.values.shape,
            shown.values.values, axes);
  Json tables = Json::array();
  for (const pictures::Panel &panel : page.panels)
    tables.push_back(tableOf(panel));
  return {{"name", equation.name},
          {"drawing", pictures::drawFigures(page)},
          {"tables", tables}};
}

Json Asked::hypothesis(const Example &example,
                       const Generated &generated) const {
  Json pictures = Json::array();
  for (const ShownEquation &equation : description.shows)
    pictures.push_back(picture(equation, example, generated));
  return {{"text", text->textOf(example, generated)},
          {"logp", generated.logp},
          {"score", generated.score},
          {"pictures", pictures}};
}

Status Asked::answer(const Json &question, Json &result) {
  Example example;
  SearchOptions options = description.search;
  options.beam = question.value("beam", options.beam);
  options.nbest = question.value("nbest", int64_t(1));
  if (options.nbest < 1 || options.beam < options.nbest)
    return Status::error("the beam is smaller than the number of answers");
  if (!text->inputs().empty())
    if (Status status = text->read(question.value("line", ""), 1, example);
        status.failed())
      return status;
  std::vector<std::vector<Generated>> found;
  if (Status status = search->decode({&example}, options, found);
      status.failed())
    return status;
  result["hypotheses"] = Json::array();
  for (const Generated &one : found.front())
    result["hypotheses"].push_back(hypothesis(example, one));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// What the page calls
//===----------------------------------------------------------------------===//

static Asked *asked = nullptr;
static std::string question, said;

static const char *say(const Status &status, Json result) {
  if (status.failed())
    result = {{"error", status.text()}};
  said = result.dump(-1, ' ', false, Json::error_handler_t::replace);
  return said.c_str();
}

const char *fovea_web_open(const FoveaImage *image) {
  std::set_new_handler([] { _Exit(3); });
  asked = new Asked;
  Status status = asked->open(*image);
  return say(status, status.failed() ? Json() : asked->about());
}

char *fovea_web_room(int32_t bytes) {
  question.assign(bytes, '\0');
  return question.data();
}

char *fovea_web_file(int32_t input, int32_t bytes) {
  return asked->roomOfFile(input, bytes);
}

const char *fovea_web_answer() {
  Json parsed = Json::parse(question.c_str(), nullptr,
                            /*allow_exceptions=*/false);
  Json result = Json::object();
  if (!parsed.is_object())
    return say(Status::error("a question must be a JSON object"), result);
  Status status = asked->answer(parsed, result);
  return say(status, std::move(result));
}
