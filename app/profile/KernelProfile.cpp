//===- KernelProfile.cpp - where the time of a program goes ---------------===//

#include "app/profile/KernelProfile.h"
#include "app/profile/KernelWork.h"
#include "passes/analysis/Access.h"
#include "runtime/device/Device.h"
#include "llvm/ADT/MapVector.h"

#include <chrono>
#include <ctime>
#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using namespace mlir;
using namespace fovea::attn;
using runtime::Device;
using runtime::Program;
using Clock = std::chrono::steady_clock;

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// Seconds by kernel.
static llvm::DenseMap<void *, double> &times() {
  static llvm::DenseMap<void *, double> map;
  return map;
}

namespace {
/// The same for a GPU kernel.
struct Launches {
  double seconds = 0;
  int64_t count = 0;
};
} // namespace

static llvm::StringMap<Launches> &launches() {
  static llvm::StringMap<Launches> map;
  return map;
}

static void takeLaunch(const char *kernel, double seconds) {
  Launches &own = launches()[kernel];
  own.seconds += seconds;
  ++own.count;
}

/// The launches of a kernel, under its name on the GPU.
static Launches launchesOf(std::string kernel) {
  std::replace(kernel.begin(), kernel.end(), '.', '$');
  return launches().lookup(kernel);
}

static void timedParallel(FoveaPool *pool, FoveaWork work, void *frame,
                          int64_t units, int64_t atOnce) {
  Clock::time_point start = Clock::now();
  fovea_parallel(pool, work, frame, units, atOnce);
  times()[reinterpret_cast<void *>(work)] +=
      std::chrono::duration<double>(Clock::now() - start).count();
}

void KernelProfile::attach(CompiledOptions &options) {
  options.notes = &notes;
  options.parallel = &timedParallel;
  if (Device *device = Device::current())
    device->observe(&takeLaunch);
}

void KernelProfile::clear() {
  times().clear();
  launches().clear();
}

