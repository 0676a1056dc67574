//===- Launched.h - programs by the interpreter of launches -----*- C++ -*-===//
//
// Schedules `@loss` and `@grad` for a target and interprets the launches
// (dialect/launch-reference). The results are those of the interpreter of the
// program, or it is an error. Compiled code can be compared after each launch.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_INTERPRET_LAUNCHED_H
#define FOVEA_APP_INTERPRET_LAUNCHED_H

#include "app/model/Compiled.h"
#include "dialect/launch-reference/Interpreter.h"

namespace fovea::cli {

class LaunchTrace;

struct LaunchResults {
  std::vector<reference::Arrays> outputs; // of each example
  /// Added up over the examples where a batch does not have them once.
  reference::Arrays sums;
  /// What each launch leaves, if it is asked for.
  LaunchTrace *trace = nullptr;
};

/// Interprets the launches of an entry of a batched module, in the order that
/// `order` draws.
runtime::Status interpretLaunches(mlir::ModuleOp module, llvm::StringRef entry,
                                  llvm::ArrayRef<reference::Inputs> inputs,
                                  const CompiledOptions &options,
                                  uint64_t order, LaunchResults &results);

/// With `compares` code runs as well, after the interpreter, on the function
/// `parallel` of the options. The error is the first launch that leaves other
/// numbers.
class LaunchedBatch : public reference::BatchEvaluator {
public:
  LaunchedBatch(mlir::ModuleOp module, const reference::Arrays &parameters,
                const std::vector<runtime::Example> &examples,
                const CompiledOptions &options, bool compares)
      : module(module), parameters(parameters), examples(examples),
        options(options), compares(compares) {}
  runtime::Status
  evaluateLoss(const std::vector<std::string> &equations,
               std::vector<reference::Arrays> &outputs) override;
  runtime::Status evaluateGradients(double seedNll, double seedPenalty,
                                    reference::Arrays &sums) override;

private:
  runtime::Status run(llvm::StringRef entry,
                      const std::map<std::string, double> &numbers,
                      LaunchResults &results);
  runtime::Status compareCode(llvm::StringRef entry,
                              const std::map<std::string, double> &numbers,
                              LaunchTrace &trace);

  mlir::ModuleOp module;
  const reference::Arrays &parameters;
  const std::vector<runtime::Example> &examples;
  CompiledOptions options;
  bool compares;
};

} // namespace fovea::cli

#endif // FOVEA_APP_INTERPRET_LAUNCHED_H
