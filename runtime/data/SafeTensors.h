//===- SafeTensors.h - named tensors in a file ----------------------------===//
//
// Reads and writes the safetensors format: a JSON header with names, types,
// extents and offsets, then the bytes. A file is untrusted: its header is
// checked completely before any byte is used, and each mistake is one error
// that names the tensor.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_SAFETENSORS_H
#define FOVEA_RUNTIME_DATA_SAFETENSORS_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::runtime {

/// Files have BF16, F16 and F8_E4M3; what is read from one is F32, but for
/// parameters in fewer bits (runtime/data/Quantise.h).
enum class DType {
  F64,
  F32,
  BF16,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  Bool,
  F16,
  F8E4M3
};

/// `F64`, `I32`, `BOOL`: the name in a file.
std::string_view nameOf(DType type);
/// The size of one element in bytes.
size_t sizeOf(DType type);

inline bool isReal(DType type) {
  return type == DType::F64 || type == DType::F32;
}
/// Returns element `i` of an array as a number. Integers beyond 2^53 are
/// rounded.
double elementOf(DType type, const std::byte *array, int64_t i);

/// A dense, row-major tensor. Bytes are little-endian.
struct Tensor {
  DType type = DType::F64;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  int64_t numElements() const;
  bool isReal() const { return runtime::isReal(type); }
  double at(int64_t i) const { return elementOf(type, bytes.data(), i); }
  /// Returns all elements as numbers.
  std::vector<double> toDoubles() const;
  /// Makes a tensor of `type` from `values`, one per element.
  static Tensor of(DType type, std::vector<int64_t> shape,
                   const std::vector<double> &values);
};

/// `[2, 25, 512]`.
std::string shapeText(const std::vector<int64_t> &shape);

struct TensorFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata; // `__metadata__`
};

/// Reads a whole file. On an error `file` is empty. If the file has a checksum
/// (runtime/data/TensorSeal.h), its content must match it.
Status readSafeTensors(const std::string &path, TensorFile &file);
/// The same from memory; messages use `name` for the file.
Status parseSafeTensors(std::string_view bytes, const std::string &name,
                        TensorFile &file);
/// Returns the bytes of a file, with its checksum.
std::string formatSafeTensors(const TensorFile &file);
/// Writes to a temporary file and renames it: `path` is never half a file.
/// Replaces the target of a link; writes into a device or a pipe.
Status writeSafeTensors(const std::string &path, const TensorFile &file);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_SAFETENSORS_H
