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
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace fovea::cli {

/// Lines of text, of JSON or of a table; or what becomes lines: a JSON file and
/// a folder or a list of a corpus (Corpora.h), files in archives
/// (TarMembers.h).
enum class RowKind { Text, Json, Table, Objects, Corpus, Scp, Tar };

/// What a file name promises, compressed or not.
RowKind rowKindOf(llvm::StringRef name);

/// The value of `key` in an object as a line: a text, a number, true or false,
/// or a list of them. Line breaks become spaces.
runtime::Status valueAsLine(const llvm::json::Object &object,
                            llvm::StringRef key, std::string &text);

/// The same of an object in a line.
runtime::Status readJsonValue(llvm::StringRef line, llvm::StringRef key,
                              std::string &text);

/// Reads the values of a row, separated by commas. Quotes may enclose a value,
/// and are doubled in one.
runtime::Status readTableRow(llvm::StringRef line,
                             std::vector<std::string> &values);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_ROWS_H
