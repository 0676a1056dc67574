//===- StepMemory.h - the memory of one part of a step --------------------===//
//
// The memory of a program that runs repeatedly over the hypotheses of a search.
// Its row tables are rebuilt when the rows change, and it points to arrays that
// others own. Parameters are bound once.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MEMORY_STEPMEMORY_H
#define FOVEA_RUNTIME_MEMORY_STEPMEMORY_H

#include "runtime/memory/Workspace.h"

#include <functional>

namespace fovea::runtime {

/// The functions of a program; `prepare` may be null.
struct ProgramCode {
  std::function<void(void *frame)> run, prepare;
  /// Of checked code: returns what the checks have found since the last call.
  std::function<Status()> found;

  /// Runs the program, and fails if a check does.
  Status runChecked(void *frame) const {
    run(frame);
    return found ? found() : Status::success();
  }
};

/// Rows of different sizes in one array: their elements are consecutive.
struct RowArray {
  int64_t elementBytes = 8;
  std::vector<int64_t> starts; // in elements; one more than rows
  /// Some rows are from the host, such as symbols.
  bool isFromHost = false;
  SharedVector<std::byte> bytes;
  ExchangedVector<std::byte> exchanged;

  std::byte *data() { return isFromHost ? exchanged.data() : bytes.data(); }
  const std::byte *data() const {
    return isFromHost ? exchanged.data() : bytes.data();
  }
  std::byte *row(int64_t number) {
    return data() + starts[number] * elementBytes;
  }
  const std::byte *row(int64_t number) const {
    return data() + starts[number] * elementBytes;
  }
  int64_t bytesOf(int64_t number) const {
    return (starts[number + 1] - starts[number]) * elementBytes;
  }
};

/// Describes the rows of a segment.
struct StepRows {
  std::vector<int64_t> examples; // of the batch
  int64_t step = 0;              // the index of the loop
  int64_t inside = 0;            // that of a loop inside the step
  int64_t length = 0;            // the steps so far, this one included
};

class StepMemory {
public:
  /// `program` outlives the memory. `openLength`: the length that the search
  /// finds; empty: none.
  StepMemory(const Program &program, ProgramCode code,
             const std::string &openLength)
      : program(program), code(code), openLength(openLength) {}

  /// Starts a new batch from the output of `encode` and the parameters. Packs
  /// the parameters if that has not happened.
  Status begin(const Workspace &encoded, const OwnedMemory &parameters,
               void *pool);

  /// Lays out rows. Discards earlier outputs.
  Status setRows(const StepRows &rows);
  /// Sets the address of the data `name`; no effect if the program does not
  /// read it.
  void setData(const std::string &name, const void *memory);
  /// The same for data in buffers: each row's data begins at its own offset.
  void setBuffers(const std::string &name, const void *memory,
                  const std::vector<int64_t> &places);
  Status run();
  int64_t bytes() const { return arena.bytes(); }

  const Program::Array *findOutput(const std::string &name) const;
  const Program::Array *findData(const std::string &name) const;
  /// Returns an output of one row, and its size in bytes.
  const std::byte *row(const Program::Array &output, int64_t row,
                       int64_t &bytes) const;

private:
  void computeLengths(const StepRows &rows);
  void computeLayouts(const StepRows &rows);
  Status allocate(int64_t rows);
  Status enterTables();
  int64_t mostPlaces(int layout, int64_t rows) const;

  const Program &program;
  ProgramCode code;
  std::string openLength;
  const Workspace *encoded = nullptr;
  std::vector<int64_t> slots;
  Tables tables;
  std::vector<int64_t> mostOf; // by length: the room that there is for it
  InputBlock inputs;           // the tables, with a device
  bool hasEntered = false;
  StepRows present;
  int64_t capacity = 0; // rows
  Arena arena, kept;
  bool isPrepared = false;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MEMORY_STEPMEMORY_H
