//===- fovea.h - opens any compiled model --------------------------------===//
//
// For models that `fovea compile --emit so` has made.
//
// Unlike the header of a model, this one serves all models: a program that
// links libfovea_rt.so may open any of them, by the name of its file, and ask
// what it has. The code that computes is inside the model, so a model keeps its
// bits.
//
// Compatibility: functions and structs of version 1 never change. Later
// versions only add functions. A model of another version is refused with a
// message.
//
// Strings are UTF-8. A function that returns `int` returns one of the codes
// below; if that is not `fovea_done`, `fovea_message` has a sentence about it.
// A model serves one thread at a time: the others get `fovea_busy`. Nothing
// here ends the process.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_H
#define FOVEA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  fovea_done = 0,
  fovea_bad_input = 1,   /* a batch, a line, weights */
  fovea_bad_call = 2,    /* null where something is needed, no such entry */
  fovea_bad_machine = 3, /* memory, disk, a library that cannot be loaded */
  fovea_busy = 4,        /* another thread uses the model */
  fovea_cancelled = 5    /* by fovea_model_cancel */
};

/* The types of the elements of an array. */
enum { fovea_f32 = 0, fovea_f64 = 1, fovea_i64 = 2, fovea_u8 = 3 };

typedef struct fovea_model fovea_model;
typedef struct fovea_result fovea_result;

/* An array of a batch, of which nothing is kept after the call. As in a batch
 * file, `src` has the examples as its first axis and is padded at the end, and
 * `src.length` (i64) has the length of each example. The second length of a
 * name is `src.length.2`. */
typedef struct fovea_array {
  const char *name;
  int64_t type; /* fovea_f32 .. */
  int64_t rank;
  const int64_t *shape; /* `rank` extents */
  const void *values;
} fovea_array;

typedef struct fovea_batch {
  int64_t examples; /* how many, for a model without inputs; otherwise it may be
                       0 */
  int64_t count;
  const fovea_array *arrays;
} fovea_batch;

/* How to generate. Zeros stand for what the spec says, or for nothing. */
typedef struct fovea_search {
  int64_t beam, nbest, max_length, min_length;
  int64_t sample; /* not 0: draws instead of searching, `nbest` times */
  int64_t seed, top_k;
  double temperature, top_p;
  const char *const *prefixes; /* of each example, or null */
} fovea_search;

/* Hears each value as soon as it is generated, with its symbol, or null if it
 * has none. `symbol` and `name` live until the function returns. A return of 0
 * ends the search of this example. It may not call functions of the same model,
 * other than fovea_model_cancel. */
typedef int (*fovea_listener)(void *user, int64_t example, const char *name,
                              double value, const char *symbol);

/* The version of this interface: 1. */
int fovea_version(void);

/* One sentence about the last call of this thread; empty if it succeeded. */
const char *fovea_message(void);

/* Opens the library of a model. `weights` is a safetensors file, or null for
 * those inside. `threads` 0: one for each CPU. The caller closes the model. */
int fovea_model_open(const char *library, const char *weights, int threads,
                     fovea_model **model);
void fovea_model_close(fovea_model *model);

/* What the model has, as JSON that lives as long as the model:
 * {"model", "compiler", "cpu", "type", "entries": [..], "data": [{"name",
 * "kind", "axes": [..], "generated", "text"}], "parameters": [{"name",
 * "shape"}], "equations":
 * [..]}. An axis is a number or the name of a length. `text` says whether a
 * line of text can contain the data. */
const char *fovea_model_about(fovea_model *model);
/* The number of names of data, and each name; null if there is none. */
int64_t fovea_model_inputs(fovea_model *model);
const char *fovea_model_input(fovea_model *model, int64_t which);

/* Adds weights as a member of an ensemble, which generates jointly. */
int fovea_model_add(fovea_model *model, const char *weights);
/* The seed of dropout and noise, and the number of the update; a negative seed
 * turns both off. */
