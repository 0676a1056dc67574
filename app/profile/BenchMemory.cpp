//===- BenchMemory.cpp - whether a measurement fits into the machine ------===//

#include "app/profile/BenchMemory.h"
#include "runtime/memory/MachineMemory.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

using namespace fovea;
using namespace fovea::cli;
using runtime::Program;
using runtime::Status;

/// The minimum overhead of an example, and of each of its arrays.
static constexpr double perObject = 128;

void BenchMemory::addParameters(const Model &model, bool isDouble) {
  for (const ParameterInfo &parameter : model.parameters) {
    double count = 1;
    for (int64_t extent : parameter.shape)
      count *= double(extent);
    parameters += count * (sizeof(double) + (isDouble ? 8 : 4));
  }
}

void BenchMemory::addData(const std::vector<runtime::DataSpec> &specs) {
  double each = perObject;
  for (const runtime::DataSpec &spec : specs) {
    double count = 1;
    for (const runtime::DataAxis &axis : spec.axes) {
      auto given = size.lengths.find(axis.length);
      count *= axis.length.empty()           ? double(axis.size)
               : given != size.lengths.end() ? double(given->second)
                                             : 1;
    }
    each += perObject + count * sizeof(double);
  }
  data += each * double(size.batch);
}

/// Parameters are counted separately, and a step reads data in place.
double BenchMemory::arraysOf(const Program &program,
                             const runtime::BatchSize &own, bool isStep) const {
  std::vector<int64_t> lengths = runtime::lengthsOf(program, own);
  double largest = 0;
  auto bytesOf = [&](const Program::Array &array) -> int64_t {
    if (array.role == Program::Role::Parameter ||
        (isStep && array.role == Program::Role::Data))
      return -1;
    int64_t bytes = runtime::bytesOf(program, array, own, lengths);
    largest = std::max(largest, bytes < 0 ? 0x1p63 : double(bytes));
    return bytes;
  };
  runtime::Placement placement;
  Status status = runtime::placeArrays(program, bytesOf, placement);
  return status.failed() ? largest : double(placement.numBytes);
}

void BenchMemory::addProgram(const Program &program) {
  arrays += arraysOf(program, size, /*isStep=*/false);
}

void BenchMemory::addDecoder(const runtime::Decoder &decoder, int64_t beam) {
  runtime::BatchSize rows = size;
  if (__builtin_mul_overflow(rows.batch, beam, &rows.batch))
    rows.batch = std::numeric_limits<int64_t>::max();
  for (size_t number = 0; number < decoder.programs.size(); ++number) {
    bool isStep = int(number) != decoder.encode;
    arrays += arraysOf(decoder.programs[number], isStep ? rows : size, isStep);
  }
}

Status BenchMemory::check() const {
  double total = parameters + data + arrays;
  auto has = double(runtime::machineBytes());
  constexpr double megabyte = 1 << 20;
  if (total <= has)
    return Status::success();
  return Status::machine(
      fmt::format("this needs {:.0f} MB, {:.0f} for weights, {:.0f} for "
                  "examples and {:.0f} for arrays, but the machine has {:.0f}",
                  total / megabyte, parameters / megabyte, data / megabyte,
                  arrays / megabyte, has / megabyte));
}
