//===- InterpretedDecoder.h - a decoder, as a phase leaves it ---*- C++ -*-===//
//
// A search whose programs the interpreter of `attn` runs as a phase leaves
// them, past `attn-split-decoder`. They read the frames that the search fills
// in, so all states, choices and lengths are those of a search over compiled
// code.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_INTERPRET_INTERPRETEDDECODER_H
#define FOVEA_APP_INTERPRET_INTERPRETEDDECODER_H

#include "app/interpret/FirstFailure.h"
#include "app/model/CompiledDecoder.h"
#include "mlir/IR/BuiltinOps.h"

namespace fovea::cli {

class InterpretedDecoder {
public:
  /// `module` has the programs after the phase `fuse`, which describe the
  /// frames.
  static runtime::Status create(mlir::ModuleOp module,
                                const CompiledOptions &options,
                                std::unique_ptr<InterpretedDecoder> &result);

  /// Interprets the same programs as `phase` has them from now on. It outlives
  /// the searches.
  void interpret(mlir::ModuleOp phase);

  /// The search over the programs.
  CompiledDecoder &decoder() { return *search; }
  /// The first run that fails; later runs are not interpreted.
  const runtime::Status &status() const { return failure.status(); }

private:
  explicit InterpretedDecoder(bool isDouble) : isDouble(isDouble) {}
  runtime::Status describe(mlir::ModuleOp module,
                           const CompiledOptions &options);
  void run(size_t number, void *memory);

  bool isDouble;
  std::vector<std::string> names; // of the programs
  std::vector<mlir::Operation *> programs;
  std::unique_ptr<CompiledDecoder> search;
  FirstFailure failure;
};

} // namespace fovea::cli

#endif // FOVEA_APP_INTERPRET_INTERPRETEDDECODER_H
