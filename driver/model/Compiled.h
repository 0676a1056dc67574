//===- Compiled.h - programs as compiled code -----------------------------===//
//
// A program is compiled once and runs over any number of batches, of any
// lengths.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MODEL_COMPILED_H
#define FOVEA_DRIVER_MODEL_COMPILED_H

#include "codegen/cpu/program/EmitProgram.h"
#include "codegen/cpu/program/Recompute.h"
#include "codegen/native/Jit.h"
#include "dialect/AttnDialect.h"
#include "dialect/reference/Batch.h"
#include "runtime/ThreadPool.h"
#include "runtime/memory/Workspace.h"
#include "runtime/model/Description.h"

namespace fovea::cli {

struct CompiledOptions {
  bool isDouble = false;
  std::string cpu = "native";
  std::optional<uint64_t> seed;
  /// 0: one per CPU.
  int threads = 0;
  /// Whether `perf` can name kernels.
  bool perf = false;
  /// Where kernels are listed as they are emitted, and what hands them to
  /// threads: a caller may take its time.
  std::vector<codegen::KernelNote> *notes = nullptr;
  decltype(&fovea_parallel) parallel = &fovea_parallel;
  /// How much LLVM does (codegen/native/Compile.h), and whether objects are
  /// kept: what runs once on small data wants neither.
  unsigned optimisation = 1, codegen = 2;
  bool isCached = true;
  /// How much the arrays of a program may take; what exceeds it is computed
  /// again (codegen/cpu/program/Recompute.h).
  std::optional<codegen::MemoryLimit> memory;
  /// Parameters are packed by `CompiledProgram::prepare`, not in every run.
  bool prepares = false;
};

/// The target of the options, and an empty module for kernels.
runtime::Status beginKernels(mlir::ModuleOp module,
                             const CompiledOptions &options,
                             codegen::EmitOptions &emit,
                             mlir::OwningOpRef<mlir::ModuleOp> &kernels);
/// Kernels as code in this process.
runtime::Status compileKernels(mlir::OwningOpRef<mlir::ModuleOp> kernels,
                               const codegen::Target &target,
                               const CompiledOptions &options,
                               std::unique_ptr<codegen::Jit> &jit);

/// A program, or a decoder, as code that is not linked yet.
struct Code {
  /// `programs`, or `decoder`.
  runtime::Description description;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
};

/// Compiles an entry of a batched module.
runtime::Status compileProgram(mlir::ModuleOp module, llvm::StringRef entry,
                               const CompiledOptions &options, Code &code);

/// The same for kernels that are there already.
runtime::Status
compileKernels(mlir::OwningOpRef<mlir::ModuleOp> kernels,
               const codegen::Target &target, const CompiledOptions &options,
               std::vector<std::unique_ptr<llvm::MemoryBuffer>> &objects);

/// Objects as code in this process.
runtime::Status
linkObjects(std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects,
            const CompiledOptions &options, std::unique_ptr<codegen::Jit> &jit);

/// A function of compiled code; null: there is none.
void *addressIn(codegen::Jit &jit, const std::string &symbol);

/// An entry of a batched module as code in this process, and the memory of its
/// present batch.
class CompiledProgram {
public:
  static runtime::Status create(mlir::ModuleOp module, llvm::StringRef entry,
                                const CompiledOptions &options,
                                std::unique_ptr<CompiledProgram> &result);
  static runtime::Status create(Code code, const CompiledOptions &options,
                                std::unique_ptr<CompiledProgram> &result);

  /// Runs the program; what it gives is in `workspace()` until the next run.
  runtime::Status run(const runtime::Batch &batch,
                      const runtime::Binding &binding);

  /// The two halves of it: the layout of a batch, and the computation, which
  /// may be repeated.
  runtime::Status bind(const runtime::Batch &batch,
                       const runtime::Binding &binding) {
    return memory.bind(batch, binding);
  }
  void compute() { function(memory.frame()); }
  /// Between the two, where the options say so: packs the parameters.
  void prepare() {
    if (packing)
      packing(memory.frame());
  }

  /// Null: there is no such function.
  void *addressOf(const std::string &symbol) { return addressIn(*jit, symbol); }

  const runtime::Program &program() const { return description; }
  const runtime::Workspace &workspace() const { return memory; }

private:
  CompiledProgram() : memory(description) {}

  std::unique_ptr<codegen::Jit> jit;
  runtime::Program description;
  runtime::Workspace memory;
  void (*function)(void *) = nullptr;
  void (*packing)(void *) = nullptr;
};

/// Compiles `@loss` and `@grad` of a batched module as they are needed, and
/// runs them over `examples`.
class CompiledBatch : public reference::BatchEvaluator {
public:
  CompiledBatch(mlir::ModuleOp module, const reference::Arrays &parameters,
                const std::vector<runtime::Example> &examples,
                const CompiledOptions &options);
  runtime::Status
  evaluateLoss(const std::vector<std::string> &equations,
               std::vector<reference::Arrays> &outputs) override;
  runtime::Status evaluateGradients(double seedNll, double seedPenalty,
                                    reference::Arrays &sums) override;

private:
  runtime::Status run(llvm::StringRef entry,
                      const std::map<std::string, double> &numbers,
                      std::unique_ptr<CompiledProgram> &program);

  mlir::ModuleOp module;
  runtime::Batch examples;
  CompiledOptions options;
  runtime::ParameterValues parameters;
  std::unique_ptr<FoveaPool, void (*)(FoveaPool *)> pool;
};

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MODEL_COMPILED_H
