//===- CompiledDecoder.h - a decoder as compiled code ---------------------===//

#ifndef FOVEA_TOOLS_FOVEA_COMPILEDDECODER_H
#define FOVEA_TOOLS_FOVEA_COMPILEDDECODER_H

#include "runtime/Search.h"
#include "tools/fovea/Compiled.h"

namespace fovea::cli {

/// Compiles what `attn-split-decoder` made of a model.
runtime::Status compileDecoder(mlir::ModuleOp module,
                               const CompiledOptions &options, Code &code);

/// What `attn-split-decoder` made of a model, as code in this process, and a
/// search over it.
class CompiledDecoder {
public:
  static runtime::Status create(mlir::ModuleOp module,
                                const runtime::ParameterValues &parameters,
                                const CompiledOptions &options,
                                std::unique_ptr<CompiledDecoder> &result);
  /// Without parameters: `setParameters` comes before the first search.
  static runtime::Status create(mlir::ModuleOp module,
                                const CompiledOptions &options,
                                std::unique_ptr<CompiledDecoder> &result);
  static runtime::Status create(Code code, const CompiledOptions &options,
                                std::unique_ptr<CompiledDecoder> &result);

  /// Copies parameters, in the element type of the code, and begins anew.
  void setParameters(const runtime::ParameterValues &parameters,
                     bool isDouble) {
    setParameters(store(parameters, isDouble));
  }
  /// Begins anew with parameters that stay where they are, in the element type
  /// of the code.
  void setParameters(runtime::OwnedMemory parameters);

  runtime::Search &search() { return *searcher; }
  const runtime::Decoder &description() const { return decoder; }
  int threads() const { return fovea_pool_threads(pool.get()); }

private:
  explicit CompiledDecoder(const CompiledOptions &options)
      : pool(fovea_pool_create(options.threads), &fovea_pool_destroy) {}
  runtime::OwnedMemory store(const runtime::ParameterValues &parameters,
                             bool isDouble);

  std::unique_ptr<codegen::Jit> jit;
  std::vector<runtime::ProgramCode> code;
  runtime::Decoder decoder;
  runtime::Arena memory; // of the parameters
  std::unique_ptr<FoveaPool, void (*)(FoveaPool *)> pool;
  std::unique_ptr<runtime::Search> searcher;
};

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_COMPILEDDECODER_H
