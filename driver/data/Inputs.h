//===- Inputs.h - weights and data of a command ---------------------------===//

#ifndef FOVEA_DRIVER_DATA_INPUTS_H
#define FOVEA_DRIVER_DATA_INPUTS_H

#include "dialect/reference/Array.h"
#include "driver/data/Examples.h"
#include "runtime/data/Batch.h"

namespace fovea::cli {

/// Reads a file of weights; without a path `file` stays empty, which is right
/// for models without parameters. False when it cannot be read (reported).
bool readWeightsFile(Session &session, const std::string &path,
                     runtime::TensorFile &file);

/// Takes the parameters of a model from the file that was read from `path`.
/// Everything that differs in name, extents or type is an error of its own.
bool takeParameters(Session &session, const std::string &path,
                    const Model &model, const runtime::TensorFile &file,
                    reference::Arrays &parameters);

/// A file that a spec names: its place is that of the spec.
std::string besideSpec(const Arguments &arguments, llvm::StringRef name);

/// Draws weights to begin with, by the scheme that the spec asks for; those of
/// `use .. from "FILE"` are taken from there, beside the spec.
bool drawWeights(Session &session, const Arguments &arguments, Model &model,
                 uint64_t seed, runtime::TensorFile &file);

/// Adds the limits that the model gives to the data of a program.
void addLimits(const Model &model, std::vector<runtime::DataSpec> &specs);

/// The data that a system or program of the model reads, with the limits that
/// the model gives.
std::vector<runtime::DataSpec> describeData(const Model &model,
                                            mlir::Operation *container);

/// All data of the model: what a program does not read may give it a length.
std::vector<runtime::DataSpec> describeAllData(const Model &model);

/// Splits NAME=VALUE. False when `text` has no such form.
bool splitPair(const std::string &text, std::string &name, std::string &value);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_INPUTS_H
