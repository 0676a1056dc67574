//===- TensorSeal.cpp - whether tensors are those that were written -------===//

#include "runtime/data/TensorSeal.h"
#include "runtime/data/Checksum.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace fovea::runtime;

/// Returns a text as a header stores it, with invalid UTF-8 replaced.
static std::string quoted(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

std::string fovea::runtime::sealOf(const TensorFile &file) {
  std::string tensors, metadata;
  for (const auto &[name, tensor] : file.tensors) {
    std::string_view bytes(reinterpret_cast<const char *>(tensor.bytes.data()),
                           tensor.bytes.size());
    tensors += fmt::format("{} {} {} {}\n", quoted(name), nameOf(tensor.type),
                           shapeText(tensor.shape), wideChecksum(bytes));
  }
  for (const auto &[key, value] : file.metadata)
    if (key != sealKey)
      metadata += fmt::format("{} {}\n", quoted(key), quoted(value));
  return fmt::format("xxh3-128 tensors {} metadata {}", wideChecksum(tensors),
                     wideChecksum(metadata));
}

Status fovea::runtime::checkSeal(TensorFile &file) {
  auto entry = file.metadata.find(sealKey);
  if (entry == file.metadata.end())
    return Status::success();
  std::string given = std::move(entry->second);
  file.metadata.erase(entry);
  std::string wanted = sealOf(file);
  if (given == wanted)
    return Status::success();
  // The checksum of the metadata is at the end of the text.
  size_t end = wanted.find(" metadata ");
  bool sameTensors = given.compare(0, end, wanted, 0, end) == 0;
  return Status::error(fmt::format(
      "the {} not those that were written: {} of the file differs from the "
      "checksum in it; help: use another copy of the file, or if you changed "
      "it on purpose, remove '{}' from its metadata",
      sameTensors ? "metadata are" : "tensors are",
      sameTensors ? "the header" : "the content", sealKey));
}
