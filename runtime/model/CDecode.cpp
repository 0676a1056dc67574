//===- CDecode.cpp - generating from C ------------------------------------===//

#include "runtime/model/CGuard.h"
#include "runtime/model/LineText.h"
#include "runtime/model/LoadData.h"

#include <cstring>

using namespace fovea::runtime;

namespace {

/// The values of one generated name in the C interface.
struct Values {
  std::string name;
  std::vector<int64_t> whole;
  std::vector<double> real;
};

struct Hypothesis {
  double logp = 0, score = 0;
  int64_t steps = 0, ended = 0;
  std::vector<Values> outputs;              // by generated name
  std::map<std::string, std::string> texts; // the same; all: by nothing
  std::map<std::string, DataValues> shows;
};

} // namespace

struct FoveaResult {
  std::vector<std::vector<Hypothesis>> examples;
};

//===----------------------------------------------------------------------===//
// Searches
//===----------------------------------------------------------------------===//

static Status optionsOf(const FoveaSearch *search, SearchOptions &options) {
  options.nbest = 1;
  if (!search)
    return Status::success();
  for (int64_t number : {search->beam, search->nbest, search->max_length,
                         search->min_length, search->seed, search->top_k})
    if (number < 0)
      return Status::error("an option of the search is negative");
  if (search->beam > 0)
    options.beam = search->beam;
  if (search->nbest > 0)
    options.nbest = search->nbest;
  if (search->max_length > 0)
    options.longest = search->max_length;
  if (search->min_length > 0)
    options.shortest = search->min_length;
  options.sample = search->sample != 0;
  options.seed = search->seed;
  options.topK = search->top_k;
  if (search->temperature != 0)
    options.temperature = search->temperature;
  if (search->top_p != 0)
    options.topP = search->top_p;
  if (!(options.temperature > 0) || !(options.topP > 0 && options.topP <= 1))
    return Status::error(
        "the temperature must be above 0, and top_p above 0 and at most 1");
  if (!options.sample && options.nbest > options.beam)
    return Status::error("the number of hypotheses exceeds the beam size");
  return Status::success();
}

static Hypothesis hypothesisOf(const Description &description,
                               const LineText &text, const Example &example,
                               const Generated &generated) {
  Hypothesis result;
  result.texts[""] = text.textOf(example, generated);
  result.logp = generated.logp;
  result.score = generated.score;
  result.steps = generated.steps;
  result.ended = generated.ended;
  for (const DataDescription &data : description.data) {
    if (!data.isChosen)
      continue;
    Values &own = result.outputs.emplace_back();
    own.name = data.spec.name;
    auto found = generated.outputs.find(data.spec.name);
    if (found == generated.outputs.end())
      continue;
    result.texts[data.spec.name] = text.textOf(data, example, generated);
    for (double value : found->second.values)
      if (data.spec.kind == DataKind::Real)
        own.real.push_back(value);
      else
        own.whole.push_back(static_cast<int64_t>(value));
  }
  for (const ShownEquation &equation : description.shows)
    result.shows[equation.name] = generated.outputs.at(equation.name);
  return result;
}

static const Program *encoderOf(const Model &model) {
  const Description &about = model.about();
  return about.hasDecoder ? &about.decoder.programs[about.decoder.encode]
                          : nullptr;
}

/// Lets a listener hear what a search chooses, with its symbol.
static Status attach(FoveaModel &model, Listener listener,
                     SearchOptions &options) {
  options.isCancelled = [&model] {
    return model.isCancelled.load(std::memory_order_relaxed);
  };
  if (!listener.function)
    return Status::success();
  if (options.beam > 1 && !options.sample)
    return Status::error("a listener needs a beam of 1, or samples");
  options.listen = [&model, listener](int64_t example, const std::string &name,
                                      double value) {
    constexpr double mostSymbols = 1e9;
    const char *symbol =
        value >= 0 && value < mostSymbols
            ? fovea_c_symbol(&model, name.c_str(), static_cast<int64_t>(value))
            : nullptr;
    beginCall(); // what is no symbol is no mistake here
    return listener.function(listener.user, example, name.c_str(), value,
                             symbol) != 0;
  };
  return Status::success();
}

