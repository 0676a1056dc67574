//===- CBatch.h - a batch as a struct of C --------------------------------===//
//
// The struct `NAME_batch` of a compiled model's header: 8-byte words, numbers
// and addresses, in an order that follows from the description. The compiler
// writes the header accordingly, and the runtime reads the struct. A caller of
// fovea.h names its arrays instead.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_CBATCH_H
#define FOVEA_RUNTIME_MODEL_CBATCH_H

#include "runtime/library/fovea.h"
#include "runtime/model/Description.h"

namespace fovea::runtime {

struct BatchField {
  enum Kind {
    Examples, // how many there are
    Ids,      // const int64_t *, or null
    Values,   // of a data name
    Extent,   // of one of its axes, as the array is laid out
    Lengths,  // const int64_t *: how much of that axis each example has
  } kind;
  size_t data = 0; // which
  size_t axis = 0; // of the data, from 0
  int number = 0;  // of the length among those of the data, from 1
};

/// The fields in order.
std::vector<BatchField> batchFields(const Description &description);

/// A batch of a caller: the struct of the model's own header, or arrays by
/// name. One of them is null; both, if the caller gave none.
struct GivenBatch {
  const void *words = nullptr;
  const fovea_batch *arrays = nullptr;

  bool isMissing() const { return !words && !arrays; }
};

/// Reads a batch. Data with null addresses, or without an array, are absent,
/// which is an error for names in `needed`.
Status readBatch(const Description &description, const GivenBatch &batch,
                 const std::vector<std::string> &needed,
                 std::vector<Example> &examples);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_CBATCH_H
