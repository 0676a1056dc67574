//===- LoadData.cpp - a file as the data of a program ---------------------===//

#include "runtime/model/LoadData.h"
#include "runtime/data/OpenFile.h"
#include "runtime/model/FileData.h"

#include <fmt/format.h>

using namespace fovea::runtime;

Status fovea::runtime::loadData(const std::string &path,
                                const DataDescription &data, DataValues &values,
                                Lengths &lengths) {
  std::string bytes, why;
  if (!readWhole(path, bytes, why))
    return Status::error(fmt::format("cannot read '{}': {}", path, why));
  return readFileData(bytes, path, data, values, lengths);
}
