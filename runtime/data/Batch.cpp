//===- Batch.cpp - cuts a batch into examples -----------------------------===//

#include "runtime/data/Batch.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <list>

using namespace fovea::runtime;

namespace {
using Tensors = std::map<std::string, TensorView>;

/// Splits one batch.
class Splitter {
public:
  Splitter(const Tensors &file, const std::vector<DataSpec> &specs,
           std::vector<Example> &examples, int64_t before)
      : file(file), specs(specs), examples(examples), before(before) {}
  Status split();

private:
  const TensorView *find(const std::string &name) const {
    auto found = file.find(name);
    return found == file.end() ? nullptr : &found->second;
  }
  Status findBatch();
  Status checkNames() const;
  Status takeIds();
  Status takeLengths(const DataSpec &spec);
  Status takeLength(const DataSpec &spec, size_t axis, int number);
  Status noteLength(const DataSpec &spec, const DataAxis &axis, size_t example,
                    LengthValues values);
  Status checkKind(const DataSpec &spec) const;
  Status checkShape(const DataSpec &spec) const;
  Status takeValues(const DataSpec &spec, size_t example);

  const Tensors &file;
  const std::vector<DataSpec> &specs;
  std::vector<Example> &examples;
  const int64_t before; // examples that other parts have
  size_t batch = 0;
};
} // namespace

/// Returns the name of the tensor of length `number` (from 1).
static std::string lengthName(const std::string &name, int number) {
  return number == 1 ? name + ".length"
                     : fmt::format("{}.length.{}", name, number);
}

static bool isWhole(const TensorView &tensor) { return !tensor.isReal(); }

static int64_t largestOf(const LengthValues &length) {
  int64_t largest = 0;
  for (int64_t value : length.values)
    largest = std::max(largest, value);
  return largest;
}

Status Splitter::findBatch() {
  bool known = false;
  for (const DataSpec &spec : specs) {
    const TensorView *tensor = find(spec.name);
    if (!tensor)
      return Status::error(
          fmt::format("the batch has no tensor '{}'", spec.name));
    if (tensor->shape.size() != spec.axes.size() + 1)
      return Status::error(fmt::format(
          "'{}' has {} axes including the batch, but the input has {}",
          spec.name, spec.axes.size() + 1, shapeText(tensor->shape)));
    size_t count = tensor->shape[0];
    if (known && count != batch)
      return Status::error(fmt::format("'{}' has {} examples but '{}' has {}",
                                       specs[0].name, batch, spec.name, count));
    batch = count;
    known = true;
  }
  if (known && batch == 0)
    return Status::error("the batch has no examples");
  return Status::success();
}

/// A length of an unknown name is a misspelt name.
Status Splitter::checkNames() const {
  for (const auto &[name, tensor] : file) {
    size_t dot = name.find(".length");
    if (dot == std::string::npos)
      continue;
    std::string owner = name.substr(0, dot);
    bool known =
        std::any_of(specs.begin(), specs.end(),
                    [&](const DataSpec &spec) { return spec.name == owner; });
    if (!known && !find(owner))
      return Status::error(fmt::format(
          "'{}' is a length, but there is no data '{}'", name, owner));
  }
  return Status::success();
}

Status Splitter::takeIds() {
  for (size_t i = 0; i < batch; ++i)
    examples[i].id = before + static_cast<int64_t>(i);
  const TensorView *ids = find("example");
  bool isData =
      std::any_of(specs.begin(), specs.end(),
                  [](const DataSpec &spec) { return spec.name == "example"; });
  if (!ids || isData)
    return Status::success();
  if (!isWhole(*ids) || ids->shape != std::vector<int64_t>{int64_t(batch)})
    return Status::error(fmt::format("'example' is {} {} but must be I64 [{}]",
                                     nameOf(ids->type), shapeText(ids->shape),
                                     batch));
  for (size_t i = 0; i < batch; ++i) {
    double id = ids->at(i);
    if (std::fabs(id) > 0x1p53)
      return Status::error(fmt::format(
          "'example' of row {} is {:.0f}, beyond 2^53", before + i, id));
    examples[i].id = static_cast<int64_t>(id);
  }
  return Status::success();
}

