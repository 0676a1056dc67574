//===- CInterface.cpp - what the functions of a header call ---------------===//

#include "runtime/data/Quantise.h"
#include "runtime/model/CGuard.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

using namespace fovea::runtime;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// The last message of this thread. It needs no memory allocation.
static thread_local char lastMessage[1024] = "";

int fovea::runtime::fail(FoveaCode code, std::string_view text) {
  size_t count = std::min(text.size(), sizeof(lastMessage) - 1);
  std::memcpy(lastMessage, text.data(), count);
  lastMessage[count] = '\0';
  return code;
}

void fovea::runtime::beginCall() { lastMessage[0] = '\0'; }

/// The maximum stack of compiled code: packed pieces of a product
/// (codegen/cpu/products/Product.cpp, Gemm.cpp), and its frames.
static constexpr size_t stackNeeded = size_t(1) << 20;

int fovea::runtime::checkStack() {
  // The query is slow on the first thread of a process.
  static thread_local const auto [lowest, size] = [] {
    pthread_attr_t attributes;
    void *address = nullptr;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &address, &bytes);
      pthread_attr_destroy(&attributes);
    }
    return std::pair(reinterpret_cast<uintptr_t>(address), bytes);
  }();
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  uintptr_t left = here - lowest;
  if (left > size)
    return foveaDone;
  if (left < stackNeeded)
    return fail(
        foveaBadCall,
        "too little stack left on this thread: compiled code needs 1 MB");
  // The stack of a process grows on demand. If the process has a memory limit,
  // a failed growth raises a signal. In a write by the kernel, it is an error
  // instead.
  bool hasGrown =
      syscall(SYS_getcpu, here - stackNeeded, nullptr, nullptr) == 0;
  return hasGrown || errno != EFAULT ? foveaDone
                                     : fail(foveaBadMachine, "out of memory");
}

std::vector<std::string> fovea::runtime::dataOf(const Program *program) {
  std::vector<std::string> names;
  if (program)
    for (const Program::Array &array : program->arrays)
      if (array.role == Program::Role::Data)
        names.push_back(array.name);
  return names;
}

/// Runs `work` with the batch of an entry.
template <typename Work>
static int withEntry(FoveaModel *model, const char *entry,
                     const GivenBatch &batch, Work work) {
  beginCall();
  return withBatch(
      model, batch, [&](Model &own) { return own.program(entry); }, work);
}

const char *fovea_c_message(void) { return lastMessage; }

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

int fovea_c_create(const FoveaImage *image, const char *weights, int threads,
                   FoveaModel **result) {
  beginCall();
  if (!result)
    return missing("the place of the model");
  *result = nullptr;
  if (threads < 0)
    return fail(foveaBadCall, "the number of threads is negative");
  return guarded([&]() -> int {
    auto model = std::make_unique<FoveaModel>();
    Status status = Model::create(*image,
                                  weights ? std::vector<std::string>{weights}
                                          : std::vector<std::string>{},
                                  threads, model->model);
    if (status.succeeded())
      *result = model.release();
    return codeOf(status);
  });
}

void fovea_c_destroy(FoveaModel *model) { delete model; }

int fovea_c_add(FoveaModel *model, const char *weights) {
  beginCall();
  return withModel(model, [&](Model &own) -> int {
    return weights ? codeOf(own.addMember(weights)) : missing("the path");
  });
}

int fovea_c_random(FoveaModel *model, int64_t seed, int64_t update) {
  beginCall();
  return withModel(model, [&](Model &own) -> int {
    own.setRandom(seed < 0 ? std::nullopt : std::optional<uint64_t>(seed),
                  update);
    return foveaDone;
  });
}

/// Copies what a caller wants of a result.
static void put(const BatchResult &result, double *loss, double *logp) {
  if (loss)
    *loss = result.loss;
  if (logp)
    std::copy(result.logp.begin(), result.logp.end(), logp);
}

