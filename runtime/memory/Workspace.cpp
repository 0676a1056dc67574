//===- Workspace.cpp - the memory of a program for one batch --------------===//

#include "runtime/memory/Workspace.h"
#include "runtime/Element.h"
#include "runtime/data/Quantise.h"
#include "runtime/device/Device.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>

using namespace fovea::runtime;
using Role = Program::Role;
using Element = Program::Element;

/// A larger length is an error: tables have a number for each
/// place.
static constexpr int64_t longestLength = int64_t(1) << 40;

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// A given length: from the examples, or an axis of their data.
Status Workspace::takeLength(size_t number, const Batch &examples) {
  const Program::Length &length = program.lengths[number];
  Tables::Length &table = tables.lengths[number];
  for (const Example *example : examples) {
    table.starts.push_back(table.values.size());
    if (auto given = example->lengths.find(length.name);
        given != example->lengths.end()) {
      const std::vector<int64_t> &values = given->second.values;
      int64_t largest = 0;
      for (int64_t value : values) {
        if (value < 0)
          return Status::error(
              fmt::format("length '{}' is {}", length.name, value));
        largest = std::max(largest, value);
      }
      if (!length.parent.empty())
        table.values.insert(table.values.end(), values.begin(), values.end());
      table.extents.push_back(largest);
      continue;
    }
    std::optional<int64_t> extent;
    for (const Program::Array &array : program.arrays) {
      auto data = array.role == Role::Data ? example->data.find(array.name)
                                           : example->data.end();
      if (data == example->data.end() ||
          data->second.shape.size() != array.shape.size())
        continue;
      for (size_t axis = 0; axis < array.shape.size(); ++axis)
        if (array.shape[axis] == -1 - static_cast<int64_t>(number))
          extent = data->second.shape[axis];
    }
    if (!extent || !length.parent.empty())
      return Status::error(
          fmt::format("length '{}' is not given", length.name));
    table.extents.push_back(*extent);
  }
  return Status::success();
}

void Workspace::computeLength(size_t number) {
  const Program::Length &length = program.lengths[number];
  Tables::Length &table = tables.lengths[number];
  std::vector<int64_t> now(tables.lengths.size());
  for (int64_t example = 0; example < batch; ++example) {
    table.starts.push_back(table.values.size());
    for (size_t other = 0; other < number; ++other)
      now[other] = tables.lengths[other].extents[example];
    if (length.parent.empty()) {
      table.extents.push_back(evaluate(length.formula, now));
      continue;
    }
    int64_t count = length.parentExtent, largest = 0;
    for (size_t other = 0; other < number; ++other)
      if (program.lengths[other].name == length.parent)
        count = tables.lengths[other].extents[example];
    for (int64_t i = 0; i < count; ++i) {
      for (size_t other = 0; other < number; ++other)
        if (!program.lengths[other].parent.empty())
          now[other] = tables.lengths[other]
                           .values[tables.lengths[other].starts[example] + i];
      table.values.push_back(evaluate(length.formula, now));
      largest = std::max(largest, table.values.back());
    }
    table.extents.push_back(largest);
  }
}

Status Workspace::takeLengths(const Batch &examples) {
  tables.lengths.assign(program.lengths.size(), {});
  for (size_t number = 0; number < tables.lengths.size(); ++number) {
    if (!program.lengths[number].formula.empty())
      computeLength(number);
    else if (Status status = takeLength(number, examples); status.failed())
      return status;
    int64_t &maximum = tables.lengths[number].maximum;
    for (int64_t extent : tables.lengths[number].extents)
      maximum = std::max(maximum, extent);
    if (maximum > longestLength)
      return Status::error(fmt::format("length '{}' is {}, which is too large",
                                       program.lengths[number].name, maximum));
  }
  return Status::success();
}