/// Decodes examples, which get the prefixes of the search.
static int generate(FoveaModel &model, std::vector<Example> &examples,
                    const FoveaSearch *search, Listener listener,
                    FoveaResult **result) {
  model.isCancelled = false;
  Model &own = *model.model;
  const Description &about = own.about();
  LineText text(about, own.words(), *encoderOf(own));
  SearchOptions options = about.search;
  if (Status status = optionsOf(search, options); status.failed())
    return codeOf(status, foveaBadCall);
  if (Status status = attach(model, listener, options); status.failed())
    return codeOf(status, foveaBadCall);
  for (size_t i = 0; search && search->prefixes && i < examples.size(); ++i) {
    if (!search->prefixes[i])
      continue;
    if (Status status = text.readPrefix("", search->prefixes[i], examples[i]);
        status.failed())
      return fail(foveaBadInput,
                  "prefix " + std::to_string(i + 1) + ": " + status.text());
  }
  for (const DataDescription &data : about.data)
    for (Example &example : examples)
      if (data.spec.name == about.unknown.given)
        nameWords(example, data.text, own.words());
  std::vector<std::vector<Generated>> found;
  Status status = own.decode(examples, options, found);
  // A search that ended before it heard of it has its result.
  if (model.isCancelled.exchange(false) && status.failed())
    return fail(foveaCancelled, status.text());
  if (status.failed())
    return codeOf(status);
  auto made = std::make_unique<FoveaResult>();
  for (size_t i = 0; i < found.size(); ++i) {
    std::vector<Hypothesis> &list = made->examples.emplace_back();
    for (const Generated &one : found[i])
      list.push_back(hypothesisOf(about, text, examples[i], one));
  }
  *result = made.release();
  return foveaDone;
}

int fovea::runtime::decodeOf(FoveaModel *model, const GivenBatch &batch,
                             const FoveaSearch *search, Listener listener,
                             FoveaResult **result) {
  beginCall();
  if (!result)
    return missing("the place of the result");
  *result = nullptr;
  return withBatch(model, batch, encoderOf,
                   [&](Model &, std::vector<Example> &examples) -> int {
                     return generate(*model, examples, search, listener,
                                     result);
                   });
}

int fovea::runtime::textOf(FoveaModel *model, int64_t examples,
                           const char *const *lines, const FoveaSearch *search,
                           Listener listener, FoveaResult **result) {
  beginCall();
  if (!result)
    return missing("the place of the result");
  *result = nullptr;
  if (examples < 1)
    return fail(foveaBadCall, "there is no example");
  return withModel(model, [&](Model &own) -> int {
    if (int code = checkStack())
      return code;
    LineText text(own.about(), own.words(), *encoderOf(own), loadData);
    if (const DataDescription *data = text.unreadable())
      return fail(foveaBadCall,
                  "'" + data->spec.name +
                      "' is numbers, which a line of text cannot contain");
    std::vector<Example> all(examples);
    for (int64_t i = 0; i < examples && !text.inputs().empty(); ++i) {
      if (!lines || !lines[i])
        return missing("a line");
      all[i].id = i;
      if (Status status = text.read(lines[i], i + 1, all[i]); status.failed())
        return fail(foveaBadInput,
                    "line " + std::to_string(i + 1) + ": " + status.text());
    }
    return generate(*model, all, search, listener, result);
  });
}

int fovea_c_decode(FoveaModel *model, const void *batch,
                   const FoveaSearch *search, FoveaResult **result) {
  return decodeOf(model, {batch}, search, {}, result);
}

int fovea_c_text(FoveaModel *model, int64_t examples, const char *const *lines,
                 const FoveaSearch *search, FoveaResult **result) {
  return fovea::runtime::textOf(model, examples, lines, search, {}, result);
}

int64_t fovea_c_result_size(const FoveaResult *result, int64_t example) {
  if (!result || example < 0 ||
      example >= static_cast<int64_t>(result->examples.size()))
    return 0;
  return static_cast<int64_t>(result->examples[example].size());
}

/// The hypothesis of an example, or null (reported).
static const Hypothesis *hypothesisAt(const FoveaResult *result,
                                      int64_t example, int64_t rank) {
  beginCall();
  if (rank >= 0 && rank < fovea_c_result_size(result, example))
    return &result->examples[example][rank];
  fail(foveaBadCall, "there is no such hypothesis");
  return nullptr;
}

