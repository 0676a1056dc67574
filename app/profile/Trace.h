//===- Trace.h - which equations ran when ---------------------------------===//
//
// Records launches of kernels and phases of a command, for Perfetto
// (https://ui.perfetto.dev) and chrome://tracing. Recording is off until
// `start`, and ends after a number of events, so that a file stays small enough
// for these viewers.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_PROFILE_TRACE_H
#define FOVEA_APP_PROFILE_TRACE_H

#include "app/model/Compiled.h"
#include "llvm/ADT/StringMap.h"

#include <chrono>

namespace fovea::cli {

/// One per process: kernels are recorded where they are handed to the threads,
/// and that place does not know programs.
class Trace {
public:
  using Clock = std::chrono::steady_clock;

  Trace();
  ~Trace();
  Trace(const Trace &) = delete;
  Trace &operator=(const Trace &) = delete;

  /// Launches of programs created with these options are recorded.
  void attach(CompiledOptions &options);
  /// Names the kernels of the programs that were compiled since the last call.
  /// `entry` is the one that `addressOf` knows; empty: all of them.
  void nameKernels(llvm::StringRef entry,
                   llvm::function_ref<void *(const std::string &)> addressOf);
  /// Call it before programs are destroyed: others may get their addresses.
  void forgetKernels();

  void start() { isRecording = true; }
  void stop() { isRecording = false; }

  /// Records a phase from here to the end of its life. Without a trace it does
  /// nothing.
  class Span {
  public:
    /// `number`: printed after the name, unless it is negative.
    Span(Trace *trace, llvm::StringRef name, int64_t number = -1);
    ~Span();
    Span(const Span &) = delete;
    Span &operator=(const Span &) = delete;

  private:
    Trace *trace;
    std::string name;
    Clock::time_point begin;
  };

  /// The events as JSON. The title shows whether some are missing.
  std::string text(llvm::StringRef title) const;

private:
  bool isFull() const;
  struct Kernel {
    std::string name, place, program;
  };
  struct Event {
    std::string name;  // of a phase
    int64_t kernel;    // an index into `kernels`; -1: not known yet, or a phase
    const void *work;  // of a launch whose kernel is not known yet
    int64_t units = 0; // of a launch
    Clock::time_point begin, end;
  };

  static void parallel(FoveaPool *pool, FoveaWork work, void *frame,
                       int64_t units, int64_t atOnce);
  static void launch(const char *kernel, double seconds);
  void add(Event event);
  void addKernel(const codegen::KernelNote &note, const void *address);

  std::vector<codegen::KernelNote> notes;
  std::vector<Kernel> kernels;
  llvm::DenseMap<const void *, int64_t> byAddress;
  llvm::StringMap<int64_t> bySymbol; // on a GPU
  std::vector<Event> events;
  Clock::time_point first = Clock::now();
  bool isRecording = false;
};

} // namespace fovea::cli

#endif // FOVEA_APP_PROFILE_TRACE_H
