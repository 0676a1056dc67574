//===- ExampleStore.h - examples that may be more than memory -------------===//
//
// Keeps the examples of a training as bytes: the first of them in memory, up to
// a limit, the others in a file without a name, in $TMPDIR or /var/tmp, which
// is gone when the process is. What was put in comes out again bit for bit,
// wherever it was; in memory stay eight bytes for each example.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_DATA_EXAMPLESTORE_H
#define FOVEA_DRIVER_DATA_EXAMPLESTORE_H

#include "runtime/memory/Workspace.h"

namespace fovea::cli {

class ExampleStore {
public:
  ExampleStore() = default;
  ~ExampleStore();
  ExampleStore(const ExampleStore &) = delete;
  ExampleStore &operator=(const ExampleStore &) = delete;

  /// How many bytes of examples stay in memory. Stands before the first `add`.
  void setLimit(int64_t bytes) { limit = bytes; }

  /// Adds an example: its values and lengths. A disk that is full, or cannot be
  /// written, is the machine's fault.
  runtime::Status add(const runtime::Example &example);
  int64_t size() const { return int64_t(ends.size()); }
  bool empty() const { return ends.empty(); }

  /// Gives an example as it was added.
  runtime::Status read(int64_t index, runtime::Example &example) const;
  /// Says that these are read soon: what of them is on a disk is fetched
  /// meanwhile.
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
  /// Where each example ends among the bytes of all.
  std::vector<int64_t> ends;
  std::vector<Page> pages; // in memory
  Page open;               // that is being filled
  int64_t numStored = 0;   // pages in the file, after those in memory
  int file = -1;
  /// What data and lengths are called, by the numbers that stand for them.
  std::vector<std::string> names;
};

/// Examples as the batch that a program takes.
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

#endif // FOVEA_DRIVER_DATA_EXAMPLESTORE_H
