//===- LaunchedDecoder.h - a decoder, launch by launch ----------*- C++ -*-===//
//
// A search whose programs the interpreter of launches runs. They read the
// frames that the search fills in. So all states, choices and lengths are those
// of a search over compiled code.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_INTERPRET_LAUNCHEDDECODER_H
#define FOVEA_APP_INTERPRET_LAUNCHEDDECODER_H

#include "app/interpret/FirstFailure.h"
#include "app/model/CompiledDecoder.h"
#include "dialect/launch-reference/Interpreter.h"
#include "mlir/IR/OwningOpRef.h"

namespace fovea::cli {

class LaunchedDecoder {
public:
  /// Schedules the programs that `attn-split-decoder` made of a model. With
  /// `compares` code runs as well, and each launch of it is compared with the
  /// interpreter; otherwise the interpreter's numbers are the results.
  static runtime::Status create(mlir::ModuleOp module,
                                const CompiledOptions &options, bool compares,
                                std::unique_ptr<LaunchedDecoder> &result);

  /// The search over the programs.
  CompiledDecoder &decoder() { return *search; }
  /// The first launch that is wrong; later runs are not interpreted.
  const runtime::Status &status() const { return failure.status(); }

private:
  struct Part {
    mlir::Operation *program; // an attn.program
    launch::ProgramOp launches;
    runtime::ProgramCode code = {}; // nothing: the interpreter alone
    uint64_t numRuns = 0;
  };

  LaunchedDecoder(mlir::ModuleOp module, const CompiledOptions &options)
      : module(module.clone()), options(options) {}
  runtime::Status compile(bool compares);
  void run(const runtime::Program &description, Part &part, void *frame);
  runtime::Status interpret(const runtime::Program &description, Part &part,
                            void *frame);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  CompiledOptions options;
  std::unique_ptr<codegen::Driver> driver; // has the schedules
  std::vector<Part> parts;                 // by program
  std::unique_ptr<CompiledDecoder> search;
  FirstFailure failure;
};

} // namespace fovea::cli

#endif // FOVEA_APP_INTERPRET_LAUNCHEDDECODER_H
