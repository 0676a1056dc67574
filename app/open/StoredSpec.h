//===- StoredSpec.h - a spec that its weights carry -----------------------===//
//
// Weights from `fovea train` and `fovea init` contain the spec in their
// metadata, with the models that it uses and every `--set`. So a training
// folder, or its model.safetensors, can replace a spec in any command.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_OPEN_STOREDSPEC_H
#define FOVEA_APP_OPEN_STOREDSPEC_H

#include "app/Arguments.h"
#include "runtime/data/SafeTensors.h"

#include <map>

namespace fovea::cli {

struct StoredSpec {
  std::string name; // of its file: `rnnsearch.fov`
  std::string text;
  /// The texts of the models that it uses, by name.
  std::map<std::string, std::string> used;
  /// Other files that it names, such as a dictionary.
  std::map<std::string, std::string> files;
  std::vector<std::pair<std::string, std::string>> sets;
  /// The dims, for messages.
  std::map<std::string, int64_t> dims;

  /// Stores it in the metadata of weights, and reads it. Returns false if there
  /// is none, or it is damaged.
  void store(std::map<std::string, std::string> &metadata) const;
  bool take(const std::map<std::string, std::string> &metadata);
};

/// Reads weights with their spec: a safetensors file, or an ONNX model, which
/// is converted (frontends/onnx/Onnx.h). Removes overrides for the ONNX model
/// from `sets`.
runtime::Status
readModel(const std::string &path,
          std::vector<std::pair<std::string, std::string>> &sets,
          runtime::TensorFile &file);

/// Handles a spec argument that is a training folder or a weights file: it
/// provides the spec, and the weights unless `--weights` names others. A
/// resumed run writes to its own folder.
void findStored(Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_APP_OPEN_STOREDSPEC_H