int fovea_c_result_get(const FoveaResult *result, int64_t example, int64_t rank,
                       void *hypothesis) {
  beginCall();
  if (!hypothesis)
    return missing("the place of the hypothesis");
  const Hypothesis *found = hypothesisAt(result, example, rank);
  if (!found)
    return foveaBadCall;
  const Hypothesis &own = *found;
  auto *to = static_cast<std::byte *>(hypothesis);
  auto put = [&](const auto &value) {
    static_assert(sizeof(value) == 8);
    std::memcpy(to, static_cast<const void *>(&value), sizeof(value));
    to += sizeof(value);
  };
  put(own.logp);
  put(own.score);
  put(own.steps);
  put(own.ended);
  for (const Values &values : own.outputs) {
    bool isReal = values.whole.empty();
    put(isReal ? static_cast<const void *>(values.real.data())
               : static_cast<const void *>(values.whole.data()));
    put(static_cast<int64_t>(isReal ? values.real.size()
                                    : values.whole.size()));
  }
  return foveaDone;
}

/// Reports an unknown generated name, and returns -1.
static int noName(const char *name) {
  fail(foveaBadCall, "there is no generated name '" + std::string(name) + "'");
  return -1;
}

int fovea::runtime::scoreOf(const FoveaResult *result, int64_t example,
                            int64_t rank, double *logp, double *score) {
  const Hypothesis *own = hypothesisAt(result, example, rank);
  if (!own)
    return foveaBadCall;
  if (logp)
    *logp = own->logp;
  if (score)
    *score = own->score;
  return foveaDone;
}

int64_t fovea::runtime::valuesOf(const FoveaResult *result, int64_t example,
                                 int64_t rank, const char *name,
                                 const void **values) {
  const Hypothesis *own = hypothesisAt(result, example, rank);
  if (!own)
    return -1;
  for (const Values &found : own->outputs) {
    if (!name || found.name != name)
      continue;
    bool isReal = found.whole.empty();
    if (values)
      *values = isReal ? static_cast<const void *>(found.real.data())
                       : static_cast<const void *>(found.whole.data());
    return static_cast<int64_t>(isReal ? found.real.size()
                                       : found.whole.size());
  }
  return noName(name ? name : "");
}

int64_t fovea_c_result_show(const FoveaResult *result, int64_t example,
                            int64_t rank, const char *equation,
                            const double **values, const int64_t **shape) {
  beginCall();
  if (!equation || !values || !shape) {
    missing(!equation ? "the name of the equation"
            : !values ? "the place of the values"
                      : "the place of the extents");
    return -1;
  }
  const Hypothesis *own = hypothesisAt(result, example, rank);
  if (!own)
    return -1;
  const auto &shows = own->shows;
  auto found = shows.find(equation);
  if (found == shows.end()) {
    fail(foveaBadCall,
         "there is no shown equation '" + std::string(equation) + "'");
    return -1;
  }
  *values = found->second.values.data();
  *shape = found->second.shape.data();
  return static_cast<int64_t>(found->second.shape.size());
}

const char *fovea_c_result_text(const FoveaResult *result, int64_t example,
                                int64_t rank, const char *data) {
  const Hypothesis *own = hypothesisAt(result, example, rank);
  if (!own)
    return nullptr;
  const auto &texts = own->texts;
  auto found = texts.find(data ? data : "");
  if (found != texts.end())
    return found->second.c_str();
  noName(data);
  return nullptr;
}

void fovea_c_result_destroy(FoveaResult *result) { delete result; }

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

int fovea::runtime::encodeOf(FoveaModel *model, const GivenBatch &batch,
                             double *logps) {
  beginCall();
  if (!model)
    return missing("the model");
  if (!logps)
    return missing("the place of log p");
  return withBatch(model, batch, encoderOf,
                   [&](Model &own, std::vector<Example> &examples) -> int {
                     return codeOf(own.encode(std::move(examples), logps));
                   });
}

int fovea_c_encode(FoveaModel *model, const void *batch, double *logps) {
  return encodeOf(model, {batch}, logps);
}

int fovea_c_step(FoveaModel *model, int64_t rows, const int64_t *parents,
                 const int64_t *symbols, double *logps) {
  beginCall();
  if (!model)
    return missing("the model");
  if (!parents || !symbols || !logps)
    return missing("an array");
  if (rows < 1)
    return fail(foveaBadCall, "a step has at least one row");
  return withModel(model, [&](Model &own) -> int {
    if (int code = checkStack())
      return code;
    return codeOf(
        own.step({parents, parents + rows}, {symbols, symbols + rows}, logps));
  });
}
