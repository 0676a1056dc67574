//===- CheckedRun.h - checks the accesses of compiled code ------*- C++ -*-===//
//
// Code that is compiled with checks calls the functions below ahead of each
// access (codegen/program/CheckAccesses.h). They know the memories of the
// program that runs, from its description and its frame, and which bytes were
// written. An access that fails goes to memory that nobody reads, so the run
// ends as usual, and its caller asks for the failure.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MEMORY_CHECKEDRUN_H
#define FOVEA_RUNTIME_MEMORY_CHECKEDRUN_H

#include "runtime/Program.h"
#include "runtime/Status.h"
#include "runtime/ThreadPool.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fovea::runtime {

/// An equation that accesses memory, and its place in the spec; empty where the
/// spec has none.
struct CheckedSite {
  std::string equation, place;
};

/// Begins the names of a checked program's temporary arrays, which have none
/// otherwise. No input or output has such a name.
constexpr std::string_view checkedPrefix = "array ";

/// What the checks of some programs found: the first failure.
class Checks {
public:
  explicit Checks(std::vector<CheckedSite> sites) : sites(std::move(sites)) {}

  /// The equation of a number that compiled code passes, or null.
  const CheckedSite *site(int64_t number) const {
    return number >= 0 && number < int64_t(sites.size()) ? &sites[number]
                                                         : nullptr;
  }
  bool failed() const { return !message.empty(); }
  void fail(std::string text) {
    if (message.empty())
      message = std::move(text);
  }
  /// Returns the failure as an error, and forgets it.
  Status take();

private:
  std::vector<CheckedSite> sites;
  std::string message;
};

/// A run of a program in the calling thread, as long as the object lives.
class CheckedRun {
public:
  /// The frame is complete. Data and parameters count as written. `prepares`:
  /// packed parameters do not.
  CheckedRun(Checks &checks, const Program &program, void *frame,
             bool prepares);
  ~CheckedRun();
  CheckedRun(const CheckedRun &) = delete;
  CheckedRun &operator=(const CheckedRun &) = delete;

  /// The run in the calling thread, or null.
  static CheckedRun *current();

  /// As fovea_parallel, in the calling thread. Does nothing after a failure.
  static void parallel(FoveaPool *pool, FoveaWork work, void *frame,
                       int64_t units, int64_t atOnce);
  /// As codegen::StepHook: memories change hands between steps.
  static void step(void *frame, int64_t step);

  /// How compiled code reached an address: from `root`, which is the address in
  /// slot `slot` of the frame, or any other pointer if that is below 0.
  struct Origin {
    const std::byte *root;
    int64_t slot;
  };
  enum class Access { Read, Write };

  /// Checks the elements of `bytes` bytes at `address` whose bits of `lanes`
  /// are set. Returns the address, or another one after a failure.
  void *access(std::byte *address, Origin origin, int64_t bytes, uint64_t lanes,
               Access how, int64_t alignment, int64_t site);
  /// Checks a copy. It copies what was never written, too. Returns the number
  /// of bytes to copy.
  int64_t copy(std::byte *to, Origin toOrigin, const std::byte *from,
               Origin fromOrigin, int64_t bytes, int64_t site);
  /// Memory of the function that runs, until other memory replaces it.
  void addScratch(std::byte *memory, int64_t bytes);
  /// Remembers the origin of a pointer that an equation passes on.
  void passOn(const std::byte *pointer, Origin origin, int64_t site);

private:
  struct Region {
    std::string name;
    const Program::Array *array = nullptr;
    std::byte *begin = nullptr;
    int64_t bytes = 0;
    bool isLive = true;
    /// A byte per byte; empty: all are written.
    std::vector<unsigned char> written;
    bool has(const std::byte *address) const {
      return begin <= address && address < begin + bytes;
    }
    std::byte *end() const { return begin + bytes; }
  };

  void addTables();
  void add(std::string name, int slot, int64_t count);
  int64_t placesOf(int layout) const;
  int64_t envelopeOf(int layout) const;
  int64_t extentOf(int64_t extent, int64_t row) const;
  std::pair<int64_t, std::vector<int64_t>> rowOf(const Program::Array &array,
                                                 int64_t row) const;
  void markPadding(Region &region);
  void enterStep(int64_t number);
  void forgetParts();
  Region *find(const std::byte *address);
  Region *regionOf(Origin origin, const std::byte *address);
  void fail(int64_t site, const char *verb, const Region *region,
            const std::byte *address, const std::string &fault);
  std::string elementOf(const Region &region, int64_t offset) const;

  Checks &checks;
  const Program &program;
  int64_t *frame;
  std::vector<Region> regions, scratch;
  std::vector<int> regionOfSlot;
  std::vector<Region *> live; // by address
  std::unordered_map<const std::byte *, std::vector<std::byte *>> passed;
  int64_t lastSite = -1;
  CheckedRun *outer;
};

} // namespace fovea::runtime

extern "C" {
/// `how`: bit 0 for a write, the alignment in bytes above bit 8. A site below 0
/// repeats the site of the access before.
void *fovea_check_access(void *address, void *root, int64_t slot, int64_t bytes,
                         int64_t lanes, int64_t how, int64_t site);
/// The same for reads of one element per lane, at `addresses`, which change.
void fovea_check_gather(void **addresses, void *root, int64_t slot,
                        int64_t bytes, int64_t lanes, int64_t site);
/// The same for a write of some bytes; returns how many to write.
int64_t fovea_check_clear(void *address, void *root, int64_t slot,
                          int64_t bytes, int64_t site);
int64_t fovea_check_copy(void *to, void *toRoot, int64_t toSlot, void *from,
                         void *fromRoot, int64_t fromSlot, int64_t bytes,
                         int64_t site);
void fovea_check_scratch(void *memory, int64_t bytes);
void fovea_check_pointer(void *pointer, void *root, int64_t slot, int64_t site);
}

#endif // FOVEA_RUNTIME_MEMORY_CHECKEDRUN_H
