//===- CBatch.cpp - a batch as a struct of C ------------------------------===//

#include "runtime/model/CBatch.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <fmt/format.h>

using namespace fovea::runtime;

/// No caller's array has more bytes.
static constexpr int64_t mostBytes = int64_t(1) << 46;

std::vector<BatchField>
fovea::runtime::batchFields(const Description &description) {
  std::vector<BatchField> fields = {{BatchField::Examples}, {BatchField::Ids}};
  for (size_t data = 0; data < description.data.size(); ++data) {
    fields.push_back({BatchField::Values, data});
    int number = 0;
    const std::vector<DataAxis> &axes = description.data[data].spec.axes;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      if (axes[axis].length.empty())
        continue;
      ++number;
      fields.push_back({BatchField::Extent, data, axis, number});
      fields.push_back({BatchField::Lengths, data, axis, number});
    }
  }
  return fields;
}

using Tensors = std::map<std::string, TensorView>;

/// Adds an array of a caller, whose size must be possible.
static Status add(Tensors &file, const std::string &name, DType type,
                  std::vector<int64_t> shape, int64_t address) {
  auto bytes = static_cast<int64_t>(sizeOf(type));
  for (int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && bytes > mostBytes / extent))
      return Status::error(
          fmt::format("'{}' has extents {}", name, shapeText(shape)));
    bytes *= extent;
  }
  assert(address != 0 && "what is given lies somewhere");
  file[name] = {type, std::move(shape),
                reinterpret_cast<const std::byte *>(address)};
  return Status::success();
}

namespace {

/// Finds the arrays of one struct.
class BatchReader {
public:
  BatchReader(const Description &description, const void *batch)
      : description(description), fields(batchFields(description)),
        words(fields.size()) {
    std::memcpy(words.data(), batch, words.size() * sizeof(int64_t));
  }

  Status read(Tensors &file);

private:
  int64_t wordOf(BatchField::Kind kind, size_t data, size_t axis) const {
    for (size_t i = 0; i < fields.size(); ++i)
      if (fields[i].kind == kind && fields[i].data == data &&
          fields[i].axis == axis)
        return words[i];
    return 0;
  }
  Status readData(size_t number, Tensors &file);

  const Description &description;
  std::vector<BatchField> fields;
  std::vector<int64_t> words;
};

} // namespace

static DType typeOf(DataKind kind, bool isDouble) {
  switch (kind) {
  case DataKind::Real:
    return isDouble ? DType::F64 : DType::F32;
  case DataKind::Whole:
    return DType::I64;
  case DataKind::Bit:
    return DType::U8;
  }
  return DType::I64;
}

Status BatchReader::readData(size_t number, Tensors &file) {
  const DataSpec &spec = description.data[number].spec;
  std::vector<int64_t> shape = {words[0]};
  Status status = Status::success();
  int length = 0;
  for (size_t axis = 0; axis < spec.axes.size(); ++axis) {
    const DataAxis &what = spec.axes[axis];
    if (what.length.empty()) {
      shape.push_back(what.size);
      continue;
    }
    ++length;
    int64_t lengths = wordOf(BatchField::Lengths, number, axis);
    if (lengths != 0 && status.succeeded()) {
      std::vector<int64_t> extents = {words[0]};
      // A nested length has a number for each index of its parent.
      for (size_t parent = 0; parent < axis; ++parent)
        if (!what.parent.empty() &&
            (spec.axes[parent].length == what.parent ||
             (spec.axes[parent].length.empty() &&
              std::to_string(spec.axes[parent].size) == what.parent)))
          extents = {words[0], shape[parent + 1]};
      std::string suffix =
          length == 1 ? ".length" : fmt::format(".length.{}", length);
      status = add(file, spec.name + suffix, DType::I64, extents, lengths);
    }
    shape.push_back(wordOf(BatchField::Extent, number, axis));
  }
  if (status.failed())
    return status;
  return add(file, spec.name, typeOf(spec.kind, description.isDouble), shape,
             wordOf(BatchField::Values, number, 0));
}

Status BatchReader::read(Tensors &file) {
  if (words[1] != 0)
    if (Status status = add(file, "example", DType::I64, {words[0]}, words[1]);
        status.failed())
      return status;
  for (size_t data = 0; data < description.data.size(); ++data)
    if (wordOf(BatchField::Values, data, 0) != 0)
      if (Status status = readData(data, file); status.failed())
        return status;
  return Status::success();
}

/// Takes the arrays of a caller without a copy.
static Status readArrays(const fovea_batch &batch, Tensors &file) {
  constexpr int64_t mostAxes = 16;
  constexpr DType types[] = {DType::F32, DType::F64, DType::I64, DType::U8};
  for (int64_t i = 0; i < batch.count && batch.arrays; ++i) {
    const fovea_array &array = batch.arrays[i];
    if (!array.name || !array.values || (array.rank > 0 && !array.shape))
      return Status::error(
          fmt::format("array {} lacks its name, extents or values", i + 1));
    if (array.type < fovea_f32 || array.type > fovea_u8 || array.rank < 0 ||
        array.rank > mostAxes)
      return Status::error(
          fmt::format("'{}' has an unknown type or rank", array.name));
    if (Status status = add(file, array.name, types[array.type],
                            {array.shape, array.shape + array.rank},
                            reinterpret_cast<int64_t>(array.values));
        status.failed())
      return status;
  }
  return Status::success();
}

Status fovea::runtime::readBatch(const Description &description,
                                 const GivenBatch &batch,
                                 const std::vector<std::string> &needed,
                                 std::vector<Example> &examples) {
  int64_t count = 0;
  if (batch.words)
    std::memcpy(&count, batch.words, sizeof(count));
  else
    count = batch.arrays->examples;
  bool isCounted =
      batch.words || batch.arrays->count <= 0 || !batch.arrays->arrays;
  if (isCounted && count <= 0)
    return Status::error("the batch has no examples");
  Tensors file;
  if (Status status = batch.words
                          ? BatchReader(description, batch.words).read(file)
                          : readArrays(*batch.arrays, file);
      status.failed())
    return status;
  std::vector<DataSpec> specs;
  for (const DataDescription &data : description.data) {
    const std::string &name = data.spec.name;
    if (file.contains(name))
      specs.push_back(data.spec);
    else if (std::find(needed.begin(), needed.end(), name) != needed.end())
      return Status::error(fmt::format("data '{}' is not given", name));
  }
  if (!specs.empty())
    return splitBatch(file, specs, examples);
  // Without data, nothing defines the number of examples.
  if (count < 1 || count > (1 << 24))
    return Status::error(fmt::format("the batch has {} examples", count));
  examples.assign(count, Example());
  for (int64_t i = 0; i < count; ++i)
    examples[i].id = i;
  return Status::success();
}
