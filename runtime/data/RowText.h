//===- RowText.h - rows of generated values as text -----------------------===//
//
// Writes nested values in the input format: one list per row, with the data's
// separators between lists.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_ROWTEXT_H
#define FOVEA_RUNTIME_DATA_ROWTEXT_H

#include "runtime/data/Text.h"

namespace fovea::runtime {

/// The length of each row of values, if they are nested; else null.
const std::vector<int64_t> *rowsOf(const std::vector<DataAxis> &axes,
                                   const DataValues &values,
                                   const Lengths &lengths);

/// As `textOf`, for values [M, largest W]; row m has `rows[m]` places.
std::string textOfRows(const TextField &field, const DataValues &values,
                       const std::vector<int64_t> &rows, bool hasEnd,
                       const Vocabularies &vocabularies);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_ROWTEXT_H
