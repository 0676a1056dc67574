/*===- addon.c - fovea.h for Node, by Node-API ----------------------------===
 *
 * index.js checks what it passes here. A call computes on a thread of Node's
 * pool and settles a promise; it is rejected with an array, [code, message].
 * A listener runs on Node's own thread, and the search waits for its answer.
 *
 *===----------------------------------------------------------------------===*/

#define NAPI_VERSION 8
#include <node_api.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fovea.h"

enum { numOptions = 9 };

/* An open model. Node's own thread alone changes it. */
struct Model {
  fovea_model *own; /* null: closed */
  int uses;         /* calls that run */
  bool isClosing;
};

/* A copy of an equation's value in one example. */
struct Value {
  int64_t rank;
  int64_t *shape;
  double *values;
  int64_t count;
};

enum Kind { Generate, Loss, Run };

/* One call: everything that its thread reads and writes. */
struct Call {
  enum Kind kind;
  struct Model *model;
  napi_ref keeps; /* the model, and the bytes of a batch */
  napi_async_work work;
  napi_deferred deferred;
  napi_threadsafe_function listener;
  int64_t examples;
  char **lines, **prefixes, **equations;
  uint32_t numLines, numPrefixes, numEquations;
  bool isBatch;
  fovea_batch batch;
  fovea_array *arrays;
  fovea_search search;
  int code;
  char message[1024];
  fovea_result *result;
  double loss, *logp;
  struct Value *values;
};

/* A value that waits for the answer of a listener. */
struct Heard {
  int64_t example;
  const char *name, *symbol;
  double value;
  int answer;
  bool isAnswered;
  pthread_mutex_t lock;
  pthread_cond_t changed;
};

/*===----------------------------------------------------------------------===
 * Values of JavaScript
 *===----------------------------------------------------------------------===*/

static napi_value number(napi_env env, double value) {
  napi_value result = NULL;
  napi_create_double(env, value, &result);
  return result;
}

static napi_value text(napi_env env, const char *value) {
  napi_value result = NULL;
  if (value)
    napi_create_string_utf8(env, value, NAPI_AUTO_LENGTH, &result);
  else
    napi_get_null(env, &result);
  return result;
}

static napi_value member(napi_env env, napi_value object, const char *name) {
  napi_value result = NULL;
  napi_get_named_property(env, object, name, &result);
  return result;
}

static bool isNothing(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  if (!value || napi_typeof(env, value, &type) != napi_ok)
    return true;
  return type == napi_undefined || type == napi_null;
}

/* A copy, which the caller frees. */
static char *copyText(napi_env env, napi_value value) {
  size_t size = 0;
  if (napi_get_value_string_utf8(env, value, NULL, 0, &size) != napi_ok)
    return NULL;
  char *copy = malloc(size + 1);
  if (copy)
    napi_get_value_string_utf8(env, value, copy, size + 1, &size);
  return copy;
}

static char **copyTexts(napi_env env, napi_value array, uint32_t *count) {
  *count = 0;
  uint32_t size = 0;
  if (isNothing(env, array) ||
      napi_get_array_length(env, array, &size) != napi_ok)
    return NULL;
  char **copies = calloc(size + 1, sizeof(char *));
  for (; copies && *count < size; ++*count) {
    napi_value item = NULL;
    napi_get_element(env, array, *count, &item);
    copies[*count] = copyText(env, item);
  }
  return copies;
}

static void freeTexts(char **texts, uint32_t count) {
  for (uint32_t i = 0; texts && i < count; ++i)
    free(texts[i]);
  free(texts);
}

static napi_value doubles(napi_env env, const double *values, int64_t count) {
  void *place = NULL;
  napi_value buffer = NULL, result = NULL;
  size_t size = (size_t)count * sizeof(double);
  napi_create_arraybuffer(env, size, &place, &buffer);
  if (place && size > 0)
    memcpy(place, values, size);
  napi_create_typedarray(env, napi_float64_array, (size_t)count, buffer, 0,
                         &result);
  return result;
}

