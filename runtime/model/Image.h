//===- Image.h - what the object of a model holds -------------*- C++ -*-===//

#ifndef FOVEA_RUNTIME_MODEL_IMAGE_H
#define FOVEA_RUNTIME_MODEL_IMAGE_H

#include "runtime/data/SafeTensors.h"

/// The content of a model's object file, in the compiler's layout.
extern "C" struct FoveaImage {
  const char *description;
  int64_t descriptionSize;
  /// A safetensors file, or null: the weights of one model, or of the members
  /// of an ensemble (`joinMembers`).
  const char *weights;
  int64_t weightsSize;
  /// The checksum of the weights (runtime/data/Checksum.h).
  uint64_t weightsChecksum;
  /// For each program of the description, and then of the decoder: the function
  /// that runs it and the one that prepares it, or null.
  void (*const *functions)(void *frame);
  int64_t numFunctions;
};

namespace fovea::runtime {

/// Joins the weights of an ensemble's members into one file: names of the
/// second member begin with `1/`, and so on. Keeps the metadata of the first.
TensorFile joinMembers(std::vector<TensorFile> members);

/// Returns the weights of an image: those of the model, or of each member of an
/// ensemble.
Status readWeightsInside(const FoveaImage &image,
                         std::vector<TensorFile> &members);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_IMAGE_H
