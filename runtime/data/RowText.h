//===- RowText.h - rows of generated values as text -----------------------===//
//
// Nested values are written as they are read: a list for each row, with what
// the data have between lists.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_ROWTEXT_H
#define FOVEA_RUNTIME_DATA_ROWTEXT_H

#include "runtime/data/Text.h"

namespace fovea::runtime {

/// How long each row of values is, where they are nested; null: they are not.
const std::vector<int64_t> *rowsOf(const std::vector<DataAxis> &axes,
                                   const DataValues &values,
                                   const Lengths &lengths);

/// As `textOf`, of values [M, largest W] of which row m has `rows[m]` places.
std::string textOfRows(const TextField &field, const DataValues &values,
                       const std::vector<int64_t> &rows, bool hasEnd,
                       const Vocabularies &vocabularies);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_ROWTEXT_H
