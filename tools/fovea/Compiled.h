//===- Compiled.h - a batch by compiled code ------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_COMPILED_H
#define FOVEA_TOOLS_FOVEA_COMPILED_H

#include "codegen/Jit.h"
#include "dialect/reference/Batch.h"
#include "runtime/ThreadPool.h"
#include "runtime/Workspace.h"

namespace fovea::cli {

struct CompiledOptions {
  bool isDouble = false;
  std::string cpu = "native";
  std::optional<uint64_t> seed;
  /// 0: one per CPU.
  int threads = 0;
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
                      runtime::Program &program,
                      std::unique_ptr<runtime::Workspace> &workspace);

  mlir::ModuleOp module;
  const std::vector<runtime::Example> &examples;
  CompiledOptions options;
  runtime::ParameterValues parameters;
  std::unique_ptr<FoveaPool, void (*)(FoveaPool *)> pool;
};

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_COMPILED_H
