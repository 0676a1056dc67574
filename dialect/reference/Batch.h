//===- Batch.h - loss, gradients and equations of a batch -----------------===//
//
// Runs the interpreter over the examples of a batch, one by one, and assembles
// the results in the format of `fovea run`.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_BATCH_H
#define FOVEA_DIALECT_REFERENCE_BATCH_H

#include "dialect/reference/Interpreter.h"
#include "runtime/data/Batch.h"

namespace fovea::reference {

/// The data that a system or program reads, in the format of a batch file.
/// Seeds (`seed.nll`) are not data.
std::vector<runtime::DataSpec> describeData(mlir::Operation *container);

/// The parameters that a system or program reads, with their extents.
std::map<std::string, std::vector<int64_t>>
describeParameters(mlir::Operation *container);

/// Takes the parameters of `container` from a weights file. A missing one, or
/// one of another shape, is an error.
Status readWeights(mlir::Operation *container, const runtime::TensorFile &file,
                   Arrays &parameters);

/// The inputs of one example.
Inputs inputsOf(const runtime::Example &example, const Arrays &parameters);

struct BatchRequest {
  /// `loss`, `logp` (per example), `grads`, or names of equations.
  std::vector<std::string> gets;
  std::optional<uint64_t> seed;
  uint64_t update = 0;
  bool single = false; // of the interpreter: f32 (Inputs)
};

/// Executes the programs of a module over a batch: the interpreter, or compiled
/// code.
class BatchEvaluator {
public:
  virtual ~BatchEvaluator() = default;
  /// The outputs of `@loss` of each example, and the named equations.
  virtual Status evaluateLoss(const std::vector<std::string> &equations,
                              std::vector<Arrays> &outputs) = 0;
  /// The outputs `grad/..` of `@grad`, summed over the examples.
  virtual Status evaluateGradients(double seedNll, double seedPenalty,
                                   Arrays &sums) = 0;
};

/// Evaluates `@loss` (and `@grad` for `grads`) of `module` over a batch.
/// Results: `loss` [], `logp` [batch], `grad/<path>`, and each equation [batch,
/// max extents..], zeros outside; all F64 except whole numbers, which are I64.
///
/// loss = sum(nll) / sum(choices) + mean(penalty) where the model averages by
/// token (`attn.train` has average = "token", or says nothing), otherwise
/// mean(nll) + mean(penalty).
Status runBatch(mlir::ModuleOp module, BatchEvaluator &evaluator,
                const BatchRequest &request,
                std::map<std::string, runtime::Tensor> &results);

/// The same by the interpreter.
Status runBatch(mlir::ModuleOp module, const Arrays &parameters,
                const std::vector<runtime::Example> &examples,
                const BatchRequest &request,
                std::map<std::string, runtime::Tensor> &results);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_BATCH_H
