//===- Examples.h - the examples that a command is given ------------------===//
//
// Joins what each `--data` gives, one example after the other: lines of text,
// pictures and sounds, arrays. Only a part of each file is in memory meanwhile,
// so that who keeps the examples decides where.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_DATA_EXAMPLES_H
#define FOVEA_DRIVER_DATA_EXAMPLES_H

#include "driver/data/TextData.h"

namespace fovea::cli {

/// What of the model's data a command reads.
struct WantedData {
  /// What has to be given.
  std::vector<runtime::DataSpec> needed;
  /// What is read where it is given: it may give a length.
  std::vector<runtime::DataSpec> known;
  /// The data whose words are kept as they stand in their lines.
  std::string words;
};

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

/// Calls `take` for each example that `given` has, one batch file, or text or
/// tensors of each name, as long as nothing is wrong with any. False where
/// something is (reported), or where `take` says so.
bool forExamples(Session &session, const std::vector<GivenData> &given,
                 const Model &model, const WantedData &wanted,
                 const Vocabularies &vocabularies,
                 llvm::function_ref<bool(runtime::Example)> take);

/// The same, all of them in memory.
bool readExamples(Session &session, const std::vector<GivenData> &given,
                  const Model &model, const WantedData &wanted,
                  const Vocabularies &vocabularies,
                  std::vector<runtime::Example> &examples);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_EXAMPLES_H