int fovea::runtime::lossOf(FoveaModel *model, const GivenBatch &batch,
                           double *loss, double *logp) {
  return withEntry(
      model, "loss", batch,
      [&](Model &own, const std::vector<Example> &examples) -> int {
        BatchResult result;
        Status status = own.loss(examples, result);
        if (status.succeeded())
          put(result, loss, logp);
        return codeOf(status);
      });
}

int fovea::runtime::gradOf(FoveaModel *model, const GivenBatch &batch,
                           double *loss, double *logp) {
  return withEntry(
      model, "grad", batch,
      [&](Model &own, const std::vector<Example> &examples) -> int {
        BatchResult result;
        Status status = own.gradients(examples, result);
        if (status.succeeded())
          put(result, loss, logp);
        return codeOf(status);
      });
}

int fovea::runtime::trainStepOf(FoveaModel *model, const GivenBatch &batch,
                                int64_t seed, double *loss) {
  return withEntry(
      model, "grad", batch,
      [&](Model &own, const std::vector<Example> &examples) -> int {
        BatchResult result;
        Status status = own.trainStep(examples, seed, result);
        if (status.succeeded())
          put(result, loss, nullptr);
        return codeOf(status);
      });
}

int fovea::runtime::equationsOf(FoveaModel *model, const GivenBatch &batch) {
  return withEntry(model, "loss", batch,
                   [](Model &own, const std::vector<Example> &examples) -> int {
                     return codeOf(own.equations(examples));
                   });
}

int fovea_c_loss(FoveaModel *model, const void *batch, double *loss,
                 double *logp) {
  return lossOf(model, {batch}, loss, logp);
}

int fovea_c_grad(FoveaModel *model, const void *batch, double *loss,
                 double *logp) {
  return gradOf(model, {batch}, loss, logp);
}

int fovea_c_train_step(FoveaModel *model, const void *batch, int64_t seed,
                       double *loss) {
  return trainStepOf(model, {batch}, seed, loss);
}

int fovea_c_get(FoveaModel *model, const void *batch) {
  return equationsOf(model, {batch});
}

