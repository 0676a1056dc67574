//===- ExampleStore.h - examples that may be more than memory -------------===//
//
// Stores training examples as bytes: in memory up to a limit, the
// rest in an unnamed temporary file in $TMPDIR or /var/tmp. Examples
// are returned bit for bit. Memory also holds eight bytes per
// example.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_EXAMPLESTORE_H
#define FOVEA_APP_DATA_EXAMPLESTORE_H

#include "runtime/memory/Workspace.h"

namespace fovea::cli {

class ExampleStore {
public:
  ExampleStore() = default;
  ~ExampleStore();
  ExampleStore(const ExampleStore &) = delete;
  ExampleStore &operator=(const ExampleStore &) = delete;

  /// The memory limit for examples in bytes. Set it before the first `add`.
  void setLimit(int64_t bytes) { limit = bytes; }

  /// Adds an example: its values and lengths. A full or failing disk is an
  /// environment failure.
  runtime::Status add(const runtime::Example &example);
  int64_t size() const { return int64_t(ends.size()); }
  bool empty() const { return ends.empty(); }

  /// Returns an example as it was added.
  runtime::Status read(int64_t index, runtime::Example &example) const;
  /// Prefetches examples that will be read soon from
  /// disk.
  void willRead(const std::vector<int64_t> &indices) const;

private:
  using Page = std::vector<char>;

  int64_t beginOf(int64_t index) const {
    return index == 0 ? 0 : ends[index - 1];
  }
  int64_t inFile(int64_t place) const;
  runtime::Status append(const std::string &record);
  runtime::Status keepPage();
  runtime::Status openFile();
  runtime::Status load(int64_t begin, int64_t end, std::string &record) const;

  int64_t limit = int64_t(256) << 20;
  /// The end of each example in the byte sequence.
  std::vector<int64_t> ends;
  std::vector<Page> pages; // in memory
  Page open;               // that is being filled
  int64_t numStored = 0;   // pages in the file, after those in memory
  int file = -1;
  /// The names of data and lengths, by their numbers in records.
  std::vector<std::string> names;
};

/// Joins examples into the batch that a program takes.
class LoadedBatch {
public:
  runtime::Status load(const ExampleStore &store,
                       const std::vector<int64_t> &indices);
  const runtime::Batch &batch() const { return pointers; }

private:
  std::vector<runtime::Example> examples;
  runtime::Batch pointers;
};

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_EXAMPLESTORE_H
