//===- Session.h - one spec, its context and its errors -------------------===//
//
// The first steps of every command: compiles a spec, runs the pipeline over it,
// and reports errors. Errors of passes look like errors of the front end.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_OPEN_SESSION_H
#define FOVEA_APP_OPEN_SESSION_H

#include "app/open/StoredSpec.h"
#include "compiler/Compiler.h"
#include "runtime/data/SafeTensors.h"

namespace fovea::cli {

/// The options of the pipeline.
struct Request {
  std::vector<std::string> gets;  // equations of @loss
  std::vector<std::string> shows; // equations of @decode
  bool gradients = false;
  std::vector<std::string> by; // data that @grad has adjoints of
  bool each = false;           // log p of each choice, `logp/K` of @loss
  attn::Phase stopAfter = attn::Phase::schedule;
  std::vector<std::string> leaveOut; // passes that do not run
};

class Session {
public:
  /// Messages go to `out`; at most `limit` errors are printed in full.
  explicit Session(const Arguments &arguments,
                   llvm::raw_ostream &out = llvm::errs(), unsigned limit = 20);
  ~Session();

  Diagnostics &diagnostics() { return errors; }
  compiler::Context &context() { return mlirContext; }

  /// The overrides of the command line.
  const std::vector<std::pair<std::string, std::string>> &givenSets() const {
    return arguments.sets;
  }
  /// Sizes of vocabularies for all later models that have these.
  void addSizes(const std::vector<std::pair<std::string, std::string>> &more);

  /// Compiles the spec. Missing vocabulary sizes come from `weights`. Null on
  /// an error (diagnosed).
  std::unique_ptr<Model> open(const runtime::TensorFile *weights = nullptr);
  /// The same for a model that will be executed: each reason against execution
  /// is an error.
  std::unique_ptr<Model>
  openToExecute(const runtime::TensorFile *weights = nullptr);
  /// Compiles a text, named `name` in messages.
  std::unique_ptr<Model> openText(llvm::StringRef text, llvm::StringRef name,
                                  const FrontendOptions &options);
  /// Runs all checks on a compiled model. Passes find the order of the
  /// equations, whether the decoder is possible, and whether everything has a
  /// gradient. A model that cannot be executed yet has no order. Returns false
  /// on an error (diagnosed).
  bool check(Model &model);
  /// Removes `@decoding` from a model that trains but cannot be decoded, with a
  /// warning. Leaves every other model unchanged.
  void dropImpossibleDecoder(Model &model);
  /// A hash of everything that the last opened model depends on: the texts of
  /// the spec and of the models it uses, and the overrides.
  const std::string &identity() const { return modelIdentity; }
  /// The last opened spec, as stored in weights. Its files are those passed to
  /// storeFile().
  const StoredSpec &source() const { return specSource; }
  void storeFile(llvm::StringRef name, llvm::StringRef text) {
    specSource.files[name.str()] = text.str();
  }
  /// The text of a file that a spec names and weights contain; null if it must
  /// be read beside the spec.
  const std::string *storedFile(llvm::StringRef name) const;
  /// Runs the pipeline. Returns false on an error (diagnosed). `watcher` is
  /// called after each pass.
  bool lower(Model &model, const Request &request,
             std::unique_ptr<mlir::PassInstrumentation> watcher = nullptr);

  /// Reports an error without a place in a spec.
  void error(const std::string &text) { errors.error(Code::none, {}, text); }
  /// The same for execution errors; environment failures have their own exit
  /// code.
  void fail(const runtime::Status &status);
  /// The same for command line errors.
  void misuse(const std::string &text) {
    errors.error(Code::argumentValue, {}, text);
    failureCode = badUsage;
  }
  /// Prints the remaining messages and returns the exit code.
  int finish();

private:
  std::unique_ptr<Model> compile(const FrontendOptions &options);
  std::unique_ptr<Model> compileStored(FrontendOptions options);
  bool readStored();
  void report(mlir::Diagnostic &diagnostic);
  std::vector<Diagnostics::Note> notesOf(mlir::Diagnostic &diagnostic);
  /// Lowers a copy of a model with `system` only, without messages. Returns the
  /// reason of a failure, or nothing.
  struct Failure {
    llvm::SMLoc place;
    std::string text;
    std::vector<Diagnostics::Note> notes;
  };
  std::optional<Failure> tryLowering(Model &model, llvm::StringRef system);
  void warnUndecoded(const Model &model, std::vector<Diagnostics::Note> notes);
  bool setTarget(Model &model);
  llvm::SMLoc placeOf(mlir::Location location);

  const Arguments &arguments;
  /// The overrides of the command line, and these plus those of weights.
  std::vector<std::pair<std::string, std::string>> given, sets;
  std::vector<std::pair<std::string, std::string>> sizes; // of vocabularies
  std::string modelIdentity;
  StoredSpec specSource;
  /// The spec that the command line names by its weights, and the weights
  /// without their values.
  std::optional<StoredSpec> stored;
  runtime::TensorFile storedWeights;
  Diagnostics errors;
  int failureCode = badInput;
  compiler::Context mlirContext;
  mlir::DiagnosticEngine::HandlerID handler;
};

/// Reads `--stop-after`. Returns false for an unknown phase (reported).
bool readPhase(const std::string &name, attn::Phase &phase);

/// Prints `error: text` with its code, and returns the exit code for wrong
/// usage.
int wrongUsage(const std::string &text, Code code = Code::argumentValue);

/// Removes one of the two systems of the front end.
void dropSystem(Model &model, llvm::StringRef name);

/// The names of the equations in a system of the front end.
std::vector<std::string> equationsOf(Model &model, llvm::StringRef system);

/// Returns the equations called `name` in a system of the front end: one
/// equation, or the members of a family. An unknown name is an error that
/// suggests the nearest one.
std::vector<std::string> equationsNamed(Session &session, Model &model,
                                        llvm::StringRef system,
                                        const std::string &name);

} // namespace fovea::cli

#endif // FOVEA_APP_OPEN_SESSION_H