/// Several data may share one length: then they must agree.
Status Splitter::noteLength(const DataSpec &spec, const DataAxis &axis,
                            size_t example, LengthValues values) {
  auto [entry, isNew] =
      examples[example].lengths.try_emplace(axis.length, values);
  if (isNew || entry->second.values == values.values)
    return Status::success();
  return Status::error(
      fmt::format("example {} has the length {} = {} but '{}' has {}",
                  before + int64_t(example), axis.length,
                  fmt::join(entry->second.values, " "), spec.name,
                  fmt::join(values.values, " ")));
}

Status Splitter::takeLength(const DataSpec &spec, size_t axis, int number) {
  const DataAxis &what = spec.axes[axis];
  const TensorView &data = *find(spec.name);
  std::string name = lengthName(spec.name, number);
  const TensorView *lengths = find(name);
  if (!lengths) {
    // Another name may provide this length.
    if (examples[0].lengths.count(what.length))
      return Status::success();
    return Status::error(fmt::format(
        "the batch has no tensor '{}', the length {} of each example", name,
        what.length));
  }
  int64_t extent = data.shape[axis + 1];
  std::vector<int64_t> expected = {int64_t(batch)};
  size_t parent = axis;
  if (!what.parent.empty()) {
    for (size_t i = 0; i < axis; ++i)
      if (spec.axes[i].length == what.parent ||
          (spec.axes[i].length.empty() &&
           std::to_string(spec.axes[i].size) == what.parent))
        parent = i;
    expected.push_back(data.shape[parent + 1]);
  }
  if (!isWhole(*lengths) || lengths->shape != expected)
    return Status::error(fmt::format(
        "'{}' is {} {} but must be I64 {}", name, nameOf(lengths->type),
        shapeText(lengths->shape), shapeText(expected)));
  for (size_t example = 0; example < batch; ++example) {
    LengthValues values;
    values.nested = !what.parent.empty();
    int64_t count = 1, first = static_cast<int64_t>(example);
    if (values.nested) {
      const DataAxis &outer = spec.axes[parent];
      count = outer.length.empty()
                  ? outer.size
                  : examples[example].lengths[outer.length].values[0];
      first *= expected[1];
    }
    for (int64_t i = 0; i < count; ++i) {
      double given = lengths->at(first + i);
      if (given < 0 || given > static_cast<double>(extent))
        return Status::error(fmt::format(
            "'{}' of example {} is {:.0f}, outside 0..{}, the extent of '{}'",
            name, before + int64_t(example), given, extent, spec.name));
      auto value = static_cast<int64_t>(given);
      if (value == 0 && !values.nested)
        return Status::error(
            fmt::format("example {} has no '{}': its length {} is 0",
                        before + int64_t(example), spec.name, what.length));
      values.values.push_back(value);
    }
    if (Status status = noteLength(spec, what, example, std::move(values));
        status.failed())
      return status;
  }
  return Status::success();
}

Status Splitter::takeLengths(const DataSpec &spec) {
  int number = 0;
  for (size_t axis = 0; axis < spec.axes.size(); ++axis)
    if (!spec.axes[axis].length.empty())
      if (Status status = takeLength(spec, axis, ++number); status.failed())
        return status;
  return Status::success();
}

Status Splitter::checkKind(const DataSpec &spec) const {
  const TensorView &tensor = *find(spec.name);
  if (spec.kind == DataKind::Real ? isWhole(tensor) : !isWhole(tensor))
    return Status::error(
        fmt::format("'{}' is {} but must be {}", spec.name, nameOf(tensor.type),
                    spec.kind == DataKind::Real  ? "F64 or F32"
                    : spec.kind == DataKind::Bit ? "BOOL or whole numbers"
                                                 : "I64"));
  return Status::success();
}

/// The tensor is as large as its values require and its lengths need.
Status Splitter::checkShape(const DataSpec &spec) const {
  const TensorView &tensor = *find(spec.name);
  for (size_t axis = 0; axis < spec.axes.size(); ++axis) {
    const DataAxis &what = spec.axes[axis];
    int64_t extent = tensor.shape[axis + 1];
    if (what.length.empty()) {
      if (extent != what.size)
        return Status::error(fmt::format(
            "'{}' has extent {} at axis {} but the input has {}", spec.name,
            what.size, axis + 1, shapeText(tensor.shape)));
      continue;
    }
    for (size_t example = 0; example < batch; ++example) {
      int64_t largest = largestOf(examples[example].lengths.at(what.length));
      if (largest > extent)
        return Status::error(
            fmt::format("example {} has the length {} = {} but '{}' is {}",
                        before + int64_t(example), what.length, largest,
                        spec.name, shapeText(tensor.shape)));
    }
  }
  return Status::success();
}

