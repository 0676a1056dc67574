//===- Math.cpp - how fast are exp and its relatives? ---------------------===//
//
// Prints nanoseconds per element of each function that ExpandMath rewrites. One
// thread computes 4,096 elements that stay in the first-level cache, as one
// vector per turn of a loop. Times are measured as in Gemm.cpp.
//
//===----------------------------------------------------------------------===//

#include "bench/Measure.h"
#include "bench/Options.h"
#include "codegen/math/ExpandMath.h"
#include "codegen/native/Jit.h"
#include "codegen/native/Lower.h"
#include "codegen/native/Target.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"

namespace cl = llvm::cl;
using namespace fovea::codegen;
using namespace mlir;

static cl::opt<double> seconds("seconds", cl::init(0.1),
                               cl::desc("CPU time per figure"));

static llvm::ExitOnError check("bench-math: error: ");

static constexpr int64_t count = 4096;

/// out[i] = op(x[i]), a vector at a time; a copy where `name` is empty.
static std::string kernelText(StringRef name, StringRef element,
                              int64_t lanes) {
  std::string type = llvm::formatv("vector<{0}x{1}>", lanes, element);
  std::string op =
      name.empty() ? ""
                   : llvm::formatv("%r = math.{0} %v : {1}", name, type).str();
  return llvm::formatv(R"(
func.func @kernel_{0}(%x: !llvm.ptr, %out: !llvm.ptr) {{
  %zero = arith.constant 0 : i64
  %count = arith.constant {1} : i64
  %step = arith.constant {2} : i64
  scf.for %i = %zero to %count step %step : i64 {{
    %px = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {3}
    %po = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {3}
    %v = llvm.load %px : !llvm.ptr -> {4}
    {5}
    llvm.store {6}, %po : {4}, !llvm.ptr
  }
  return
}
)",
                       name, count, lanes, element, type, op,
                       name.empty() ? "%v" : "%r");
}

template <typename T>
static double measureKernel(StringRef name, const Target &target) {
  MLIRContext context;
  loadKernelDialects(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      kernelText(name, sizeof(T) == 4 ? "f32" : "f64",
                 target.vectorBits / 8 / sizeof(T)),
      ParserConfig(&context));
  expandMath(*module);
  std::unique_ptr<Jit> jit = check(Jit::create(target));
  check(jit->add(std::move(module)));
  auto kernel = reinterpret_cast<void (*)(const T *, T *)>(
      check(jit->lookup(("kernel_" + name).str())));
  // Half a page apart, so that no load waits for a store of the same offset.
  constexpr int64_t gap = 2048 / sizeof(T);
  auto *memory =
      static_cast<T *>(std::aligned_alloc(4096, (3 * count) * sizeof(T)));
  T *x = memory, *out = memory + count + gap;
  for (int64_t i = 0; i < count; ++i)
    x[i] = T(i % 997 + 1) / 500;
  double time = measure(seconds, [&] { kernel(x, out); });
  std::free(memory);
  return time / double(count) * 1e9;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialised(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "functions on one thread\n");
  Target target = check(Target::parse(targetName));
  llvm::outs() << "ns per element     f32     f64\n";
  for (const char *name :
       {"", "exp", "exp2", "expm1", "tanh", "log", "log1p", "erf", "rsqrt",
        "sin", "cos", "atan", "erfc", "cbrt", "sinh"}) {
    llvm::outs() << llvm::format("%-14s %7.3f %7.3f\n", *name ? name : "(copy)",
                                 measureKernel<float>(name, target),
                                 measureKernel<double>(name, target));
    llvm::outs().flush();
  }
  return 0;
}