/// The CPU time of this thread: a busy machine does not change it much.
static double secondsOfThread() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// FLOP/s of one thread.
double fovea::cli::measurePeak(MLIRContext &context, bool isDouble) {
  CompiledOptions options;
  options.isDouble = isDouble;
  std::unique_ptr<codegen::Driver> driver;
  if (codegen::Driver::create(UnknownLoc::get(&context), options, driver)
          .failed())
    return 0;
  codegen::Peak peak = driver->addPeak();
  codegen::Objects objects;
  std::unique_ptr<codegen::Jit> jit;
  if (driver->compile(objects).failed() ||
      load(std::move(objects), options, jit).failed())
    return 0;
  auto run =
      reinterpret_cast<void (*)(int64_t, void *)>(addressIn(*jit, peak.symbol));
  if (!run)
    return 0;
  std::vector<double> values(1024);
  constexpr int64_t turns = 1'000'000;
  double best = 0;
  for (int trial = 0; trial < 5; ++trial) {
    double start = secondsOfThread();
    run(turns, values.data());
    double seconds = secondsOfThread() - start;
    best = std::max(best, double(turns) * double(peak.operations) / seconds);
  }
  return best;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void printKept(ProgramOp op, const WorkCounter &counter) {
  double total = 0;
  std::map<std::string, double> byName;
  for (auto scan : op.getOps<ScanOp>())
    for (unsigned i = 0; i < scan.getNumStacked(); ++i) {
      double bytes = counter.bytes(scan.getStacked(i));
      Operation *source = insideKernel(scan.getStackedValue(i)).getDefiningOp();
      byName[source ? withoutMembers(equationName(source)) : "a carry"] +=
          bytes;
      total += bytes;
    }
  std::vector<std::pair<double, std::string>> rows;
  for (const auto &[name, bytes] : byName)
    rows.push_back({bytes, name});
  llvm::sort(rows, std::greater<>());
  fmt::print("rows kept by loops: {:.1f} MB\n", total / (1 << 20));
  for (const auto &[bytes, name] : rows)
    fmt::print("{:9.1f} MB  {}\n", bytes / (1 << 20), name);
}

namespace {
/// Equations of one name and line: those of a family's members are combined.
struct Row {
  double seconds = 0;
  Work work;
  int64_t equations = 0, launches = 0;
};
} // namespace

/// For a GPU: the number of launches, and the work of the equations.
static void printLaunches(const std::vector<std::pair<std::string, Row>> &rows,
                          double seconds) {
  fmt::print("\n{:>9} {:>6} {:>8} {:>9} {:>9}  {}\n", "ms", "share", "launches",
             "MFLOP", "MB", "equation");
  int64_t total = 0;
  for (const auto &[name, row] : rows) {
    fmt::print("{:9.3f} {:5.1f}% {:8} {:9.3f} {:9.3f}  {}\n", row.seconds * 1e3,
               100 * row.seconds / seconds, row.launches, row.work.flops * 1e-6,
               row.work.bytes * 1e-6, name);
    total += row.launches;
  }
  fmt::print("{} launches per run, each synchronised\n", total);
}

void KernelProfile::print(
    const std::vector<ProfiledProgram> &programs,
    llvm::function_ref<void *(const std::string &)> addressOf, int64_t runs,
    double seconds, int threads, bool isDouble, const std::string &rest) const {
  if (notes.empty())
    return;
  llvm::StringMap<WorkCounter> counters;
  for (const ProfiledProgram &each : programs)
    counters.try_emplace(each.program.entry, each, isDouble);
  auto counterOf = [&](Operation *op) -> const WorkCounter & {
    return counters.find(programOf(op))->second;
  };
  llvm::MapVector<Operation *, double> spent;
  llvm::DenseMap<Operation *, ArrayRef<Operation *>> others;
  double inKernels = 0;
  bool isDevice = Device::current() != nullptr;
  llvm::DenseMap<Operation *, int64_t> launched;
  auto secondsOf = [&](const std::string &symbol) -> double {
    if (isDevice)
      return launchesOf(symbol).seconds;
    void *address = addressOf(symbol);
    return address ? times().lookup(address) : 0;
  };
  for (const codegen::KernelNote &note : notes) {
    double own = secondsOf(note.symbol) / static_cast<double>(runs);
    if (own == 0)
      continue;
    spent[note.op] += own;
    others[note.op] = note.others;
    launched[note.op] += launchesOf(note.symbol).count / runs;
    inKernels += own;
  }
  std::map<std::string, Row> byName;
  for (auto [op, time] : spent) {
    std::string name = equationName(op);
    if (!others[op].empty())
      name += " .. " + equationName(others[op].back()) + ", together";
    Row &row = byName[withoutMembers(name) + "  " + placeOf(op)];
    row.seconds += time;
    row.launches += launched[op];
    ++row.equations;
    SmallVector<Operation *> equations(others[op]);
    equations.push_back(op);
    for (Operation *each : equations)
      if (auto compute = dyn_cast<ComputeOp>(each)) {
        Work own = counterOf(op).of(compute);
        row.work.flops += own.flops;
        // Strips never leave the caches.
        row.work.bytes += others[op].empty() ? own.bytes : 0;
      }
  }
  std::vector<std::pair<std::string, Row>> rows(byName.begin(), byName.end());
  llvm::sort(rows, [](const auto &a, const auto &b) {
    return std::pair(-a.second.seconds, a.first) <
           std::pair(-b.second.seconds, b.first);
  });
  if (isDevice) {
    printLaunches(rows, seconds);
    return;
  }
  double peak =
      measurePeak(*notes.front().op->getContext(), isDouble) * threads;
  fmt::print("\n{:>9} {:>6} {:>8} {:>6} {:>7}  {}\n", "ms", "share", "GFLOP/s",
             "peak", "GB/s", "equation");
  for (const auto &[name, row] : rows) {
    std::string rates(23, ' ');
    if (row.work.flops + row.work.bytes > 0)
      rates = fmt::format(
          "{:8.1f} {:5.0f}% {:7.1f}", row.work.flops / row.seconds * 1e-9,
          peak > 0 ? 100 * row.work.flops / row.seconds / peak : 0,
          row.work.bytes / row.seconds * 1e-9);
    std::string times =
        row.equations > 1 ? fmt::format(" x{}", row.equations) : "";
    fmt::print("{:9.3f} {:5.1f}% {}  {}{}\n", row.seconds * 1e3,
               100 * row.seconds / seconds, rates, name, times);
  }
  fmt::print("{:9.3f} {:5.1f}%  {}\n", (seconds - inKernels) * 1e3,
             100 * (seconds - inKernels) / seconds, rest);
  fmt::print("peak: {:.0f} GFLOP/s, measured\n", peak * 1e-9);
  // Only training keeps rows for the backward pass.
  if (programs.size() == 1)
    printKept(notes.front().op->getParentOfType<ProgramOp>(),
              counterOf(notes.front().op));
}
