//===- Image.cpp - what the object of a model holds -----------------------===//

#include "runtime/model/Image.h"
#include "runtime/data/Checksum.h"

#include <charconv>

using namespace fovea::runtime;

TensorFile fovea::runtime::joinMembers(std::vector<TensorFile> members) {
  TensorFile result = std::move(members.front());
  for (size_t i = 1; i < members.size(); ++i)
    for (auto &[path, tensor] : members[i].tensors)
      result.tensors[std::to_string(i) + "/" + path] = std::move(tensor);
  return result;
}

Status fovea::runtime::readWeightsInside(const FoveaImage &image,
                                         std::vector<TensorFile> &members) {
  members.assign(1, {});
  // A model without parameters has no weights.
  if (!image.weights)
    return Status::success();
  std::string_view bytes(image.weights, static_cast<size_t>(image.weightsSize));
  if (checksum(bytes) != image.weightsChecksum)
    return Status::error("the weights of the model are damaged");
  TensorFile file;
  Status status = parseSafeTensors(bytes, "the weights inside", file);
  for (auto &[path, tensor] : file.tensors) {
    size_t slash = path.find('/'), number = 0;
    if (slash != path.npos)
      std::from_chars(path.data(), path.data() + slash, number);
    // The checksum proves that the compiler wrote these names.
    if (members.size() <= number)
      members.resize(number + 1);
    members[number].tensors[number == 0 ? path : path.substr(slash + 1)] =
        std::move(tensor);
  }
  members.front().metadata = std::move(file.metadata);
  return status;
}
