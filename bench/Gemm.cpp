//===- Gemm.cpp - how fast are our matrix products? -----------------------===//
//
// Prints GFLOP/s on one thread for the shapes that models consist of, beside
// the peak of fused multiply-adds that the same process measures. Times are CPU
// times of the thread, of many runs the one that a tenth undercut: a quiet
// moment, but none in which the clock skipped.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Gemm.h"
#include "bench/Measure.h"
#include "bench/Options.h"
#include "codegen/Jit.h"
#include "codegen/Lower.h"
#include "codegen/Target.h"
#include "codegen/cpu/Peak.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"

namespace cl = llvm::cl;
using namespace fovea::codegen;
using namespace mlir;

static cl::opt<bool> useF64("f64", cl::desc("double precision"));
static cl::opt<unsigned> level("O", cl::Prefix, cl::init(1),
                               cl::desc("level of LLVM's IR passes"));
static cl::opt<double> seconds("seconds", cl::init(0.3),
                               cl::desc("CPU time per figure"));
static cl::opt<bool> show("emit-mlir", cl::desc("print the kernel module"));
static cl::list<std::string> shapes(cl::Positional,
                                    cl::desc("<MxKxN>.. (default: a table)"));

static llvm::ExitOnError check("bench-gemm: error: ");

using Pack = void (*)(const void *, int64_t, int64_t, int64_t, int64_t, void *,
                      int64_t, int64_t);
using Gemm = void (*)(const void *, int64_t, int64_t, const void *, void *,
                      int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                      bool);

template <typename T> struct Bench {
  Jit &jit;
  GemmTile tile;
  Pack pack;
  Gemm gemm;
  double peak;

  Bench(Jit &jit, Type element)
      : jit(jit), tile(gemmTile(element, jit.target())) {
    pack = reinterpret_cast<Pack>(check(jit.lookup(packName(element))));
    gemm = reinterpret_cast<Gemm>(check(jit.lookup(gemmName(element))));
    auto fma =
        reinterpret_cast<void (*)(int64_t, T *)>(check(jit.lookup("fma_peak")));
    constexpr int64_t turns = 100'000;
    std::vector<T> sums(12 * tile.lanes, T(0.5));
    double time = measure(seconds, [&] { fma(turns, sums.data()); });
    peak = double(peakFlops(element, jit.target()) * turns) / time;
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
    std::vector<T> a = values(m * k), b = values(k * n), c(m * n);
    std::vector<T> packed(tile.packedSize(k, n) + 16);
    T *bp = packed.data();
    while (reinterpret_cast<uintptr_t>(bp) % 64 != 0)
      ++bp;
    int64_t panels = tile.panels(n);
    auto multiply = [&] {
      gemm(a.data(), k, 1, bp, c.data(), n, m, n, k, 0, panels, false);
    };
    double flops = 2.0 * double(m) * double(n) * double(k);
    llvm::outs() << llvm::format("%6lldx%5lldx%6lld", (long long)m,
                                 (long long)k, (long long)n);
    pack(b.data(), n, 1, k, n, bp, 0, panels);
    figure(flops, measure(seconds, multiply));
    figure(flops, measure(seconds, [&] {
             pack(b.data(), n, 1, k, n, bp, 0, panels);
             multiply();
           }));
    figure(flops, measure(seconds, [&] {
             pack(b.data(), 1, k, k, n, bp, 0, panels);
             multiply();
           }));
    figure(flops, measure(seconds, [&] {
             gemm(a.data(), 1, m, bp, c.data(), n, m, n, k, 0, panels, false);
           }));
    double bytes = double(k * n) * sizeof(T);
    double rows =
        measure(seconds, [&] { pack(b.data(), n, 1, k, n, bp, 0, panels); });
    double columns =
        measure(seconds, [&] { pack(b.data(), 1, k, k, n, bp, 0, panels); });
    llvm::outs() << llvm::format(" %6.1f %6.1f\n", bytes / rows * 1e-9,
                                 bytes / columns * 1e-9);
    llvm::outs().flush();
  }

  void runAll() {
    llvm::outs() << llvm::format("peak %.1f GFLOP/s, tile %lldx%lld\n",
                                 peak * 1e-9, (long long)tile.rows,
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
  Target target = check(Target::parse(targetName));
  DialectRegistry registry;
  registerKernelDialects(registry);
  MLIRContext context(registry);
  loadKernelDialects(context);

  Type element = useF64 ? Type(Float64Type::get(&context))
                        : Type(Float32Type::get(&context));
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(&context), "gemm");
  emitGemm(*module, element, target);
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
    Bench<double>(*jit, element).runAll();
  else
    Bench<float>(*jit, element).runAll();
  return 0;
}
