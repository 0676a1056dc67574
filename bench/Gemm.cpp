//===- Gemm.cpp - how fast are our matrix products? -----------------------===//
//
// Prints GFLOP/s on one thread for the shapes that models consist of, beside
// the peak of fused multiply-adds that the same process measures. Times are CPU
// times of the thread, of many runs the one that a tenth undercut: a quiet
// moment, but none in which the clock skipped.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/Gemm.h"
#include "bench/Measure.h"
#include "bench/Options.h"
#include "codegen/cpu/products/Peak.h"
#include "codegen/native/Jit.h"
#include "codegen/native/Lower.h"
#include "codegen/native/Target.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"

#include <chrono>
#include <sys/mman.h>

namespace cl = llvm::cl;
using namespace fovea::codegen;
using namespace mlir;

static cl::opt<bool> useF64("f64", cl::desc("double precision"));
static cl::opt<bool>
    inPairs("bf16", cl::desc("factors rounded to bf16; the peak is f32's"));
static cl::opt<unsigned> level("O", cl::Prefix, cl::init(1),
                               cl::desc("level of LLVM's IR passes"));
static cl::opt<double> seconds("seconds", cl::init(0.3),
                               cl::desc("CPU time per figure"));
static cl::opt<int64_t>
    cold("cold", cl::init(0),
         cl::desc("each array is taken from so many 2^20 bytes in turn, as "
                  "those of a model are"));
static cl::opt<bool> show("emit-mlir", cl::desc("print the kernel module"));
static cl::list<std::string> shapes(cl::Positional,
                                    cl::desc("<MxKxN>.. (default: a table)"));

static llvm::ExitOnError check("bench-gemm: error: ");

using Pack = void (*)(const void *, int64_t, int64_t, int64_t, int64_t, void *,
                      int64_t, int64_t);
using Gemm = void (*)(const void *, int64_t, int64_t, const void *, void *,
                      int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                      bool);

