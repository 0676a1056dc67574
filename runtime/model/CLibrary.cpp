//===- CLibrary.cpp - the table of fovea.h --------------------------------===//
//
// What libfovea_rt.so calls in the library of a model
// (runtime/library/Table.h). Unlike the functions of a model's own header,
// these also exist if the model was compiled without the entry, and then return
// an error.
//
//===----------------------------------------------------------------------===//

#include "runtime/library/Table.h"
#include "runtime/model/CGuard.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace fovea::runtime;

static std::vector<std::string> entriesOf(const Description &about) {
  std::vector<std::string> entries;
  for (const Program &program : about.programs)
    entries.push_back(program.entry);
  if (about.hasTraining)
    entries.push_back("train_step");
  if (about.hasDecoder)
    entries.push_back("decode");
  return entries;
}

/// Returns 0 if the model has an entry, which `--entry` or the spec decides.
static int checkEntry(FoveaModel *model, const char *entry) {
  beginCall();
  if (!model)
    return missing("the model");
  const Description &about = model->model->about();
  const std::vector<std::string> known = entriesOf(about);
  if (std::find(known.begin(), known.end(), entry) != known.end())
    return foveaDone;
  return fail(foveaBadCall, "'" + about.model + "' was compiled without '" +
                                entry + "'; help: add it to '--entry'");
}

static nlohmann::ordered_json axesOf(const DataSpec &spec) {
  nlohmann::ordered_json axes = nlohmann::ordered_json::array();
  for (const DataAxis &axis : spec.axes)
    if (axis.length.empty())
      axes.push_back(axis.size);
    else
      axes.push_back(axis.length);
  return axes;
}

static const char *kindOf(const DataDescription &data) {
  if (data.text.isSymbols)
    return "symbol";
  switch (data.spec.kind) {
  case DataKind::Real:
    return "real";
  case DataKind::Whole:
    return "whole";
  case DataKind::Bit:
    return "bit";
  }
  return "real";
}

static std::string aboutOf(const Model &model) {
  const Description &about = model.about();
  nlohmann::ordered_json data = nlohmann::ordered_json::array(),
                         parameters = nlohmann::ordered_json::array(),
                         equations = nlohmann::ordered_json::array();
  for (const DataDescription &one : about.data)
    data.push_back({{"name", one.spec.name},
                    {"kind", kindOf(one)},
                    {"axes", axesOf(one.spec)},
                    {"generated", one.isChosen},
                    {"text", one.isText || one.isFile()}});
  for (const ParameterDescription &one : about.parameters)
    parameters.push_back({{"name", one.path}, {"shape", one.shape}});
  for (const ShownEquation &one : about.shows)
    equations.push_back(one.name);
  return nlohmann::ordered_json{{"model", about.model},
                                {"compiler", about.compiler},
                                {"cpu", about.cpu},
                                {"type", about.isDouble ? "f64" : "f32"},
                                {"entries", entriesOf(about)},
                                {"data", std::move(data)},
                                {"parameters", std::move(parameters)},
                                {"equations", std::move(equations)}}
      .dump();
}

static const char *about(FoveaModel *model) {
  beginCall();
  if (!model) {
    missing("the model");
    return nullptr;
  }
  int code = guarded([&]() -> int {
    if (model->about.empty())
      model->about = aboutOf(*model->model);
    return foveaDone;
  });
  return code == foveaDone ? model->about.c_str() : nullptr;
}

static int64_t inputs(FoveaModel *model) {
  beginCall();
  return model ? static_cast<int64_t>(model->model->about().data.size()) : -1;
}

static const char *input(FoveaModel *model, int64_t which) {
  if (which >= 0 && which < inputs(model))
    return model->model->about().data[which].spec.name.c_str();
  fail(foveaBadCall, "no data has this number");
  return nullptr;
}

static int loss(FoveaModel *model, const fovea_batch *batch, double *value,
                double *logp) {
  int code = checkEntry(model, "loss");
  return code ? code : lossOf(model, {nullptr, batch}, value, logp);
}

static int grad(FoveaModel *model, const fovea_batch *batch, double *value,
                double *logp) {
  int code = checkEntry(model, "grad");
  return code ? code : gradOf(model, {nullptr, batch}, value, logp);
}

static int trainStep(FoveaModel *model, const fovea_batch *batch, int64_t seed,
                     double *value) {
  int code = checkEntry(model, "train_step");
  return code ? code : trainStepOf(model, {nullptr, batch}, seed, value);
}

static int run(FoveaModel *model, const fovea_batch *batch) {
  int code = checkEntry(model, "loss");
  return code ? code : equationsOf(model, {nullptr, batch});
}

static int decode(FoveaModel *model, const fovea_batch *batch,
                  const fovea_search *search, fovea_listener listener,
                  void *user, FoveaResult **result) {
  int code = checkEntry(model, "decode");
  return code ? code
              : decodeOf(model, {nullptr, batch}, search, {listener, user},
                         result);
}

static int text(FoveaModel *model, int64_t examples, const char *const *lines,
                const fovea_search *search, fovea_listener listener, void *user,
                FoveaResult **result) {
  int code = checkEntry(model, "decode");
  return code
             ? code
             : textOf(model, examples, lines, search, {listener, user}, result);
}

static void cancel(FoveaModel *model) {
  if (model)
    model->isCancelled = true;
}

static int encode(FoveaModel *model, const fovea_batch *batch, double *logps) {
  int code = checkEntry(model, "decode");
  return code ? code : encodeOf(model, {nullptr, batch}, logps);
}

static int step(FoveaModel *model, int64_t rows, const int64_t *parents,
                const int64_t *symbols, double *logps) {
  int code = checkEntry(model, "decode");
  return code ? code : fovea_c_step(model, rows, parents, symbols, logps);
}

/// The image of a model refers to it (codegen/native/Image.cpp).
extern "C" const FoveaTable fovea_c_table;
const FoveaTable fovea_c_table = {
    .message = fovea_c_message,
    .create = fovea_c_create,
    .destroy = fovea_c_destroy,
    .about = about,
    .inputs = inputs,
    .input = input,
    .add = fovea_c_add,
    .random = fovea_c_random,
    .loss = loss,
    .grad = grad,
    .trainStep = trainStep,
    .run = run,
    .value = fovea_c_value,
    .decode = decode,
    .text = text,
    .cancel = cancel,
    .resultSize = fovea_c_result_size,
    .resultScore = scoreOf,
    .resultText = fovea_c_result_text,
    .resultValues = valuesOf,
    .resultShow = fovea_c_result_show,
    .resultDestroy = fovea_c_result_destroy,
    .encode = encode,
    .step = step,
    .parameter = fovea_c_parameter,
    .gradient = fovea_c_gradient,
    .parameterSize = fovea_c_parameter_size,
    .save = fovea_c_save,
    .id = fovea_c_id,
    .symbol = fovea_c_symbol,
    .ids = fovea_c_ids,
};
