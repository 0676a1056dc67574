//===- Session.h - one spec, its context and its errors -------------------===//
//
// What every command does first: compile a spec, run the pipeline over it, and
// say what is wrong. Errors of passes look like errors of the front end.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MODEL_SESSION_H
#define FOVEA_DRIVER_MODEL_SESSION_H

#include "driver/model/StoredSpec.h"
#include "frontends/fov/Frontend.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "runtime/data/SafeTensors.h"

namespace fovea::cli {

/// What is wanted of the pipeline.
struct Request {
  std::vector<std::string> gets;  // equations of @loss
  std::vector<std::string> shows; // equations of @decode
  bool gradients = false;
  std::vector<std::string> by; // data that @grad has adjoints of
  bool each = false;           // log p of each choice, `logp/K` of @loss
  attn::Phase stopAfter = attn::Phase::schedule;
};

class Session {
public:
  /// Messages go to `out`; at most `limit` errors are said in full.
  explicit Session(const Arguments &arguments,
                   llvm::raw_ostream &out = llvm::errs(), unsigned limit = 20);
  ~Session();

  Diagnostics &diagnostics() { return errors; }
  mlir::MLIRContext &context() { return mlirContext; }

  /// The overrides of the command line.
  const std::vector<std::pair<std::string, std::string>> &givenSets() const {
    return arguments.sets;
  }
  /// Overrides beside those of the command line, for all that is opened later.
  void addSets(const std::vector<std::pair<std::string, std::string>> &sets);

  /// Compiles the spec. The sizes of vocabularies that nothing gives are taken
  /// from `weights`. Null when something is wrong (diagnosed).
  std::unique_ptr<Model> open(const runtime::TensorFile *weights = nullptr);
  /// The same for a model that will be executed: one that cannot be is an
  /// error for each reason.
  std::unique_ptr<Model>
  openToExecute(const runtime::TensorFile *weights = nullptr);
  /// Compiles a text, which messages call `name`, and runs check() over it.
  std::unique_ptr<Model> checkText(llvm::StringRef text, llvm::StringRef name,
                                   const FrontendOptions &options);
  /// Runs all that can find a mistake in a model that was compiled: the order
  /// of the equations, all of them, whether the decoder is possible, and
  /// whether everything has a gradient are found by passes. What cannot be
  /// executed yet has no order. False when something is wrong (diagnosed).
  bool check(Model &model);
  /// A hash of all that the model that was opened last follows from: the texts
  /// of the spec and of what it uses, and the overrides.
  const std::string &identity() const { return modelIdentity; }
  /// The spec that was opened last, as its weights carry it. Files that it
  /// names are those that storeFile() was told of.
  const StoredSpec &source() const { return specSource; }
  void storeFile(llvm::StringRef name, llvm::StringRef text) {
    specSource.files[name.str()] = text.str();
  }
  /// The text of a file that a spec names and weights carry; null: there is
  /// none, and it lies beside the spec.
  const std::string *storedFile(llvm::StringRef name) const;
  /// Runs the pipeline. False when something is wrong (diagnosed).
  bool lower(Model &model, const Request &request);

  /// Reports one mistake that has no place in a spec.
  void error(const std::string &text) { errors.error({}, text); }
  /// The same for what an execution says; the machine has an exit code of its
  /// own.
  void fail(const runtime::Status &status);
  /// The same for what is wrong with the command line.
  void misuse(const std::string &text) {
    error(text);
    failureCode = badUsage;
  }
  /// Prints what is left to say and returns the exit code.
  int finish();

private:
  std::unique_ptr<Model> compile(const FrontendOptions &options);
  std::unique_ptr<Model> compileStored(FrontendOptions options);
  bool readStored();
  void report(mlir::Diagnostic &diagnostic);
  bool setMachine(Model &model);
  llvm::SMLoc placeOf(mlir::Location location);

  const Arguments &arguments;
  /// Overrides of the command line, and these with those of weights.
  std::vector<std::pair<std::string, std::string>> given, sets;
  std::string modelIdentity;
  StoredSpec specSource;
  /// The spec that the command line names by its weights, and these without
  /// their values.
  std::optional<StoredSpec> stored;
  runtime::TensorFile storedWeights;
  Diagnostics errors;
  int failureCode = badInput;
  mlir::MLIRContext mlirContext;
  mlir::DiagnosticEngine::HandlerID handler;
};

/// Reads `--stop-after`. False when it names no phase (explained).
bool readPhase(const std::string &name, attn::Phase &phase);

/// Prints `error: text` and returns the exit code of wrong usage.
int wrongUsage(const std::string &text);

/// Removes one of the two systems that the front end gives.
void dropSystem(Model &model, llvm::StringRef name);

/// Whether a model, as the front end gives it, has something to learn.
bool hasObjective(Model &model);

/// The names of the equations of a system of the front end.
std::vector<std::string> equationsOf(Model &model, llvm::StringRef system);

/// The equations of a system of the front end that `name` means: the one of
/// this name, or the members of a family. None is an error that names the
/// nearest.
std::vector<std::string> equationsNamed(Session &session, Model &model,
                                        llvm::StringRef system,
                                        const std::string &name);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MODEL_SESSION_H