static napi_value reason(napi_env env, int code, const char *message) {
  napi_value array = NULL;
  napi_create_array_with_length(env, 2, &array);
  napi_set_element(env, array, 0, number(env, code));
  napi_set_element(env, array, 1, text(env, message));
  return array;
}

static napi_value refuse(napi_env env, int code, const char *message) {
  napi_throw(env, reason(env, code, message));
  return NULL;
}

/* The arguments of a function; those that are not given are undefined. */
static void arguments(napi_env env, napi_callback_info info, size_t count,
                      napi_value *values) {
  napi_get_cb_info(env, info, &count, values, NULL, NULL);
}

/*===----------------------------------------------------------------------===
 * Models
 *===----------------------------------------------------------------------===*/

static void closeIfIdle(struct Model *model) {
  if (model->uses > 0 || !model->own)
    return;
  fovea_model_close(model->own);
  model->own = NULL;
}

static void forget(napi_env env, void *data, void *hint) {
  (void)env, (void)hint;
  closeIfIdle(data);
  free(data);
}

static struct Model *modelOf(napi_env env, napi_value value) {
  void *model = NULL;
  napi_get_value_external(env, value, &model);
  return model;
}

static napi_value openModel(napi_env env, napi_callback_info info) {
  napi_value given[3], result = NULL;
  arguments(env, info, 3, given);
  char *library = copyText(env, given[0]);
  char *weights = isNothing(env, given[1]) ? NULL : copyText(env, given[1]);
  int32_t threads = 0;
  napi_get_value_int32(env, given[2], &threads);
  struct Model *model = calloc(1, sizeof(*model));
  int code = model ? fovea_model_open(library, weights, threads, &model->own)
                   : fovea_bad_machine;
  free(library);
  free(weights);
  if (code != fovea_done) {
    free(model);
    return refuse(env, code, model ? fovea_message() : "out of memory");
  }
  napi_create_external(env, model, forget, NULL, &result);
  return result;
}

static napi_value about(napi_env env, napi_callback_info info) {
  napi_value given[1];
  arguments(env, info, 1, given);
  return text(env, fovea_model_about(modelOf(env, given[0])->own));
}

static napi_value cancel(napi_env env, napi_callback_info info) {
  napi_value given[1];
  arguments(env, info, 1, given);
  fovea_model_cancel(modelOf(env, given[0])->own);
  return NULL;
}

/* A call that runs ends first. */
static napi_value closeModel(napi_env env, napi_callback_info info) {
  napi_value given[1];
  arguments(env, info, 1, given);
  struct Model *model = modelOf(env, given[0]);
  model->isClosing = true;
  closeIfIdle(model);
  return NULL;
}

/*===----------------------------------------------------------------------===
 * On a thread of the pool
 *===----------------------------------------------------------------------===*/

/* On Node's thread: asks the listener. Without `env`, Node is about to end. */
static void ask(napi_env env, napi_value listener, void *context, void *data) {
  (void)context;
  struct Heard *heard = data;
  int answer = 0;
  if (env) {
    napi_value nothing = NULL, result = NULL;
    napi_get_undefined(env, &nothing);
    napi_value given[] = {number(env, (double)heard->example),
                          text(env, heard->name), number(env, heard->value),
                          text(env, heard->symbol)};
    bool goesOn = false;
    if (napi_call_function(env, nothing, listener, 4, given, &result) ==
            napi_ok &&
        napi_get_value_bool(env, result, &goesOn) == napi_ok)
      answer = goesOn;
  }
  pthread_mutex_lock(&heard->lock);
  heard->answer = answer;
  heard->isAnswered = true;
  pthread_cond_signal(&heard->changed);
  pthread_mutex_unlock(&heard->lock);
}

