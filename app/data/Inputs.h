//===- Inputs.h - weights and data of a command ---------------------------===//

#ifndef FOVEA_APP_DATA_INPUTS_H
#define FOVEA_APP_DATA_INPUTS_H

#include "app/data/Examples.h"
#include "dialect/reference/Array.h"
#include "runtime/data/Batch.h"

namespace fovea::cli {

/// Reads a weights file; without a path `file` stays empty, which is correct
/// for models without parameters. Returns false on an error (reported).
bool readWeightsFile(Session &session, const std::string &path,
                     runtime::TensorFile &file);

/// Checks that the file read from `path` has the parameters of a model. Each
/// difference in name, extents or type is a separate error.
bool checkParameters(Session &session, const std::string &path,
                     const Model &model, const runtime::TensorFile &file);

/// Returns `H = 64, but 'm' has H = 32` for the sizes in which weights with a
/// spec differ from the model; empty: none.
std::string otherSizes(const Session &session, const Model &model,
                       const runtime::TensorFile &file);

/// The same parameters as numbers for the interpreter.
reference::Arrays arraysOf(runtime::TensorFile file);

/// Finds a file that a spec names, beside the spec or the weights that contain
/// it. Returns false if the name leads elsewhere (reported).
bool findBesideSpec(Session &session, const Arguments &arguments,
                    llvm::StringRef name, std::string &path);

/// Draws weights to begin with, by the scheme that the spec asks for; those of
/// `use .. from "FILE"` are taken from there, beside the spec.
bool drawWeights(Session &session, const Arguments &arguments, Model &model,
                 uint64_t seed, runtime::TensorFile &file);

/// Adds the model's limits to the data of a program.
void addLimits(const Model &model, std::vector<runtime::DataSpec> &specs);

/// Returns the data that a system or program of the model reads, with the
/// model's limits.
std::vector<runtime::DataSpec> describeData(const Model &model,
                                            mlir::Operation *container);

/// Returns all data of the model: data that a program does not read may still
/// determine a length.
std::vector<runtime::DataSpec> describeAllData(const Model &model);

/// Splits NAME=VALUE. Returns false if `text` has another form.
bool splitPair(const std::string &text, std::string &name, std::string &value);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_INPUTS_H
