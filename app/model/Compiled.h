//===- Compiled.h - programs as compiled code -----------------------------===//
//
// A program is compiled once and runs over any number of batches, of any
// lengths.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_MODEL_COMPILED_H
#define FOVEA_APP_MODEL_COMPILED_H

#include "app/model/DebugPool.h"
#include "codegen/Driver.h"
#include "dialect/reference/Batch.h"
#include "runtime/memory/StepMemory.h"
#include "runtime/memory/Workspace.h"

namespace fovea::codegen {
struct TensorCore;
} // namespace fovea::codegen

namespace fovea::cli {

struct Arguments;

struct CompiledOptions : codegen::DriverOptions {
  std::optional<uint64_t> seed;
  /// 0: one per CPU.
  int threads = 0;
  /// In whose order products of bf16 are added: another key of what is cached.
  const codegen::TensorCore *core = nullptr;
  /// Whether products with weights round their factors, and whether rows do
  /// that attention reads: the same.
  bool roundsProducts = false, roundsRows = false;
  /// Whether `perf` can name kernels.
  bool perf = false;
  /// The function that hands kernels to threads: a caller may time it.
  decltype(&fovea_parallel) parallel = &fovea_parallel;
  /// Programs run as DebugPool.h says; FOVEA_DEBUG_POOL where it is set.
  std::optional<uint64_t> debugSeed = debugSeedOfEnvironment();
};

/// Reads types, CPU and threads from the command line.
CompiledOptions compiledOptionsOf(const Arguments &arguments);

/// Compiles an entry of a batched module.
runtime::Status compileProgram(mlir::ModuleOp module, llvm::StringRef entry,
                               const CompiledOptions &options,
                               codegen::Code &code);

/// Compiles the programs that `attn-split-decoder` made of a model.
runtime::Status compileDecoder(mlir::ModuleOp module,
                               const CompiledOptions &options,
                               codegen::Code &code);

/// Loads objects as code in this process.
runtime::Status load(codegen::Objects objects, const CompiledOptions &options,
                     std::unique_ptr<codegen::Jit> &jit);

/// The functions of a compiled program.
runtime::Status findFunctions(codegen::Jit &jit,
                              const runtime::Program &program,
                              runtime::ProgramCode &functions);

/// Makes the functions of a checked program report what its checks find.
/// `program` outlives them.
void watchChecks(const runtime::Program &program,
                 std::vector<runtime::CheckedSite> sites,
                 runtime::ProgramCode &functions);

/// Returns a function of compiled code, or null.
void *addressIn(codegen::Jit &jit, const std::string &symbol);

/// An entry of a batched module as code in this process, and the memory of its
/// current batch.
class CompiledProgram {
public:
  static runtime::Status create(mlir::ModuleOp module, llvm::StringRef entry,
                                const CompiledOptions &options,
                                std::unique_ptr<CompiledProgram> &result);
  static runtime::Status create(codegen::Code code,
                                const CompiledOptions &options,
                                std::unique_ptr<CompiledProgram> &result);

  /// Runs the program; its results are in `workspace()` until the next run.
  runtime::Status run(const runtime::Batch &batch,
                      const runtime::Binding &binding);

  /// Its two halves: the layout of a batch, and the computation, which may be
  /// repeated.
  runtime::Status bind(const runtime::Batch &batch,
                       const runtime::Binding &binding) {
    return memory.bind(batch, binding);
  }
  void compute();
  /// Runs between the two, if the options request it: packs the parameters.
  void prepare() {
    if (functions.prepare)
      functions.prepare(memory.frame());
  }

  /// Null if there is no such function.
  void *addressOf(const std::string &symbol) { return addressIn(*jit, symbol); }

  void *frame() { return memory.frame(); }

  const runtime::Program &program() const { return description; }
  const runtime::Workspace &workspace() const { return memory; }

private:
  CompiledProgram() : memory(description) {}

  bool isDebugged = false;
  std::unique_ptr<codegen::Jit> jit;
  runtime::Program description;
  runtime::Workspace memory;
  runtime::ProgramCode functions;
};

/// Compiles `@loss` and `@grad` of a batched module on demand, and runs them
/// over `examples`.
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

#endif // FOVEA_APP_MODEL_COMPILED_H