static int hear(void *user, int64_t example, const char *name, double value,
                const char *symbol) {
  struct Call *call = user;
  struct Heard heard = {.example = example,
                        .name = name,
                        .symbol = symbol,
                        .value = value,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER};
  if (napi_call_threadsafe_function(call->listener, &heard,
                                    napi_tsfn_blocking) != napi_ok)
    return 0;
  pthread_mutex_lock(&heard.lock);
  while (!heard.isAnswered)
    pthread_cond_wait(&heard.changed, &heard.lock);
  pthread_mutex_unlock(&heard.lock);
  return heard.answer;
}

/* Copies the values of the equations before another call changes them. */
static int copyValues(struct Call *call) {
  size_t count = (size_t)call->numEquations * (size_t)call->examples;
  call->values = calloc(count + 1, sizeof(struct Value));
  for (size_t i = 0; call->values && i < count; ++i) {
    struct Value *value = &call->values[i];
    const double *values = NULL;
    const int64_t *shape = NULL;
    int64_t example = (int64_t)i % call->examples;
    const char *name = call->equations[(int64_t)i / call->examples];
    value->rank =
        fovea_model_value(call->model->own, example, name, &values, &shape);
    if (value->rank < 0)
      return fovea_bad_call;
    value->count = 1;
    for (int64_t axis = 0; axis < value->rank; ++axis)
      value->count *= shape[axis];
    value->shape = malloc((size_t)(value->rank + 1) * sizeof(int64_t));
    value->values = malloc((size_t)(value->count + 1) * sizeof(double));
    if (!value->shape || !value->values)
      return fovea_bad_machine;
    if (value->rank > 0)
      memcpy(value->shape, shape, (size_t)value->rank * sizeof(int64_t));
    if (value->count > 0)
      memcpy(value->values, values, (size_t)value->count * sizeof(double));
  }
  return call->values ? fovea_done : fovea_bad_machine;
}

static void compute(napi_env env, void *data) {
  (void)env;
  struct Call *call = data;
  fovea_model *model = call->model->own;
  fovea_listener listener = call->listener ? hear : NULL;
  if (call->kind == Generate && call->isBatch)
    call->code = fovea_model_decode(model, &call->batch, &call->search,
                                    listener, call, &call->result);
  else if (call->kind == Generate)
    call->code = fovea_model_text(model, call->numLines,
                                  (const char *const *)call->lines,
                                  &call->search, listener, call, &call->result);
  else if (call->kind == Loss)
    call->code = fovea_model_loss(model, &call->batch, &call->loss, call->logp);
  else
    call->code = fovea_model_run(model, &call->batch);
  if (call->kind == Run && call->code == fovea_done)
    call->code = copyValues(call);
  /* The message belongs to this thread. */
  if (call->code != fovea_done)
    snprintf(call->message, sizeof(call->message), "%s", fovea_message());
}

/*===----------------------------------------------------------------------===
 * Back on Node's thread
 *===----------------------------------------------------------------------===*/

static napi_value hypotheses(napi_env env, const struct Call *call) {
  napi_value all = NULL;
  napi_create_array(env, &all);
  for (int64_t i = 0; i < call->examples; ++i) {
    napi_value own = NULL;
    napi_create_array(env, &own);
    int64_t count = fovea_result_size(call->result, i);
    for (int64_t rank = 0; rank < count; ++rank) {
      double logp = 0, score = 0;
      fovea_result_score(call->result, i, rank, &logp, &score);
      napi_value one = NULL;
      napi_create_object(env, &one);
      napi_set_named_property(
          env, one, "text",
          text(env, fovea_result_text(call->result, i, rank, NULL)));
      napi_set_named_property(env, one, "logp", number(env, logp));
      napi_set_named_property(env, one, "score", number(env, score));
      napi_set_element(env, own, (uint32_t)rank, one);
    }
    napi_set_element(env, all, (uint32_t)i, own);
  }
  return all;
}

