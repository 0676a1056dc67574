//===- ArrayData.h - arrays of all examples -------------------------------===//
//
// npy and npz files, and tensors, whose first axis is the examples. Reads a few
// examples at a time, so a file may exceed memory. Arrays in another order, and
// safetensors, are loaded completely.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_ARRAYDATA_H
#define FOVEA_APP_DATA_ARRAYDATA_H

#include "app/data/Npy.h"
#include "app/data/TextData.h"

namespace fovea::cli {

/// Returns whether `path` is a file of arrays with all examples: `x.npy`,
/// `x.npz`, or
/// `x.npz:images`, one array of it.
bool isArrayFile(llvm::StringRef path);

class ArrayData {
public:
  /// Adds the array of `data` in a file of arrays, with its lengths; missing
  /// lengths are the array's extents.
  runtime::Status add(const std::string &path, const DataInfo &data,
                      const runtime::DataSpec &spec);
  /// The same for all data that an npz file names.
  runtime::Status addAll(const std::string &path, const Model &model,
                         const std::vector<runtime::DataSpec> &specs);
  void add(const std::string &name, runtime::Tensor tensor) {
    arrays[name].whole = std::move(tensor);
  }

  bool contains(const std::string &name) const { return arrays.count(name); }

  /// Ends the setup; `specs` are the example's data. Read errors appear later,
  /// when the arrays are read.
  void begin(std::vector<runtime::DataSpec> specs);
  /// Returns the next examples, some at a time; none at the end. Messages use
  /// `path` as their place.
  runtime::Status read(const std::string &path,
                       std::vector<runtime::Example> &examples);

private:
  struct Array {
    std::unique_ptr<NpyRows> rows; // null: `whole` is there
    runtime::Tensor whole;
    std::string path;
    const DataInfo *data = nullptr; // of a file of numpy, and no length
    runtime::DataSpec spec;

    const std::vector<int64_t> &shape() const {
      return rows ? rows->shape() : whole.shape;
    }
  };

  runtime::Status open(const std::string &path, const std::string &member,
                       Array &array);
  runtime::Status take(Array &array, int64_t count, runtime::Tensor &tensor);
  void addFullLengths(const runtime::DataSpec &spec);

  std::map<std::string, Array> arrays;
  std::vector<runtime::DataSpec> specs;
  /// The number of examples; how many are done; how many to read at a time.
  int64_t numAll = 0, numDone = 0, numPart = 0;
  bool isWhole = false; // all at once, as one batch
};

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_ARRAYDATA_H
