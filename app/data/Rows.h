//===- Rows.h - rows of JSON lines and of tables --------------------------===//
//
// A file of JSON lines has an object per line, a table (.csv) a header and a
// row per line. The value of a name becomes a line of text, as other files have
// it.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_ROWS_H
#define FOVEA_APP_DATA_ROWS_H

#include "runtime/Status.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace fovea::cli {

enum class RowKind { Text, Json, Table };

/// What a file name promises, compressed or not.
RowKind rowKindOf(llvm::StringRef name);

/// Reads the value of `key` in an object: a text, a number, true or false, or a
/// list of them. Line breaks become spaces.
runtime::Status readJsonValue(llvm::StringRef line, llvm::StringRef key,
                              std::string &text);

/// Reads the values of a row, separated by commas. Quotes may enclose a value,
/// and are doubled in one.
runtime::Status readTableRow(llvm::StringRef line,
                             std::vector<std::string> &values);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_ROWS_H