static napi_value lossOf(napi_env env, const struct Call *call) {
  napi_value pair = NULL;
  napi_create_array_with_length(env, 2, &pair);
  napi_set_element(env, pair, 0, number(env, call->loss));
  napi_set_element(env, pair, 1, doubles(env, call->logp, call->examples));
  return pair;
}

static napi_value valuesOf(napi_env env, const struct Call *call) {
  napi_value all = NULL;
  napi_create_array(env, &all);
  uint32_t count = call->numEquations * (uint32_t)call->examples;
  for (uint32_t i = 0; i < count; ++i) {
    const struct Value *value = &call->values[i];
    napi_value one = NULL, shape = NULL;
    napi_create_object(env, &one);
    napi_create_array(env, &shape);
    for (int64_t axis = 0; axis < value->rank; ++axis)
      napi_set_element(env, shape, (uint32_t)axis,
                       number(env, (double)value->shape[axis]));
    napi_set_named_property(env, one, "shape", shape);
    napi_set_named_property(env, one, "values",
                            doubles(env, value->values, value->count));
    napi_set_element(env, all, i, one);
  }
  return all;
}

static void freeCall(napi_env env, struct Call *call) {
  fovea_result_close(call->result);
  for (size_t i = 0;
       call->values && i < (size_t)call->numEquations * (size_t)call->examples;
       ++i) {
    free(call->values[i].shape);
    free(call->values[i].values);
  }
  free(call->values);
  freeTexts(call->lines, call->numLines);
  freeTexts(call->prefixes, call->numPrefixes);
  freeTexts(call->equations, call->numEquations);
  for (int64_t i = 0; call->arrays && i < call->batch.count; ++i)
    free((char *)call->arrays[i].name);
  free(call->arrays);
  free(call->logp);
  if (call->listener)
    napi_release_threadsafe_function(call->listener, napi_tsfn_release);
  if (call->keeps)
    napi_delete_reference(env, call->keeps);
  if (call->work)
    napi_delete_async_work(env, call->work);
  free(call);
}

static void finish(napi_env env, napi_status status, void *data) {
  (void)status;
  struct Call *call = data;
  if (call->code != fovea_done)
    napi_reject_deferred(env, call->deferred,
                         reason(env, call->code, call->message));
  else
    napi_resolve_deferred(env, call->deferred,
                          call->kind == Generate ? hypotheses(env, call)
                          : call->kind == Loss   ? lossOf(env, call)
                                                 : valuesOf(env, call));
  struct Model *model = call->model;
  freeCall(env, call);
  --model->uses;
  if (model->isClosing)
    closeIfIdle(model);
}

/* The arrays of index.js, whose bytes `keeps` holds. */
static bool takeBatch(napi_env env, napi_value arrays, struct Call *call) {
  uint32_t count = 0;
  napi_get_array_length(env, arrays, &count);
  call->arrays = calloc(count + 1, sizeof(fovea_array));
  if (!call->arrays)
    return false;
  for (uint32_t i = 0; i < count; ++i) {
    napi_value item = NULL;
    napi_get_element(env, arrays, i, &item);
    size_t rank = 0, size = 0;
    void *shape = NULL, *bytes = NULL;
    fovea_array *array = &call->arrays[i];
    napi_get_typedarray_info(env, member(env, item, "shape"), NULL, &rank,
                             &shape, NULL, NULL);
    napi_get_typedarray_info(env, member(env, item, "bytes"), NULL, &size,
                             &bytes, NULL, NULL);
    napi_get_value_int64(env, member(env, item, "type"), &array->type);
    array->name = copyText(env, member(env, item, "name"));
    array->rank = (int64_t)rank;
    /* An empty array has no address. */
    static const int64_t nothing;
    array->shape = shape ? shape : &nothing;
    array->values = bytes ? bytes : &nothing;
  }
  call->isBatch = true;
  call->batch = (fovea_batch){call->examples, count, call->arrays};
  return true;
}

