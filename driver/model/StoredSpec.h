//===- StoredSpec.h - a spec that its weights carry -----------------------===//
//
// Weights that `fovea train` and `fovea init` write have the spec in their
// metadata, with all that it uses and every `--set`, so that the folder of a
// training, or its model.safetensors, stands wherever a command takes a spec.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MODEL_STOREDSPEC_H
#define FOVEA_DRIVER_MODEL_STOREDSPEC_H

#include "driver/Arguments.h"
#include "runtime/data/SafeTensors.h"

#include <map>

namespace fovea::cli {

struct StoredSpec {
  std::string name; // of its file: `rnnsearch.fov`
  std::string text;
  /// The texts of what it uses, by the names of the models.
  std::map<std::string, std::string> used;
  /// Other texts that it names, such as a dictionary.
  std::map<std::string, std::string> files;
  std::vector<std::pair<std::string, std::string>> sets;
  /// The dims, for messages.
  std::map<std::string, int64_t> dims;

  /// Puts it into the metadata of weights, and takes it from there. False where
  /// there is none, or it is damaged.
  void store(std::map<std::string, std::string> &metadata) const;
  bool take(const std::map<std::string, std::string> &metadata);
};

/// Reads weights with their spec: a safetensors file, or an ONNX model, which
/// becomes one (frontends/onnx/Onnx.h). Overrides that are for the latter are
/// taken out of `sets`.
runtime::Status
readModel(const std::string &path,
          std::vector<std::pair<std::string, std::string>> &sets,
          runtime::TensorFile &file);

/// Where a spec of the command line is the folder of a training or a file of
/// weights: the file that has the spec, and the weights, unless others are
/// named. A training that is resumed writes to its own folder.
void findStored(Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MODEL_STOREDSPEC_H
