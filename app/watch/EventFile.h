//===- EventFile.h - a log as TensorBoard reads it ------------------------===//
//
// One file of records, each a TensorBoard `Event` with the numbers of a log
// line.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_WATCH_EVENTFILE_H
#define FOVEA_APP_WATCH_EVENTFILE_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::cli {

class EventFile {
public:
  ~EventFile();
  /// Creates the folder and a new file in it.
  runtime::Status open(const std::string &folder);
  bool isOpen() const { return file >= 0; }
  /// Adds the numbers of a line of log.jsonl.
  runtime::Status add(std::string_view line);

private:
  runtime::Status write(const std::string &event);

  int file = -1;
  std::string path;
};

} // namespace fovea::cli

#endif // FOVEA_APP_WATCH_EVENTFILE_H
