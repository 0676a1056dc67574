//===- Onnx.h - an ONNX file as a spec with its weights -------*- C++ -*-===//
//
// All that the rest of the compiler sees of this front end: a file becomes the
// text of a spec, an equation for each node, and the tensors that it reads. So
// whatever takes a spec that weights carry takes an ONNX file
// (docs/ONNX.md says which operators there are).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_FRONTENDS_ONNX_ONNX_H
#define FOVEA_FRONTENDS_ONNX_ONNX_H

#include "runtime/data/SafeTensors.h"

namespace fovea::onnx {

struct ImportedModel {
  std::string text; // of the spec
  runtime::TensorFile weights;
  /// The overrides that were for this file: lengths, and inputs that have to be
  /// known.
  std::vector<std::string> usedSets;
};

/// Reads the file at `path`. `sets` give lengths a value, `N=1`, and inputs,
/// `shape=[2,3]`. An error names the node.
runtime::Status
importModel(const std::string &path,
            const std::vector<std::pair<std::string, std::string>> &sets,
            ImportedModel &model);

/// The operators that are known, in order.
std::vector<std::string> operatorNames();

} // namespace fovea::onnx

#endif // FOVEA_FRONTENDS_ONNX_ONNX_H
