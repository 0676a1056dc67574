//===- StepMemory.cpp - the memory of one part of a step ------------------===//

#include "runtime/memory/StepMemory.h"
#include "runtime/Element.h"
#include "runtime/data/Quantise.h"
#include "runtime/device/Device.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

using namespace fovea::runtime;
using Role = Program::Role;
using Layout = Program::Layout;

//===----------------------------------------------------------------------===//
// Once per batch
//===----------------------------------------------------------------------===//

/// What is packed, and parameters in fewer bits that are read as reals.
static bool isKept(const Program::Array &array) {
  return array.role == Role::Packed ||
         (array.role == Role::Parameter && isReal(array.element) &&
          isNarrow(array.name));
}

static int64_t keptBytes(const Program::Array &array) {
  return (array.count * sizeOf(array.element) + arrayAlignment - 1) /
         arrayAlignment * arrayAlignment;
}

Status StepMemory::begin(const Workspace &from, const OwnedMemory &parameters,
                         void *pool) {
  encoded = &from;
  slots.resize(program.numSlots);
  slots[Program::poolSlot] = reinterpret_cast<int64_t>(pool);
  slots[Program::seedSlot] = from.seed();
  capacity = 0;
  present = StepRows();
  mostOf.assign(program.lengths.size(), 0);
  for (size_t number = 0; number < mostOf.size(); ++number)
    if (const auto *table = from.lengthNamed(program.lengths[number].name))
      mostOf[number] = table->maximum;
  int64_t bytes = 0;
  for (const Program::Array &array : program.arrays) {
    if (array.role == Role::Parameter) {
      auto given = parameters.find(array.name);
      const void *memory =
          given != parameters.end() ? given->second : from.memoryOf(array.name);
      if (!memory)
        return Status::error(
            fmt::format("parameter '{}' is not given", array.name));
      slots[array.slot] = reinterpret_cast<int64_t>(memory);
    } else if (array.role == Role::Data) {
      slots[array.slot] = reinterpret_cast<int64_t>(from.memoryOf(array.name));
    }
    if (isKept(array))
      bytes += keptBytes(array);
  }
  if (Status status = kept.reserve(bytes); status.failed())
    return status;
  bytes = 0;
  for (const Program::Array &array : program.arrays) {
    if (!isKept(array))
      continue;
    std::byte *own = kept.data() + bytes;
    if (array.role == Role::Parameter)
      copyParameter(array, reinterpret_cast<const void *>(slots[array.slot]),
                    own);
    slots[array.slot] = reinterpret_cast<int64_t>(own);
    bytes += keptBytes(array);
  }
  if (isPrepared)
    return Status::success();
  if (code.prepare)
    code.prepare(slots.data());
  isPrepared = true;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// For a row, the extent of a length that is computed from the search's length.
static int64_t openExtent(const Program &program, const Tables &tables,
                          size_t number, size_t row) {
  const auto &formula = program.lengths[number].formula;
  if (formula.empty())
    return 0;
  std::vector<int64_t> earlier;
  for (size_t other = 0; other < number; ++other)
    earlier.push_back(tables.lengths[other].extents[row]);
  return evaluate(formula, earlier);
}

void StepMemory::computeLengths(const StepRows &rows) {
  tables.lengths.resize(program.lengths.size());
  for (size_t number = 0; number < tables.lengths.size(); ++number) {
    Tables::Length &table = tables.lengths[number];
    table.extents.clear();
    table.values.clear();
    table.starts.clear();
    table.maximum = 0;
    const auto *given = encoded->lengthNamed(program.lengths[number].name);
    bool isOpen = program.lengths[number].name == openLength;
    for (size_t row = 0; row < rows.examples.size(); ++row) {
      int64_t example = rows.examples[row];
      int64_t extent = isOpen  ? rows.length
                       : given ? given->extents[example]
                               : openExtent(program, tables, number, row);
      table.extents.push_back(extent);
      table.maximum = std::max(table.maximum, extent);
      if (!given || program.lengths[number].parent.empty())
        continue;
      table.starts.push_back(table.values.size());
      auto begin = given->values.begin() + given->starts[example];
      auto end = size_t(example) + 1 < given->starts.size()
                     ? given->values.begin() + given->starts[example + 1]
                     : given->values.end();
      table.values.insert(table.values.end(), begin, end);
    }
  }
}

void StepMemory::computeLayouts(const StepRows &rows) {
  int64_t count = rows.examples.size();
  tables.offsets.resize(program.layouts.size());
  for (size_t number = 0; number < tables.offsets.size(); ++number) {
    std::vector<int64_t> &table = tables.offsets[number];
    table.assign(count + 1, 0);
    if (program.layouts[number].kind == Layout::Packed) {
      for (int64_t row = 0; row < count; ++row)
        table[row + 1] =
            table[row] + tables.placesOf(program.layouts[number], row);
      continue;
    }
    for (const Program::Array &array : program.arrays)
      if (array.role == Role::Data && array.layout == int(number) &&
          program.layouts[number].kind == Layout::OfExample) {
        for (int64_t row = 0; row < count; ++row)
          table[row] = encoded->placeOf(array.name, rows.examples[row]);
        break;
      }
  }
}

int64_t StepMemory::mostPlaces(int layout, int64_t rows) const {
  if (layout < 0)
    return 1;
  for (int length : program.layouts[layout].lengths)
    if (__builtin_mul_overflow(rows, mostOf[length], &rows))
      return std::numeric_limits<int64_t>::max();
  return rows;
}

/// Reserves so many rows, each of the maximum length.
Status StepMemory::allocate(int64_t rows) {
  Placement placement;
  setParts(program, mostOf, slots);
  auto bytesOf = [&](const Program::Array &array) -> int64_t {
    if (array.role != Role::Temporary)
      return -1;
    int64_t bytes = !array.part.empty()
                        ? bytesOfParts(array, slots)
                        : bytesAt(array, mostPlaces(array.layout, rows));
    return bytes < 0 ? -2 : bytes;
  };
  if (Status status = placeArrays(program, bytesOf, placement); status.failed())
    return status;
  if (Status status = arena.reserve(placement.numBytes); status.failed())
    return status;
  for (auto [slot, begin] : placement.begins)
    slots[slot] = reinterpret_cast<int64_t>(arena.data() + begin);
  capacity = rows;
  return Status::success();
}

Status StepMemory::setRows(const StepRows &rows) {
  int64_t count = rows.examples.size();
  bool grows = count > capacity;
  for (size_t number = 0; number < mostOf.size(); ++number) {
    const Program::Length &length = program.lengths[number];
    if (length.name == openLength && rows.length > mostOf[number]) {
      mostOf[number] = std::max<int64_t>(16, 2 * rows.length);
      grows = true;
    }
    // What is computed from it follows it.
    if (!length.formula.empty() && !encoded->lengthNamed(length.name))
      mostOf[number] = evaluate(length.formula, mostOf);
  }
  if (grows)
    if (Status status = allocate(std::max(count, capacity)); status.failed())
      return status;
  if (program.stepSlot != 0)
    slots[program.stepSlot] = rows.step;
  if (program.insideSlot != 0)
    slots[program.insideSlot] = rows.inside;
  bool isSame = rows.examples == present.examples && !tables.lengths.empty() &&
                (openLength.empty() || rows.length == present.length);
  present = rows;
  if (isSame)
    return Status::success();
  computeLengths(rows);
  computeLayouts(rows);
  tables.computeOrders(program);
  tables.ids.clear();
  for (int64_t example : rows.examples)
    tables.ids.push_back(encoded->idOf(example));
  slots[Program::batchSlot] = count;
  hasEntered = false;
  return Status::success();
}

/// Brings the tables to where kernels read them.
Status StepMemory::enterTables() {
  hasEntered = true;
  if (!Device::current()) {
    tables.enter(program, slots);
    return Status::success();
  }
  inputs.clear();
  size_t part = inputs.add(tables.bytes());
  if (Status status = inputs.reserve(); status.failed())
    return status;
  tables.enter(program, slots, inputs.host(part), inputs.device(part));
  inputs.send();
  return Status::success();
}

Status StepMemory::run() {
  if (!hasEntered)
    if (Status status = enterTables(); status.failed())
      return status;
  return code.runChecked(slots.data());
}

void StepMemory::setData(const std::string &name, const void *memory) {
  if (const Program::Array *array = findData(name))
    slots[array->slot] = reinterpret_cast<int64_t>(memory);
}

void StepMemory::setBuffers(const std::string &name, const void *memory,
                            const std::vector<int64_t> &places) {
  const Program::Array *array = findData(name);
  if (!array)
    return;
  slots[array->slot] = reinterpret_cast<int64_t>(memory);
  std::vector<int64_t> &table = tables.offsets[array->layout];
  std::copy(places.begin(), places.end(), table.begin());
  hasEntered = false;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static const Program::Array *findArray(const Program &program, Role role,
                                       const std::string &name) {
  for (const Program::Array &array : program.arrays)
    if (array.role == role && array.name == name)
      return &array;
  return nullptr;
}

const Program::Array *StepMemory::findOutput(const std::string &name) const {
  return findArray(program, Role::Output, name);
}

const Program::Array *StepMemory::findData(const std::string &name) const {
  return findArray(program, Role::Data, name);
}

const std::byte *StepMemory::row(const Program::Array &output, int64_t row,
                                 int64_t &bytes) const {
  int64_t width = output.count * sizeOf(output.element);
  const auto *memory = reinterpret_cast<const std::byte *>(slots[output.slot]);
  if (output.layout < 0) {
    bytes = width;
    return memory;
  }
  bytes = tables.placesOf(program.layouts[output.layout], row) * width;
  return memory + tables.offsets[output.layout][row] * width;
}
