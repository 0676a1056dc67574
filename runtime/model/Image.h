//===- Image.h - what the object of a model holds -------------*- C++ -*-===//

#ifndef FOVEA_RUNTIME_MODEL_IMAGE_H
#define FOVEA_RUNTIME_MODEL_IMAGE_H

#include "runtime/data/SafeTensors.h"

/// What the object of a model holds, as the compiler lays it out.
extern "C" struct FoveaImage {
  const char *description;
  int64_t descriptionSize;
  /// A safetensors file, or null.
  const char *weights;
  int64_t weightsSize;
  /// Of the weights (runtime/data/Checksum.h).
  uint64_t weightsChecksum;
  /// Of each program of the description, and then of the decoder, the function
  /// that runs it and the one that prepares it, or null.
  void (*const *functions)(void *frame);
  int64_t numFunctions;
};

namespace fovea::runtime {

/// The weights of an image that has some.
Status readWeightsInside(const FoveaImage &image, TensorFile &file);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_IMAGE_H
