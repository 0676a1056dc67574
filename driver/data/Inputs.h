//===- Inputs.h - weights and data of a command ---------------------------===//

#ifndef FOVEA_DRIVER_DATA_INPUTS_H
#define FOVEA_DRIVER_DATA_INPUTS_H

#include "dialect/reference/Array.h"
#include "driver/data/TextData.h"
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

/// What of the model's data a command reads.
struct WantedData {
  /// What has to be given.
  std::vector<runtime::DataSpec> needed;
  /// What is read where it is given: it may give a length.
  std::vector<runtime::DataSpec> known;
  /// The data whose words are kept as they stand in their lines.
  std::string words;
};

/// Adds the limits that the model gives to the data of a program.
void addLimits(const Model &model, std::vector<runtime::DataSpec> &specs);

/// The data that a system or program of the model reads, with the limits that
/// the model gives.
std::vector<runtime::DataSpec> describeData(const Model &model,
                                            mlir::Operation *container);

/// All data of the model: what a program does not read may give it a length.
std::vector<runtime::DataSpec> describeAllData(const Model &model);

/// One `--data`: NAME=FILE, or a batch file without a name.
struct GivenData {
  std::string name, path;
  /// What a path is: lines of text; a batch file; arrays of numpy; pictures,
  /// sounds or arrays, one for each example, as a file or a folder of them.
  enum Form { Text, Tensors, Arrays, Files };
  Form form() const;
};

/// Splits what `--data` or `--valid` gives, `src=a.tsv:1,tgt=a.tsv:2` too.
std::vector<GivenData> splitData(const std::vector<std::string> &texts);

/// The same of a command. Where it names a spec by its weights and no data, the
/// lines of standard input are the data that are needed; of several, their
/// columns, in the order of the spec.
std::vector<GivenData> givenData(const Arguments &arguments, const Model &model,
                                 const std::vector<runtime::DataSpec> &needed);

/// Reads the examples that `given` has: one batch file, or text or tensors of
/// each name.
bool readExamples(Session &session, const std::vector<GivenData> &given,
                  const Model &model, const WantedData &wanted,
                  const Vocabularies &vocabularies,
                  std::vector<runtime::Example> &examples);

/// Splits NAME=VALUE. False when `text` has no such form.
bool splitPair(const std::string &text, std::string &name, std::string &value);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_INPUTS_H