int fovea_model_random(fovea_model *model, int64_t seed, int64_t update);

/* The loss of a batch, and log p of each example. Each place may be null. */
int fovea_model_loss(fovea_model *model, const fovea_batch *batch, double *loss,
                     double *logp);
/* The same, and the gradients (fovea_model_gradient). */
int fovea_model_grad(fovea_model *model, const fovea_batch *batch, double *loss,
                     double *logp);
/* One update by the optimiser of the spec's `train` block. */
int fovea_model_train_step(fovea_model *model, const fovea_batch *batch,
                           int64_t seed, double *loss);
/* Computes the equations that the model was compiled with (`--get`). */
int fovea_model_run(fovea_model *model, const fovea_batch *batch);
/* The rank, values and extents of one of them, until the next call; -1: there
 * is none. */
int64_t fovea_model_value(fovea_model *model, int64_t example,
                          const char *equation, const double **values,
                          const int64_t **shape);

/* Generates from a batch, or from lines of text as the program of the model
 * reads them. `search` and `listener` may be null. A listener needs a beam of
 * 1, or samples. The caller closes the result. */
int fovea_model_decode(fovea_model *model, const fovea_batch *batch,
                       const fovea_search *search, fovea_listener listener,
                       void *user, fovea_result **result);
int fovea_model_text(fovea_model *model, int64_t examples,
                     const char *const *lines, const fovea_search *search,
                     fovea_listener listener, void *user,
                     fovea_result **result);
/* From any thread, or from a listener: the decoding that is running ends after
 * its step, with the code `fovea_cancelled` and without a result. */
void fovea_model_cancel(fovea_model *model);

/* The number of hypotheses of an example, best first. */
int64_t fovea_result_size(const fovea_result *result, int64_t example);
int fovea_result_score(const fovea_result *result, int64_t example,
                       int64_t rank, double *logp, double *score);
/* The text of one generated name or, for null, of all. It lives as long as the
 * result. */
const char *fovea_result_text(const fovea_result *result, int64_t example,
                              int64_t rank, const char *name);
/* The number of values of a generated name, and where they are: int64_t, or
 * double for data of real numbers. -1: there is none. */
int64_t fovea_result_values(const fovea_result *result, int64_t example,
                            int64_t rank, const char *name,
                            const void **values);
/* The rank, values and extents of an equation that the model shows; -1: there
 * is none. */
int64_t fovea_result_show(const fovea_result *result, int64_t example,
                          int64_t rank, const char *equation,
                          const double **values, const int64_t **shape);
void fovea_result_close(fovea_result *result);

/* Steps of a search of your own: log p of every symbol of each row, which
 * continues the row `parents` of the last step by a symbol. */
int fovea_model_encode(fovea_model *model, const fovea_batch *batch,
                       double *logps);
int fovea_model_step(fovea_model *model, int64_t rows, const int64_t *parents,
                     const int64_t *symbols, double *logps);

/* Parameters, by their place in fovea_model_about: float or double, as `type`
 * says. The caller may change them between calls. */
void *fovea_model_parameter(fovea_model *model, int which);
void *fovea_model_gradient(fovea_model *model, int which);
int64_t fovea_model_parameter_size(fovea_model *model, int which);
/* Writes the weights, and after an update the state of the optimiser. */
int fovea_model_save(fovea_model *model, const char *path);

/* The id of a symbol, -1 for none; the symbol of an id, null for none; and the
 * ids of a line: how many there are, of which the first `room` are written. */
int64_t fovea_model_id(fovea_model *model, const char *data,
                       const char *symbol);
const char *fovea_model_symbol(fovea_model *model, const char *data,
                               int64_t id);
int64_t fovea_model_ids(fovea_model *model, const char *data, const char *line,
                        int64_t room, int64_t *ids);

#ifdef __cplusplus
}
#endif

#endif
