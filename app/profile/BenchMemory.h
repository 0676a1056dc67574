//===- BenchMemory.h - whether a measurement fits into the machine --------===//
//
// For `fovea bench`: rejects a batch that is too large by its lengths, before
// allocating it. The system overcommits memory, and kills the process that uses
// it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_PROFILE_BENCHMEMORY_H
#define FOVEA_APP_PROFILE_BENCHMEMORY_H

#include "frontends/fov/Frontend.h"
#include "runtime/Decoder.h"
#include "runtime/data/Batch.h"
#include "runtime/memory/Placement.h"

namespace fovea::cli {

/// The minimum memory of a measurement.
class BenchMemory {
public:
  explicit BenchMemory(runtime::BatchSize size) : size(std::move(size)) {}

  /// The generated weights, and a copy in the element type of the code.
  void addParameters(const Model &model, bool isDouble);
  /// The generated examples.
  void addData(const std::vector<runtime::DataSpec> &specs);
  /// A program's memory for the batch.
  void addProgram(const runtime::Program &program);
  /// The programs of a search with so many hypotheses per example.
  void addDecoder(const runtime::Decoder &decoder, int64_t beam);

  /// Fails with an environment failure if the machine has less memory.
  runtime::Status check() const;

private:
  double arraysOf(const runtime::Program &program,
                  const runtime::BatchSize &own, bool isStep) const;

  runtime::BatchSize size;
  double parameters = 0, data = 0, arrays = 0; // bytes
};

} // namespace fovea::cli

#endif // FOVEA_APP_PROFILE_BENCHMEMORY_H
