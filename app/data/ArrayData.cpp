//===- ArrayData.cpp - arrays of all examples -----------------------------===//

#include "app/data/ArrayData.h"
#include "app/data/FileData.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::DType;
using runtime::Status;

/// How many values to read at a time, if an example has fewer.
static constexpr int64_t valuesAtATime = 1 << 19;

/// Splits `x.npz:images`.
static std::pair<StringRef, StringRef> splitMember(StringRef path) {
  size_t found = path.rfind(".npz:");
  if (found == StringRef::npos)
    return {path, ""};
  return {path.take_front(found + 4), path.drop_front(found + 5)};
}

bool fovea::cli::isArrayFile(StringRef path) {
  StringRef file = splitMember(path).first;
  return file.ends_with(".npz") || file.ends_with(".npy");
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Opens a file with one array, or one array of an archive.
Status ArrayData::open(const std::string &path, const std::string &member,
                       Array &array) {
  array.path = member.empty() ? path : path + ":" + member;
  Status status = member.empty()
                      ? NpyRows::openFile(path, array.rows)
                      : NpyRows::openMember(path, member, array.rows);
  if (status.failed() || array.rows->isByRows())
    return status;
  status = array.rows->read(array.rows->shape().front(), array.whole);
  array.rows.reset();
  return status;
}

/// Lengths without another source are the extents of the array.
void ArrayData::addFullLengths(const runtime::DataSpec &spec) {
  std::vector<int64_t> shape = arrays.at(spec.name).shape();
  if (shape.size() != spec.axes.size() + 1)
    return;
  int number = 0;
  for (auto [axis, what] : llvm::enumerate(spec.axes)) {
    if (what.length.empty())
      continue;
    ++number;
    std::string name = number == 1
                           ? spec.name + ".length"
                           : fmt::format("{}.length.{}", spec.name, number);
    // Only the file knows how many each row has.
    if (what.parent.empty() && !contains(name))
      add(name, runtime::Tensor::of(
                    DType::I64, {shape[0]},
                    std::vector<double>(shape[0], double(shape[axis + 1]))));
  }
}

Status ArrayData::add(const std::string &path, const DataInfo &data,
                      const runtime::DataSpec &spec) {
  auto [file, given] = splitMember(path);
  std::string archive = file.str(), member;
  if (file.ends_with(".npz")) {
    std::vector<std::string> names;
    if (Status status = listNpz(archive, names); status.failed())
      return status;
    member = !given.empty()      ? given.str()
             : names.size() == 1 ? names.front()
                                 : data.name;
    std::vector<StringRef> known(names.begin(), names.end());
    if (!llvm::is_contained(names, member))
      return Status::error(fmt::format("'{}' has no array '{}'{}", archive,
                                       member,
                                       existing(member, std::move(known))));
    for (const std::string &other : names)
      if (StringRef(other).starts_with(data.name + ".length"))
        if (Status status = open(archive, other, arrays[other]);
            status.failed())
          return status;
  }
  Array &array = arrays[spec.name];
  if (Status status = open(archive, member, array); status.failed())
    return status;
  array.data = &data;
  array.spec = spec;
  addFullLengths(spec);
  return Status::success();
}

Status ArrayData::addAll(const std::string &path, const Model &model,
                         const std::vector<runtime::DataSpec> &wanted) {
  std::vector<std::string> names;
  if (StringRef(path).ends_with(".npy"))
    return Status::error(fmt::format(
        "'{0}' is a single array; help: name it with '--data {1}={0}'", path,
        wanted.empty() ? "NAME" : wanted[0].name));
  if (Status status = listNpz(path, names); status.failed())
    return status;
  for (const runtime::DataSpec &spec : wanted)
    for (const DataInfo &data : model.data)
      if (data.name == spec.name && llvm::is_contained(names, spec.name))
        if (Status status = add(path + ":" + spec.name, data, spec);
            status.failed())
          return status;
  if (llvm::is_contained(names, "example"))
    return open(path, "example", arrays["example"]);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Examples
//===----------------------------------------------------------------------===//

void ArrayData::begin(std::vector<runtime::DataSpec> wanted) {
  specs = std::move(wanted);
  isWhole = specs.empty();
  int64_t most = 1;
  for (auto &[name, array] : arrays) {
    const std::vector<int64_t> &shape = array.shape();
    if (shape.empty() || shape[0] == 0 || (numAll != 0 && shape[0] != numAll)) {
      isWhole = true;
      continue;
    }
    numAll = shape[0];
    int64_t size = 1;
    for (int64_t extent : llvm::drop_begin(shape))
      size *= extent;
    most = std::max(most, size);
  }
  // A single example has no example axis; errors are found once all data are
  // loaded.
  for (const runtime::DataSpec &spec : specs)
    isWhole |= !contains(spec.name) ||
               arrays.at(spec.name).shape().size() != spec.axes.size() + 1;
  numPart = std::max<int64_t>(1, valuesAtATime / most);
}

/// The next rows of an array, or all of it.
Status ArrayData::take(Array &array, int64_t count, runtime::Tensor &tensor) {
  if (array.rows) {
    int64_t all = array.shape().empty() ? 1 : array.shape().front();
    if (Status status = array.rows->read(isWhole ? all : count, tensor);
        status.failed())
      return status;
  } else if (isWhole) {
    tensor = std::move(array.whole);
  } else {
    tensor = {array.whole.type, array.whole.shape, {}};
    tensor.shape[0] = count;
    size_t row = array.whole.bytes.size() / array.whole.shape[0];
    auto first = array.whole.bytes.begin() + row * numDone;
    tensor.bytes.assign(first, first + row * count);
  }
  return array.data ? fitArray(array.path, *array.data, array.spec, tensor)
                    : Status::success();
}

Status ArrayData::read(const std::string &path,
                       std::vector<runtime::Example> &examples) {
  examples.clear();
  if (numDone > 0 && (isWhole || numDone == numAll))
    return Status::success();
  int64_t count = std::min(numPart, numAll - numDone);
  runtime::TensorFile part;
  for (auto &[name, array] : arrays)
    if (Status status = take(array, count, part.tensors[name]); status.failed())
      return status;
  Status status = runtime::splitBatch(part, specs, examples, numDone);
  // A model without data has one example.
  if (status.succeeded() && specs.empty() && examples.empty())
    examples.emplace_back();
  numDone += std::max<int64_t>(count, 1);
  return status.failed() ? Status::error(path + ": " + status.text()) : status;
}
