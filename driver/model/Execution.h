//===- Execution.h - from a command line to a model and its data ----------===//
//
// What run, decode and score share: weights, the model, its passes, its data.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MODEL_EXECUTION_H
#define FOVEA_DRIVER_MODEL_EXECUTION_H

#include "driver/data/Inputs.h"
#include "runtime/memory/Workspace.h"

namespace fovea::cli {

/// A model with its weights and data.
struct Execution {
  std::unique_ptr<Model> model;
  Vocabularies vocabularies;
  reference::Arrays parameters;
  std::vector<reference::Arrays> more; // of the other members of an ensemble
  std::vector<runtime::Example> examples;
  WantedData data;
};

/// What executes: compiled code, after the last phase, or the interpreter,
/// after any. False after an explanation of wrong usage.
bool chooseExecutor(const Arguments &arguments, Request &request,
                    bool &isReference);

/// Whether a model, as the front end gives it, has what is wanted of it: an
/// objective, or something that it generates. Reports what it lacks.
bool checkWanted(Session &session, const Arguments &arguments, Model &model,
                 bool objective, bool generated);

/// The parameters of a model as the runtime takes them.
runtime::ParameterValues valuesOf(const reference::Arrays &parameters);

/// Reads the other members of an ensemble, whose vocabularies are those of the
/// first, and says all that does not fit.
bool readMembers(Session &session, const Arguments &arguments,
                 const Model &model, const Vocabularies &vocabularies,
                 std::vector<reference::Arrays> &members);

/// Reads the weights and compiles the spec for one of its systems, "training"
/// or "decoding"; the other is dropped. False when something is wrong.
bool openExecution(Session &session, const Arguments &arguments,
                   llvm::StringRef system, Execution &execution);

/// Runs the pipeline, then reads the data that `container` (`loss`, `grad` or
/// `decode`) needs.
bool lowerAndRead(Session &session, const Arguments &arguments,
                  const Request &request, llvm::StringRef container,
                  Execution &execution);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MODEL_EXECUTION_H
