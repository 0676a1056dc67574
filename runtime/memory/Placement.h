//===- Placement.h - places in one arena for all arrays -------------------===//

#ifndef FOVEA_RUNTIME_MEMORY_PLACEMENT_H
#define FOVEA_RUNTIME_MEMORY_PLACEMENT_H

#include "runtime/Program.h"
#include "runtime/Status.h"
#include "runtime/device/SharedMemory.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fovea::runtime {

/// Arrays begin at multiples of a cache line.
constexpr int64_t arrayAlignment = 64;

/// Memory that begins at such a multiple.
class Arena {
public:
  /// At least so many bytes; what was there is lost when it grows.
  Status reserve(int64_t bytes);
  std::byte *data() const { return memory.get(); }
  int64_t bytes() const { return capacity; }

private:
  struct Free {
    void operator()(std::byte *memory) const { freeShared(memory); }
  };
  std::unique_ptr<std::byte[], Free> memory;
  int64_t capacity = 0;
};

/// Where arrays begin, by slot, and how many bytes that takes.
struct Placement {
  std::map<int, int64_t> begins;
  int64_t numBytes = 0;
};

/// Gives every array that `bytesOf` gives bytes for (-1: it lies elsewhere) a
/// place that no array in use at the same time has: the lowest that is free, in
/// the order of the first use. Fails where it is more than any machine has.
Status
placeArrays(const Program &program,
            const std::function<int64_t(const Program::Array &)> &bytesOf,
            Placement &placement);

/// A batch that is not there yet: so many examples, all of these lengths.
struct BatchSize {
  int64_t batch = 1, threads = 1;
  std::map<std::string, int64_t> lengths; // 1 where it is not said
};

/// The bytes of an array at so many places; -2 where no number says how many.
int64_t bytesAt(const Program::Array &array, int64_t places);
/// The lengths of a program in such a batch, by number.
std::vector<int64_t> lengthsOf(const Program &program, const BatchSize &size);
/// The bytes of an array in such a batch, which has these `lengths`; -2 as
/// above.
int64_t bytesOf(const Program &program, const Program::Array &array,
                const BatchSize &size, const std::vector<int64_t> &lengths);

/// Sets the slots that say how large a thread's part of an array is, of the
/// largest `lengths`.
void setParts(const Program &program, const std::vector<int64_t> &lengths,
              std::vector<int64_t> &slots);
/// The bytes of all parts of an array, of the pool that the frame has; the
/// slots are set.
int64_t bytesOfParts(const Program::Array &array,
                     const std::vector<int64_t> &slots);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MEMORY_PLACEMENT_H
