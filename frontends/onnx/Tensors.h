//===- Tensors.h - the tensors of an ONNX file ----------------*- C++ -*-===//

#ifndef FOVEA_FRONTENDS_ONNX_TENSORS_H
#define FOVEA_FRONTENDS_ONNX_TENSORS_H

#include "runtime/data/SafeTensors.h"

#include <map>

namespace fovea::onnx::schema {
class TensorProto;
} // namespace fovea::onnx::schema

namespace fovea::onnx {

/// The whole file at `path`.
runtime::Status readFile(const std::string &path, std::string &bytes);

/// Reads the tensors of the model at `path`, and those in external files beside
/// it: opens each file once, and reads only the required bytes.
class TensorReader {
public:
  explicit TensorReader(std::string path) : path(std::move(path)) {}
  ~TensorReader();
  TensorReader(const TensorReader &) = delete;
  TensorReader &operator=(const TensorReader &) = delete;

  /// Float types become F32 or F64, all others F64.
  runtime::Status read(const schema::TensorProto &proto,
                       runtime::Tensor &tensor);
  /// The same for whole numbers and bits, exactly.
  runtime::Status readWhole(const schema::TensorProto &proto,
                            std::vector<int64_t> &numbers);

private:
  template <typename Number>
  runtime::Status readNumbers(const schema::TensorProto &proto,
                              std::vector<Number> &numbers);
  runtime::Status readExternal(const schema::TensorProto &proto,
                               uint64_t needed, std::string &bytes);
  int openBeside(const std::string &name, std::string &why);

  std::string path;
  std::map<std::string, int> files; // descriptors, by their names in the model
};

} // namespace fovea::onnx

#endif // FOVEA_FRONTENDS_ONNX_TENSORS_H
