//===- Tables.h - what a frame says of the rows of a batch ----------------===//
//
// The lengths, offsets and orders that runtime/Program.h describes. Their
// sources differ: a batch has its own lengths (Workspace), the hypotheses of a
// search use those of their examples (StepMemory).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MEMORY_TABLES_H
#define FOVEA_RUNTIME_MEMORY_TABLES_H

#include "runtime/Program.h"

#include <cstddef>

namespace fovea::runtime {

struct Tables {
  /// The values of a length, row by row.
  struct Length {
    std::vector<int64_t> extents; // one per row
    std::vector<int64_t> values;  // of a nested length
    std::vector<int64_t> starts;  // where those of each row begin
    int64_t maximum = 0;
  };

  std::vector<int64_t> ids; // of the examples
  std::vector<Length> lengths;
  std::vector<std::vector<int64_t>> offsets;       // by layout
  std::vector<std::vector<int64_t>> ranks, active; // by order

  /// Returns how many places a row has in a layout.
  int64_t placesOf(const Program::Layout &layout, int64_t row) const;
  /// Computes the orders from the lengths.
  void computeOrders(const Program &program);
  /// Writes their addresses, and the largest lengths, into the slots of a
  /// frame.
  void enter(const Program &program, std::vector<int64_t> &slots) const {
    enter(program, slots, nullptr, nullptr);
  }
  /// The same of copies in a block of `bytes` at `host`, which a device has at
  /// `device`.
  void enter(const Program &program, std::vector<int64_t> &slots,
             std::byte *host, std::byte *device) const;
  int64_t bytes() const;
};

/// Evaluates a formula of lengths, at least 0; saturates on
/// overflow.
int64_t evaluate(const std::vector<Program::Term> &formula,
                 const std::vector<int64_t> &lengths);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MEMORY_TABLES_H
