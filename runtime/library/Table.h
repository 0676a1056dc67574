//===- Table.h - what the library of a model exports ----------------------===//
//
// The library of a model exports one constant, `fovea_library`, besides the
// functions of its own header. libfovea_rt.so (Library.c) finds it and calls
// the runtime inside the model by its table. In C, since both sides may come
// from different compilers. Version 1 never changes; a later version adds
// functions at the end.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_LIBRARY_TABLE_H
#define FOVEA_RUNTIME_LIBRARY_TABLE_H

#include "runtime/library/fovea.h"

enum { foveaTableVersion = 1 };

#ifdef __cplusplus
extern "C" {
#endif

struct FoveaImage;
struct FoveaModel;
struct FoveaResult;

/* The functions of fovea.h for one model; their contracts stand there. */
struct FoveaTable {
  const char *(*message)(void);
  int (*create)(const struct FoveaImage *image, const char *weights,
                int threads, struct FoveaModel **model);
  void (*destroy)(struct FoveaModel *model);
  const char *(*about)(struct FoveaModel *model);
  int64_t (*inputs)(struct FoveaModel *model);
  const char *(*input)(struct FoveaModel *model, int64_t which);
  int (*add)(struct FoveaModel *model, const char *weights);
  int (*random)(struct FoveaModel *model, int64_t seed, int64_t update);
  int (*loss)(struct FoveaModel *model, const fovea_batch *batch, double *loss,
              double *logp);
  int (*grad)(struct FoveaModel *model, const fovea_batch *batch, double *loss,
              double *logp);
  int (*trainStep)(struct FoveaModel *model, const fovea_batch *batch,
                   int64_t seed, double *loss);
  int (*run)(struct FoveaModel *model, const fovea_batch *batch);
  int64_t (*value)(struct FoveaModel *model, int64_t example,
                   const char *equation, const double **values,
                   const int64_t **shape);
  int (*decode)(struct FoveaModel *model, const fovea_batch *batch,
                const fovea_search *search, fovea_listener listener, void *user,
                struct FoveaResult **result);
  int (*text)(struct FoveaModel *model, int64_t examples,
              const char *const *lines, const fovea_search *search,
              fovea_listener listener, void *user, struct FoveaResult **result);
  void (*cancel)(struct FoveaModel *model);
  int64_t (*resultSize)(const struct FoveaResult *result, int64_t example);
  int (*resultScore)(const struct FoveaResult *result, int64_t example,
                     int64_t rank, double *logp, double *score);
  const char *(*resultText)(const struct FoveaResult *result, int64_t example,
                            int64_t rank, const char *name);
  int64_t (*resultValues)(const struct FoveaResult *result, int64_t example,
                          int64_t rank, const char *name, const void **values);
  int64_t (*resultShow)(const struct FoveaResult *result, int64_t example,
                        int64_t rank, const char *equation,
                        const double **values, const int64_t **shape);
  void (*resultDestroy)(struct FoveaResult *result);
  int (*encode)(struct FoveaModel *model, const fovea_batch *batch,
                double *logps);
  int (*step)(struct FoveaModel *model, int64_t rows, const int64_t *parents,
              const int64_t *symbols, double *logps);
  void *(*parameter)(struct FoveaModel *model, int which);
  void *(*gradient)(struct FoveaModel *model, int which);
  int64_t (*parameterSize)(struct FoveaModel *model, int which);
  int (*save)(struct FoveaModel *model, const char *path);
  int64_t (*id)(struct FoveaModel *model, const char *data, const char *symbol);
  const char *(*symbol)(struct FoveaModel *model, const char *data, int64_t id);
  int64_t (*ids)(struct FoveaModel *model, const char *data, const char *line,
                 int64_t room, int64_t *ids);
};

/* What `fovea_library` is, written by codegen/native/Image.cpp. */
struct FoveaLibrary {
  int64_t version;
  const struct FoveaImage *image;
  const struct FoveaTable *table;
};

#ifdef __cplusplus
}
#endif

#endif
