//===- Column.h - the content of one --data -------------------------------===//
//
// Examples.h joins the columns of a command. Each of them has an example after
// the other: lines of text, files, members of archives.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_COLUMN_H
#define FOVEA_APP_DATA_COLUMN_H

#include "app/data/TextData.h"

namespace fovea::cli {

/// The content of one `--data`, one example at a time.
class Column {
public:
  explicit Column(std::string path) : path(std::move(path)) {}
  virtual ~Column() = default;
  virtual TextLines::Kind next(LoadedValues &values,
                               std::vector<std::string> *words) = 0;
  /// Returns the number of remaining examples.
  virtual int64_t countRest() = 0;

  const std::string path;
};

/// Returns the column of pictures, sounds, arrays or features in archives
/// (.tar, .ark); null if `source` is not such an archive.
std::unique_ptr<Column> openArchive(Session &session, const TextSource &source,
                                    const DataInfo &data,
                                    const runtime::DataSpec &spec);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_COLUMN_H
