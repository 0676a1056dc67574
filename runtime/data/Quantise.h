//===- Quantise.h - weights in fewer bits -----------------------*- C++ -*-===//
//
// The weights of a model with `--precision`, by the kinds of StorageFormat.h:
// numbers and a scale for each column (int8), rounded numbers (bf16 on a CPU),
// or multiples of a scale for each group (int4). The compiler, its interpreter
// and programs compute them by this function, from the same f32 weights.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_QUANTISE_H
#define FOVEA_RUNTIME_DATA_QUANTISE_H

#include "runtime/data/StorageFormat.h"

namespace fovea::runtime {

/// The name of the numbers of parameter `path`: rounded, `w:bf16`; with scales
/// of columns, whose products sum along axis `number`, `w:int8.1`; in groups,
/// where `number` is the extent of its last axis, `w:int4.512`. No other
/// parameter has a colon.
std::string narrowName(const std::string &path, const StorageFormat &format,
                       size_t number);
/// The name of the scales of columns: `w:scale.1`.
std::string scaleName(const std::string &path, const StorageFormat &format,
                      size_t axis);

/// A parameter whose name is one of these.
struct QuantisedName {
  std::string path;
  const StorageFormat *format = nullptr;
  bool isScale = false;
  size_t number = 0; // the axis of numbers and scales, the extent of groups
};
/// Returns nothing for any other name.
bool readQuantisedName(const std::string &name, QuantisedName &result);

/// The parameter that `name` is computed from: without such an ending, itself.
std::string originalName(const std::string &name);

/// Adds the arrays of a name to `parts`: the rounded weights, or both the
/// numbers and the scales along its axis. With scales of columns, in f32, where
/// `largest` is the largest number of the format, 127 in int8:
///
///     scale  = max |w| / largest, over the axis
///     number = w / scale, rounded to the nearest number, ties to even, of a
///              size of at most `largest`
///
/// and both are 0 where all are 0. In int4, 32 weights along the last axis are
/// a group:
///
///     scale  = m / -8, rounded to bf16, where m is the weight of largest size,
///              the first of equals; 0 below the normal numbers
///     number = w / scale, rounded likewise, at least -8 and at most 7
///     weight = scale * number, which f32 has exactly
///
/// A group is stored in 18 bytes: the scale, and two numbers per byte, the
/// first in the lower half. Weights that the format cannot represent are an
/// error: but in bf16 weights that are not finite, but in int8 finite weights
/// that would become infinite.
Status quantise(const QuantisedName &name, const Tensor &weights,
                std::map<std::string, Tensor> &parts);

/// Adds the numbers, scales and rounded weights that `names` has to a file of
/// weights, and removes the weights that `names` does not have.
Status quantise(TensorFile &file, const std::vector<std::string> &names);

/// The number of weights in a group of 4 bits, and its bytes.
constexpr int64_t weightsOfGroup = 32;
constexpr int64_t bytesOfGroup = 2 + weightsOfGroup / 2;
/// The groups of a row.
constexpr int64_t groupsIn(int64_t extent) {
  return (extent + weightsOfGroup - 1) / weightsOfGroup;
}

/// The number of groups before the one of an element, in rows of an extent.
constexpr int64_t groupOf(int64_t element, int64_t extent) {
  return element / extent * groupsIn(extent) +
         element % extent / weightsOfGroup;
}

/// How the memory of a parameter with such a name has fewer bits; null for any
/// other, and for scales, which are real numbers.
const StorageFormat *narrowFormat(const std::string &name);
inline bool isNarrow(const std::string &name) {
  return narrowFormat(name) != nullptr;
}
/// The bytes of such memory for these extents.
int64_t narrowBytes(const StorageFormat &format,
                    const std::vector<int64_t> &shape);
/// What its memory has of these numbers, which the format has exactly.
std::vector<std::byte> narrowed(const std::string &name,
                                const std::vector<double> &values);
/// Moves the narrow parameters of a file, as memory has them, to another.
Status takeNarrow(TensorFile &file, TensorFile &narrow);
/// Writes `count` numbers of such memory as reals of this type.
void widenInto(const std::string &name, const std::byte *from, int64_t count,
               DType type, std::byte *to);

/// The extents of what programs read of a tensor: only groups are stored with
/// others. Groups that do not match their name keep theirs.
std::vector<int64_t> wideShape(const std::string &name, const Tensor &stored);
/// What programs read of a parameter with such a name, as reals of this type.
Tensor widened(const std::string &name, const Tensor &stored, DType type);
/// Writes the same to memory that has room for them.
void widenInto(const std::string &name, const Tensor &stored, DType type,
               std::byte *to);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_QUANTISE_H