int64_t fovea_c_value(FoveaModel *model, int64_t example, const char *equation,
                      const double **values, const int64_t **shape) {
  beginCall();
  if (!equation) {
    missing("the name of the equation");
    return -1;
  }
  int64_t rank = -1;
  withModel(model, [&](Model &own) -> int {
    std::optional<DataValues> found = own.value(equation, example);
    if (!found)
      return fail(foveaBadCall, std::string("nothing gave '") + equation +
                                    "' of such an example");
    model->value = std::move(*found);
    rank = static_cast<int64_t>(model->value.shape.size());
    if (values)
      *values = model->value.values.data();
    if (shape)
      *shape = model->value.shape.data();
    return foveaDone;
  });
  return rank;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Returns the parameter of this number, or null (reported).
static const ParameterDescription *parameterOf(FoveaModel *model, int which) {
  beginCall();
  if (!model) {
    missing("the model");
    return nullptr;
  }
  const auto &parameters = model->model->about().parameters;
  if (which >= 0 && which < static_cast<int>(parameters.size()))
    return &parameters[which];
  fail(foveaBadCall, "no parameter has this number");
  return nullptr;
}

void *fovea_c_parameter(FoveaModel *model, int which) {
  void *result = nullptr;
  if (const ParameterDescription *parameter = parameterOf(model, which))
    withModel(model, [&](Model &own) -> int {
      if (isNarrow(parameter->path))
        return fail(foveaBadCall, "'" + parameter->path +
                                      "' has fewer bits and cannot be changed");
      result = own.parameter(parameter->path);
      return foveaDone;
    });
  return result;
}

void *fovea_c_gradient(FoveaModel *model, int which) {
  void *result = nullptr;
  if (const ParameterDescription *parameter = parameterOf(model, which))
    withModel(model, [&](Model &own) -> int {
      result = own.gradient(parameter->path);
      return result ? foveaDone
                    : fail(foveaBadCall, "there are no gradients yet");
    });
  return result;
}

int64_t fovea_c_parameter_size(FoveaModel *model, int which) {
  const ParameterDescription *parameter = parameterOf(model, which);
  if (!parameter)
    return -1;
  int64_t count = 1;
  for (int64_t extent : parameter->shape)
    count *= extent;
  return count;
}

const char *fovea_c_parameter_name(FoveaModel *model, int which) {
  const ParameterDescription *parameter = parameterOf(model, which);
  return parameter ? parameter->path.c_str() : nullptr;
}

int fovea_c_save(FoveaModel *model, const char *path) {
  beginCall();
  return withModel(model, [&](Model &own) -> int {
    return path ? codeOf(own.save(path), foveaBadMachine) : missing("the path");
  });
}

int fovea_c_metadata(FoveaModel *model, const char *key, const char *text) {
  beginCall();
  return withModel(model, [&](Model &own) -> int {
    if (!key || !text)
      return missing(key ? "the text" : "the key");
    for (const char *string : {key, text})
      if (size_t valid = validUtf8(string); string[valid] != '\0')
        return fail(foveaBadInput,
                    "byte " + std::to_string(valid + 1) + " is not UTF-8");
    own.setMetadata(key, text);
    return foveaDone;
  });
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// Returns the data of this name, or null (reported).
static const DataDescription *dataOf(FoveaModel *model, const char *name) {
  beginCall();
  if (!model || !name) {
    missing(model ? "the name of the data" : "the model");
    return nullptr;
  }
  for (const DataDescription &data : model->model->about().data)
    if (data.spec.name == name)
      return &data;
  fail(foveaBadCall, std::string("there is no data '") + name + "'");
  return nullptr;
}

int64_t fovea_c_id(FoveaModel *model, const char *name, const char *symbol) {
  const DataDescription *data = dataOf(model, name);
  if (!data)
    return -1;
  if (!symbol) {
    missing("the symbol");
    return -1;
  }
  int64_t id = -1;
  guarded([&]() -> int {
    std::optional<int64_t> found =
        model->model->words().idOf(data->text, symbol);
    id = found.value_or(-1);
    return found ? foveaDone
                 : fail(foveaBadInput,
                        std::string("'") + symbol + "' is not an id");
  });
  return id;
}

int64_t fovea_c_ids(FoveaModel *model, const char *name, const char *line,
                    int64_t room, int64_t *ids) {
  const DataDescription *data = dataOf(model, name);
  if (!data)
    return -1;
  if (!line || (!ids && room > 0)) {
    missing(line ? "the place of the ids" : "the line");
    return -1;
  }
  int64_t count = -1;
  guarded([&]() -> int {
    if (!data->text.isSymbols)
      return fail(foveaBadCall, std::string("'") + name + "' has no ids");
    if (size_t valid = validUtf8(line); line[valid] != '\0')
      return fail(foveaBadInput,
                  "byte " + std::to_string(valid + 1) + " is not UTF-8");
    std::string mistake;
    auto report = [&](std::string_view, const std::string &what) {
      if (mistake.empty())
        mistake = what;
    };
    DataValues values;
    Lengths lengths;
    if (!readLine(line, data->text, data->spec, model->model->words(), values,
                  lengths, report))
      return fail(foveaBadInput, mistake);
    count = static_cast<int64_t>(values.values.size());
    for (int64_t i = 0; i < std::min(count, room); ++i)
      ids[i] = static_cast<int64_t>(values.values[i]);
    return foveaDone;
  });
  return count;
}

const char *fovea_c_symbol(FoveaModel *model, const char *name, int64_t id) {
  const DataDescription *data = dataOf(model, name);
  if (!data)
    return nullptr;
  const std::vector<std::string> *symbols = &data->text.labels;
  if (const Vocabulary *found = model->model->words().find(data->text);
      found && symbols->empty())
    symbols = &found->byId;
  if (id >= 0 && id < static_cast<int64_t>(symbols->size()))
    return (*symbols)[id].c_str();
  fail(foveaBadCall, "no symbol has this id");
  return nullptr;
}
