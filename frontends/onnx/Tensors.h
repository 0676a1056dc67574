//===- Tensors.h - the tensors of an ONNX file ----------------*- C++ -*-===//

#ifndef FOVEA_FRONTENDS_ONNX_TENSORS_H
#define FOVEA_FRONTENDS_ONNX_TENSORS_H

#include "runtime/data/SafeTensors.h"

namespace fovea::onnx::schema {
class TensorProto;
} // namespace fovea::onnx::schema

namespace fovea::onnx {

/// The whole file at `path`.
runtime::Status readFile(const std::string &path, std::string &bytes);

/// Reads a tensor; one that lies in another file is looked for beside `path`.
/// Float types become F32 or F64, all others F64.
runtime::Status readTensor(const schema::TensorProto &proto,
                           const std::string &path, runtime::Tensor &tensor);

/// The same of whole numbers and bits, exactly.
runtime::Status readWhole(const schema::TensorProto &proto,
                          const std::string &path,
                          std::vector<int64_t> &numbers);

} // namespace fovea::onnx

#endif // FOVEA_FRONTENDS_ONNX_TENSORS_H
