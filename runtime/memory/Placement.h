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

/// The error that the machine has no so many bytes.
Status noMemoryFor(int64_t bytes);

/// Memory of the device, or of the host without one, that begins at such a
/// multiple.
class Arena {
public:
  /// Ensures at least so many bytes; growing discards the content.
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

/// The offsets of arrays, by slot, and the total size.
struct Placement {
  std::map<int, int64_t> begins;
  int64_t numBytes = 0;
};

/// Assigns an offset to every array for which `bytesOf` returns a size (-1: it
/// is elsewhere). Arrays in use at the same time do not overlap; each gets the
/// lowest free offset, in order of first use. Fails if the total exceeds what
/// any machine has.
Status
placeArrays(const Program &program,
            const std::function<int64_t(const Program::Array &)> &bytesOf,
            Placement &placement);

/// A hypothetical batch: so many examples, all with these lengths.
struct BatchSize {
  int64_t batch = 1, threads = 1;
  std::map<std::string, int64_t> lengths; // 1 where it is not said
};

/// Returns the bytes of an array at so many places; -2 on overflow.
int64_t bytesAt(const Program::Array &array, int64_t places);
/// Returns the lengths of a program in such a batch, by number.
std::vector<int64_t> lengthsOf(const Program &program, const BatchSize &size);
/// Returns the bytes of an array in such a batch with these `lengths`; -2 as
/// above.
int64_t bytesOf(const Program &program, const Program::Array &array,
                const BatchSize &size, const std::vector<int64_t> &lengths);

/// Sets the slots with the size of a thread's part of an array, for the largest
/// `lengths`.
void setParts(const Program &program, const std::vector<int64_t> &lengths,
              std::vector<int64_t> &slots);
/// Returns the bytes of all parts of an array, for the frame's pool; the slots
/// are set.
int64_t bytesOfParts(const Program::Array &array,
                     const std::vector<int64_t> &slots);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MEMORY_PLACEMENT_H
