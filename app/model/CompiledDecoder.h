//===- CompiledDecoder.h - a decoder as compiled code ---------------------===//

#ifndef FOVEA_APP_MODEL_COMPILEDDECODER_H
#define FOVEA_APP_MODEL_COMPILEDDECODER_H

#include "app/model/Compiled.h"
#include "runtime/data/SafeTensors.h"
#include "runtime/search/Search.h"

namespace fovea::cli {

/// A split model (`attn-split-decoder`) as code in this process, and a search
/// over it.
class CompiledDecoder {
public:
  /// With the parameters of a model, or of each member of an ensemble.
  static runtime::Status
  create(mlir::ModuleOp module,
         const std::vector<runtime::ParameterValues> &parameters,
         const CompiledOptions &options,
         std::unique_ptr<CompiledDecoder> &result);
  /// Without parameters: call `setParameters` before the first search.
  static runtime::Status create(mlir::ModuleOp module,
                                const CompiledOptions &options,
                                std::unique_ptr<CompiledDecoder> &result);
  /// A decoder without objects has no functions.
  static runtime::Status create(codegen::Code code,
                                const CompiledOptions &options,
                                std::unique_ptr<CompiledDecoder> &result);

  /// Copies the parameters of a model, or of each member of an ensemble, in the
  /// element type of the code, and resets the search. Fails if weights cannot
  /// be quantised.
  runtime::Status
  setParameters(const std::vector<runtime::ParameterValues> &parameters,
                bool isDouble);
  /// The same for weights as files have them. Each tensor is freed once it is
  /// copied.
  runtime::Status setWeights(std::vector<runtime::TensorFile> members,
                             bool isDouble);
  /// Resets the search with parameters in place, in the element type of the
  /// code.
  void setParameters(std::vector<runtime::OwnedMemory> members);

  /// Replaces the functions of each program; ahead of the parameters.
  void replaceFunctions(llvm::function_ref<runtime::ProgramCode(
                            size_t program, const runtime::ProgramCode &own)>
                            replace);

  runtime::Search &search() { return *searcher; }
  const runtime::Decoder &description() const { return decoder; }
  /// Null if there is no such function.
  void *addressOf(const std::string &symbol) { return addressIn(*jit, symbol); }
  int threads() const { return fovea_pool_threads(pool.get()); }

private:
  explicit CompiledDecoder(const CompiledOptions &options)
      : pool(fovea_pool_create(options.threads), &fovea_pool_destroy) {}
  runtime::OwnedMemory store(const runtime::ParameterValues &parameters,
                             bool isDouble, runtime::Arena &memory);

  std::unique_ptr<codegen::Jit> jit;
  std::vector<runtime::ProgramCode> code;
  runtime::Decoder decoder;
  std::vector<std::unique_ptr<runtime::Arena>> memories; // of parameters
  std::unique_ptr<FoveaPool, void (*)(FoveaPool *)> pool;
  std::unique_ptr<runtime::Search> searcher;
};

} // namespace fovea::cli

#endif // FOVEA_APP_MODEL_COMPILEDDECODER_H
