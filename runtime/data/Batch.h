//===- Batch.h - the examples of a batch in a file ------------------------===//
//
// Splits the tensors of a batch file into examples. A file has one tensor per
// data name, padded on the right, examples first: `src` int64 [batch, max S]
// with `src.length` int64 [batch]; the second length of a name is
// `story.length.2`, [batch, max M] when it is nested in the first. Optional
// `example` int64 [batch]: the ids that random numbers are counted by.
//
// If no tensor has a batch axis and none is a length, the file is one example,
// with the extents of its tensors.
//
// Padding is never read. An example whose data has an extent of 0 is refused; a
// nested extent may be 0.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_BATCH_H
#define FOVEA_RUNTIME_DATA_BATCH_H

#include "runtime/data/SafeTensors.h"

#include <optional>

namespace fovea::runtime {

/// The name of numbers that one update passes to the next: the baseline of an
/// estimator. The caller provides them; without a caller they are 0.
inline constexpr char statePrefix[] = "state.";

/// One axis of data: a number, a length that comes with the data, or a length
/// per index of an earlier axis (`parent`).
struct DataAxis {
  std::string length; // empty: a number
  int64_t size = 0;   // when it is a number
  std::string parent; // empty: not nested
};

enum class DataKind { Real, Whole, Bit };

struct DataSpec {
  std::string name;
  DataKind kind = DataKind::Real;
  std::vector<DataAxis> axes;
  /// Whole numbers are 0 .. limit-1; 0: any number. Places of an array are 0 ..
  /// length+limit-1, with its length `limitLength`.
  int64_t limit = 0;
  std::string limitLength{};
};

/// The values of one data name for one example, cut to the example's lengths. A
/// nested axis has the largest of its lengths, with zeros past the others.
struct DataValues {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

/// One number, or one per index of the parent.
struct LengthValues {
  bool nested = false;
  std::vector<int64_t> values;

  static LengthValues of(int64_t value) { return {false, {value}}; }
  static LengthValues perParent(std::vector<int64_t> values) {
    return {true, std::move(values)};
  }
};

/// The lengths by name.
using Lengths = std::map<std::string, LengthValues>;

struct Example {
  int64_t id = 0;
  std::map<std::string, DataValues> data;
  Lengths lengths;
  /// The prefix symbols of a search, by generated name.
  std::map<std::string, std::vector<double>> prefix;
  /// The source words that replace unknown ones (UnknownWords.h), if
  /// requested.
  std::vector<std::string> words;
};

/// Sets an example's lengths from its data `name`. Returns a conflict with the
/// lengths of other data as a sentence, or an empty string.
std::string addLengths(const std::string &name, const Lengths &lengths,
                       Example &example);

/// The upper bound of the values of `spec` in an example, or nothing.
std::optional<int64_t> limitOf(const DataSpec &spec, const Example &example);

/// Returns whether the values of `spec` stay below its limit in example
/// `number`.
Status checkLimit(const DataSpec &spec, const Example &example, size_t number);

/// Returns whether F32 can represent all finite values of `name`.
Status checkFitsF32(const std::string &name, const std::vector<double> &values);

/// A tensor stored elsewhere: dense, last index fastest.
struct TensorView {
  DType type = DType::F64;
  std::vector<int64_t> shape;
  const std::byte *data = nullptr;

  bool isReal() const { return runtime::isReal(type); }
  double at(int64_t i) const { return elementOf(type, data, i); }
};

/// Splits tensors into examples. Values past a length are not read. Tensors
/// that `specs` does not name are an error only when they look like a misspelt
/// length (`x.length` of no x). If the tensors have a part of all examples,
/// `before` is the number of examples before them.
Status splitBatch(const std::map<std::string, TensorView> &tensors,
                  const std::vector<DataSpec> &specs,
                  std::vector<Example> &examples, int64_t before = 0);

/// The same for the tensors of a file.
Status splitBatch(const TensorFile &file, const std::vector<DataSpec> &specs,
                  std::vector<Example> &examples, int64_t before = 0);

/// Joins arrays of one name, one per example, into a tensor [batch, max
/// extents..], padded with zeros.
Tensor joinPadded(DType type, const std::vector<DataValues> &parts);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_BATCH_H
