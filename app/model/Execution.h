//===- Execution.h - from a command line to a model and its data ----------===//
//
// Shared by run, decode and score: weights, the model, its passes, its data.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_MODEL_EXECUTION_H
#define FOVEA_APP_MODEL_EXECUTION_H

#include "app/data/Inputs.h"
#include "runtime/memory/Workspace.h"

namespace fovea::cli {

/// A model with its weights and data.
struct Execution {
  std::unique_ptr<Model> model;
  Vocabularies vocabularies;
  /// The weights of all members of an ensemble stay as files have them, for
  /// compiled decoders. Otherwise they become numbers.
  bool keepsFiles = false;
  std::vector<runtime::TensorFile> files;
  reference::Arrays parameters;
  std::vector<reference::Arrays> more; // of the other members
  std::vector<runtime::Example> examples;
  WantedData data;
};

/// The passes that `--leave-out` names: results keep their bits without them.
/// Without an interpreter, lowering goes on to the last pass that may be left
/// out. Returns false on wrong usage (reported).
bool readLeaveOut(const Arguments &arguments, bool isReference,
                  Request &request);

/// Selects compiled code, after the last phase, or the interpreter, after any
/// phase. Returns false on wrong usage (reported).
bool chooseExecutor(const Arguments &arguments, Request &request,
                    bool &isReference);

/// Checks that a model from the front end has the required part: an objective,
/// or something to generate. Reports a missing part.
bool checkWanted(Session &session, const Arguments &arguments, Model &model,
                 bool objective, bool generated);

/// Reads the other members of an ensemble, whose vocabularies must match the
/// first, and reports all mismatches.
bool readMembers(Session &session, const Arguments &arguments,
                 const Model &model, const Vocabularies &vocabularies,
                 std::vector<runtime::TensorFile> &members);

/// Reads the weights and compiles the spec for one of its systems, "training"
/// or "decoding", and drops the other. Returns false on an error.
bool openExecution(Session &session, const Arguments &arguments,
                   llvm::StringRef system, Execution &execution);

/// Runs the pipeline, then reads the data that `container` (`loss`, `grad` or
/// `decode`) needs.
bool lowerAndRead(Session &session, const Arguments &arguments,
                  const Request &request, llvm::StringRef container,
                  Execution &execution);

} // namespace fovea::cli

#endif // FOVEA_APP_MODEL_EXECUTION_H
