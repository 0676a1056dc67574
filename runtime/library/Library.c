/*===- Library.c - opens the libraries of models --------------------------===
 *
 * libfovea_rt.so: loads the library of a model and passes each call to the
 * runtime inside it (Table.h). It computes nothing itself, so it needs only
 * libc.
 *
 *===----------------------------------------------------------------------===*/

#include "runtime/library/Table.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Visible outside of the library. */
#define SHOWN __attribute__((visibility("default")))

struct fovea_model {
  void *library;
  const struct FoveaTable *table;
  struct FoveaModel *own;
};

struct fovea_result {
  const struct FoveaTable *table;
  struct FoveaResult *own;
};

/* The last call of this thread: a model's runtime has the message, or we do. */
static _Thread_local const char *(*messageOfModel)(void);
static _Thread_local char ownMessage[1024];

static int fail(int code, const char *text) {
  messageOfModel = NULL;
  snprintf(ownMessage, sizeof(ownMessage), "%s", text);
  return code;
}

/* Begins a call: its message comes from this model. False: there is none. */
static int isModel(fovea_model *model) {
  if (!model)
    return fail(0, "the model is null");
  messageOfModel = model->table->message;
  return 1;
}

static int isResult(const fovea_result *result) {
  if (!result)
    return fail(0, "the result is null");
  messageOfModel = result->table->message;
  return 1;
}

SHOWN int fovea_version(void) { return foveaTableVersion; }

SHOWN const char *fovea_message(void) {
  return messageOfModel ? messageOfModel() : ownMessage;
}

/* A name without a slash is a file of this folder, and not of the system. */
static char *pathOf(const char *name) {
  size_t size = strlen(name) + 3;
  char *path = malloc(size);
  if (path)
    snprintf(path, size, "%s%s", strchr(name, '/') ? "" : "./", name);
  return path;
}

static int refused(fovea_model *opened, int code, const char *format,
                   const char *name) {
  char text[sizeof(ownMessage)];
  snprintf(text, sizeof(text), format, name);
  if (opened->library)
    dlclose(opened->library);
  free(opened);
  return fail(code, text);
}

SHOWN int fovea_model_open(const char *library, const char *weights,
                           int threads, fovea_model **model) {
  if (!library || !model)
    return fail(fovea_bad_call, library ? "the place of the model is null"
                                        : "the name of the library is null");
  *model = NULL;
  char *path = pathOf(library);
  fovea_model *opened = calloc(1, sizeof(*opened));
  if (!path || !opened) {
    free(path);
    free(opened);
    return fail(fovea_bad_machine, "out of memory");
  }
  opened->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  free(path);
  if (!opened->library)
    return refused(opened, fovea_bad_machine, "cannot load the model: %s",
                   dlerror());
  const struct FoveaLibrary *found = dlsym(opened->library, "fovea_library");
  if (!found)
    return refused(opened, fovea_bad_input,
                   "'%s' is no model; help: make one with "
                   "'fovea compile --emit so'",
                   library);
  if (found->version < foveaTableVersion)
    return refused(opened, fovea_bad_input,
                   "'%s' has an unknown version; help: compile it again",
                   library);
  opened->table = found->table;
  messageOfModel = opened->table->message;
  int code =
      opened->table->create(found->image, weights, threads, &opened->own);
  if (code != fovea_done)
    return refused(opened, code, "%s", opened->table->message());
  *model = opened;
  return fovea_done;
}

SHOWN void fovea_model_close(fovea_model *model) {
  if (!model)
    return;
  model->table->destroy(model->own);
  /* The message must not come from code that is gone. */
  fail(fovea_done, "");
  dlclose(model->library);
  free(model);
}

/* A function of fovea.h with a model: `name` of the table gets `arguments`;
 * without a model it returns `none`. */
#define OF_MODEL(result, name, entry, none, parameters, ...)                   \
  SHOWN result fovea_model_##name parameters {                                 \
    return isModel(model) ? model->table->entry(model->own, ##__VA_ARGS__)     \
                          : (none);                                            \
  }

OF_MODEL(const char *, about, about, NULL, (fovea_model * model))
OF_MODEL(int64_t, inputs, inputs, -1, (fovea_model * model))
OF_MODEL(const char *, input, input, NULL, (fovea_model * model, int64_t which),
         which)
OF_MODEL(int, add, add, fovea_bad_call,
         (fovea_model * model, const char *weights), weights)
OF_MODEL(int, random, random, fovea_bad_call,
         (fovea_model * model, int64_t seed, int64_t update), seed, update)
OF_MODEL(int, loss, loss, fovea_bad_call,
         (fovea_model * model, const fovea_batch *batch, double *loss,
          double *logp),
         batch, loss, logp)