/// Copies one example; never reads past its lengths.
Status Splitter::takeValues(const DataSpec &spec, size_t number) {
  const TensorView &tensor = *find(spec.name);
  Example &example = examples[number];
  DataValues &result = example.data[spec.name];
  for (const DataAxis &axis : spec.axes)
    result.shape.push_back(axis.length.empty()
                               ? axis.size
                               : largestOf(example.lengths[axis.length]));
  int64_t count = 1;
  for (int64_t extent : result.shape)
    count *= extent;
  result.values.assign(count, 0);
  std::vector<int64_t> indices(result.shape.size());
  for (int64_t offset = 0; offset < count; ++offset) {
    int64_t rest = offset;
    for (size_t axis = indices.size(); axis-- > 0;) {
      indices[axis] = rest % result.shape[axis];
      rest /= result.shape[axis];
    }
    bool inside = true;
    int64_t source = static_cast<int64_t>(number);
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      source = source * tensor.shape[axis + 1] + indices[axis];
      const DataAxis &what = spec.axes[axis];
      if (what.parent.empty())
        continue;
      for (size_t i = 0; i < axis; ++i)
        if (spec.axes[i].length == what.parent ||
            (spec.axes[i].length.empty() &&
             std::to_string(spec.axes[i].size) == what.parent))
          inside &=
              indices[axis] < example.lengths[what.length].values[indices[i]];
    }
    if (!inside)
      continue;
    double value = tensor.at(source);
    // -inf masks a score; nothing else that is not finite has a use.
    if (!(value < HUGE_VAL))
      return Status::error(fmt::format("'{}' of example {} has the value {}",
                                       spec.name, before + int64_t(number),
                                       value));
    result.values[offset] = value;
  }
  return Status::success();
}

Status Splitter::split() {
  if (Status status = findBatch(); status.failed())
    return status;
  if (Status status = checkNames(); status.failed())
    return status;
  examples.assign(batch, Example());
  if (Status status = takeIds(); status.failed())
    return status;
  // Names that provide lengths come first: others may rely on them.
  for (bool own : {true, false})
    for (const DataSpec &spec : specs)
      if ((find(lengthName(spec.name, 1)) != nullptr) == own)
        if (Status status = takeLengths(spec); status.failed())
          return status;
  for (const DataSpec &spec : specs) {
    if (Status status = checkKind(spec); status.failed())
      return status;
    if (Status status = checkShape(spec); status.failed())
      return status;
    for (size_t example = 0; example < batch; ++example) {
      if (Status status = takeValues(spec, example); status.failed())
        return status;
      if (Status status = checkLimit(spec, examples[example], before + example);
          status.failed())
        return status;
    }
  }
  return Status::success();
}

std::string fovea::runtime::addLengths(const std::string &name,
                                       const Lengths &lengths,
                                       Example &example) {
  for (const auto &[length, given] : lengths) {
    auto [known, isNew] = example.lengths.try_emplace(length, given);
    if (!isNew && known->second.values != given.values)
      return fmt::format("'{}' has length {} = {} but other data has {}", name,
                         length, fmt::join(given.values, " "),
                         fmt::join(known->second.values, " "));
  }
  return "";
}

std::optional<int64_t> fovea::runtime::limitOf(const DataSpec &spec,
                                               const Example &example) {
  if (spec.kind == DataKind::Bit)
    return 2;
  if (spec.kind == DataKind::Real ||
      (spec.limit == 0 && spec.limitLength.empty()))
    return std::nullopt;
  if (spec.limitLength.empty())
    return spec.limit;
  auto length = example.lengths.find(spec.limitLength);
  if (length == example.lengths.end() || length->second.values.empty())
    return std::nullopt;
  return length->second.values.front() + spec.limit;
}

