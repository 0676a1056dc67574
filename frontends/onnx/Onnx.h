//===- Onnx.h - an ONNX file as a spec with its weights -------*- C++ -*-===//
//
// The interface of this front end: a file becomes the text of a spec, with one
// equation per node, and the tensors that it reads. So every command that
// accepts weights with a spec accepts an ONNX file (docs/ONNX.md lists the
// operators).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_ONNX_ONNX_H
#define FOVEA_FRONTENDS_ONNX_ONNX_H

#include "runtime/data/SafeTensors.h"

namespace fovea::onnx {

struct ImportedModel {
  std::string text; // of the spec
  runtime::TensorFile weights;
  /// The overrides for this file: lengths, and inputs that must be
  /// known.
  std::vector<std::string> usedSets;
};

/// Reads the file at `path`. `sets` give lengths a value, `N=1`, and inputs,
/// `shape=[2,3]`. An error names the node.
runtime::Status
importModel(const std::string &path,
            const std::vector<std::pair<std::string, std::string>> &sets,
            ImportedModel &model);

/// The same for the bytes of a file; external tensors are found beside
/// `path`.
runtime::Status
importBytes(const std::string &bytes, const std::string &path,
            const std::vector<std::pair<std::string, std::string>> &sets,
            ImportedModel &model);

/// The supported operators, in order.
std::vector<std::string> operatorNames();

} // namespace fovea::onnx

#endif // FOVEA_FRONTENDS_ONNX_ONNX_H
