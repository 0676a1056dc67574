//===- CInterface.h - what the functions of a header call -----------------===//
//
// The header of a compiled model declares `NAME_loss` and so on. Each is a
// jump to one of these functions, so several models in one program share
// no names. That header documents their contracts
// (codegen/native/Header.cpp). Nothing here ends the process: exceptions
// become a code and a message.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_CINTERFACE_H
#define FOVEA_RUNTIME_MODEL_CINTERFACE_H

#include "runtime/library/fovea.h"
#include "runtime/model/Model.h"

/// The return codes.
enum FoveaCode {
  foveaDone = fovea_done,
  foveaBadInput = fovea_bad_input,
  foveaBadCall = fovea_bad_call,
  foveaBadMachine = fovea_bad_machine,
  foveaBusy = fovea_busy,
  foveaCancelled = fovea_cancelled,
};

/// The C handles of a model and of a decoder's result.
struct FoveaModel;
struct FoveaResult;

/// `NAME_search`.
using FoveaSearch = fovea_search;

extern "C" {

const char *fovea_c_message(void);
int fovea_c_create(const FoveaImage *image, const char *weights, int threads,
                   FoveaModel **result);
void fovea_c_destroy(FoveaModel *model);
int fovea_c_add(FoveaModel *model, const char *weights);

int fovea_c_random(FoveaModel *model, int64_t seed, int64_t update);
int fovea_c_loss(FoveaModel *model, const void *batch, double *loss,
                 double *logp);
int fovea_c_grad(FoveaModel *model, const void *batch, double *loss,
                 double *logp);
int fovea_c_train_step(FoveaModel *model, const void *batch, int64_t seed,
                       double *loss);
int fovea_c_get(FoveaModel *model, const void *batch);
/// Returns the number of axes of a computed equation, and gives its values and
/// extents; -1 if there is no such name or example.
int64_t fovea_c_value(FoveaModel *model, int64_t example, const char *equation,
                      const double **values, const int64_t **shape);
int fovea_c_decode(FoveaModel *model, const void *batch,
                   const FoveaSearch *search, FoveaResult **result);
/// The same for lines of text, as programs read them
/// (runtime/model/LineText.h).
int fovea_c_text(FoveaModel *model, int64_t examples, const char *const *lines,
                 const FoveaSearch *search, FoveaResult **result);
int64_t fovea_c_result_size(const FoveaResult *result, int64_t example);
/// `hypothesis` is a struct of words of 8 bytes: log p, score, steps, ended,
/// and the address and size of each generated name (codegen/native/Header.cpp).
int fovea_c_result_get(const FoveaResult *result, int64_t example, int64_t rank,
                       void *hypothesis);
/// The number of axes, the values and the extents of a shown equation;
/// -1: there is none of this name, or no such hypothesis.
int64_t fovea_c_result_show(const FoveaResult *result, int64_t example,
                            int64_t rank, const char *equation,
                            const double **values, const int64_t **shape);
/// Returns the generated text of one name or, for null, of all.
const char *fovea_c_result_text(const FoveaResult *result, int64_t example,
                                int64_t rank, const char *data);
void fovea_c_result_destroy(FoveaResult *result);
int fovea_c_encode(FoveaModel *model, const void *batch, double *logps);
int fovea_c_step(FoveaModel *model, int64_t rows, const int64_t *parents,
                 const int64_t *symbols, double *logps);

void *fovea_c_parameter(FoveaModel *model, int which);
void *fovea_c_gradient(FoveaModel *model, int which);
int64_t fovea_c_parameter_size(FoveaModel *model, int which);
const char *fovea_c_parameter_name(FoveaModel *model, int which);
int fovea_c_save(FoveaModel *model, const char *path);
int fovea_c_metadata(FoveaModel *model, const char *key, const char *text);

int64_t fovea_c_id(FoveaModel *model, const char *data, const char *symbol);
int64_t fovea_c_ids(FoveaModel *model, const char *data, const char *line,
                    int64_t room, int64_t *ids);
const char *fovea_c_symbol(FoveaModel *model, const char *data, int64_t id);

} // extern "C"

#endif // FOVEA_RUNTIME_MODEL_CINTERFACE_H