Status fovea::runtime::checkLimit(const DataSpec &spec, const Example &example,
                                  size_t number) {
  std::optional<int64_t> limit = limitOf(spec, example);
  auto values = example.data.find(spec.name);
  if (!limit || values == example.data.end())
    return Status::success();
  for (double value : values->second.values)
    if (!(value >= 0 && value < static_cast<double>(*limit)))
      return Status::error(
          fmt::format("'{}' of example {} has the value {:.0f}, outside 0..{}",
                      spec.name, number, value, *limit - 1));
  return Status::success();
}

Status fovea::runtime::checkFitsF32(const std::string &name,
                                    const std::vector<double> &values) {
  for (double value : values)
    if (std::isfinite(value) && std::isinf(static_cast<float>(value)))
      return Status::error(fmt::format("'{}' has {}, but the maximum of F32 is "
                                       "{:.7g}; help: add '--dtype f64'",
                                       name, value,
                                       std::numeric_limits<float>::max()));
  return Status::success();
}

Status fovea::runtime::splitBatch(const Tensors &file,
                                  const std::vector<DataSpec> &specs,
                                  std::vector<Example> &examples,
                                  int64_t before) {
  examples.clear();
  Status status = Splitter(file, specs, examples, before).split();
  if (status.failed())
    examples.clear();
  return status;
}

/// Returns whether the tensors are one example: none has more axes than its
/// data, and none is a length.
static bool isSingle(const Tensors &tensors,
                     const std::vector<DataSpec> &specs) {
  bool hasAny = false;
  for (const DataSpec &spec : specs) {
    auto found = tensors.find(spec.name);
    if (found == tensors.end())
      continue;
    hasAny = true;
    if (found->second.shape.size() != spec.axes.size() ||
        tensors.count(spec.name + ".length") != 0)
      return false;
  }
  return hasAny && tensors.count("example") == 0;
}

/// Adds a batch axis to one example, and takes its lengths from its extents.
static void makeBatch(Tensors &tensors, const std::vector<DataSpec> &specs,
                      std::list<int64_t> &lengths) {
  for (const DataSpec &spec : specs) {
    auto found = tensors.find(spec.name);
    if (found == tensors.end())
      continue;
    int count = 0;
    for (size_t axis = 0; axis < spec.axes.size(); ++axis) {
      if (spec.axes[axis].length.empty() || !spec.axes[axis].parent.empty())
        continue;
      lengths.push_back(found->second.shape[axis]);
      std::string name = spec.name + ".length";
      if (++count > 1)
        name += "." + std::to_string(count);
      tensors[name] = {DType::I64,
                       {1},
                       reinterpret_cast<const std::byte *>(&lengths.back())};
    }
    found->second.shape.insert(found->second.shape.begin(), 1);
  }
}

Status fovea::runtime::splitBatch(const TensorFile &file,
                                  const std::vector<DataSpec> &specs,
                                  std::vector<Example> &examples,
                                  int64_t before) {
  Tensors tensors;
  for (const auto &[name, tensor] : file.tensors)
    tensors[name] = {tensor.type, tensor.shape, tensor.bytes.data()};
  std::list<int64_t> lengths;
  if (isSingle(tensors, specs))
    makeBatch(tensors, specs, lengths);
  return splitBatch(tensors, specs, examples, before);
}

Tensor fovea::runtime::joinPadded(DType type,
                                  const std::vector<DataValues> &parts) {
  std::vector<int64_t> shape;
  for (const DataValues &part : parts) {
    shape.resize(std::max(shape.size(), part.shape.size()));
    for (size_t axis = 0; axis < part.shape.size(); ++axis)
      shape[axis] = std::max(shape[axis], part.shape[axis]);
  }
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  std::vector<double> values(parts.size() * size);
  for (size_t number = 0; number < parts.size(); ++number) {
    const DataValues &part = parts[number];
    for (size_t offset = 0; offset < part.values.size(); ++offset) {
      int64_t rest = static_cast<int64_t>(offset), target = 0, stride = 1;
      for (size_t axis = shape.size(); axis-- > 0;) {
        target += rest % part.shape[axis] * stride;
        rest /= part.shape[axis];
        stride *= shape[axis];
      }
      values[number * size + target] = part.values[offset];
    }
  }
  shape.insert(shape.begin(), static_cast<int64_t>(parts.size()));
  return Tensor::of(type, std::move(shape), values);
}
