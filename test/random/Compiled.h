//===- Compiled.h - compiled code against the interpreter -------*- C++ -*-===//
//
// A ragged batch goes through code, in every company and on several threads.
// The oracle is the interpreter: of `@training` as the front end gave it, and
// of the gradients that central differences judged. Weights and data are
// floats, so that both precisions mean the same.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TEST_RANDOM_COMPILED_H
#define FOVEA_TEST_RANDOM_COMPILED_H

#include "app/model/Compiled.h"
#include "test/random/Checks.h"

namespace fovea::random {

using cli::CompiledProgram;
using reference::Array;
using reference::Arrays;
using reference::Inputs;

/// All that a run gave, by name and example: what the examples share only with
/// `gradients`.
std::map<std::string, std::vector<double>>
resultsOf(const CompiledProgram &program, size_t examples, bool gradients);

class CompiledCheck {
public:
  CompiledCheck(const Subject &subject, mlir::ModuleOp original,
                mlir::ModuleOp scheduled, const CheckOptions &options,
                Failures &failures, Statistics &statistics)
      : subject(subject), original(original), scheduled(scheduled),
        options(options), failures(failures), statistics(statistics) {}

  void run(const std::vector<std::string> &gets);

private:
  void drawBatch();
  bool interpret();
  bool lower(const std::vector<std::string> &gets);
  bool formKernels();
  /// Evaluates the first example, and compares it with what it was before.
  void judgeExample(mlir::ModuleOp module, const std::string &after);
  void judge(llvm::StringRef entry, bool isDouble);
  void judgeValues(const CompiledProgram &program, const std::string &what,
                   bool isDouble);
  bool judgePrecision(const CompiledProgram &program, llvm::StringRef entry,
                      const std::string &what, bool isDouble);
  bool judgeBits(const CompiledProgram &program, llvm::StringRef entry,
                 const std::string &what);
  void plantMistakes();
  void judgeCompany(CompiledProgram &program, const std::string &what);
  cli::CompiledOptions watchedOptions(bool isDouble) const;
  bool compileWatched(llvm::StringRef entry, const cli::CompiledOptions &how,
                      const std::string &what, codegen::Code &code);
  void judgeDebugged(llvm::StringRef entry, bool isDouble,
                     const std::string &what);
  void judgeChecked(llvm::StringRef entry, bool isDouble,
                    const std::string &what);
  void judgeLaunches(llvm::StringRef entry, const std::string &what);
  void compareLaunches(const std::string &what);
  void judgeMachines(CompiledProgram &program, CompiledProgram &other,
                     const std::string &what);
  std::unique_ptr<CompiledProgram> compile(llvm::StringRef entry, bool isDouble,
                                           const std::string &cpu,
                                           const std::string &what,
                                           std::optional<size_t> mistake = {});
  bool measureErrors(llvm::StringRef entry);
  bool isClose(const std::string &key, const Array &want,
               const runtime::DataValues &got, bool isDouble) const;
  /// Runs over `batch`, on one thread or on those of the pool.
  bool compute(CompiledProgram &program, const runtime::Batch &batch,
               FoveaPool *pool);
  void fail(const std::string &text) { failures.push_back(text); }

  const Subject &subject;
  mlir::ModuleOp original, scheduled;
  const CheckOptions &options;
  Failures &failures;
  Statistics &statistics;

  std::vector<Inputs> inputs; // of the examples, for the interpreter
  std::vector<runtime::Example> examples;
  Arrays parameters;
  std::vector<Arrays> values; // by example
  Arrays gradients;           // summed over the examples
  mlir::OwningOpRef<mlir::ModuleOp> batched;
  Arrays first; // of the first example, by program and output
  /// How far errors of single precision move each result of an entry.
  std::map<std::string, double> moved;
};

} // namespace fovea::random

#endif // FOVEA_TEST_RANDOM_COMPILED_H