/// An array of whole cache lines; with `-cold` as many as a model has between
/// two uses of one.
template <typename T> class Turns {
public:
  explicit Turns(const std::vector<T> &values)
      : size((values.size() + 15) / 16 * 16) {
    copies = std::max<int64_t>(1, (cold << 20) / (size * sizeof(T)));
    constexpr size_t page = 1 << 21;
    size_t bytes = (copies * size * sizeof(T) + page - 1) / page * page;
    memory.reset(static_cast<T *>(std::aligned_alloc(page, bytes)));
    if (!memory)
      check(llvm::createStringError("no memory"));
    madvise(memory.get(), bytes, MADV_HUGEPAGE);
    for (int64_t copy = 0; copy < copies; ++copy)
      llvm::copy(values, memory.get() + copy * size);
  }
  T *next() { return memory.get() + turn++ % copies * size; }

private:
  struct Free {
    void operator()(T *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<T, Free> memory;
  int64_t size, copies, turn = 0;
};

/// How much slower a chain of multiplications is right after `run` than after
/// an idle moment: many processors lower their clock where vectors are
/// multiplied and loaded at once, and raise it again soon.
static double clockAfter(llvm::function_ref<void()> run) {
  auto chain = [] {
    volatile uint64_t seed = 1;
    auto begin = std::chrono::steady_clock::now();
    uint64_t value = seed;
    for (int i = 0; i < 400; ++i)
      value = value * value + seed;
    seed = value;
    auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(end - begin).count();
  };
  std::vector<double> idle, after;
  for (int i = 0; i < 2000; ++i)
    idle.push_back(chain());
  for (double end = cpuTime() + seconds; cpuTime() < end;) {
    run();
    after.push_back(chain());
  }
  auto median = [](std::vector<double> &times) {
    auto middle = times.begin() + times.size() / 2;
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  };
  return median(idle) / median(after);
}

template <typename T> struct Bench {
  Jit &jit;
  GemmTile tile;
  Pack pack;
  Gemm gemm;
  double peak, clockAtPeak;

  Bench(Jit &jit, GemmElement element)
      : jit(jit), tile(gemmTile(element.type, jit.target())) {
    // Pairs are not packed past the caches.
    std::string name = element.pairs ? packName(element) : packFarName(element);
    pack = reinterpret_cast<Pack>(check(jit.lookup(name)));
    gemm = reinterpret_cast<Gemm>(check(jit.lookup(gemmName(element))));
    auto fma =
        reinterpret_cast<void (*)(int64_t, T *)>(check(jit.lookup("fma_peak")));
    constexpr int64_t turns = 100'000;
    std::vector<T> sums(12 * tile.lanes, T(0.5));
    double time = measure(seconds, [&] { fma(turns, sums.data()); });
    clockAtPeak = clockAfter([&] { fma(turns, sums.data()); });
    peak = double(peakFlops(element.type, jit.target()) * turns) / time;
  }

  static std::vector<T> values(int64_t count) {
    std::vector<T> result(count);
    for (int64_t i = 0; i < count; ++i)
      result[i] = T((i * 7919) % 1009) / 1009 - T(0.5);
    return result;
  }

  void figure(double flops, double time) {
    llvm::outs() << llvm::format(" %7.1f (%3.0f%%)", flops / time * 1e-9,
                                 flops / time / peak * 100);
  }

  /// One line: B packed beforehand, then with packing B[k, n], B^T, and with
  /// A^T and B packed beforehand.
  void run(int64_t m, int64_t k, int64_t n) {
    Turns<T> a(values(m * k)), b(values(k * n)), c(std::vector<T>(m * n));
    Turns<T> packed(std::vector<T>(tile.packedSize(k, n)));
    int64_t panels = tile.panels(n);
    T *bp = packed.next();
    auto packRows = [&] { pack(b.next(), n, 1, k, n, bp, 0, panels); };
    auto packColumns = [&] { pack(b.next(), 1, k, k, n, bp, 0, panels); };
    auto multiply = [&] {
      gemm(a.next(), k, 1, bp, c.next(), n, m, n, k, 0, panels, false);
    };
    double flops = 2.0 * double(m) * double(n) * double(k);
    llvm::outs() << llvm::format("%6lldx%5lldx%6lld", (long long)m,
                                 (long long)k, (long long)n);
    packRows();
    figure(flops, measure(seconds, multiply));
    figure(flops, measure(seconds, [&] {
             bp = packed.next();
             packRows();
             multiply();
           }));
    figure(flops, measure(seconds, [&] {
             bp = packed.next();
             packColumns();
             multiply();
           }));
    figure(flops, measure(seconds, [&] {
             gemm(a.next(), 1, m, bp, c.next(), n, m, n, k, 0, panels, false);
           }));
    double bytes = double(k * n) * sizeof(T);
    auto packing = [&](auto run) {
      double time = measure(seconds, [&] {
        bp = packed.next();
        run();
      });
      llvm::outs() << llvm::format(" %6.1f", bytes / time * 1e-9);
    };
    packing(packRows);
    packing(packColumns);
    llvm::outs() << "\n";
    llvm::outs().flush();
  }

  /// The clock while tiles are multiplied whose operands are near.
  double clockOfTiles() {
    constexpr int64_t k = 512;
    int64_t m = tile.rows, n = tile.columns();
    std::vector<T> a = values(m * k), b = values(k * n), c(m * n);
    return clockAfter([&] {
      for (int i = 0; i < 100; ++i)
        gemm(a.data(), k, 1, b.data(), c.data(), n, m, n, k, 0, 1, false);
    });
  }

  void runAll() {
    llvm::outs() << llvm::format("peak %.1f GFLOP/s, tile %lldx%lld\n",
                                 peak * 1e-9, (long long)tile.rows,
                                 (long long)tile.columns());
    llvm::outs() << llvm::format(
        "clock, of an idle processor's: %.2f at the peak, %.2f after products "
        "of %lldx512x%lld\n",
        clockAtPeak, clockOfTiles(), (long long)tile.rows,
        (long long)tile.columns());
    llvm::outs() << "     M    K     N    packed before     packing B    "
                    "packing B^T     A^T, packed     pack, pack B^T GB/s\n";
    if (shapes.empty()) {
      static constexpr int64_t table[][3] = {
          {1024, 1024, 1024}, {4096, 512, 512}, {64, 512, 1536},
          {16, 512, 512},     {1, 512, 8000},   {1, 512, 512},
          {5, 512, 1536},     {63, 512, 1500},  {77, 515, 512},
          {512, 2048, 512},   {600, 512, 30000}};
      for (const auto &shape : table)
        run(shape[0], shape[1], shape[2]);
    }
    for (const std::string &shape : shapes) {
      llvm::SmallVector<llvm::StringRef> parts;
      llvm::StringRef(shape).split(parts, 'x');
      int64_t sizes[3];
      bool isShape = parts.size() == 3;
      for (size_t i = 0; isShape && i < 3; ++i)
        isShape = !parts[i].getAsInteger(10, sizes[i]) && sizes[i] > 0;
      if (!isShape)
        check(llvm::createStringError("'" + shape + "' is not MxKxN"));
      run(sizes[0], sizes[1], sizes[2]);
    }
  }
};

int main(int argc, char **argv) {
  llvm::InitLLVM initialised(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "matrix products on one thread\n");
  if (useF64 && inPairs)
    check(llvm::createStringError("-bf16 is for f32"));
  Target target = check(Target::parse(targetName));
  DialectRegistry registry;
  registerKernelDialects(registry);
  MLIRContext context(registry);
  loadKernelDialects(context);

  Type element = useF64 ? Type(Float64Type::get(&context))
                        : Type(Float32Type::get(&context));
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(&context), "gemm");
  GemmElement own = inPairs ? GemmElement::inPairs(element) : element;
  emitGemm(*module, own, target);
  emitPeak(*module, element, target);
  if (show) {
    module->print(llvm::outs());
    return 0;
  }
  JitOptions options;
  options.compile.optimisation = level;
  std::unique_ptr<Jit> jit = check(Jit::create(target, std::move(options)));
  check(jit->add(std::move(module)));
  if (useF64)
    Bench<double>(*jit, own).runAll();
  else
    Bench<float>(*jit, own).runAll();
  return 0;
}
