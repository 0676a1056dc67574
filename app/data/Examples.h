//===- Examples.h - the examples that a command is given ------------------===//
//
// Joins the sources of each `--data` example by example: lines of text,
// pictures and sounds, arrays. Only a part of each file is in memory at a time,
// so the caller decides where to keep examples.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_EXAMPLES_H
#define FOVEA_APP_DATA_EXAMPLES_H

#include "app/data/TextData.h"

namespace fovea::cli {

/// The part of the model's data that a command reads.
struct WantedData {
  /// The required data.
  std::vector<runtime::DataSpec> needed;
  /// Optional data: read if given, because it may determine a length.
  std::vector<runtime::DataSpec> known;
  /// The data whose original words are kept.
  std::string words;
  /// The option that gives the data.
  const char *option = "--data";
};

/// One `--data`: NAME=FILE, or a batch file without a name.
struct GivenData {
  std::string name, path;
  const std::string *text = nullptr; // in the place of the file's
  /// The form of a path: lines of text, a batch file, numpy arrays, or one
  /// picture, sound or array per example, as a file or a folder.
  enum Form { Text, Tensors, Arrays, Files };
  Form form() const;
};

/// Splits the value of `--data` or `--valid`, such as
/// `src=a.tsv:1,tgt=a.tsv:2`.
std::vector<GivenData> splitData(const std::vector<std::string> &texts);

/// The same for a command. A command may name its spec by weights and have no
/// `--data`. Then standard input provides the required data, in columns if
/// there are several, in the order of the spec.
std::vector<GivenData> givenData(const Arguments &arguments, const Model &model,
                                 const std::vector<runtime::DataSpec> &needed);

/// Returns whether the model has all given data names; reports the missing
/// ones.
bool haveData(Session &session, const std::vector<GivenData> &given,
              const Model &model);

/// Calls `take` for each example in `given`: one batch file, or text or tensors
/// of each name. Stops at the first error (reported), or if `take` returns
/// false; then returns false.
bool forExamples(Session &session, const std::vector<GivenData> &given,
                 const Model &model, const WantedData &wanted,
                 const Vocabularies &vocabularies,
                 llvm::function_ref<bool(runtime::Example)> take);

/// The same, with all examples in memory.
bool readExamples(Session &session, const std::vector<GivenData> &given,
                  const Model &model, const WantedData &wanted,
                  const Vocabularies &vocabularies,
                  std::vector<runtime::Example> &examples);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_EXAMPLES_H
