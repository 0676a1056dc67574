//===- OnnxModel.h - a model as an ONNX file ------------------------------===//

#ifndef FOVEA_APP_PACKAGE_ONNXMODEL_H
#define FOVEA_APP_PACKAGE_ONNXMODEL_H

#include "app/Arguments.h"

namespace fovea::cli {

/// `fovea compile --emit onnx`: writes the loss, log p and the equations of a
/// model with its weights. Returns the exit code.
int runOnnx(const Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_APP_PACKAGE_ONNXMODEL_H
