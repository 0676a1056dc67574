//===- Image.cpp - what the object of a model holds -----------------------===//

#include "runtime/model/Image.h"
#include "runtime/data/Checksum.h"

using namespace fovea::runtime;

Status fovea::runtime::readWeightsInside(const FoveaImage &image,
                                         TensorFile &file) {
  std::string_view bytes(image.weights, static_cast<size_t>(image.weightsSize));
  if (checksum(bytes) != image.weightsChecksum)
    return Status::error("the weights of the model are damaged");
  return parseSafeTensors(bytes, "the weights inside", file);
}
