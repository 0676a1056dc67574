//===- Sample.h - small inputs that a program is proved on -----*- C++ -*-===//

#ifndef FOVEA_COMPILER_PROOF_SAMPLE_H
#define FOVEA_COMPILER_PROOF_SAMPLE_H

#include "dialect/reference/Batch.h"

namespace fovea::proof {

/// Three examples of different lengths, with drawn values: they decide which
/// branches are taken.
struct Sample {
  reference::Arrays parameters;
  std::vector<reference::Inputs> examples; // which read `parameters`
};

/// Draws a sample for a system or a program that reads `data`. A larger
/// `attempt` has longer lengths: some models need a few places.
runtime::Status drawSample(mlir::Operation *container,
                           const std::vector<runtime::DataSpec> &data,
                           unsigned attempt, Sample &sample);

} // namespace fovea::proof

#endif // FOVEA_COMPILER_PROOF_SAMPLE_H