void Workspace::computeLayout(size_t number) {
  std::vector<int64_t> &table = tables.offsets[number];
  table.assign(batch + 1, 0);
  for (int64_t example = 0; example < batch; ++example)
    if (int64_t places = tables.placesOf(program.layouts[number], example);
        __builtin_add_overflow(table[example], places, &table[example + 1]))
      table[example + 1] = std::numeric_limits<int64_t>::max();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t Workspace::places(int layout) const {
  return layout < 0 ? 1 : tables.offsets[layout][batch];
}

int64_t Workspace::bytesOf(const Program::Array &array) const {
  if (!array.part.empty())
    return bytesOfParts(array, slots);
  return bytesAt(array, places(array.layout));
}

bool Workspace::isOwned(const Program::Array &array,
                        const Binding &binding) const {
  if (array.role != Role::Parameter || !binding.memory)
    return false;
  // Data that a device cannot read are copied, and what has fewer bits than
  // the program reads is widened.
  auto given = binding.memory->find(array.name);
  return given != binding.memory->end() && isShared(given->second) &&
         (!isReal(array.element) || !isNarrow(array.name));
}

/// Packed parameters have permanent memory.
Status Workspace::allocatePacked() {
  if (kept)
    return Status::success();
  Arena memory;
  int64_t bytes = 0;
  packedPlaces.clear();
  for (const Program::Array &array : program.arrays)
    if (array.role == Role::Packed) {
      packedPlaces[array.slot] = bytes;
      bytes += (bytesOf(array) + arrayAlignment - 1) / arrayAlignment *
               arrayAlignment;
    }
  if (Status status = memory.reserve(bytes); status.failed())
    return status;
  kept = std::move(memory);
  return Status::success();
}

/// Data of the examples is with the tables, if a device reads both. Its slots
/// are those of the device.
Status Workspace::placeInputs() {
  inputs.clear();
  inputParts.clear();
  if (!Device::current()) {
    tables.enter(program, slots);
    return Status::success();
  }
  size_t ofTables = inputs.add(tables.bytes());
  // Any other size is an error of `allocate`.
  for (const Program::Array &array : program.arrays)
    if (array.role == Role::Data)
      if (int64_t bytes = bytesOf(array); bytes >= 0 && bytes <= longestLength)
        inputParts[array.slot] = inputs.add(bytes);
  if (Status status = inputs.reserve(); status.failed())
    return status;
  tables.enter(program, slots, inputs.host(ofTables), inputs.device(ofTables));
  for (auto [slot, part] : inputParts)
    slots[slot] = reinterpret_cast<int64_t>(inputs.device(part));
  return Status::success();
}

/// Allocate arrays one by one: the emulator detects accesses beyond them.
Status Workspace::allocateApart(const Placement &placement) {
  apart.clear();
  for (const Program::Array &array : program.arrays) {
    if (array.role == Role::Output || !placement.begins.contains(array.slot))
      continue;
    Arena &own = apart.emplace_back();
    if (Status status = own.reserve(bytesOf(array)); status.failed())
      return status;
    slots[array.slot] = reinterpret_cast<int64_t>(own.data());
  }
  return Status::success();
}

void Workspace::fillWithNaN(const Program::Array &array) {
  auto fill = [&](auto value) {
    auto *numbers = reinterpret_cast<decltype(value) *>(slots[array.slot]);
    std::fill_n(numbers, bytesOf(array) / sizeof(value), value);
  };
  if (array.element == Element::F32)
    fill(std::numeric_limits<float>::quiet_NaN());
  else if (array.element == Element::F64)
    fill(std::numeric_limits<double>::quiet_NaN());
  else if (array.element == Element::BF16)
    fill(brainBits(std::numeric_limits<float>::quiet_NaN()));
}

void Workspace::poison(int64_t number) {
  step = number;
  for (const Program::Array &array : program.arrays) {
    bool isDead = array.role == Role::Temporary && array.lastUse == number - 1;
    bool isNew =
        (array.role == Role::Temporary || array.role == Role::Output) &&
        array.firstUse == number;
    if ((isDead || isNew) && array.part.empty())
      fillWithNaN(array);
  }
}

void Workspace::poisonParts() {
  for (const Program::Array &array : program.arrays)
    if (!array.part.empty() && array.firstUse <= step && step <= array.lastUse)
      fillWithNaN(array);
}

Status Workspace::allocate(const Binding &binding) {
  Placement placement;
  auto bytesOfOwn = [&](const Program::Array &array) -> int64_t {
    bool isApart = array.role == Role::Packed || isOwned(array, binding) ||
                   inputParts.contains(array.slot);
    // Below -1 means that the size overflows.
    return isApart ? -1 : bytesOf(array) < 0 ? -2 : bytesOf(array);
  };
  if (Status status = placeArrays(program, bytesOfOwn, placement);
      status.failed())
    return status;
  numBytes = placement.numBytes;
  if (Status status = arena.reserve(numBytes); status.failed())
    return status;
  if (Status status = allocatePacked(); status.failed())
    return status;
  for (auto [slot, begin] : placement.begins)
    slots[slot] = reinterpret_cast<int64_t>(arena.data() + begin);
  if (Device::current() && Device::current()->isEmulator())
    if (Status status = allocateApart(placement); status.failed())
      return status;
  for (auto [slot, begin] : packedPlaces)
    slots[slot] = reinterpret_cast<int64_t>(kept->data() + begin);
  for (const Program::Array &array : program.arrays)
    if (isOwned(array, binding))
      slots[array.slot] =
          reinterpret_cast<int64_t>(binding.memory->at(array.name));
  return Status::success();
}

/// Where an example begins.
int64_t Workspace::offsetOf(const Program::Array &array,
                            int64_t example) const {
  int64_t start = array.layout < 0 ? 0 : tables.offsets[array.layout][example];
  return start * array.count * sizeOf(array.element);
}

void Workspace::willRun() {
  outputs.clear();
  for (const Program::Array &array : program.arrays)
    if (array.role == Role::Output && !array.name.starts_with("grad/"))
      outputs.add(reinterpret_cast<const void *>(slots[array.slot]),
                  bytesOf(array));
  outputs.order();
}

HostView Workspace::view(const Program::Array &array, int64_t begin,
                         int64_t bytes) const {
  const auto *place =
      reinterpret_cast<const std::byte *>(slots[array.slot]) + begin;
  const std::byte *copy = outputs.find(place, bytes);
  return {copy ? copy : place, static_cast<size_t>(bytes)};
}

std::vector<int64_t> Workspace::shapeOf(const Program::Array &array,
                                        int64_t example) const {
  std::vector<int64_t> shape;
  for (int64_t extent : array.shape)
    shape.push_back(extent >= 0 ? extent
                                : tables.lengths[-1 - extent].extents[example]);
  return shape;
}

Status Workspace::write(const Program::Array &array, int64_t example,
                        const std::vector<double> &values) {
  std::vector<std::byte> own;
  std::byte *to = nullptr;
  auto input = inputParts.find(array.slot);
  auto *place = reinterpret_cast<std::byte *>(slots[array.slot]) +
                offsetOf(array, example);
  if (input != inputParts.end()) {
    to = inputs.host(input->second) + offsetOf(array, example);
  } else if (isOwn(place)) {
    own.resize(values.size() * sizeOf(array.element));
    to = own.data();
  } else {
    to = place;
  }
  storeNumbers(values, array.element, to);
  if (!own.empty())
    copyBytes(place, own.data(), own.size());
  return array.element == Element::F32 ? checkFitsF32(array.name, values)
                                       : Status::success();
}

static int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

void fovea::runtime::copyParameter(const Program::Array &array,
                                   const void *from, std::byte *to) {
  const auto *bytes = static_cast<const std::byte *>(from);
  size_t size = array.count * sizeOf(array.element);
  if (!isNarrow(array.name) || !isReal(array.element))
    return copyBytes(to, bytes, size);
  HostView stored(
      from,
      isOwn(from) ? narrowBytes(*narrowFormat(array.name), array.shape) : 0);
  bool isCopied = isOwn(to);
  std::vector<std::byte> wide(isCopied ? size : 0);
  widenInto(array.name, stored.data(), array.count,
            array.element == Element::F64 ? DType::F64 : DType::F32,
            isCopied ? wide.data() : to);
  copyBytes(to, wide.data(), wide.size());
}

Status Workspace::fill(const Batch &examples, const Binding &binding) {
  const ParameterValues none;
  const ParameterValues &parameters = binding.values ? *binding.values : none;
  for (const Program::Array &array : program.arrays) {
    if (isOwned(array, binding))
      continue;
    if (array.role == Role::Parameter && binding.memory &&
        binding.memory->contains(array.name)) {
      copyParameter(array, binding.memory->at(array.name),
                    reinterpret_cast<std::byte *>(slots[array.slot]));
      continue;
    }
    if (array.role == Role::Parameter) {
      auto found = parameters.find(array.name);
      if (found == parameters.end() ||
          static_cast<int64_t>(found->second.size()) != countOf(array.shape))
        return Status::error(
            fmt::format("parameter '{}' is not given", array.name));
      if (isNarrow(array.name) && !isReal(array.element)) {
        std::vector<std::byte> bytes = narrowed(array.name, found->second);
        copyBytes(reinterpret_cast<void *>(slots[array.slot]), bytes.data(),
                  bytes.size());
        continue;
      }
      if (Status status = write(array, 0, found->second); status.failed())
        return status;
      continue;
    }
    if (array.role != Role::Data)
      continue;
    for (int64_t example = 0; example < batch; ++example) {
      std::vector<int64_t> shape = shapeOf(array, example);
      auto number = binding.numbers.find(array.name);
      auto found = examples[example]->data.find(array.name);
      if (number != binding.numbers.end() && shape.empty()) {
        if (Status status = write(array, example, {number->second});
            status.failed())
          return status;
        continue;
      }
      // State that no update has left is 0.
      if (found == examples[example]->data.end() &&
          array.name.starts_with(statePrefix)) {
        if (Status status = write(array, example, {0}); status.failed())
          return status;
        continue;
      }
      if (found == examples[example]->data.end())
        return Status::error(fmt::format("data '{}' is not given", array.name));
      if (found->second.shape == shape) {
        if (Status status = write(array, example, found->second.values);
            status.failed())
          return status;
        continue;
      }
      // A nested axis may be longer than necessary.
      const DataValues &given = found->second;
      bool fits = given.shape.size() == shape.size();
      int64_t count = 1;
      for (size_t axis = 0; fits && axis < shape.size(); ++axis) {
        fits = given.shape[axis] >= shape[axis];
        count *= shape[axis];
      }
      if (!fits)
        return Status::error(
            fmt::format("data '{}' has extents {} but the input has {}",
                        array.name, shapeText(shape), shapeText(given.shape)));
      std::vector<double> values(count);
      for (int64_t place = 0; place < count; ++place) {
        int64_t rest = place, source = 0, stride = 1;
        for (size_t axis = shape.size(); axis-- > 0;) {
          source += rest % shape[axis] * stride;
          stride *= given.shape[axis];
          rest /= shape[axis];
        }
        values[place] = given.values[source];
      }
      if (Status status = write(array, example, values); status.failed())
        return status;
    }
  }
  return Status::success();
}

Status Workspace::bind(const Batch &examples, const Binding &binding) {
  batch = examples.size();
  tables.ids.clear();
  for (const Example *example : examples)
    tables.ids.push_back(example->id);
  outputs.clear();
  slots.assign(program.numSlots, 0);
  if (Status status = takeLengths(examples); status.failed())
    return status;
  tables.offsets.assign(program.layouts.size(), {});
  for (size_t number = 0; number < tables.offsets.size(); ++number)
    computeLayout(number);
  tables.computeOrders(program);
  slots[Program::poolSlot] = reinterpret_cast<int64_t>(binding.pool);
  std::vector<int64_t> mostOf;
  for (const Tables::Length &length : tables.lengths)
    mostOf.push_back(length.maximum);
  setParts(program, mostOf, slots);
  if (Status status = placeInputs(); status.failed())
    return status;
  if (Status status = allocate(binding); status.failed())
    return status;
  slots[Program::batchSlot] = batch;
  slots[Program::seedSlot] =
      binding.seed ? int64_t(uint32_t(*binding.seed))
                   : int64_t(-1) - int64_t(uint32_t(binding.draws));
  slots[Program::updateSlot] = uint32_t(binding.update);
  if (Status status = fill(examples, binding); status.failed())
    return status;
  inputs.send();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static const Program::Array *findOutput(const Program &program,
                                        const std::string &name) {
  for (const Program::Array &array : program.arrays)
    if (array.role == Role::Output && array.name == name)
      return &array;
  return nullptr;
}

bool Workspace::hasOutput(const std::string &name) const {
  return findOutput(program, name) != nullptr;
}

std::vector<std::string> Workspace::outputsOf(const std::string &prefix) const {
  std::vector<std::string> names;
  for (const Program::Array &array : program.arrays)
    if (array.role == Role::Output && array.name.starts_with(prefix))
      names.push_back(array.name);
  std::sort(names.begin(), names.end());
  return names;
}

void *Workspace::memoryOf(const std::string &name) const {
  const Program::Array *array = findOutput(program, name);
  return array ? reinterpret_cast<void *>(slots[array->slot]) : nullptr;
}

const Tables::Length *Workspace::lengthNamed(const std::string &name) const {
  for (size_t number = 0; number < program.lengths.size(); ++number)
    if (program.lengths[number].name == name)
      return &tables.lengths[number];
  return nullptr;
}

int64_t Workspace::placeOf(const std::string &name, int64_t example) const {
  const Program::Array *array = findOutput(program, name);
  return !array || array->layout < 0 ? 0
                                     : tables.offsets[array->layout][example];
}

bool Workspace::isInside(const Program::Array &array, int64_t example,
                         const std::vector<int64_t> &indices) const {
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    if (array.shape[axis] >= 0)
      continue;
    int64_t id = -1 - array.shape[axis];
    const Program::Length &length = program.lengths[id];
    if (length.parent.empty())
      continue;
    for (size_t before = 0; before < axis; ++before) {
      int64_t other = -1 - array.shape[before];
      bool isParent = array.shape[before] >= 0
                          ? length.parentExtent == array.shape[before]
                          : program.lengths[other].name == length.parent;
      const Tables::Length &table = tables.lengths[id];
      if (isParent && indices[axis] >=
                          table.values[table.starts[example] + indices[before]])
        return false;
    }
  }
  return true;
}

DataValues Workspace::output(const std::string &name, int64_t example) const {
  const Program::Array *array = findOutput(program, name);
  DataValues result;
  if (!array)
    return result;
  result.shape = shapeOf(*array, example);
  int64_t count = 1;
  for (int64_t extent : result.shape)
    count *= extent;
  HostView numbers =
      view(*array, offsetOf(*array, example), count * sizeOf(array->element));
  result.values = loadNumbers(numbers.data(), array->element, count);
  std::vector<int64_t> indices(result.shape.size());
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t axis = indices.size(); axis-- > 0;) {
      indices[axis] = rest % result.shape[axis];
      rest /= result.shape[axis];
    }
    if (!isInside(*array, example, indices))
      result.values[i] = 0;
  }
  return result;
}