static void takeSearch(napi_env env, napi_value search, struct Call *call) {
  size_t count = 0;
  double *given = NULL;
  napi_get_typedarray_info(env, member(env, search, "numbers"), NULL, &count,
                           (void **)&given, NULL, NULL);
  call->prefixes =
      copyTexts(env, member(env, search, "prefixes"), &call->numPrefixes);
  if (!given || count != numOptions)
    return;
  call->search = (fovea_search){.beam = (int64_t)given[0],
                                .nbest = (int64_t)given[1],
                                .max_length = (int64_t)given[2],
                                .min_length = (int64_t)given[3],
                                .sample = (int64_t)given[4],
                                .seed = (int64_t)given[5],
                                .top_k = (int64_t)given[6],
                                .temperature = given[7],
                                .top_p = given[8]};
  call->search.prefixes = (const char *const *)call->prefixes;
}

/* Begins a call. `given`: model, examples, and what `kind` needs. */
static napi_value begin(napi_env env, enum Kind kind, napi_value *given,
                        size_t count) {
  struct Model *model = modelOf(env, given[0]);
  if (model->isClosing)
    return refuse(env, fovea_bad_call, "the model is closed");
  struct Call *call = calloc(1, sizeof(*call));
  if (!call)
    return refuse(env, fovea_bad_machine, "out of memory");
  call->kind = kind;
  call->model = model;
  napi_get_value_int64(env, given[1], &call->examples);
  napi_value lines = kind == Generate ? given[2] : NULL;
  napi_value arrays = kind == Generate ? given[3] : given[2];
  call->lines = copyTexts(env, lines, &call->numLines);
  if (kind == Run)
    call->equations = copyTexts(env, given[3], &call->numEquations);
  if (kind == Generate)
    takeSearch(env, given[4], call);
  call->logp = calloc((size_t)call->examples + 1, sizeof(double));
  if (!call->logp ||
      (!isNothing(env, arrays) && !takeBatch(env, arrays, call))) {
    freeCall(env, call);
    return refuse(env, fovea_bad_machine, "out of memory");
  }
  napi_value kept = NULL, name = text(env, "fovea"), promise = NULL;
  napi_create_array(env, &kept);
  for (size_t i = 0; i < count; ++i)
    napi_set_element(env, kept, (uint32_t)i, given[i]);
  napi_create_reference(env, kept, 1, &call->keeps);
  if (kind == Generate && !isNothing(env, given[5]))
    napi_create_threadsafe_function(env, given[5], NULL, name, 0, 1, NULL, NULL,
                                    NULL, ask, &call->listener);
  napi_create_promise(env, &call->deferred, &promise);
  napi_create_async_work(env, NULL, name, compute, finish, call, &call->work);
  ++model->uses;
  napi_queue_async_work(env, call->work);
  return promise;
}

static napi_value generate(napi_env env, napi_callback_info info) {
  napi_value given[6];
  arguments(env, info, 6, given);
  return begin(env, Generate, given, 6);
}

static napi_value loss(napi_env env, napi_callback_info info) {
  napi_value given[3];
  arguments(env, info, 3, given);
  return begin(env, Loss, given, 3);
}

static napi_value run(napi_env env, napi_callback_info info) {
  napi_value given[4];
  arguments(env, info, 4, given);
  return begin(env, Run, given, 4);
}

NAPI_MODULE_INIT() {
  const struct {
    const char *name;
    napi_callback call;
  } all[] = {{"open", openModel},   {"close", closeModel}, {"about", about},
             {"cancel", cancel},    {"loss", loss},        {"run", run},
             {"generate", generate}};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
    napi_value function = NULL;
    napi_create_function(env, all[i].name, NAPI_AUTO_LENGTH, all[i].call, NULL,
                         &function);
    napi_set_named_property(env, exports, all[i].name, function);
  }
  return exports;
}