OF_MODEL(int, grad, grad, fovea_bad_call,
         (fovea_model * model, const fovea_batch *batch, double *loss,
          double *logp),
         batch, loss, logp)
OF_MODEL(int, train_step, trainStep, fovea_bad_call,
         (fovea_model * model, const fovea_batch *batch, int64_t seed,
          double *loss),
         batch, seed, loss)
OF_MODEL(int, run, run, fovea_bad_call,
         (fovea_model * model, const fovea_batch *batch), batch)
OF_MODEL(int64_t, value, value, -1,
         (fovea_model * model, int64_t example, const char *equation,
          const double **values, const int64_t **shape),
         example, equation, values, shape)
OF_MODEL(int, encode, encode, fovea_bad_call,
         (fovea_model * model, const fovea_batch *batch, double *logps), batch,
         logps)
OF_MODEL(int, step, step, fovea_bad_call,
         (fovea_model * model, int64_t rows, const int64_t *parents,
          const int64_t *symbols, double *logps),
         rows, parents, symbols, logps)
OF_MODEL(void *, parameter, parameter, NULL, (fovea_model * model, int which),
         which)
OF_MODEL(void *, gradient, gradient, NULL, (fovea_model * model, int which),
         which)
OF_MODEL(int64_t, parameter_size, parameterSize, -1,
         (fovea_model * model, int which), which)
OF_MODEL(int, save, save, fovea_bad_call,
         (fovea_model * model, const char *path), path)
OF_MODEL(int64_t, id, id, -1,
         (fovea_model * model, const char *data, const char *symbol), data,
         symbol)
OF_MODEL(const char *, symbol, symbol, NULL,
         (fovea_model * model, const char *data, int64_t id), data, id)
OF_MODEL(int64_t, ids, ids, -1,
         (fovea_model * model, const char *data, const char *line, int64_t room,
          int64_t *ids),
         data, line, room, ids)

SHOWN void fovea_model_cancel(fovea_model *model) {
  if (model)
    model->table->cancel(model->own);
}

/* Begins a decoding: a place for its result, or null (reported). */
static fovea_result *newResult(fovea_model *model, fovea_result **place) {
  if (!isModel(model))
    return NULL;
  fovea_result *result = place ? calloc(1, sizeof(*result)) : NULL;
  if (!result)
    fail(0, place ? "out of memory" : "the place of the result is null");
  else
    result->table = model->table;
  if (place)
    *place = NULL;
  return result;
}

static int finished(int code, fovea_result *made, fovea_result **place) {
  if (code == fovea_done)
    *place = made;
  else
    free(made);
  return code;
}

SHOWN int fovea_model_decode(fovea_model *model, const fovea_batch *batch,
                             const fovea_search *search,
                             fovea_listener listener, void *user,
                             fovea_result **result) {
  fovea_result *made = newResult(model, result);
  if (!made)
    return model && result ? fovea_bad_machine : fovea_bad_call;
  return finished(model->table->decode(model->own, batch, search, listener,
                                       user, &made->own),
                  made, result);
}

SHOWN int fovea_model_text(fovea_model *model, int64_t examples,
                           const char *const *lines, const fovea_search *search,
                           fovea_listener listener, void *user,
                           fovea_result **result) {
  fovea_result *made = newResult(model, result);
  if (!made)
    return model && result ? fovea_bad_machine : fovea_bad_call;
  return finished(model->table->text(model->own, examples, lines, search,
                                     listener, user, &made->own),
                  made, result);
}

SHOWN int64_t fovea_result_size(const fovea_result *result, int64_t example) {
  return isResult(result) ? result->table->resultSize(result->own, example) : 0;
}

SHOWN int fovea_result_score(const fovea_result *result, int64_t example,
                             int64_t rank, double *logp, double *score) {
  return isResult(result) ? result->table->resultScore(result->own, example,
                                                       rank, logp, score)
                          : fovea_bad_call;
}

SHOWN const char *fovea_result_text(const fovea_result *result, int64_t example,
                                    int64_t rank, const char *name) {
  return isResult(result)
             ? result->table->resultText(result->own, example, rank, name)
             : NULL;
}

SHOWN int64_t fovea_result_values(const fovea_result *result, int64_t example,
                                  int64_t rank, const char *name,
                                  const void **values) {
  return isResult(result) ? result->table->resultValues(result->own, example,
                                                        rank, name, values)
                          : -1;
}

SHOWN int64_t fovea_result_show(const fovea_result *result, int64_t example,
                                int64_t rank, const char *equation,
                                const double **values, const int64_t **shape) {
  return isResult(result)
             ? result->table->resultShow(result->own, example, rank, equation,
                                         values, shape)
             : -1;
}

SHOWN void fovea_result_close(fovea_result *result) {
  if (!result)
    return;
  result->table->resultDestroy(result->own);
  free(result);
}