template <typename T>
void Workspace::addOutputTo(const std::string &name, T *sum) const {
  const Program::Array *array = findOutput(program, name);
  if (!array)
    return;
  auto add = [&](const auto *source) {
    for (int64_t part = 0; part < places(array->layout); ++part)
      for (int64_t i = 0; i < array->count; ++i)
        sum[i] += static_cast<T>(*source++);
  };
  HostView whole = view(
      *array, 0, places(array->layout) * array->count * sizeOf(array->element));
  const std::byte *from = whole.data();
  if (array->element == Element::F32)
    add(reinterpret_cast<const float *>(from));
  else if (array->element == Element::F64)
    add(reinterpret_cast<const double *>(from));
  else
    add(reinterpret_cast<const int64_t *>(from));
}

void Workspace::addOutput(const std::string &name, float *sum) const {
  addOutputTo(name, sum);
}

void Workspace::addOutput(const std::string &name, double *sum) const {
  addOutputTo(name, sum);
}

template <typename T>
const T *Workspace::wholeOutput(const std::string &name) const {
  constexpr Element own =
      sizeof(T) == sizeof(float) ? Element::F32 : Element::F64;
  const Program::Array *array = findOutput(program, name);
  return array && array->layout < 0 && array->element == own
             ? reinterpret_cast<const T *>(slots[array->slot])
             : nullptr;
}
template const float *Workspace::wholeOutput(const std::string &) const;
template const double *Workspace::wholeOutput(const std::string &) const;

double Workspace::totalOf(const std::string &name) const {
  const Program::Array *array = findOutput(program, name);
  if (!array)
    return 0;
  double sum = 0;
  addOutput(name, &sum);
  return array->layout < 0 ? sum * static_cast<double>(batch) : sum;
}
