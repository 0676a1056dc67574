//===- EmitOnnx.h - a program as an ONNX model ----------------------------===//
//
// Writes a program of one example, after the phase `schedule`, as a model of
// ONNX (opset 18) over a batch. It is not a back end: operators of ONNX work on
// whole arrays, so the phases from `batch` on have nothing to decide here.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_ONNX_EMITONNX_H
#define FOVEA_CODEGEN_ONNX_EMITONNX_H

#include "dialect/AttnForward.h"
#include "runtime/data/Batch.h"
#include "llvm/Support/LogicalResult.h"

namespace fovea::codegen {

struct OnnxOptions {
  bool isDouble = false;
  /// All data of the model, which also has the lengths.
  std::vector<runtime::DataSpec> data;
  /// The weights, by path.
  const std::map<std::string, runtime::Tensor> *weights = nullptr;
  /// The weights move to a second file if they have more bytes than this.
  /// A file of protobuf ends at 2 GiB.
  uint64_t mostInside = (uint64_t(1) << 31) - (uint64_t(1) << 26);
  /// The name of that file, beside the model.
  std::string outsideName;
};

struct OnnxFiles {
  std::string model;
  std::string outside; // empty: the model has its weights
};

/// Writes the program `@name`. Inputs have the names of a batch file
/// (runtime/data/ Batch.h): data padded on the right, examples first, and
/// lengths. Outputs are those of the program, examples first and zero in the
/// padding, and `loss` of the batch. Fails with a diagnostic at the equation if
/// ONNX has no form for it.
mlir::LogicalResult emitOnnx(mlir::ModuleOp module, llvm::StringRef name,
                             const OnnxOptions &options, OnnxFiles &files);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_ONNX_EMITONNX_H
