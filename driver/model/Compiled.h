//===- Compiled.h - programs as compiled code -----------------------------===//
//
// A program is compiled once and runs over any number of batches, of any
// lengths.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MODEL_COMPILED_H
#define FOVEA_DRIVER_MODEL_COMPILED_H

#include "codegen/Driver.h"
#include "dialect/AttnDialect.h"
#include "dialect/reference/Batch.h"
#include "runtime/memory/StepMemory.h"
#include "runtime/memory/Workspace.h"

namespace fovea::cli {

struct CompiledOptions : codegen::DriverOptions {
  std::optional<uint64_t> seed;
  /// 0: one per CPU.
  int threads = 0;
  /// Whether `perf` can name kernels.
  bool perf = false;
  /// What hands kernels to threads: a caller may take its time.
  decltype(&fovea_parallel) parallel = &fovea_parallel;
};

/// Compiles an entry of a batched module.
runtime::Status compileProgram(mlir::ModuleOp module, llvm::StringRef entry,
                               const CompiledOptions &options,
                               codegen::Code &code);

/// Compiles what `attn-split-decoder` made of a model.
runtime::Status compileDecoder(mlir::ModuleOp module,
                               const CompiledOptions &options,
                               codegen::Code &code);

/// Objects as code in this process.
runtime::Status load(codegen::Objects objects, const CompiledOptions &options,
                     std::unique_ptr<codegen::Jit> &jit);

/// The functions of a program that was compiled.
runtime::Status findFunctions(codegen::Jit &jit,
                              const runtime::Program &program,
                              runtime::ProgramCode &functions);

/// A function of compiled code; null: there is none.
void *addressIn(codegen::Jit &jit, const std::string &symbol);

/// An entry of a batched module as code in this process, and the memory of its
/// present batch.
class CompiledProgram {
public:
  static runtime::Status create(mlir::ModuleOp module, llvm::StringRef entry,
                                const CompiledOptions &options,
                                std::unique_ptr<CompiledProgram> &result);
  static runtime::Status create(codegen::Code code,
                                const CompiledOptions &options,
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
  void compute() { functions.run(memory.frame()); }
  /// Between the two, where the options say so: packs the parameters.
  void prepare() {
    if (functions.prepare)
      functions.prepare(memory.frame());
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
  runtime::ProgramCode functions;
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
