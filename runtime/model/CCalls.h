//===- CCalls.h - what both interfaces to C share -------------------------===//
//
// The calls of a model's own header (CInterface.h) and of fovea.h
// (CLibrary.cpp) that take a batch. Each returns a code, and stores a message
// if it is not 0.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_CCALLS_H
#define FOVEA_RUNTIME_MODEL_CCALLS_H

#include "runtime/model/CBatch.h"
#include "runtime/model/CInterface.h"

namespace fovea::runtime {

/// The loss of a batch, and log p of each example, where these are not null.
int lossOf(FoveaModel *model, const GivenBatch &batch, double *loss,
           double *logp);
/// The same, and the gradients.
int gradOf(FoveaModel *model, const GivenBatch &batch, double *loss,
           double *logp);
int trainStepOf(FoveaModel *model, const GivenBatch &batch, int64_t seed,
                double *loss);
/// Computes the equations that the model was compiled with.
int equationsOf(FoveaModel *model, const GivenBatch &batch);

/// Who hears generated values as they come; without a function, nobody.
struct Listener {
  fovea_listener function = nullptr;
  void *user = nullptr;
};

int decodeOf(FoveaModel *model, const GivenBatch &batch,
             const FoveaSearch *search, Listener listener,
             FoveaResult **result);
int textOf(FoveaModel *model, int64_t examples, const char *const *lines,
           const FoveaSearch *search, Listener listener, FoveaResult **result);
int encodeOf(FoveaModel *model, const GivenBatch &batch, double *logps);

/// log p and score of a hypothesis, where these are not null.
int scoreOf(const FoveaResult *result, int64_t example, int64_t rank,
            double *logp, double *score);
/// The number of values of a generated name, and where they are (fovea.h); -1:
/// there is none.
int64_t valuesOf(const FoveaResult *result, int64_t example, int64_t rank,
                 const char *name, const void **values);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_CCALLS_H
