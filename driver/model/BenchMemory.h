//===- BenchMemory.h - whether a measurement fits into the machine --------===//
//
// For `fovea bench`: a batch that is too large is found from its lengths,
// before any of it is drawn. The system promises more memory than it has, and
// ends the process that uses it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MODEL_BENCHMEMORY_H
#define FOVEA_DRIVER_MODEL_BENCHMEMORY_H

#include "frontends/fov/Frontend.h"
#include "runtime/Decoder.h"
#include "runtime/data/Batch.h"
#include "runtime/memory/Placement.h"

namespace fovea::cli {

/// What a measurement takes at least.
class BenchMemory {
public:
  explicit BenchMemory(runtime::BatchSize size) : size(std::move(size)) {}

  /// The weights as they are drawn, and a copy in the element type of the code.
  void addParameters(const Model &model, bool isDouble);
  /// The examples as they are drawn.
  void addData(const std::vector<runtime::DataSpec> &specs);
  /// What a program keeps of the batch.
  void addProgram(const runtime::Program &program);
  /// The programs of a search of so many hypotheses for each example.
  void addDecoder(const runtime::Decoder &decoder, int64_t beam);

  /// An error of the machine where that is more than it has.
  runtime::Status check() const;

private:
  double arraysOf(const runtime::Program &program,
                  const runtime::BatchSize &own, bool isStep) const;

  runtime::BatchSize size;
  double parameters = 0, data = 0, arrays = 0; // bytes
};

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MODEL_BENCHMEMORY_H
